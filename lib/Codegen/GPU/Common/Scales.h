//===- Scales.h - What a step's products are multiplied by ------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_SCALES_H
#define PIT_LIB_CODEGEN_GPU_COMMON_SCALES_H

#include "Epilogue.h"
#include "MainloopSteps.h"

namespace mlir::pit::cuda {

/// The scales of one of a mainloop's contractions, in a step, for the elements
/// of the accumulator that a thread has.
class Scales {
public:
  /// `mDim` and `nDim` are dimensions of the accumulator's tile. Loads the
  /// scales of the step that `steps` is in, at the builder's place.
  Scales(Emitter &e, MainloopOp mainloop, unsigned accumulator, int mDim,
         int nDim, MainloopSteps &steps, const Fragment &fragment);

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
/// tile, and not along both? If not, `why` says so.
LogicalResult checkScales(MainloopOp mainloop, int mDim, int nDim,
                          std::string &why);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_SCALES_H
