//===- FoldOffers.cpp - Tentative SReads, from which folding starts -------===//
//
// Operands of planned ops that could be read packed are packed and unpacked
// again. An offer that met no other packed value in the end is taken back.
//
//===----------------------------------------------------------------------===//

#include "Folder.h"

#include "pit/Analysis/Skipping.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"

using namespace mlir;
using namespace mlir::pit;

/// pit-tile reads tiles of packed operands whose kept dimensions follow the
/// axis.
static bool isTileable(const Packing &packing) {
  SparsityIndexType type = packing.getType();
  unsigned axis = 0; // among the packed dimensions
  for (int64_t i = 0; i < type.getAxis(); ++i)
    axis += !type.isWhole(i);
  for (int64_t d = 0; d < packing.dims[axis]; ++d)
    if (!llvm::is_contained(packing.dims, d))
      return false;
  return true;
}

void Folder::offerPackedOperands() {
  function.walk([&](linalg::LinalgOp op) {
    auto rule = op->getAttrOfType<RuleAttr>(kRuleAttrName);
    SparseOp mark = rule ? getIndexMark(op, rule) : SparseOp();
    if (!mark || !wholePacking(mark).getType().isPackable())
      return;
    OpOperand &marked = op->getOpOperand(rule.getOperand());
    FailureOr<SmallVector<unsigned>> loops =
        getPackedLoops(op.getMatchingIndexingMap(&marked), wholePacking(mark));
    if (failed(loops))
      return;
    offerPackedOperands(op, rule, mark, *loops);
  });
}

void Folder::offerPackedOperands(linalg::LinalgOp op, RuleAttr rule,
                                 SparseOp mark, ArrayRef<unsigned> loops) {
  OpOperand &marked = op->getOpOperand(rule.getOperand());
  SmallVector<Value> original(op->getOperands());
  size_t numOffers = offers.size();
  auto judge = [&]() {
    return op.isDpsInit(&marked) ? SkippingVerdict()
                                 : analyzeSkipping(op, rule.getOperand(),
                                                   mark.getBackgroundOrZero());
  };
  SkippingVerdict before = judge();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    // The init of a result is read outside of the index, too [S3c].
    if (llvm::any_of(before.results, [&](const ResultEffect &effect) {
          return effect.kind == ResultEffect::Kind::Copy &&
                 effect.operand == operand->getOperandNumber();
        }))
      continue;
    FailureOr<std::optional<Packing>> packing = getOperandPacking(
        op.getMatchingIndexingMap(operand), loops, mark.getSelector());
    if (succeeded(packing) && *packing)
      offer(op, *operand, operand == &marked, **packing);
  }
  // Operands that are constant, or the same tensor, are not known to be so
  // once they are packed.
  if (judge().results == before.results)
    return;
  offers.truncate(numOffers);
  SetVector<Operation *> unused;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (operand->get() != original[operand->getOperandNumber()])
      unused.insert(operand->get().getDefiningOp());
  rewriter.modifyOpInPlace(op, [&] { op->setOperands(original); });
  eraseDead(std::move(unused));
}

void Folder::eraseDead(SetVector<Operation *> ops) {
  while (!ops.empty()) {
    Operation *op = ops.pop_back_val();
    if (!isOpTriviallyDead(op) || isOffer(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        ops.insert(definition);
    rewriter.eraseOp(op);
  }
}

void Folder::offer(linalg::LinalgOp op, OpOperand &operand, bool marked,
                   const Packing &packing) {
  if (!isTileable(packing))
    return;
  // Below the marks. The planned op gets marks of its own: its index, and a
  // mask that selects part of what the index covers.
  SmallVector<SparseOp> marks;
  Value value = operand.get();
  while (auto mark = value.getDefiningOp<SparseOp>()) {
    bool own = marked && marks.empty();
    if (own)
      marks.push_back(mark);
    // It belongs to the op before it. A fill needs no computation.
    if (isResultMark(mark) && !mark.getInput().getDefiningOp<linalg::FillOp>())
      break;
    value = mark.getInput();
    if (own || isIdentity(mark) || isAllSelected(mark, packing))
      continue;
    if (!marked || marks.size() > 1 || mark.getSource() != Source::Mask)
      return;
    marks.push_back(mark);
  }
  if (!isa_and_present<linalg::LinalgOp, SparseOp>(value.getDefiningOp()) ||
      getUnpack(value))
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Value background = arith::ConstantOp::create(
      rewriter, loc,
      marks.empty() ? rewriter.getZeroAttr(type.getElementType())
                    : marks.front().getBackgroundOrZero());
  Value empty = createEmptyLike(rewriter, loc, value);
  Value packed = createPack(rewriter, loc, value, packing);
  Value unpacked = createUnpack(rewriter, loc, packed,
                                fill(loc, background, empty), packing);
  offers.push_back({unpacked.getDefiningOp<SWriteOp>(), value});
  for (SparseOp mark : llvm::reverse(marks)) {
    auto own = cast<SparseOp>(rewriter.clone(*mark));
    own.getInputMutable().assign(unpacked);
    unpacked = own;
  }
  rewriter.modifyOpInPlace(op, [&] { operand.set(unpacked); });
}

bool Folder::isOffer(Operation *op) {
  return llvm::any_of(offers, [&](Offer &offer) { return offer.write == op; });
}

/// Is `value` the result of a planned op that can write it packed?
static bool isPlannedPacked(Value value, const Packing &packing) {
  std::optional<Packing> only = getOnlyPacking(value);
  auto mark = value.getDefiningOp<SparseOp>();
  if (mark && isResultMark(mark))
    value = mark.getInput();
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  auto rule = op ? op->getAttrOfType<RuleAttr>(kRuleAttrName) : RuleAttr();
  mark = rule ? getIndexMark(op, rule) : SparseOp();
  return mark && mark.getSelector() == packing.index && only == packing &&
         isTileable(packing);
}

void Folder::takeBackOffers() {
  for (Offer &offer : offers) {
    SWriteOp write = offer.write;
    auto read = write.getTile().getDefiningOp<SReadOp>();
    if (!read || getPacking(read) != getPacking(write) ||
        isPlannedPacked(read.getSrc(), *getPacking(read)))
      continue;
    Value dest = write.getDest();
    rewriter.replaceOp(write, read.getSrc());
    for (Operation *unused : {read.getOperation(), dest.getDefiningOp()})
      if (isOpTriviallyDead(unused))
        rewriter.eraseOp(unused);
  }
}
