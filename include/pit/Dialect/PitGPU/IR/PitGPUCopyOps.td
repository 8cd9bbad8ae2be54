//===- PitGPUCopyOps.td - Copies ---------------------------*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUCOPYOPS_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUCOPYOPS_TD

include "pit/Dialect/PitGPU/IR/PitGPUOpBase.td"

def PitGPU_LoadOp : PitGPU_Op<"load", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "has TMA copy a tile into a stage";
  let description = [{
    The tile whose first element is at `coords`. Elements outside of the tensor
    become 0. One thread of the role issues the boxes; `commit after tma` announces
    their bytes.

    With `multicast` so many blocks, a cluster, load the same tile: each loads a part of
    it for all of them, of the lines of each row, or of the rows if lines are too few.
    `unless` a condition (i1) holds, the same in all these blocks: each then loads a tile
    of its own.

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
      which a box has a multiple of 8, and the tile a multiple of the box's;
    - [load 4] a multicast is to 2, 4 or 8 blocks, of which each has as many whole boxes;
      what it is not done for belongs to one.
  }];
  let arguments = (ins PitGPU_TensorMapType:$map, Variadic<Index>:$coords,
                       PitGPU_StageType:$stage, I64Attr:$number,
                       DefaultValuedAttr<I64Attr, "1">:$multicast,
                       Optional<I1>:$alone);
  let assemblyFormat = [{
    $map `[` $coords `]` `into` $stage `[` $number `]`
    (`multicast` $multicast^)? (`unless` $alone^)? attr-dict
    `:` type($map) `,` type($stage)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    TileType getTile() { return getStage().getType().getTile(getNumber()); }
    /// Does a block of a multicast load a part of each row, and not of the rows?
    bool splitsLines() { return getTile().getBlocks() % getMulticast() == 0; }
  }];
}

def PitGPU_LoadRowsOp : PitGPU_Op<"load_rows", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "has TMA copy rows of a tile, which lie anyhow";
  let description = [{
    Row `first + i` of the tile becomes the row at `coords` whose coordinate along
    dimension `dim` is number i of `rows` (i32). It is in a `leader of warps`: each
    warp's thread issues its own rows, one box each.

    Example: each warp copies two rows.

    ```mlir
    pit_gpu.load_rows %map[%row, %k] dim 0 rows (%r0, %r1) into %s[0] from %first
      : !pit_gpu.tensor_map<1x64xbf16, swizzle = 128>, !stage
    ```

    Constraints:

    - [load_rows 1] there is a coordinate for each dimension of the tensor, and rows lie
      along one that is not the last;
    - [load_rows 2] the stage has such a tile, of one line a row, with the elements and
      the swizzle of the boxes, which are of one row;
    - [load_rows 3] it is in a `leader of warps`.
  }];
  let arguments = (ins PitGPU_TensorMapType:$map, Variadic<Index>:$coords,
                       I64Attr:$dim, Variadic<I32>:$rows,
                       PitGPU_StageType:$stage, I64Attr:$number, I32:$first);
  let assemblyFormat = [{
    $map `[` $coords `]` `dim` $dim `rows` `(` $rows `)` `into` $stage `[` $number `]`
    `from` $first attr-dict `:` type($map) `,` type($stage)
  }];
  let hasVerifier = 1;
}

def PitGPU_AddOp : PitGPU_Op<"add", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "has TMA add a tile of a stage to a tensor";
  let description = [{
    The elements of the tensor from `coords` on become sums of themselves and of the
    tile's; those outside of the tensor are left out. Other blocks may add to the same
    elements, in an order that is not said: so floats may be rounded otherwise from run
    to run. Each warp of the role adds boxes of its own, and goes on when they have been
    read: a `release` may follow. The sums are there when the kernel has ended.

    Example:

    ```mlir
    pit_gpu.add %s[0] to %map[%m, %k] : !stage, !map
    ```

    Constraints:

    - [add 1] there is a coordinate for each dimension of the tensor;
    - [add 2] the stage has such a tile;
    - [add 3] tile and boxes are as [load 3] says, of floats;
    - [add 4] it is in a role, and in no `leader`.
  }];
  let arguments = (ins PitGPU_StageType:$stage, I64Attr:$number,
                       PitGPU_TensorMapType:$map, Variadic<Index>:$coords);
  let assemblyFormat = [{
    $stage `[` $number `]` `to` $map `[` $coords `]` attr-dict
    `:` type($stage) `,` type($map)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    TileType getTile() { return getStage().getType().getTile(getNumber()); }
  }];
}

def PitGPU_AddRowsOp : PitGPU_Op<"add_rows", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "has TMA add the rows of each warp to a tensor";
  let description = [{
    What `add` does, of a tile that a warpgroup has written by `local_store`: each of its
    warps adds the 16 rows that are its own, and goes on at once. It writes them again
    after `add_wait`, which stands behind the last one, too. So warps wait for no others.

    Example:

    ```mlir
    pit_gpu.add_wait
    pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x64xf32>, !pit_gpu.tile<64x64xf32, swizzle = 128>
    pit_gpu.add_rows %t to %map[%m, %k]
      : !pit_gpu.tile<64x64xf32, swizzle = 128>, !pit_gpu.tensor_map<16x32xf32, swizzle = 128>
    ```

    Constraints:

    - [add_rows 1] there is a coordinate for each dimension of the tensor;
    - [add_rows 2] tile and boxes are as [load 3] says, of floats; a tile has 64 rows, and
      a box 16;
    - [add_rows 3] it is in a role, and in no `leader`.
  }];
  let arguments = (ins PitGPU_TileType:$tile, PitGPU_TensorMapType:$map,
                       Variadic<Index>:$coords);
  let assemblyFormat = [{
    $tile `to` $map `[` $coords `]` attr-dict `:` type($tile) `,` type($map)
  }];
  let hasVerifier = 1;
}

def PitGPU_AddWaitOp : PitGPU_Op<"add_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until a warp's rows have been read";
  let description = [{
    Shared memory that the warp's `add_rows` read may be written again. The sums are there
    when the kernel has ended.

    Example: `pit_gpu.add_wait`
  }];
  let assemblyFormat = "attr-dict";
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

def PitGPU_CopyOp : PitGPU_Op<"copy", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "has each thread copy a piece of a row into shared memory";
  let description = [{
    The `bytes` from `from` on, a pointer into global memory, become those of a tile
    from element (`row`, `col`) on: of a stage's tile, or of another one. Into an
    address (i32) they come as they are, as ids and scales do. `if` a condition does
    not hold, they become 0, and nothing is read. Where a row ends within a piece, only
    its bytes before a `limit` (i32) are read, and the others become 0. Each thread has a piece of its own, by
    cp.async; `commit after copies` of a stage follows, or `copy_group`. `plus` are
    further rows and columns, which cost no instruction where a thread has several
    pieces.

    With its pieces in hand before the stage is empty, a role computes addresses while
    it waits. `gather` finds the addresses by itself.

    Example: two pieces of 16 bytes, 16 rows apart, a word, and the end of a row.

    ```mlir
    pit_gpu.copy %p if %there into %s[0] at [%row, %col] : !llvm.ptr<1>, !stage
    pit_gpu.copy %q into %s[0] at [%row, %col] plus [16, 0] : !llvm.ptr<1>, !stage
    pit_gpu.copy %p into %place bytes 4 : !llvm.ptr<1>, i32
    pit_gpu.copy %p limit %left into %place : !llvm.ptr<1>, i32
    ```

    Constraints:

    - [copy 1] it copies 4, 8 or 16 bytes from a pointer into global memory;
    - [copy 2] a stage has such a tile, in shared memory, and nothing else has a number;
    - [copy 3] further rows are a multiple of 8, and further columns one of a line's,
      so that a piece lies in its line as the first one does;
    - [copy 4] into a tile there is a row and a column, and at an address none;
    - [copy 5] it has a condition or a limit, not both.
  }];
  let arguments = (ins AnyType:$from, Optional<I1>:$exists, Optional<I32>:$limit,
                       AnyTypeOf<[PitGPU_StageType, PitGPU_TileType, I32]>:$into,
                       OptionalAttr<I64Attr>:$number, Optional<I32>:$row,
                       Optional<I32>:$col, OptionalAttr<DenseI64ArrayAttr>:$plus,
                       DefaultValuedAttr<I64Attr, "16">:$bytes);
  let assemblyFormat = [{
    $from (`if` $exists^)? (`limit` $limit^)? `into` $into (`[` $number^ `]`)?
    (`at` ` ` `[` $row^ `,` $col `]`)? (`plus` $plus^)? (`bytes` $bytes^)? attr-dict
    `:` type($from) `,` type($into)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$from, "::mlir::Value":$exists,
                   "::mlir::Value":$tile, "::mlir::Value":$row,
                   "::mlir::Value":$col), [{
      build($_builder, $_state, from, exists, /*limit=*/::mlir::Value(), tile,
            ::mlir::IntegerAttr(), row, col, ::mlir::DenseI64ArrayAttr(),
            $_builder.getI64IntegerAttr(16));
    }]>,
    OpBuilder<(ins "::mlir::Value":$from, "::mlir::Value":$exists,
                   "::mlir::Value":$address, "int64_t":$bytes,
                   CArg<"::mlir::Value", "{}">:$limit), [{
      build($_builder, $_state, from, exists, limit, address, ::mlir::IntegerAttr(),
            /*row=*/::mlir::Value(), /*col=*/::mlir::Value(),
            ::mlir::DenseI64ArrayAttr(), $_builder.getI64IntegerAttr(bytes));
    }]>
  ];
  let extraClassDeclaration = [{
    /// The tile into which it copies; null: it is an address.
    TileType getTile();
  }];
  let hasVerifier = 1;
}

def PitGPU_CopyGroupOp : PitGPU_Op<"copy_group", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "ends a group of copies that a thread waits for itself";
  let description = [{
    The `copy`s that a thread has started since its last group, if only none, are one
    group. A stage needs none: `commit after copies` is told by the copies.

    Example: `pit_gpu.copy_group`
  }];
  let assemblyFormat = "attr-dict";
}

def PitGPU_CopyWaitOp : PitGPU_Op<"copy_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for the groups of a thread's copies";
  let description = [{
    All but the `pending` last groups are there, for the thread that copied them. A
    `sync` shows them to others.

    Example: `pit_gpu.copy_wait pending 2`

    Constraints:

    - [copy_wait 1] 0 to 64 groups are pending.
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "`pending` $pending attr-dict";
  let hasVerifier = 1;
}

def PitGPU_LocalStoreOp : PitGPU_Op<"local_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a fragment into a tile in shared memory";
  let description = [{
    Element (i, j) becomes element (i, `cols` + j) of the tile or, `transposed`,
    (`cols` + j, i). Elements of 16 bits go by stmatrix. A `sync` shows them to other
    threads; each warp writes the rows that it has.

    So results go to memory by lines: a warp stages what its lanes have of some rows,
    and then a lane stores 16 bytes of one row.

    Example: the second 16 of 64 columns.

    ```mlir
    pit_gpu.local_store %f into %t cols 16
      : !pit_gpu.fragment<64x16xbf16>, !pit_gpu.tile<64x64xbf16, swizzle = 128>
    pit_gpu.local_store %f transposed into %u
      : !pit_gpu.fragment<64x16xbf16>, !pit_gpu.tile<16x64xbf16, swizzle = 32>
    ```

    Constraints:

    - [local_store 1] the tile has the fragment's elements; a fragment has 16 rows in a
      warp and more than one column; a transposed one has elements of 16 bits;
    - [local_store 2] the tile has the rows of the fragment, and its columns from number
      `cols` on, a multiple of 16; transposed, the other way round.
  }];
  let arguments = (ins PitGPU_FragmentType:$fragment, PitGPU_TileType:$tile,
                       DefaultValuedAttr<I64Attr, "0">:$cols, UnitAttr:$transposed);
  let assemblyFormat = [{
    $fragment (`transposed` $transposed^)? `into` $tile (`cols` $cols^)? attr-dict
    `:` type($fragment) `,` type($tile)
  }];
  let hasVerifier = 1;
}

def PitGPU_LocalLoadOp : PitGPU_Op<"local_load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a fragment from a tile in shared memory";
  let description = [{
    Element (i, j) of the tile becomes that of the fragment, by ldmatrix. Each warp reads
    the rows that it has.

    Example:

    ```mlir
    %f = pit_gpu.local_load %t
           : !pit_gpu.tile<64x64xbf16, swizzle = 128> -> !pit_gpu.fragment<64x64xbf16>
    ```

    Constraints:

    - [local_load 1] both have the same extents and elements, of 16 bits; a fragment has
      16 rows in a warp and a multiple of 16 columns.
  }];
  let arguments = (ins PitGPU_TileType:$tile);
  let results = (outs PitGPU_FragmentType:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def PitGPU_LoadMatricesOp : PitGPU_Op<"load_matrices", [MemoryEffects<[MemRead]>]> {
  let summary = "reads four matrices of 8 rows of 16 bytes from shared memory";
  let description = [{
    By ldmatrix, in a warp. Lane l gives the address (i32) of row l mod 8 of matrix l / 8.
    It gets a word of each matrix: word l mod 4 of row l / 4 or, `transposed`, elements
    2 (l mod 4) and the next one of column l / 4, of elements of 16 bits.

    Example: `%words:4 = pit_gpu.load_matrices %row transposed`
  }];
  let arguments = (ins I32:$row, UnitAttr:$transposed);
  let results = (outs I32:$w0, I32:$w1, I32:$w2, I32:$w3);
  let assemblyFormat = "$row (`transposed` $transposed^)? attr-dict";
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

#endif // PIT_DIALECT_PITGPU_IR_PITGPUCOPYOPS_TD
