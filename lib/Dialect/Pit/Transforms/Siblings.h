//===- Siblings.h - Contractions that share a loop --------------*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_SIBLINGS_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_SIBLINGS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::pit {

/// For how many sums of a contraction like `op` a block of threads has
/// registers: those of tensor cores, or of scalar code.
inline int64_t getMostSums(linalg::LinalgOp op) {
  bool isNarrow = llvm::all_of(op.getDpsInputs(), [](Value operand) {
    return getElementTypeOrSelf(operand).getIntOrFloatBitWidth() <= 16;
  });
  return isNarrow ? 128 * 256 : 128 * 128;
}

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_SIBLINGS_H
