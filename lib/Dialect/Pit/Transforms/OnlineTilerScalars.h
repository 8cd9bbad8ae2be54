//===- OnlineTilerScalars.h - Scalars of tiles of a chain -------*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_ONLINETILERSCALARS_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_ONLINETILERSCALARS_H

#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::pit {

/// exp(x) is 2 to the power of so many x.
constexpr double kLog2e = 1.4426950408889634;

inline Type elementOf(Value tile) { return getElementTypeOrSelf(tile); }

/// The number that `value` is in the body of an op, if it is finite, positive,
/// and of f32 or f64.
std::optional<double> positiveConstant(linalg::LinalgOp op, Value value);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_ONLINETILERSCALARS_H
