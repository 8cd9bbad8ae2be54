//===- DeviceScalars.h - A builder of scalar arithmetic ---------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_DEVICESCALARS_H
#define PIT_LIB_CODEGEN_GPU_DEVICESCALARS_H

#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::pit::cuda {

using FloatIs = arith::CmpFPredicate;
using IntIs = arith::CmpIPredicate;

/// A builder of scalar arithmetic at one place.
struct Scalars : MathBuilder {
  /// `type` is that of number().
  Scalars(OpBuilder &builder, Location loc, Type type = {})
      : MathBuilder{builder, loc}, f32(builder.getF32Type()),
        f64(builder.getF64Type()), i64(builder.getI64Type()), type(type) {}

  template <typename Op, typename... Args> Op make(Args... args) const {
    return Op::create(b, loc, args...);
  }
  Value number(double value) const { return constant(type, value); }
  /// A polynomial, the coefficient of the highest power first.
  Value polynomial(ArrayRef<double> coefficients, Value x) const {
    Value sum = number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  Value is(FloatIs predicate, Value x, Value y) const {
    return make<arith::CmpFOp>(predicate, x, y);
  }
  Value is(IntIs predicate, Value x, Value y) const {
    return make<arith::CmpIOp>(predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) const {
    return make<arith::SelectOp>(condition, x, y);
  }
  Value add(Value x, Value y) const { return make<arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) const { return make<arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) const { return make<arith::MulFOp>(x, y); }
  Value div(Value x, Value y) const { return make<arith::DivFOp>(x, y); }
  Value fma(Value x, Value y, Value z) const {
    return make<math::FmaOp>(x, y, z);
  }
  Value neg(Value x) const { return make<arith::NegFOp>(x); }
  Value abs(Value x) const { return make<math::AbsFOp>(x); }
  Value min(Value x, Value y) const { return make<arith::MinimumFOp>(x, y); }
  Value max(Value x, Value y) const { return make<arith::MaximumFOp>(x, y); }
  Value bitAnd(Value x, Value y) const { return make<arith::AndIOp>(x, y); }
  Value wide(double value) const { return constant(f64, value); }
  Value whole(int64_t value) const { return integer(i64, value); }
  /// The f64 of an integer's bits.
  Value wideOfBits(Value bits) const {
    return make<arith::BitcastOp>(f64, bits);
  }

  Type f32, f64, i64, type;
};

/// The builder of functions of f32.
struct Singles : Scalars {
  Singles(OpBuilder &builder, Location loc)
      : Scalars(builder, loc, builder.getF32Type()) {}
  static bool takes(Type type) { return type.isF32(); }
};

//===----------------------------------------------------------------------===//
// Functions that a builder makes, of the numbers that it takes
//===----------------------------------------------------------------------===//

/// What a pattern makes of one op of a type.
template <typename Builder, typename Op>
struct LowerNumber : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!Builder::takes(op.getType()))
      return failure();
    rewriter.replaceOp(op, emit(Builder(rewriter, op.getLoc()), op));
    return success();
  }
  virtual Value emit(const Builder &s, Op op) const = 0;
};

/// A function of one number.
template <typename Builder, typename Op,
          Value (*function)(const Builder &, Value)>
struct LowerUnary : LowerNumber<Builder, Op> {
  using LowerNumber<Builder, Op>::LowerNumber;
  Value emit(const Builder &s, Op op) const override {
    return function(s, op.getOperand());
  }
};

/// A function of the magnitude, with the sign of the argument or without.
template <typename Builder, typename Op,
          Value (*function)(const Builder &, Value), bool isOdd>
struct LowerByMagnitude : LowerNumber<Builder, Op> {
  using LowerNumber<Builder, Op>::LowerNumber;
  Value emit(const Builder &s, Op op) const override {
    Value x = op.getOperand(), result = function(s, s.abs(x));
    return isOdd ? s.template make<math::CopySignOp>(result, x) : result;
  }
};

/// x^n; `power` gives |x|^n of an f64 n.
template <typename Builder, Value (*power)(const Builder &, Value, Value)>
struct LowerFPowI : LowerNumber<Builder, math::FPowIOp> {
  using LowerNumber<Builder, math::FPowIOp>::LowerNumber;
  Value emit(const Builder &s, math::FPowIOp op) const override {
    Value x = op.getLhs(), n = op.getRhs();
    if (n.getType().isIndex())
      n = s.template make<arith::IndexCastOp>(s.i64, n);
    Value result = power(s, x, s.template make<arith::SIToFPOp>(s.f64, n));
    Value one = s.integer(n.getType(), 1);
    Value isOdd = s.is(IntIs::eq, s.bitAnd(n, one), one);
    return s.select(isOdd, s.template make<math::CopySignOp>(result, x),
                    result);
  }
};

/// |x|^y, of `power`, which is no number where it is made of infinity times 0:
/// where y (f64) is 0, or the magnitude (f64) is 1.
Value emitPowerOfOne(const Scalars &s, Value magnitude, Value y, Value power);

/// x^y, of |x|^y. Negative numbers have powers only to whole ones, infinity
/// included.
Value emitPowerOfSign(const Scalars &s, Value x, Value y, Value isOdd,
                      Value power);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_DEVICESCALARS_H
