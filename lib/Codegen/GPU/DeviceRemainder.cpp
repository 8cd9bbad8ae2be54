//===- DeviceRemainder.cpp - The remainder of a division of floats --------===//
//
// LLVM's code for PTX takes x - y * trunc(x / y) with a rounded quotient, which
// is off by multiples of y where that is large. The code here is exact, in f64,
// to which narrower types are extended.
//
// A step subtracts q * y, where q is the quotient, rounded to the nearest whole
// number that an f64 holds. The difference is a multiple of what the last bits
// of q and y stand for, and half of q's last bit times y at most: an f64 holds
// it, and fma gives it. Its sign is kept apart. Each step takes 53 bits of x.
//
//===----------------------------------------------------------------------===//

#include "DeviceFunctions.h"
#include "DeviceScalars.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

/// A multiple of y, by a power of two, of which x is a finite multiple: x / y
/// may be beyond 2^1024.
Value scale(const Scalars &s, Value x, Value y) {
  Value infinite = s.wide(std::numeric_limits<double>::infinity());
  for (double factor : {0x1p1000, 0x1p90})
    y = s.select(s.is(FloatIs::OEQ, s.div(x, y), infinite),
                 s.mul(y, s.wide(factor)), y);
  return y;
}

/// x less the nearest multiple of y.
Value subtractMultiple(const Scalars &s, Value x, Value y) {
  Value quotient = s.make<math::RoundEvenOp>(s.div(x, y));
  return s.fma(s.neg(quotient), y, x);
}

LogicalResult lowerRemainder(arith::RemFOp op, PatternRewriter &rewriter) {
  Type type = op.getType(), f64 = rewriter.getF64Type();
  auto element = dyn_cast<FloatType>(type);
  if (!element || element.getWidth() > 64)
    return failure();
  Location loc = op.getLoc();
  Scalars s(rewriter, loc);
  auto magnitude = [&](Value value) -> Value {
    if (type != f64)
      value = s.make<arith::ExtFOp>(f64, value);
    return s.abs(value);
  };
  Value x = magnitude(op.getLhs()), y = magnitude(op.getRhs());
  // Neither is NaN, y is not 0 and x is not infinite.
  Value isFinite = s.bitAnd(
      s.is(FloatIs::OLT, x, s.wide(std::numeric_limits<double>::infinity())),
      s.is(FloatIs::OGT, y, s.wide(0)));
  Value no =
      arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(false));
  // The rest, and whether it is a negative one.
  auto loop = scf::WhileOp::create(
      rewriter, loc, TypeRange{f64, no.getType()}, ValueRange{x, no},
      [&](OpBuilder &b, Location loc, ValueRange values) {
        Value more = s.is(FloatIs::OGE, values[0], y);
        scf::ConditionOp::create(b, loc, s.bitAnd(isFinite, more), values);
      },
      [&](OpBuilder &b, Location loc, ValueRange values) {
        Value multiple = type == f64 ? scale(s, values[0], y) : y;
        Value rest = subtractMultiple(s, values[0], multiple);
        Value isLess = s.is(FloatIs::OLT, rest, s.wide(0));
        Value isNegative = s.make<arith::XOrIOp>(values[1], isLess);
        scf::YieldOp::create(b, loc, ValueRange{s.abs(rest), isNegative});
      });
  Value rest = loop.getResult(0);
  Value isNegative =
      s.bitAnd(loop.getResult(1), s.is(FloatIs::OGT, rest, s.wide(0)));
  Value result = s.select(isNegative, s.sub(y, rest), rest);
  result = s.select(isFinite, result,
                    s.wide(std::numeric_limits<double>::quiet_NaN()));
  if (type != f64)
    result = s.make<arith::TruncFOp>(type, result);
  rewriter.replaceOpWithNewOp<math::CopySignOp>(op, result, op.getLhs());
  return success();
}

} // namespace

void cuda::populateDeviceRemainderPatterns(RewritePatternSet &patterns) {
  patterns.add(lowerRemainder);
}
