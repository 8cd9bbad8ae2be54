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
  let hasVerifier = 1;
}

def PitGPU_AcquireOp : PitGPU_TakeOp<"acquire"> {
  let summary = "waits until a stage is empty";
  let description = [{
    For use `number` of the ring, from 0 on: its stage is `number mod stages`, and
    the role has it until it commits it.

    Example:

    ```mlir
    %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
    ```

    Constraints:

    - [acquire 1] the stage has the tiles of the ring.
  }];
}

def PitGPU_WaitOp : PitGPU_TakeOp<"wait"> {
  let summary = "waits until a stage is full";
  let description = [{
    For use `number` of the ring. The tiles may be read, also by tensor cores, until
    the stage is released.

    Example:

    ```mlir
    %s = pit_gpu.wait %ring[%n] : !ring -> !stage
    ```

    Constraints:

    - [wait 1] the stage has the tiles of the ring.
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

def PitGPU_CommitOp : PitGPU_Op<"commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "gives a stage to those that wait until it is full";
  let description = [{
    - `after tma bytes n`: one thread of the role arrives and announces n bytes,
      which loads bring.
    - `after copies`: each thread arrives when the gathers that it has started are
      done.
    - `after writes`: each thread arrives; its stores to the stage are seen.
    - `after products`: the tensor cores arrive once when the products are done that
      the role has started (tcgen05.commit).

    Example:

    ```mlir
    pit_gpu.commit %s after tma bytes 49152 : !stage
    pit_gpu.commit %sums after products : !stage_of_sums
    ```

    Constraints:

    - [commit 1] there is a number of bytes, from 1 to 1048575, if and only if the
      stage is full after TMA;
    - [commit 2] the stage is one that was acquired, or carried;
    - [commit 3] a stage is full after products if and only if it lies in tensor memory.
  }];
  let arguments = (ins PitGPU_StageType:$stage, PitGPU_CommitKind:$kind,
                       OptionalAttr<I64Attr>:$bytes);
  let assemblyFormat = [{
    $stage `after` $kind (`bytes` $bytes^)? attr-dict `:` type($stage)
  }];
  let hasVerifier = 1;
}

def PitGPU_ReleaseOp : PitGPU_Op<"release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "gives a stage back to those that fill it";
  let description = [{
    One thread of each warp of the role arrives. With `if` it does so only where the
    condition holds, as in the first iteration of a loop that releases the stage of
    the iteration before. With `after products` the tensor cores arrive, once for the
    role, when the products into tensor memory are done that it has started.

    Example:

    ```mlir
    pit_gpu.release %before if %isLater : !stage
    pit_gpu.release %s after products : !stage
    ```

    Constraints:

    - [release 1] the stage is one that was waited for, or carried;
    - [release 2] what is released after products lies in shared memory, and without a
      condition.
  }];
  let arguments = (ins PitGPU_StageType:$stage, Optional<I1>:$condition,
                       UnitAttr:$afterProducts);
  let assemblyFormat = [{
    $stage (`after` `products` $afterProducts^)? (`if` $condition^)? attr-dict
    `:` type($stage)
  }];
  let hasVerifier = 1;
}

def PitGPU_OfStage : AnyTypeOf<[PitGPU_TileType, PitGPU_AccumulatorType]>;

def PitGPU_TileOp : PitGPU_Op<"tile", [Pure]> {
  let summary = "a tile of a stage";
  let description = [{
    Example: the second tile of a stage, and sums in tensor memory.

    ```mlir
    %b = pit_gpu.tile %s[1] : !stage -> !pit_gpu.tile<64x256xbf16, swizzle = 128>
    %c = pit_gpu.tile %t[0]
           : !sums -> !pit_gpu.accumulator<128x256xf32, tensor_memory>
    ```

    Constraints:

    - [tile 1] the stage has such a tile, of that type.
  }];
  let arguments = (ins PitGPU_StageType:$stage, I64Attr:$number);
  let results = (outs PitGPU_OfStage:$result);
  let assemblyFormat = [{
    $stage `[` $number `]` attr-dict `:` type($stage) `->` type($result)
  }];
  let hasVerifier = 1;
}

def PitGPU_SubtileOp : PitGPU_Op<"subtile", [Pure]> {
  let summary = "a part of a tile";
  let description = [{
    Rows from `row` on (i32), a multiple of 64, and columns from `col` on, a multiple
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
    - [subtile 2] its rows are those of the tile or a multiple of 64, its columns
      those of the tile or a multiple of a line.
  }];
  let arguments = (ins PitGPU_TileType:$source, I32:$row, I32:$col);
  let results = (outs PitGPU_TileType:$result);
  let assemblyFormat = [{
    $source `[` $row `,` $col `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // PIT_DIALECT_PITGPU_IR_PITGPUSTAGEOPS_TD
