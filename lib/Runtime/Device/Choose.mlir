//===- Choose.mlir - A device chooses a variant ---------------------------===//
//
// The variant of the least cost among those of a program, without the host: what
// follows asks a word in device memory whether it is its turn. Two pieces of
// memory belong to a choice:
//
//   slot, of the context: {i32 skip, i32 next, i32 looks, i32}: how many calls
//     need no look, how many it will be after the next look that ends dense, and
//     how many looks there were
//   state, of the call: {i32 look, i32 variant, i32 arrived, i32, i64 live[16]}
//
// and memory of the host, if it is not null, where the host may read what the
// latest look found: {i32 looks, i32 variant, i64 live}.
//
// Variant 0 is dense.
//
//===----------------------------------------------------------------------===//

/// Begins a choice: is there to be a look? By one warp. `elapsed` calls ran
/// without asking the device; as many as there can be means that there is.
llvm.func @pit_choose_begin(%slot: !llvm.ptr<1>, %state: !llvm.ptr<1>, %elapsed: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant 0 : i64
  %counts = arith.cmpi ult, %tid, %c16 : i32
  scf.if %counts {
    %live = llvm.getelementptr %state[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %at = llvm.getelementptr %live[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    llvm.store %zero, %at : i64, !llvm.ptr<1>
  }
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    %before = llvm.load %slot : !llvm.ptr<1> -> i32
    %skip = arith.subi %before, %elapsed : i32
    %looks = arith.cmpi sle, %skip, %c0 : i32
    %look = arith.extui %looks : i1 to i32
    llvm.store %look, %state : i32, !llvm.ptr<1>
    %variant_at = llvm.getelementptr %state[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store %c0, %variant_at : i32, !llvm.ptr<1>
    %arrived_at = llvm.getelementptr %state[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store %c0, %arrived_at : i32, !llvm.ptr<1>
    %less = arith.subi %skip, %c1 : i32
    %rest = arith.maxsi %less, %c0 : i32
    llvm.store %rest, %slot : i32, !llvm.ptr<1>
  }
  llvm.return
}

/// Counts the live micro-tiles of each of `count` variants, and takes the one of
/// the least cost, the first of equal ones. A row of the table is {bits, number
/// of their words, cost, cost of a live micro-tile}; a variant without words has
/// no index.
llvm.func @pit_choose_count(
    %table: !llvm.ptr {llvm.byval = !llvm.array<16 x struct<(ptr, i64, f64, f64)>>, llvm.align = 8 : i64, nvvm.grid_constant},
    %count: i32, %slot: !llvm.ptr<1>, %state: !llvm.ptr<1>, %news: !llvm.ptr<1>)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %leaves = func.call @leaves(%state, %c1) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  %block_first = arith.muli %block, %c256 : i32
  %first32 = arith.addi %block_first, %tid : i32
  %first = arith.extui %first32 : i32 to i64
  %threads = arith.muli %blocks, %c256 : i32
  %by = arith.extui %threads : i32 to i64
  %live = llvm.getelementptr %state[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  scf.for %v = %c0 to %count step %c1 : i32 {
    %bits_at = llvm.getelementptr %table[0, %v, 0] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<16 x struct<(ptr, i64, f64, f64)>>
    %generic = llvm.load %bits_at : !llvm.ptr -> !llvm.ptr
    %bits = llvm.addrspacecast %generic : !llvm.ptr to !llvm.ptr<1>
    %words_at = llvm.getelementptr %table[0, %v, 1] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<16 x struct<(ptr, i64, f64, f64)>>
    %words = llvm.load %words_at : !llvm.ptr -> i64
    %mine = scf.for %w = %first to %words step %by iter_args(%sum = %zero) -> (i64) : i64 {
      %from = llvm.getelementptr %bits[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %word = llvm.load %from : !llvm.ptr<1> -> i32
      %ones = math.ctpop %word : i32
      %ones64 = arith.extui %ones : i32 to i64
      %next = arith.addi %sum, %ones64 : i64
      scf.yield %next : i64
    }
    %all:2 = func.call @block_scan(%mine) : (i64) -> (i64, i64)
    scf.if %is_first {
      %at = llvm.getelementptr %live[%v] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
      %0 = llvm.atomicrmw add %at, %all#1 syncscope("device") monotonic : !llvm.ptr<1>, i64
    }
  }
  %arrived = llvm.getelementptr %state[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %is_last = func.call @last_block(%arrived, %blocks) : (!llvm.ptr<1>, i32) -> i1
  %decides = arith.andi %is_last, %is_first : i1
  scf.if %decides {
    func.call @take_cheapest(%table, %count, %slot, %state, %news)
        : (!llvm.ptr, i32, !llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>) -> ()
  }
  llvm.return
}

/// Of a thread: writes the variant, and when the next look is due.
func.func private @take_cheapest(%table: !llvm.ptr, %count: i32,
                                 %slot: !llvm.ptr<1>, %state: !llvm.ptr<1>,
                                 %news: !llvm.ptr<1>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %most = arith.constant 64 : i32
  %infinite = arith.constant 0x7FF0000000000000 : f64
  %live = llvm.getelementptr %state[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %best:2 = scf.for %v = %c0 to %count step %c1
      iter_args(%least = %infinite, %variant = %c0) -> (f64, i32) : i32 {
    %fixed_at = llvm.getelementptr %table[0, %v, 2] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<16 x struct<(ptr, i64, f64, f64)>>
    %fixed = llvm.load %fixed_at : !llvm.ptr -> f64
    %each_at = llvm.getelementptr %table[0, %v, 3] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<16 x struct<(ptr, i64, f64, f64)>>
    %each = llvm.load %each_at : !llvm.ptr -> f64
    %at = llvm.getelementptr %live[%v] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %tiles = llvm.load volatile %at : !llvm.ptr<1> -> i64
    %number = arith.uitofp %tiles : i64 to f64
    %all = arith.mulf %number, %each : f64
    %cost = arith.addf %fixed, %all : f64
    %cheaper = arith.cmpf olt, %cost, %least : f64
    %next = arith.select %cheaper, %cost, %least : f64
    %taken = arith.select %cheaper, %v, %variant : i32
    scf.yield %next, %taken : f64, i32
  }
  %variant_at = llvm.getelementptr %state[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %best#1, %variant_at : i32, !llvm.ptr<1>
  %next_at = llvm.getelementptr %slot[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %next = llvm.load %next_at : !llvm.ptr<1> -> i32
  %calls = arith.maxsi %next, %c1 : i32
  %twice = arith.addi %calls, %calls : i32
  %later = arith.minsi %twice, %most : i32
  %is_dense = arith.cmpi eq, %best#1, %c0 : i32
  %skip = arith.select %is_dense, %calls, %c0 : i32
  %after = arith.select %is_dense, %later, %c1 : i32
  llvm.store %skip, %slot : i32, !llvm.ptr<1>
  llvm.store %after, %next_at : i32, !llvm.ptr<1>
  %looks_at = llvm.getelementptr %slot[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %before = llvm.load %looks_at : !llvm.ptr<1> -> i32
  %looks = arith.addi %before, %c1 : i32
  llvm.store %looks, %looks_at : i32, !llvm.ptr<1>
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %tells = llvm.icmp "ne" %news, %null : !llvm.ptr<1>
  scf.if %tells {
    %told_variant_at = llvm.getelementptr %news[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store volatile %best#1, %told_variant_at : i32, !llvm.ptr<1>
    %taken_at = llvm.getelementptr %live[%best#1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %taken_live = llvm.load volatile %taken_at : !llvm.ptr<1> -> i64
    %told_live_at = llvm.getelementptr %news[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store volatile %taken_live, %told_live_at : i64, !llvm.ptr<1>
    llvm.fence release
    llvm.store volatile %looks, %news : i32, !llvm.ptr<1>
  }
  return
}
