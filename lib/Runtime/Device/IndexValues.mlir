//===- IndexValues.mlir - Liveness of micro-tiles of a matrix of values ---===//
//
// The matrix has contiguous rows of `row_bytes`, a multiple of 16, at multiples
// of `row_stride`, also of 16. An element is live iff (element ^ background) &
// care is not 0, or always. background and care come as two words of 32 bits: 8
// bytes of elements.
//
// Each kernel begins the index and writes all bits (IndexLists.mlir).
//
//===----------------------------------------------------------------------===//

llvm.mlir.global internal @partial() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x vector<4xi32>>

/// background or care of 16 bytes.
func.func private @pattern(%low: i32, %high: i32) -> vector<4xi32> {
  %v = vector.from_elements %low, %high, %low, %high : vector<4xi32>
  return %v : vector<4xi32>
}

/// sum | (16 bytes of a row ^ background).
func.func private @or_differences(%sum: vector<4xi32>, %data: !llvm.ptr<1>,
                                  %row: i64, %byte: i64,
                                  %background: vector<4xi32>) -> vector<4xi32> {
  %offset = arith.addi %row, %byte : i64
  %v = func.call @load_16(%data, %offset) : (!llvm.ptr<1>, i64) -> vector<4xi32>
  %x = arith.xori %v, %background : vector<4xi32>
  %next = arith.ori %sum, %x : vector<4xi32>
  return %next : vector<4xi32>
}

func.func private @any(%v: vector<4xi32>) -> i1 {
  %c0 = arith.constant 0 : i32
  %word = vector.reduction <or>, %v : vector<4xi32> into i32
  %any = arith.cmpi ne, %word, %c0 : i32
  return %any : i1
}

/// Bit i: whether byte i of the word is not 0.
func.func private @live_bytes(%word: i32) -> i32 {
  %c4 = arith.constant 4 : i32
  %c7 = arith.constant 7 : i32
  %c28 = arith.constant 28 : i32
  %low7 = arith.constant 0x7f7f7f7f : i32
  %ones = arith.constant 0x01010101 : i32
  %gather = arith.constant 0x10204080 : i32
  %masked = arith.andi %word, %low7 : i32
  %carried = arith.addi %masked, %low7 : i32
  %high = arith.ori %carried, %word : i32
  %moved = arith.shrui %high, %c7 : i32
  %flags = arith.andi %moved, %ones : i32
  %gathered = arith.muli %flags, %gather : i32
  %bits = arith.shrui %gathered, %c28 : i32
  return %bits : i32
}

/// Bit i: whether element i of the 16 bytes, of 2^size_log2 bytes, is not 0.
func.func private @live_elements(%v: vector<4xi32>, %size_log2: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %m1 = arith.constant 0x5555 : i32
  %m2 = arith.constant 0x3333 : i32
  %m4 = arith.constant 0x0f0f : i32
  %m8 = arith.constant 0x00ff : i32
  %w:4 = vector.to_elements %v : vector<4xi32>
  %b0 = func.call @live_bytes(%w#0) : (i32) -> i32
  %b1 = func.call @live_bytes(%w#1) : (i32) -> i32
  %b2 = func.call @live_bytes(%w#2) : (i32) -> i32
  %b3 = func.call @live_bytes(%w#3) : (i32) -> i32
  %s1 = arith.shli %b1, %c4 : i32
  %s2 = arith.shli %b2, %c8 : i32
  %s3 = arith.shli %b3, %c12 : i32
  %low = arith.ori %b0, %s1 : i32
  %high = arith.ori %s2, %s3 : i32
  %bytes = arith.ori %low, %high : i32
  // Merges pairs of bits, until a bit is an element.
  %bits = scf.for %k = %c0 to %size_log2 step %c1 iter_args(%b = %bytes) -> (i32) : i32 {
    %h0 = arith.shrui %b, %c1 : i32
    %o0 = arith.ori %b, %h0 : i32
    %p0 = arith.andi %o0, %m1 : i32
    %h1 = arith.shrui %p0, %c1 : i32
    %o1 = arith.ori %p0, %h1 : i32
    %p1 = arith.andi %o1, %m2 : i32
    %h2 = arith.shrui %p1, %c2 : i32
    %o2 = arith.ori %p1, %h2 : i32
    %p2 = arith.andi %o2, %m4 : i32
    %h3 = arith.shrui %p2, %c4 : i32
    %o3 = arith.ori %p2, %h3 : i32
    %p3 = arith.andi %o3, %m8 : i32
    scf.yield %p3 : i32
  }
  return %bits : i32
}

/// A warp finds the window of rows that its block takes, the number of the
/// block among those of the window, its own number among the 2^split_log2 warps
/// that share the rows of a piece, and the 16 bytes of a row that a lane reads.
func.func private @piece_of_warp(%split_log2: i32, %blocks_per_group: i32)
    -> (i32, i32, i32, i32) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %split = arith.shli %c1, %split_log2 : i32
  %split_mask = arith.subi %split, %c1 : i32
  %phase = arith.andi %warp, %split_mask : i32
  %piece_in_block = arith.shrui %warp, %split_log2 : i32
  %pieces_log2 = arith.subi %c3, %split_log2 : i32
  %group = arith.divui %block, %blocks_per_group : i32
  %group_block = arith.muli %group, %blocks_per_group : i32
  %part = arith.subi %block, %group_block : i32
  %block_piece = arith.shli %part, %pieces_log2 : i32
  %piece = arith.addi %block_piece, %piece_in_block : i32
  %piece_16 = arith.muli %piece, %c32 : i32
  %at_16 = arith.addi %piece_16, %lane : i32
  return %group, %part, %phase, %at_16 : i32, i32, i32, i32
}

/// The first of the rows [begin, end) that a lane reads, and how many there are,
/// 2^split_log2 apart; none if it is not inside of them.
func.func private @rows_of_warp(%begin: i64, %end: i64, %inside: i1,
                                %phase: i32, %split_log2: i32) -> (i64, i64) {
  %one = arith.constant 1 : i64
  %phase64 = arith.extui %phase : i32 to i64
  %split_log2_64 = arith.extui %split_log2 : i32 to i64
  %split = arith.shli %one, %split_log2_64 : i64
  %first = arith.addi %begin, %phase64 : i64
  %stop = arith.select %inside, %end, %first : i64
  %between = arith.subi %stop, %first : i64
  %rounding = arith.subi %split, %one : i64
  %rounded = arith.addi %between, %rounding : i64
  %rows = arith.shrsi %rounded, %split_log2_64 : i64
  return %first, %rows : i64, i64
}

/// A block collects, for the first of the 2^split_log2 warps of a piece, the
/// findings of all of them.
func.func private @of_piece(%differs: vector<4xi32>, %split_log2: i32) -> vector<4xi32> {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c32 = arith.constant 32 : i32
  %partial = llvm.mlir.addressof @partial : !llvm.ptr<3>
  %split = arith.shli %c1, %split_log2 : i32
  %split_mask = arith.subi %split, %c1 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %phase = arith.andi %warp, %split_mask : i32
  %is_first = arith.cmpi eq, %phase, %c0 : i32
  %shared = arith.cmpi ugt, %split, %c1 : i32
  %sum = scf.if %shared -> (vector<4xi32>) {
    %to = llvm.getelementptr %partial[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
    llvm.store %differs, %to {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
    gpu.barrier
    %warps = arith.select %is_first, %split, %c0 : i32
    %all = scf.for %w = %c1 to %warps step %c1 iter_args(%s = %differs) -> (vector<4xi32>) : i32 {
      %distance = arith.muli %w, %c32 : i32
      %other = arith.addi %tid, %distance : i32
      %from = llvm.getelementptr %partial[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
      %v = llvm.load %from {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
      %next = arith.ori %s, %v : vector<4xi32>
      scf.yield %next : vector<4xi32>
    }
    scf.yield %all : vector<4xi32>
  } else {
    scf.yield %differs : vector<4xi32>
  }
  return %sum : vector<4xi32>
}

/// A warp writes the bits of the elements of its 512 bytes, if it is the first
/// of its piece; or adds them, if other blocks have bits of the same elements.
/// A lane has those of the 16 bytes `at_16` of a row.
func.func private @store_elements(%live: i32, %size_log2: i32, %at_16: i32,
                                  %is_first: i1, %adds: i1, %bits: !llvm.ptr<1>,
                                  %group: i64, %words: i32) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %lane = arith.andi %tid, %c31 : i32
  // 2^(size_log2 + 1) lanes make a word.
  %lanes_log2 = arith.addi %size_log2, %c1 : i32
  %lanes = arith.shli %c1, %lanes_log2 : i32
  %lanes_mask = arith.subi %lanes, %c1 : i32
  %lane_in_word = arith.andi %lane, %lanes_mask : i32
  %per_lane_log2 = arith.subi %c4, %size_log2 : i32
  %shift = arith.shli %lane_in_word, %per_lane_log2 : i32
  %mine = arith.shli %live, %shift : i32
  %word = scf.for %k = %c0 to %lanes_log2 step %c1 iter_args(%w = %mine) -> (i32) : i32 {
    %distance = arith.shli %c1, %k : i32
    %other, %0 = gpu.shuffle xor %w, %distance, %c32 : i32
    %next = arith.ori %w, %other : i32
    scf.yield %next : i32
  }
  %at = arith.shrui %at_16, %lanes_log2 : i32
  %in_group = arith.cmpi ult, %at, %words : i32
  %leads = arith.cmpi eq, %lane_in_word, %c0 : i32
  %writes0 = arith.andi %in_group, %leads : i1
  %writes = arith.andi %writes0, %is_first : i1
  scf.if %writes {
    %words64 = arith.extui %words : i32 to i64
    %at64 = arith.extui %at : i32 to i64
    %group_at = arith.muli %group, %words64 : i64
    %offset = arith.addi %group_at, %at64 : i64
    %to = llvm.getelementptr %bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    scf.if %adds {
      %0 = llvm.atomicrmw _or %to, %word monotonic : !llvm.ptr<1>, i32
    } else {
      llvm.store %word, %to : i32, !llvm.ptr<1>
    }
  }
  return
}

/// Ids are elements of a row, groups windows of rows: [size] every [step] of
/// `rows`. A block takes one window of rows, or one of its `slices`, and 2^(3 - split_log2) pieces of 512
/// bytes; 2^split_log2 warps share the rows of a piece.
llvm.func @pit_index_columns(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %groups: i32, %words: i32, %extent: i64,
    %data: !llvm.ptr<1>, %row_stride: i64, %row_bytes: i32, %size_log2: i32,
    %background_low: i32, %background_high: i32, %care_low: i32,
    %care_high: i32, %always: i32, %rows: i64, %size: i64, %step: i64,
    %split_log2: i32, %blocks_per_group: i32, %slices: i32,
    %when: !llvm.ptr<1>, %value: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
  func.call @begin_index(%head, %copy, %counter) : (!llvm.ptr, !llvm.ptr<1>, !llvm.ptr<1>) -> ()
  %leaves = func.call @leaves(%when, %value) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %zeros = arith.constant dense<0> : vector<4xi32>
  %place:4 = func.call @piece_of_warp(%split_log2, %blocks_per_group)
      : (i32, i32) -> (i32, i32, i32, i32)
  %byte = arith.muli %place#3, %c16 : i32
  %inside = arith.cmpi slt, %byte, %row_bytes : i32
  %group = arith.divui %place#0, %slices : i32
  %slice = arith.remui %place#0, %slices : i32
  %group64 = arith.extui %group : i32 to i64
  %first_row = arith.muli %group64, %step : i64
  %unclipped = arith.addi %first_row, %size : i64
  %last_row = arith.minsi %unclipped, %rows : i64
  %height = arith.subi %last_row, %first_row : i64
  %slices64 = arith.extui %slices : i32 to i64
  %rounding = arith.subi %slices64, %one : i64
  %rounded = arith.addi %height, %rounding : i64
  %span = arith.divsi %rounded, %slices64 : i64
  %slice64 = arith.extui %slice : i32 to i64
  %before = arith.muli %slice64, %span : i64
  %begin = arith.addi %first_row, %before : i64
  %slice_end = arith.addi %begin, %span : i64
  %end = arith.minsi %slice_end, %last_row : i64
  %window = arith.cmpi slt, %begin, %end : i64
  %reads = arith.andi %inside, %window : i1
  %run:2 = func.call @rows_of_warp(%begin, %end, %inside, %place#2, %split_log2)
      : (i64, i64, i1, i32, i32) -> (i64, i64)
  %byte64 = arith.extui %byte : i32 to i64
  %first_at = arith.muli %run#0, %row_stride : i64
  %first_byte = arith.addi %first_at, %byte64 : i64
  %split_log2_64 = arith.extui %split_log2 : i32 to i64
  %warp_stride = arith.shli %row_stride, %split_log2_64 : i64
  %background = func.call @pattern(%background_low, %background_high) : (i32, i32) -> vector<4xi32>
  %care = func.call @pattern(%care_low, %care_high) : (i32, i32) -> vector<4xi32>
  %always4 = vector.broadcast %always : i32 to vector<4xi32>
  %differs = scf.for %r = %zero to %run#1 step %one
      iter_args(%sum = %zeros) -> (vector<4xi32>) : i64 {
    %row = arith.muli %r, %warp_stride : i64
    %next = func.call @or_differences(%sum, %data, %row, %first_byte, %background)
        : (vector<4xi32>, !llvm.ptr<1>, i64, i64, vector<4xi32>) -> vector<4xi32>
    scf.yield %next : vector<4xi32>
  }

  %sum = func.call @of_piece(%differs, %split_log2) : (vector<4xi32>, i32) -> vector<4xi32>
  %cared = arith.andi %sum, %care : vector<4xi32>
  %live4 = arith.ori %cared, %always4 : vector<4xi32>
  %elements = func.call @live_elements(%live4, %size_log2) : (vector<4xi32>, i32) -> i32
  %live = arith.select %reads, %elements, %c0 : i32

  %is_first = arith.cmpi eq, %place#2, %c0 : i32
  %adds = arith.cmpi ugt, %slices, %c1 : i32
  func.call @store_elements(%live, %size_log2, %place#3, %is_first, %adds, %bits, %group64, %words)
      : (i32, i32, i32, i1, i1, !llvm.ptr<1>, i64, i32) -> ()
  llvm.return
}

/// Ids are rows, groups windows of 2^lanes_log2 * 16 bytes (at most 512) of
/// them. A warp takes 32 rows of 512 bytes, a block 256.
llvm.func @pit_index_windows(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %groups: i32, %words: i32, %extent: i64,
    %data: !llvm.ptr<1>, %row_stride: i64, %row_bytes: i32,
    %background_low: i32, %background_high: i32, %care_low: i32,
    %care_high: i32, %always: i32, %lanes_log2: i32, %pieces: i32,
    %when: !llvm.ptr<1>, %value: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
  func.call @begin_index(%head, %copy, %counter) : (!llvm.ptr, !llvm.ptr<1>, !llvm.ptr<1>) -> ()
  %leaves = func.call @leaves(%when, %value) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %c512 = arith.constant 512 : i32
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  // Blocks that run at the same time read neighbouring pieces.
  %row_block = arith.divui %block, %pieces : i32
  %piece_block = arith.muli %row_block, %pieces : i32
  %piece = arith.subi %block, %piece_block : i32
  %block_word = arith.muli %row_block, %c8 : i32
  %at = arith.addi %block_word, %warp : i32
  %first = arith.muli %at, %c32 : i32
  %ids32 = arith.trunci %extent : i64 to i32
  %last = arith.subi %ids32, %c1 : i32
  %piece_byte = arith.muli %piece, %c512 : i32
  %lane_byte = arith.muli %lane, %c16 : i32
  %byte = arith.addi %piece_byte, %lane_byte : i32
  %inside = arith.cmpi slt, %byte, %row_bytes : i32
  // Lanes and rows that are outside read something else, to no effect.
  %safe_byte = arith.select %inside, %byte, %c0 : i32
  %byte64 = arith.extui %safe_byte : i32 to i64
  %background = func.call @pattern(%background_low, %background_high) : (i32, i32) -> vector<4xi32>
  %care = func.call @pattern(%care_low, %care_high) : (i32, i32) -> vector<4xi32>
  %always4 = vector.broadcast %always : i32 to vector<4xi32>
  %rows = scf.for %r = %c0 to %c32 step %c1 iter_args(%live_rows = %c0) -> (i32) : i32 {
    %id = arith.addi %first, %r : i32
    %row = arith.minsi %id, %last : i32
    %row64 = arith.extui %row : i32 to i64
    %row_at = arith.muli %row64, %row_stride : i64
    %offset = arith.addi %row_at, %byte64 : i64
    %v = func.call @load_16(%data, %offset) : (!llvm.ptr<1>, i64) -> vector<4xi32>
    %x = arith.xori %v, %background : vector<4xi32>
    %cared = arith.andi %x, %care : vector<4xi32>
    %live4 = arith.ori %cared, %always4 : vector<4xi32>
    %live = func.call @any(%live4) : (vector<4xi32>) -> i1
    %bit = arith.shli %c1, %r : i32
    %more = arith.select %live, %bit, %c0 : i32
    %next = arith.ori %live_rows, %more : i32
    scf.yield %next : i32
  }
  %inside_rows = arith.select %inside, %rows, %c0 : i32

  // The lanes of a window have its bits together.
  %word = scf.for %k = %c0 to %lanes_log2 step %c1 iter_args(%w = %inside_rows) -> (i32) : i32 {
    %distance = arith.shli %c1, %k : i32
    %other, %0 = gpu.shuffle xor %w, %distance, %c32 : i32
    %next = arith.ori %w, %other : i32
    scf.yield %next : i32
  }
  %windows = arith.shrui %c32, %lanes_log2 : i32
  %window = arith.shrui %lane, %lanes_log2 : i32
  %window_lane = arith.shli %window, %lanes_log2 : i32
  %leads = arith.cmpi eq, %window_lane, %lane : i32
  %first_group = arith.muli %piece, %windows : i32
  %group = arith.addi %first_group, %window : i32
  %is_group = arith.cmpi ult, %group, %groups : i32
  %is_word = arith.cmpi ult, %at, %words : i32
  %writes0 = arith.andi %leads, %is_group : i1
  %writes = arith.andi %writes0, %is_word : i1
  scf.if %writes {
    %valid = func.call @valid_bits(%first, %ids32) : (i32, i32) -> i32
    %live = arith.andi %word, %valid : i32
    %group64 = arith.extui %group : i32 to i64
    %words64 = arith.extui %words : i32 to i64
    %at64 = arith.extui %at : i32 to i64
    %group_at = arith.muli %group64, %words64 : i64
    %offset = arith.addi %group_at, %at64 : i64
    %to = llvm.getelementptr %bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %live, %to : i32, !llvm.ptr<1>
  }
  llvm.return
}

/// Ids are rows, groups windows of [size] every [step] bytes of them, multiples
/// of 16. A block takes one window of 16 rows, a warp two of them.
llvm.func @pit_index_rows(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %groups: i32, %words: i32, %extent: i64,
    %data: !llvm.ptr<1>, %row_stride: i64, %row_bytes: i32,
    %background_low: i32, %background_high: i32, %care_low: i32,
    %care_high: i32, %always: i32, %size: i32, %step: i32,
    %when: !llvm.ptr<1>, %value: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
  func.call @begin_index(%head, %copy, %counter) : (!llvm.ptr, !llvm.ptr<1>, !llvm.ptr<1>) -> ()
  %leaves = func.call @leaves(%when, %value) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c16 = arith.constant 16 : i32
  %c31 = arith.constant 31 : i32
  %c512 = arith.constant 512 : i32
  %two = arith.constant 2 : i64
  %zeros = arith.constant dense<0> : vector<4xi32>
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %at = arith.divui %block, %groups : i32
  %group_block = arith.muli %at, %groups : i32
  %group = arith.subi %block, %group_block : i32
  %ids32 = arith.trunci %extent : i64 to i32
  %last = arith.subi %ids32, %c1 : i32
  %block_first = arith.muli %at, %c16 : i32
  %warp_first = arith.shli %warp, %c1 : i32
  %first = arith.addi %block_first, %warp_first : i32
  %begin = arith.muli %group, %step : i32
  %unclipped = arith.addi %begin, %size : i32
  %end = arith.minsi %unclipped, %row_bytes : i32
  %window = arith.cmpi slt, %begin, %end : i32
  %lane_byte = arith.muli %lane, %c16 : i32
  %byte = arith.addi %begin, %lane_byte : i32
  %background = func.call @pattern(%background_low, %background_high) : (i32, i32) -> vector<4xi32>
  %care = func.call @pattern(%care_low, %care_high) : (i32, i32) -> vector<4xi32>
  // Rows past the last read the last, to no effect.
  %second = arith.addi %first, %c1 : i32
  %row0 = func.call @row_at(%first, %last, %row_stride) : (i32, i32, i64) -> i64
  %row1 = func.call @row_at(%second, %last, %row_stride) : (i32, i32, i64) -> i64
  %sums:2 = scf.for %b = %byte to %end step %c512
      iter_args(%s0 = %zeros, %s1 = %zeros) -> (vector<4xi32>, vector<4xi32>) : i32 {
    %b64 = arith.extui %b : i32 to i64
    %n0 = func.call @or_differences(%s0, %data, %row0, %b64, %background)
        : (vector<4xi32>, !llvm.ptr<1>, i64, i64, vector<4xi32>) -> vector<4xi32>
    %n1 = func.call @or_differences(%s1, %data, %row1, %b64, %background)
        : (vector<4xi32>, !llvm.ptr<1>, i64, i64, vector<4xi32>) -> vector<4xi32>
    scf.yield %n0, %n1 : vector<4xi32>, vector<4xi32>
  }
  %next_bit = arith.addi %warp_first, %c1 : i32
  %b0 = func.call @row_bit(%sums#0, %care, %always, %warp_first) : (vector<4xi32>, vector<4xi32>, i32, i32) -> i32
  %b1 = func.call @row_bit(%sums#1, %care, %always, %next_bit) : (vector<4xi32>, vector<4xi32>, i32, i32) -> i32
  %warp_bits = arith.ori %b0, %b1 : i32
  %half = func.call @bits_of_warps(%warp_bits) : (i32) -> i32
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    %valid = func.call @valid_bits(%block_first, %ids32) : (i32, i32) -> i32
    %some = arith.select %window, %valid, %c0 : i32
    %live32 = arith.andi %half, %some : i32
    %live = arith.trunci %live32 : i32 to i16
    %group64 = arith.extui %group : i32 to i64
    %words64 = arith.extui %words : i32 to i64
    %at64 = arith.extui %at : i32 to i64
    %group_words = arith.muli %group64, %words64 : i64
    %group_at = arith.muli %group_words, %two : i64
    %offset = arith.addi %group_at, %at64 : i64
    %to = llvm.getelementptr %bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
    llvm.store %live, %to : i16, !llvm.ptr<1>
  }
  llvm.return
}

func.func private @row_at(%id: i32, %last: i32, %row_stride: i64) -> i64 {
  %row = arith.minsi %id, %last : i32
  %row64 = arith.extui %row : i32 to i64
  %at = arith.muli %row64, %row_stride : i64
  return %at : i64
}

/// Bit `number` is set if a lane of the warp has a difference.
func.func private @row_bit(%differs: vector<4xi32>, %care: vector<4xi32>,
                           %always: i32, %number: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %cm1 = arith.constant -1 : i32
  %cared = arith.andi %differs, %care : vector<4xi32>
  %always4 = vector.broadcast %always : i32 to vector<4xi32>
  %live4 = arith.ori %cared, %always4 : vector<4xi32>
  %live = func.call @any(%live4) : (vector<4xi32>) -> i1
  %lanes = nvvm.vote.sync ballot %cm1, %live -> i32
  %any = arith.cmpi ne, %lanes, %c0 : i32
  %bit = arith.shli %c1, %number : i32
  %result = arith.select %any, %bit, %c0 : i32
  return %result : i32
}
