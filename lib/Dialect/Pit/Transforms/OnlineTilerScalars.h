//===- OnlineTilerScalars.h - Scalars of tiles of a chain -------*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_ONLINETILERSCALARS_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_ONLINETILERSCALARS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::pit {

/// exp(x) is 2 to the power of so many x.
constexpr double kLog2e = 1.4426950408889634;

inline Type elementOf(Value tile) { return getElementTypeOrSelf(tile); }

inline Value constant(OpBuilder &b, Location loc, Type type, double value) {
  return arith::ConstantOp::create(b, loc, FloatAttr::get(type, value));
}

/// `value` times a number that is no 1.
inline Value times(OpBuilder &b, Location loc, Value value, double factor) {
  if (factor == 1)
    return value;
  return arith::MulFOp::create(b, loc, value,
                               constant(b, loc, value.getType(), factor));
}

/// The number that `value` is in the body of an op, if it is finite, positive,
/// and of f32 or f64.
std::optional<double> positiveConstant(linalg::LinalgOp op, Value value);

/// Is `value` an infinity of this sign?
inline Value isInfinity(OpBuilder &b, Location loc, Value value,
                        bool negative) {
  auto type = cast<FloatType>(value.getType());
  Value low = arith::ConstantOp::create(
      b, loc,
      FloatAttr::get(
          type, llvm::APFloat::getInf(type.getFloatSemantics(), negative)));
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value, low);
}

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_ONLINETILERSCALARS_H
