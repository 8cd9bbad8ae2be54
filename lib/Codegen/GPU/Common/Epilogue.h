//===- Epilogue.h - From accumulators to the result -------------*- C++ -*-===//
//
// The use of the accumulators that a thread holds in a mainloop: their first
// values, the element-wise code after the last step, and the store.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_EPILOGUE_H
#define PIT_LIB_CODEGEN_GPU_COMMON_EPILOGUE_H

#include "TileAccess.h"

namespace mlir::pit::cuda {

/// The places of a thread's elements of an accumulator in the tile: element
/// i * columns + j is at row rows[i] and column cols[j] (i32). If there are
/// several accumulators, the elements of one follow those of the one before.
struct Fragment {
  SmallVector<Value> rows, cols;
};

/// The accumulators of a thread.
struct AccumulatorTile {
  int mDim = -1, nDim = -1; ///< dimensions of the accumulator's tile
  int64_t neighbours = 1;   ///< so many columns of a thread follow each other
  /// The lane, if four of them have two neighbours each of every eight columns,
  /// as mma.sync and wgmma leave sums.
  Value laneOfQuads = {};
};

/// Adds 2 or 4 neighbours of f32 to those at `to` in global memory, each of
/// them atomically (GpuTarget::vectorAtomics).
void addVector(Emitter &e, ArrayRef<Value> values, Value to);

class MainloopEpilogue {
public:
  /// `vectorAtomics`: several floats can be added at once (GpuTarget).
  MainloopEpilogue(Emitter &e, MainloopOp mainloop, AccumulatorTile shape,
                   bool vectorAtomics, const ChunkMap &chunks)
      : e(e), mainloop(mainloop), shape(shape), vectorAtomics(vectorAtomics),
        chunks(chunks), place{mainloop.getDest(), mainloop.getSubscripts(),
                              mainloop.getAccumulatorShape()},
        combine(mainloop.getCombine()), atomic(mainloop.getAtomic()) {}

  /// Stores the elements of a further result, or of what a step adds, at once:
  /// `element` gives (i, j) of the thread's, in these rows and columns of the
  /// tile.
  static void store(Emitter &e, StoreOp store, ValueRange subscripts,
                    AccumulatorTile shape, const Fragment &fragment,
                    bool vectorAtomics, const ChunkMap &chunks,
                    function_ref<Value(size_t, size_t)> element);

  /// Says which rows a thread has, and loads at the builder's place what
  /// depends on them alone. `withDest`: for the store, too.
  void setRows(ArrayRef<Value> rows, bool withDest);
  /// Loads at the builder's place what the results of all of a thread's columns
  /// need and rows do not change, as a bias: two neighbours of 16 bits at once,
  /// as far as there are registers for them. Pairs of columns follow each
  /// other.
  void loadForColumns(ArrayRef<Value> cols);
  /// Has lanes that have neighbours of each eight columns exchange what they
  /// store (AccumulatorTile::laneOfQuads).
  void exchangeInQuads(Value lane) { shape.laneOfQuads = lane; }
  /// Says which columns. Accumulators are those of all rows and columns. They
  /// are those from number `first` on of what loadForColumns was given; -1:
  /// others.
  void setCols(ArrayRef<Value> cols, int64_t first = -1);
  /// The first values of the thread's elements of all accumulators.
  SmallVector<Value> initial();
  /// Loads at the builder's place what the results of these rows and columns
  /// need, all at once: loads that wait for one another take longer than the
  /// store.
  void loadForResults() {
    loadExtras(mainloop.getEpilogue(), mainloop.getNumAccumulators());
  }
  /// The result for element (i, j) of the thread's, before it is converted.
  Value result(ArrayRef<Value> elements, size_t i, size_t j);
  /// Computes the results and stores them element by element, or in small
  /// groups of neighbours.
  void finish(ArrayRef<Value> elements);

  /// Numbers of the extras that the results need, if an extra has elements of
  /// 16 bits for each row and column, neighbours along columns: chunks of
  /// several can be loaded.
  SmallVector<unsigned> extrasByChunks();
  /// The tile of an extra.
  const TileAccess &tileOfExtra(unsigned extra) { return extras[extra].tile; }
  /// The dimension of its tile that runs along one of the accumulator's.
  unsigned dimOfExtra(unsigned extra, int dim) {
    return llvm::find(extras[extra].dims, dim) - extras[extra].dims.begin();
  }
  /// Says what an extra has for the rows and columns of the last setCols(): two
  /// neighbours in an integer, those of elements i * columns + j and the next.
  void setExtra(unsigned extra, ArrayRef<Value> pairs) {
    extras[extra].ofPiece.assign(pairs.begin(), pairs.end());
  }

private:
  MainloopEpilogue(Emitter &e, StoreOp store, ValueRange subscripts,
                   AccumulatorTile shape, bool vectorAtomics,
                   const ChunkMap &chunks);

  /// The places of elements of a tensor, for each of a thread's rows or
  /// columns.
  struct Places {
    SmallVector<Value> offsets; ///< elements
    SmallVector<Value> exist;   ///< null: always
  };
  /// A tensor whose elements go with those of the accumulator's tile.
  struct Elements {
    TileAccess tile;
    SmallVector<int> dims; ///< the accumulator's, that run along the tile's
    Places rows, cols;
    /// The loaded values: by row, if columns are all alike; by column, if rows
    /// are; or by both; or nothing.
    SmallVector<Value> values;
    /// The values of all of the thread's columns, two in an integer; or
    /// nothing.
    SmallVector<Value> pairs;
    /// The values of the rows and columns of setExtra().
    SmallVector<Value> ofPiece;
    bool alongM = false, alongN = false;
  };

  /// Places along one dimension of the accumulator's tile.
  void along(const TileDim &dim, ArrayRef<Value> positions, Places &places);
  void addPlace(Places &places, size_t i, size_t count, Value offset,
                Value exists);
  void locateRows(Elements &elements);
  void locateCols(Elements &elements);
  /// An extra, and which dimensions of the accumulator run along its own.
  Elements accessExtra(Value extra, AffineMap map);
  Elements accessDest();
  Value address(const Elements &elements, size_t i, size_t j);
  Value exists(const Elements &elements, size_t i, size_t j);
  /// The value of an extra for accumulator (i, j); what does not exist is
  /// padded.
  Value readExtra(const Elements &elements, size_t i, size_t j);
  Value loadExtra(const Elements &elements, size_t i, size_t j);
  SmallVector<Value> loadPairs(const Elements &elements);
  void unpackPairs(Elements &elements, size_t first);
  Value ofPair(Value pair, Type element, size_t number);
  /// A load that takes place if `exist`, without a branch; else the pad.
  Value loadIf(Value exist, Value from, const TileAccess &tile);
  /// Loads the extras that a region uses, as far as there are registers for
  /// them.
  void loadExtras(Region &region, unsigned firstArgument);
  /// The elements of the extras that a region uses.
  SmallVector<Value> extraElements(Region &region, size_t i, size_t j,
                                   unsigned firstArgument);
  Value convert(Value value, Type to);
  /// How many neighbouring columns are neighbours in memory, too, and are
  /// stored at once if they all exist and the first one's place allows.
  size_t storeWidth();
  /// Does every group of `width` columns start at a multiple of its size?
  Value alignedGroups(size_t width);
  /// Has lanes of 16 bits exchange what they store, so that each has eight
  /// neighbours.
  bool canExchange();
  void storeExchanged(function_ref<Value(size_t, size_t)> element);
  void storeAll(function_ref<Value(size_t, size_t)> element);
  void storeGroup(ArrayRef<Value> values, size_t i, size_t j);
  void storeElement(Value value, size_t i, size_t j);
  /// Does the destination have a place for accumulator (i, j)?
  Value isStored(size_t i, size_t j);
  Value isZero(Value number);

  Emitter &e;
  MainloopOp mainloop;
  AccumulatorTile shape;
  bool vectorAtomics;
  const ChunkMap &chunks;
  TilePlace place; ///< where the results go
  std::optional<arith::AtomicRMWKind> combine;
  bool atomic;
  Fragment fragment;
  SmallVector<Elements, 2> extras;
  Elements dest;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_EPILOGUE_H
