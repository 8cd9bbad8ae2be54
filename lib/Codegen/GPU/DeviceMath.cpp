//===- DeviceMath.cpp - math functions of a device ------------------------===//
//
// PTX computes few functions itself; the others are expanded into arithmetic.
//
//===----------------------------------------------------------------------===//

#include "DeviceFunctions.h"
#include "DeviceScalars.h"

#include "pit/Codegen/GPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <limits>

namespace mlir::pit {
#define GEN_PASS_DEF_PITLOWERDEVICEMATH
#include "pit/Codegen/GPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Functions of f32 that upstream approximates to a few units in the last
/// place.
static const StringRef kApproximated[] = {
    "acos", "asin", "atan", "erfc", "expm1", "log", "log1p", "log2", "tanh"};

namespace {

bool isF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

/// May what is off by more than the last place take the place of an op?
template <typename OpTy> bool isApproximate(OpTy op) {
  return bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
}

/// One instruction of PTX, where subnormal numbers are 0; without that it takes
/// four. Null: there is none for vectors.
Value callFlushing(const Scalars &s, StringRef name, Value x) {
  if (!x.getType().isF32())
    return {};
  return s.make<LLVM::CallIntrinsicOp>(x.getType(), s.b.getStringAttr(name), x)
      .getResult(0);
}

/// 2^x, 0 if that is subnormal.
Value approximateExp2(const Scalars &s, Value x) {
  Value power = callFlushing(s, "llvm.nvvm.ex2.approx.ftz.f32", x);
  return power ? power : s.make<math::Exp2Op>(x);
}

/// Is `value` the product of something and a constant? These, then.
std::optional<std::pair<Value, double>> matchScaled(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  FloatAttr factor;
  if (!product)
    return std::nullopt;
  if (matchPattern(product.getRhs(), m_Constant(&factor)))
    return std::make_pair(product.getLhs(), factor.getValueAsDouble());
  if (matchPattern(product.getLhs(), m_Constant(&factor)))
    return std::make_pair(product.getRhs(), factor.getValueAsDouble());
  return std::nullopt;
}

/// The value that a constant is added to.
Value matchPlus(Value value, double constant) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  FloatAttr number;
  for (bool first : {true, false}) {
    if (!sum)
      return {};
    Value other = first ? sum.getRhs() : sum.getLhs();
    if (matchPattern(other, m_Constant(&number)) &&
        number.getValueAsDouble() == constant)
      return first ? sum.getLhs() : sum.getRhs();
  }
  return {};
}

/// h x (1 + erf(c x)) with `afn`, as gelu is, for h and c above 0. It is
/// 2 h (max(x, 0) - |x| erfc(c |x|) / 2), and erfc(z) is 2^Q(z): 11
/// instructions instead of 20, and negative numbers far from 0 are right, too,
/// where erf is nearly -1. Q is a minimax fit of degree 6 on [0, 4.5], with
/// Q(0) = 0, by iteratively reweighted least squares: erfc is off by 7e-5 of
/// itself there. Beyond, it goes on falling up to 8, where it is 2^-94.
Value lowerGelu(const Scalars &s, arith::MulFOp op) {
  static constexpr double exponent[] = {1.705453178146854e-4,
                                        -3.306932048872113e-3,
                                        2.817938849329948e-2,
                                        -0.1437540501356125,
                                        -0.9231392741203308,
                                        -1.6266440153121948,
                                        0};
  constexpr double last = 8;
  if (!op.getType().isF32())
    return {};
  for (bool first : {true, false}) {
    auto half = matchScaled(first ? op.getLhs() : op.getRhs());
    Value erf = matchPlus(first ? op.getRhs() : op.getLhs(), 1);
    auto erfOp = erf ? erf.getDefiningOp<math::ErfOp>() : math::ErfOp();
    auto scaled = erfOp ? matchScaled(erfOp.getOperand()) : std::nullopt;
    if (!half || !scaled || scaled->first != half->first ||
        !isApproximate(erfOp) || half->second <= 0 || scaled->second <= 0)
      continue;
    auto [x, h] = *half;
    double c = scaled->second;
    // h and c are part of the exponent's coefficients.
    SmallVector<double> coefficients(std::begin(exponent), std::end(exponent));
    double power = 1;
    for (double &coefficient : llvm::reverse(coefficients)) {
      coefficient *= power;
      power *= c;
    }
    coefficients.back() += std::log2(h);
    Value bounded = s.min(s.abs(x), s.number(last / c));
    Value part = approximateExp2(s, s.polynomial(coefficients, bounded));
    Value positive = s.max(x, s.number(0));
    if (h != 0.5)
      positive = s.mul(positive, s.number(2 * h));
    return s.fma(s.neg(bounded), part, positive);
  }
  return {};
}

/// x / (1 + exp(y)) with `afn`, as silu and sigmoid are: the divisor is at
/// least 1, so a reciprocal needs no care of subnormal numbers.
Value lowerSigmoid(const Scalars &s, arith::DivFOp op) {
  Value power = matchPlus(op.getRhs(), 1);
  if (!op.getType().isF32() || !isApproximate(op) || !power ||
      !power.getDefiningOp<math::ExpOp>())
    return {};
  Value reciprocal = callFlushing(s, "llvm.nvvm.rcp.approx.ftz.f", op.getRhs());
  return s.mul(op.getLhs(), reciprocal);
}

/// exp(x) = 2^n * 2^f, where n + f = x * log2(e), n is whole and |f| <= 0.5:
/// PTX's 2^x is as exact as x. With `afn` it is 2^(x * log2(e)), off by the
/// rounding of that product, which is up to |x| units in the last place.
Value lowerExp(const Scalars &s, math::ExpOp op) {
  if (!isF32(op.getType()))
    return {};
  Value high = s.number(1.44269502162933349609375); // log2(e) as f32
  if (isApproximate(op)) {
    return approximateExp2(s, s.mul(op.getOperand(), high));
  }
  // Beyond these the result is 0 or infinite, and NaN stays NaN.
  Value x = s.max(op.getOperand(), s.number(-110));
  x = s.min(x, s.number(100));
  Value low = s.number(1.9259629911266174681e-8); // and the rest
  Value n = s.make<math::RoundEvenOp>(s.mul(x, high));
  // 2^128 is infinite where the result need not be.
  n = s.min(n, s.number(127));
  Value rest = s.fma(x, low, s.fma(x, high, s.neg(n)));
  return s.mul(s.make<math::Exp2Op>(n), s.make<math::Exp2Op>(rest));
}

/// 2^x with `afn`: one instruction for four, which differ where 2^x is
/// subnormal.
Value lowerExp2(const Scalars &s, math::Exp2Op op) {
  if (!isApproximate(op) || !op.getType().isF32())
    return {};
  return approximateExp2(s, op.getOperand());
}

/// The larger or smaller one, in one instruction for four of arith's expansion.
template <typename OpTy, typename IntrinsicTy>
Value lowerExtremum(const Scalars &s, OpTy op) {
  if (!op.getType().isF32())
    return {};
  return s.make<IntrinsicTy>(op.getLhs(), op.getRhs());
}

/// erf(x), to 1.3 units in the last place: x P(x^2) for small x, else
/// 1 - 2^Q(|x|), where Q approximates log2(erfc). Both are computed, since a
/// warp has numbers of both kinds, and upstream's choice among coefficients,
/// one by one, and its division take three times as long. P and Q are minimax
/// fits (iteratively reweighted least squares) of the relative error of erf on
/// [0, 0.92] and [0.92, 4]; beyond 4 erf is 1 in f32. With `afn` it is Q alone,
/// a fit on [0, 4], with Q(0) = 0, of what erf is off by: 4.5e-7 at most. That
/// is not relative, so erf of a number near 0 is good for a sum with 1, as in
/// gelu.
Value lowerErf(const Scalars &s, math::ErfOp op) {
  if (!isF32(op.getType()))
    return {};
  static constexpr double small[] = {
      8.382311352761462e-05, -0.0008145580068230629, 0.005201284773647785,
      -0.026859499514102936, 0.11283697187900543,    -0.37612634897232056,
      0.12837916612625122};
  static constexpr double large[] = {
      -3.0246214009821415e-05, 0.0006246333941817284, -0.006007111631333828,
      0.03621219843626022,     -0.15617278218269348,  -0.9137648344039917,
      -1.6295266151428223,     0.0002480944967828691};
  static constexpr double approximate[] = {0.00022488710237666965,
                                           -0.0040298826061189175,
                                           0.03146474435925484,
                                           -0.1500774770975113,
                                           -0.9180628657341003,
                                           -1.6279335021972656,
                                           0};
  Value x = op.getOperand();
  Value magnitude = s.abs(x);
  Value bounded = s.min(magnitude, s.number(4));
  Value power = isApproximate(op)
                    ? approximateExp2(s, s.polynomial(approximate, bounded))
                    : s.make<math::Exp2Op>(s.polynomial(large, bounded));
  Value high = s.make<math::CopySignOp>(s.sub(s.number(1), power), x);
  if (isApproximate(op)) {
    return high;
  }
  // P less 1, which is added exactly.
  Value low = s.fma(s.polynomial(small, s.mul(x, x)), x, x);
  // NaN is not large.
  Value isLarge = s.is(FloatIs::OGT, magnitude, s.number(0.92));
  return s.select(isLarge, high, low);
}

Value lowerLog10(const Scalars &s, math::Log10Op op) {
  if (!isF32(op.getType()))
    return {};
  Value log = s.make<math::LogOp>(op.getOperand());
  return s.mul(log, s.number(0.43429448190325182765));
}

/// 1 / sqrt(x), of f64 as well.
Value lowerRsqrt(const Scalars &s, math::RsqrtOp op) {
  TypedAttr one = s.b.getOneAttr(op.getType());
  if (!one)
    return {};
  Value root = s.make<math::SqrtOp>(op.getOperand());
  return s.div(s.make<arith::ConstantOp>(one), root);
}

/// sin and cos: the argument is reduced to at most pi/4 in f64, where multiples
/// of pi/2 are exact enough for every f32 up to 1e9. The result of larger ones
/// is NaN.
template <typename OpTy, bool isCos>
Value lowerSinCos(const Scalars &s, OpTy op) {
  // Vectors do not reach a device.
  if (!op.getType().isF32())
    return {};
  Value x = s.make<arith::ExtFOp>(s.f64, op.getOperand());
  Value n = s.make<math::RoundEvenOp>(s.mul(x, s.wide(0.63661977236758134)));
  Value minus = s.neg(n);
  Value r = s.fma(minus, s.wide(1.5707963267948965580), x);
  r = s.fma(minus, s.wide(6.1232339957367660e-17), r);
  Value y = s.make<arith::TruncFOp>(op.getType(), r);

  // The quarter; of numbers that are too large, infinities and NaN any.
  Value isReduced = s.is(FloatIs::OLE, s.abs(x), s.wide(1.0e9));
  n = s.select(isReduced, n, s.wide(0));
  Value quarter = s.make<arith::FPToSIOp>(s.i64, n);
  if (isCos)
    quarter = s.make<arith::AddIOp>(quarter, s.whole(1));

  Value z = s.mul(y, y);
  Value sine =
      s.polynomial({-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1}, z);
  sine = s.fma(s.mul(y, z), sine, y);
  Value cosine = s.polynomial({2.443315711809948e-5, -1.388731625493765e-3,
                               4.166664568298827e-2, -0.5, 1},
                              z);

  auto bit = [&](int64_t mask) {
    return s.is(IntIs::ne, s.bitAnd(quarter, s.whole(mask)), s.whole(0));
  };
  Value result = s.select(bit(1), cosine, sine);
  result = s.select(bit(2), s.neg(result), result);
  return s.select(isReduced, result,
                  s.number(std::numeric_limits<double>::quiet_NaN()));
}

LogicalResult lowerSincos(math::SincosOp op, PatternRewriter &rewriter) {
  Value x = op.getOperand();
  rewriter.replaceOp(op, {math::SinOp::create(rewriter, op.getLoc(), x),
                          math::CosOp::create(rewriter, op.getLoc(), x)});
  return success();
}

/// A number as one bit, which is 0 or 1 (or -1): LLVM's code for PTX gives the
/// opposite.
template <typename OpTy> Value lowerToBit(const Scalars &s, OpTy op) {
  Value x = op.getIn();
  TypedAttr one = s.b.getOneAttr(x.getType());
  if (!getElementTypeOrSelf(op.getType()).isInteger(1) || !one)
    return {};
  return s.is(FloatIs::OGE, s.abs(x), s.make<arith::ConstantOp>(one));
}

/// Does PTX, or arithmetic that LLVM makes, compute the op itself?
bool isNative(Operation *op) {
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
          math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp,
          math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsNaNOp,
          math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::TruncOp>(op))
    return true;
  return isa<math::Exp2Op>(op) && isF32(op->getResult(0).getType());
}

/// Fails on the first function that was not expanded.
LogicalResult checkFunctions(Operation *root) {
  WalkResult walk = root->walk([&](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()) || isNative(op))
      return WalkResult::advance();
    op->emitOpError() << "of type " << op->getResult(0).getType()
                      << " has no lowering for a device; functions of f64, of "
                         "f32, and of what extends to f32, have one";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

struct LowerDeviceMathPass
    : pit::impl::PitLowerDeviceMathBase<LowerDeviceMathPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // Compositions of functions, before each function is expanded.
    RewritePatternSet compounds(context);
    compounds.add<LowerNumber<lowerGelu>, LowerNumber<lowerSigmoid>>(context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(compounds))))
      return signalPassFailure();
    RewritePatternSet patterns(context);
    math::populateExpansionPatterns(patterns, {"tan"});
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained(kApproximated,
                                name.substr(name.rfind('.') + 1));
    });
    populateDeviceFunctionPatterns(patterns);
    populateDeviceLibraryPatterns(patterns);
    populateDeviceRemainderPatterns(patterns);
    patterns.add<LowerNumber<lowerErf>, LowerNumber<lowerExp>,
                 LowerNumber<lowerExp2>, LowerNumber<lowerLog10>,
                 LowerNumber<lowerRsqrt>,
                 LowerNumber<lowerExtremum<arith::MaximumFOp, LLVM::MaximumOp>>,
                 LowerNumber<lowerExtremum<arith::MinimumFOp, LLVM::MinimumOp>>,
                 LowerNumber<lowerExtremum<arith::MaxNumFOp, LLVM::MaxNumOp>>,
                 LowerNumber<lowerExtremum<arith::MinNumFOp, LLVM::MinNumOp>>,
                 LowerNumber<lowerToBit<arith::FPToSIOp>>,
                 LowerNumber<lowerToBit<arith::FPToUIOp>>,
                 LowerNumber<lowerSinCos<math::SinOp, /*isCos=*/false>>,
                 LowerNumber<lowerSinCos<math::CosOp, /*isCos=*/true>>>(
        context, /*benefit=*/2);
    patterns.add(lowerSincos, /*benefit=*/2);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))) ||
        failed(checkFunctions(getOperation())))
      signalPassFailure();
  }
};
} // namespace
