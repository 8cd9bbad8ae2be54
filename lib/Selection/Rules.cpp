//===- Rules.cpp - The rules that an op may have --------------------------===//

#include "pit/Selection/Rules.h"

#include "TileGeometry.h"

#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace mlir::pit;

/// The mark of a result that says which of its elements are wanted.
static SparseOp getResultMark(linalg::LinalgOp op, OpOperand &init) {
  Value result = op.getTiedOpResult(&init);
  if (!result.hasOneUse())
    return {};
  auto mark = dyn_cast<SparseOp>(*result.getUsers().begin());
  if (!mark || mark.getSource() == Source::Values)
    return {};
  // The index is built before the op.
  if (!DominanceInfo().properlyDominates(mark.getSelector(), op.getOperation()))
    return {};
  return mark;
}

SparseOp mlir::pit::getMark(linalg::LinalgOp op, OpOperand &operand) {
  return op.isDpsInit(&operand) ? getResultMark(op, operand)
                                : operand.get().getDefiningOp<SparseOp>();
}

/// Checks the parts of a rule, before it is looked at as a whole.
static Refused checkParts(linalg::LinalgOp op, RuleAttr rule) {
  int64_t number = rule.getOperand(), operands = op->getNumOperands();
  if (number < 0 || number >= operands)
    return refuse("the rule is of operand " + Twine(number) + "; the op has " +
                  Twine(operands));
  OpOperand &operand = op->getOpOperand(number);
  if (!getMark(op, operand))
    return refuse("operand " + Twine(number) + " has no mark");
  int64_t rank = op.getMatchingIndexingMap(&operand).getNumResults();
  if (rule.getAxis() < 0 || rule.getAxis() >= rank)
    return refuse("the rule is of axis " + Twine(rule.getAxis()) +
                  "; the operand has rank " + Twine(rank));
  int64_t extents = rule.getMicroTile().size();
  if (extents && extents != rank)
    return refuse("the micro-tile has " + Twine(extents) +
                  " dimensions; the operand has rank " + Twine(rank));
  if (rule.getTile().size() != op.getNumLoops())
    return refuse("the tile has " + Twine(rule.getTile().size()) +
                  " dimensions; the op has " + Twine(op.getNumLoops()) +
                  " loops");
  return std::nullopt;
}

OrRefusal<LegalRule> mlir::pit::checkRule(linalg::LinalgOp op, RuleAttr rule) {
  if (Refused refused = checkParts(op, rule))
    return *refused;
  OpOperand &operand = op->getOpOperand(rule.getOperand());
  SparseOp mark = getMark(op, operand);
  FailureOr<SparsityIndexType> index;
  if (mark.getSource() == Source::Index) {
    index = cast<SparsityIndexType>(mark.getSelector().getType());
  } else {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<bool> whole(map.getNumResults(), false);
    for (auto [d, extent] : llvm::enumerate(rule.getMicroTile()))
      whole[d] = ShapedType::isDynamic(extent);
    index = getIndexType(op, map, rule.getAxis(), rule.getTile(), whole);
    if (failed(index))
      return refuse("its groups cannot be cut out by tiles");
  }
  if (Refused refused =
          checkTileable(op, rule, *index, mark.getBackgroundOrZero()))
    return *refused;
  return LegalRule{rule, mark, *index};
}
