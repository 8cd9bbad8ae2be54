//===- PitGPUStageOps.td - Rings and their stages ----------*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUSTAGEOPS_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUSTAGEOPS_TD

include "pit/Dialect/PitGPU/IR/PitGPUOpBase.td"

class PitGPU_TakeOp<string mnemonic>
    : PitGPU_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins PitGPU_RingType:$ring, I32:$number);
  let results = (outs PitGPU_StageType:$stage);
  let assemblyFormat = [{
    $ring `[` $number `]` attr-dict `:` type($ring) `->` type($stage)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$ring, "::mlir::Value":$number), [{
    auto type = ::llvm::cast<RingType>(ring.getType());
    build($_builder, $_state,
          type.getStage(), ring, number);
  }]>];
  let hasVerifier = 1;
}

def PitGPU_AcquireOp : PitGPU_TakeOp<"acquire"> {
  let summary = "waits until a stage is empty";
  let description = [{
    For use `number` of the ring, from 0 on: its stage is `number mod stages`, and
    the role has it until it commits it.

    In a ring of the block the stage has been empty since the last `wait`, or since the
    ring was made: nothing waits. There the number is that of the stage, below `stages`,
    so that loops carry it without a division.

    Example:

    ```mlir
    %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
    ```

    Constraints:

    - [acquire 1] the stage is one of the ring's type;
    - [acquire 2] a ring of the block is used in no role.
  }];
}

def PitGPU_WaitOp : PitGPU_TakeOp<"wait"> {
  let summary = "waits until a stage is full";
  let description = [{
    For use `number` of the ring. The tiles may be read, also by tensor cores, until
    the stage is released.

    In a ring of the block each thread waits for what it has copied itself, and then for
    all other threads. So each of them sees what all have copied and written, and what was
    released before is empty. The number is that of the stage.

    Example:

    ```mlir
    %s = pit_gpu.wait %ring[%n] : !ring -> !stage
    ```

    Constraints:

    - [wait 1] the stage is one of the ring's type;
    - [wait 2] a ring of the block is used in no role.
  }];
}

def PitGPU_CommitTma : I32EnumAttrCase<"Tma", 0, "tma">;
def PitGPU_CommitCopies : I32EnumAttrCase<"Copies", 1, "copies">;
def PitGPU_CommitWrites : I32EnumAttrCase<"Writes", 2, "writes">;
def PitGPU_CommitProducts : I32EnumAttrCase<"Products", 3, "products">;
def PitGPU_CommitKind : I32EnumAttr<"CommitKind", "what has to be done before a stage is full",
    [PitGPU_CommitTma, PitGPU_CommitCopies, PitGPU_CommitWrites,
     PitGPU_CommitProducts]> {
  let cppNamespace = "::mlir::pit::pitgpu";
}

def PitGPU_CommitOp : PitGPU_Op<"commit", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "gives a stage to those that wait until it is full";
  let description = [{
    - `after tma bytes n`: one thread of the role arrives and announces n bytes,
      which loads bring; in a `leader of warps`, one of each warp. Only what runs knows
      how many rows a warp loads: `announcing` takes a number (i32).
    - `after copies`: each thread arrives when the gathers that it has started are
      done.
    - `after writes`: each thread arrives; its stores to the stage are seen.
    - `after products`: the tensor cores arrive once when the products are done that
      the role has started (tcgen05.commit).

    With `if` this is so where the condition holds, as in the first iterations of a loop
    that commits the stage of an iteration before.

    A stage of the block is full after copies: the `copy`s that a thread has started since
    its last group, if only none, are a group, for which `wait` waits.

    Example:

    ```mlir
    pit_gpu.commit %s after tma bytes 49152 : !stage
    pit_gpu.commit %sums after products : !stage_of_sums
    ```

    Constraints:

    - [commit 1] there is one number of bytes, from 1 to 1048575, if and only if the
      stage is full after TMA;
    - [commit 2] the stage is one that was acquired, or carried;
    - [commit 3] a stage is full after products if and only if it lies in tensor memory;
    - [commit 4] a stage of the block is full after copies, without a condition.
  }];
  let arguments = (ins PitGPU_StageType:$stage, PitGPU_CommitKind:$kind,
                       OptionalAttr<I64Attr>:$bytes, Optional<I32>:$announced,
                       Optional<I1>:$condition);
  let assemblyFormat = [{
    $stage `after` $kind (`bytes` $bytes^)? (`announcing` $announced^)?
    (`if` $condition^)? attr-dict `:` type($stage)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$stage, "CommitKind":$kind,
                                 CArg<"int64_t", "0">:$bytes,
                                 CArg<"::mlir::Value", "{}">:$condition), [{
    build($_builder, $_state, stage, kind,
          bytes ? $_builder.getI64IntegerAttr(bytes) : ::mlir::IntegerAttr(),
          /*announced=*/::mlir::Value(), condition);
  }]>];
  let hasVerifier = 1;
}

def PitGPU_ReleaseOp : PitGPU_Op<"release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "gives a stage back to those that fill it";
  let description = [{
    One thread of each warp of the role arrives. With `by warpgroups` it is one thread
    of each warpgroup: products are over in all warps of a warpgroup at once, and nothing
    else may read the stage. In a `cluster` of blocks that fill each other's stages,
    the barriers of all of them are told. With `if` it does so only where the condition
    holds, as in the first iteration of a loop that releases the stage of the iteration
    before. With `after products` the tensor cores arrive, once for the role, when the
    products into tensor memory are done that it has started.

    Of a stage of the block nobody is told: the next `wait` of all threads shows it.

    Example:

    ```mlir
    pit_gpu.release %before if %isLater : !stage
    pit_gpu.release %s after products : !stage
    ```

    Constraints:

    - [release 1] the stage is one that was waited for, or carried;
    - [release 2] a cluster has 1, 2, 4 or 8 blocks;
    - [release 3] what is released after products lies in shared memory, without a
      condition, for this block and by the role;
    - [release 4] a stage of the block is released as it is, without any of these.
  }];
  let arguments = (ins PitGPU_StageType:$stage, UnitAttr:$afterProducts,
                       UnitAttr:$byWarpgroups,
                       DefaultValuedAttr<I64Attr, "1">:$cluster,
                       Optional<I1>:$condition);
  let assemblyFormat = [{
    $stage (`after` `products` $afterProducts^)?
    (`by` `warpgroups` $byWarpgroups^)? (`cluster` $cluster^)?
    (`if` $condition^)? attr-dict `:` type($stage)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$stage,
                                 CArg<"bool", "false">:$byWarpgroups,
                                 CArg<"int64_t", "1">:$cluster,
                                 CArg<"::mlir::Value", "{}">:$condition), [{
    build($_builder, $_state, stage, /*afterProducts=*/false, byWarpgroups,
          cluster, condition);
  }]>];
  let hasVerifier = 1;
}

def PitGPU_SharedMatrix : AnyTypeOf<[PitGPU_TileType, PitGPU_RowTileType],
                                    "a matrix in shared memory">;
def PitGPU_OfStage : AnyTypeOf<[PitGPU_SharedMatrix, PitGPU_AccumulatorType]>;

def PitGPU_TileOp : PitGPU_Op<"tile", [Pure]> {
  let summary = "a tile of a stage";
  let description = [{
    Example: the second tile of a stage, and sums in tensor memory.

    ```mlir
    %b = pit_gpu.tile %s[1] : !stage -> !pit_gpu.tile<64x256xbf16, swizzle = 128>
    %c = pit_gpu.tile %t[0]
           : !stage_of_sums -> !pit_gpu.accumulator<128x256xf32, tensor_memory>
    ```

    Constraints:

    - [tile 1] the stage has such a tile, of that type.
  }];
  let arguments = (ins PitGPU_StageType:$stage, I64Attr:$number);
  let results = (outs PitGPU_OfStage:$result);
  let assemblyFormat = [{
    $stage `[` $number `]` attr-dict `:` type($stage) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$stage, "int64_t":$number), [{
    auto type = ::llvm::cast<StageType>(stage.getType());
    build($_builder, $_state, type.getTiles()[number], stage, number);
  }]>];
  let hasVerifier = 1;
}

def PitGPU_TileAtOp : PitGPU_Op<"tile_at", [Pure]> {
  let summary = "the tile that lies at an address";
  let description = [{
    The address (i32) is in shared memory, and in no stage: results are staged there.
    It is a multiple of 128, and of 1024 where products or TMA have the tile.

    Example:

    ```mlir
    %t = pit_gpu.tile_at %place : !pit_gpu.tile<64x64xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins I32:$address);
  let results = (outs PitGPU_SharedMatrix:$result);
  let assemblyFormat = "$address attr-dict `:` type($result)";
}

def PitGPU_SubtileOp : PitGPU_Op<"subtile", [Pure]> {
  let summary = "a part of a tile";
  let description = [{
    Rows from `row` on (i32), a multiple of 8, and columns from `col` on, a multiple
    of a line's. The result has the swizzle and the pitch of the tile.

    Example: the rows of a warpgroup.

    ```mlir
    %own = pit_gpu.subtile %a[%row, %zero]
             : !pit_gpu.tile<128x64xbf16, swizzle = 128>
            -> !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 16384>
    ```

    Constraints:

    - [subtile 1] the part is not larger than the tile, and has its elements, its
      swizzle and its pitch;
    - [subtile 2] its columns are those of the tile or a multiple of a line.
  }];
  let arguments = (ins PitGPU_TileType:$source, I32:$row, I32:$col);
  let results = (outs PitGPU_TileType:$result);
  let assemblyFormat = [{
    $source `[` $row `,` $col `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def PitGPU_AddressOp : PitGPU_Op<"address", [Pure, AttrSizedOperandSegments]> {
  let summary = "where a tile, or one of its elements, lies in shared memory";
  let description = [{
    For code of other dialects that writes a tile, or reads it: the address of the
    tile or, where the swizzle has put it, of element (`row`, `col`).

    Example:

    ```mlir
    %first = pit_gpu.address %a : !pit_gpu.tile<128x64xbf16, swizzle = 128>
    %at = pit_gpu.address %a[%row, %col] : !pit_gpu.tile<128x64xbf16, swizzle = 128>
    ```

    Constraints:

    - [address 1] it has a row and a column, or neither; of a `row_tile` neither.
  }];
  let arguments = (ins PitGPU_SharedMatrix:$tile, Optional<I32>:$row,
                       Optional<I32>:$col);
  let results = (outs I32:$result);
  let assemblyFormat =
      "$tile (`[` $row^ `,` $col `]`)? attr-dict `:` type($tile)";
  let builders = [OpBuilder<(ins "::mlir::Value":$tile), [{
    build($_builder, $_state, $_builder.getI32Type(), tile, /*row=*/::mlir::Value(),
          /*col=*/::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

#endif // PIT_DIALECT_PITGPU_IR_PITGPUSTAGEOPS_TD
