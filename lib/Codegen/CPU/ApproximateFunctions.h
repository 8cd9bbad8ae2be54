//===- ApproximateFunctions.h - Functions of vectors ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_APPROXIMATEFUNCTIONS_H
#define PIT_LIB_CODEGEN_CPU_APPROXIMATEFUNCTIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::pit::cpu {

/// Replaces exp, exp2, expm1, log, log2, log1p, tanh and erf of vectors of f32,
/// or narrower, by polynomials.
LogicalResult approximateFunctions(Operation *root);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_APPROXIMATEFUNCTIONS_H
