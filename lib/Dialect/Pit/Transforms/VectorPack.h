//===- VectorPack.h - Packs inputs of contractions --------------*- C++ -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_VECTORPACK_H
#define PIT_DIALECT_PIT_TRANSFORMS_VECTORPACK_H

#include "VectorPlan.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// Copies those inputs of the contraction `op` to the stack that are read many
/// times, each time across memory or to be extended. Returns the ops that take
/// the place of `op`, in order: copies and a contraction. Where nothing is to
/// be packed, that is `op` itself.
SmallVector<linalg::LinalgOp> packInputs(RewriterBase &rewriter,
                                         linalg::LinalgOp op);

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_TRANSFORMS_VECTORPACK_H
