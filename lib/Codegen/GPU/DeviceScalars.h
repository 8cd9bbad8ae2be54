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
  Scalars(PatternRewriter &rewriter, Location loc)
      : MathBuilder{rewriter, loc}, f32(rewriter.getF32Type()),
        f64(rewriter.getF64Type()), i64(rewriter.getI64Type()) {}

  template <typename Op, typename... Args> Value make(Args... args) const {
    return Op::create(b, loc, args...);
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
  Value single(double value) const { return constant(f32, value); }
  Value wide(double value) const { return constant(f64, value); }
  Value whole(int64_t value) const { return integer(i64, value); }
  /// The f64 of an integer's bits.
  Value wideOfBits(Value bits) const {
    return make<arith::BitcastOp>(f64, bits);
  }

  Type f32, f64, i64;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_DEVICESCALARS_H
