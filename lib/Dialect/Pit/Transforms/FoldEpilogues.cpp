//===- FoldEpilogues.cpp - Planned ops without a loop of their own --------===//
//
// An element-wise op that is planned for the index of the planned op before it
// loses its rule. If its result is only packed, so is the op, and
// pit-fuse-epilogues takes it. Else pit-tile has the loop before it compute it.
//
//===----------------------------------------------------------------------===//

#include "Epilogues.h"
#include "Folder.h"

#include "pit/Dialect/Pit/Transforms/Mark.h"

using namespace mlir;
using namespace mlir::pit;

void Folder::leaveEpilogues() {
  SmallVector<linalg::LinalgOp> planned;
  function.walk([&](linalg::LinalgOp op) {
    if (op->hasAttr(kRuleAttrName))
      planned.push_back(op);
  });
  // Ops that another one took on the way have no rule any more.
  for (linalg::LinalgOp op : planned)
    if (std::optional<Packing> packing = getWrittenPacking(op))
      leaveEpilogues(getOutcome(op), *packing);
}

void Folder::leaveEpilogues(Value outcome, Packing packing) {
  SparseOp before;
  while (std::optional<SelectedEpilogues> found =
             findSelectedEpilogues(outcome, packing)) {
    for (auto [operand, own] : llvm::zip(found->operands, found->packings))
      leaveEpilogue(*operand, own);
    // The elements that the mark before these leaves out the one after them
    // does, too.
    if (before)
      rewriter.replaceOp(before, before.getInput());
    before = found->marks.front();
    if (found->marks.size() != 1 || !before->hasOneUse())
      return;
    packing = found->packing;
    outcome = before.getResult();
  }
  if (before)
    leaveSkipped(before);
}

void Folder::leaveEpilogue(OpOperand &operand, const Packing &packing) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  rewriter.modifyOpInPlace(op, [&] { op->removeAttr(kRuleAttrName); });
  // Nothing is wanted of the other operands either but what is selected.
  SmallVector<unsigned> loops(packing.dims.begin(), packing.dims.end());
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<Packing> own = *getOperandPacking(
        op.getMatchingIndexingMap(input), loops, packing.index);
    if (!own || input == &operand)
      continue;
    Value value = input->get();
    for (auto mark = value.getDefiningOp<SparseOp>();
         mark && !isResultMark(mark) &&
         (isIdentity(mark) || isAllSelected(mark, *own));
         mark = value.getDefiningOp<SparseOp>())
      value = mark.getInput();
    rewriter.modifyOpInPlace(op, [&] { input->set(value); });
    offer(op, *input, /*marked=*/false, *own);
  }
}

void Folder::leaveSkipped(SparseOp mark) {
  linalg::LinalgOp op = findSkippedEpilogue(mark);
  auto rule = op ? op->getAttrOfType<RuleAttr>(kRuleAttrName) : RuleAttr();
  if (rule && getIndexMark(op, rule) == mark)
    rewriter.modifyOpInPlace(op, [&] { op->removeAttr(kRuleAttrName); });
}
