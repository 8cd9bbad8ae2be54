//===- Choose.mlir - A device chooses a variant ---------------------------===//
//
// The variant of the least cost among those of a program, without the host: what
// follows asks a word in device memory whether it is its turn. A first kernel
// looks, if it is time to (ChooseScan.mlir; where that cannot, @pit_choose_begin,
// the scans of all variants' indices, and @pit_choose_count). A second one,
// @pit_choose_list, decides, and makes the lists of the variant's index.
//
// Two pieces of memory belong to a choice:
//
//   slot, of the context: {i32 skip, i32 next, i32 looks, i32}: how many calls
//     need no look, how many it will be after the next look that ends dense, and
//     how many looks there were. Calls on several streams may share it.
//   state, of one call at a time: {i32 arrived, i32 variant, i32 readers,
//     i32 look}: blocks that have looked, and that have read how many these
//     are. Both are 0 between calls. The variant is -1 if the choice that this
//     one comes after took one with an index: then nobody looks. The last word
//     says whether there is to be a look, and once it is decided whether there
//     was one, which other choices by the same values then use.
//
// and memory of the host, if it is not null, where the host may read what the
// latest look found: {i32 looks, i32 variant, i64 live}.
//
// Variant 0 is dense. A look is one only if all blocks that should have looked:
// the slot may change while they read it. Otherwise the call is dense.
//
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Looks
//===----------------------------------------------------------------------===//

/// Is there to be a look? `elapsed` calls ran without asking the device; as many
/// as there can be means that there is.
func.func private @is_due(%slot: !llvm.ptr<1>, %elapsed: i32) -> i1 {
  %c0 = arith.constant 0 : i32
  %before = llvm.load volatile %slot : !llvm.ptr<1> -> i32
  %skip = arith.subi %before, %elapsed : i32
  %looks = arith.cmpi sle, %skip, %c0 : i32
  return %looks : i1
}

/// Did the choice that this one comes after, if there is one, take a variant with
/// an index? `after` is the address of its number.
func.func private @is_taken(%after: !llvm.ptr<1>) -> i1 {
  %no = arith.constant false
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %is_after = llvm.icmp "ne" %after, %null : !llvm.ptr<1>
  %taken = scf.if %is_after -> (i1) {
    %c0 = arith.constant 0 : i32
    %variant = llvm.load volatile %after : !llvm.ptr<1> -> i32
    %is_other = arith.cmpi ne, %variant, %c0 : i32
    scf.yield %is_other : i1
  } else {
    scf.yield %no : i1
  }
  return %taken : i1
}

/// Tells kernels of one warp and of many whether there is to be a look.
llvm.func @pit_choose_begin(%slot: !llvm.ptr<1>, %state: !llvm.ptr<1>, %elapsed: i32,
                            %after: !llvm.ptr<1>)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    %is_due = func.call @is_due(%slot, %elapsed) : (!llvm.ptr<1>, i32) -> i1
    %taken = func.call @is_taken(%after) : (!llvm.ptr<1>) -> i1
    %no = arith.constant false
    %looks = arith.select %taken, %no, %is_due : i1
    %look = arith.extui %looks : i1 to i32
    %look_at = llvm.getelementptr %state[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store %look, %look_at : i32, !llvm.ptr<1>
  }
  llvm.return
}

/// Counts the live micro-tiles of each variant whose numbers do not come with
/// the scan: a part of them in each block.
llvm.func @pit_choose_count(
    %table: !llvm.ptr {llvm.byval = !llvm.array<16 x !variant>, llvm.align = 8 : i64, nvvm.grid_constant},
    %count: i32, %state: !llvm.ptr<1>)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %look_at = llvm.getelementptr %state[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %leaves = func.call @leaves(%look_at, %c1) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %null = llvm.mlir.zero : !llvm.ptr
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.for %v = %c0 to %count step %c1 : i32 {
    %row = llvm.getelementptr %table[0, %v] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<16 x !variant>
    %numbers_at = llvm.getelementptr %row[0, 2] : (!llvm.ptr) -> !llvm.ptr, !variant
    %generic = llvm.load %numbers_at : !llvm.ptr -> !llvm.ptr
    %counts = llvm.icmp "ne" %generic, %null : !llvm.ptr
    scf.if %counts {
      %numbers = llvm.addrspacecast %generic : !llvm.ptr to !llvm.ptr<1>
      %mine = func.call @count_words(%row, %block, %blocks) : (!llvm.ptr, i32, i32) -> i64
      %all:2 = func.call @block_scan(%mine) : (i64) -> (i64, i64)
      scf.if %is_first {
        %number = arith.trunci %all#1 : i64 to i32
        %to = llvm.getelementptr %numbers[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
        llvm.store %number, %to : i32, !llvm.ptr<1>
      }
    }
  }
  scf.if %is_first {
    %0 = llvm.atomicrmw add %state, %c1 syncscope("device") monotonic : !llvm.ptr<1>, i32
  }
  llvm.return
}

//===----------------------------------------------------------------------===//
// Numbers of live micro-tiles
//===----------------------------------------------------------------------===//

/// The live micro-tiles of a variant in a thread's share of the words, one of
/// `blocks`.
func.func private @count_words(%row: !llvm.ptr, %block: i32, %blocks: i32) -> i64 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %of:6 = func.call @bits_of(%row)
      : (!llvm.ptr) -> (!llvm.ptr<1>, i32, i32, i32, i32, i32)
  %block_first = arith.muli %block, %c256 : i32
  %first = arith.addi %block_first, %tid : i32
  %by = arith.muli %blocks, %c256 : i32
  %all = arith.muli %of#3, %of#4 : i32
  %several = arith.cmpi ugt, %of#3, %c1 : i32
  %sum = scf.for %w = %first to %all step %by iter_args(%sum = %zero) -> (i64) : i32 {
    // Only bits of a single group come in parts, and with some that are no id's.
    %word = scf.if %several -> (i32) {
      %from = llvm.getelementptr %of#0[%w] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %live = llvm.load %from : !llvm.ptr<1> -> i32
      scf.yield %live : i32
    } else {
      %live = func.call @load_bits(%of#0, %w, %of#1, %of#2, %of#5)
          : (!llvm.ptr<1>, i32, i32, i32, i32) -> i32
      scf.yield %live : i32
    }
    %ones = math.ctpop %word : i32
    %ones64 = arith.extui %ones : i32 to i64
    %next = arith.addi %sum, %ones64 : i64
    scf.yield %next : i64
  }
  return %sum : i64
}

/// A row of the table has the bits, their parts, the words of a part, the
/// groups, and the words and ids of each.
func.func private @bits_of(%row: !llvm.ptr) -> (!llvm.ptr<1>, i32, i32, i32, i32, i32) {
  %bits_at = llvm.getelementptr %row[0, 3] : (!llvm.ptr) -> !llvm.ptr, !variant
  %generic = llvm.load %bits_at : !llvm.ptr -> !llvm.ptr
  %bits = llvm.addrspacecast %generic : !llvm.ptr to !llvm.ptr<1>
  %extent_at = llvm.getelementptr %row[0, 8] : (!llvm.ptr) -> !llvm.ptr, !variant
  %extent64 = llvm.load %extent_at : !llvm.ptr -> i64
  %extent = arith.trunci %extent64 : i64 to i32
  %parts_at = llvm.getelementptr %row[0, 10] : (!llvm.ptr) -> !llvm.ptr, !variant
  %parts = llvm.load %parts_at : !llvm.ptr -> i32
  %part_words_at = llvm.getelementptr %row[0, 11] : (!llvm.ptr) -> !llvm.ptr, !variant
  %part_words = llvm.load %part_words_at : !llvm.ptr -> i32
  %groups_at = llvm.getelementptr %row[0, 12] : (!llvm.ptr) -> !llvm.ptr, !variant
  %groups = llvm.load %groups_at : !llvm.ptr -> i32
  %words_at = llvm.getelementptr %row[0, 13] : (!llvm.ptr) -> !llvm.ptr, !variant
  %words = llvm.load %words_at : !llvm.ptr -> i32
  return %bits, %parts, %part_words, %groups, %words, %extent
      : !llvm.ptr<1>, i32, i32, i32, i32, i32
}

/// The live micro-tiles of a variant, counted by a block; 0 if it has no index.
func.func private @count_live(%row: !llvm.ptr) -> i64 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %numbers_at = llvm.getelementptr %row[0, 2] : (!llvm.ptr) -> !llvm.ptr, !variant
  %generic = llvm.load %numbers_at : !llvm.ptr -> !llvm.ptr
  %counted = llvm.icmp "ne" %generic, %null : !llvm.ptr
  %mine = scf.if %counted -> (i64) {
    %numbers = llvm.addrspacecast %generic : !llvm.ptr to !llvm.ptr<1>
    %count_at = llvm.getelementptr %row[0, 9] : (!llvm.ptr) -> !llvm.ptr, !variant
    %count = llvm.load %count_at : !llvm.ptr -> i32
    %sum = scf.for %i = %tid to %count step %c256 iter_args(%sum = %zero) -> (i64) : i32 {
      %from = llvm.getelementptr %numbers[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %number = llvm.load %from : !llvm.ptr<1> -> i32
      %number64 = arith.extui %number : i32 to i64
      %next = arith.addi %sum, %number64 : i64
      scf.yield %next : i64
    }
    scf.yield %sum : i64
  } else {
    %sum = func.call @count_words(%row, %c0, %c1) : (!llvm.ptr, i32, i32) -> i64
    scf.yield %sum : i64
  }
  %all:2 = func.call @block_scan(%mine) : (i64) -> (i64, i64)
  return %all#1 : i64
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

/// Decides, and makes the lists of the variant's index: all blocks decide alike.
/// If not all of `expected` blocks have looked, the call is dense. A row of the
/// table (Index.mlir.in) is a variant; one without groups has no index. Groups
/// are listed at multiples of their extent, each in `slices` of `span` words.
/// `seen` is null, or the state of an earlier choice, whose look is this one's: a
/// row then has the number of the same variant there, whose index it shares.
llvm.func @pit_choose_list(
    %table: !llvm.ptr {llvm.byval = !llvm.array<16 x !variant>, llvm.align = 8 : i64, nvvm.grid_constant},
    %count: i32, %slot: !llvm.ptr<1>, %state: !llvm.ptr<1>, %elapsed: i32,
    %expected: i32, %news: !llvm.ptr<1>, %after: !llvm.ptr<1>, %seen: !llvm.ptr<1>)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
  func.call @let_next_start() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %c0 = arith.constant 0 : i32
  %either = arith.ori %tid, %block : i32
  %is_grid_first = arith.cmpi eq, %either, %c0 : i32
  // The look does not write the slot. The words of the call before may be old:
  // that costs a look too many, or one that the host does not hear of.
  %slot_was = func.call @load_slot(%slot, %is_grid_first) : (!llvm.ptr<1>, i1) -> vector<4xi32>
  func.call @wait_for_previous() : () -> ()
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %follows = llvm.icmp "ne" %seen, %null : !llvm.ptr<1>
  %arrived = scf.if %follows -> (i32) {
    %seen_look_at = llvm.getelementptr %seen[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %look = llvm.load volatile %seen_look_at : !llvm.ptr<1> -> i32
    %looked = arith.cmpi ne, %look, %c0 : i32
    %all = arith.select %looked, %expected, %c0 : i32
    scf.yield %all : i32
  } else {
    %own = llvm.load volatile %state : !llvm.ptr<1> -> i32
    scf.yield %own : i32
  }
  %nobody = arith.cmpi eq, %arrived, %c0 : i32
  llvm.cond_br %nobody, ^leave, ^looked
^leave:
  scf.if %is_grid_first {
    func.call @skip_look(%slot, %slot_was, %state, %elapsed, %after)
        : (!llvm.ptr<1>, vector<4xi32>, !llvm.ptr<1>, i32, !llvm.ptr<1>) -> ()
  }
  llvm.return
^looked:
  // Whoever has read the number says so at once, and asks at the end.
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %c1 = arith.constant 1 : i32
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  %readers_at = llvm.getelementptr %state[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  gpu.barrier
  %before = scf.if %is_first -> (i32) {
    %n = llvm.atomicrmw add %readers_at, %c1 syncscope("device") monotonic : !llvm.ptr<1>, i32
    scf.yield %n : i32
  } else {
    scf.yield %c0 : i32
  }
  %all_looked = arith.cmpi eq, %arrived, %expected : i32
  scf.if %all_looked {
    %best:2 = func.call @cheapest(%table, %count) : (!llvm.ptr, i32) -> (i32, i64)
    scf.if %is_grid_first {
      func.call @end_look(%slot, %slot_was, %state, %news, %best#0, %best#1)
          : (!llvm.ptr<1>, vector<4xi32>, !llvm.ptr<1>, !llvm.ptr<1>, i32, i64) -> ()
    }
    %row = llvm.getelementptr %table[0, %best#0] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<16 x !variant>
    // What the earlier choice has listed is there.
    %is_listed = scf.if %follows -> (i1) {
      %seen_variant_at = llvm.getelementptr %seen[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %listed = llvm.load volatile %seen_variant_at : !llvm.ptr<1> -> i32
      %same_at = llvm.getelementptr %row[0, 16] : (!llvm.ptr) -> !llvm.ptr, !variant
      %same = llvm.load %same_at : !llvm.ptr -> i32
      %is_same = arith.cmpi eq, %listed, %same : i32
      scf.yield %is_same : i1
    } else {
      %no = arith.constant false
      scf.yield %no : i1
    }
    scf.if %is_listed {
    } else {
      func.call @list_variant(%row) : (!llvm.ptr) -> ()
    }
  } else {
    scf.if %is_grid_first {
      func.call @skip_look(%slot, %slot_was, %state, %elapsed, %after)
          : (!llvm.ptr<1>, vector<4xi32>, !llvm.ptr<1>, i32, !llvm.ptr<1>) -> ()
    }
  }
  // The last makes the state that of no call.
  %readers = arith.addi %before, %c1 : i32
  %all_read = arith.cmpi eq, %readers, %blocks : i32
  %forgets = arith.andi %is_first, %all_read : i1
  scf.if %forgets {
    llvm.store %c0, %readers_at : i32, !llvm.ptr<1>
    llvm.store %c0, %state : i32, !llvm.ptr<1>
  }
  llvm.return
}

/// A thread decides: a call that has not looked is dense, or is none of the
/// choice's: then the next look is due as before.
func.func private @skip_look(%slot: !llvm.ptr<1>, %slot_was: vector<4xi32>,
                             %state: !llvm.ptr<1>, %elapsed: i32, %after: !llvm.ptr<1>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant -1 : i32
  %variant_at = llvm.getelementptr %state[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %taken = func.call @is_taken(%after) : (!llvm.ptr<1>) -> i1
  %variant = arith.select %taken, %none, %c0 : i32
  llvm.store %variant, %variant_at : i32, !llvm.ptr<1>
  %look_at = llvm.getelementptr %state[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %c0, %look_at : i32, !llvm.ptr<1>
  %counted = arith.select %taken, %c0, %c1 : i32
  %before:4 = vector.to_elements %slot_was : vector<4xi32>
  %skip = arith.subi %before#0, %elapsed : i32
  %less = arith.subi %skip, %counted : i32
  %rest = arith.maxsi %less, %c0 : i32
  llvm.store %rest, %slot : i32, !llvm.ptr<1>
  return
}

/// A block finds the variant of the least cost, the first of equal ones, and
/// its live micro-tiles.
func.func private @cheapest(%table: !llvm.ptr, %count: i32) -> (i32, i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %infinite = arith.constant 0x7FF0000000000000 : f64
  %best:3 = scf.for %v = %c0 to %count step %c1
      iter_args(%least = %infinite, %variant = %c0, %live = %zero) -> (f64, i32, i64) : i32 {
    %row = llvm.getelementptr %table[0, %v] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<16 x !variant>
    %tiles = func.call @count_live(%row) : (!llvm.ptr) -> i64
    %fixed_at = llvm.getelementptr %row[0, 0] : (!llvm.ptr) -> !llvm.ptr, !variant
    %fixed = llvm.load %fixed_at : !llvm.ptr -> f64
    %each_at = llvm.getelementptr %row[0, 1] : (!llvm.ptr) -> !llvm.ptr, !variant
    %each = llvm.load %each_at : !llvm.ptr -> f64
    %number = arith.uitofp %tiles : i64 to f64
    %all = arith.mulf %number, %each : f64
    %cost = arith.addf %fixed, %all : f64
    %cheaper = arith.cmpf olt, %cost, %least : f64
    %next = arith.select %cheaper, %cost, %least : f64
    %taken = arith.select %cheaper, %v, %variant : i32
    %taken_live = arith.select %cheaper, %tiles, %live : i64
    scf.yield %next, %taken, %taken_live : f64, i32, i64
  }
  return %best#1, %best#2 : i32, i64
}

/// The slot, in the first thread of the grid.
func.func private @load_slot(%slot: !llvm.ptr<1>, %is_first: i1) -> vector<4xi32> {
  %zeros = arith.constant dense<0> : vector<4xi32>
  %all = scf.if %is_first -> (vector<4xi32>) {
    %v = llvm.load volatile %slot {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    scf.yield %v : vector<4xi32>
  } else {
    scf.yield %zeros : vector<4xi32>
  }
  return %all : vector<4xi32>
}

/// A thread writes the variant, and when the next look is due.
func.func private @end_look(%slot: !llvm.ptr<1>, %slot_was: vector<4xi32>,
                            %state: !llvm.ptr<1>, %news: !llvm.ptr<1>,
                            %variant: i32, %live: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %most = arith.constant 64 : i32
  %variant_at = llvm.getelementptr %state[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %variant, %variant_at : i32, !llvm.ptr<1>
  %look_at = llvm.getelementptr %state[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.store %c1, %look_at : i32, !llvm.ptr<1>
  %before:4 = vector.to_elements %slot_was : vector<4xi32>
  %calls = arith.maxsi %before#1, %c1 : i32
  %twice = arith.addi %calls, %calls : i32
  %later = arith.minsi %twice, %most : i32
  %is_dense = arith.cmpi eq, %variant, %c0 : i32
  %skip = arith.select %is_dense, %calls, %c0 : i32
  %after = arith.select %is_dense, %later, %c1 : i32
  %looks = arith.addi %before#2, %c1 : i32
  %is = vector.from_elements %skip, %after, %looks, %before#3 : vector<4xi32>
  llvm.store %is, %slot {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %tells = llvm.icmp "ne" %news, %null : !llvm.ptr<1>
  scf.if %tells {
    // In one store, so that the host finds all of it or nothing.
    %live_low = arith.trunci %live : i64 to i32
    %c32 = arith.constant 32 : i64
    %live_shifted = arith.shrui %live, %c32 : i64
    %live_high = arith.trunci %live_shifted : i64 to i32
    %told = vector.from_elements %looks, %variant, %live_low, %live_high : vector<4xi32>
    llvm.store volatile %told, %news {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  }
  return
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The grid makes the lists of a variant's index.
func.func private @list_variant(%row: !llvm.ptr) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %limit = arith.constant 0x7fffffff : i32
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  %of:6 = func.call @bits_of(%row)
      : (!llvm.ptr) -> (!llvm.ptr<1>, i32, i32, i32, i32, i32)
  %ids_at = llvm.getelementptr %row[0, 7] : (!llvm.ptr) -> !llvm.ptr, !variant
  %generic_ids = llvm.load %ids_at : !llvm.ptr -> !llvm.ptr
  %ids = llvm.addrspacecast %generic_ids : !llvm.ptr to !llvm.ptr<1>
  %slices_at = llvm.getelementptr %row[0, 14] : (!llvm.ptr) -> !llvm.ptr, !variant
  %slices = llvm.load %slices_at : !llvm.ptr -> i32
  %span_at = llvm.getelementptr %row[0, 15] : (!llvm.ptr) -> !llvm.ptr, !variant
  %span = llvm.load %span_at : !llvm.ptr -> i32
  %last_slice = arith.subi %slices, %c1 : i32
  %words64 = arith.extui %of#4 : i32 to i64
  %extent64 = arith.extui %of#5 : i32 to i64
  %items = arith.muli %of#3, %slices : i32
  scf.for %item = %block to %items step %blocks : i32 {
    %g = arith.divui %item, %slices : i32
    %group_item = arith.muli %g, %slices : i32
    %slice = arith.subi %item, %group_item : i32
    %g64 = arith.extui %g : i32 to i64
    %place = arith.muli %g64, %extent64 : i64
    %first_word = arith.muli %g64, %words64 : i64
    %group_bits = llvm.getelementptr %of#0[%first_word] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %group_ids = llvm.getelementptr %ids[%place] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %begin = arith.muli %slice, %span : i32
    %unclipped = arith.addi %begin, %span : i32
    %end = arith.minui %unclipped, %of#4 : i32
    %position = func.call @count_before(%group_bits, %of#1, %of#2, %of#5, %begin)
        : (!llvm.ptr<1>, i32, i32, i32, i32) -> i32
    %live = func.call @list_words(%group_bits, %of#1, %of#2, %of#5, %begin, %end,
                                  %group_ids, %position, %limit)
        : (!llvm.ptr<1>, i32, i32, i32, i32, i32, !llvm.ptr<1>, i32, i32) -> i32
    scf.if %is_first {
      func.call @note_slice(%row, %position, %live) : (!llvm.ptr, i32, i32) -> ()
      %ends = arith.cmpi eq, %slice, %last_slice : i32
      scf.if %ends {
        func.call @note_group(%row, %g, %of#3, %place, %live)
            : (!llvm.ptr, i32, i32, i64, i32) -> ()
      }
    }
  }
  return
}

/// A thread adds the ids of a slice to the index of a variant.
func.func private @note_slice(%row: !llvm.ptr, %before: i32, %live: i32) {
  %copy_at = llvm.getelementptr %row[0, 4] : (!llvm.ptr) -> !llvm.ptr, !variant
  %generic = llvm.load %copy_at : !llvm.ptr -> !llvm.ptr
  %copy = llvm.addrspacecast %generic : !llvm.ptr to !llvm.ptr<1>
  %mine = arith.subi %live, %before : i32
  func.call @add_ids(%copy, %mine) : (!llvm.ptr<1>, i32) -> ()
  return
}

/// A thread writes the part of a group of the index of a variant that there is.
func.func private @note_group(%row: !llvm.ptr, %g: i32, %groups: i32,
                              %place: i64, %live: i32) {
  %copy_at = llvm.getelementptr %row[0, 4] : (!llvm.ptr) -> !llvm.ptr, !variant
  %generic = llvm.load %copy_at : !llvm.ptr -> !llvm.ptr
  %copy = llvm.addrspacecast %generic : !llvm.ptr to !llvm.ptr<1>
  %counts_at = llvm.getelementptr %row[0, 5] : (!llvm.ptr) -> !llvm.ptr, !variant
  %generic_counts = llvm.load %counts_at : !llvm.ptr -> !llvm.ptr
  %counts = llvm.addrspacecast %generic_counts : !llvm.ptr to !llvm.ptr<1>
  %offsets_at = llvm.getelementptr %row[0, 6] : (!llvm.ptr) -> !llvm.ptr, !variant
  %generic_offsets = llvm.load %offsets_at : !llvm.ptr -> !llvm.ptr
  %offsets = llvm.addrspacecast %generic_offsets : !llvm.ptr to !llvm.ptr<1>
  func.call @tell_group(%copy, %counts, %offsets, %g, %groups, %place, %live)
      : (!llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i64, i32) -> ()
  return
}
