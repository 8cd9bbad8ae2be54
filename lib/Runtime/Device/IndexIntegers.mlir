//===- IndexIntegers.mlir - Liveness from routings and block lists --------===//
//
// Kernels that find a number out of range leave a status word for each of their
// blocks, 0 if all is well.
//
//===----------------------------------------------------------------------===//

llvm.mlir.global internal @slots_live() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x i32>
llvm.mlir.global internal @is_bad() {addr_space = 3 : i32} : i32

/// A block leaves `status` for it if a thread has seen a bad number, else 0.
func.func private @leave_status(%checks: !llvm.ptr<1>, %is_bad: i1, %status: i32) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %c0 = arith.constant 0 : i32
  %flag = llvm.mlir.addressof @is_bad : !llvm.ptr<3>
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    llvm.store %c0, %flag : i32, !llvm.ptr<3>
  }
  gpu.barrier
  scf.if %is_bad {
    llvm.store %status, %flag : i32, !llvm.ptr<3>
  }
  gpu.barrier
  scf.if %is_first {
    %word = llvm.load %flag : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %checks[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %word, %to : i32, !llvm.ptr<1>
  }
  return
}

/// Bits of a routing [tokens, slots] to experts: ids are tokens, groups
/// experts. A block takes 32 * 2^words_log2 tokens, so that it has room for their
/// bits, and counts them: tally[expert][block].
llvm.func @pit_index_assign(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %bits: !llvm.ptr<1>,
    %tally: !llvm.ptr<1>, %checks: !llvm.ptr<1>, %status: i32, %words: i32,
    %words_log2: i32, %data: !llvm.ptr<1>, %wide32: i32, %token_stride: i64,
    %slot_stride: i64, %tokens: i32, %slots: i32, %experts: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 1024>} {
  func.call @begin_index(%head, %copy, %counter) : (!llvm.ptr, !llvm.ptr<1>, !llvm.ptr<1>) -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %c1024 = arith.constant 1024 : i32
  %minus_one = arith.constant -1 : i64
  %false = arith.constant false
  %wide = arith.cmpi ne, %wide32, %c0 : i32
  %experts64 = arith.extui %experts : i32 to i64
  %live = llvm.mlir.addressof @slots_live : !llvm.ptr<3>
  %live_words = arith.shli %experts, %words_log2 : i32
  scf.for %i = %tid to %live_words step %c1024 : i32 {
    %to = llvm.getelementptr %live[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %c0, %to : i32, !llvm.ptr<3>
  }
  gpu.barrier
  %tokens_log2 = arith.addi %words_log2, %c5 : i32
  %most_tokens = arith.shli %c1, %tokens_log2 : i32
  %first = arith.shli %block, %tokens_log2 : i32
  %rest = arith.subi %tokens, %first : i32
  %block_tokens = arith.minsi %rest, %most_tokens : i32
  %entries = arith.muli %block_tokens, %slots : i32
  %is_bad = scf.for %i = %tid to %entries step %c1024 iter_args(%bad = %false) -> (i1) : i32 {
    %t = arith.divui %i, %slots : i32
    %t_slots = arith.muli %t, %slots : i32
    %s = arith.subi %i, %t_slots : i32
    %token = arith.addi %first, %t : i32
    %token64 = arith.extui %token : i32 to i64
    %s64 = arith.extui %s : i32 to i64
    %row = arith.muli %token64, %token_stride : i64
    %column = arith.muli %s64, %slot_stride : i64
    %offset = arith.addi %row, %column : i64
    %expert64 = func.call @load_int(%data, %wide, %offset) : (!llvm.ptr<1>, i1, i64) -> i64
    %is_expert = arith.cmpi ult, %expert64, %experts64 : i64
    scf.if %is_expert {
      %expert = arith.trunci %expert64 : i64 to i32
      %expert_word = arith.shli %expert, %words_log2 : i32
      %word = arith.shrui %t, %c5 : i32
      %at = arith.addi %expert_word, %word : i32
      %number = arith.andi %t, %c31 : i32
      %bit = arith.shli %c1, %number : i32
      %to = llvm.getelementptr %live[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %0 = llvm.atomicrmw _or %to, %bit syncscope("block") monotonic : !llvm.ptr<3>, i32
    }
    %below = arith.cmpi slt, %expert64, %minus_one : i64
    %above = arith.cmpi sge, %expert64, %experts64 : i64
    %outside = arith.ori %below, %above : i1
    %next = arith.ori %bad, %outside : i1
    scf.yield %next : i1
  }
  gpu.barrier
  %words64 = arith.extui %words : i32 to i64
  %block_words = arith.shli %c1, %words_log2 : i32
  %words_mask = arith.subi %block_words, %c1 : i32
  %block_word = arith.shli %block, %words_log2 : i32
  scf.for %i = %tid to %live_words step %c1024 : i32 {
    %from = llvm.getelementptr %live[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %word = llvm.load %from : !llvm.ptr<3> -> i32
    %expert = arith.shrui %i, %words_log2 : i32
    %number = arith.andi %i, %words_mask : i32
    %at = arith.addi %block_word, %number : i32
    %inside = arith.cmpi ult, %at, %words : i32
    scf.if %inside {
      %expert64 = arith.extui %expert : i32 to i64
      %at64 = arith.extui %at : i32 to i64
      %group_at = arith.muli %expert64, %words64 : i64
      %offset = arith.addi %group_at, %at64 : i64
      %to = llvm.getelementptr %bits[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      llvm.store %word, %to : i32, !llvm.ptr<1>
    }
  }
  scf.for %e = %tid to %experts step %c1024 : i32 {
    %expert_word = arith.shli %e, %words_log2 : i32
    %count = scf.for %w = %c0 to %block_words step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
      // Threads start at different words, for the banks.
      %turned = arith.addi %w, %tid : i32
      %number = arith.andi %turned, %words_mask : i32
      %at = arith.addi %expert_word, %number : i32
      %from = llvm.getelementptr %live[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %word = llvm.load %from : !llvm.ptr<3> -> i32
      %ones = math.ctpop %word : i32
      %next = arith.addi %sum, %ones : i32
      scf.yield %next : i32
    }
    %expert_tally = arith.muli %e, %grid : i32
    %tally_at = arith.addi %expert_tally, %block : i32
    %to = llvm.getelementptr %tally[%tally_at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %count, %to : i32, !llvm.ptr<1>
  }
  func.call @leave_status(%checks, %is_bad, %status) : (!llvm.ptr<1>, i1, i32) -> ()
  llvm.return
}

/// Bits, zeros before, of a list of `blocks` pairs (group, id). Without any, it
/// only begins the index.
llvm.func @pit_index_scatter(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>, %bits: !llvm.ptr<1>, %checks: !llvm.ptr<1>, %status: i32, %words: i32,
    %data: !llvm.ptr<1>, %wide32: i32, %block_stride: i64, %pair_stride: i64,
    %blocks: i64, %groups: i64, %extent: i64)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  func.call @begin_index(%head, %copy, %counter) : (!llvm.ptr, !llvm.ptr<1>, !llvm.ptr<1>) -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i64
  %c31 = arith.constant 31 : i64
  %c256 = arith.constant 256 : i64
  %false = arith.constant false
  %wide = arith.cmpi ne, %wide32, %c0 : i32
  %words64 = arith.extui %words : i32 to i64
  %tid64 = arith.extui %tid : i32 to i64
  %block64 = arith.extui %block : i32 to i64
  %grid64 = arith.extui %grid : i32 to i64
  %block_first = arith.muli %block64, %c256 : i64
  %first = arith.addi %block_first, %tid64 : i64
  %by = arith.muli %grid64, %c256 : i64
  %is_bad = scf.for %i = %first to %blocks step %by iter_args(%bad = %false) -> (i1) : i64 {
    %group_offset = arith.muli %i, %block_stride : i64
    %id_offset = arith.addi %group_offset, %pair_stride : i64
    %group = func.call @load_int(%data, %wide, %group_offset) : (!llvm.ptr<1>, i1, i64) -> i64
    %id = func.call @load_int(%data, %wide, %id_offset) : (!llvm.ptr<1>, i1, i64) -> i64
    // Unsigned: a negative number is a large one.
    %no_group = arith.cmpi uge, %group, %groups : i64
    %no_id = arith.cmpi uge, %id, %extent : i64
    %outside = arith.ori %no_group, %no_id : i1
    scf.if %outside {
    } else {
      %group_at = arith.muli %group, %words64 : i64
      %word = arith.shrui %id, %c5 : i64
      %at = arith.addi %group_at, %word : i64
      %number64 = arith.andi %id, %c31 : i64
      %number = arith.trunci %number64 : i64 to i32
      %bit = arith.shli %c1, %number : i32
      %to = llvm.getelementptr %bits[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %0 = llvm.atomicrmw _or %to, %bit syncscope("device") monotonic : !llvm.ptr<1>, i32
    }
    %next = arith.ori %bad, %outside : i1
    scf.yield %next : i1
  }
  %zero = arith.constant 0 : i64
  %has_blocks = arith.cmpi sgt, %blocks, %zero : i64
  scf.if %has_blocks {
    func.call @leave_status(%checks, %is_bad, %status) : (!llvm.ptr<1>, i1, i32) -> ()
  }
  llvm.return
}

/// Checks that each of the `count` numbers of a tensor lies in [low, high]:
/// %dims[0] has 8 sizes, 1 where there is no dimension, and %dims[1] strides.
llvm.func @pit_index_check(
    %checks: !llvm.ptr<1>, %status: i32, %data: !llvm.ptr<1>, %wide32: i32,
    %dims: !llvm.ptr {llvm.byval = !llvm.array<2 x array<8 x i64>>, llvm.align = 8 : i64, nvvm.grid_constant},
    %count: i64, %low: i64, %high: i64)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c256 = arith.constant 256 : i64
  %zero = arith.constant 0 : i64
  %false = arith.constant false
  %wide = arith.cmpi ne, %wide32, %c0 : i32
  %tid64 = arith.extui %tid : i32 to i64
  %block64 = arith.extui %block : i32 to i64
  %grid64 = arith.extui %grid : i32 to i64
  %block_first = arith.muli %block64, %c256 : i64
  %first = arith.addi %block_first, %tid64 : i64
  %by = arith.muli %grid64, %c256 : i64
  %is_bad = scf.for %i = %first to %count step %by iter_args(%bad = %false) -> (i1) : i64 {
    %place:2 = scf.for %d = %c0 to %c8 step %c1
        iter_args(%rest = %i, %offset = %zero) -> (i64, i64) : i32 {
      %dim = arith.subi %c7, %d : i32
      %size_at = llvm.getelementptr %dims[0, 0, %dim] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<2 x array<8 x i64>>
      %size = llvm.load %size_at : !llvm.ptr -> i64
      %stride_at = llvm.getelementptr %dims[0, 1, %dim] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<2 x array<8 x i64>>
      %stride = llvm.load %stride_at : !llvm.ptr -> i64
      %k = arith.remui %rest, %size : i64
      %next_rest = arith.divui %rest, %size : i64
      %moved = arith.muli %k, %stride : i64
      %next_offset = arith.addi %offset, %moved : i64
      scf.yield %next_rest, %next_offset : i64, i64
    }
    %v = func.call @load_int(%data, %wide, %place#1) : (!llvm.ptr<1>, i1, i64) -> i64
    %below = arith.cmpi slt, %v, %low : i64
    %above = arith.cmpi sgt, %v, %high : i64
    %outside = arith.ori %below, %above : i1
    %next = arith.ori %bad, %outside : i1
    scf.yield %next : i1
  }
  func.call @leave_status(%checks, %is_bad, %status) : (!llvm.ptr<1>, i1, i32) -> ()
  llvm.return
}
