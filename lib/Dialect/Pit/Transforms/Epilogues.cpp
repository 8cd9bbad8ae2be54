//===- Epilogues.cpp - Ops that the loop before them computes -------------===//

#include "Epilogues.h"

#include "Folder.h"
#include "pit/Analysis/Padding.h"
#include "pit/Analysis/PitAxis.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"

using namespace mlir;
using namespace mlir::pit;

/// Can `map` be read tile by tile: are its results dims, or 0?
static bool isTiled(AffineMap map) {
  return llvm::all_of(map.getResults(), [](AffineExpr expr) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return isa<AffineDimExpr>(expr) || (constant && constant.getValue() == 0);
  });
}

bool pit::isEpilogue(linalg::LinalgOp op, unsigned operand) {
  if (op->getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() || checkBody(op))
    return false;
  OpOperand &init = *op.getDpsInitOperand(0);
  Type element = getElementTypeOrSelf(init.get());
  if (op.payloadUsesValueFromOperand(&init) || element.isInteger(1) ||
      !op.getMatchingIndexingMap(&init).isPermutation() ||
      !op.getMatchingIndexingMap(&op->getOpOperand(operand)).isIdentity() ||
      !llvm::all_of(op.getIndexingMapsArray(), isTiled))
    return false;
  // Tiles reach past the ends of tensors, where anything may be found.
  return llvm::all_of(
      op.getBlock()->without_terminator(),
      [](Operation &inner) { return isPure(&inner) && !mayTrap(&inner); });
}

Value pit::getOutcome(linalg::LinalgOp planned) {
  auto rule = planned->getAttrOfType<RuleAttr>(kRuleAttrName);
  SparseOp mark = getIndexMark(planned, rule);
  bool isResult =
      mark && mark.getInput().getDefiningOp() == planned.getOperation();
  return isResult ? Value(mark.getResult()) : planned->getResult(0);
}

std::optional<Packing> pit::getWrittenPacking(linalg::LinalgOp planned) {
  auto rule = planned->getAttrOfType<RuleAttr>(kRuleAttrName);
  SparseOp mark = rule ? getIndexMark(planned, rule) : SparseOp();
  if (!mark || planned->getNumResults() != 1)
    return std::nullopt;
  Packing whole = wholePacking(mark);
  AffineMap map =
      planned.getMatchingIndexingMap(&planned->getOpOperand(rule.getOperand()));
  FailureOr<SmallVector<unsigned>> loops = getPackedLoops(map, whole);
  if (failed(loops) || !isPackable(planned, *loops, whole.index))
    return std::nullopt;
  AffineMap result =
      planned.getMatchingIndexingMap(planned.getDpsInitOperand(0));
  return *getOperandPacking(result, *loops, whole.index);
}

/// Is `op` planned to skip what another index does not list?
static bool isPlannedOtherwise(linalg::LinalgOp op, Value index) {
  auto rule = op->getAttrOfType<RuleAttr>(kRuleAttrName);
  SparseOp mark = rule ? getIndexMark(op, rule) : SparseOp();
  return rule && (!mark || mark.getSelector() != index);
}

/// The marks that use `value`, if nothing else does and they select just what
/// `packing` packs [E6].
static SmallVector<SparseOp> getSameMarks(Value value, const Packing &packing) {
  SmallVector<SparseOp> marks;
  for (OpOperand &use : value.getUses()) {
    auto mark = dyn_cast<SparseOp>(use.getOwner());
    bool isByIndex = mark && mark.getSource() == Source::Index;
    if (!mark || use.getOperandNumber() != 0 ||
        mark.getSource() == Source::Values ||
        !(isByIndex || packing.getType().isPackable()) ||
        !isAllSelected(mark, packing) ||
        (!marks.empty() &&
         mark.getBackgroundOrZero() != marks.front().getBackgroundOrZero()))
      return {};
    marks.push_back(mark);
  }
  return marks;
}

std::optional<SelectedEpilogues> pit::findSelectedEpilogues(Value value,
                                                            Packing packing) {
  SelectedEpilogues found;
  while (true) {
    found.marks = getSameMarks(value, packing);
    if (!found.marks.empty()) {
      found.packing = packing;
      return found;
    }
    if (!value.hasOneUse())
      return std::nullopt;
    OpOperand &use = *value.use_begin();
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!op || op.isDpsInit(&use) ||
        op->getBlock() != value.getDefiningOp()->getBlock() ||
        !isEpilogue(op, use.getOperandNumber()) || op.hasIndexSemantics() ||
        isPlannedOtherwise(op, packing.index))
      return std::nullopt;
    SmallVector<unsigned> loops(packing.dims.begin(), packing.dims.end());
    found.operands.push_back(&use);
    found.packings.push_back(packing);
    // The result's map is a permutation.
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    packing = **getOperandPacking(result, loops, packing.index);
    value = op->getResult(0);
  }
}

linalg::LinalgOp pit::findSkippedEpilogue(SparseOp mark) {
  if (!mark->hasOneUse())
    return {};
  OpOperand &use = *mark->use_begin();
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  bool isSkipped =
      op && !op.isDpsInit(&use) && op->getBlock() == mark->getBlock() &&
      isEpilogue(op, use.getOperandNumber()) &&
      analyzeSkipping(op, use.getOperandNumber(), mark.getBackgroundOrZero())
          .isLegal;
  return isSkipped ? op : linalg::LinalgOp();
}
