//===- PitGPUOps.td - Operations of the pit_gpu dialect ----*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUOPS_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUOPS_TD

include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pit/Dialect/PitGPU/IR/PitGPUTypes.td"

class PitGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<PitGPU_Dialect, mnemonic, traits>;

def PitGPU_Matrix : AnyTypeOf<[PitGPU_TileType, PitGPU_FragmentType]>;

//===----------------------------------------------------------------------===//
// What a kernel has
//===----------------------------------------------------------------------===//

def PitGPU_TensorMapOp : PitGPU_Op<"tensor_map", [Pure]> {
  let summary = "describes a tensor to TMA";
  let description = [{
    The descriptor of a memref. The host makes it when it launches the kernel, and
    passes it as one more parameter.

    Example:

    ```mlir
    %map = pit_gpu.tensor_map %a
             : memref<?x?xbf16> -> !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>
    ```

    Constraints:

    - [tensor_map 1] the memref is an argument of the kernel;
    - [tensor_map 2] box and memref have one rank and one type of elements;
    - [tensor_map 3] elements of a row lie side by side.
  }];
  let arguments = (ins AnyStridedMemRef:$source);
  let results = (outs PitGPU_TensorMapType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def PitGPU_RingOp : PitGPU_Op<"ring", []> {
  let summary = "makes a ring of stages";
  let description = [{
    All threads of the block run it, before their roles begin; then all stages are
    empty. A stage is full after `full` arrivals, and after the bytes that were
    announced; it is empty after `empty` arrivals. `commit` and `release` say how
    often they arrive.

    `offset` is the place of the first stage in the shared memory of the block, and
    `barriers` that of the barriers, both in bytes. `convert-pit-gpu-to-nvvm` gives
    them to rings that have none.

    Example:

    ```mlir
    %ring = pit_gpu.ring full 1 empty 8
              : !pit_gpu.ring<4, [!pit_gpu.tile<128x64xbf16, swizzle = 128>]>
    ```

    Constraints:

    - [ring 1] numbers of arrivals are 1 to 1048575;
    - [ring 2] there are both places, or none; stages start at a multiple of 1024,
      barriers at a multiple of 8, and both below 16777216;
    - [ring 3] it is in no role and in no loop.
  }];
  let arguments = (ins I64Attr:$full, I64Attr:$empty,
                       OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$barriers);
  let results = (outs PitGPU_RingType:$result);
  let assemblyFormat = [{
    `full` $full `empty` $empty (`at` $offset^ `barriers` $barriers)?
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def PitGPU_RolesOp : PitGPU_Op<"roles", [NoTerminator, NoRegionArguments]> {
  let summary = "has groups of warps run code of their own";
  let description = [{
    Each region is run by as many warps as `warps` says: the first one by the block's
    first warps. `registers` is what a thread of the role has while it runs; roles
    that compute take those that roles that copy give back (setmaxnreg). `blocks` of
    the kernel are to run on a multiprocessor at once, one unless it is said.

    The regions use rings of the kernel by one protocol, which the constraints spell
    out. `warpgroup` says which warpgroup of the role a thread belongs to.

    Example: four warps copy, eight multiply.

    ```mlir
    pit_gpu.roles {
      role "producers" warps 4 registers 40 {
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        pit_gpu.load %map[%m, %k] into %s[0] : !map, !stage
        pit_gpu.commit %s after tma bytes 16384 : !stage
      }
      role "consumers" warps 8 registers 232 {
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        pit_gpu.release %s : !stage
      }
    }
    ```

    Constraints:

    - [roles 1] there are a name, a number of warps and one of registers for each
      region, and at least one region;
    - [roles 2] warps are a multiple of 4 up to 32, and registers one of 8 from 24 to
      256;
    - [roles 3] the block has at most 1024 threads, and the registers of all `blocks`
      are at most 65536;
    - [roles 4] ops on stages, copies, stores, products, their waits and maps are in a
      role;
    - [protocol 1] a stage that is acquired is committed on every path, and one that
      is waited for is released: in the same iteration, or carried by a loop in the
      next one or after it;
    - [protocol 2] nothing uses a stage after it has been given on;
    - [protocol 3] the bytes that a commit announces are those of the loads into the
      stage;
    - [protocol 4] the arrivals of a ring are those that its roles make in a use;
    - [protocol 5] a stage is released after a `mma_wait` for all that reads it.
  }];
  let arguments = (ins StrArrayAttr:$names, DenseI64ArrayAttr:$warps,
                       DenseI64ArrayAttr:$registers,
                       DefaultValuedAttr<I64Attr, "1">:$blocks);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The role in which an op is, and its number.
    static std::pair<RolesOp, unsigned> of(::mlir::Operation *op);
    int64_t getThreads();
  }];
}

def PitGPU_WarpgroupOp : PitGPU_Op<"warpgroup", [Pure]> {
  let summary = "the number of a thread's warpgroup in its role";
  let description = [{
    From 0 on. It is the same in all threads of a warp.

    Example: `%g = pit_gpu.warpgroup : i32`

    Constraints:

    - [warpgroup 1] it is in a role.
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def PitGPU_TilesOp : PitGPU_Op<"tiles", [
    AutomaticAllocationScope, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "goes through the tiles that a block has of a space of two dimensions";
  let description = [{
    Blocks take turns: block b of B has tiles b, b + B and so on. Tiles are counted
    in bands of `raster` rows of tiles, column after column, so that blocks that run
    at the same time read the same parts of both operands from the L2 cache. All
    roles that run the op with the same bounds get the same tiles.

    The region's arguments are the coordinates of the tile's first element (index),
    then what it carries, as `scf.for` does.

    Example: tiles of 256 x 128 of a matrix; the number of stages used so far is
    carried.

    ```mlir
    %end = pit_gpu.tiles (%m, %n) to (%rows, %cols) step (256, 128) raster 8
             carry (%used = %zero) -> i32 {
      pit_gpu.yield %used : i32
    }
    ```

    Constraints:

    - [tiles 1] steps and the raster are 1 to 65536;
    - [tiles 2] the region has two coordinates, then an argument of the type of each
      carried value, and yields as many.
  }];
  let arguments = (ins Index:$rows, Index:$cols, Variadic<AnyType>:$inits,
                       DenseI64ArrayAttr:$step, I64Attr:$raster);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def PitGPU_InTurnOp : PitGPU_Op<"in_turn", [
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "has the warpgroups of a role run code one after another";
  let description = [{
    The first warpgroup runs the region, then the next one, and after the last one
    the first one again: each has its second turn when all have had their first. So
    all warpgroups of the role come to ops of this kind equally often. Where the
    region starts products, those of one warpgroup run while others compute with
    theirs (Shah et al., FlashAttention-3, 2024, section 3.1).

    Example:

    ```mlir
    %r = pit_gpu.in_turn -> !sums {
      %s = pit_gpu.mma %a, %b, %acc : !a, !b, !sums
      pit_gpu.yield %s : !sums
    }
    ```

    Constraints:

    - [in_turn 1] it is in a role;
    - [in_turn 2] the region yields values of the types of the results;
    - [in_turn 3] it is in no other one.
  }];
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` type($results)^)? $body attr-dict";
  let hasRegionVerifier = 1;
}

def PitGPU_YieldOp : PitGPU_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["TilesOp", "InTurnOp", "MapOp", "ReduceRowsOp"]>]> {
  let summary = "ends a region, and gives its values";
  let description = [{
    Example: `pit_gpu.yield %x : f32`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ValueRange()); }]>];
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

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
def PitGPU_CommitKind : I32EnumAttr<"CommitKind", "the copies after which a stage is full",
    [PitGPU_CommitTma, PitGPU_CommitCopies, PitGPU_CommitWrites]> {
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

    Example:

    ```mlir
    pit_gpu.commit %s after tma bytes 49152 : !stage
    ```

    Constraints:

    - [commit 1] there is a number of bytes, from 1 to 1048575, if and only if the
      stage is full after TMA;
    - [commit 2] the stage is one that was acquired, or carried.
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
    the iteration before.

    Example:

    ```mlir
    pit_gpu.release %before if %isLater : !stage
    ```

    Constraints:

    - [release 1] the stage is one that was waited for, or carried.
  }];
  let arguments = (ins PitGPU_StageType:$stage, Optional<I1>:$condition);
  let assemblyFormat = "$stage (`if` $condition^)? attr-dict `:` type($stage)";
  let hasVerifier = 1;
}

def PitGPU_TileOp : PitGPU_Op<"tile", [Pure]> {
  let summary = "a tile of a stage";
  let description = [{
    Example: the second tile of a stage.

    ```mlir
    %b = pit_gpu.tile %s[1] : !stage -> !pit_gpu.tile<64x256xbf16, swizzle = 128>
    ```

    Constraints:

    - [tile 1] the stage has such a tile, of that type.
  }];
  let arguments = (ins PitGPU_StageType:$stage, I64Attr:$number);
  let results = (outs PitGPU_TileType:$result);
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

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def PitGPU_LoadOp : PitGPU_Op<"load", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "has TMA copy a tile into a stage";
  let description = [{
    The tile whose first element is at `coords`. What lies outside of the tensor
    becomes 0. One thread of the role issues the boxes; `commit after tma` announces
    their bytes.

    Example:

    ```mlir
    pit_gpu.load %map[%m, %k] into %s[0]
      : !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>, !stage
    ```

    Constraints:

    - [load 1] there is a coordinate for each dimension of the tensor;
    - [load 2] the stage has such a tile;
    - [load 3] tile and boxes have one type of elements and one swizzle; the last
      dimension is that of columns, of which the tile has whole lines; the one with a
      box of several elements, or else the one before the last, is that of rows, of
      which a box has a multiple of 8, and the tile a multiple of the box's.
  }];
  let arguments = (ins PitGPU_TensorMapType:$map, Variadic<Index>:$coords,
                       PitGPU_StageType:$stage, I64Attr:$number);
  let assemblyFormat = [{
    $map `[` $coords `]` `into` $stage `[` $number `]` attr-dict
    `:` type($map) `,` type($stage)
  }];
  let hasVerifier = 1;
}

def PitGPU_GatherOp : PitGPU_Op<"gather", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copies rows that ids select into a stage";
  let description = [{
    Row r of the tile becomes elements `col`, `col + 1`, ... of row
    `ids[first + r]` of the source: SRead of rows. It is 0 where `first + r` is
    outside of the ids, where the id is negative or not below the source's rows, and
    where columns end. All threads of the role copy chunks of 16 bytes by cp.async;
    `commit after copies` follows. So the source's first element, its rows and `col`
    have to lie at multiples of 16 bytes; the caller sees to that.

    Example:

    ```mlir
    pit_gpu.gather %x rows %ids[%first] cols %k into %s[0]
      : memref<?x?xbf16>, memref<?xi32>, !stage
    ```

    Constraints:

    - [gather 1] the source has rank 2 and rows without gaps between their elements,
      the ids have rank 1 and are i32;
    - [gather 2] the stage has such a tile, of the source's elements.
  }];
  let arguments = (ins AnyStridedMemRef:$source, AnyStridedMemRef:$ids,
                       Index:$first, Index:$col,
                       PitGPU_StageType:$stage, I64Attr:$number);
  let assemblyFormat = [{
    $source `rows` $ids `[` $first `]` `cols` $col `into` $stage `[` $number `]`
    attr-dict `:` type($source) `,` type($ids) `,` type($stage)
  }];
  let hasVerifier = 1;
}

def PitGPU_StoreOp : PitGPU_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a fragment to memory";
  let description = [{
    Element (i, j) goes to `dest[row + i, col + j]`, if the memref has that.

    Example:

    ```mlir
    pit_gpu.store %sums to %c[%m, %n] : !pit_gpu.fragment<64x256xf32>, memref<?x?xf32>
    ```

    Constraints:

    - [store 1] the memref has rank 2, the fragment's elements, and rows without gaps
      between them.
  }];
  let arguments = (ins PitGPU_FragmentType:$fragment, AnyStridedMemRef:$dest,
                       Index:$row, Index:$col);
  let assemblyFormat = [{
    $fragment `to` $dest `[` $row `,` $col `]` attr-dict
    `:` type($fragment) `,` type($dest)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensor cores and fragments
//===----------------------------------------------------------------------===//

def PitGPU_MmaOp : PitGPU_Op<"mma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "starts a product on the tensor cores";
  let description = [{
    acc + a * b, by a warpgroup: a is m x k, b is k x n, and acc m x n; with
    `transpose_a` a is k x m, with `transpose_b` b is n x k. It is a group of
    asynchronous instructions, which end in the order in which they were started:
    `mma_wait` waits for them. a may be a fragment, b lies in shared memory.

    Example:

    ```mlir
    %r = pit_gpu.mma %a, %b, %acc
           : !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 16384>,
             !pit_gpu.tile<64x256xbf16, swizzle = 128>,
             !pit_gpu.accumulator<64x256xf32>
    ```

    Constraints:

    - [mma 1] extents agree;
    - [mma 2] factors have one type of elements, f16, bf16 or f32 (as tf32), or are
      both floats of 8 bits; f32 and 8 bits are not transposed in shared memory: a is
      m x k, b is n x k;
    - [mma 3] k is a multiple of 32 bytes;
    - [mma 4] a fragment has 16-bit floats and is not transposed.
  }];
  let arguments = (ins PitGPU_Matrix:$a, PitGPU_TileType:$b,
                       PitGPU_AccumulatorType:$acc,
                       UnitAttr:$transposeA, UnitAttr:$transposeB);
  let results = (outs PitGPU_AccumulatorType:$result);
  let assemblyFormat = [{
    $a (`transpose` $transposeA^)? `,` $b (`transpose` $transposeB^)? `,` $acc
    attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def PitGPU_MmaWaitOp : PitGPU_Op<"mma_wait", [AttrSizedOperandSegments]> {
  let summary = "waits for products";
  let description = [{
    For all that this warpgroup has started but the `pending` that were started last.
    The accumulators of those that are done may be read then, as fragments.

    A product reads the registers of a fragment until it is done: they are `holding`
    until then. `convert-pit-gpu-to-nvvm` adds the fragments of the products for which
    a wait is the first one.

    Example:

    ```mlir
    pit_gpu.mma_wait pending 1
    %sums = pit_gpu.mma_wait pending 0 of %acc
              : !pit_gpu.accumulator<64x256xf32> -> !pit_gpu.fragment<64x256xf32>
              holding %p : !pit_gpu.fragment<64x64xbf16>
    ```

    Constraints:

    - [mma_wait 1] 0 to 7 products may be pending;
    - [mma_wait 2] each fragment has the extents of its accumulator;
    - [mma_wait 3] no product that may be pending has its sums among them.
  }];
  let arguments = (ins I64Attr:$pending, Variadic<PitGPU_AccumulatorType>:$sums,
                       Variadic<PitGPU_FragmentType>:$held);
  let results = (outs Variadic<PitGPU_FragmentType>:$fragments);
  let assemblyFormat = [{
    `pending` $pending (`of` $sums^ `:` type($sums) `->` type($fragments))?
    (`holding` $held^ `:` type($held))? attr-dict
  }];
  let hasVerifier = 1;
}

def PitGPU_AccumulateOp : PitGPU_Op<"accumulate", [Pure]> {
  let summary = "a fragment to which products are added";
  let description = [{
    Takes no instruction.

    Example:

    ```mlir
    %acc = pit_gpu.accumulate %f
             : !pit_gpu.fragment<64x256xf32> -> !pit_gpu.accumulator<64x256xf32>
    ```

    Constraints:

    - [accumulate 1] both have the same extents.
  }];
  let arguments = (ins PitGPU_FragmentType:$fragment);
  let results = (outs PitGPU_AccumulatorType:$result);
  let assemblyFormat = "$fragment attr-dict `:` type($fragment) `->` type($result)";
  let hasVerifier = 1;
}

def PitGPU_SplatOp : PitGPU_Op<"splat", [Pure]> {
  let summary = "a fragment with one value everywhere";
  let description = [{
    Example: `%f = pit_gpu.splat %zero : f32 -> !pit_gpu.fragment<64x256xf32>`

    Constraints:

    - [splat 1] the value has the type of the elements.
  }];
  let arguments = (ins AnyFloat:$value);
  let results = (outs PitGPU_FragmentType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def PitGPU_MapOp : PitGPU_Op<"map", [
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "computes a fragment element by element";
  let description = [{
    The region takes the row and the column of an element (i32, of the fragment), and
    an element of each input; it gives that of the result. An input of one column
    gives the element of the row.

    Example: a softmax's powers.

    ```mlir
    %p = pit_gpu.map (%s, %max : !pit_gpu.fragment<64x128xf32>,
                      !pit_gpu.fragment<64x1xf32>) -> !pit_gpu.fragment<64x128xbf16> {
    ^bb0(%row: i32, %col: i32, %x: f32, %m: f32):
      %d = arith.subf %x, %m : f32
      %e = math.exp2 %d : f32
      %b = arith.truncf %e : f32 to bf16
      pit_gpu.yield %b : bf16
    }
    ```

    Constraints:

    - [map 1] inputs have the rows of the result, and its columns or one;
    - [map 2] the region takes two i32 and an element of each input, and gives one
      element of the result;
    - [map 3] no op of this dialect is in the region.
  }];
  let arguments = (ins Variadic<PitGPU_FragmentType>:$inputs);
  let results = (outs PitGPU_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` ($inputs^ `:` type($inputs))? `)` `->` type($result) attr-dict-with-keyword
    $body
  }];
  let hasRegionVerifier = 1;
}

def PitGPU_ReduceRowsOp : PitGPU_Op<"reduce_rows", [
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "combines the elements of each row";
  let description = [{
    The region combines two elements; the order is not said. All lanes of a row have
    the result.

    Example:

    ```mlir
    %max = pit_gpu.reduce_rows %s : !pit_gpu.fragment<64x128xf32>
             -> !pit_gpu.fragment<64x1xf32> {
    ^bb0(%x: f32, %y: f32):
      %m = arith.maximumf %x, %y : f32
      pit_gpu.yield %m : f32
    }
    ```

    Constraints:

    - [reduce_rows 1] the result has one column, and the rows and elements of the
      input;
    - [reduce_rows 2] the region takes two elements and gives one;
    - [reduce_rows 3] no op of this dialect is in the region.
  }];
  let arguments = (ins PitGPU_FragmentType:$input);
  let results = (outs PitGPU_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $input attr-dict `:` type($input) `->` type($result) $body
  }];
  let hasRegionVerifier = 1;
}

#endif // PIT_DIALECT_PITGPU_IR_PITGPUOPS_TD
