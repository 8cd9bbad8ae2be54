//===- Reshapes.cpp - Contractions of other dims --------------------------===//

#include "Reshapes.h"

#include "Epilogues.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

linalg::LinalgOp pit::findFollower(Value value) {
  if (!value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  bool isFused = op && op->getBlock() == value.getParentBlock() &&
                 !op.isDpsInit(&use) && !op->hasAttr(kRuleAttrName) &&
                 !op.hasIndexSemantics() &&
                 isEpilogue(op, use.getOperandNumber());
  return isFused ? op : linalg::LinalgOp();
}

/// Are the elements of `value`, or of what it is a view of, a part of another
/// tensor's? A memref of them can be collapsed by a copy only.
static bool isPart(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::ExtractSliceOp>(op))
      return true;
    if (!isa<pit::SparseOp, tensor::CastOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

bool pit::isCollapsible(linalg::LinalgOp op, const ReassociationIndices &run) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      return true;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    return map.isProjectedPermutation() &&
           linalg::isDimSequencePreserved(map, run) &&
           !(map.isFunctionOfDim(run.front()) && isPart(operand.get()));
  });
}

LogicalResult pit::mergeReshapes(Operation *root) {
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  return applyPatternsGreedily(root, std::move(patterns));
}

linalg::LinalgOp mlir::pit::collapseLoops(RewriterBase &rewriter,
                                          linalg::LinalgOp op,
                                          ArrayRef<ReassociationIndices> runs) {
  if (runs.empty())
    return {};
  rewriter.setInsertionPoint(op);
  if (!isa<linalg::GenericOp>(op))
    op = *linalg::generalizeNamedOp(rewriter, op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, runs, rewriter);
  if (failed(collapsed))
    return {};
  rewriter.replaceOp(op, collapsed->results);
  return collapsed->collapsedOp;
}
