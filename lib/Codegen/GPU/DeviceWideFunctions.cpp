//===- DeviceWideFunctions.cpp - Functions of f64 -------------------------===//
//
// Each is right to two units in the last place. What would lose digits is
// computed in pairs of f64; the rest are series, which need no table.
//
//===----------------------------------------------------------------------===//

#include "DeviceFunctions.h"
#include "DevicePairs.h"

#include <array>
#include <limits>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// log(2) as a pair, and with a first part that has zeros at its end: a multiple
// of it by an exponent is exact.
static constexpr double kLn2[] = {0.6931471805599453, 2.3190468138462996e-17};
static constexpr double kShortLn2[] = {0x1.62e42fefap-1, 0x1.cf79abc9e3b3ap-40};
static constexpr double kPi[] = {3.141592653589793, 1.2246467991473532e-16};

/// The coefficients of a series, that of the highest power first.
template <size_t count, typename Coefficient>
static std::array<double, count> series(Coefficient coefficient) {
  std::array<double, count> result;
  for (size_t i = 0; i < count; ++i)
    result[count - 1 - i] = coefficient(i);
  return result;
}

/// n!, exact up to 22.
static double factorial(int n) { return n > 1 ? n * factorial(n - 1) : 1; }

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

namespace {

/// value * 2^exponent; the exponent is an f64.
struct Scaled {
  Pair value;
  Value exponent;
};

} // namespace

/// e^rest, |rest| <= 0.35, times 2^exponent.
static Scaled emitExpOfRest(const Pairs &s, Pair rest, Value exponent) {
  Value x = rest.high;
  // e^x - 1 - x, over x^2.
  auto coefficients = series<14>([](int n) { return 1 / factorial(n + 2); });
  Value tail = s.polynomial(coefficients, x);
  tail = s.fma(s.mul(x, x), tail, s.fma(rest.low, x, rest.low));
  Pair head = s.fastSum(s.wide(1), x);
  return {s.fastSum(head.high, s.add(head.low, tail)), exponent};
}

static Scaled emitExp(const Pairs &s, Pair x) {
  // Beyond these the result is 0 or infinite; NaN stays NaN.
  Value high = s.min(s.max(x.high, s.wide(-800)), s.wide(800));
  Value n =
      s.make<math::RoundEvenOp>(s.mul(high, s.wide(0x1.71547652b82fep+0)));
  Value minus = s.neg(n);
  Pair rest = s.sum(s.fma(minus, s.wide(kShortLn2[0]), high),
                    s.mul(minus, s.wide(kShortLn2[1])));
  rest = s.fastSum(rest.high, s.add(rest.low, x.low));
  return emitExpOfRest(s, rest, n);
}

/// 2^n for a whole f64 of at most 1000; of NaN any number.
static Value emitPowerOfTwo(const Pairs &s, Value n) {
  // Added to this, a number stands in the last bits.
  constexpr double kShift = 0x1.8p52;
  Value bits = s.make<arith::SubIOp>(s.bits(s.add(n, s.wide(kShift))),
                                     s.bits(s.wide(kShift)));
  Value biased = s.make<arith::AddIOp>(bits, s.whole(1023));
  return s.wideOfBits(s.make<arith::ShLIOp>(biased, s.whole(52)));
}

/// A power as one number, rounded; half of it if `minusOne` is 1.
static Value emitValue(const Pairs &s, Scaled power, int minusOne = 0) {
  Value n = s.sub(power.exponent, s.wide(minusOne));
  // In two steps: 2^1024 is infinite where the result need not be.
  Value half = s.make<math::FloorOp>(s.mul(n, s.wide(0.5)));
  Value value = s.mul(power.value.high, emitPowerOfTwo(s, half));
  return s.mul(value, emitPowerOfTwo(s, s.sub(n, half)));
}

/// e^x as a pair, |x| <= 40.
static Pair emitExpPair(const Pairs &s, Pair x) {
  Scaled power = emitExp(s, x);
  return s.scale(power.value, emitPowerOfTwo(s, power.exponent));
}

/// e^x - 1 as a pair, |x| <= 40.
static Pair emitExpM1Pair(const Pairs &s, Value x) {
  return s.add(emitExpPair(s, s.pair(x)), s.pair(-1));
}

static Value emitExpOf(const Pairs &s, Value x) {
  return emitValue(s, emitExp(s, s.pair(x)));
}

static Value emitExp2(const Pairs &s, Value x) {
  x = s.min(s.max(x, s.wide(-1200)), s.wide(1200));
  Value n = s.make<math::RoundEvenOp>(x);
  Value rest = s.sub(x, n);
  Pair product = s.product(rest, s.wide(kLn2[0]));
  product.low = s.fma(rest, s.wide(kLn2[1]), product.low);
  return emitValue(s, emitExpOfRest(s, product, n));
}

static Value emitExpM1(const Pairs &s, Value x) {
  Value bounded = s.min(s.max(x, s.wide(-40)), s.wide(40));
  return s.select(s.is(FloatIs::OGT, x, s.wide(40)), emitExpOf(s, x),
                  emitExpM1Pair(s, bounded).high);
}

static Value emitTanh(const Pairs &s, Value x) {
  Value bounded = s.min(x, s.wide(20));
  Pair e = emitExpM1Pair(s, s.add(bounded, bounded));
  return s.div(e, s.add(e, s.pair(2))).high;
}

/// Half of e^x with or without the other half of `small`, which is twice the
/// result where x is small.
static Value emitHalfExp(const Pairs &s, Value x, Pair small) {
  Value large = emitValue(s, emitExp(s, s.pair(x)), /*minusOne=*/1);
  return s.select(s.is(FloatIs::OGT, x, s.wide(20)), large,
                  s.mul(small.high, s.wide(0.5)));
}

static Value emitSinh(const Pairs &s, Value x) {
  // e^x - 1 does not cancel; e + e / (e + 1) is e^x - e^-x.
  Pair e = emitExpM1Pair(s, s.min(x, s.wide(20)));
  return emitHalfExp(s, x, s.add(e, s.div(e, s.add(e, s.pair(1)))));
}

static Value emitCosh(const Pairs &s, Value x) {
  Pair e = emitExpPair(s, s.pair(s.min(x, s.wide(20))));
  return emitHalfExp(s, x, s.add(e, s.div(s.pair(1), e)));
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

/// The logarithm of a number; that of 0, of infinity and of NaN are left to
/// `emitLogValue`.
static Pair emitLog(const Pairs &s, Pair x) {
  // x = m * 2^e with m between the roots of 1/2 and 2.
  Value isSubnormal = s.is(FloatIs::OLT, x.high, s.wide(0x1p-1022));
  Value normal = s.select(isSubnormal, s.mul(x.high, s.wide(0x1p54)), x.high);
  Value bits = s.bits(normal);
  Value exponent = s.make<arith::SubIOp>(
      s.make<arith::ShRUIOp>(bits, s.whole(52)), s.whole(1023));
  Value fraction = s.bitAnd(bits, s.whole((int64_t(1) << 52) - 1));
  Value m = s.wideOfBits(
      s.make<arith::OrIOp>(fraction, s.whole(int64_t(1023) << 52)));
  Value e = s.make<arith::SIToFPOp>(s.f64, exponent);
  Value isLarge = s.is(FloatIs::OGT, m, s.wide(1.4142135623730951));
  m = s.select(isLarge, s.mul(m, s.wide(0.5)), m);
  e = s.select(isLarge, s.add(e, s.wide(1)), e);
  e = s.select(isSubnormal, s.sub(e, s.wide(54)), e);

  // log(m) = 2 atanh(t), 2 t + 2 t z / 3 + ..., where z = t^2 <= 0.03.
  Pair t = s.div(s.pair(s.sub(m, s.wide(1))), s.sum(m, s.wide(1)));
  Pair z = s.mul(t, t);
  auto coefficients = series<12>([](int n) { return 1.0 / (2 * n + 5); });
  Value tail = s.mul(z.high, s.polynomial(coefficients, z.high));
  Pair factor = s.fastSum(s.wide(1.0 / 3), tail);
  factor.low = s.add(factor.low, s.wide(1.850371707708594e-17));
  Pair log = s.add(t, s.mul(t, s.mul(z, factor)));
  log = s.scale(log, s.wide(2));

  Value rest = s.add(log.low, s.div(x.low, x.high));
  Pair high = s.sum(s.mul(e, s.wide(kShortLn2[0])), log.high);
  Value low = s.add(high.low, s.fma(e, s.wide(kShortLn2[1]), rest));
  return s.fastSum(high.high, low);
}

/// A multiple of the logarithm of x as one number.
static Value emitLogValue(const Pairs &s, Value x, Pair log) {
  Value result =
      s.select(s.is(FloatIs::OEQ, x, s.wide(0)), s.wide(-kInfinity), log.high);
  result = s.select(s.is(FloatIs::OLT, x, s.wide(0)), s.wide(kNaN), result);
  // Infinity and NaN.
  return s.select(s.is(FloatIs::ULT, x, s.wide(kInfinity)),
                  s.select(s.is(FloatIs::UNO, x, x), x, result), x);
}

static Value emitLogOf(const Pairs &s, Value x) {
  return emitLogValue(s, x, emitLog(s, s.pair(x)));
}

static Value emitLog2(const Pairs &s, Value x) {
  Pair factor = s.pair(1.4426950408889634, 2.0355273740931033e-17);
  return emitLogValue(s, x, s.mul(emitLog(s, s.pair(x)), factor));
}

static Value emitLog10(const Pairs &s, Value x) {
  Pair factor = s.pair(0.4342944819032518, 1.098319650216765e-17);
  return emitLogValue(s, x, s.mul(emitLog(s, s.pair(x)), factor));
}

static Value emitLog1p(const Pairs &s, Value x) {
  Pair sum = s.sum(s.wide(1), x);
  Value result = emitLogValue(s, sum.high, emitLog(s, sum));
  // The series of what is less than the last place of 1, and of 0 with its
  // sign.
  Value isTiny = s.is(FloatIs::OLT, s.abs(x), s.wide(0x1p-54));
  return s.select(isTiny, x, result);
}

/// log(x + root), where root is about x if x is so large that its square may
/// not be a number.
static Value emitLogOfSum(const Pairs &s, Value x, Pair root) {
  Value isLarge = s.is(FloatIs::OGT, x, s.wide(0x1p500));
  Pair sum = s.add(s.pair(x), root);
  Pair log = emitLog(s, s.select(isLarge, s.pair(x), sum));
  Pair both = s.add(log, s.pair(kLn2[0], kLn2[1]));
  return emitLogValue(s, x, s.select(isLarge, both, log));
}

static Value emitAsinh(const Pairs &s, Value x) {
  Pair root = s.sqrt(s.add(s.product(x, x), s.pair(1)));
  Value isTiny = s.is(FloatIs::OLT, x, s.wide(0x1p-28));
  return s.select(isTiny, x, emitLogOfSum(s, x, root));
}

static Value emitAcosh(const Pairs &s, Value x) {
  Pair root = s.sqrt(s.add(s.product(x, x), s.pair(-1)));
  Value isNone = s.is(FloatIs::OLT, x, s.wide(1));
  return s.select(isNone, s.wide(kNaN), emitLogOfSum(s, x, root));
}

static Value emitAtanh(const Pairs &s, Value x) {
  Pair below = s.sum(s.wide(1), s.neg(x));
  Pair log = emitLog(s, s.div(s.sum(s.wide(1), x), below));
  Value result = s.mul(log.high, s.wide(0.5));
  Value isOne = s.is(FloatIs::OEQ, x, s.wide(1));
  result = s.select(isOne, s.wide(kInfinity), result);
  Value isNone = s.is(FloatIs::OGT, x, s.wide(1));
  result = s.select(isNone, s.wide(kNaN), result);
  Value isTiny = s.is(FloatIs::OLT, x, s.wide(0x1p-28));
  return s.select(isTiny, x, result);
}

/// |x|^y.
static Value emitPower(const Pairs &s, Value x, Pair y) {
  Value magnitude = s.abs(x);
  Pair log = emitLog(s, s.pair(magnitude));
  log.high = emitLogValue(s, magnitude, log);
  Pair product = s.mul(log, y);
  // The rest of what is infinite, or too large in any case, is no number.
  Value plain = s.mul(log.high, y.high);
  Value isSmall = s.is(FloatIs::OLT, s.abs(plain), s.wide(800));
  product = s.select(isSmall, product, s.pair(plain));
  Value power = emitValue(s, emitExp(s, product));
  return emitPowerOfOne(s, magnitude, y.high, power);
}

/// The same of a number y.
static Value emitPower(const Pairs &s, Value x, Value y) {
  return emitPower(s, x, s.pair(y));
}

static Value emitCbrt(const Pairs &s, Value x) {
  return emitPower(s, x, s.pair(1.0 / 3, 1.850371707708594e-17));
}

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

/// erf(x), 0 <= x <= 1.
static Value emitSmallErf(const Pairs &s, Value x) {
  // The series of 2 / sqrt(pi) (erf(x) / x), less 1, which is added exactly.
  constexpr double kTwoOverRootPi = 1.1283791670955126;
  auto coefficients = series<20>([](int n) {
    double term = kTwoOverRootPi / (factorial(n) * (2 * n + 1));
    return n == 0 ? 0.12837916709551257 : n % 2 ? -term : term;
  });
  return s.fma(s.polynomial(coefficients, s.mul(x, x)), x, x);
}

/// erfc(x), x >= 0.5.
static Value emitLargeErfc(const Pairs &s, Value x) {
  // (1 + 2x) e^(x^2) erfc(x) as a polynomial of q = (x - 4) / (x + 4): the
  // Chebyshev fit on q >= -7/9, to 2^-54.
  static constexpr double coefficients[] = {
      3.4238599655102397e-09,  -9.752941425191894e-09, -2.30775672736564e-08,
      1.0358588303681392e-07,  8.187721285705348e-08,  -8.199551611794782e-07,
      2.880833478272064e-07,   5.706822301859325e-06,  -1.1219239450968377e-05,
      -2.4398198695781975e-05, 0.0001506208125905374,  -0.00019925692900828166,
      -0.0007577731198845029,  0.0050319700130714105,  -0.016197734077877748,
      0.03716751553423657,     -0.06633036581087434,   0.09373283499851863,
      -0.10103906603634742,    0.06809705425468858,    0.01537965210262021,
      -0.1396211168405625,     1.2329951186255526};
  // Beyond 28 it is 0.
  x = s.min(x, s.wide(28));
  Pair q = s.div(s.sum(x, s.wide(-4)), s.sum(x, s.wide(4)));
  Value fit = s.polynomial(coefficients, q.high);
  Pair divisor = s.sum(s.wide(1), s.add(x, x));
  Scaled power = emitExp(s, s.neg(s.product(x, x)));
  power.value = s.div(s.mul(power.value, s.pair(fit)), divisor);
  return emitValue(s, power);
}

static Value emitErf(const Pairs &s, Value x) {
  Value large = s.sub(s.wide(1), emitLargeErfc(s, x));
  // NaN is not large.
  return s.select(s.is(FloatIs::OGT, x, s.wide(1)), large, emitSmallErf(s, x));
}

static Value emitErfc(const Pairs &s, Value x) {
  Value magnitude = s.abs(x);
  Value small = s.sub(s.wide(1), emitSmallErf(s, x));
  Value large = emitLargeErfc(s, magnitude);
  Value isNegative = s.is(FloatIs::OLT, x, s.wide(0));
  large = s.select(isNegative, s.sub(s.wide(2), large), large);
  return s.select(s.is(FloatIs::OGT, magnitude, s.wide(0.5)), large, small);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// The angle of (x, y), where neither is negative.
static Pair emitAngle(const Pairs &s, Pair y, Pair x) {
  Value isSteep = s.is(FloatIs::OGT, y.high, x.high);
  Pair large = s.select(isSteep, y, x), small = s.select(isSteep, x, y);
  // Both are 0; both are infinite, or one; or their sum would be.
  Value isZero = s.is(FloatIs::OEQ, large.high, s.wide(0));
  Value isInfinite = s.is(FloatIs::OEQ, large.high, s.wide(kInfinity));
  Value areInfinite =
      s.bitAnd(isInfinite, s.is(FloatIs::OEQ, small.high, s.wide(kInfinity)));
  small = s.select(isInfinite, s.pair(0), small);
  small = s.select(areInfinite, s.pair(1), small);
  large = s.select(s.make<arith::OrIOp>(isZero, isInfinite), s.pair(1), large);
  Value factor = s.select(s.is(FloatIs::OGT, large.high, s.wide(0x1p1000)),
                          s.wide(0x1p-4), s.wide(1));
  large = s.scale(large, factor);
  small = s.scale(small, factor);

  // Angles from pi/8 on are measured from pi/4, with t of at most tan(pi/8).
  constexpr double kTanEighth = 0.41421356237309503;
  Value isWide =
      s.is(FloatIs::OGT, small.high, s.mul(large.high, s.wide(kTanEighth)));
  Pair difference = s.add(small, s.neg(large)), sum = s.add(small, large);
  Pair t =
      s.div(s.select(isWide, difference, small), s.select(isWide, sum, large));
  Value z = s.mul(t.high, t.high);
  auto coefficients =
      series<24>([](int n) { return (n % 2 ? 1.0 : -1.0) / (2 * n + 3); });
  Value tail = s.mul(s.mul(t.high, z), s.polynomial(coefficients, z));
  // The derivative is as good as 1 for what t lacks, but where t is large.
  tail = s.add(tail, s.div(t.low, s.add(s.wide(1), z)));
  Pair angle = s.fastSum(t.high, tail);
  Pair quarter = s.pair(kPi[0] / 4, kPi[1] / 4);
  angle = s.select(isWide, s.add(quarter, angle), angle);
  Pair half = s.pair(kPi[0] / 2, kPi[1] / 2);
  angle = s.select(isSteep, s.add(half, s.neg(angle)), angle);
  return s.select(s.is(FloatIs::UNO, x.high, y.high), s.pair(kNaN), angle);
}

/// pi less an angle, where `isLeft`; as one number.
static Value emitSide(const Pairs &s, Value isLeft, Pair angle) {
  Pair other = s.add(s.pair(kPi[0], kPi[1]), s.neg(angle));
  return s.select(isLeft, other.high, angle.high);
}

static Value emitAtan(const Pairs &s, Value x) {
  return emitAngle(s, s.pair(x), s.pair(1)).high;
}

/// The other side of a triangle with sides 1 and x; NaN if that is more than 1.
static Pair emitOtherSide(const Pairs &s, Value x) {
  return s.sqrt(s.mul(s.sum(s.wide(1), x), s.sum(s.wide(1), s.neg(x))));
}

static Value emitAsin(const Pairs &s, Value x) {
  return emitAngle(s, s.pair(x), emitOtherSide(s, x)).high;
}

static Value emitAcos(const Pairs &s, Value x) {
  Pair angle = emitAngle(s, emitOtherSide(s, x), s.pair(s.abs(x)));
  return emitSide(s, s.is(FloatIs::OLT, x, s.wide(0)), angle);
}

namespace {

struct LowerAtan2 : LowerNumber<Pairs, math::Atan2Op> {
  using LowerNumber::LowerNumber;
  Value emit(const Pairs &s, math::Atan2Op op) const override {
    Value y = op.getLhs(), x = op.getRhs();
    Pair angle = emitAngle(s, s.pair(s.abs(y)), s.pair(s.abs(x)));
    // -0 is to the left, too.
    Value isLeft = s.is(IntIs::slt, s.bits(x), s.whole(0));
    Value result = emitSide(s, isLeft, angle);
    return s.make<math::CopySignOp>(result, y);
  }
};

/// sin(rest), cos(rest) with |rest| <= pi/4, and the quarter that was taken
/// off.
struct Turn {
  Pair sin, cos;
  Value quarter; ///< i64
  Value isKnown;
};

} // namespace

/// Multiples of pi/2 are exact enough up to 1e9.
static Turn emitTurn(const Pairs &s, Value x) {
  Value isKnown = s.is(FloatIs::OLE, s.abs(x), s.wide(1.0e9));
  x = s.select(isKnown, x, s.wide(0));
  Value n = s.make<math::RoundEvenOp>(s.mul(x, s.wide(0.63661977236758134)));
  Value minus = s.neg(n);
  // The first difference is exact.
  Value rest = s.fma(minus, s.wide(kPi[0] / 2), x);
  Pair second = s.product(minus, s.wide(kPi[1] / 2));
  Pair r = s.sum(rest, second.high);
  Value third = s.fma(minus, s.wide(-1.4973849048591698e-33), second.low);
  r = s.fastSum(r.high, s.add(r.low, third));

  Value z = s.mul(r.high, r.high);
  auto ofSin =
      series<10>([](int n) { return (n % 2 ? 1 : -1) / factorial(2 * n + 3); });
  auto ofCos =
      series<10>([](int n) { return (n % 2 ? -1 : 1) / factorial(2 * n + 4); });
  Value half = s.mul(z, s.wide(0.5));
  Value cos = s.sub(s.wide(1), half);
  Value tail =
      s.fma(s.mul(r.high, z), s.polynomial(ofSin, z), s.mul(r.low, cos));
  Turn turn;
  turn.sin = s.fastSum(r.high, tail);
  tail =
      s.fma(s.mul(z, z), s.polynomial(ofCos, z), s.neg(s.mul(r.high, r.low)));
  turn.cos = s.fastSum(cos, s.add(s.sub(s.sub(s.wide(1), cos), half), tail));
  turn.quarter = s.make<arith::FPToSIOp>(s.i64, n);
  turn.isKnown = isKnown;
  return turn;
}

/// The sine of a turn, and `quarters` more.
static Value emitSine(const Pairs &s, Value x, int quarters) {
  Turn turn = emitTurn(s, x);
  Value quarter = s.make<arith::AddIOp>(turn.quarter, s.whole(quarters));
  auto bit = [&](int64_t mask) {
    return s.is(IntIs::ne, s.bitAnd(quarter, s.whole(mask)), s.whole(0));
  };
  Value result = s.select(bit(1), turn.cos, turn.sin).high;
  result = s.select(bit(2), s.neg(result), result);
  return s.select(turn.isKnown, result, s.wide(kNaN));
}

static Value emitSin(const Pairs &s, Value x) { return emitSine(s, x, 0); }
static Value emitCos(const Pairs &s, Value x) { return emitSine(s, x, 1); }

static Value emitTan(const Pairs &s, Value x) {
  Turn turn = emitTurn(s, x);
  Value isOdd = s.is(IntIs::ne, s.bitAnd(turn.quarter, s.whole(1)), s.whole(0));
  Value result = s.div(s.select(isOdd, s.neg(turn.cos), turn.sin),
                       s.select(isOdd, turn.sin, turn.cos))
                     .high;
  return s.select(turn.isKnown, result, s.wide(kNaN));
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct LowerPowF : LowerNumber<Pairs, math::PowFOp> {
  using LowerNumber::LowerNumber;
  Value emit(const Pairs &s, math::PowFOp op) const override {
    Value x = op.getLhs(), y = op.getRhs();
    Value power = emitPower(s, x, y);
    // What is large is even.
    Value isWhole = s.is(FloatIs::OEQ, s.make<math::RoundEvenOp>(y), y);
    Value half = s.mul(y, s.wide(0.5));
    Value isEven = s.is(FloatIs::OEQ, s.make<math::RoundEvenOp>(half), half);
    Value isOdd = s.bitAnd(
        isWhole, s.make<arith::XOrIOp>(isEven, s.integer(s.b.getI1Type(), 1)));
    return emitPowerOfSign(s, x, y, isOdd, power);
  }
};

} // namespace

void cuda::populateDeviceWideFunctionPatterns(RewritePatternSet &patterns) {
  patterns
      .add<LowerAtan2, LowerPowF, LowerFPowI<Pairs, emitPower>,
           LowerUnary<Pairs, math::ExpOp, emitExpOf>,
           LowerUnary<Pairs, math::Exp2Op, emitExp2>,
           LowerUnary<Pairs, math::ExpM1Op, emitExpM1>,
           LowerUnary<Pairs, math::LogOp, emitLogOf>,
           LowerUnary<Pairs, math::Log2Op, emitLog2>,
           LowerUnary<Pairs, math::Log10Op, emitLog10>,
           LowerUnary<Pairs, math::Log1pOp, emitLog1p>,
           LowerUnary<Pairs, math::AcosOp, emitAcos>,
           LowerUnary<Pairs, math::AcoshOp, emitAcosh>,
           LowerUnary<Pairs, math::ErfcOp, emitErfc>,
           LowerUnary<Pairs, math::SinOp, emitSin>,
           LowerUnary<Pairs, math::CosOp, emitCos>,
           LowerUnary<Pairs, math::TanOp, emitTan>,
           LowerByMagnitude<Pairs, math::AsinOp, emitAsin, /*isOdd=*/true>,
           LowerByMagnitude<Pairs, math::AsinhOp, emitAsinh, /*isOdd=*/true>,
           LowerByMagnitude<Pairs, math::AtanOp, emitAtan, /*isOdd=*/true>,
           LowerByMagnitude<Pairs, math::AtanhOp, emitAtanh, /*isOdd=*/true>,
           LowerByMagnitude<Pairs, math::CbrtOp, emitCbrt, /*isOdd=*/true>,
           LowerByMagnitude<Pairs, math::ErfOp, emitErf, /*isOdd=*/true>,
           LowerByMagnitude<Pairs, math::SinhOp, emitSinh, /*isOdd=*/true>,
           LowerByMagnitude<Pairs, math::CoshOp, emitCosh, /*isOdd=*/false>,
           LowerByMagnitude<Pairs, math::TanhOp, emitTanh, /*isOdd=*/true>>(
          patterns.getContext(), /*benefit=*/2);
}
