//===- ChooseScan.mlir - One read of a matrix for all variants ------------===//
//
// The matrix of IndexValues.mlir, of which a choice wants the live micro-tiles
// of heights x 1 and the live rows: both come from one read. It may be the
// matrix's bitmap that is read, as a matrix whose elements are bits. The
// findings lie in the bits of the first index, and for the rows in as many
// parts as blocks read of a row: a row is live if it is in one of them.
//
//===----------------------------------------------------------------------===//

llvm.mlir.global internal @looks() {addr_space = 3 : i32} : i32
llvm.mlir.global internal @live_rows() {addr_space = 3 : i32} : !llvm.array<4 x i32>

/// Shall a block look (Choose.mlir)? Nothing is read that the
/// kernel before may write, but for the slot: what it has of it that is old
/// costs a look too many or too few.
func.func private @look(%slot: !llvm.ptr<1>, %elapsed: i32) -> i1 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %flag = llvm.mlir.addressof @looks : !llvm.ptr<3>
  %rows = llvm.mlir.addressof @live_rows : !llvm.ptr<3>
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    %looks = func.call @is_due(%slot, %elapsed) : (!llvm.ptr<1>, i32) -> i1
    %word = arith.extui %looks : i1 to i32
    llvm.store %word, %flag : i32, !llvm.ptr<3>
  }
  %clears = arith.cmpi ult, %tid, %c4 : i32
  scf.if %clears {
    %at = llvm.getelementptr %rows[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %c0, %at : i32, !llvm.ptr<3>
  }
  gpu.barrier
  %word = llvm.load %flag : !llvm.ptr<3> -> i32
  %looks = arith.cmpi ne, %word, %c0 : i32
  return %looks : i1
}

/// Begins a choice, and looks if there is to be a look: then each block counts
/// itself. A block takes `height` rows (8 to 128, a multiple of 8) as one of
/// @pit_index_columns takes a window, at most 32 of them by a warp. `bits` or
/// `row_bits` is null if no variant needs it; a part of `row_bits` has
/// `part_bytes`. The heads of the indices of both come one after the other.
llvm.func @pit_choose_scan(
    %heads: !llvm.ptr {llvm.byval = !llvm.array<768 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %row_copy: !llvm.ptr<1>, %slot: !llvm.ptr<1>,
    %state: !llvm.ptr<1>, %elapsed: i32, %bits: !llvm.ptr<1>, %words: i32,
    %counts: !llvm.ptr<1>, %row_bits: !llvm.ptr<1>, %part_bytes: i64,
    %data: !llvm.ptr<1>, %row_stride: i64, %row_bytes: i32, %size_log2: i32,
    %background_low: i32, %background_high: i32, %care_low: i32,
    %care_high: i32, %always: i32, %rows: i64, %height: i32,
    %split_log2: i32, %blocks_per_group: i32, %after: !llvm.ptr<1>)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
  func.call @let_next_start() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %c0 = arith.constant 0 : i32
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %either = arith.ori %tid, %block : i32
  %is_grid_first = arith.cmpi eq, %either, %c0 : i32
  %looks = func.call @look(%slot, %elapsed) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %looks, ^run, ^leave
^leave:
  // The kernel is over when that before it is; one thread is enough for that.
  scf.if %is_grid_first {
    func.call @wait_for_previous() : () -> ()
  }
  llvm.return
^run:
  func.call @wait_for_previous() : () -> ()
  %taken = func.call @is_taken(%after) : (!llvm.ptr<1>) -> i1
  // Indices that nobody lists are empty.
  scf.if %is_grid_first {
    %has_bits = llvm.icmp "ne" %bits, %null : !llvm.ptr<1>
    scf.if %has_bits {
      func.call @begin_copy(%heads, %copy) : (!llvm.ptr, !llvm.ptr<1>) -> ()
    }
    %has_rows = llvm.icmp "ne" %row_bits, %null : !llvm.ptr<1>
    scf.if %has_rows {
      %row_head = llvm.getelementptr %heads[384] : (!llvm.ptr) -> !llvm.ptr, i8
      func.call @begin_copy(%row_head, %row_copy) : (!llvm.ptr, !llvm.ptr<1>) -> ()
    }
  }
  llvm.cond_br %taken, ^gone, ^read
^gone:
  llvm.return
^read:
  %c16 = arith.constant 16 : i32
  %place:4 = func.call @piece_of_warp(%split_log2, %blocks_per_group)
      : (i32, i32) -> (i32, i32, i32, i32)
  %byte = arith.muli %place#3, %c16 : i32
  %inside = arith.cmpi slt, %byte, %row_bytes : i32
  %group = arith.extui %place#0 : i32 to i64
  %height64 = arith.extui %height : i32 to i64
  %begin = arith.muli %group, %height64 : i64
  %unclipped = arith.addi %begin, %height64 : i64
  %end = arith.minsi %unclipped, %rows : i64
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
  %warp_rows = arith.trunci %run#1 : i64 to i32
  %found:2 = func.call @or_rows(%data, %first_byte, %warp_stride, %warp_rows, %background, %care, %always4)
      : (!llvm.ptr<1>, i64, i64, i32, vector<4xi32>, vector<4xi32>, vector<4xi32>)
      -> (vector<4xi32>, i32)
  func.call @note_rows(%found#1, %place#2, %split_log2) : (i32, i32, i32) -> ()

  %sum = func.call @of_piece(%found#0, %split_log2) : (vector<4xi32>, i32) -> vector<4xi32>
  %has_bits = llvm.icmp "ne" %bits, %null : !llvm.ptr<1>
  %leads = arith.cmpi eq, %place#2, %c0 : i32
  %writes = arith.andi %leads, %has_bits : i1
  %are_bits = arith.cmpi slt, %size_log2, %c0 : i32
  %ones = scf.if %are_bits -> (i32) {
    func.call @store_sixteen(%sum, %place#3, %writes, %bits, %group, %words)
        : (vector<4xi32>, i32, i1, !llvm.ptr<1>, i64, i32) -> ()
    %of_words = math.ctpop %sum : vector<4xi32>
    %of_bits = vector.reduction <add>, %of_words : vector<4xi32> into i32
    scf.yield %of_bits : i32
  } else {
    %elements = func.call @live_elements(%sum, %size_log2) : (vector<4xi32>, i32) -> i32
    %false = arith.constant false
    func.call @store_elements(%elements, %size_log2, %place#3, %writes, %false, %bits, %group, %words)
        : (i32, i32, i32, i1, i1, !llvm.ptr<1>, i64, i32) -> ()
    %of_elements = math.ctpop %elements : i32
    scf.yield %of_elements : i32
  }
  %mine = arith.select %leads, %ones, %c0 : i32
  %mine64 = arith.extui %mine : i32 to i64
  %all:2 = func.call @block_scan(%mine64) : (i64) -> (i64, i64)
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    %one = arith.constant 1 : i32
    %count = arith.trunci %all#1 : i64 to i32
    %count_at = llvm.getelementptr %counts[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %count, %count_at : i32, !llvm.ptr<1>
    %0 = llvm.atomicrmw add %state, %one syncscope("device") monotonic : !llvm.ptr<1>, i32
  }
  %has_rows = llvm.icmp "ne" %row_bits, %null : !llvm.ptr<1>
  scf.if %has_rows {
    %c3 = arith.constant 3 : i32
    %three = arith.constant 3 : i64
    %height_bytes = arith.shrui %height, %c3 : i32
    %writes_row = arith.cmpi ult, %tid, %height_bytes : i32
    scf.if %writes_row {
      %live = llvm.mlir.addressof @live_rows : !llvm.ptr<3>
      %from = llvm.getelementptr %live[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %eight = llvm.load %from : !llvm.ptr<3> -> i8
      %part = arith.extui %place#1 : i32 to i64
      %tid64 = arith.extui %tid : i32 to i64
      %part_at = arith.muli %part, %part_bytes : i64
      %row_at = arith.shrui %begin, %three : i64
      %window_at = arith.addi %part_at, %row_at : i64
      %offset = arith.addi %window_at, %tid64 : i64
      %to = llvm.getelementptr %row_bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      llvm.store %eight, %to : i8, !llvm.ptr<1>
    }
  }
  llvm.return
}

/// A lane stores the words that its 16 bytes of a bitmap are, which come after
/// `at_16` others like them. A row of the bitmap may have more words.
func.func private @store_sixteen(%live: vector<4xi32>, %at_16: i32, %writes: i1,
                               %bits: !llvm.ptr<1>, %group: i64, %words: i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %first = arith.shli %at_16, %c2 : i32
  %w:4 = vector.to_elements %live : vector<4xi32>
  %at1 = arith.addi %first, %c1 : i32
  %at2 = arith.addi %first, %c2 : i32
  %at3 = arith.addi %first, %c3 : i32
  func.call @store_part(%w#0, %first, %writes, %bits, %group, %words)
      : (i32, i32, i1, !llvm.ptr<1>, i64, i32) -> ()
  func.call @store_part(%w#1, %at1, %writes, %bits, %group, %words)
      : (i32, i32, i1, !llvm.ptr<1>, i64, i32) -> ()
  func.call @store_part(%w#2, %at2, %writes, %bits, %group, %words)
      : (i32, i32, i1, !llvm.ptr<1>, i64, i32) -> ()
  func.call @store_part(%w#3, %at3, %writes, %bits, %group, %words)
      : (i32, i32, i1, !llvm.ptr<1>, i64, i32) -> ()
  return
}

func.func private @store_part(%word: i32, %at: i32, %writes: i1,
                              %bits: !llvm.ptr<1>, %group: i64, %words: i32) {
  %in_group = arith.cmpi ult, %at, %words : i32
  %stores = arith.andi %in_group, %writes : i1
  scf.if %stores {
    %words64 = arith.extui %words : i32 to i64
    %at64 = arith.extui %at : i32 to i64
    %group_at = arith.muli %group, %words64 : i64
    %offset = arith.addi %group_at, %at64 : i64
    %to = llvm.getelementptr %bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %word, %to : i32, !llvm.ptr<1>
  }
  return
}

/// The live bits of a lane's 16 bytes of at most 32 rows, `stride` apart: as
/// bits of the 16 bytes and as bits of the rows. Eight rows at a time, so that
/// as many loads are under way; in the place of what would be behind the last
/// row comes the last.
func.func private @or_rows(%data: !llvm.ptr<1>, %first: i64, %stride: i64,
                           %rows: i32, %background: vector<4xi32>,
                           %care: vector<4xi32>, %always: vector<4xi32>)
    -> (vector<4xi32>, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %zeros = arith.constant dense<0> : vector<4xi32>
  %last = arith.subi %rows, %c1 : i32
  %all:2 = scf.for %r0 = %c0 to %rows step %c8
      iter_args(%sum = %zeros, %live_rows = %c0) -> (vector<4xi32>, i32) : i32 {
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
    %s0:2 = func.call @or_row(%v0, %r0, %background, %care, %always, %sum, %live_rows)
        : (vector<4xi32>, i32, vector<4xi32>, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32) -> (vector<4xi32>, i32)
    %s1:2 = func.call @or_row(%v1, %r1, %background, %care, %always, %s0#0, %s0#1)
        : (vector<4xi32>, i32, vector<4xi32>, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32) -> (vector<4xi32>, i32)
    %s2:2 = func.call @or_row(%v2, %r2, %background, %care, %always, %s1#0, %s1#1)
        : (vector<4xi32>, i32, vector<4xi32>, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32) -> (vector<4xi32>, i32)
    %s3:2 = func.call @or_row(%v3, %r3, %background, %care, %always, %s2#0, %s2#1)
        : (vector<4xi32>, i32, vector<4xi32>, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32) -> (vector<4xi32>, i32)
    %s4:2 = func.call @or_row(%v4, %r4, %background, %care, %always, %s3#0, %s3#1)
        : (vector<4xi32>, i32, vector<4xi32>, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32) -> (vector<4xi32>, i32)
    %s5:2 = func.call @or_row(%v5, %r5, %background, %care, %always, %s4#0, %s4#1)
        : (vector<4xi32>, i32, vector<4xi32>, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32) -> (vector<4xi32>, i32)
    %s6:2 = func.call @or_row(%v6, %r6, %background, %care, %always, %s5#0, %s5#1)
        : (vector<4xi32>, i32, vector<4xi32>, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32) -> (vector<4xi32>, i32)
    %s7:2 = func.call @or_row(%v7, %r7, %background, %care, %always, %s6#0, %s6#1)
        : (vector<4xi32>, i32, vector<4xi32>, vector<4xi32>, vector<4xi32>, vector<4xi32>, i32) -> (vector<4xi32>, i32)
    scf.yield %s7#0, %s7#1 : vector<4xi32>, i32
  }
  return %all#0, %all#1 : vector<4xi32>, i32
}

func.func private @next_row(%row: i32, %last: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %next = arith.addi %row, %c1 : i32
  %inside = arith.minsi %next, %last : i32
  return %inside : i32
}

func.func private @load_row(%data: !llvm.ptr<1>, %first: i64, %stride: i64,
                            %row: i32) -> vector<4xi32> {
  %row64 = arith.extui %row : i32 to i64
  %skipped = arith.muli %row64, %stride : i64
  %offset = arith.addi %first, %skipped : i64
  %v = func.call @load_16(%data, %offset) : (!llvm.ptr<1>, i64) -> vector<4xi32>
  return %v : vector<4xi32>
}

/// Adds 16 bytes of a row to what there was.
func.func private @or_row(%v: vector<4xi32>, %row: i32, %background: vector<4xi32>,
                          %care: vector<4xi32>, %always: vector<4xi32>,
                          %sum: vector<4xi32>, %live_rows: i32) -> (vector<4xi32>, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.xori %v, %background : vector<4xi32>
  %cared = arith.andi %x, %care : vector<4xi32>
  %live4 = arith.ori %cared, %always : vector<4xi32>
  %next = arith.ori %sum, %live4 : vector<4xi32>
  %live = func.call @any(%live4) : (vector<4xi32>) -> i1
  %bit = arith.shli %c1, %row : i32
  %more = arith.select %live, %bit, %c0 : i32
  %next_rows = arith.ori %live_rows, %more : i32
  return %next, %next_rows : vector<4xi32>, i32
}

/// A warp notes for its block the rows in which one of its lanes has found
/// something. Cleared before (@look).
func.func private @note_rows(%live: i32, %phase: i32, %split_log2: i32) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %cm1 = arith.constant -1 : i32
  %lane = arith.andi %tid, %c31 : i32
  %all = nvvm.redux.sync or %live, %cm1 : i32 -> i32
  %shifted = arith.shrui %all, %lane : i32
  %mine = arith.andi %shifted, %c1 : i32
  %is_live = arith.cmpi ne, %mine, %c0 : i32
  scf.if %is_live {
    %rows = llvm.mlir.addressof @live_rows : !llvm.ptr<3>
    %skipped = arith.shli %lane, %split_log2 : i32
    %row = arith.addi %skipped, %phase : i32
    %word = arith.shrui %row, %c5 : i32
    %place = arith.andi %row, %c31 : i32
    %bit = arith.shli %c1, %place : i32
    %at = llvm.getelementptr %rows[%word] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %0 = llvm.atomicrmw _or %at, %bit syncscope("block") monotonic : !llvm.ptr<3>, i32
  }
  return
}
