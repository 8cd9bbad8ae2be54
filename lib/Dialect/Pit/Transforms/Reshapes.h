//===- Reshapes.h - Contractions of other dims ------------------*- C++ -*-===//
//
// What passes share that change the dims of contractions on tensors, and of the
// element-wise ops after them (CollapseDims.cpp, ExpandVectors.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_RESHAPES_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_RESHAPES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pit {

/// The element-wise op that the loop of what computes `value` would take in
/// (FuseEpilogues.cpp); null if there is none.
linalg::LinalgOp findFollower(Value value);

/// What is collapsed once it was expanded is as before, and a fill of a new
/// tensor stays one.
LogicalResult mergeReshapes(Operation *root);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_RESHAPES_H
