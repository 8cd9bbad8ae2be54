//===- VectorEmit.h - Loops and vector ops of one linalg op -----*- C++ -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_VECTOREMIT_H
#define PIT_DIALECT_PIT_TRANSFORMS_VECTOREMIT_H

#include "VectorPlan.h"

namespace mlir::pit {

/// Emits the loops and the vector code of `plan` for `op`, an op on memrefs, at
/// the builder's insertion point. `op` itself stays.
void emitVectorCode(OpBuilder &builder, linalg::LinalgOp op,
                    const VectorPlan &plan);

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_TRANSFORMS_VECTOREMIT_H
