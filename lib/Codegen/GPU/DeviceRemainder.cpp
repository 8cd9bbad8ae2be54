//===- DeviceRemainder.cpp - The remainder of a division of floats --------===//
//
// LLVM's code for PTX takes x - y * trunc(x / y) with a rounded quotient, which
// is off by multiples of y where that is large. What is here is exact, in f64,
// to which narrower types are extended.
//
// A step subtracts q * y, where q is the quotient, rounded to the nearest whole
// number that an f64 holds. The difference is a multiple of what the last bits
// of q and y stand for, and half of q's last bit times y at most: an f64 holds
// it, and fma gives it. Its sign is kept apart. Each step takes 53 bits of x.
//
//===----------------------------------------------------------------------===//

#include "DeviceFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace mlir::pit;

namespace {

/// A builder of f64 arithmetic at one place.
struct F64 {
  OpBuilder &b;
  Location loc;

  Value constant(double value) const {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) const {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value both(Value x, Value y) const {
    return arith::AndIOp::create(b, loc, x, y);
  }
  Value select(Value condition, Value x, Value y) const {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value divide(Value x, Value y) const {
    return arith::DivFOp::create(b, loc, x, y);
  }
  Value multiply(Value x, Value y) const {
    return arith::MulFOp::create(b, loc, x, y);
  }
};

/// A multiple of y, by a power of two, of which x is a finite multiple: x / y
/// may be beyond 2^1024.
Value scale(const F64 &f, Value x, Value y) {
  Value infinite = f.constant(std::numeric_limits<double>::infinity());
  for (double factor : {0x1p1000, 0x1p90})
    y = f.select(f.compare(arith::CmpFPredicate::OEQ, f.divide(x, y), infinite),
                 f.multiply(y, f.constant(factor)), y);
  return y;
}

/// x less the nearest multiple of y.
Value subtractMultiple(const F64 &f, Value x, Value y) {
  Value quotient = math::RoundEvenOp::create(f.b, f.loc, f.divide(x, y));
  Value minus = arith::NegFOp::create(f.b, f.loc, quotient);
  return math::FmaOp::create(f.b, f.loc, minus, y, x);
}

struct LowerRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), f64 = rewriter.getF64Type();
    auto element = dyn_cast<FloatType>(type);
    if (!element || element.getWidth() > 64)
      return failure();
    Location loc = op.getLoc();
    F64 f{rewriter, loc};
    auto magnitude = [&](Value value) -> Value {
      if (type != f64)
        value = arith::ExtFOp::create(rewriter, loc, f64, value);
      return math::AbsFOp::create(rewriter, loc, value);
    };
    Value x = magnitude(op.getLhs()), y = magnitude(op.getRhs());
    // Neither is NaN, y is not 0 and x is not infinite.
    Value isFinite =
        f.both(f.compare(arith::CmpFPredicate::OLT, x,
                         f.constant(std::numeric_limits<double>::infinity())),
               f.compare(arith::CmpFPredicate::OGT, y, f.constant(0)));
    Value no =
        arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(false));
    // The rest, and whether it is a negative one.
    auto loop = scf::WhileOp::create(
        rewriter, loc, TypeRange{f64, no.getType()}, ValueRange{x, no},
        [&](OpBuilder &b, Location loc, ValueRange values) {
          F64 inside{b, loc};
          Value more = inside.compare(arith::CmpFPredicate::OGE, values[0], y);
          scf::ConditionOp::create(b, loc, inside.both(isFinite, more), values);
        },
        [&](OpBuilder &b, Location loc, ValueRange values) {
          F64 inside{b, loc};
          Value multiple = type == f64 ? scale(inside, values[0], y) : y;
          Value rest = subtractMultiple(inside, values[0], multiple);
          Value isLess = inside.compare(arith::CmpFPredicate::OLT, rest,
                                        inside.constant(0));
          scf::YieldOp::create(
              b, loc,
              ValueRange{math::AbsFOp::create(b, loc, rest),
                         arith::XOrIOp::create(b, loc, values[1], isLess)});
        });
    Value rest = loop.getResult(0);
    Value isNegative =
        f.both(loop.getResult(1),
               f.compare(arith::CmpFPredicate::OGT, rest, f.constant(0)));
    Value result = f.select(
        isNegative, arith::SubFOp::create(rewriter, loc, y, rest), rest);
    result = f.select(isFinite, result,
                      f.constant(std::numeric_limits<double>::quiet_NaN()));
    if (type != f64)
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOpWithNewOp<math::CopySignOp>(op, result, op.getLhs());
    return success();
  }
};

} // namespace

void cuda::populateDeviceRemainderPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerRemainder>(patterns.getContext());
}
