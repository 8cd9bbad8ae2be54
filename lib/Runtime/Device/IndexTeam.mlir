//===- IndexTeam.mlir - What the threads of a block do together -----------===//
//
// Blocks have 256 threads in one dimension. A function of a block is called by
// all of its threads, one of a warp by all of the warp's.
//
//===----------------------------------------------------------------------===//

llvm.mlir.global internal @warp_sums() {addr_space = 3 : i32} : !llvm.array<8 x i64>
llvm.mlir.global internal @warp_bits() {addr_space = 3 : i32} : !llvm.array<8 x i32>
llvm.mlir.global internal @is_last() {addr_space = 3 : i32} : i32

/// The sum of x over the lanes of a warp up to this one.
func.func private @warp_scan(%x: i64) -> i64 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %sum = scf.for %k = %c0 to %c5 step %c1 iter_args(%s = %x) -> (i64) : i32 {
    %distance = arith.shli %c1, %k : i32
    %other, %inside = gpu.shuffle up %s, %distance, %c32 : i64
    %more = arith.select %inside, %other, %zero : i64
    %next = arith.addi %s, %more : i64
    scf.yield %next : i64
  }
  return %sum : i64
}

/// The sum of x over the threads of a block before this one, and over all.
func.func private @block_scan(%x: i64) -> (i64, i64) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %zero = arith.constant 0 : i64
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %sums = llvm.mlir.addressof @warp_sums : !llvm.ptr<3>
  %upto = func.call @warp_scan(%x) : (i64) -> i64
  %is_end = arith.cmpi eq, %lane, %c31 : i32
  scf.if %is_end {
    %to = llvm.getelementptr %sums[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    llvm.store %upto, %to : i64, !llvm.ptr<3>
  }
  gpu.barrier
  %all:2 = scf.for %w = %c0 to %c8 step %c1
      iter_args(%before = %zero, %total = %zero) -> (i64, i64) : i32 {
    %from = llvm.getelementptr %sums[%w] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %sum = llvm.load %from : !llvm.ptr<3> -> i64
    %is_before = arith.cmpi ult, %w, %warp : i32
    %more = arith.select %is_before, %sum, %zero : i64
    %next_before = arith.addi %before, %more : i64
    %next_total = arith.addi %total, %sum : i64
    scf.yield %next_before, %next_total : i64, i64
  }
  // The sums are free for the next scan.
  gpu.barrier
  %in_warp = arith.subi %upto, %x : i64
  %before = arith.addi %all#0, %in_warp : i64
  return %before, %all#1 : i64, i64
}

/// The largest x of a block, which is not negative.
func.func private @block_max(%x: i64) -> i64 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %sums = llvm.mlir.addressof @warp_sums : !llvm.ptr<3>
  %in_warp = scf.for %k = %c0 to %c5 step %c1 iter_args(%m = %x) -> (i64) : i32 {
    %distance = arith.shli %c1, %k : i32
    %other, %inside = gpu.shuffle xor %m, %distance, %c32 : i64
    %next = arith.maxsi %m, %other : i64
    scf.yield %next : i64
  }
  %is_first = arith.cmpi eq, %lane, %c0 : i32
  scf.if %is_first {
    %to = llvm.getelementptr %sums[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    llvm.store %in_warp, %to : i64, !llvm.ptr<3>
  }
  gpu.barrier
  %max = scf.for %w = %c0 to %c8 step %c1 iter_args(%m = %zero) -> (i64) : i32 {
    %from = llvm.getelementptr %sums[%w] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %other = llvm.load %from : !llvm.ptr<3> -> i64
    %next = arith.maxsi %m, %other : i64
    scf.yield %next : i64
  }
  gpu.barrier
  return %max : i64
}

/// True for the last of `expected` blocks that come here. The writes of the
/// others before are visible to it. The counter is 0 before.
func.func private @last_block(%counter: !llvm.ptr<1>, %expected: i32) -> i1 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %flag = llvm.mlir.addressof @is_last : !llvm.ptr<3>
  gpu.barrier
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    // The fences make the order: atomics come out relaxed, whatever they say.
    llvm.fence syncscope("device") acq_rel
    %before = llvm.atomicrmw add %counter, %c1 syncscope("device") monotonic : !llvm.ptr<1>, i32
    %arrived = arith.addi %before, %c1 : i32
    %last = arith.cmpi eq, %arrived, %expected : i32
    scf.if %last {
      llvm.fence syncscope("device") acq_rel
    }
    %word = arith.extui %last : i1 to i32
    llvm.store %word, %flag : i32, !llvm.ptr<3>
  }
  gpu.barrier
  %word = llvm.load %flag : !llvm.ptr<3> -> i32
  %last = arith.cmpi ne, %word, %c0 : i32
  return %last : i1
}

/// The bits of all warps of a block together, each at its place, for the first
/// thread.
func.func private @bits_of_warps(%bits: i32) -> i32 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %parts = llvm.mlir.addressof @warp_bits : !llvm.ptr<3>
  %warp = arith.shrui %tid, %c5 : i32
  %lane = arith.andi %tid, %c31 : i32
  %leads = arith.cmpi eq, %lane, %c0 : i32
  // The first thread has read the bits of the call before.
  gpu.barrier
  scf.if %leads {
    %to = llvm.getelementptr %parts[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %bits, %to : i32, !llvm.ptr<3>
  }
  gpu.barrier
  %word = scf.for %w = %c0 to %c8 step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
    %from = llvm.getelementptr %parts[%w] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %part = llvm.load %from : !llvm.ptr<3> -> i32
    %next = arith.ori %sum, %part : i32
    scf.yield %next : i32
  }
  return %word : i32
}

/// A thread begins an index, that is its copy in device memory, with 0 for all
/// that only the device knows.
func.func private @begin_copy(%head: !llvm.ptr, %copy: !llvm.ptr<1>) {
  "llvm.intr.memcpy.inline"(%copy, %head) <{isVolatile = false, len = 384 : i32}> : (!llvm.ptr<1>, !llvm.ptr) -> ()
  return
}

/// A thread adds ids to the numbers of pit_index, which @begin_copy left 0.
func.func private @add_ids(%copy: !llvm.ptr<1>, %ids: i32) {
  %total_at = llvm.getelementptr %copy[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %ids64 = arith.extui %ids : i32 to i64
  %0 = llvm.atomicrmw add %total_at, %ids64 syncscope("device") monotonic : !llvm.ptr<1>, i64
  return
}

/// A thread writes the part of a group that there is: so many ids from `place`
/// on.
func.func private @tell_group(%copy: !llvm.ptr<1>, %counts: !llvm.ptr<1>,
                              %offsets: !llvm.ptr<1>, %group: i32,
                              %groups: i32, %place: i64, %count: i32) {
  %c1 = arith.constant 1 : i32
  %group64 = arith.extui %group : i32 to i64
  %count64 = arith.extui %count : i32 to i64
  %count_at = llvm.getelementptr %counts[%group64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  llvm.store %count, %count_at : i32, !llvm.ptr<1>
  %offset_at = llvm.getelementptr %offsets[%group64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
  llvm.store %place, %offset_at : i64, !llvm.ptr<1>
  %max_at = llvm.getelementptr %copy[72] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %0 = llvm.atomicrmw umax %max_at, %count64 syncscope("device") monotonic : !llvm.ptr<1>, i64
  // No group ends behind the last.
  %last = arith.subi %groups, %c1 : i32
  %is_last = arith.cmpi eq, %group, %last : i32
  scf.if %is_last {
    %extent_at = llvm.getelementptr %copy[56] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %end = arith.addi %place, %count64 : i64
    llvm.store %end, %extent_at : i64, !llvm.ptr<1>
  }
  return
}

/// The first block of a scan begins the index, and clears the counter of
/// blocks.
func.func private @begin_index(%head: !llvm.ptr, %copy: !llvm.ptr<1>,
                               %counter: !llvm.ptr<1>) {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %c0 = arith.constant 0 : i32
  %either = arith.ori %tid, %block : i32
  %is_first = arith.cmpi eq, %either, %c0 : i32
  scf.if %is_first {
    func.call @begin_copy(%head, %copy) : (!llvm.ptr, !llvm.ptr<1>) -> ()
    llvm.store %c0, %counter : i32, !llvm.ptr<1>
  }
  return
}

/// Has a kernel nothing to do? It runs if the word is `value`, or if there is no
/// word.
func.func private @leaves(%when: !llvm.ptr<1>, %value: i32) -> i1 {
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %false = arith.constant false
  %conditional = llvm.icmp "ne" %when, %null : !llvm.ptr<1>
  %leaves = scf.if %conditional -> (i1) {
    %word = llvm.load %when : !llvm.ptr<1> -> i32
    %differs = arith.cmpi ne, %word, %value : i32
    scf.yield %differs : i1
  } else {
    scf.yield %false : i1
  }
  return %leaves : i1
}
