//===- ApproximateFunctions.cpp - Functions of vectors --------------------===//

#include "VectorPlan.h"

#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <limits>

using namespace mlir;
using namespace mlir::pit;

namespace {

/// 2^x = 2^n * 2^r, where n is the nearest integer and |r| <= 0.5. Upstream
/// has exp(x * log(2)), whose argument is rounded.
struct ApproximateExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &b) const override {
    Value x = op.getOperand();
    Type type = x.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    MathBuilder a{b, op.getLoc()};
    auto number = [&](double value) { return a.constant(type, value); };

    // Numbers from 2^23 to 2^24 are integers, the lowest bits of which are n.
    Value shift = number(0x1.8p23);
    Value shifted = a.make<arith::AddFOp>(x, shift);
    Value n = a.make<arith::SubFOp>(shifted, shift);
    Value r = a.make<arith::SubFOp>(x, n);

    // The polynomial of least relative error, 2e-9, among those that are 1 at
    // 0.
    Value power = number(1.5353362e-4);
    for (double factor : {1.3398874e-3, 9.6184369e-3, 5.5503324e-2,
                          2.4022648e-1, 6.9314718e-1, 1.0})
      power = a.make<math::FmaOp>(power, r, number(factor));

    Value bits = a.bits(shifted);
    Value exponent = a.make<arith::ShLIOp>(bits, a.integer(bits.getType(), 23));
    Value scaled = a.make<arith::BitcastOp>(
        type, a.make<arith::AddIOp>(a.bits(power), exponent));

    // The steps above get some results wrong: small ones, large ones, and NaN.
    using P = arith::CmpFPredicate;
    Value small = a.make<arith::CmpFOp>(P::OLT, x, number(-126.0));
    scaled = a.select(small, number(0.0), scaled);
    Value large = a.make<arith::CmpFOp>(P::UGE, x, number(128.0));
    Value infinite = a.make<arith::AddFOp>(
        x, number(std::numeric_limits<double>::infinity()));
    b.replaceOpWithNewOp<arith::SelectOp>(op, large, infinite, scaled);
    return success();
  }
};

} // namespace

// LLVM would call libm once for each lane. Functions that are wrong for some
// arguments, as sin is for large ones, are left to it.
static bool isGood(StringRef name) {
  return llvm::is_contained(
      {math::ErfOp::getOperationName(), math::ExpOp::getOperationName(),
       math::Exp2Op::getOperationName(), math::ExpM1Op::getOperationName(),
       math::Log1pOp::getOperationName(), math::Log2Op::getOperationName(),
       math::LogOp::getOperationName(), math::TanhOp::getOperationName()},
      name);
}

LogicalResult cpu::approximateFunctions(Operation *root) {
  SmallVector<Operation *> functions;
  root->walk([&](Operation *op) {
    if (isGood(op->getName().getStringRef()) &&
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>))
      functions.push_back(op);
  });
  RewritePatternSet patterns(root->getContext());
  patterns.add<ApproximateExp2>(root->getContext());
  populateMathF32ExpansionPatterns(patterns, isGood);
  populateMathPolynomialApproximationPatterns(patterns, isGood);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return applyOpPatternsGreedily(functions, std::move(patterns), config);
}
