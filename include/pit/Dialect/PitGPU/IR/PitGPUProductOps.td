//===- PitGPUProductOps.td - Products and fragments --------*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUPRODUCTOPS_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUPRODUCTOPS_TD

include "pit/Dialect/PitGPU/IR/PitGPUOpBase.td"

def PitGPU_Matrix : AnyTypeOf<[PitGPU_TileType, PitGPU_FragmentType]>;

def PitGPU_MmaOp : PitGPU_Op<"mma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "starts a product on the tensor cores";
  let description = [{
    acc + a * b: a is m x k, b is k x n, and acc m x n; with `transpose` a is k x m,
    b is n x k. a may be a fragment, b lies in shared memory.

    With sums in registers a warpgroup computes it (wgmma): a group of asynchronous
    instructions, which end in the order in which they were started. `mma_wait` waits
    for them. In a kernel without roles all warpgroups of the block compute one each.

    With sums in tensor memory one thread of the role starts it (tcgen05.mma), and
    `commit after products` and `release after products` say when it is done. If
    the condition `adds if` does not hold, a * b replaces the sums.

    Example:

    ```mlir
    %r = pit_gpu.mma %a, %b, %acc
           : !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 16384>,
             !pit_gpu.tile<64x256xbf16, swizzle = 128>,
             !pit_gpu.accumulator<64x256xf32>
    %t = pit_gpu.mma %whole, %b, %sums adds if %isLater
           : !pit_gpu.tile<128x64xbf16, swizzle = 128>,
             !pit_gpu.tile<64x256xbf16, swizzle = 128>,
             !pit_gpu.accumulator<128x256xf32, tensor_memory>
    ```

    Constraints:

    - [mma 1] extents agree;
    - [mma 2] factors have one type of elements, f16, bf16 or f32 (as tf32), or are
      both floats of 8 bits; f32 and 8 bits are not transposed in shared memory: a is
      m x k, b is n x k;
    - [mma 3] k is a multiple of 32 bytes;
    - [mma 4] a fragment has floats of 8 or 16 bits, is not transposed, and its warps have 16
      rows each;
    - [mma 5] sums in tensor memory have no fragment as a factor, and sums in registers
      no condition.
  }];
  let arguments = (ins PitGPU_Matrix:$a, PitGPU_TileType:$b,
                       PitGPU_AccumulatorType:$acc, Optional<I1>:$adds,
                       UnitAttr:$transposeA, UnitAttr:$transposeB);
  let results = (outs PitGPU_AccumulatorType:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b,
                                 "::mlir::Value":$acc, "bool":$transposeA,
                                 "bool":$transposeB), [{
    build($_builder, $_state, acc.getType(), a, b, acc,
          /*adds=*/::mlir::Value(), transposeA, transposeB);
  }]>];
  let assemblyFormat = [{
    $a (`transpose` $transposeA^)? `,` $b (`transpose` $transposeB^)? `,` $acc
    (`adds` `if` $adds^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def PitGPU_MmaSyncOp : PitGPU_Op<"mma_sync", [
    AttrSizedOperandSegments, NoMemoryEffect]> {
  let summary = "computes a product of a warp on the tensor cores";
  let description = [{
    sums + a * b, by mma.sync: a is m x k, b is k x n, where k is 32 bytes. Products are
    done when the op has run, on any chip from sm_80 on.

    Factors and sums are what a lane has of them (PTX, "mma.sync", fragments): four words
    (i32) for each 16 rows of a, two words for each 8 columns of b, and four sums for each
    16 x 8, the blocks of the first 16 rows first.

    Example: 16 x 16 sums.

    ```mlir
    %r:8 = pit_gpu.mma_sync [%a0, %a1, %a2, %a3] * [%b0, %b1, %b2, %b3]
             + [%s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7] : bf16
    ```

    Constraints:

    - [mma_sync 1] the elements of the factors are f16, bf16, f32 (as tf32) or i8;
    - [mma_sync 2] a has four words for each 16 rows, b has two for each 8 columns, and
      there are four sums for each 16 x 8;
    - [mma_sync 3] sums are f32, or i32 if the elements are i8.
  }];
  let arguments = (ins Variadic<I32>:$a, Variadic<I32>:$b,
                       Variadic<AnyTypeOf<[F32, I32]>>:$sums, TypeAttr:$element);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$a, "::mlir::ValueRange":$b,
                                 "::mlir::ValueRange":$sums, "::mlir::Type":$element), [{
    build($_builder, $_state, sums.getTypes(), a, b, sums, element);
  }]>];
  let assemblyFormat = [{
    ` ` `[` $a `]` `*` `[` $b `]` `+` `[` $sums `]` attr-dict
    `:` custom<SumTypes>($element, ref($sums), type($sums), type($results))
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
    a wait is the first one. It copies sums that a loop takes at one place and gives at
    another one behind their wait.

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
    - [mma_wait 3] no product that may be pending has its sums among them;
    - [mma_wait 4] the sums lie in registers.
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

def PitGPU_ReadOp : PitGPU_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "copies sums from tensor memory into registers";
  let description = [{
    Columns `col`, `col + 1`, ... (i32) of an accumulator, by a warpgroup. The sums are
    there when the op has run.

    Example:

    ```mlir
    %f = pit_gpu.read %sums cols %col
           : !pit_gpu.accumulator<128x256xf32, tensor_memory>
          -> !pit_gpu.fragment<128x64xf32, warp_rows = 32>
    ```

    Constraints:

    - [read 1] the accumulator lies in tensor memory;
    - [read 2] the fragment has its rows, 32 of them in a warp, elements of f32, and 8
      to all of its columns.
  }];
  let arguments = (ins PitGPU_AccumulatorType:$acc, I32:$col);
  let results = (outs PitGPU_FragmentType:$result);
  let assemblyFormat = [{
    $acc `cols` $col attr-dict `:` type($acc) `->` type($result)
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

    - [accumulate 1] both have the same extents, and the sums lie in registers as the
      fragment does.
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
  let arguments = (ins AnyTypeOf<[AnySignlessInteger, Index, AnyFloat]>:$value);
  let results = (outs PitGPU_FragmentType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def PitGPU_MapOp : PitGPU_Op<"map", [
    AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "computes a fragment element by element";
  let description = [{
    The region takes the row and the column of an element (i32, of the fragment), and
    an element of each input; it gives that of the result. An input of one column
    gives the element of the row, one of one row that of the column. In a kernel
    without roles each warpgroup of the block, or each warp, computes a fragment.

    With `rows from`, the fragment is a part of a tile that begins with that row (i32,
    at most 65536), and the region takes the rows of the tile.

    Elements of one row follow each other. A comparison (index) of a sum of rows and
    columns with what is the same for all elements is computed once for each row, and
    that is compared with constants (`PlaceCompares.cpp`): masks of edges and causal
    ones are such comparisons. An input that is spread comes from the lanes that have
    its columns.

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

    - [map 1] inputs have the rows of the result, as many of them in a warp, or one, and
      its columns or one; what has the columns of a spread result is spread;
    - [map 2] the region takes two i32 and an element of each input, and gives one
      element of the result;
    - [map 3] no op of this dialect is in the region;
    - [map 4] no elements are floats of 8 bits.
  }];
  let arguments = (ins Variadic<PitGPU_FragmentType>:$inputs,
                       Optional<I32>:$firstRow);
  let results = (outs PitGPU_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` ($inputs^ `:` type($inputs))? `)` `->` type($result)
    (`rows` `from` $firstRow^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def PitGPU_ReduceRowsOp : PitGPU_Op<"reduce_rows", [
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "combines the elements of each row";
  let description = [{
    The region combines two elements; the order is not said. All lanes of a row have
    the result. A thread goes through its part of a row in two chains, each of every
    other column: one waits for its last op less often than that takes.

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
      input, which is not spread and has no floats of 8 bits;
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

#endif // PIT_DIALECT_PITGPU_IR_PITGPUPRODUCTOPS_TD
