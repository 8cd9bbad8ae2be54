//===- Bitmap.mlir - One bit an element, and indices of that --------------===//
//
// The bits of a row lie in words of 32, from the least significant, at
// multiples of 4 bytes. The words of a row of a bitmap (pit_bitmap) are even in
// number.
//
//===----------------------------------------------------------------------===//

llvm.mlir.global internal @bits_of_rows() {addr_space = 3 : i32} : !llvm.array<256 x i32>

/// Writes the bitmap of the matrix of IndexValues.mlir. A block takes `height`
/// rows as one of @pit_index_columns takes a window.
llvm.func @pit_bitmap_values(
    %bits: !llvm.ptr<1>, %words: i32, %data: !llvm.ptr<1>, %row_stride: i64,
    %row_bytes: i32, %size_log2: i32, %background_low: i32,
    %background_high: i32, %care_low: i32, %care_high: i32, %always: i32,
    %rows: i64, %height: i32, %split_log2: i32, %blocks_per_group: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %true = arith.constant true
  %place:4 = func.call @piece_of_warp(%split_log2, %blocks_per_group)
      : (i32, i32) -> (i32, i32, i32, i32)
  %byte = arith.muli %place#3, %c16 : i32
  %inside = arith.cmpi slt, %byte, %row_bytes : i32
  // Lanes that are outside read something else, to no effect.
  %safe_byte = arith.select %inside, %byte, %c0 : i32
  %byte64 = arith.extui %safe_byte : i32 to i64
  %group = arith.extui %place#0 : i32 to i64
  %height64 = arith.extui %height : i32 to i64
  %begin = arith.muli %group, %height64 : i64
  %unclipped = arith.addi %begin, %height64 : i64
  %end = arith.minsi %unclipped, %rows : i64
  %run:2 = func.call @rows_of_warp(%begin, %end, %true, %place#2, %split_log2)
      : (i64, i64, i1, i32, i32) -> (i64, i64)
  %warp_rows = arith.trunci %run#1 : i64 to i32
  %first_at = arith.muli %run#0, %row_stride : i64
  %first = arith.addi %first_at, %byte64 : i64
  %split64 = arith.extui %split_log2 : i32 to i64
  %stride = arith.shli %row_stride, %split64 : i64
  %background = func.call @pattern(%background_low, %background_high) : (i32, i32) -> vector<4xi32>
  %care = func.call @pattern(%care_low, %care_high) : (i32, i32) -> vector<4xi32>
  %always4 = vector.broadcast %always : i32 to vector<4xi32>
  %last = arith.subi %warp_rows, %c1 : i32
  // As in @or_rows.
  scf.for %r0 = %c0 to %warp_rows step %c8 : i32 {
    %r1 = func.call @next_row(%r0, %last) : (i32, i32) -> i32
    %r2 = func.call @next_row(%r1, %last) : (i32, i32) -> i32
    %r3 = func.call @next_row(%r2, %last) : (i32, i32) -> i32
    %r4 = func.call @next_row(%r3, %last) : (i32, i32) -> i32
    %r5 = func.call @next_row(%r4, %last) : (i32, i32) -> i32
    %r6 = func.call @next_row(%r5, %last) : (i32, i32) -> i32
    %r7 = func.call @next_row(%r6, %last) : (i32, i32) -> i32
    %v0 = func.call @load_row(%data, %first, %stride, %r0) : (!llvm.ptr<1>, i64, i64, i32) -> vector<4xi32>
    %v1 = func.call @load_row(%data, %first, %stride, %r1) : (!llvm.ptr<1>, i64, i64, i32) -> vector<4xi32>
    %v2 = func.call @load_row(%data, %first, %stride, %r2) : (!llvm.ptr<1>, i64, i64, i32) -> vector<4xi32>
    %v3 = func.call @load_row(%data, %first, %stride, %r3) : (!llvm.ptr<1>, i64, i64, i32) -> vector<4xi32>
    %v4 = func.call @load_row(%data, %first, %stride, %r4) : (!llvm.ptr<1>, i64, i64, i32) -> vector<4xi32>
    %v5 = func.call @load_row(%data, %first, %stride, %r5) : (!llvm.ptr<1>, i64, i64, i32) -> vector<4xi32>
    %v6 = func.call @load_row(%data, %first, %stride, %r6) : (!llvm.ptr<1>, i64, i64, i32) -> vector<4xi32>
    %v7 = func.call @load_row(%data, %first, %stride, %r7) : (!llvm.ptr<1>, i64, i64, i32) -> vector<4xi32>
    // Rows behind the last are the last once more, with the same bits.
    func.call @store_row(%v0, %r0, %run#0, %split64, %background, %care, %always4, %size_log2, %inside, %place#3, %bits, %words)
        : (vector<4xi32>, i32, i64, i64, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i1, i32, !llvm.ptr<1>, i32) -> ()
    func.call @store_row(%v1, %r1, %run#0, %split64, %background, %care, %always4, %size_log2, %inside, %place#3, %bits, %words)
        : (vector<4xi32>, i32, i64, i64, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i1, i32, !llvm.ptr<1>, i32) -> ()
    func.call @store_row(%v2, %r2, %run#0, %split64, %background, %care, %always4, %size_log2, %inside, %place#3, %bits, %words)
        : (vector<4xi32>, i32, i64, i64, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i1, i32, !llvm.ptr<1>, i32) -> ()
    func.call @store_row(%v3, %r3, %run#0, %split64, %background, %care, %always4, %size_log2, %inside, %place#3, %bits, %words)
        : (vector<4xi32>, i32, i64, i64, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i1, i32, !llvm.ptr<1>, i32) -> ()
    func.call @store_row(%v4, %r4, %run#0, %split64, %background, %care, %always4, %size_log2, %inside, %place#3, %bits, %words)
        : (vector<4xi32>, i32, i64, i64, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i1, i32, !llvm.ptr<1>, i32) -> ()
    func.call @store_row(%v5, %r5, %run#0, %split64, %background, %care, %always4, %size_log2, %inside, %place#3, %bits, %words)
        : (vector<4xi32>, i32, i64, i64, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i1, i32, !llvm.ptr<1>, i32) -> ()
    func.call @store_row(%v6, %r6, %run#0, %split64, %background, %care, %always4, %size_log2, %inside, %place#3, %bits, %words)
        : (vector<4xi32>, i32, i64, i64, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i1, i32, !llvm.ptr<1>, i32) -> ()
    func.call @store_row(%v7, %r7, %run#0, %split64, %background, %care, %always4, %size_log2, %inside, %place#3, %bits, %words)
        : (vector<4xi32>, i32, i64, i64, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i1, i32, !llvm.ptr<1>, i32) -> ()
  }
  llvm.return
}

/// A warp writes the bits of 512 bytes of its row `r`.
func.func private @store_row(%v: vector<4xi32>, %r: i32, %first: i64, %split: i64,
                             %background: vector<4xi32>, %care: vector<4xi32>,
                             %always: vector<4xi32>, %size_log2: i32,
                             %inside: i1, %at_16: i32, %bits: !llvm.ptr<1>,
                             %words: i32) {
  %c0 = arith.constant 0 : i32
  %true = arith.constant true
  %false = arith.constant false
  %x = arith.xori %v, %background : vector<4xi32>
  %cared = arith.andi %x, %care : vector<4xi32>
  %live4 = arith.ori %cared, %always : vector<4xi32>
  %elements = func.call @live_elements(%live4, %size_log2) : (vector<4xi32>, i32) -> i32
  %live = arith.select %inside, %elements, %c0 : i32
  %r64 = arith.extui %r : i32 to i64
  %skipped = arith.shli %r64, %split : i64
  %row = arith.addi %first, %skipped : i64
  func.call @store_elements(%live, %size_log2, %at_16, %true, %false, %bits, %row, %words)
      : (i32, i32, i32, i1, i1, !llvm.ptr<1>, i64, i32) -> ()
  return
}

/// Writes the bitmap of a matrix with any strides, in bytes. A warp takes 8 words
/// of a row, a lane an element of each.
llvm.func @pit_bitmap_elements(
    %bits: !llvm.ptr<1>, %words: i32, %data: !llvm.ptr<1>, %row_stride: i64,
    %column_stride: i64, %size_log2: i32, %background: i64, %care: i64,
    %always: i32, %rows: i32, %columns: i32, %strips: i32, %items: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %c256 = arith.constant 256 : i32
  %lane = arith.andi %tid, %c31 : i32
  %warp_in_block = arith.shrui %tid, %c5 : i32
  %block_warp = arith.muli %block, %c8 : i32
  %warp = arith.addi %block_warp, %warp_in_block : i32
  %warps = arith.muli %grid, %c8 : i32
  %last = arith.subi %columns, %c1 : i32
  %is_always = arith.cmpi ne, %always, %c0 : i32
  scf.for %item = %warp to %items step %warps : i32 {
    %row = arith.divui %item, %strips : i32
    %row_item = arith.muli %row, %strips : i32
    %strip = arith.subi %item, %row_item : i32
    %row64 = arith.extui %row : i32 to i64
    %row_at = arith.muli %row64, %row_stride : i64
    %strip_column = arith.muli %strip, %c256 : i32
    %first = arith.addi %strip_column, %lane : i32
    %x0 = func.call @load_differing(%data, %row_at, %column_stride, %first, %c0, %last, %size_log2, %background)
        : (!llvm.ptr<1>, i64, i64, i32, i32, i32, i32, i64) -> i64
    %x1 = func.call @load_differing(%data, %row_at, %column_stride, %first, %c1, %last, %size_log2, %background)
        : (!llvm.ptr<1>, i64, i64, i32, i32, i32, i32, i64) -> i64
    %x2 = func.call @load_differing(%data, %row_at, %column_stride, %first, %c2, %last, %size_log2, %background)
        : (!llvm.ptr<1>, i64, i64, i32, i32, i32, i32, i64) -> i64
    %x3 = func.call @load_differing(%data, %row_at, %column_stride, %first, %c3, %last, %size_log2, %background)
        : (!llvm.ptr<1>, i64, i64, i32, i32, i32, i32, i64) -> i64
    %x4 = func.call @load_differing(%data, %row_at, %column_stride, %first, %c4, %last, %size_log2, %background)
        : (!llvm.ptr<1>, i64, i64, i32, i32, i32, i32, i64) -> i64
    %x5 = func.call @load_differing(%data, %row_at, %column_stride, %first, %c5, %last, %size_log2, %background)
        : (!llvm.ptr<1>, i64, i64, i32, i32, i32, i32, i64) -> i64
    %x6 = func.call @load_differing(%data, %row_at, %column_stride, %first, %c6, %last, %size_log2, %background)
        : (!llvm.ptr<1>, i64, i64, i32, i32, i32, i32, i64) -> i64
    %x7 = func.call @load_differing(%data, %row_at, %column_stride, %first, %c7, %last, %size_log2, %background)
        : (!llvm.ptr<1>, i64, i64, i32, i32, i32, i32, i64) -> i64
    %w0 = func.call @word_of_lanes(%x0, %care, %is_always, %first, %c0, %columns, %c0)
        : (i64, i64, i1, i32, i32, i32, i32) -> i32
    %w1 = func.call @word_of_lanes(%x1, %care, %is_always, %first, %c1, %columns, %w0)
        : (i64, i64, i1, i32, i32, i32, i32) -> i32
    %w2 = func.call @word_of_lanes(%x2, %care, %is_always, %first, %c2, %columns, %w1)
        : (i64, i64, i1, i32, i32, i32, i32) -> i32
    %w3 = func.call @word_of_lanes(%x3, %care, %is_always, %first, %c3, %columns, %w2)
        : (i64, i64, i1, i32, i32, i32, i32) -> i32
    %w4 = func.call @word_of_lanes(%x4, %care, %is_always, %first, %c4, %columns, %w3)
        : (i64, i64, i1, i32, i32, i32, i32) -> i32
    %w5 = func.call @word_of_lanes(%x5, %care, %is_always, %first, %c5, %columns, %w4)
        : (i64, i64, i1, i32, i32, i32, i32) -> i32
    %w6 = func.call @word_of_lanes(%x6, %care, %is_always, %first, %c6, %columns, %w5)
        : (i64, i64, i1, i32, i32, i32, i32) -> i32
    %w7 = func.call @word_of_lanes(%x7, %care, %is_always, %first, %c7, %columns, %w6)
        : (i64, i64, i1, i32, i32, i32, i32) -> i32
    // Lane j has word j.
    %strip_word = arith.muli %strip, %c8 : i32
    %at = arith.addi %strip_word, %lane : i32
    %is_word = arith.cmpi ult, %at, %words : i32
    %is_eighth = arith.cmpi ult, %lane, %c8 : i32
    %writes = arith.andi %is_word, %is_eighth : i1
    scf.if %writes {
      func.call @store_word(%w7, %bits, %row, %words, %at)
          : (i32, !llvm.ptr<1>, i32, i32, i32) -> ()
    }
  }
  llvm.return
}

/// A lane's bits in which its element of word `number` differs from the
/// background; past the row's end those of the last element.
func.func private @load_differing(%data: !llvm.ptr<1>, %row_at: i64,
                                  %column_stride: i64, %first: i32,
                                  %number: i32, %last: i32, %size_log2: i32,
                                  %background: i64) -> i64 {
  %c5 = arith.constant 5 : i32
  %skipped = arith.shli %number, %c5 : i32
  %column = arith.addi %first, %skipped : i32
  %inside = arith.minsi %column, %last : i32
  %inside64 = arith.extui %inside : i32 to i64
  %column_at = arith.muli %inside64, %column_stride : i64
  %offset = arith.addi %row_at, %column_at : i64
  %at = llvm.getelementptr %data[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %size = arith.index_cast %size_log2 : i32 to index
  %bits = scf.index_switch %size -> i64
  case 0 {
    %v = llvm.load %at invariant : !llvm.ptr<1> -> i8
    %wide = arith.extui %v : i8 to i64
    scf.yield %wide : i64
  }
  case 1 {
    %v = llvm.load %at invariant : !llvm.ptr<1> -> i16
    %wide = arith.extui %v : i16 to i64
    scf.yield %wide : i64
  }
  case 2 {
    %v = llvm.load %at invariant : !llvm.ptr<1> -> i32
    %wide = arith.extui %v : i32 to i64
    scf.yield %wide : i64
  }
  default {
    %v = llvm.load %at invariant : !llvm.ptr<1> -> i64
    scf.yield %v : i64
  }
  %x = arith.xori %bits, %background : i64
  return %x : i64
}

/// A warp's bits: in lane `number` those of its lanes' elements of that word,
/// in the others what they had.
func.func private @word_of_lanes(%x: i64, %care: i64, %always: i1, %first: i32,
                                 %number: i32, %columns: i32, %had: i32) -> i32 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %cm1 = arith.constant -1 : i32
  %zero = arith.constant 0 : i64
  %skipped = arith.shli %number, %c5 : i32
  %column = arith.addi %first, %skipped : i32
  %inside = arith.cmpi slt, %column, %columns : i32
  %cared = arith.andi %x, %care : i64
  %differs = arith.cmpi ne, %cared, %zero : i64
  %any = arith.ori %differs, %always : i1
  %live = arith.andi %any, %inside : i1
  %word = nvvm.vote.sync ballot %cm1, %live -> i32
  %lane = arith.andi %tid, %c31 : i32
  %is_mine = arith.cmpi eq, %lane, %number : i32
  %result = arith.select %is_mine, %word, %had : i32
  return %result : i32
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Ids are bits of a row, groups windows of rows: [size] every [step] of `rows`.
/// A block takes one window of 2^strip_log2 words, of which `strips` are a row;
/// its threads share the rows.
llvm.func @pit_bits_columns(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %groups: i32, %words: i32, %extent: i64,
    %data: !llvm.ptr<1>, %row_stride: i64, %rows: i64, %size: i64, %step: i64,
    %strip_log2: i32, %strips: i32, %when: !llvm.ptr<1>, %value: i32)
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
  %c8 = arith.constant 8 : i32
  %c32 = arith.constant 32 : i32
  %four = arith.constant 4 : i64
  %shared = llvm.mlir.addressof @bits_of_rows : !llvm.ptr<3>
  %group = arith.divui %block, %strips : i32
  %group_block = arith.muli %group, %strips : i32
  %strip = arith.subi %block, %group_block : i32
  %strip_words = arith.shli %c1, %strip_log2 : i32
  %strip_mask = arith.subi %strip_words, %c1 : i32
  %in_strip = arith.andi %tid, %strip_mask : i32
  %phase = arith.shrui %tid, %strip_log2 : i32
  %phases_log2 = arith.subi %c8, %strip_log2 : i32
  %phases = arith.shli %c1, %phases_log2 : i32
  %strip_first = arith.shli %strip, %strip_log2 : i32
  %at = arith.addi %strip_first, %in_strip : i32
  %inside = arith.cmpi ult, %at, %words : i32
  // A row of a bitmap may have a word more than one of the mask.
  %first_id = arith.muli %at, %c32 : i32
  %ids32 = arith.trunci %extent : i64 to i32
  %in_mask = arith.cmpi slt, %first_id, %ids32 : i32
  %group64 = arith.extui %group : i32 to i64
  %begin = arith.muli %group64, %step : i64
  %unclipped = arith.addi %begin, %size : i64
  %end = arith.minsi %unclipped, %rows : i64
  %phase64 = arith.extui %phase : i32 to i64
  %phases64 = arith.extui %phases : i32 to i64
  %first = arith.addi %begin, %phase64 : i64
  %stop = arith.select %in_mask, %end, %first : i64
  %at64 = arith.extui %at : i32 to i64
  %word_at = arith.muli %at64, %four : i64
  %sum = scf.for %r = %first to %stop step %phases64 iter_args(%s = %c0) -> (i32) : i64 {
    %row_at = arith.muli %r, %row_stride : i64
    %offset = arith.addi %row_at, %word_at : i64
    %from = llvm.getelementptr %data[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %word = llvm.load %from invariant : !llvm.ptr<1> -> i32
    %next = arith.ori %s, %word : i32
    scf.yield %next : i32
  }
  %mine_at = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %sum, %mine_at : i32, !llvm.ptr<3>
  gpu.barrier
  %leads = arith.cmpi eq, %phase, %c0 : i32
  %writes = arith.andi %leads, %inside : i1
  scf.if %writes {
    %all = scf.for %p = %c0 to %phases step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %skipped = arith.shli %p, %strip_log2 : i32
      %number = arith.addi %skipped, %in_strip : i32
      %from = llvm.getelementptr %shared[%number] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %part = llvm.load %from : !llvm.ptr<3> -> i32
      %next = arith.ori %s, %part : i32
      scf.yield %next : i32
    }
    %valid = func.call @valid_bits(%first_id, %ids32) : (i32, i32) -> i32
    %live = arith.andi %all, %valid : i32
    func.call @store_word(%live, %bits, %group, %words, %at)
        : (i32, !llvm.ptr<1>, i32, i32, i32) -> ()
  }
  llvm.return
}

/// Ids are rows, groups windows of bits of them: [size] every [step] of
/// `columns`. A warp takes one window of 32 rows, a lane one of them.
llvm.func @pit_bits_windows(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %groups: i32, %words: i32, %extent: i64,
    %data: !llvm.ptr<1>, %row_stride: i64, %columns: i64, %size: i64, %step: i64,
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
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %cm1 = arith.constant -1 : i32
  %lane = arith.andi %tid, %c31 : i32
  %leads = arith.cmpi eq, %lane, %c0 : i32
  %warp_in_block = arith.shrui %tid, %c5 : i32
  %block_warp = arith.muli %block, %c8 : i32
  %warp = arith.addi %block_warp, %warp_in_block : i32
  %warps = arith.muli %grid, %c8 : i32
  %items = arith.muli %groups, %words : i32
  %ids32 = arith.trunci %extent : i64 to i32
  // Warps of a block take windows that are neighbours, and so share lines.
  scf.for %item = %warp to %items step %warps : i32 {
    %at = arith.divui %item, %groups : i32
    %row_item = arith.muli %at, %groups : i32
    %group = arith.subi %item, %row_item : i32
    %first_row = arith.muli %at, %c32 : i32
    %row = arith.addi %first_row, %lane : i32
    %is_row = arith.cmpi slt, %row, %ids32 : i32
    %group64 = arith.extui %group : i32 to i64
    %begin64 = arith.muli %group64, %step : i64
    %unclipped = arith.addi %begin64, %size : i64
    %end64 = arith.minsi %unclipped, %columns : i64
    %begin = arith.trunci %begin64 : i64 to i32
    %end = arith.trunci %end64 : i64 to i32
    %first_word = arith.shrui %begin, %c5 : i32
    %rounded = arith.addi %end, %c31 : i32
    %words_end = arith.shrui %rounded, %c5 : i32
    %stop = arith.select %is_row, %words_end, %first_word : i32
    %row64 = arith.extui %row : i32 to i64
    %row_at = arith.muli %row64, %row_stride : i64
    %any = scf.for %w = %first_word to %stop step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %live = func.call @load_window(%data, %row_at, %w, %begin, %end)
          : (!llvm.ptr<1>, i64, i32, i32, i32) -> i32
      %next = arith.ori %s, %live : i32
      scf.yield %next : i32
    }
    %is_live = arith.cmpi ne, %any, %c0 : i32
    %live = nvvm.vote.sync ballot %cm1, %is_live -> i32
    scf.if %leads {
      func.call @store_word(%live, %bits, %group, %words, %at)
          : (i32, !llvm.ptr<1>, i32, i32, i32) -> ()
    }
  }
  llvm.return
}

/// The same for windows of many words: a block takes one window of 32 rows, a
/// warp four of them.
llvm.func @pit_bits_rows(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %groups: i32, %words: i32, %extent: i64,
    %data: !llvm.ptr<1>, %row_stride: i64, %columns: i64, %size: i64, %step: i64,
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
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %cm1 = arith.constant -1 : i32
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %at = arith.divui %block, %groups : i32
  %row_block = arith.muli %at, %groups : i32
  %group = arith.subi %block, %row_block : i32
  %ids32 = arith.trunci %extent : i64 to i32
  %last = arith.subi %ids32, %c1 : i32
  %group64 = arith.extui %group : i32 to i64
  %begin64 = arith.muli %group64, %step : i64
  %unclipped = arith.addi %begin64, %size : i64
  %end64 = arith.minsi %unclipped, %columns : i64
  %begin = arith.trunci %begin64 : i64 to i32
  %end = arith.trunci %end64 : i64 to i32
  %begin_word = arith.shrui %begin, %c5 : i32
  %first_word = arith.addi %begin_word, %lane : i32
  %rounded = arith.addi %end, %c31 : i32
  %words_end = arith.shrui %rounded, %c5 : i32
  %block_row = arith.muli %at, %c32 : i32
  %warp_row = arith.shli %warp, %c2 : i32
  %warp_bits = scf.for %k = %c0 to %c4 step %c1 iter_args(%found = %c0) -> (i32) : i32 {
    %number = arith.addi %warp_row, %k : i32
    %id = arith.addi %block_row, %number : i32
    // Rows past the last read the last, to no effect.
    %row_at = func.call @row_at(%id, %last, %row_stride) : (i32, i32, i64) -> i64
    %any = scf.for %w = %first_word to %words_end step %c32 iter_args(%s = %c0) -> (i32) : i32 {
      %live = func.call @load_window(%data, %row_at, %w, %begin, %end)
          : (!llvm.ptr<1>, i64, i32, i32, i32) -> i32
      %next = arith.ori %s, %live : i32
      scf.yield %next : i32
    }
    %is_some = arith.cmpi ne, %any, %c0 : i32
    %lanes = nvvm.vote.sync ballot %cm1, %is_some -> i32
    %is_live = arith.cmpi ne, %lanes, %c0 : i32
    %bit = arith.shli %c1, %number : i32
    %more = arith.select %is_live, %bit, %c0 : i32
    %next_found = arith.ori %found, %more : i32
    scf.yield %next_found : i32
  }
  %word = func.call @bits_of_warps(%warp_bits) : (i32) -> i32
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    %valid = func.call @valid_bits(%block_row, %ids32) : (i32, i32) -> i32
    %live = arith.andi %word, %valid : i32
    func.call @store_word(%live, %bits, %group, %words, %at)
        : (i32, !llvm.ptr<1>, i32, i32, i32) -> ()
  }
  llvm.return
}

/// The bits of columns `begin` to `end` of word w of a row.
func.func private @load_window(%data: !llvm.ptr<1>, %row_at: i64, %w: i32,
                               %begin: i32, %end: i32) -> i32 {
  %c32 = arith.constant 32 : i32
  %four = arith.constant 4 : i64
  %w64 = arith.extui %w : i32 to i64
  %word_at = arith.muli %w64, %four : i64
  %offset = arith.addi %row_at, %word_at : i64
  %from = llvm.getelementptr %data[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %word = llvm.load %from invariant : !llvm.ptr<1> -> i32
  %first_bit = arith.muli %w, %c32 : i32
  %upto = func.call @valid_bits(%first_bit, %end) : (i32, i32) -> i32
  %before = func.call @valid_bits(%first_bit, %begin) : (i32, i32) -> i32
  %in_window = arith.xori %upto, %before : i32
  %live = arith.andi %word, %in_window : i32
  return %live : i32
}

/// Writes word `at` of a group's bits.
func.func private @store_word(%word: i32, %bits: !llvm.ptr<1>, %group: i32,
                              %words: i32, %at: i32) {
  %group64 = arith.extui %group : i32 to i64
  %words64 = arith.extui %words : i32 to i64
  %at64 = arith.extui %at : i32 to i64
  %group_at = arith.muli %group64, %words64 : i64
  %offset = arith.addi %group_at, %at64 : i64
  %to = llvm.getelementptr %bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  llvm.store %word, %to : i32, !llvm.ptr<1>
  return
}
