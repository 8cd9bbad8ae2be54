//===- HopperStore.h - Results of wgmma to memory ---------------*- C++ -*-===//
//
// A consumer's warp has 16 rows of each of its wgmmas. Results go to memory 64
// columns at a time: staged through shared memory, so that 128 bytes at once go
// to each row, where the result's elements and strides allow. Sums that
// are added to those of other groups atomically go the same way. If the tile is
// transposed, columns are what is a row in memory.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERSTORE_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERSTORE_H

#include "Codegen/GPU/Common/Epilogue.h"
#include "HopperLowering.h"

namespace mlir::pit::cuda {

/// The chunks of a tensor that a lane has, in the rows that its warp has of one
/// wgmma: of results that are staged through shared memory, or of an extra that
/// comes through it.
struct HopperLines {
  /// The lane's rows, four of its warp's 16, and whether chunks of them are
  /// aligned.
  SmallVector<Value> offsets, exist;
  Value aligned;
  /// The place along dimensions of one element, and whether it exists. The
  /// lines of a transposed tile in memory are columns.
  Value fixed, exists;
};

/// The rows that a thread has in one wgmma.
struct HopperRows {
  explicit HopperRows(MainloopEpilogue epilogue) : epilogue(epilogue) {}

  MainloopEpilogue epilogue;
  Value wgmma;
  HopperLines results, bits; ///< if they are staged
  /// Extras that come by chunks, and their lines.
  SmallVector<std::pair<unsigned, HopperLines>, 2> extras;
};

/// The bits of a chunk of results, by its place in its line.
struct HopperBitmapColumn {
  Value byte;   ///< of the line's bits (index)
  Value exists; ///< has the line such a byte?
  Value mask;   ///< of the chunk's elements that the line has (i32)
};

/// The place of a lane's chunk in lines.
struct HopperChunk {
  Value inLine; ///< its first element in the staged line (i32)
  Value at;     ///< the same in the tile (index)
  Value whole;  ///< may it be stored as a whole?
  HopperBitmapColumn bits;
};

class HopperStore {
public:
  HopperStore(Emitter &e, MainloopOp mainloop, const HopperPlan &plan,
              const HopperThread &self, ChunkMap &chunks);

  /// Loads at the builder's place what depends on the rows of a wgmma (i32)
  /// alone.
  HopperRows locateRows(Value wgmma);
  /// The first values of a thread's elements, of `count` columns from `column`
  /// (i32) on: of the first accumulator, then of the next one.
  SmallVector<Value> initial(HopperRows &rows, Value column, int64_t count);
  /// Has what the results need, for each row and column, come into the L2 cache
  /// from here on.
  void prefetchExtras(HopperRows &rows);
  /// Loads at the builder's place what goes with columns alone, of a wgmma's.
  void loadForColumns(HopperRows &rows);
  /// Stores what the elements of these columns come to. `known`: their number,
  /// if loadForColumns has what goes with them; else -1.
  void store(HopperRows &rows, ArrayRef<Value> elements, Value column,
             int64_t count, int64_t known = -1);
  /// Whether the result has any of the warp's rows in a wgmma (i32); null: it
  /// has.
  Value exists(Value wgmma);
  /// Whether it has any of the warpgroup's; null: it has.
  Value existsAny();
  /// Whether results go to memory by lines, through shared memory.
  bool isStaged() const { return staged; }
  /// The tile's rows, and of `count` columns from `column` (i32) on the
  /// columns, of which a thread has the elements of a wgmma (i32).
  SmallVector<Value> rowsOf(Value wgmma);
  SmallVector<Value> colsOf(Value column, int64_t count);
  /// Among these, the row and the column of a wgmma's accumulator.
  static std::pair<size_t, size_t> placeOf(size_t accumulator) {
    return {accumulator / 2 % 2, accumulator / 4 * 2 + accumulator % 2};
  }
  /// Columns of pieces that are all of the same size.
  int64_t pieceColumns() const;

private:
  Value lane() { return e.rem(self.thread, 32); }
  SmallVector<Value> colsOf(Value column, int64_t count, Value lane);
  Value firstRow(Value wgmma);
  Value firstColumn(Value column);
  /// The result's dimension whose elements are neighbours in memory.
  int lineDim() const { return plan.isTransposed() ? plan.mDim : plan.nDim; }
  int otherDim() const { return plan.isTransposed() ? plan.nDim : plan.mDim; }
  bool canStage();
  /// The lines of a tensor whose dimension `along` is that of lines, and
  /// `across` the other one of the tile.
  HopperLines locateLines(const TileAccess &tile, int along, int across,
                          Value wgmma);
  void stageExtra(HopperRows &rows, size_t number, Value column);
  void takeExtras(HopperRows &rows, Value column);
  /// Columns of results that make up a line.
  int64_t lineColumns() const {
    return kLineBytes / elementBytes(dest.element);
  }
  Value stagingTile(Type element);
  Value stagedPlace(Value tile, Value line, Value element);
  void stage(MainloopEpilogue &epilogue, ArrayRef<Value> values, size_t first,
             int64_t columns, Value tile);
  void storeStaged(HopperRows &rows, ArrayRef<Value> values, Value column);
  void storeTransposed(HopperRows &rows, ArrayRef<Value> values, Value column);
  Value pack(Value low, Value high);
  Value extract(Value chunk, Value i);
  void storeOrAdd(Value value, Value to, int64_t bytes);
  /// The place of chunk `number` from element `first` of lines on (i32).
  HopperChunk chunkAt(HopperRows &rows, Value first, Value number);
  /// Stores a chunk of a staged line, where that exists, from `offset` of the
  /// result on, and its bits; with `inParts`, also one that is not whole, or
  /// not aligned.
  void storeChunk(const HopperChunk &chunk, Value tile, Value line,
                  Value offset, Value bitsOffset, Value exists, bool inParts);
  void storeElements(HopperRows &rows, Value first, int64_t columns);
  /// Are there bits to write?
  bool scans() { return static_cast<bool>(mainloop.getBitmap()); }
  /// The bits of the chunk at `col` of the tile.
  HopperBitmapColumn locateBits(Value col);
  void storeBits(Value chunk, Value rowOffset, Value exists,
                 const HopperBitmapColumn &column);
  Value packBits(Value chunk);
  /// Reads back what the warp stored of these columns, and writes its bits.
  void lookAt(Value wgmma, Value column, int64_t count);

  Emitter &e;
  MainloopOp mainloop;
  const HopperPlan &plan;
  const HopperThread &self;
  ChunkMap &chunks;
  TileAccess dest, bits; ///< bits: of the same dimensions, where there are any
  Value bitsBytes;       ///< of a line (index)
  bool staged;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERSTORE_H
