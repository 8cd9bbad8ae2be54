//===- Scales.h - What a step's products are multiplied by ------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_SCALES_H
#define PIT_LIB_CODEGEN_GPU_COMMON_SCALES_H

#include "Epilogue.h"
#include "MainloopSteps.h"

#include "pit/Analysis/Refusal.h"

namespace mlir::pit::cuda {

/// A tile of scales that a contraction reads.
struct ScaleView {
  unsigned view = 0; ///< the number of the mainloop's view
  /// The dimension of the accumulator's tile along which each of the scales'
  /// dimensions runs; -1: none.
  SmallVector<int> dims;
  bool alongM = false, alongN = false;
};

/// The scales of one of a mainloop's contractions. `mDim` and `nDim` are
/// dimensions of the accumulator's tile.
SmallVector<ScaleView> scaleViews(MainloopOp mainloop, unsigned accumulator,
                                  int mDim, int nDim);

/// The place of the scale of a row or column (i32) of the tile: the sum that
/// dimensions along m or n add to its offset (index), and whether it exists.
/// The same in all steps.
std::pair<Value, Value> placeAlongTile(Emitter &e, const ScaleView &scale,
                                       const TileAccess &tile, Value position);
/// The offset of the other dimensions, which are of one element.
Value placeAlongSteps(Emitter &e, const ScaleView &scale,
                      const TileAccess &tile);

/// The scale that goes with a row or column (i32) of the tile.
using LoadScale = function_ref<Value(const ScaleView &scale, Value position)>;

/// Loads scales of the step that `steps` is in from memory.
Value loadScale(Emitter &e, MainloopSteps &steps, const ScaleView &scale,
                Value position);

/// The scales of one of a mainloop's contractions, in a step, for the elements
/// of the accumulator that a thread has.
class Scales {
public:
  /// Loads them at the builder's place.
  Scales(Emitter &e, ArrayRef<ScaleView> views, const Fragment &fragment,
         LoadScale load);

  /// The elements that go with element (i, j) of the fragment, by scale.
  SmallVector<Value> at(size_t i, size_t j) const;
  /// Their product (f32).
  Value product(Emitter &e, size_t i, size_t j);
  /// The product of those that go with column `at` of the fragment, or of all
  /// others, which go with row `at` (f32); null: there are none.
  Value productOf(Emitter &e, size_t at, bool alongN);

private:
  /// Elements by row, by column, or one for all.
  struct Scale {
    SmallVector<Value> values;
    bool alongM = false, alongN = false;
  };

  SmallVector<Scale> scales;
  SmallVector<Value> rows, cols; ///< products, where known
};

/// Does each scale change along rows or along columns of the accumulator's
/// tile, and not along both?
Refused checkScales(MainloopOp mainloop, int mDim, int nDim);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_SCALES_H
