//===- DevicePairs.h - Sums of two f64 --------------------------*- C++ -*-===//
//
// Arithmetic with twice the digits of f64: a number is the sum of two, of which
// the second one is what is lost when the sum is rounded to the first. Of a sum
// and, by fma, of a product that loss is itself an f64.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_DEVICEPAIRS_H
#define PIT_LIB_CODEGEN_GPU_DEVICEPAIRS_H

#include "DeviceScalars.h"

namespace mlir::pit::cuda {

/// high + low, where high is the sum rounded.
struct Pair {
  Value high, low;
};

/// A builder of arithmetic with pairs at one place.
struct Pairs : Scalars {
  Pairs(OpBuilder &builder, Location loc)
      : Scalars(builder, loc, builder.getF64Type()) {}
  static bool takes(Type type) { return type.isF64(); }

  Pair pair(double high, double low = 0) const {
    return {wide(high), wide(low)};
  }
  Pair pair(Value high) const { return {high, wide(0)}; }

  /// x + y, where |x| >= |y|.
  Pair fastSum(Value x, Value y) const {
    Value high = Scalars::add(x, y);
    return {high, Scalars::sub(y, Scalars::sub(high, x))};
  }
  Pair sum(Value x, Value y) const {
    Value high = Scalars::add(x, y);
    Value ofY = Scalars::sub(high, x);
    Value ofX = Scalars::sub(high, ofY);
    return {high, Scalars::add(Scalars::sub(x, ofX), Scalars::sub(y, ofY))};
  }
  Pair product(Value x, Value y) const {
    Value high = Scalars::mul(x, y);
    return {high, fma(x, y, Scalars::neg(high))};
  }

  using Scalars::neg;
  Pair neg(Pair x) const { return {neg(x.high), neg(x.low)}; }
  using Scalars::add;
  Pair add(Pair x, Pair y) const {
    Pair high = sum(x.high, y.high);
    return fastSum(high.high, add(high.low, add(x.low, y.low)));
  }
  using Scalars::mul;
  Pair mul(Pair x, Pair y) const {
    Pair high = product(x.high, y.high);
    return fastSum(high.high, fma(x.high, y.low, fma(x.low, y.high, high.low)));
  }
  /// x times a power of two.
  Pair scale(Pair x, Value power) const {
    return {mul(x.high, power), mul(x.low, power)};
  }
  using Scalars::div;
  Pair div(Pair x, Pair y) const {
    Value high = div(x.high, y.high);
    Value minus = neg(high);
    Value rest = fma(minus, y.low, add(fma(minus, y.high, x.high), x.low));
    return fastSum(high, div(rest, y.high));
  }
  Pair sqrt(Pair x) const {
    Value high = make<math::SqrtOp>(x.high);
    Value rest = add(fma(neg(high), high, x.high), x.low);
    Value low = div(rest, add(high, high));
    Value isZero = is(FloatIs::OEQ, high, wide(0));
    return fastSum(high, select(isZero, wide(0), low));
  }
  using Scalars::select;
  Pair select(Value condition, Pair x, Pair y) const {
    return {select(condition, x.high, y.high), select(condition, x.low, y.low)};
  }
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_DEVICEPAIRS_H
