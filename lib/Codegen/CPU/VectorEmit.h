//===- VectorEmit.h - Loops and vector ops of one linalg op -----*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_VECTOREMIT_H
#define PIT_LIB_CODEGEN_CPU_VECTOREMIT_H

#include "VectorPlan.h"

namespace mlir::pit::cpu {

/// Emits the loops and the vector code of `plan` for `op`, an op on memrefs, at
/// the builder's insertion point. `op` itself stays.
void emitVectorCode(OpBuilder &builder, linalg::LinalgOp op,
                    const VectorPlan &plan);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_VECTOREMIT_H
