//===- Reshapes.cpp - Contractions of other dims --------------------------===//

#include "Reshapes.h"

#include "Epilogues.h"

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

LogicalResult pit::mergeReshapes(Operation *root) {
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  return applyPatternsGreedily(root, std::move(patterns));
}
