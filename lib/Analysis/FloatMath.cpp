//===- FloatMath.cpp - Float constants that upstream does not fold --------===//
//
// Upstream folds math functions for f32 and f64 only, and no cast that loses
// bits. Here they are evaluated in double precision and rounded once.
//
//===----------------------------------------------------------------------===//

#include "pit/Analysis/BodyEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

static double toDouble(llvm::APFloat value) {
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

static std::optional<double> evalUnary(Operation &inner, double x) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(&inner)
      .Case<math::AbsFOp>([&](auto) { return std::fabs(x); })
      .Case<math::AcosOp>([&](auto) { return std::acos(x); })
      .Case<math::AcoshOp>([&](auto) { return std::acosh(x); })
      .Case<math::AsinOp>([&](auto) { return std::asin(x); })
      .Case<math::AsinhOp>([&](auto) { return std::asinh(x); })
      .Case<math::AtanOp>([&](auto) { return std::atan(x); })
      .Case<math::AtanhOp>([&](auto) { return std::atanh(x); })
      .Case<math::CbrtOp>([&](auto) { return std::cbrt(x); })
      .Case<math::CeilOp>([&](auto) { return std::ceil(x); })
      .Case<math::CosOp>([&](auto) { return std::cos(x); })
      .Case<math::CoshOp>([&](auto) { return std::cosh(x); })
      .Case<math::ErfOp>([&](auto) { return std::erf(x); })
      .Case<math::ErfcOp>([&](auto) { return std::erfc(x); })
      .Case<math::ExpOp>([&](auto) { return std::exp(x); })
      .Case<math::Exp2Op>([&](auto) { return std::exp2(x); })
      .Case<math::ExpM1Op>([&](auto) { return std::expm1(x); })
      .Case<math::FloorOp>([&](auto) { return std::floor(x); })
      .Case<math::LogOp>([&](auto) { return std::log(x); })
      .Case<math::Log10Op>([&](auto) { return std::log10(x); })
      .Case<math::Log1pOp>([&](auto) { return std::log1p(x); })
      .Case<math::Log2Op>([&](auto) { return std::log2(x); })
      .Case<math::RoundOp>([&](auto) { return std::round(x); })
      .Case<math::RoundEvenOp>([&](auto) { return std::nearbyint(x); })
      .Case<math::RsqrtOp>([&](auto) { return 1.0 / std::sqrt(x); })
      .Case<math::SinOp>([&](auto) { return std::sin(x); })
      .Case<math::SinhOp>([&](auto) { return std::sinh(x); })
      .Case<math::SqrtOp>([&](auto) { return std::sqrt(x); })
      .Case<math::TanOp>([&](auto) { return std::tan(x); })
      .Case<math::TanhOp>([&](auto) { return std::tanh(x); })
      .Case<math::TruncOp>([&](auto) { return std::trunc(x); })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<double> evalBinary(Operation &inner, double x, double y) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(&inner)
      .Case<math::Atan2Op>([&](auto) { return std::atan2(x, y); })
      .Case<math::CopySignOp>([&](auto) { return std::copysign(x, y); })
      .Case<math::PowFOp>([&](auto) { return std::pow(x, y); })
      .Default([](Operation *) { return std::nullopt; });
}

Attribute pit::evalFloatMath(Operation &inner, ArrayRef<Attribute> operands) {
  if (inner.getNumResults() != 1)
    return {};
  auto type = dyn_cast<FloatType>(inner.getResult(0).getType());
  if (!type)
    return {};
  SmallVector<llvm::APFloat, 2> values;
  for (Attribute operand : operands) {
    auto value = dyn_cast_or_null<FloatAttr>(operand);
    if (!value)
      return {};
    values.push_back(value.getValue());
  }

  auto round = [&](llvm::APFloat value) -> Attribute {
    bool losesInfo;
    value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return FloatAttr::get(type, value);
  };
  if (isa<arith::ExtFOp>(inner))
    return round(values.front());
  if (auto truncate = dyn_cast<arith::TruncFOp>(inner))
    return truncate.getRoundingmode() ? Attribute() : round(values.front());
  if (type.getWidth() > 64)
    return {};
  std::optional<double> value;
  if (values.size() == 1)
    value = evalUnary(inner, toDouble(values[0]));
  else if (values.size() == 2)
    value = evalBinary(inner, toDouble(values[0]), toDouble(values[1]));
  return value ? round(llvm::APFloat(*value)) : Attribute();
}
