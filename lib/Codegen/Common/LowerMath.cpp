//===- LowerMath.cpp - math ops that LLVM lacks on a host -----------------===//

#include "pit/Codegen/Common/MathExpansions.h"
#include "pit/Codegen/Common/Passes.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITLOWERMATH
#include "pit/Codegen/Common/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Rounding to odd
//===----------------------------------------------------------------------===//
//
// A value that was rounded to a type with at least two bits more than another
// is rounded to that one as if it were the first time, if the first rounding
// was to odd: of the two neighbours of what is not exact, the one whose last
// bit is 1.

/// Makes a value that was rounded to the nearest one that is rounded to odd.
/// `inexact` says where something was lost, `larger` where the exact value's
/// magnitude is larger.
static Value makeOdd(const MathBuilder &a, Value value, Value inexact,
                     Value larger) {
  Value bits = a.bits(value);
  Type type = bits.getType();
  Value one = a.integer(type, 1);
  Value low = a.make<arith::AndIOp>(bits, one);
  Value even = a.compare(arith::CmpIPredicate::eq, low, a.integer(type, 0));
  Value up = a.make<arith::AddIOp>(bits, one);
  Value down = a.make<arith::SubIOp>(bits, one);
  Value next = a.select(larger, up, down);
  Value moves = a.make<arith::AndIOp>(even, inexact);
  return a.make<arith::BitcastOp>(value.getType(), a.select(moves, next, bits));
}

Value pit::roundOnce(OpBuilder &b, Location loc, Value value, Type to) {
  MathBuilder a{b, loc};
  Type from = value.getType();
  Type f32 = MathBuilder::cloneType(from, b.getF32Type());
  Value near = a.make<arith::TruncFOp>(f32, value);
  Value back = a.make<arith::ExtFOp>(from, near);
  // Not of NaN.
  Value inexact = a.make<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, value);
  Type bits = a.bits(value).getType();
  Value mask = a.constant(bits, APInt::getSignedMaxValue(64));
  auto magnitude = [&](Value x) -> Value {
    return a.make<arith::AndIOp>(a.bits(x), mask);
  };
  Value larger =
      a.compare(arith::CmpIPredicate::ugt, magnitude(value), magnitude(back));
  return a.make<arith::TruncFOp>(to, makeOdd(a, near, inexact, larger));
}

/// a * b + c of narrow floats: the product is exact in `wide`, and the sum is
/// rounded to odd there.
static Value fuseNarrow(OpBuilder &b, math::FmaOp op, Type wide) {
  Location loc = op.getLoc();
  MathBuilder a{b, loc};
  wide = MathBuilder::cloneType(op.getType(), wide);
  auto extend = [&](Value value) -> Value {
    return a.make<arith::ExtFOp>(wide, value);
  };
  auto add = [&](Value x, Value y) { return a.make<arith::AddFOp>(x, y); };
  auto sub = [&](Value x, Value y) { return a.make<arith::SubFOp>(x, y); };
  Value addend = extend(op.getC());
  Value product = a.make<arith::MulFOp>(extend(op.getA()), extend(op.getB()));
  Value sum = add(product, addend);
  // The part that the sum lost, exactly.
  Value second = sub(sum, product);
  Value lost = add(sub(product, sub(sum, second)), sub(addend, second));
  Value zero = a.constant(wide, 0.0);
  Value inexact = a.make<arith::CmpFOp>(arith::CmpFPredicate::ONE, lost, zero);
  auto isNegative = [&](Value x) {
    Value bits = a.bits(x);
    return a.compare(arith::CmpIPredicate::slt, bits,
                     a.integer(bits.getType(), 0));
  };
  Value larger =
      a.compare(arith::CmpIPredicate::eq, isNegative(sum), isNegative(lost));
  Value odd = makeOdd(a, sum, inexact, larger);
  if (getElementTypeOrSelf(wide).isF64())
    return roundOnce(b, loc, odd, op.getType());
  return a.make<arith::TruncFOp>(op.getType(), odd);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Devices have it of f16 and bf16.
struct LowerNarrowFma : OpRewritePattern<math::FmaOp> {
  LowerNarrowFma(MLIRContext *context, bool device)
      : OpRewritePattern(context), device(device) {}
  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    bool isHalf = isa<Float16Type, BFloat16Type>(element);
    if (!isF8(element) && (device || !isHalf))
      return failure();
    // Products of bf16 leave the range of f32.
    Type wide = element.isBF16() ? Type(rewriter.getF64Type())
                                 : Type(rewriter.getF32Type());
    rewriter.replaceOp(op, fuseNarrow(rewriter, op, wide));
    return success();
  }

  bool device;
};

LogicalResult lowerNarrowTruncF(arith::TruncFOp op, PatternRewriter &rewriter) {
  if (!getElementTypeOrSelf(op.getIn().getType()).isF64() ||
      getElementTypeOrSelf(op.getType()).isF32())
    return failure();
  rewriter.replaceOp(
      op, roundOnce(rewriter, op.getLoc(), op.getIn(), op.getType()));
  return success();
}

/// x^n with the power as a float, which has the sign of x taken out: whether n
/// is odd does not show in a float.
LogicalResult lowerFPowI(math::FPowIOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  MathBuilder a{rewriter, loc};
  Type type = op.getType();
  Type wide = MathBuilder::cloneType(type, rewriter.getF64Type());
  Value base = op.getLhs(), power = op.getRhs();
  if (getElementTypeOrSelf(power.getType()).isIndex())
    power = arith::IndexCastOp::create(
        rewriter, loc, MathBuilder::cloneType(type, rewriter.getI64Type()),
        power);
  Value x = math::AbsFOp::create(rewriter, loc, base);
  if (type != wide)
    x = arith::ExtFOp::create(rewriter, loc, wide, x);
  Value n = arith::SIToFPOp::create(rewriter, loc, wide, power);
  Value y = math::PowFOp::create(rewriter, loc, x, n, op.getFastmath());
  if (type != wide)
    y = arith::TruncFOp::create(rewriter, loc, type, y);
  Value one = a.integer(power.getType(), 1);
  Value odd = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::eq,
      arith::AndIOp::create(rewriter, loc, power, one), one);
  Value withSign = math::CopySignOp::create(rewriter, loc, y, base);
  rewriter.replaceOpWithNewOp<arith::SelectOp>(op, odd, withSign, y);
  return success();
}

struct PitLowerMath : pit::impl::PitLowerMathBase<PitLowerMath> {
  using PitLowerMathBase::PitLowerMathBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    if (device && failed(checkDialects()))
      return signalPassFailure();
    RewritePatternSet patterns(context);
    populateMathExpansionPatterns(patterns);
    patterns.add<LowerNarrowFma>(context, device);
    if (!device)
      addHostPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

  /// Passes of MLIR that lower kernels behind this one ask the dialect of each
  /// op.
  LogicalResult checkDialects() {
    WalkResult found = getOperation()->walk([](Operation *op) {
      if (op->getDialect())
        return WalkResult::advance();
      op->emitError() << "'" << op->getName()
                      << "' op is of no dialect that is known, so a kernel "
                         "cannot have it";
      return WalkResult::interrupt();
    });
    return failure(found.wasInterrupted());
  }

  static void addHostPatterns(RewritePatternSet &patterns) {
    MLIRContext *context = patterns.getContext();
    patterns.add(lowerNarrowTruncF);
    // For powers that are no constants.
    patterns.add(lowerFPowI, /*benefit=*/0);
    // LLVM's exp(x) - 1 is 0 where x is small.
    RewritePatternSet libm(context);
    populateMathToLibmConversionPatterns(libm);
    OperationName expm1(math::ExpM1Op::getOperationName(), context);
    for (std::unique_ptr<RewritePattern> &pattern : libm.getNativePatterns())
      if (pattern->getRootKind() == expm1)
        patterns.add(std::move(pattern));
  }
};

} // namespace
