//===- IndexTranspose.mlir - Where the ids of an index lie ----------------===//
//
// The positions of each id, in the order of groups. First a row of bits tells
// which groups the id is in; then the place of a position in its list is the
// number of bits below that of its group. So lists come out the same whatever
// the order in which blocks run.
//
//===----------------------------------------------------------------------===//

/// Sets bit g of the row of `words` words of each id that group g lists. Bits are
/// zeros before. Each group is cut into `slices`.
llvm.func @pit_index_mark_ids(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %words: i32,
    %counts: !llvm.ptr<1>, %offsets: !llvm.ptr<1>, %ids: !llvm.ptr<1>,
    %groups: i32, %slices: i32, %num_ids: i32, %when: !llvm.ptr<1>, %value: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  func.call @begin_index(%head, %copy, %counter) : (!llvm.ptr, !llvm.ptr<1>, !llvm.ptr<1>) -> ()
  %leaves = func.call @leaves(%when, %value) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %c256 = arith.constant 256 : i32
  %by = arith.muli %slices, %c256 : i32
  %words64 = arith.extui %words : i32 to i64
  %items = arith.muli %groups, %slices : i32
  scf.for %item = %block to %items step %blocks : i32 {
    %g = arith.divui %item, %slices : i32
    %group_item = arith.muli %g, %slices : i32
    %slice = arith.subi %item, %group_item : i32
    %skipped = arith.muli %slice, %c256 : i32
    %first = arith.addi %skipped, %tid : i32
    %count, %start = func.call @group_of(%counts, %offsets, %g)
        : (!llvm.ptr<1>, !llvm.ptr<1>, i32) -> (i32, i64)
    %word = arith.shrui %g, %c5 : i32
    %word64 = arith.extui %word : i32 to i64
    %number = arith.andi %g, %c31 : i32
    %bit = arith.shli %c1, %number : i32
    scf.for %i = %first to %count step %by : i32 {
      %i64 = arith.extui %i : i32 to i64
      %position = arith.addi %start, %i64 : i64
      %from = llvm.getelementptr %ids[%position] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %id = llvm.load %from : !llvm.ptr<1> -> i32
      %inside = arith.cmpi ult, %id, %num_ids : i32
      scf.if %inside {
        %id64 = arith.extui %id : i32 to i64
        %row = arith.muli %id64, %words64 : i64
        %at = arith.addi %row, %word64 : i64
        %to = llvm.getelementptr %bits[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
        %0 = llvm.atomicrmw _or %to, %bit syncscope("device") monotonic : !llvm.ptr<1>, i32
      }
    }
  }
  llvm.return
}

/// How many ids a group has, and where they start.
func.func private @group_of(%counts: !llvm.ptr<1>, %offsets: !llvm.ptr<1>,
                            %group: i32) -> (i32, i64) {
  %g = arith.extui %group : i32 to i64
  %count_at = llvm.getelementptr %counts[%g] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  %count = llvm.load %count_at : !llvm.ptr<1> -> i32
  %offset_at = llvm.getelementptr %offsets[%g] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
  %offset = llvm.load %offset_at : !llvm.ptr<1> -> i64
  return %count, %offset : i32, i64
}

/// How many of the bits of `words` words there are.
func.func private @count_bits(%bits: !llvm.ptr<1>, %words: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %w = %c0 to %words step %c1 iter_args(%before = %c0) -> (i32) : i32 {
    %from = llvm.getelementptr %bits[%w] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %word = llvm.load %from : !llvm.ptr<1> -> i32
    %ones = math.ctpop %word : i32
    %next = arith.addi %before, %ones : i32
    scf.yield %next : i32
  }
  return %sum : i32
}

/// Makes the lists from the bits: that of id i has `room` places from i * room on.
llvm.func @pit_index_place_positions(
    %copy: !llvm.ptr<1>, %list_counts: !llvm.ptr<1>, %list_offsets: !llvm.ptr<1>,
    %lists: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %words: i32,
    %counts: !llvm.ptr<1>, %offsets: !llvm.ptr<1>, %ids: !llvm.ptr<1>,
    %groups: i32, %slices: i32, %num_ids: i32, %room: i64,
    %when: !llvm.ptr<1>, %value: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %leaves = func.call @leaves(%when, %value) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %c256 = arith.constant 256 : i32
  %words64 = arith.extui %words : i32 to i64
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  %last = arith.subi %num_ids, %c1 : i32

  // The numbers of lists, and those of pit_index, which @begin_index left 0.
  %extent_at = llvm.getelementptr %copy[56] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %total_at = llvm.getelementptr %copy[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %max_at = llvm.getelementptr %copy[72] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %begin = arith.muli %block, %c256 : i32
  %by = arith.muli %blocks, %c256 : i32
  scf.for %b = %begin to %num_ids step %by : i32 {
    %i = arith.addi %b, %tid : i32
    %inside = arith.cmpi ult, %i, %num_ids : i32
    %mine = scf.if %inside -> (i64) {
      %i64 = arith.extui %i : i32 to i64
      %row = arith.muli %i64, %words64 : i64
      %row_bits = llvm.getelementptr %bits[%row] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %count = func.call @count_bits(%row_bits, %words) : (!llvm.ptr<1>, i32) -> i32
      %place = arith.muli %i64, %room : i64
      %count_at = llvm.getelementptr %list_counts[%i64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      llvm.store %count, %count_at : i32, !llvm.ptr<1>
      %offset_at = llvm.getelementptr %list_offsets[%i64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
      llvm.store %place, %offset_at : i64, !llvm.ptr<1>
      %count64 = arith.extui %count : i32 to i64
      // No list ends behind the last.
      %is_last = arith.cmpi eq, %i, %last : i32
      scf.if %is_last {
        %end = arith.addi %place, %count64 : i64
        llvm.store %end, %extent_at : i64, !llvm.ptr<1>
      }
      scf.yield %count64 : i64
    } else {
      %zero = arith.constant 0 : i64
      scf.yield %zero : i64
    }
    %scan:2 = func.call @block_scan(%mine) : (i64) -> (i64, i64)
    %most = func.call @block_max(%mine) : (i64) -> i64
    scf.if %is_first {
      %0 = llvm.atomicrmw add %total_at, %scan#1 syncscope("device") monotonic : !llvm.ptr<1>, i64
      %1 = llvm.atomicrmw umax %max_at, %most syncscope("device") monotonic : !llvm.ptr<1>, i64
    }
  }

  %slice_by = arith.muli %slices, %c256 : i32
  %items = arith.muli %groups, %slices : i32
  scf.for %item = %block to %items step %blocks : i32 {
    %g = arith.divui %item, %slices : i32
    %group_item = arith.muli %g, %slices : i32
    %slice = arith.subi %item, %group_item : i32
    %skipped = arith.muli %slice, %c256 : i32
    %first = arith.addi %skipped, %tid : i32
    %count, %start = func.call @group_of(%counts, %offsets, %g)
        : (!llvm.ptr<1>, !llvm.ptr<1>, i32) -> (i32, i64)
    %word = arith.shrui %g, %c5 : i32
    %number = arith.andi %g, %c31 : i32
    %bit = arith.shli %c1, %number : i32
    %below = arith.subi %bit, %c1 : i32
    scf.for %i = %first to %count step %slice_by : i32 {
      %i64 = arith.extui %i : i32 to i64
      %position = arith.addi %start, %i64 : i64
      %from = llvm.getelementptr %ids[%position] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %id = llvm.load %from : !llvm.ptr<1> -> i32
      %inside = arith.cmpi ult, %id, %num_ids : i32
      scf.if %inside {
        %id64 = arith.extui %id : i32 to i64
        %row = arith.muli %id64, %words64 : i64
        %row_bits = llvm.getelementptr %bits[%row] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
        %full = func.call @count_bits(%row_bits, %word) : (!llvm.ptr<1>, i32) -> i32
        %rest_at = llvm.getelementptr %row_bits[%word] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
        %rest = llvm.load %rest_at : !llvm.ptr<1> -> i32
        %lower = arith.andi %rest, %below : i32
        %ones = math.ctpop %lower : i32
        %place32 = arith.addi %full, %ones : i32
        %place = arith.extui %place32 : i32 to i64
        %list = arith.muli %id64, %room : i64
        %at = arith.addi %list, %place : i64
        %to = llvm.getelementptr %lists[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
        %position32 = arith.trunci %position : i64 to i32
        llvm.store %position32, %to : i32, !llvm.ptr<1>
      }
    }
  }
  llvm.return
}
