//===- PitGPUTypes.td - Types of the pit_gpu dialect -------*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUTYPES_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "pit/Dialect/PitGPU/IR/PitGPUDialect.td"

class PitGPU_Type<string name, string typeMnemonic>
    : TypeDef<PitGPU_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def PitGPU_TileType : PitGPU_Type<"Tile", "tile"> {
  let summary = "a matrix in shared memory, as TMA writes it and wgmma reads it";
  let description = [{
    `rows` x `cols` elements. A row lies in *lines* of `swizzle` bytes, 128, 64 or
    32, and each line of a row lies in a block of its own: first the lines of all
    rows' first elements, then those of the next ones. Within eight lines of 128
    bytes, chunks of 16 bytes are exclusive-ored with the number of the line (PTX,
    "Shared memory layout"). `pitch` is the distance of two blocks in bytes; it is
    `rows * swizzle` unless the tile is a part of another one.

    A tile starts at a multiple of 1024 bytes.

    Example: 16 KiB in one block, 32 KiB in four, and the upper half of a tile of
    128 rows.

    ```mlir
    !pit_gpu.tile<128x64xbf16, swizzle = 128>
    !pit_gpu.tile<64x256xbf16, swizzle = 128>
    !pit_gpu.tile<64x128xbf16, swizzle = 128, pitch = 16384>
    ```

    Constraints:

    - [tile_type 1] extents are 1 to 65536; rows are a multiple of 8, and a row is a
      multiple of a line, or a part of one;
    - [tile_type 2] the swizzle is 32, 64 or 128 bytes;
    - [tile_type 3] elements are f16, bf16, f32, f8E4M3FN or f8E5M2;
    - [tile_type 4] the pitch is a multiple of eight lines, at most 16777216 bytes, and
      blocks do not overlap.
  }];
  let parameters = (ins
    "int64_t":$rows,
    "int64_t":$cols,
    "::mlir::Type":$elementType,
    "int64_t":$swizzle,
    "int64_t":$pitch);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "int64_t":$rows, "int64_t":$cols,
                                    "::mlir::Type":$elementType,
                                    "int64_t":$swizzle), [{
      return $_get(elementType.getContext(), rows, cols, elementType, swizzle,
                   rows * swizzle);
    }]>
  ];
  let extraClassDeclaration = [{
    int64_t getElementBytes() const;
    /// Elements of a line.
    int64_t getLineElements() const { return getSwizzle() / getElementBytes(); }
    /// Lines of a row.
    int64_t getBlocks() const;
    /// Bytes in shared memory: whole swizzles.
    int64_t getBytes() const;
    /// Bytes of the elements, which copies bring.
    int64_t getCopiedBytes() const;
  }];
}

def PitGPU_RowTileType : PitGPU_Type<"RowTile", "row_tile"> {
  let summary = "a matrix in shared memory, as threads and ldmatrix read it";
  let description = [{
    `rows` x `cols` elements, row after row. The 16 bytes of a chunk stay together,
    and chunks of a row change places, so that the same chunk of neighbouring rows
    lies in different banks: chunk c of row r lies at place
    c xor (r / `rows_per_line` * `shift` mod `places`). `rows_per_line` is how many
    rows 128 bytes hold, or 1, and `places` the largest power of two up to 8 that
    divides the chunks of a row. `shift` is 1 unless it is said.

    If the tile starts at a multiple of 128 bytes, eight of these take each bank once.

    Example:

    ```mlir
    !pit_gpu.row_tile<128x32xf16>
    !pit_gpu.row_tile<16x132xf32, shift = 2>
    ```

    Constraints:

    - [row_tile_type 1] extents are 1 to 65536, and a row is whole chunks;
    - [row_tile_type 2] elements are integers or floats of at most 8 bytes;
    - [row_tile_type 3] the shift is 1, 2, 4 or 8.
  }];
  let parameters = (ins
    "int64_t":$rows,
    "int64_t":$cols,
    "::mlir::Type":$elementType,
    "int64_t":$shift);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getBytes() const;
  }];
}

def PitGPU_RingType : PitGPU_Type<"Ring", "ring"> {
  let summary = "stages in shared memory that change hands";
  let description = [{
    `stages` places for the same tiles, and two barriers for each: one that the
    stage is full, one that it is empty. Tiles are matrices in shared memory, or
    accumulators in tensor memory. Without tiles there are the barriers alone: what
    changes hands lies elsewhere.

    A ring of the `block` has no barriers of its own: all threads of the block fill
    its stages, and read them (`block_ring`).

    Example: 4 stages of 48 KiB, one stage of something else, two of 256 columns of
    tensor memory, and three of the block.

    ```mlir
    !pit_gpu.ring<4, [!pit_gpu.tile<128x64xbf16, swizzle = 128>,
                      !pit_gpu.tile<64x256xbf16, swizzle = 128>]>
    !pit_gpu.ring<1, []>
    !pit_gpu.ring<2, [!pit_gpu.accumulator<128x256xf32, tensor_memory>]>
    !pit_gpu.ring<3, [!pit_gpu.row_tile<128x32xf16>], block>
    ```

    Constraints:

    - [ring_type 1] there are 1 to 32 stages;
    - [ring_type 2] all tiles are a `tile`, all are a `row_tile`, or all are accumulators
      in tensor memory, which have at most 512 columns in all stages together;
    - [ring_type 3] a ring of the block has at least 2 stages, of matrices.
  }];
  let parameters = (ins
    "int64_t":$stages,
    ArrayRefParameter<"::mlir::Type">:$tiles,
    "bool":$ofBlock);
  let assemblyFormat = "`<` $stages `,` custom<Tiles>($tiles, $ofBlock) `>`";
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilder<(ins "int64_t":$stages, "::llvm::ArrayRef<::mlir::Type>":$tiles), [{
      return $_get($_ctxt, stages, tiles, /*ofBlock=*/false);
    }]>
  ];
  let extraClassDeclaration = [{
    bool isInTensorMemory() const;
    /// The type of its stages.
    ::mlir::Type getStage() const;
    /// From a stage to the next one: bytes, or columns of tensor memory.
    int64_t getStageSize() const;
  }];
}

def PitGPU_StageType : PitGPU_Type<"Stage", "stage"> {
  let summary = "a use of a stage that a role has";
  let description = [{
    The result of `acquire` and `wait`: the right to write the tiles of a stage, or to
    read them, until it is given on by `commit` or `release`.

    Example:

    ```mlir
    !pit_gpu.stage<[!pit_gpu.tile<128x64xbf16, swizzle = 128>]>
    !pit_gpu.stage<[!pit_gpu.row_tile<128x32xf16>], block>
    ```

    Constraints:

    - [stage_type 1] all tiles are a `tile`, all are a `row_tile`, or all are accumulators
      in tensor memory;
    - [stage_type 2] a stage of the block has matrices.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$tiles, "bool":$ofBlock);
  let assemblyFormat = "`<` custom<Tiles>($tiles, $ofBlock) `>`";
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<::mlir::Type>":$tiles), [{
      return $_get($_ctxt, tiles, /*ofBlock=*/false);
    }]>
  ];
  let extraClassDeclaration = [{
    bool isInTensorMemory() const;
    /// A tile in shared memory.
    TileType getTile(unsigned tile) const;
    /// From a stage's start to that of a tile: bytes, or columns of tensor memory.
    int64_t getTileOffset(unsigned tile) const;
    /// From a stage to the next one, likewise.
    int64_t getSize() const { return getTileOffset(getTiles().size()); }
  }];
}

def PitGPU_TensorMapType : PitGPU_Type<"TensorMap", "tensor_map"> {
  let summary = "how TMA reads a tensor: boxes of a size";
  let description = [{
    A descriptor of a tensor in device memory, of the tensor's rank. A copy by TMA
    brings one box of it. Elements outside of the tensor are read as 0.

    Example: boxes of 128 rows of 64 elements of a matrix.

    ```mlir
    !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>
    ```

    Constraints:

    - [tensor_map_type 1] there are 2 to 5 dimensions; a box has 1 to 256 elements along
      each of them;
    - [tensor_map_type 2] a box is as wide as its swizzle, 32, 64 or 128 bytes;
    - [tensor_map_type 3] elements are those that a tile may have.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$box,
    "::mlir::Type":$elementType,
    "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The dimension of rows, of a tile that boxes make up: the one before the
    /// last, or an earlier one along which alone a box has several elements. -1:
    /// there is none.
    int64_t getRowDim() const;
  }];
}

def PitGPU_AccumulatorType : PitGPU_Type<"Accumulator", "accumulator"> {
  let summary = "sums that tensor cores may be working on";
  let description = [{
    `rows` x `cols` sums in f32. They lie in the registers of a warpgroup, as those
    of wgmma do, and nothing reads them before `mma_wait` has made them a fragment.
    In `tensor_memory`, which sm_100a has, they are a tile of a ring: row i lies in
    lane i, and `read` copies columns into registers.

    Example:

    ```mlir
    !pit_gpu.accumulator<64x256xf32>
    !pit_gpu.accumulator<128x256xf32, tensor_memory>
    ```

    Constraints:

    - [accumulator_type 1] rows are a multiple of 64; columns are a multiple of 8 up to
      256;
    - [accumulator_type 2] elements are f32;
    - [accumulator_type 3] in registers, a thread has at most 192 of the sums;
    - [accumulator_type 4] in tensor memory, rows are 128 and columns a multiple of 16.
  }];
  let parameters = (ins
    "int64_t":$rows,
    "int64_t":$cols,
    "::mlir::Type":$elementType,
    "bool":$inTensorMemory);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilder<(ins "int64_t":$rows, "int64_t":$cols,
                     "::mlir::Type":$elementType), [{
      return $_get($_ctxt, rows, cols, elementType,
                   /*inTensorMemory=*/false);
    }]>
  ];
  let extraClassDeclaration = [{
    /// Parts of 64 rows, one below the other.
    int64_t getParts() const { return getRows() / 64; }
    /// Elements that a thread of the warpgroup has of a part.
    int64_t getElementsPerPart() const { return getCols() / 2; }
  }];
}

def PitGPU_FragmentType : PitGPU_Type<"Fragment", "fragment"> {
  let summary = "a matrix whose elements the threads of a warpgroup, or of a warp, have";
  let description = [{
    `rows` x `cols` elements in registers. In each 64 rows, warp w of the warpgroup
    has rows 16 w to 16 w + 15, lane l rows l / 4 and l / 4 + 8 of these, and of each
    eight columns 2 (l mod 4) and the next one (PTX, "wgmma", register fragments).
    With one column, the lanes of a row all have its element. With one row, the lanes
    of a column do; an element alone is that of all lanes.

    One row may be `spread`: of each 64 columns lane l has 2 l and the next one.

    With `warp_rows`, a warp has another number of rows: 16 of them in a first part of
    its registers, then 16 in a second one, and so on. With 32, as tensor memory is
    read, warp w has rows 32 w to 32 w + 31 of each 128. If a warp has all rows, each
    warp has a fragment of its own, as mma.sync leaves sums.

    Floats of 8 bits are first factors of products: of each 16 columns lane l has 4 (l
    mod 4) and the next three.

    Example: sums of a step, the maximum of each of their rows, what is added to each
    row, sums from tensor memory, and those of a warp.

    ```mlir
    !pit_gpu.fragment<64x128xf32>
    !pit_gpu.fragment<64x1xf32>
    !pit_gpu.fragment<1x128xf32, spread>
    !pit_gpu.fragment<128x64xf32, warp_rows = 32>
    !pit_gpu.fragment<32x128xf32, warp_rows = 32>
    ```

    Constraints:

    - [fragment_type 1] rows are 1, those of a warp, or a multiple of 64; columns are 1, or
      a multiple of 8 up to 256;
    - [fragment_type 2] elements are integers, index or floats, and those of 8 bits are
      in a multiple of 32 columns of rows that warps share out;
    - [fragment_type 3] a thread has at most 256 of the elements;
    - [fragment_type 4] a warp has 16 or 32 rows, or all; with 32 of several, rows are a
      multiple of 128;
    - [fragment_type 5] what is spread is one row of 32 columns or more, of elements of
      at most 32 bits.
  }];
  let parameters = (ins
    "int64_t":$rows,
    "int64_t":$cols,
    "::mlir::Type":$elementType,
    "int64_t":$warpRows,
    "bool":$spread);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilder<(ins "int64_t":$rows, "int64_t":$cols,
                     "::mlir::Type":$elementType), [{
      return $_get($_ctxt, rows, cols, elementType,
                   /*warpRows=*/16, /*spread=*/false);
    }]>
  ];
  let extraClassDeclaration = [{
    /// Columns that are spread over the lanes of a warp.
    static constexpr int64_t kSpread = 64;
    /// Rows that a warp has of each 64, as wgmma leaves them.
    static constexpr int64_t kWarpRows = 16;

    bool hasRows() const { return getRows() > 1; }
    bool hasCols() const { return getCols() > 1; }
    /// Do the warps of a warpgroup share out the rows, 16 of each 64?
    bool isOfWarpgroup() const {
      return getWarpRows() == kWarpRows && getRows() % 64 == 0;
    }
    /// Parts of 16 rows of a warp: a thread has two rows of each.
    int64_t getParts() const {
      int64_t warps = getRows() == getWarpRows() ? 1 : 4;
      return hasRows() ? getRows() / (16 * warps) : 1;
    }
    /// Rows and columns that a thread has.
    int64_t getThreadRows() const { return hasRows() ? 2 * getParts() : 1; }
    int64_t getThreadCols() const {
      return !hasCols()    ? 1
             : getSpread() ? 2 * ((getCols() + kSpread - 1) / kSpread)
                           : getCols() / 4;
    }
    /// Elements that a thread has, and those of a part.
    int64_t getElements() const { return getThreadRows() * getThreadCols(); }
    int64_t getElementsPerPart() const { return getElements() / getParts(); }
    /// The number among a thread's elements of that in its row i and its
    /// column j: in each part, two columns of the first row follow each other,
    /// then those of the second row.
    int64_t getNumberOf(int64_t i, int64_t j) const {
      i = hasRows() ? i : 0;
      j = hasCols() ? j : 0;
      int64_t together = hasCols() ? 2 : 1, halves = hasRows() ? 2 : 1;
      return i / 2 * getElementsPerPart() + j / 2 * 2 * halves +
             i % 2 * together + j % 2;
    }
    /// The same extents and threads, of another element.
    FragmentType of(::mlir::Type element) const {
      return get(getContext(), getRows(), getCols(), element, getWarpRows(),
                 getSpread());
    }
  }];
}

def PitGPU_TileSpaceType : PitGPU_Type<"TileSpace", "tile_space"> {
  let summary = "the tiles of a result, and their order";
  let description = [{
    The order that a `tile_space` says. It takes no registers.

    Example: `!pit_gpu.tile_space`
  }];
}

#endif // PIT_DIALECT_PITGPU_IR_PITGPUTYPES_TD
