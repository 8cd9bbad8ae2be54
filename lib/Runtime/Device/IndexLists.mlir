//===- IndexLists.mlir - From bits to lists of ids ------------------------===//
//
// Bits lie in words of 32, `words` for each group: bit i of them is micro-tile
// i. A block lists a group, or a slice of one, at a fixed place, or behind the
// groups before it, as many as `tally` says. If there are too many groups for
// that, or a work list is wanted, see IndexSegments.mlir.
//
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Ids and origins
//===----------------------------------------------------------------------===//

/// A warp writes the ids of the 32 words that its lanes hold, as far as their
/// positions are below the limit. `position` is that of the lane's first id in
/// `ids`, and `first` the id of the first word's first bit.
func.func private @place_words(%word: i32, %position: i32, %limit: i32,
                               %first: i32, %ids: !llvm.ptr<1>) {
  %c0 = arith.constant 0 : i32
  %cm1 = arith.constant -1 : i32
  %few = arith.constant 6 : i32
  %ones = math.ctpop %word : i32
  %is_full = arith.cmpi ugt, %ones, %few : i32
  %full = nvvm.vote.sync ballot %cm1, %is_full -> i32
  %is_sparse = arith.cmpi eq, %full, %c0 : i32
  scf.if %is_sparse {
    func.call @place_sparse(%word, %position, %limit, %first, %ids)
        : (i32, i32, i32, i32, !llvm.ptr<1>) -> ()
  } else {
    func.call @place_dense(%word, %position, %limit, %first, %ids)
        : (i32, i32, i32, i32, !llvm.ptr<1>) -> ()
  }
  return
}

/// @place_words of words with few bits: each lane writes its own ids.
func.func private @place_sparse(%word: i32, %position: i32, %limit: i32,
                                %first: i32, %ids: !llvm.ptr<1>) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %lane = arith.andi %tid, %c31 : i32
  %lane_bits = arith.muli %lane, %c32 : i32
  %lane_id = arith.addi %first, %lane_bits : i32
  %end:2 = scf.while (%rest = %word, %at = %position) : (i32, i32) -> (i32, i32) {
    %some = arith.cmpi ne, %rest, %c0 : i32
    %fits = arith.cmpi slt, %at, %limit : i32
    %more = arith.andi %some, %fits : i1
    scf.condition(%more) %rest, %at : i32, i32
  } do {
  ^bb0(%rest: i32, %at: i32):
    %bit = math.cttz %rest : i32
    %id = arith.addi %lane_id, %bit : i32
    %at64 = arith.extui %at : i32 to i64
    %to = llvm.getelementptr %ids[%at64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %id, %to : i32, !llvm.ptr<1>
    %lower = arith.subi %rest, %c1 : i32
    %next_rest = arith.andi %rest, %lower : i32
    %next_at = arith.addi %at, %c1 : i32
    scf.yield %next_rest, %next_at : i32, i32
  }
  return
}

/// @place_words of words with many bits: the lanes write a word's ids together.
func.func private @place_dense(%word: i32, %position: i32, %limit: i32,
                               %first: i32, %ids: !llvm.ptr<1>) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %lane = arith.andi %tid, %c31 : i32
  %bit = arith.shli %c1, %lane : i32
  %below = arith.subi %bit, %c1 : i32
  %lane_id = arith.addi %first, %lane : i32
  scf.for %k = %c0 to %c32 step %c1 iter_args(%id = %lane_id) -> (i32) : i32 {
    %w, %0 = gpu.shuffle idx %word, %k, %c32 : i32
    %p, %1 = gpu.shuffle idx %position, %k, %c32 : i32
    %mine = arith.andi %w, %bit : i32
    %is_live = arith.cmpi ne, %mine, %c0 : i32
    %others = arith.andi %w, %below : i32
    %before = math.ctpop %others : i32
    %at = arith.addi %p, %before : i32
    %fits = arith.cmpi slt, %at, %limit : i32
    %writes = arith.andi %is_live, %fits : i1
    scf.if %writes {
      %at64 = arith.extui %at : i32 to i64
      %to = llvm.getelementptr %ids[%at64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      llvm.store %id, %to : i32, !llvm.ptr<1>
    }
    %next = arith.addi %id, %c32 : i32
    scf.yield %next : i32
  }
  return
}

/// Element `offset` of integers of 4 or 8 bytes.
func.func private @load_int(%data: !llvm.ptr<1>, %wide: i1, %offset: i64) -> i64 {
  %value = scf.if %wide -> (i64) {
    %at = llvm.getelementptr %data[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
    %v = llvm.load %at invariant : !llvm.ptr<1> -> i64
    scf.yield %v : i64
  } else {
    %at = llvm.getelementptr %data[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %v = llvm.load %at invariant : !llvm.ptr<1> -> i32
    %ext = arith.extsi %v : i32 to i64
    scf.yield %ext : i64
  }
  return %value : i64
}

/// 16 bytes at an offset in bytes, aligned.
func.func private @load_16(%data: !llvm.ptr<1>, %offset: i64) -> vector<4xi32> {
  %from = llvm.getelementptr %data[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %v = llvm.load %from invariant {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  return %v : vector<4xi32>
}

/// The first of `slots` integers from `row` on that lies in [low, high), or -1.
func.func private @first_slot(%data: !llvm.ptr<1>, %wide: i1, %row: i64,
                              %slot_stride: i64, %slots: i32, %low: i64,
                              %high: i64) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %cm1 = arith.constant -1 : i32
  // From the last slot to the first: no load waits for a comparison.
  %slot = scf.for %j = %c0 to %slots step %c1 iter_args(%found = %cm1) -> (i32) : i32 {
    %rest = arith.subi %slots, %j : i32
    %s = arith.subi %rest, %c1 : i32
    %s64 = arith.extui %s : i32 to i64
    %column = arith.muli %s64, %slot_stride : i64
    %offset = arith.addi %row, %column : i64
    %expert = func.call @load_int(%data, %wide, %offset)
        : (!llvm.ptr<1>, i1, i64) -> i64
    %ge = arith.cmpi sge, %expert, %low : i64
    %lt = arith.cmpi slt, %expert, %high : i64
    %inside = arith.andi %ge, %lt : i1
    %next = arith.select %inside, %s, %found : i32
    scf.yield %next : i32
  }
  return %slot : i32
}

/// The slot if the expert is in [low, high), else what was found before.
func.func private @closer_slot(%expert: i64, %slot: i32, %found: i32,
                               %low: i64, %high: i64) -> i32 {
  %ge = arith.cmpi sge, %expert, %low : i64
  %lt = arith.cmpi slt, %expert, %high : i64
  %inside = arith.andi %ge, %lt : i1
  %closer = arith.select %inside, %slot, %found : i32
  return %closer : i32
}

/// @first_slot where the slots are `vectors` vectors of 16 bytes.
func.func private @first_slot_of_vectors(%data: !llvm.ptr<1>, %wide: i1,
                                         %row: i64, %vectors: i32, %low: i64,
                                         %high: i64) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %cm1 = arith.constant -1 : i32
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %size_log2 = arith.select %wide, %three, %two : i64
  %row_bytes = arith.shli %row, %size_log2 : i64
  %slot = scf.for %j = %c0 to %vectors step %c1 iter_args(%found = %cm1) -> (i32) : i32 {
    %rest = arith.subi %vectors, %j : i32
    %k = arith.subi %rest, %c1 : i32
    %k64 = arith.extui %k : i32 to i64
    %sixteen = arith.constant 16 : i64
    %column = arith.muli %k64, %sixteen : i64
    %offset = arith.addi %row_bytes, %column : i64
    %v = func.call @load_16(%data, %offset) : (!llvm.ptr<1>, i64) -> vector<4xi32>
    %closer = scf.if %wide -> (i32) {
      %wides = vector.bitcast %v : vector<4xi32> to vector<2xi64>
      %e:2 = vector.to_elements %wides : vector<2xi64>
      %s0 = arith.muli %k, %c2 : i32
      %s1 = arith.addi %s0, %c1 : i32
      %f1 = func.call @closer_slot(%e#1, %s1, %found, %low, %high) : (i64, i32, i32, i64, i64) -> i32
      %f0 = func.call @closer_slot(%e#0, %s0, %f1, %low, %high) : (i64, i32, i32, i64, i64) -> i32
      scf.yield %f0 : i32
    } else {
      %wides = arith.extsi %v : vector<4xi32> to vector<4xi64>
      %e:4 = vector.to_elements %wides : vector<4xi64>
      %s0 = arith.muli %k, %c4 : i32
      %s1 = arith.addi %s0, %c1 : i32
      %s2 = arith.addi %s0, %c2 : i32
      %s3 = arith.addi %s0, %c3 : i32
      %f3 = func.call @closer_slot(%e#3, %s3, %found, %low, %high) : (i64, i32, i32, i64, i64) -> i32
      %f2 = func.call @closer_slot(%e#2, %s2, %f3, %low, %high) : (i64, i32, i32, i64, i64) -> i32
      %f1 = func.call @closer_slot(%e#1, %s1, %f2, %low, %high) : (i64, i32, i32, i64, i64) -> i32
      %f0 = func.call @closer_slot(%e#0, %s0, %f1, %low, %high) : (i64, i32, i32, i64, i64) -> i32
      scf.yield %f0 : i32
    }
    scf.yield %closer : i32
  }
  return %slot : i32
}

/// Writes the origins of ids[begin], ids[begin + by], ... below `end`: the first
/// slot of the token that holds an expert of the window. With `by_expert` the
/// ids are experts, and the token is the window's only one. `vectors` is 0 if
/// slots are not vectors of 16 bytes.
func.func private @write_origins(%ids: !llvm.ptr<1>, %origin: !llvm.ptr<1>,
                                 %begin: i32, %end: i32, %by: i32,
                                 %data: !llvm.ptr<1>, %wide: i1,
                                 %token_stride: i64, %slot_stride: i64,
                                 %slots: i32, %vectors: i32, %by_expert: i1,
                                 %window_begin: i64, %window_end: i64) {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %has_vectors = arith.cmpi ne, %vectors, %c0 : i32
  scf.for %i = %begin to %end step %by : i32 {
    %i64 = arith.extui %i : i32 to i64
    %from = llvm.getelementptr %ids[%i64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %id32 = llvm.load %from : !llvm.ptr<1> -> i32
    %id = arith.extsi %id32 : i32 to i64
    %next_id = arith.addi %id, %one : i64
    %token = arith.select %by_expert, %window_begin, %id : i64
    %low = arith.select %by_expert, %id, %window_begin : i64
    %high = arith.select %by_expert, %next_id, %window_end : i64
    %row = arith.muli %token, %token_stride : i64
    %slot = scf.if %has_vectors -> (i32) {
      %s = func.call @first_slot_of_vectors(%data, %wide, %row, %vectors, %low, %high)
          : (!llvm.ptr<1>, i1, i64, i32, i64, i64) -> i32
      scf.yield %s : i32
    } else {
      %s = func.call @first_slot(%data, %wide, %row, %slot_stride, %slots, %low, %high)
          : (!llvm.ptr<1>, i1, i64, i64, i32, i64, i64) -> i32
      scf.yield %s : i32
    }
    %to = llvm.getelementptr %origin[%i64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %slot, %to : i32, !llvm.ptr<1>
  }
  return
}

//===----------------------------------------------------------------------===//
// A block lists a group
//===----------------------------------------------------------------------===//

/// A block finds the largest of the status words that blocks before left.
func.func private @worst_status(%checks: !llvm.ptr<1>, %num_checks: i32) -> i32 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %mine = scf.for %i = %tid to %num_checks step %c256 iter_args(%m = %zero) -> (i64) : i32 {
    %from = llvm.getelementptr %checks[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %s32 = llvm.load %from : !llvm.ptr<1> -> i32
    %s = arith.extsi %s32 : i32 to i64
    %next = arith.maxsi %m, %s : i64
    scf.yield %next : i64
  }
  %worst = func.call @block_max(%mine) : (i64) -> i64
  %status = arith.trunci %worst : i64 to i32
  return %status : i32
}

/// The sum over a block of tally[begin .. end).
func.func private @sum_tally(%tally: !llvm.ptr<1>, %begin: i32, %end: i32) -> i64 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %first = arith.addi %begin, %tid : i32
  %mine = scf.for %i = %first to %end step %c256 iter_args(%sum = %zero) -> (i64) : i32 {
    %from = llvm.getelementptr %tally[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %n = llvm.load %from : !llvm.ptr<1> -> i32
    %n64 = arith.extui %n : i32 to i64
    %next = arith.addi %sum, %n64 : i64
    scf.yield %next : i64
  }
  %scan:2 = func.call @block_scan(%mine) : (i64) -> (i64, i64)
  return %scan#1 : i64
}

/// The bits of ids that exist, of the 32 from id `first` on.
func.func private @valid_bits(%first: i32, %ids: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %cm1 = arith.constant -1 : i32
  %rest = arith.subi %ids, %first : i32
  %ones = arith.shli %c1, %rest : i32
  %low = arith.subi %ones, %c1 : i32
  %is_full = arith.cmpi sge, %rest, %c32 : i32
  %some = arith.select %is_full, %cm1, %low : i32
  %none = arith.cmpi sle, %rest, %c0 : i32
  %valid = arith.select %none, %c0, %some : i32
  return %valid : i32
}

/// Word `at` of a group of so many ids: what any of its parts has, which lie
/// `part_words` apart.
func.func private @load_bits(%bits: !llvm.ptr<1>, %at: i32, %parts: i32,
                             %part_words: i32, %extent: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %word = scf.for %p = %c0 to %parts step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
    %skipped = arith.muli %p, %part_words : i32
    %place = arith.addi %skipped, %at : i32
    %from = llvm.getelementptr %bits[%place] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %part = llvm.load %from : !llvm.ptr<1> -> i32
    %next = arith.ori %sum, %part : i32
    scf.yield %next : i32
  }
  %first = arith.muli %at, %c32 : i32
  %valid = func.call @valid_bits(%first, %extent) : (i32, i32) -> i32
  %live = arith.andi %word, %valid : i32
  return %live : i32
}

/// A block counts the live micro-tiles in the words of a group before `end`.
func.func private @count_before(%bits: !llvm.ptr<1>, %parts: i32, %part_words: i32,
                                %extent: i32, %end: i32) -> i32 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %some = arith.cmpi ne, %end, %c0 : i32
  %sum = scf.if %some -> (i32) {
    %mine = scf.for %w = %tid to %end step %c256 iter_args(%sum = %zero) -> (i64) : i32 {
      %word = func.call @load_bits(%bits, %w, %parts, %part_words, %extent)
          : (!llvm.ptr<1>, i32, i32, i32, i32) -> i32
      %ones = math.ctpop %word : i32
      %ones64 = arith.extui %ones : i32 to i64
      %next = arith.addi %sum, %ones64 : i64
      scf.yield %next : i64
    }
    %all:2 = func.call @block_scan(%mine) : (i64) -> (i64, i64)
    %all32 = arith.trunci %all#1 : i64 to i32
    scf.yield %all32 : i32
  } else {
    scf.yield %c0 : i32
  }
  return %sum : i32
}

/// A block writes the ids of words `begin` to `end` of a group (@load_bits) to
/// `ids`, from `position` on, as far as their positions are below the limit.
/// The position after the last.
func.func private @list_words(%bits: !llvm.ptr<1>, %parts: i32,
                              %part_words: i32, %extent: i32, %begin: i32,
                              %end: i32, %ids: !llvm.ptr<1>, %position: i32,
                              %limit: i32) -> i32 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c256 = arith.constant 256 : i32
  %cm32 = arith.constant -32 : i32
  %warp_word = arith.andi %tid, %cm32 : i32
  %after = scf.for %w = %begin to %end step %c256 iter_args(%done = %position) -> (i32) : i32 {
    %at = arith.addi %w, %tid : i32
    %inside = arith.cmpi ult, %at, %end : i32
    %word = scf.if %inside -> (i32) {
      %v = func.call @load_bits(%bits, %at, %parts, %part_words, %extent)
          : (!llvm.ptr<1>, i32, i32, i32, i32) -> i32
      scf.yield %v : i32
    } else {
      scf.yield %c0 : i32
    }
    %ones = math.ctpop %word : i32
    %ones64 = arith.extui %ones : i32 to i64
    %scan:2 = func.call @block_scan(%ones64) : (i64) -> (i64, i64)
    %before = arith.trunci %scan#0 : i64 to i32
    %sum = arith.trunci %scan#1 : i64 to i32
    %mine = arith.addi %done, %before : i32
    %first_of_warp = arith.addi %w, %warp_word : i32
    %has_words = arith.cmpi ult, %first_of_warp, %end : i32
    scf.if %has_words {
      %first = arith.muli %first_of_warp, %c32 : i32
      func.call @place_words(%word, %mine, %limit, %first, %ids)
          : (i32, i32, i32, i32, !llvm.ptr<1>) -> ()
    }
    %next = arith.addi %done, %sum : i32
    scf.yield %next : i32
  }
  return %after : i32
}

/// Lists all groups, each in `slices` of `span` parts of `part_words` words.
/// `tally` has `parts` numbers for each group; it is read if groups are to lie
/// densely, not at multiples of `extent`, and if there are several slices. If it
/// is null, groups do not lie densely, and what is before a slice is counted. Ids
/// past the capacity are dropped, which the status tells. If `origin` is not
/// null, the arguments from `data` on are those of @write_origins, and group g is
/// window g of `size` every `step` of `limit` tokens or experts.
llvm.func @pit_index_lists(
    %copy: !llvm.ptr<1>, %counts: !llvm.ptr<1>, %offsets: !llvm.ptr<1>,
    %ids: !llvm.ptr<1>, %origin: !llvm.ptr<1>, %bits: !llvm.ptr<1>,
    %checks: !llvm.ptr<1>, %num_checks: i32, %tally: !llvm.ptr<1>, %parts: i32,
    %part_words: i32, %slices: i32, %span: i32, %dense32: i32,
    %capacity: i64, %capacity_status: i32, %groups: i32, %words: i32,
    %extent: i64,
    %data: !llvm.ptr<1>, %wide32: i32, %token_stride: i64, %slot_stride: i64,
    %slots: i32, %vectors: i32, %by_expert32: i32, %size: i64, %step: i64,
    %limit: i64)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant 0 : i64
  %all = arith.constant 0x7fffffff : i64
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %has_origin = llvm.icmp "ne" %origin, %null : !llvm.ptr<1>
  %has_tally = llvm.icmp "ne" %tally, %null : !llvm.ptr<1>
  %is_dense = arith.cmpi ne, %dense32, %c0 : i32
  %wide = arith.cmpi ne, %wide32, %c0 : i32
  %by_expert = arith.cmpi ne, %by_expert32, %c0 : i32
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  %last_slice = arith.subi %slices, %c1 : i32
  %slice_words = arith.muli %span, %part_words : i32
  %words64 = arith.extui %words : i32 to i64
  %extent32 = arith.trunci %extent : i64 to i32

  %status_at = llvm.getelementptr %copy[368] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8

  %items = arith.muli %groups, %slices : i32
  scf.for %item = %block to %items step %blocks : i32 {
    %g = arith.divui %item, %slices : i32
    %group_item = arith.muli %g, %slices : i32
    %slice = arith.subi %item, %group_item : i32
    %g64 = arith.extui %g : i32 to i64
    %group_part = arith.muli %g, %parts : i32
    %wanted = scf.if %is_dense -> (i64) {
      %sum = func.call @sum_tally(%tally, %c0, %group_part) : (!llvm.ptr<1>, i32, i32) -> i64
      scf.yield %sum : i64
    } else {
      %fixed = arith.muli %g64, %extent : i64
      scf.yield %fixed : i64
    }
    %place = arith.minsi %wanted, %capacity : i64
    %room = arith.subi %capacity, %place : i64
    %room32 = arith.minsi %room, %all : i64
    %most = arith.trunci %room32 : i64 to i32
    %first_word = arith.muli %g64, %words64 : i64
    %group_bits = llvm.getelementptr %bits[%first_word] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %group_ids = llvm.getelementptr %ids[%place] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %begin_word = arith.muli %slice, %slice_words : i32
    %is_later = arith.cmpi ne, %slice, %c0 : i32
    %position = scf.if %is_later -> (i32) {
      %counted = scf.if %has_tally -> (i32) {
        %skipped = arith.muli %slice, %span : i32
        %part = arith.addi %group_part, %skipped : i32
        %sum = func.call @sum_tally(%tally, %group_part, %part) : (!llvm.ptr<1>, i32, i32) -> i64
        %sum32 = arith.trunci %sum : i64 to i32
        scf.yield %sum32 : i32
      } else {
        %count = func.call @count_before(%group_bits, %c1, %c0, %extent32, %begin_word)
            : (!llvm.ptr<1>, i32, i32, i32, i32) -> i32
        scf.yield %count : i32
      }
      scf.yield %counted : i32
    } else {
      scf.yield %c0 : i32
    }
    %unclipped_word = arith.addi %begin_word, %slice_words : i32
    %end_word = arith.minui %unclipped_word, %words : i32
    %live = func.call @list_words(%group_bits, %c1, %c0, %extent32, %begin_word, %end_word,
                                  %group_ids, %position, %most)
        : (!llvm.ptr<1>, i32, i32, i32, i32, i32, !llvm.ptr<1>, i32, i32) -> i32
    // The counts of the group, up to the end of this slice, and before it.
    %count = arith.minui %live, %most : i32
    %before = arith.minui %position, %most : i32
    scf.if %is_first {
      %mine = arith.subi %count, %before : i32
      func.call @add_ids(%copy, %mine) : (!llvm.ptr<1>, i32) -> ()
      %is_group = arith.cmpi eq, %slice, %last_slice : i32
      scf.if %is_group {
        func.call @tell_group(%copy, %counts, %offsets, %g, %groups, %place, %count)
            : (!llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i64, i32) -> ()
        %dropped = arith.cmpi ult, %count, %live : i32
        scf.if %dropped {
          %0 = llvm.atomicrmw umax %status_at, %capacity_status syncscope("device") monotonic : !llvm.ptr<1>, i32
        }
      }
    }
    scf.if %has_origin {
      gpu.barrier
      %group_origin = llvm.getelementptr %origin[%place] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %begin = arith.muli %g64, %step : i64
      %unclipped = arith.addi %begin, %size : i64
      %end = arith.minsi %unclipped, %limit : i64
      %mine = arith.addi %before, %tid : i32
      func.call @write_origins(%group_ids, %group_origin, %mine, %count, %c256,
                               %data, %wide, %token_stride, %slot_stride,
                               %slots, %vectors, %by_expert, %begin, %end)
          : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i32, !llvm.ptr<1>, i1, i64,
             i64, i32, i32, i1, i64, i64) -> ()
    }
  }
  %last_block = arith.subi %blocks, %c1 : i32
  %is_checker = arith.cmpi eq, %block, %last_block : i32
  %has_checks = arith.cmpi ne, %num_checks, %c0 : i32
  %checks_now = arith.andi %is_checker, %has_checks : i1
  scf.if %checks_now {
    %status = func.call @worst_status(%checks, %num_checks) : (!llvm.ptr<1>, i32) -> i32
    scf.if %is_first {
      %0 = llvm.atomicrmw umax %status_at, %status syncscope("device") monotonic : !llvm.ptr<1>, i32
    }
  }
  llvm.return
}
