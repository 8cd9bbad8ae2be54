//===- AmpereBody.h - Tiles of a body in registers --------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREBODY_H
#define PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREBODY_H

#include "AmpereLowering.h"

namespace mlir::pit::cuda {

/// A thread's elements of a tile: of its rows, if the tile has rows, and of its
/// columns, if it has columns. In each 16 rows a thread has one of the first
/// eight and one of the last, in each 8 columns two neighbours.
struct RegisterTile {
  size_t rows = 1, cols = 1;
  bool hasRows = false, hasCols = false;
  SmallVector<Value> values; ///< by rows

  Value &at(size_t i, size_t j) {
    return values[(hasRows ? i : 0) * cols + (hasCols ? j : 0)];
  }
};

/// Where a thread is in a step of a tile body.
struct BodyStep {
  const AmpereThread &self;
  const AmpereBodyPlan &plan;
  Value origin; ///< the first row of its warp (i32)
  Value stage;  ///< where the step's stage lies (i32, bytes)
};

/// Adds what a contraction multiplies to `sums`. `lhs` is its first operand, if
/// that was computed; null: it lies in shared memory.
RegisterTile multiplyInBody(const BodyStep &step, ContractOp op,
                            RegisterTile sums, RegisterTile *lhs);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREBODY_H
