//===- DeviceScalars.h - A builder of scalar arithmetic ---------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_DEVICESCALARS_H
#define PIT_LIB_CODEGEN_GPU_DEVICESCALARS_H

#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit::cuda {

using FloatIs = arith::CmpFPredicate;
using IntIs = arith::CmpIPredicate;

/// A builder of scalar arithmetic at one place.
struct Scalars : MathBuilder {
  /// `type` is that of number().
  Scalars(OpBuilder &builder, Location loc, Type type = {})
      : MathBuilder{builder, loc}, f32(builder.getF32Type()),
        f64(builder.getF64Type()), i64(builder.getI64Type()), type(type) {}

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

  Type f32, f64, i64, type;
};

/// A pattern: a function that gives what an op of numbers comes to, of the type
/// of number(); null, if it does not take the op.
template <auto emit> struct LowerNumber;
template <typename Op, Value (*emit)(const Scalars &, Op)>
struct LowerNumber<emit> : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value value = emit(Scalars(rewriter, op.getLoc(), op.getType()), op);
    if (!value)
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_DEVICESCALARS_H
