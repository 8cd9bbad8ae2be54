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
    One of the `schedules` of a `pit.mainloop`. `pit-schedule-mainloops` makes
    it, and `convert-pit-to-scf` does what it says. It has little in common with a
    `#pit.gpu_schedule`: a core has no stages, no groups of warps and no loaders, but
    vectors, blocks of registers and packed panels. So it is an attribute of its own. A mainloop is computed as
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

def Pit_MultiplyScalar : I32EnumAttrCase<"Scalar", 0, "scalar">;
def Pit_MultiplyMmaSync : I32EnumAttrCase<"MmaSync", 1, "mma_sync">;
def Pit_MultiplyWgmma : I32EnumAttrCase<"Wgmma", 2, "wgmma">;

def Pit_Multiply : I32EnumAttr<"Multiply", "by which instructions tiles are multiplied", [
    Pit_MultiplyScalar, Pit_MultiplyMmaSync, Pit_MultiplyWgmma]> {
  let cppNamespace = "::mlir::pit";
  let genSpecializedAttr = 0;
}

def Pit_LoaderCpAsync : I32EnumAttrCase<"CpAsync", 0, "cp_async">;
def Pit_LoaderTmaTile : I32EnumAttrCase<"TmaTile", 1, "tma_tile">;
def Pit_LoaderTmaRowGather
    : I32EnumAttrCase<"TmaRowGather", 2, "tma_row_gather">;

def Pit_Loader : I32EnumAttr<"Loader",
    "how the rows of an operand get into shared memory", [
    Pit_LoaderCpAsync, Pit_LoaderTmaTile, Pit_LoaderTmaRowGather]> {
  let cppNamespace = "::mlir::pit";
  let genSpecializedAttr = 0;
}

def Pit_LoaderParameter : EnumParameter<Pit_Loader> {
  let defaultValue = "::mlir::pit::Loader::CpAsync";
}

def Pit_GpuScheduleAttr : Pit_Attr<"GpuSchedule", "gpu_schedule"> {
  let summary = "how a GPU runs a mainloop";
  let description = [{
    One of the `schedules` of a `pit.mainloop` in a kernel. `pit-schedule-kernels`
    makes them, and `convert-pit-to-gpu` does what they say. Workers multiply
    the tiles of a step from stages in shared memory, while those of the next steps are on
    their way. All warps load them, or some that do nothing else, the producers. m and n are
    the rows and the columns of the result's tile.

    - `multiply`: by `scalar` code or `mma_sync`, from sm_80 on, or by `wgmma`, of sm_90a.
    - `tile`: the extents along m and n, with padding up to what workers take. They have
      equal parts of it. A warp takes multiples of 16 rows, and of 16 columns, or of 8 by wgmma.
      A thread of scalar code takes chunks of 16 bytes of an operand whose rows run
      along m, or n.
    - `workers`: along m and along n: warps, of scalar code threads. That has multiples
      of 4 and of 8 of them: a warp is 4 x 8 threads. wgmma takes warps along m in
      groups of four.
    - `producers`: further warps of the block, which load in place of the workers: 4, or 0,
      of none. They stand with wgmma alone. A kernel with producers is launched where
      TMA takes its tensors. In its place is one without, by the next schedule.
    - `depth`: elements of a stage along k. A step of the mainloop takes as many stages
      as its tile has of them. 1 stands for a whole step.
    - `stages`: of these in shared memory, at least 2.
    - `swizzles`: of the operands, along m and along n. By so many places the 16-byte
      chunks of neighbouring rows in shared memory are shifted (by exclusive or),
      so that one read finds them in different banks. 1, or 2 where half a warp
      reads pairs of words. Without it both are 1. wgmma reads lines of 128 bytes, or of 64
      or 32, which have a swizzle of their own.
    - `blocks`: of them a multiprocessor is to run at once.
    - `splits`: blocks share the steps of a tile in so many splits at most, where there are
      too few tiles for the machine. Without producers that is split-K: each block writes its sums
      to memory, and the last one adds them up, in the order of the splits. With producers
      it is stream-K.
    - `shared_bytes`: of shared memory that the stages take, and with producers a block.
      This follows from the rest; where it is given, it is checked.

    More is decided of a product that producers load:

    - `a`: the operand along m, the rows of wgmma's result; the other one, B, is
      along n. n is the later dimension of the result, or the earlier one: then
      the result's tile, of few rows, is computed transposed. Lines of B may have
      64 or 32 bytes there.
    - `workers` are two warpgroups: `[8, 1]`, or `[4, 2]` if they share the tile along n.
    - `depth` is 128 bytes, or less where rows of both operands run along m and n.
    - `load_a`, `load_b`: the loaders of the operands. `tma_tile` loads consecutive
      rows. f8 and tf32 that do not run along k are read from a copy that does, by
      either of those by TMA. Rows that ids select are loaded by `tma_row_gather`, one by one, up to
      128 of them, or by `cp_async`, 16 bytes at a time. Elements within
      rows that ids of the steps select are copied by it, too, by words: of B, if
      the tile is transposed.
    - `cluster`: blocks that share what they load of B; they have neighbouring
      tiles along m.
    - `column_blocks`: into how many column blocks along n the result may be cut, that the groups
      of an index add to atomically. All groups add to a column block before the next one,
      so that its sums stay in the L2 cache. How many there are follows from the
      result's extents when the kernel runs: one if they are small, or if more than
      `column_blocks` would be needed.
    - `fill_rows`: rows of the result of which a block lists those that tiles write,
      in a bit each; the kernel fills the others itself. 0 if it does not.
    - `fill_bytes`: that are copied at once to such a row.

    A tile body has a `depth` of 1, no swizzles, and all columns in each warp. Its `shared_bytes`
    count what is loaded once, too, and the barriers between producers and workers. Producers
    load boxes of a tensor by TMA, and other tiles by cp.async.

    Example: four warps that multiply 64 x 64 elements each, 8 x 16 threads of
    scalar code, and the tile body of an attention by producers and two warpgroups.

    ```mlir
    #pit.gpu_schedule<multiply = mma_sync, tile = [128, 128], workers = [2, 2], depth = 32, stages = 4, shared_bytes = 65536>
    #pit.gpu_schedule<multiply = scalar, tile = [64, 128], workers = [8, 16], depth = 16, stages = 4, blocks = 2>
    #pit.gpu_schedule<multiply = wgmma, tile = [128, 64], workers = [8, 1], producers = 4, stages = 3>
    ```

    Example: on sm_90a a dense product of bf16, one whose A has rows that ids select, and one
    of micro-tiles of 32 rows, transposed.

    ```mlir
    #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, cluster = 2>
    #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_row_gather, load_b = tma_tile, fill_rows = 512, fill_bytes = 8192>
    #pit.gpu_schedule<multiply = wgmma, tile = [512, 32], workers = [8, 1], producers = 4, depth = 32, stages = 5, a = 1>
    ```
  }];
  let parameters = (ins
    EnumParameter<Pit_Multiply>:$multiply,
    "DenseI64ArrayAttr":$tile,
    "DenseI64ArrayAttr":$workers,
    DefaultValuedParameter<"int64_t", "0">:$producers,
    DefaultValuedParameter<"int64_t", "1">:$depth,
    "int64_t":$stages,
    OptionalParameter<"DenseI64ArrayAttr">:$swizzles,
    DefaultValuedParameter<"int64_t", "0">:$a,
    Pit_LoaderParameter:$load_a,
    Pit_LoaderParameter:$load_b,
    DefaultValuedParameter<"int64_t", "1">:$blocks,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"int64_t", "1">:$splits,
    DefaultValuedParameter<"int64_t", "1">:$column_blocks,
    DefaultValuedParameter<"int64_t", "0">:$fill_rows,
    DefaultValuedParameter<"int64_t", "0">:$fill_bytes,
    DefaultValuedParameter<"int64_t", "0">:$shared_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Does it say anything of products that producers load?
    bool isOfProduct() const;
  }];
}

#endif // PIT_DIALECT_PIT_IR_PITSCHEDULEATTRIBUTES_TD
