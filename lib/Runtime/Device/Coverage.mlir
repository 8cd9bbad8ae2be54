//===- Coverage.mlir - Live micro-tiles of many kinds, from a bitmap ------===//
//
// A bitmap of rows of `words` words of 32 bits (Bitmap.mlir). Two kernels count
// for h x 1 and 1 x w with h and w of 1, 2, 4, ..., 128 at once: the micro-tiles
// of each group that are live, and what that makes of all groups.
//
// Counts of groups are words of 32 bits, cleared before. Counts of windows of
// 2^k rows lie from 2 p - (2 p >> k) on, where p are the rows rounded up to a
// multiple of 128. The others follow in the same way, with columns for rows.
//
//===----------------------------------------------------------------------===//

/// A warp turns a word of each of 32 rows, lane by lane, into one of each of 32
/// columns.
func.func private @transpose_bits(%x: i32) -> i32 {
  %m16 = arith.constant 0x0000ffff : i32
  %m8 = arith.constant 0x00ff00ff : i32
  %m4 = arith.constant 0x0f0f0f0f : i32
  %m2 = arith.constant 0x33333333 : i32
  %m1 = arith.constant 0x55555555 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %x16 = func.call @swap_bits(%x, %c16, %m16) : (i32, i32, i32) -> i32
  %x8 = func.call @swap_bits(%x16, %c8, %m8) : (i32, i32, i32) -> i32
  %x4 = func.call @swap_bits(%x8, %c4, %m4) : (i32, i32, i32) -> i32
  %x2 = func.call @swap_bits(%x4, %c2, %m2) : (i32, i32, i32) -> i32
  %x1 = func.call @swap_bits(%x2, %c1, %m1) : (i32, i32, i32) -> i32
  return %x1 : i32
}

/// A warp exchanges squares of `distance` lanes by bits across the diagonal;
/// `low` are the bits of the left ones.
func.func private @swap_bits(%x: i32, %distance: i32, %low: i32) -> i32 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %cm1 = arith.constant -1 : i32
  %high = arith.xori %low, %cm1 : i32
  %y, %0 = gpu.shuffle xor %x, %distance, %c32 : i32
  %bit = arith.andi %tid, %distance : i32
  %is_lower = arith.cmpi ne, %bit, %c0 : i32
  %up = arith.shli %y, %distance : i32
  %down = arith.shrui %y, %distance : i32
  %mask = arith.select %is_lower, %high, %low : i32
  %moved = arith.select %is_lower, %down, %up : i32
  %other = arith.xori %mask, %cm1 : i32
  %mine = arith.andi %x, %mask : i32
  %theirs = arith.andi %moved, %other : i32
  %result = arith.ori %mine, %theirs : i32
  return %result : i32
}

/// A warp puts a of two lanes together in the one, and b in the other, whose
/// number has the bit `distance`.
func.func private @merge(%a: i32, %b: i32, %distance: i32) -> i32 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %bit = arith.andi %tid, %distance : i32
  %is_second = arith.cmpi ne, %bit, %c0 : i32
  %sent = arith.select %is_second, %a, %b : i32
  %kept = arith.select %is_second, %b, %a : i32
  %received, %0 = gpu.shuffle xor %sent, %distance, %c32 : i32
  %all = arith.ori %kept, %received : i32
  return %all : i32
}

/// The x of both lanes of a warp.
func.func private @either(%x: i32, %distance: i32) -> i32 {
  %c32 = arith.constant 32 : i32
  %other, %0 = gpu.shuffle xor %x, %distance, %c32 : i32
  %all = arith.ori %x, %other : i32
  return %all : i32
}

/// The sum over both lanes of a warp.
func.func private @sum_of_both(%x: i32, %distance: i32) -> i32 {
  %c32 = arith.constant 32 : i32
  %other, %0 = gpu.shuffle xor %x, %distance, %c32 : i32
  %all = arith.addi %x, %other : i32
  return %all : i32
}

func.func private @count_4(%a: i32, %b: i32, %c: i32, %d: i32) -> i32 {
  %na = math.ctpop %a : i32
  %nb = math.ctpop %b : i32
  %nc = math.ctpop %c : i32
  %nd = math.ctpop %d : i32
  %ab = arith.addi %na, %nb : i32
  %cd = arith.addi %nc, %nd : i32
  %n = arith.addi %ab, %cd : i32
  return %n : i32
}

/// Bit `from` of x at place `to`.
func.func private @move_bit(%x: i32, %from: i32, %to: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %low = arith.shrui %x, %from : i32
  %bit = arith.andi %low, %c1 : i32
  %moved = arith.shli %bit, %to : i32
  return %moved : i32
}

/// Adds live micro-tiles to group `number` of those of 2^level rows that begin
/// at row `first`.
func.func private @add_count(%counts: !llvm.ptr<1>, %padded: i32, %level: i32,
                             %first: i32, %number: i32, %n: i32, %adds: i1) {
  %c0 = arith.constant 0 : i32
  %some = arith.cmpi ne, %n, %c0 : i32
  %writes = arith.andi %some, %adds : i1
  scf.if %writes {
    %one = arith.constant 1 : i64
    %padded64 = arith.extui %padded : i32 to i64
    %level64 = arith.extui %level : i32 to i64
    %twice = arith.shli %padded64, %one : i64
    %rest = arith.shrui %twice, %level64 : i64
    %place = arith.subi %twice, %rest : i64
    %begin = arith.shrui %first, %level : i32
    %group = arith.addi %begin, %number : i32
    %group64 = arith.extui %group : i32 to i64
    %offset = arith.addi %place, %group64 : i64
    %at = llvm.getelementptr %counts[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %0 = llvm.atomicrmw add %at, %n syncscope("device") monotonic : !llvm.ptr<1>, i32
  }
  return
}
/// A warp counts for windows of 1, 2, ..., 128 rows. Word xij has 32 columns
/// j of row 32 i + lane of the 128 from `first` on.
///
/// Rows are merged by one bit of their number after the other, those of the lane
/// from the lowest. With each, a lane keeps half of the words that two lanes
/// have in common, as long as there are two: so a bit of the lane's number
/// becomes one of i (the first two), or of j.
func.func private @count_windows(
    %x00: i32, %x01: i32, %x02: i32, %x03: i32,
    %x10: i32, %x11: i32, %x12: i32, %x13: i32,
    %x20: i32, %x21: i32, %x22: i32, %x23: i32,
    %x30: i32, %x31: i32, %x32: i32, %x33: i32,
    %counts: !llvm.ptr<1>, %padded: i32, %first: i32) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %c16 = arith.constant 16 : i32
  %c24 = arith.constant 24 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %c255 = arith.constant 255 : i32
  %true = arith.constant true
  %lane = arith.andi %tid, %c31 : i32

  // 1 row: lane.
  %n0_0 = func.call @count_4(%x00, %x01, %x02, %x03) : (i32, i32, i32, i32) -> i32
  %i0 = arith.constant 0 : i32
  %g0_0 = arith.addi %lane, %i0 : i32
  func.call @add_count(%counts, %padded, %c0, %first, %g0_0, %n0_0, %true) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()
  %n0_1 = func.call @count_4(%x10, %x11, %x12, %x13) : (i32, i32, i32, i32) -> i32
  %i1 = arith.constant 32 : i32
  %g0_1 = arith.addi %lane, %i1 : i32
  func.call @add_count(%counts, %padded, %c0, %first, %g0_1, %n0_1, %true) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()
  %n0_2 = func.call @count_4(%x20, %x21, %x22, %x23) : (i32, i32, i32, i32) -> i32
  %i2 = arith.constant 64 : i32
  %g0_2 = arith.addi %lane, %i2 : i32
  func.call @add_count(%counts, %padded, %c0, %first, %g0_2, %n0_2, %true) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()
  %n0_3 = func.call @count_4(%x30, %x31, %x32, %x33) : (i32, i32, i32, i32) -> i32
  %i3 = arith.constant 96 : i32
  %g0_3 = arith.addi %lane, %i3 : i32
  func.call @add_count(%counts, %padded, %c0, %first, %g0_3, %n0_3, %true) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()

  // 2 rows: bit 0 of the lane is bit 0 of i.
  %pair = arith.shrui %lane, %c1 : i32
  %b0_4 = func.call @move_bit(%lane, %c0, %c4) : (i32, i32, i32) -> i32
  %pair_i = arith.addi %pair, %b0_4 : i32
  %v100 = func.call @merge(%x00, %x10, %c1) : (i32, i32, i32) -> i32
  %v101 = func.call @merge(%x01, %x11, %c1) : (i32, i32, i32) -> i32
  %v102 = func.call @merge(%x02, %x12, %c1) : (i32, i32, i32) -> i32
  %v103 = func.call @merge(%x03, %x13, %c1) : (i32, i32, i32) -> i32
  %n1_0 = func.call @count_4(%v100, %v101, %v102, %v103) : (i32, i32, i32, i32) -> i32
  %v110 = func.call @merge(%x20, %x30, %c1) : (i32, i32, i32) -> i32
  %v111 = func.call @merge(%x21, %x31, %c1) : (i32, i32, i32) -> i32
  %v112 = func.call @merge(%x22, %x32, %c1) : (i32, i32, i32) -> i32
  %v113 = func.call @merge(%x23, %x33, %c1) : (i32, i32, i32) -> i32
  %n1_1 = func.call @count_4(%v110, %v111, %v112, %v113) : (i32, i32, i32, i32) -> i32
  %pair_32 = arith.addi %pair_i, %c32 : i32
  func.call @add_count(%counts, %padded, %c1, %first, %pair_i, %n1_0, %true) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()
  func.call @add_count(%counts, %padded, %c1, %first, %pair_32, %n1_1, %true) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()

  // 4 rows: bit 1 of the lane is bit 1 of i.
  %v20 = func.call @merge(%v100, %v110, %c2) : (i32, i32, i32) -> i32
  %v21 = func.call @merge(%v101, %v111, %c2) : (i32, i32, i32) -> i32
  %v22 = func.call @merge(%v102, %v112, %c2) : (i32, i32, i32) -> i32
  %v23 = func.call @merge(%v103, %v113, %c2) : (i32, i32, i32) -> i32
  %n2 = func.call @count_4(%v20, %v21, %v22, %v23) : (i32, i32, i32, i32) -> i32
  %four = arith.shrui %lane, %c2 : i32
  %b0_3 = func.call @move_bit(%lane, %c0, %c3) : (i32, i32, i32) -> i32
  %b1_4 = func.call @move_bit(%lane, %c1, %c4) : (i32, i32, i32) -> i32
  %four_0 = arith.addi %four, %b0_3 : i32
  %four_i = arith.addi %four_0, %b1_4 : i32
  func.call @add_count(%counts, %padded, %c2, %first, %four_i, %n2, %true) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()

  // 8 rows: bit 2 of the lane is bit 1 of j.
  %v30 = func.call @merge(%v20, %v22, %c4) : (i32, i32, i32) -> i32
  %v31 = func.call @merge(%v21, %v23, %c4) : (i32, i32, i32) -> i32
  %n30 = math.ctpop %v30 : i32
  %n31 = math.ctpop %v31 : i32
  %n3_half = arith.addi %n30, %n31 : i32
  %n3 = func.call @sum_of_both(%n3_half, %c4) : (i32, i32) -> i32
  %eight = arith.shrui %lane, %c3 : i32
  %b0_2 = func.call @move_bit(%lane, %c0, %c2) : (i32, i32, i32) -> i32
  %b1_3 = func.call @move_bit(%lane, %c1, %c3) : (i32, i32, i32) -> i32
  %eight_0 = arith.addi %eight, %b0_2 : i32
  %eight_i = arith.addi %eight_0, %b1_3 : i32
  %half = arith.andi %lane, %c4 : i32
  %leads_half = arith.cmpi eq, %half, %c0 : i32
  func.call @add_count(%counts, %padded, %c3, %first, %eight_i, %n3, %leads_half) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()

  // 16 rows: bit 3 of the lane is bit 0 of j. All that follows is merged whole.
  // The counts, at most 128 each, are added up as bytes of one word.
  %v4 = func.call @merge(%v30, %v31, %c8) : (i32, i32, i32) -> i32
  %v5 = func.call @either(%v4, %c16) : (i32, i32) -> i32
  %v6 = func.call @either(%v5, %c1) : (i32, i32) -> i32
  %v7 = func.call @either(%v6, %c2) : (i32, i32) -> i32
  %n4_mine = math.ctpop %v4 : i32
  %n5_mine = math.ctpop %v5 : i32
  %n6_mine = math.ctpop %v6 : i32
  %n7_mine = math.ctpop %v7 : i32
  %n5_moved = arith.shli %n5_mine, %c8 : i32
  %n6_moved = arith.shli %n6_mine, %c16 : i32
  %n7_moved = arith.shli %n7_mine, %c24 : i32
  %n45 = arith.addi %n4_mine, %n5_moved : i32
  %n67 = arith.addi %n6_moved, %n7_moved : i32
  %n4567 = arith.addi %n45, %n67 : i32
  %n4567_2 = func.call @sum_of_both(%n4567, %c4) : (i32, i32) -> i32
  %n4567_4 = func.call @sum_of_both(%n4567_2, %c8) : (i32, i32) -> i32
  %n4 = arith.andi %n4567_4, %c255 : i32
  %n5_up = arith.shrui %n4567_4, %c8 : i32
  %n5 = arith.andi %n5_up, %c255 : i32
  %n6_up = arith.shrui %n4567_4, %c16 : i32
  %n6 = arith.andi %n6_up, %c255 : i32
  %n7 = arith.shrui %n4567_4, %c24 : i32
  %sixteen = arith.shrui %lane, %c4 : i32
  %b0_1 = func.call @move_bit(%lane, %c0, %c1) : (i32, i32, i32) -> i32
  %b1_2 = func.call @move_bit(%lane, %c1, %c2) : (i32, i32, i32) -> i32
  %sixteen_0 = arith.addi %sixteen, %b0_1 : i32
  %sixteen_i = arith.addi %sixteen_0, %b1_2 : i32
  %word = arith.andi %lane, %c12 : i32
  %leads_words = arith.cmpi eq, %word, %c0 : i32
  func.call @add_count(%counts, %padded, %c4, %first, %sixteen_i, %n4, %leads_words) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()
  %leads_32 = arith.cmpi ult, %lane, %c4 : i32
  func.call @add_count(%counts, %padded, %c5, %first, %lane, %n5, %leads_32) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()
  %bit0 = arith.andi %lane, %c1 : i32
  %leads_pair = arith.cmpi eq, %bit0, %c0 : i32
  %leads_64 = arith.andi %leads_32, %leads_pair : i1
  func.call @add_count(%counts, %padded, %c6, %first, %pair, %n6, %leads_64) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()
  %leads = arith.cmpi eq, %lane, %c0 : i32
  func.call @add_count(%counts, %padded, %c7, %first, %c0, %n7, %leads) : (!llvm.ptr<1>, i32, i32, i32, i32, i32, i1) -> ()
  return
}

/// A lane reads words 4 tile to 4 tile + 3 of a row, 0 if there are none.
func.func private @load_tile(%bits: !llvm.ptr<1>, %row: i32, %rows: i32,
                             %tile: i32, %words: i32) -> (i32, i32, i32, i32) {
  %c2 = arith.constant 2 : i32
  %first = arith.shli %tile, %c2 : i32
  %second = arith.addi %first, %c2 : i32
  %a:2 = func.call @load_two(%bits, %row, %rows, %first, %words)
      : (!llvm.ptr<1>, i32, i32, i32, i32) -> (i32, i32)
  %b:2 = func.call @load_two(%bits, %row, %rows, %second, %words)
      : (!llvm.ptr<1>, i32, i32, i32, i32) -> (i32, i32)
  return %a#0, %a#1, %b#0, %b#1 : i32, i32, i32, i32
}

/// Two words from an even one on.
func.func private @load_two(%bits: !llvm.ptr<1>, %row: i32, %rows: i32, %at: i32,
                            %words: i32) -> (i32, i32) {
  %zeros = arith.constant dense<0> : vector<2xi32>
  %is_row = arith.cmpi ult, %row, %rows : i32
  %is_word = arith.cmpi ult, %at, %words : i32
  %inside = arith.andi %is_row, %is_word : i1
  %two = scf.if %inside -> (vector<2xi32>) {
    %row64 = arith.extui %row : i32 to i64
    %words64 = arith.extui %words : i32 to i64
    %at64 = arith.extui %at : i32 to i64
    %row_at = arith.muli %row64, %words64 : i64
    %offset = arith.addi %row_at, %at64 : i64
    %from = llvm.getelementptr %bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %v = llvm.load %from invariant {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xi32>
    scf.yield %v : vector<2xi32>
  } else {
    scf.yield %zeros : vector<2xi32>
  }
  %w:2 = vector.to_elements %two : vector<2xi32>
  return %w#0, %w#1 : i32, i32
}

/// Counts for the groups. A warp takes 128 rows of 128 columns; `across` such
/// tiles lie side by side.
llvm.func @pit_coverage_tiles(%bits: !llvm.ptr<1>, %words: i32, %rows: i32,
                              %across: i32, %tiles: i32, %row_counts: !llvm.ptr<1>,
                              %padded_rows: i32, %column_counts: !llvm.ptr<1>,
                              %padded_columns: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 2 : i32} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c96 = arith.constant 96 : i32
  %lane = arith.andi %tid, %c31 : i32
  %warp_in_block = arith.shrui %tid, %c5 : i32
  %block_warp = arith.muli %block, %c8 : i32
  %warp = arith.addi %block_warp, %warp_in_block : i32
  %warps = arith.muli %grid, %c8 : i32
  scf.for %tile = %warp to %tiles step %warps : i32 {
    %down = arith.divui %tile, %across : i32
    %before = arith.muli %down, %across : i32
    %side = arith.subi %tile, %before : i32
    %first_row = arith.shli %down, %c7 : i32
    %first_column = arith.shli %side, %c7 : i32
    %row0 = arith.addi %first_row, %lane : i32
    %row1 = arith.addi %row0, %c32 : i32
    %row2 = arith.addi %row0, %c64 : i32
    %row3 = arith.addi %row0, %c96 : i32
    %x0:4 = func.call @load_tile(%bits, %row0, %rows, %side, %words)
        : (!llvm.ptr<1>, i32, i32, i32, i32) -> (i32, i32, i32, i32)
    %x1:4 = func.call @load_tile(%bits, %row1, %rows, %side, %words)
        : (!llvm.ptr<1>, i32, i32, i32, i32) -> (i32, i32, i32, i32)
    %x2:4 = func.call @load_tile(%bits, %row2, %rows, %side, %words)
        : (!llvm.ptr<1>, i32, i32, i32, i32) -> (i32, i32, i32, i32)
    %x3:4 = func.call @load_tile(%bits, %row3, %rows, %side, %words)
        : (!llvm.ptr<1>, i32, i32, i32, i32) -> (i32, i32, i32, i32)
    func.call @count_windows(%x0#0, %x0#1, %x0#2, %x0#3, %x1#0, %x1#1, %x1#2, %x1#3, %x2#0, %x2#1, %x2#2, %x2#3, %x3#0, %x3#1, %x3#2, %x3#3,
        %row_counts, %padded_rows, %first_row)
        : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, !llvm.ptr<1>, i32, i32) -> ()
    %t00 = func.call @transpose_bits(%x0#0) : (i32) -> i32
    %t01 = func.call @transpose_bits(%x1#0) : (i32) -> i32
    %t02 = func.call @transpose_bits(%x2#0) : (i32) -> i32
    %t03 = func.call @transpose_bits(%x3#0) : (i32) -> i32
    %t10 = func.call @transpose_bits(%x0#1) : (i32) -> i32
    %t11 = func.call @transpose_bits(%x1#1) : (i32) -> i32
    %t12 = func.call @transpose_bits(%x2#1) : (i32) -> i32
    %t13 = func.call @transpose_bits(%x3#1) : (i32) -> i32
    %t20 = func.call @transpose_bits(%x0#2) : (i32) -> i32
    %t21 = func.call @transpose_bits(%x1#2) : (i32) -> i32
    %t22 = func.call @transpose_bits(%x2#2) : (i32) -> i32
    %t23 = func.call @transpose_bits(%x3#2) : (i32) -> i32
    %t30 = func.call @transpose_bits(%x0#3) : (i32) -> i32
    %t31 = func.call @transpose_bits(%x1#3) : (i32) -> i32
    %t32 = func.call @transpose_bits(%x2#3) : (i32) -> i32
    %t33 = func.call @transpose_bits(%x3#3) : (i32) -> i32
    func.call @count_windows(%t00, %t01, %t02, %t03, %t10, %t11, %t12, %t13, %t20, %t21, %t22, %t23, %t30, %t31, %t32, %t33,
        %column_counts, %padded_columns, %first_column)
        : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, !llvm.ptr<1>, i32, i32) -> ()
  }
  llvm.return
}

/// The results of the counts. A block takes a share of the counts of a kind,
/// number y of the grid: 0 to 7 windows of 2^y rows, 8 to 15 of columns.
/// `results` are pairs, cleared before: all live micro-tiles, and those of the
/// fullest group; then the rows and the columns that are not empty.
llvm.func @pit_coverage_sums(%row_counts: !llvm.ptr<1>, %padded_rows: i32,
                             %column_counts: !llvm.ptr<1>, %padded_columns: i32,
                             %results: !llvm.ptr<1>)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %kind = nvvm.read.ptx.sreg.ctaid.y : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c32 = arith.constant 32 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %level = arith.andi %kind, %c7 : i32
  %which = arith.shrui %kind, %c3 : i32
  %is_rows = arith.cmpi eq, %which, %c0 : i32
  %counts = arith.select %is_rows, %row_counts, %column_counts : !llvm.ptr<1>
  %padded = arith.select %is_rows, %padded_rows, %padded_columns : i32
  %padded64 = arith.extui %padded : i32 to i64
  %level64 = arith.extui %level : i32 to i64
  %twice = arith.shli %padded64, %one : i64
  %rest = arith.shrui %twice, %level64 : i64
  %place = arith.subi %twice, %rest : i64
  %mine_at = llvm.getelementptr %counts[%place] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  %groups = arith.shrui %padded, %level : i32
  %block_first = arith.muli %block, %c256 : i32
  %first = arith.addi %block_first, %tid : i32
  %stride = arith.muli %blocks, %c256 : i32
  %found:3 = scf.for %g = %first to %groups step %stride
      iter_args(%sum = %zero, %most = %c0, %some = %c0) -> (i64, i32, i32) : i32 {
    %g64 = arith.extui %g : i32 to i64
    %from = llvm.getelementptr %mine_at[%g64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %n = llvm.load %from : !llvm.ptr<1> -> i32
    %n64 = arith.extui %n : i32 to i64
    %next_sum = arith.addi %sum, %n64 : i64
    %next_most = arith.maxui %most, %n : i32
    %is_some = arith.cmpi ne, %n, %c0 : i32
    %one_more = arith.extui %is_some : i1 to i32
    %next_some = arith.addi %some, %one_more : i32
    scf.yield %next_sum, %next_most, %next_some : i64, i32, i32
  }
  %all:2 = func.call @block_scan(%found#0) : (i64) -> (i64, i64)
  %most64 = arith.extui %found#1 : i32 to i64
  %most = func.call @block_max(%most64) : (i64) -> i64
  %some64 = arith.extui %found#2 : i32 to i64
  %live:2 = func.call @block_scan(%some64) : (i64) -> (i64, i64)
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    %pair = arith.shli %kind, %c1 : i32
    %sum_at = llvm.getelementptr %results[%pair] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %0 = llvm.atomicrmw add %sum_at, %all#1 syncscope("device") monotonic : !llvm.ptr<1>, i64
    %most_at = llvm.getelementptr %sum_at[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %1 = llvm.atomicrmw umax %most_at, %most syncscope("device") monotonic : !llvm.ptr<1>, i64
    %is_single = arith.cmpi eq, %level, %c0 : i32
    scf.if %is_single {
      %whole = arith.addi %which, %c32 : i32
      %live_at = llvm.getelementptr %results[%whole] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
      %2 = llvm.atomicrmw add %live_at, %live#1 syncscope("device") monotonic : !llvm.ptr<1>, i64
    }
  }
  llvm.return
}

/// Adds the bits of groups, `words` of each, to a pair of `results` as above. A
/// warp takes a group.
llvm.func @pit_coverage_groups(%bits: !llvm.ptr<1>, %groups: i32, %words: i32,
                               %results: !llvm.ptr<1>)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %lane = arith.andi %tid, %c31 : i32
  %warp_in_block = arith.shrui %tid, %c5 : i32
  %block_warp = arith.muli %block, %c8 : i32
  %warp = arith.addi %block_warp, %warp_in_block : i32
  %warps = arith.muli %grid, %c8 : i32
  %words64 = arith.extui %words : i32 to i64
  %found:2 = scf.for %g = %warp to %groups step %warps
      iter_args(%sum = %zero, %most = %zero) -> (i64, i64) : i32 {
    %g64 = arith.extui %g : i32 to i64
    %group_at = arith.muli %g64, %words64 : i64
    %mine = scf.for %w = %lane to %words step %c32 iter_args(%n = %zero) -> (i64) : i32 {
      %w64 = arith.extui %w : i32 to i64
      %offset = arith.addi %group_at, %w64 : i64
      %from = llvm.getelementptr %bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %word = llvm.load %from : !llvm.ptr<1> -> i32
      %ones = math.ctpop %word : i32
      %ones64 = arith.extui %ones : i32 to i64
      %next = arith.addi %n, %ones64 : i64
      scf.yield %next : i64
    }
    %upto = func.call @warp_scan(%mine) : (i64) -> i64
    %all, %0 = gpu.shuffle idx %upto, %c31, %c32 : i64
    %next_sum = arith.addi %sum, %all : i64
    %next_most = arith.maxui %most, %all : i64
    scf.yield %next_sum, %next_most : i64, i64
  }
  %c0 = arith.constant 0 : i32
  %leads = arith.cmpi eq, %lane, %c0 : i32
  scf.if %leads {
    %0 = llvm.atomicrmw add %results, %found#0 syncscope("device") monotonic : !llvm.ptr<1>, i64
    %most_at = llvm.getelementptr %results[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %1 = llvm.atomicrmw umax %most_at, %found#1 syncscope("device") monotonic : !llvm.ptr<1>, i64
  }
  llvm.return
}
