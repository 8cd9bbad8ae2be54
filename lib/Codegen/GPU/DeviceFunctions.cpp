//===- DeviceFunctions.cpp - Powers and other functions of f32 ------------===//

#include "DeviceFunctions.h"
#include "DeviceScalars.h"

#include <limits>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// A function of one f32.
template <typename Op, Value (*function)(const Scalars &, Value)>
Value lowerUnary(const Scalars &s, Op op) {
  return op.getType().isF32() ? function(s, op.getOperand()) : Value();
}

/// A function of the magnitude, with the sign of the argument or without.
template <typename Op, Value (*function)(const Scalars &, Value), bool isOdd>
Value lowerByMagnitude(const Scalars &s, Op op) {
  if (!op.getType().isF32())
    return {};
  Value x = op.getOperand(), result = function(s, s.abs(x));
  return isOdd ? s.make<math::CopySignOp>(result, x) : result;
}

} // namespace

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// The logarithm to base 2 of a number that is not negative, f32 in f64; right
/// to 2^-38 of itself, so that a product with a power is right in f32.
static Value emitLog2(const Scalars &s, Value x) {
  // x = m * 2^e with m between the roots of 1/2 and 2.
  Value bits = s.bits(x);
  Value e = s.make<arith::SubIOp>(s.make<arith::ShRUIOp>(bits, s.whole(52)),
                                  s.whole(1023));
  Value fraction = s.bitAnd(bits, s.whole((int64_t(1) << 52) - 1));
  Value m = s.make<arith::BitcastOp>(
      s.f64, s.make<arith::OrIOp>(fraction, s.whole(int64_t(1023) << 52)));
  Value large = s.is(FloatIs::OGT, m, s.wide(1.4142135623730951));
  m = s.select(large, s.mul(m, s.wide(0.5)), m);
  e = s.select(large, s.make<arith::AddIOp>(e, s.whole(1)), e);
  // log(m) = 2 atanh(t), a series in t^2 <= 0.03.
  Value t = s.div(s.sub(m, s.wide(1)), s.add(m, s.wide(1)));
  Value square = s.mul(t, t);
  constexpr double kTwoOverLn2 = 2.8853900817779268147;
  Value series = s.wide(kTwoOverLn2 / 17);
  for (int n = 15; n > 0; n -= 2)
    series = s.fma(series, square, s.wide(kTwoOverLn2 / n));
  Value log = s.fma(t, series, s.make<arith::SIToFPOp>(s.f64, e));
  // Neither of 0, infinity nor NaN has the exponent that its bits are.
  log = s.select(s.is(FloatIs::OEQ, x, s.wide(0)), s.wide(-kInfinity), log);
  return s.select(s.is(FloatIs::ULT, x, s.wide(kInfinity)),
                  s.select(s.is(FloatIs::UNO, x, x), x, log), x);
}

/// 2^t of an f64, in f32.
static Value emitExp2(const Scalars &s, Value t) {
  // Beyond these the result is 0 or infinite; NaN stays NaN.
  t = s.max(t, s.wide(-200));
  t = s.min(t, s.wide(200));
  // 2^128 is infinite where the result need not be.
  Value n = s.min(s.make<math::RoundEvenOp>(t), s.wide(127));
  Value rest = s.sub(t, n);
  auto power = [&](Value exponent) -> Value {
    return s.make<math::Exp2Op>(s.make<arith::TruncFOp>(s.f32, exponent));
  };
  return s.mul(power(n), power(rest));
}

/// |x|^y, y an f64.
static Value emitPower(const Scalars &s, Value x, Value y) {
  Value magnitude = s.make<arith::ExtFOp>(s.f64, s.abs(x));
  Value log = emitLog2(s, magnitude);
  Value power = emitExp2(s, s.mul(log, y));
  // The product is infinity times 0 where y is 0, or the magnitude is 1.
  Value isOne = s.is(FloatIs::OEQ, y, s.wide(0));
  Value ofOne = s.bitAnd(s.is(FloatIs::OEQ, magnitude, s.wide(1)),
                         s.is(FloatIs::ORD, y, y));
  isOne = s.make<arith::OrIOp>(isOne, ofOne);
  return s.select(isOne, s.number(1), power);
}

static Value lowerPowF(const Scalars &s, math::PowFOp op) {
  if (!op.getType().isF32())
    return {};
  Value x = op.getLhs(), y = op.getRhs();
  Value power = emitPower(s, x, s.make<arith::ExtFOp>(s.f64, y));
  // A large number is even.
  Value whole = s.is(FloatIs::OEQ, s.make<math::RoundEvenOp>(y), y);
  Value small = s.is(FloatIs::OLT, s.abs(y), s.number(16777216));
  Value number = s.make<arith::FPToSIOp>(
      s.i64, s.select(s.bitAnd(whole, small), y, s.number(0)));
  Value odd = s.is(IntIs::eq, s.bitAnd(number, s.whole(1)), s.whole(1));
  power = s.select(odd, s.make<math::CopySignOp>(power, x), power);
  // Negative numbers have powers only to whole ones, infinity included. y is
  // no whole number if it is NaN.
  Value isNegative = s.bitAnd(s.is(FloatIs::OLT, x, s.number(0)),
                              s.is(FloatIs::OGT, x, s.number(-kInfinity)));
  Value isNone =
      s.bitAnd(isNegative, s.is(FloatIs::UNE, s.make<math::RoundEvenOp>(y), y));
  power = s.select(isNone, s.number(kNaN), power);
  Value ofOne = s.is(FloatIs::OEQ, x, s.number(1));
  return s.select(ofOne, s.number(1), power);
}

/// x^n, of f64, too: there it is a power of the magnitude.
static Value lowerFPowI(const Scalars &s, math::FPowIOp op) {
  Value x = op.getLhs(), n = op.getRhs();
  if (!x.getType().isF32() && !x.getType().isF64())
    return {};
  if (n.getType().isIndex())
    n = s.make<arith::IndexCastOp>(s.i64, n);
  Value y = s.make<arith::SIToFPOp>(s.f64, n);
  Value power = x.getType().isF32() ? emitPower(s, x, y)
                                    : s.make<math::PowFOp>(s.abs(x), y);
  Value one = s.integer(n.getType(), 1);
  Value isOdd = s.is(IntIs::eq, s.bitAnd(n, one), one);
  return s.select(isOdd, s.make<math::CopySignOp>(power, x), power);
}

//===----------------------------------------------------------------------===//
// Functions of the magnitude
//===----------------------------------------------------------------------===//

/// exp(x) / 2, which is finite where exp(x) no longer is.
static Value emitHalfExp(const Scalars &s, Value x) {
  Value root = s.make<math::ExpOp>(s.mul(x, s.number(0.5)));
  return s.mul(s.mul(root, s.number(0.5)), root);
}

static Value emitSinh(const Scalars &s, Value x) {
  // exp(x) - 1 does not cancel; e + e / (e + 1) is exp(x) - exp(-x).
  Value e = s.make<math::ExpM1Op>(x);
  Value small = s.mul(s.number(0.5), s.add(e, s.div(e, s.add(e, s.number(1)))));
  Value isSmall = s.is(FloatIs::OLT, x, s.number(20));
  return s.select(isSmall, small, emitHalfExp(s, x));
}

static Value emitCosh(const Scalars &s, Value x) {
  Value half = emitHalfExp(s, x);
  return s.add(half, s.div(s.number(0.25), half));
}

/// Adds log(2), or not, to a logarithm: where x^2 would overflow, x is as good
/// as the root of x^2 + 1.
static Value emitLogOfSum(const Scalars &s, Value x, Value sum) {
  Value large = s.add(s.make<math::LogOp>(x), s.number(0.69314718055994530942));
  Value isLarge = s.is(FloatIs::OGT, x, s.number(4194304));
  return s.select(isLarge, large, s.make<math::Log1pOp>(sum));
}

static Value emitAsinh(const Scalars &s, Value x) {
  Value square = s.mul(x, x);
  Value root = s.make<math::SqrtOp>(s.add(square, s.number(1)));
  return emitLogOfSum(s, x, s.add(x, s.div(square, s.add(root, s.number(1)))));
}

static Value emitCbrt(const Scalars &s, Value x) {
  return emitPower(s, x, s.wide(1.0 / 3.0));
}

static Value emitAtanh(const Scalars &s, Value x) {
  Value ratio = s.div(s.add(x, x), s.sub(s.number(1), x));
  return s.mul(s.number(0.5), s.make<math::Log1pOp>(ratio));
}

static Value emitAcosh(const Scalars &s, Value x) {
  Value above = s.sub(x, s.number(1));
  Value square = s.add(s.mul(above, above), s.add(above, above));
  Value sum = s.add(above, s.make<math::SqrtOp>(square));
  Value none = s.is(FloatIs::OLT, x, s.number(1));
  return s.select(none, s.number(kNaN), emitLogOfSum(s, x, sum));
}

/// The angle of (x, y), from that between 0 and pi/4.
static Value lowerAtan2(const Scalars &s, math::Atan2Op op) {
  if (!op.getType().isF32())
    return {};
  Value y = s.abs(op.getLhs());
  Value x = s.abs(op.getRhs());
  Value larger = s.max(x, y);
  Value ratio = s.div(s.min(x, y), larger);
  // Both are 0, or both are infinite.
  ratio = s.select(s.is(FloatIs::OEQ, larger, s.number(0)), s.number(0), ratio);
  Value infinite = s.bitAnd(s.is(FloatIs::OEQ, x, y),
                            s.is(FloatIs::OEQ, larger, s.number(kInfinity)));
  ratio = s.select(infinite, s.number(1), ratio);
  Value angle = s.make<math::AtanOp>(ratio);
  constexpr double kPi = 3.14159265358979323846;
  angle = s.select(s.is(FloatIs::OGT, y, x), s.sub(s.number(kPi / 2), angle),
                   angle);
  // -0 is to the left, too.
  Value bits = s.bits(op.getRhs());
  Value left = s.is(IntIs::slt, bits, s.integer(bits.getType(), 0));
  angle = s.select(left, s.sub(s.number(kPi), angle), angle);
  return s.make<math::CopySignOp>(angle, op.getLhs());
}

void cuda::populateDeviceFunctionPatterns(RewritePatternSet &patterns) {
  patterns.add<
      LowerNumber<lowerPowF>, LowerNumber<lowerFPowI>, LowerNumber<lowerAtan2>,
      LowerNumber<lowerUnary<math::AcoshOp, emitAcosh>>,
      LowerNumber<lowerByMagnitude<math::CbrtOp, emitCbrt, /*isOdd=*/true>>,
      LowerNumber<lowerByMagnitude<math::SinhOp, emitSinh, /*isOdd=*/true>>,
      LowerNumber<lowerByMagnitude<math::CoshOp, emitCosh, /*isOdd=*/false>>,
      LowerNumber<lowerByMagnitude<math::AsinhOp, emitAsinh, /*isOdd=*/true>>,
      LowerNumber<lowerByMagnitude<math::AtanhOp, emitAtanh, /*isOdd=*/true>>>(
      patterns.getContext(), /*benefit=*/2);
}
