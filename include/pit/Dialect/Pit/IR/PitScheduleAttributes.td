//===- PitScheduleAttributes.td - How mainloops are run ----*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITSCHEDULEATTRIBUTES_TD
#define PIT_DIALECT_PIT_IR_PITSCHEDULEATTRIBUTES_TD

include "pit/Dialect/Pit/IR/PitAttributes.td"

//===----------------------------------------------------------------------===//
// CPUs
//===----------------------------------------------------------------------===//

def Pit_DotScheduleAttr : Pit_Attr<"DotSchedule", "dot_schedule"> {
  let summary = "how a CPU multiplies narrow elements whose sums are wide";
  let description = [{
    Part of a `#pit.cpu_schedule`. Instructions take several neighbours along k at
    once. Both operands are packed so that these lie together, with zeros from
    where k ends to the end of a step.

    - `group`: neighbours along k.
    - `step`: elements along k of a row of a tile register.
    - `tile_rows`: rows of a tile register of A and of sums.
    - `tiles`: such registers in a register block, along m.
    - `element`: the type of packed operands.
    - `amx`: in tile registers; else in vectors.
    - `zext_a`, `zext_b`: the operand's integers are unsigned.

    Example: `#pit.dot_schedule<group = 2, step = 32, tile_rows = 16, tiles = 2,
    element = bf16, amx = true>`.
  }];
  let parameters = (ins
    "int64_t":$group,
    "int64_t":$step,
    "int64_t":$tile_rows,
    "int64_t":$tiles,
    "Type":$element,
    OptionalParameter<"BoolAttr">:$amx,
    OptionalParameter<"BoolAttr">:$zext_a,
    OptionalParameter<"BoolAttr">:$zext_b);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Pit_CpuScheduleAttr : Pit_Attr<"CpuSchedule", "cpu_schedule"> {
  let summary = "how a CPU runs a mainloop";
  let description = [{
    The `schedule` of a `pit.mainloop`. `pit-schedule-mainloops` makes
    it, and `convert-pit-to-scf` does what it says. A mainloop is computed as
    C[m, n] += A[m, k] * B[k, n] is by a BLAS: vectors run along n, a block of rows
    and vectors stays in registers while k is run through, elements of A are
    broadcast. Dimensions are numbered as in the mainloop's `tile`.

    - `a`: the operand that is read by rows; the other one, B, is read by lanes.
    - `m`: the rows of a register block, if there are several.
    - `n`: the dimension along the lanes, and `lane`: the dimension of B that it is.
    - `batch`: the other dimensions of the accumulator.
    - `k`: those of sums; the innermost loop is last.
    - `lanes`: elements of a vector; 1 if elements are computed one by one.
    - `rows`, `vectors`: of a register block.
    - `pack_a`: elements of A are copied before they are used: those of a row do
      not follow each other, or have to be extended.
    - `pack_b`: lanes run along windows of B, which are copied, too.
    - `transpose_b`, `transpose_c`: lanes are no neighbours in B, or in C.
    - `dots`: how products of narrow elements are computed by instructions for
      them.

    A schedule that is there already is obeyed. One that is written by hand chooses
    `n`, `lanes` (1 or those of a vector), `rows`, `vectors`, and whether there are
    `dots`. All else follows from these and the mainloop: `convert-pit-to-scf`
    refuses another value, and says which one is right.

    Example: a block of 6 rows by 4 vectors of 16 f32.

    ```mlir
    #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>
    ```
  }];
  let parameters = (ins
    "int64_t":$a,
    DefaultValuedParameter<"int64_t", "-1">:$m,
    "int64_t":$n,
    "int64_t":$lane,
    OptionalParameter<"DenseI64ArrayAttr">:$batch,
    OptionalParameter<"DenseI64ArrayAttr">:$k,
    "int64_t":$lanes,
    "int64_t":$rows,
    "int64_t":$vectors,
    OptionalParameter<"BoolAttr">:$pack_a,
    OptionalParameter<"BoolAttr">:$pack_b,
    OptionalParameter<"BoolAttr">:$transpose_b,
    OptionalParameter<"BoolAttr">:$transpose_c,
    OptionalParameter<"DotScheduleAttr">:$dots);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The dimensions that it has splits for, in no order.
    SmallVector<int64_t> getDims() const;
  }];
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

def Pit_PortableScheduleAttr : Pit_Attr<"PortableSchedule", "portable_schedule"> {
  let summary = "how every GPU from sm_80 on runs a mainloop";
  let description = [{
    The `schedule` of a `pit.mainloop` in a kernel: the portable
    schedule. `pit-schedule-kernels` makes it, and `convert-pit-to-gpu` does what it
    says. All threads of a block copy the tiles of the next steps into stages in
    shared memory (cp.async), and multiply them from there; or some warps copy and
    the others multiply. m and n are the rows and the columns of the result's tile.

    - `tensor_cores`: warps multiply by mma.sync; else threads by scalar code.
    - `workers`: those warps, or threads, along m and along n. Scalar code has
      multiples of 4 and of 8: a warp is 4 x 8 threads.
    - `producers`: of a tile body that wgmma multiplies, further warps of the block,
      which load in place of the workers. 4, or 0: there are none.
    - `per_worker`: elements of the result that each computes, along m and along n.
      Together they cover the tile, and padding where it ends before. Warps take
      multiples of 16; threads take chunks of 16 bytes of an operand whose rows
      run along m, or n.
    - `depth`: elements of a stage along k. A step of the mainloop takes as many
      stages as its tile has of them.
    - `stages`: of these in shared memory, at least 2.
    - `swizzles`: of the operands, along m and along n. By so many places the 16-byte
      chunks of neighbouring rows in shared memory are shifted (by exclusive or),
      so that one read finds them in different banks. 1, or 2 where half a warp
      reads pairs of words.
    - `blocks`: of them a multiprocessor is to run at once.
    - `splits`: blocks share the steps of a tile in so many splits at most, where there are
      too few tiles for the machine (split-K). Each writes its sums to memory, and the
      last one adds them up, in the order of the splits.
    - `wgmma`: of a tile body on sm_90a: warps multiply in groups of four, by wgmma.
    - `shared_bytes`: of shared memory that the stages take. This follows from the
      rest; where it is given, it is checked.

    The schedule of a tile body has a `depth` and swizzles of 1. Its `shared_bytes` count what is loaded
    once, too, and the barriers between producers and workers. A warp has all columns of
    its rows.

    Example: four warps that multiply 64 x 64 elements each, and 8 x 16 threads of
    scalar code.

    ```mlir
    #pit.portable_schedule<tensor_cores = true, workers = [2, 2], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 1], shared_bytes = 65536>
    #pit.portable_schedule<workers = [8, 16], per_worker = [8, 8], depth = 16, stages = 4, swizzles = [1, 1], blocks = 2>
    ```
  }];
  let parameters = (ins
    OptionalParameter<"BoolAttr">:$tensor_cores,
    "DenseI64ArrayAttr":$workers,
    "DenseI64ArrayAttr":$per_worker,
    "int64_t":$depth,
    "int64_t":$stages,
    "DenseI64ArrayAttr":$swizzles,
    DefaultValuedParameter<"int64_t", "1">:$blocks,
    DefaultValuedParameter<"int64_t", "1">:$splits,
    OptionalParameter<"BoolAttr">:$wgmma,
    DefaultValuedParameter<"int64_t", "0">:$producers,
    DefaultValuedParameter<"int64_t", "0">:$shared_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Pit_LoaderTmaTile : I32EnumAttrCase<"TmaTile", 0, "tma_tile">;
def Pit_LoaderTmaRowGather
    : I32EnumAttrCase<"TmaRowGather", 1, "tma_row_gather">;
def Pit_LoaderCpAsyncGather
    : I32EnumAttrCase<"CpAsyncGather", 2, "cp_async_gather">;

def Pit_Loader : I32EnumAttr<"Loader",
    "how the rows of an operand get into shared memory", [
    Pit_LoaderTmaTile, Pit_LoaderTmaRowGather, Pit_LoaderCpAsyncGather]> {
  let cppNamespace = "::mlir::pit";
  let genSpecializedAttr = 0;
}

def Pit_HopperScheduleAttr : Pit_Attr<"HopperSchedule", "hopper_schedule"> {
  let summary = "how sm_90a runs a mainloop";
  let description = [{
    The `hopper_schedule` of a `pit.mainloop`. A kernel whose mainloop
    has it becomes two: one by the mainloop's `schedule`, and this one, which is
    launched in its place where it can be. `pit-schedule-kernels` makes it, and
    `convert-pit-to-gpu` does what it says. One warpgroup loads tiles into stages in
    shared memory, two multiply them (wgmma). Stages swizzle lines of 128 bytes.

    - `a`: the operand along m, the rows of wgmma's result; the other one, B, is
      along n. n is the later dimension of the result, or the earlier one: then
      the result's tile, of few rows, is computed transposed. Lines of B may have
      64 or 32 bytes there.
    - `m`, `n`: extents of the result's tile, with padding up to whole wgmmas.
    - `split_n`: the two consumers share the tile along n; else along m, whose
      extent then is a multiple of 128.
    - `depth`: elements of a stage along k: 128 bytes, or less where rows of both
      operands run along m and n. A step of the mainloop takes as many stages as its
      tile has of them.
    - `stages`: in shared memory, at least 2.
    - `load_a`, `load_b`: the loaders of the operands. `tma_tile` loads consecutive
      rows. f8 and tf32 that do not run along k are read from a copy that does, by
      either of the first two. Rows that ids select are loaded by `tma_row_gather`, one by one, up to
      128 of them, or by `cp_async_gather`, 16 bytes at a time. Elements within
      rows that ids of the steps select are copied by it, too, by words: of B, if
      the tile is transposed.
    - `cluster`: blocks that share what they load of B; they have neighbouring
      tiles along m.
    - `splits`: blocks share a tile along k in so many splits at most (stream-K work).
    - `column_blocks`: into how many column blocks along n the result may be cut, that the groups
      of an index add to atomically. All groups add to a column block before the next one,
      so that its sums stay in the L2 cache. How many there are follows from the
      result's extents when the kernel runs: one if they are small, or if more than
      `column_blocks` would be needed.
    - `fill_rows`: rows of the result of which a block lists those that tiles write,
      in a bit each; the kernel fills the others itself. 0 if it does not.
    - `fill_bytes`: that are copied at once to such a row.
    - `shared_bytes`: of shared memory that a block takes. This follows from the
      rest; where it is given, it is checked.

    Example: a dense product of bf16, one whose A has rows that ids select, and one
    of micro-tiles of 32 rows, transposed.

    ```mlir
    #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, cluster = 2>
    #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_row_gather, load_b = tma_tile, fill_rows = 512, fill_bytes = 8192>
    #pit.hopper_schedule<a = 1, m = 512, n = 32, depth = 32, stages = 5, load_a = cp_async_gather, load_b = cp_async_gather>
    ```
  }];
  let parameters = (ins
    "int64_t":$a,
    "int64_t":$m,
    "int64_t":$n,
    OptionalParameter<"BoolAttr">:$split_n,
    "int64_t":$depth,
    "int64_t":$stages,
    EnumParameter<Pit_Loader>:$load_a,
    EnumParameter<Pit_Loader>:$load_b,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"int64_t", "1">:$splits,
    DefaultValuedParameter<"int64_t", "1">:$column_blocks,
    DefaultValuedParameter<"int64_t", "0">:$fill_rows,
    DefaultValuedParameter<"int64_t", "0">:$fill_bytes,
    DefaultValuedParameter<"int64_t", "0">:$shared_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // PIT_DIALECT_PIT_IR_PITSCHEDULEATTRIBUTES_TD
