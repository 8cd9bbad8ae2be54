//===- Rules.cpp - Plans and tiles an op by a rule ------------------------===//

#include "pit/Dialect/Pit/Transforms/Rules.h"

#include "Selection/TileGeometry.h"
#include "Tiler.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

/// Is an element selected just if its micro-tile is live?
static bool isExact(SparseOp mark, SparsityIndexType index) {
  ArrayRef<int64_t> microTile = index.getMicroTile();
  switch (mark.getSource()) {
  case Source::Values:
  case Source::Index:
    return false;
  case Source::Mask:
  case Source::Routing:
    return llvm::all_of(microTile, [](int64_t e) { return e == 1; }) &&
           !index.hasWindows();
  case Source::Lengths: {
    int64_t ragged =
        cast<RankedTensorType>(mark.getSelector().getType()).getRank();
    if (index.getAxis() != ragged)
      return false;
    return llvm::all_of(microTile.take_front(ragged),
                        [](int64_t e) { return e == 1; });
  }
  }
  llvm_unreachable("unknown source");
}

static IndexOp buildIndex(RewriterBase &rewriter, const LegalRule &legal,
                          Value like, bool unordered) {
  SparseOp mark = legal.mark;
  Location loc = mark.getLoc();
  Value input = mark.getSelector() ? mark.getSelector() : mark.getInput();
  SmallVector<Value> shape;
  if (mark.getSource() == Source::Lengths ||
      mark.getSource() == Source::Routing)
    for (OpFoldResult size : tensor::getMixedSizes(rewriter, loc, like))
      shape.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, size));
  bool values = mark.getSource() == Source::Values;
  return IndexOp::create(
      rewriter, loc, legal.index, mark.getSource(), input, shape,
      /*seen=*/Value(), /*bitmap=*/Value(),
      values ? mark.getBackgroundAttr() : TypedAttr(), unordered);
}

/// Marks the operand by the index.
static void markInput(RewriterBase &rewriter, linalg::LinalgOp op,
                      const LegalRule &legal, IndexOp index) {
  SparseOp mark = legal.mark;
  bool exact = isExact(mark, legal.index);
  // The new mark selects by the index; where that selects more than the mark
  // does, it comes after it.
  bool direct = exact || mark.getAssume() || mark.getSource() == Source::Values;
  Value input = direct ? mark.getInput() : mark.getResult();
  auto chosen =
      SparseOp::create(rewriter, mark.getLoc(), input, Source::Index, index,
                       mark.getBackgroundAttr(),
                       /*assume=*/!exact || mark.getAssume(), RuleAttr());
  // An input that reads the same elements stays known to do so.
  AffineMap map =
      op.getMatchingIndexingMap(&op->getOpOperand(legal.rule.getOperand()));
  rewriter.modifyOpInPlace(op, [&] {
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get() == mark.getResult() &&
          op.getMatchingIndexingMap(input) == map)
        input->set(chosen);
  });
}

/// Marks the result by the index.
static void markResult(RewriterBase &rewriter, const LegalRule &legal,
                       IndexOp index) {
  SparseOp mark = legal.mark;
  bool exact = isExact(mark, legal.index);
  rewriter.setInsertionPoint(mark);
  auto chosen = SparseOp::create(rewriter, mark.getLoc(), mark.getInput(),
                                 Source::Index, index, mark.getBackgroundAttr(),
                                 /*assume=*/false, RuleAttr());
  if (exact)
    rewriter.replaceOp(mark, chosen.getResult());
  else
    rewriter.modifyOpInPlace(mark,
                             [&] { mark.getInputMutable().assign(chosen); });
}

Value mlir::pit::planByRule(RewriterBase &rewriter, linalg::LinalgOp op,
                            const LegalRule &legal, bool unordered) {
  SparseOp mark = legal.mark;
  OpOperand &operand = op->getOpOperand(legal.rule.getOperand());
  rewriter.modifyOpInPlace(op, [&] { op->setAttr(kRuleAttrName, legal.rule); });
  if (mark.getSource() == Source::Index)
    return mark.getSelector();
  OpBuilder::InsertionGuard guard(rewriter);
  bool isResult = op.isDpsInit(&operand);
  if (isResult)
    rewriter.setInsertionPoint(op);
  else
    rewriter.setInsertionPointAfter(mark);
  IndexOp index = buildIndex(
      rewriter, legal, isResult ? operand.get() : mark.getInput(), unordered);
  if (isResult)
    markResult(rewriter, legal, index);
  else
    markInput(rewriter, op, legal, index);
  return index;
}

LogicalResult mlir::pit::tileByRule(RewriterBase &rewriter, linalg::LinalgOp op,
                                    bool kernels) {
  auto rule = op->getAttrOfType<RuleAttr>(kRuleAttrName);
  if (!rule)
    return op->emitOpError() << "has no " << kRuleAttrName << " to be tiled by";
  if (rule.getOperand() < 0 ||
      rule.getOperand() >= static_cast<int64_t>(op->getNumOperands()))
    return op->emitOpError()
           << "has a " << kRuleAttrName << " without one of its operands";
  SparseOp mark = getIndexMark(op, rule);
  if (!mark)
    return op->emitOpError() << "has a rule for operand " << rule.getOperand()
                             << ", which is not marked by pit.sparse index(..)";
  if (Refused refused = checkTileable(
          op, rule, cast<SparsityIndexType>(mark.getSelector().getType()),
          mark.getBackgroundOrZero()))
    return op->emitOpError() << "cannot be tiled by its rule: " << refused->why;
  Tiler(rewriter, op, rule, mark, kernels).run();
  return success();
}
