//===- RingEpilogue.h - From accumulators to the result ---------*- C++ -*-===//
//
// What a ring does with the accumulators that a thread holds: their first
// values, the element-wise code after the last step, and the store.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_KERNEL_RINGEPILOGUE_H
#define PIT_LIB_KERNEL_RINGEPILOGUE_H

#include "RingLowering.h"

namespace mlir::pit {

/// The accumulators of a thread.
struct AccumulatorTile {
  int mDim = -1, nDim = -1; ///< dimensions of the accumulator's tile
  int64_t neighbours = 1;   ///< so many columns of a thread follow each other
};

class RingEpilogue {
public:
  /// `capability` says which instructions there are, 90 for sm_90.
  RingEpilogue(Emitter &e, RingOp ring, AccumulatorTile shape,
               int64_t capability, const ChunkMap &chunks)
      : e(e), ring(ring), shape(shape), capability(capability), chunks(chunks) {
  }

  /// Says which accumulators a thread has, and finds the extras' elements for
  /// them at the builder's place.
  void locate(const Fragment &fragment);
  /// The accumulators' first values.
  SmallVector<Value> initial();
  /// What is stored for accumulator (i, j), in the destination's element type.
  Value result(Value accumulator, size_t i, size_t j);
  /// Computes the results and stores them element by element, or in small
  /// groups of neighbours.
  void finish(ArrayRef<Value> accumulators);

private:
  /// Where an element of a tensor is, for each of a thread's rows or columns.
  struct Places {
    SmallVector<Value> offsets; ///< elements
    SmallVector<Value> exist;   ///< null: always
  };
  /// A tensor whose elements go with those of the accumulator's tile.
  struct Elements {
    TileAccess tile;
    Places rows, cols;
  };

  /// Places along one dimension of the accumulator's tile.
  void along(const TileDim &dim, ArrayRef<Value> positions, Places &places);
  void addPlace(Places &places, size_t i, size_t count, Value offset,
                Value exists);
  /// `dims[d]`: the accumulator's dimension that runs along dimension d.
  Elements locateTile(TileAccess tile, ArrayRef<int> dims);
  /// Where the extras' elements are for a thread's rows and columns.
  void locateExtras();
  void locateDest();
  Value address(const Elements &elements, size_t i, size_t j);
  Value exists(const Elements &elements, size_t i, size_t j);
  /// The value of an extra for accumulator (i, j); what does not exist is
  /// padded.
  Value readExtra(const Elements &elements, size_t i, size_t j);
  Value runRegion(Region &region, ArrayRef<Value> arguments);
  /// The elements of the extras that a region uses.
  SmallVector<Value> extraElements(Region &region, size_t i, size_t j,
                                   unsigned firstArgument);
  Value convert(Value value, Type to);
  Value computeResult(Value accumulator, size_t i, size_t j);
  /// How many neighbouring columns are neighbours in memory, too, and are
  /// stored at once if they all exist and the first one's place allows.
  size_t storeWidth();
  /// Does every group of `width` columns start at a multiple of its size?
  Value alignedGroups(size_t width);
  void storeGroup(ArrayRef<Value> values, size_t i, size_t j);
  void store(Value value, size_t i, size_t j);
  /// Does the destination have a place for accumulator (i, j)?
  Value isStored(size_t i, size_t j);
  void ifThenElse(Value condition, function_ref<void()> then,
                  function_ref<void()> otherwise);
  Value isZero(Value number);

  Emitter &e;
  RingOp ring;
  AccumulatorTile shape;
  int64_t capability;
  const ChunkMap &chunks;
  Fragment fragment;
  SmallVector<Elements, 2> extras;
  Elements dest;
};

} // namespace mlir::pit

#endif // PIT_LIB_KERNEL_RINGEPILOGUE_H
