//===- DropUnitResults.cpp - Results without dims that are kept at 1 ------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITDROPUNITRESULTS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

/// Is a dimension of a result indexed by 0 alone?
static bool keepsUnitDim(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return llvm::any_of(map.getResults(), llvm::IsaPred<AffineConstantExpr>);
  });
}

namespace {
struct DropUnitResults : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !keepsUnitDim(op))
      return failure();
    linalg::ControlDropUnitDims control;
    // Dims of the iteration stay, of extent 1 or not: rules speak about them.
    control.controlFn = [](Operation *op) {
      SmallVector<unsigned> wide;
      for (auto [d, range] :
           llvm::enumerate(cast<linalg::GenericOp>(op).getStaticLoopRanges()))
        if (range != 1)
          wide.push_back(d);
      return wide;
    };
    FailureOr<linalg::DropUnitDimsResult> dropped =
        linalg::dropUnitDims(rewriter, op, control);
    if (failed(dropped))
      return failure();
    rewriter.replaceOp(op, dropped->replacements);
    return success();
  }
};

struct DropUnitResultsPass
    : pit::impl::PitDropUnitResultsBase<DropUnitResultsPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<DropUnitResults>(context);
    // A fill of a new tensor stays one, and a reshape of one op meets that of
    // the next.
    linalg::FillOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
