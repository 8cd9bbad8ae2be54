//===- IndexSegments.mlir - Lists whose places depend on counts -----------===//
//
// Group after group, the words of bits are cut into segments of 32 words, at
// least one for each group. Segments are counted, the last block turns counts
// into places, and then a warp lists each segment.
//
//===----------------------------------------------------------------------===//

/// One thread writes the numbers that only the device knows. The numbers are
/// offsets in pit_index.
func.func private @write_result(%copy: !llvm.ptr<1>, %extent: i64, %total: i64,
                                %max_count: i64, %chunks: i64, %status: i32) {
  %extent_at = llvm.getelementptr %copy[56] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %extent, %extent_at : i64, !llvm.ptr<1>
  %total_at = llvm.getelementptr %copy[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %total, %total_at : i64, !llvm.ptr<1>
  %max_at = llvm.getelementptr %copy[72] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %max_count, %max_at : i64, !llvm.ptr<1>
  %chunks_at = llvm.getelementptr %copy[88] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %chunks, %chunks_at : i64, !llvm.ptr<1>
  %status_at = llvm.getelementptr %copy[368] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %status, %status_at : i32, !llvm.ptr<1>
  return
}

/// A block makes the counts and offsets of groups from those of segments, which
/// `start` gets. Groups lie densely or at multiples of `extent`; ids past the
/// capacity are dropped, which the status tells.
func.func private @place_groups(
    %copy: !llvm.ptr<1>, %counts: !llvm.ptr<1>,
    %offsets: !llvm.ptr<1>, %chunks: !llvm.ptr<1>, %tally: !llvm.ptr<1>,
    %start: !llvm.ptr<1>, %groups: i32, %per_group: i32, %extent: i64,
    %dense: i1, %capacity: i64, %capacity_status: i32, %chunk_size: i64,
    %checks: !llvm.ptr<1>, %num_checks: i32) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_first = arith.cmpi eq, %tid, %c0 : i32

  // Each thread takes a run of segments.
  %segments = arith.muli %groups, %per_group : i32
  %run = arith.ceildivui %segments, %c256 : i32
  %run_begin = arith.muli %run, %tid : i32
  %begin = arith.minui %run_begin, %segments : i32
  %run_end = arith.addi %begin, %run : i32
  %end = arith.minui %run_end, %segments : i32
  %mine = scf.for %s = %begin to %end step %c1 iter_args(%sum = %zero) -> (i64) : i32 {
    %from = llvm.getelementptr %tally[%s] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %n = llvm.load %from : !llvm.ptr<1> -> i32
    %n64 = arith.extui %n : i32 to i64
    %next = arith.addi %sum, %n64 : i64
    scf.yield %next : i64
  }
  %scan:2 = func.call @block_scan(%mine) : (i64) -> (i64, i64)
  %2 = scf.for %s = %begin to %end step %c1 iter_args(%sum = %scan#0) -> (i64) : i32 {
    %from = llvm.getelementptr %tally[%s] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %n = llvm.load %from : !llvm.ptr<1> -> i32
    %to = llvm.getelementptr %start[%s] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    llvm.store %sum, %to : i64, !llvm.ptr<1>
    %n64 = arith.extui %n : i32 to i64
    %next = arith.addi %sum, %n64 : i64
    scf.yield %next : i64
  }
  gpu.barrier

  // Then the groups, one of 256 each.
  %last = arith.subi %groups, %c1 : i32
  %sums:4 = scf.for %g = %tid to %groups step %c256
      iter_args(%total = %zero, %max = %zero, %end_of_all = %zero, %dropped = %zero)
      -> (i64, i64, i64, i64) : i32 {
    %segment = arith.muli %g, %per_group : i32
    %from = llvm.getelementptr %start[%segment] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %before = llvm.load %from : !llvm.ptr<1> -> i64
    %is_last = arith.cmpi eq, %g, %last : i32
    %upto = scf.if %is_last -> (i64) {
      scf.yield %scan#1 : i64
    } else {
      %next_from = llvm.getelementptr %from[%per_group] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
      %v = llvm.load %next_from : !llvm.ptr<1> -> i64
      scf.yield %v : i64
    }
    %count = arith.subi %upto, %before : i64
    %g64 = arith.extui %g : i32 to i64
    %fixed = arith.muli %g64, %extent : i64
    %wanted = arith.select %dense, %before, %fixed : i64
    %offset = arith.minsi %wanted, %capacity : i64
    %room = arith.subi %capacity, %offset : i64
    %kept = arith.minsi %count, %room : i64
    %kept32 = arith.trunci %kept : i64 to i32
    %count_at = llvm.getelementptr %counts[%g] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %kept32, %count_at : i32, !llvm.ptr<1>
    %offset_at = llvm.getelementptr %offsets[%g] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    llvm.store %offset, %offset_at : i64, !llvm.ptr<1>
    %group_end = arith.addi %offset, %kept : i64
    %group_dropped = arith.subi %count, %kept : i64
    %next_total = arith.addi %total, %kept : i64
    %next_max = arith.maxsi %max, %kept : i64
    %next_end = arith.maxsi %end_of_all, %group_end : i64
    %next_dropped = arith.maxsi %dropped, %group_dropped : i64
    scf.yield %next_total, %next_max, %next_end, %next_dropped : i64, i64, i64, i64
  }
  %total:2 = func.call @block_scan(%sums#0) : (i64) -> (i64, i64)
  %max = func.call @block_max(%sums#1) : (i64) -> i64
  %end_of_all = func.call @block_max(%sums#2) : (i64) -> i64
  %dropped = func.call @block_max(%sums#3) : (i64) -> i64

  %has_chunks = arith.cmpi sgt, %chunk_size, %zero : i64
  %num_chunks = scf.if %has_chunks -> (i64) {
    %n = func.call @write_chunks(%counts, %offsets, %chunks, %groups, %chunk_size)
        : (!llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>, i32, i64) -> i64
    scf.yield %n : i64
  } else {
    scf.yield %zero : i64
  }
  %checked = func.call @worst_status(%checks, %num_checks) : (!llvm.ptr<1>, i32) -> i32
  scf.if %is_first {
    %overflow = arith.cmpi sgt, %dropped, %zero : i64
    %status = arith.select %overflow, %capacity_status, %checked : i32
    func.call @write_result(%copy, %end_of_all, %total#1, %max, %num_chunks, %status)
        : (!llvm.ptr<1>, i64, i64, i64, i64, i32) -> ()
  }
  return
}

/// A block makes the work list, and returns its length. The thread that wrote a
/// group's count and offset reads them.
func.func private @write_chunks(%counts: !llvm.ptr<1>, %offsets: !llvm.ptr<1>,
                                %chunks: !llvm.ptr<1>, %groups: i32,
                                %chunk_size: i64) -> i64 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %num_chunks = scf.for %g0 = %c0 to %groups step %c256 iter_args(%done = %zero) -> (i64) : i32 {
    %g = arith.addi %g0, %tid : i32
    %inside = arith.cmpi ult, %g, %groups : i32
    %group:2 = scf.if %inside -> (i64, i64) {
      %count_at = llvm.getelementptr %counts[%g] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %count32 = llvm.load %count_at : !llvm.ptr<1> -> i32
      %offset_at = llvm.getelementptr %offsets[%g] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
      %offset = llvm.load %offset_at : !llvm.ptr<1> -> i64
      %count = arith.extui %count32 : i32 to i64
      scf.yield %count, %offset : i64, i64
    } else {
      scf.yield %zero, %zero : i64, i64
    }
    %mine = arith.ceildivui %group#0, %chunk_size : i64
    %scan:2 = func.call @block_scan(%mine) : (i64) -> (i64, i64)
    %position = arith.addi %done, %scan#0 : i64
    scf.for %i = %zero to %mine step %one : i64 {
      %at = arith.addi %position, %i : i64
      %skipped = arith.muli %i, %chunk_size : i64
      %rest = arith.subi %group#0, %skipped : i64
      %live = arith.minsi %rest, %chunk_size : i64
      %live32 = arith.trunci %live : i64 to i32
      %first = arith.addi %group#1, %skipped : i64
      %chunk = llvm.getelementptr %chunks[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.struct<(i32, i32, i64)>
      llvm.store %g, %chunk : i32, !llvm.ptr<1>
      %live_at = llvm.getelementptr %chunk[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      llvm.store %live32, %live_at : i32, !llvm.ptr<1>
      %first_at = llvm.getelementptr %chunk[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      llvm.store %first, %first_at : i64, !llvm.ptr<1>
    }
    %next = arith.addi %done, %scan#1 : i64
    scf.yield %next : i64
  }
  return %num_chunks : i64
}

/// A warp finds its lane's word of a segment, and the segment's group and first
/// word in it.
func.func private @segment_word(%segment: i32, %per_group: i32, %words: i32,
                                %bits: !llvm.ptr<1>) -> (i32, i32, i32) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %lane = arith.andi %tid, %c31 : i32
  %group = arith.divui %segment, %per_group : i32
  %group_segment = arith.muli %group, %per_group : i32
  %number = arith.subi %segment, %group_segment : i32
  %first = arith.muli %number, %c32 : i32
  %at = arith.addi %first, %lane : i32
  %inside = arith.cmpi ult, %at, %words : i32
  %word = scf.if %inside -> (i32) {
    %group64 = arith.extui %group : i32 to i64
    %words64 = arith.extui %words : i32 to i64
    %at64 = arith.extui %at : i32 to i64
    %group_at = arith.muli %group64, %words64 : i64
    %offset = arith.addi %group_at, %at64 : i64
    %from = llvm.getelementptr %bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %v = llvm.load %from : !llvm.ptr<1> -> i32
    scf.yield %v : i32
  } else {
    scf.yield %c0 : i32
  }
  return %word, %group, %first : i32, i32, i32
}

/// Counts each segment into `tally`; with `start` (not null), the last block
/// places groups and segments.
llvm.func @pit_index_count(
    %copy: !llvm.ptr<1>, %counts: !llvm.ptr<1>, %offsets: !llvm.ptr<1>,
    %chunks: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %counter: !llvm.ptr<1>,
    %checks: !llvm.ptr<1>, %num_checks: i32, %tally: !llvm.ptr<1>,
    %start: !llvm.ptr<1>, %groups: i32, %words: i32, %per_group: i32,
    %extent: i64, %dense32: i32, %capacity: i64, %capacity_status: i32,
    %chunk_size: i64)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %lane = arith.andi %tid, %c31 : i32
  %is_end = arith.cmpi eq, %lane, %c31 : i32
  %warp_in_block = arith.shrui %tid, %c5 : i32
  %block_warp = arith.muli %block, %c8 : i32
  %warp = arith.addi %block_warp, %warp_in_block : i32
  %warps = arith.muli %blocks, %c8 : i32
  %segments = arith.muli %groups, %per_group : i32
  scf.for %s = %warp to %segments step %warps : i32 {
    %word:3 = func.call @segment_word(%s, %per_group, %words, %bits)
        : (i32, i32, i32, !llvm.ptr<1>) -> (i32, i32, i32)
    %ones = math.ctpop %word#0 : i32
    %ones64 = arith.extui %ones : i32 to i64
    %upto64 = func.call @warp_scan(%ones64) : (i64) -> i64
    %upto = arith.trunci %upto64 : i64 to i32
    scf.if %is_end {
      %to = llvm.getelementptr %tally[%s] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %upto, %to : i32, !llvm.ptr<1>
    }
  }
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %places = llvm.icmp "ne" %start, %null : !llvm.ptr<1>
  scf.if %places {
    %dense = arith.cmpi ne, %dense32, %c0 : i32
    %is_last = func.call @last_block(%counter, %blocks) : (!llvm.ptr<1>, i32) -> i1
    scf.if %is_last {
      func.call @place_groups(%copy, %counts, %offsets, %chunks, %tally,
                              %start, %groups, %per_group, %extent, %dense,
                              %capacity, %capacity_status, %chunk_size, %checks,
                              %num_checks)
          : (!llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>,
             !llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i64, i1, i64, i32, i64,
             !llvm.ptr<1>, i32) -> ()
    }
  }
  llvm.return
}

/// Lists each segment at its place. origin and what follows it: as in
/// pit_index_lists.
llvm.func @pit_index_place(
    %counts: !llvm.ptr<1>, %offsets: !llvm.ptr<1>, %ids: !llvm.ptr<1>,
    %origin: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %start: !llvm.ptr<1>,
    %groups: i32, %words: i32, %per_group: i32,
    %data: !llvm.ptr<1>, %wide32: i32, %token_stride: i64, %slot_stride: i64,
    %slots: i32, %vectors: i32, %by_expert32: i32, %size: i64, %step: i64,
    %limit: i64)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %cm1 = arith.constant -1 : i32
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %has_origin = llvm.icmp "ne" %origin, %null : !llvm.ptr<1>
  %wide = arith.cmpi ne, %wide32, %c0 : i32
  %by_expert = arith.cmpi ne, %by_expert32, %c0 : i32
  %lane = arith.andi %tid, %c31 : i32
  %warp_in_block = arith.shrui %tid, %c5 : i32
  %block_warp = arith.muli %block, %c8 : i32
  %warp = arith.addi %block_warp, %warp_in_block : i32
  %warps = arith.muli %blocks, %c8 : i32
  %segments = arith.muli %groups, %per_group : i32
  scf.for %s = %warp to %segments step %warps : i32 {
    %word:3 = func.call @segment_word(%s, %per_group, %words, %bits)
        : (i32, i32, i32, !llvm.ptr<1>) -> (i32, i32, i32)
    %g64 = arith.extui %word#1 : i32 to i64
    %count_at = llvm.getelementptr %counts[%g64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %count = llvm.load %count_at : !llvm.ptr<1> -> i32
    %offset_at = llvm.getelementptr %offsets[%g64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
    %offset = llvm.load %offset_at : !llvm.ptr<1> -> i64
    %group_segment = arith.muli %word#1, %per_group : i32
    %group_start_at = llvm.getelementptr %start[%group_segment] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %group_start = llvm.load %group_start_at : !llvm.ptr<1> -> i64
    %start_at = llvm.getelementptr %start[%s] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %segment_start = llvm.load %start_at : !llvm.ptr<1> -> i64
    %before64 = arith.subi %segment_start, %group_start : i64
    %before = arith.trunci %before64 : i64 to i32
    %to = llvm.getelementptr %ids[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %ones = math.ctpop %word#0 : i32
    %ones64 = arith.extui %ones : i32 to i64
    %upto64 = func.call @warp_scan(%ones64) : (i64) -> i64
    %upto = arith.trunci %upto64 : i64 to i32
    %in_warp = arith.subi %upto, %ones : i32
    %position = arith.addi %before, %in_warp : i32
    %first = arith.muli %word#2, %c32 : i32
    func.call @place_words(%word#0, %position, %count, %first, %to)
        : (i32, i32, i32, i32, !llvm.ptr<1>) -> ()
    scf.if %has_origin {
      %sum, %0 = gpu.shuffle idx %upto, %c31, %c32 : i32
      %end = arith.addi %before, %sum : i32
      %stop = arith.minsi %end, %count : i32
      %begin = arith.addi %before, %lane : i32
      nvvm.bar.warp.sync %cm1 : i32
      %group_origin = llvm.getelementptr %origin[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %window_begin = arith.muli %g64, %step : i64
      %unclipped = arith.addi %window_begin, %size : i64
      %window_end = arith.minsi %unclipped, %limit : i64
      func.call @write_origins(%to, %group_origin, %begin, %stop, %c32, %data,
                               %wide, %token_stride, %slot_stride, %slots,
                               %vectors, %by_expert, %window_begin, %window_end)
          : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i32, !llvm.ptr<1>, i1, i64,
             i64, i32, i32, i1, i64, i64) -> ()
    }
  }
  llvm.return
}

/// The copy of an index of a caller's arrays, by one block.
llvm.func @pit_index_import(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counts: !llvm.ptr<1>, %offsets: !llvm.ptr<1>,
    %groups: i64)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i64
  %zero = arith.constant 0 : i64
  %tid64 = arith.extui %tid : i32 to i64
  %sums:3 = scf.for %g = %tid64 to %groups step %c256
      iter_args(%total = %zero, %max = %zero, %end_of_all = %zero)
      -> (i64, i64, i64) : i64 {
    %count_at = llvm.getelementptr %counts[%g] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %count32 = llvm.load %count_at : !llvm.ptr<1> -> i32
    %count = arith.extui %count32 : i32 to i64
    %offset_at = llvm.getelementptr %offsets[%g] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
    %offset = llvm.load %offset_at : !llvm.ptr<1> -> i64
    %end = arith.addi %offset, %count : i64
    %next_total = arith.addi %total, %count : i64
    %next_max = arith.maxsi %max, %count : i64
    %next_end = arith.maxsi %end_of_all, %end : i64
    scf.yield %next_total, %next_max, %next_end : i64, i64, i64
  }
  %total:2 = func.call @block_scan(%sums#0) : (i64) -> (i64, i64)
  %max = func.call @block_max(%sums#1) : (i64) -> i64
  %end = func.call @block_max(%sums#2) : (i64) -> i64
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    "llvm.intr.memcpy.inline"(%copy, %head) <{isVolatile = false, len = 384 : i32}> : (!llvm.ptr<1>, !llvm.ptr) -> ()
    // The work list is as long as the caller says.
    %chunks_at = llvm.getelementptr %head[88] : (!llvm.ptr) -> !llvm.ptr, i8
    %chunks = llvm.load %chunks_at : !llvm.ptr -> i64
    func.call @write_result(%copy, %end, %total#1, %max, %chunks, %c0)
        : (!llvm.ptr<1>, i64, i64, i64, i64, i32) -> ()
  }
  llvm.return
}
