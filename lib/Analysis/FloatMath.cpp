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

/// Functions that upstream does not fold, or not of negative numbers.
static std::optional<double> evalUnfolded(Operation &inner, double x) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(&inner)
      .Case<math::CbrtOp>([&](auto) { return std::cbrt(x); })
      .Case<math::LogOp>([&](auto) { return std::log(x); })
      .Case<math::Log10Op>([&](auto) { return std::log10(x); })
      .Case<math::Log1pOp>([&](auto) { return std::log1p(x); })
      .Case<math::Log2Op>([&](auto) { return std::log2(x); })
      .Case<math::RsqrtOp>([&](auto) { return 1.0 / std::sqrt(x); })
      .Case<math::SqrtOp>([&](auto) { return std::sqrt(x); })
      .Default([](Operation *) { return std::nullopt; });
}

/// The value of a math function of f64 numbers, whatever its own type is:
/// upstream's folders go by the types of the numbers.
static std::optional<double> eval(Operation &inner, ArrayRef<double> numbers) {
  if (!isa_and_present<math::MathDialect>(inner.getDialect()) ||
      numbers.size() > 2)
    return std::nullopt;
  if (std::optional<double> value = evalUnfolded(inner, numbers.front()))
    return value;
  Builder builder(inner.getContext());
  SmallVector<Attribute> operands;
  for (double number : numbers)
    operands.push_back(builder.getF64FloatAttr(number));
  SmallVector<OpFoldResult> results;
  if (failed(inner.fold(operands, results)) || results.size() != 1)
    return std::nullopt;
  auto value = dyn_cast_or_null<FloatAttr>(dyn_cast<Attribute>(results[0]));
  return value ? std::optional(value.getValueAsDouble()) : std::nullopt;
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
  std::optional<double> value =
      eval(inner, llvm::map_to_vector(values, toDouble));
  return value ? round(llvm::APFloat(*value)) : Attribute();
}
