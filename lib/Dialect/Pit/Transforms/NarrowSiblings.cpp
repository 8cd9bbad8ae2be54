//===- NarrowSiblings.cpp - Room for several sums in a tile ---------------===//
//
// Contractions that meet in an element-wise op will share a tile's loop
// (FuseSiblings.cpp), which then carries the sums of all of them. A machine has
// registers for those of one tile, so the tiles of each get narrower.
//
//===----------------------------------------------------------------------===//

#include "Epilogues.h"

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITNARROWSIBLINGS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// A tile that is as narrow as this gains nothing by being narrower.
static constexpr int64_t kNarrowest = 32;

static RuleAttr getRule(linalg::LinalgOp op) {
  return op ? op->getAttrOfType<RuleAttr>(kRuleAttrName) : RuleAttr();
}

/// Adds the planned ops that `value` is computed from by element-wise ops,
/// packed or not, if nothing else uses what lies between.
static void collectPlanned(Value value,
                           SmallVectorImpl<linalg::LinalgOp> &found) {
  if (!value.hasOneUse())
    return;
  if (auto pack = value.getDefiningOp<SReadOp>(); pack && pack.isWhole())
    value = pack.getSrc();
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || op->getNumResults() != 1 || !value.hasOneUse())
    return;
  if (getRule(op))
    found.push_back(op);
  else if (op.getNumReductionLoops() == 0)
    for (Value operand : op.getDpsInputs())
      collectPlanned(operand, found);
}

/// Will their loops go through the same tiles and ids?
static bool areSiblings(linalg::LinalgOp x, linalg::LinalgOp y) {
  RuleAttr rule = getRule(x);
  return rule == getRule(y) && rule.getOperand() >= 0 &&
         x->getOperand(rule.getOperand()) == y->getOperand(rule.getOperand()) &&
         x.getIndexingMapsArray() == y.getIndexingMapsArray() &&
         x.getIteratorTypesArray() == y.getIteratorTypesArray();
}

/// The rule with a tile such that there is room for the sums of so many of
/// them; null if that would be too narrow.
static RuleAttr narrow(linalg::LinalgOp op, int64_t siblings) {
  RuleAttr rule = getRule(op);
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineMap marked =
      op.getMatchingIndexingMap(&op->getOpOperand(rule.getOperand()));
  SmallVector<int64_t> tile(rule.getTile());
  int64_t sums = siblings;
  for (AffineExpr expr : result.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      sums *= tile[dim.getPosition()];
  int64_t parts = llvm::PowerOf2Ceil(llvm::divideCeil(sums, getMostSums(op)));
  if (parts == 1)
    return rule;
  // Along the result's last dim that no micro-tile has: there all stays in one
  // piece.
  for (AffineExpr expr : llvm::reverse(result.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || marked.isFunctionOfDim(dim.getPosition()))
      continue;
    int64_t &extent = tile[dim.getPosition()];
    extent /= parts;
    if (extent < kNarrowest)
      return {};
    return RuleAttr::get(op.getContext(), rule.getOperand(), rule.getAxis(),
                         rule.getMicroTile(), tile, rule.getConflicts());
  }
  return {};
}

/// Narrows the tiles of the contractions that meet in `op`.
static void narrowOperands(linalg::LinalgOp op) {
  SmallVector<linalg::LinalgOp> planned;
  for (Value operand : op.getDpsInputs())
    collectPlanned(operand, planned);
  SmallVector<linalg::LinalgOp> siblings;
  for (linalg::LinalgOp op : planned)
    if (op.getNumReductionLoops() > 0 &&
        getRule(op).getConflicts() == Conflicts::None &&
        (siblings.empty() || areSiblings(siblings.front(), op)))
      siblings.push_back(op);
  if (siblings.size() < 2)
    return;
  if (RuleAttr rule = narrow(siblings.front(), siblings.size()))
    for (linalg::LinalgOp sibling : siblings)
      sibling->setAttr(kRuleAttrName, rule);
}

namespace {
struct NarrowSiblingsPass
    : pit::impl::PitNarrowSiblingsBase<NarrowSiblingsPass> {
  void runOnOperation() override {
    getOperation().walk([](linalg::LinalgOp op) {
      if (!getRule(op) && op.getNumReductionLoops() == 0)
        narrowOperands(op);
    });
  }
};
} // namespace
