//===- FoldUp.cpp - SReads move up through ops ----------------------------===//
//
// sread(op(x)) becomes op(sread(x)), and sread(swrite(p)) becomes p.
//
//===----------------------------------------------------------------------===//

#include "Folder.h"

#include "pit/Dialect/Pit/Transforms/Mark.h"

using namespace mlir;
using namespace mlir::pit;

/// The whole-tensor SReads of `value`.
static SmallVector<SReadOp> getReads(Value value) {
  SmallVector<SReadOp> reads;
  for (Operation *user : value.getUsers())
    if (auto read = dyn_cast<SReadOp>(user); read && getPacking(read))
      reads.push_back(read);
  return reads;
}

void Folder::pushUp() {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() > 0)
      ops.push_back(op);
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
  for (Operation *op : llvm::reverse(ops)) {
    if (isOpTriviallyDead(op) && !isOffer(op)) {
      rewriter.eraseOp(op);
      continue;
    }
    if (isa<linalg::FillOp, tensor::EmptyOp>(op) ||
        op->hasTrait<OpTrait::ConstantLike>())
      replaceUniform(op->getResult(0));
    else if (auto write = dyn_cast<SWriteOp>(op))
      forwardTile(write);
    else if (auto mark = dyn_cast<SparseOp>(op))
      pushUpThrough(mark);
    else if (auto cast = dyn_cast<tensor::CastOp>(op))
      pushUpThrough(cast);
    else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      pushUpThrough(linalgOp);
    if (isOpTriviallyDead(op) && !isOffer(op))
      rewriter.eraseOp(op);
  }
}

void Folder::setSource(SReadOp read, Value source) {
  rewriter.modifyOpInPlace(read, [&] { read.getSrcMutable().assign(source); });
}

void Folder::replaceUniform(Value value) {
  for (SReadOp read : getReads(value)) {
    if (getElementTypeOrSelf(read.getResult()) != getElementTypeOrSelf(value))
      continue;
    rewriter.setInsertionPoint(read);
    if (Value packed = packUniform(read.getLoc(), value, *getPacking(read)))
      replaceRead(read, packed);
  }
}

void Folder::forwardTile(SWriteOp write) {
  if (!getUnpack(write.getResult()))
    return;
  for (SReadOp read : getReads(write.getResult()))
    if (*getPacking(read) == *getPacking(write) &&
        getElementTypeOrSelf(read.getResult()) ==
            getElementTypeOrSelf(write.getTile()))
      replaceRead(read, write.getTile());
}

void Folder::pushUpThrough(tensor::CastOp cast) {
  if (!isa<RankedTensorType>(cast.getSource().getType()))
    return;
  for (SReadOp read : getReads(cast))
    setSource(read, cast.getSource());
}

void Folder::pushUpThrough(SparseOp mark) {
  if (isResultMark(mark))
    return;
  for (SReadOp read : getReads(mark))
    if (isIdentity(mark) || isAllSelected(mark, *getPacking(read)))
      setSource(read, mark.getInput());
  // A mask that selects part of what is packed is packed like it.
  std::optional<Packing> packing = getOnlyPacking(mark);
  if (!packing || mark.getSource() != Source::Mask ||
      !setInsertionPoint(mark, packing->index))
    return;
  Value mask = pack(mark.getLoc(), mark.getSelector(), *packing);
  Value input = pack(mark.getLoc(), mark.getInput(), *packing);
  Value packed = SparseOp::create(rewriter, mark.getLoc(), input, Source::Mask,
                                  mask, mark.getBackgroundAttr(),
                                  /*assume=*/false, /*rule=*/RuleAttr());
  for (SReadOp read : getReads(mark))
    replaceRead(read, packed);
}

void Folder::pushUpThrough(linalg::LinalgOp op) {
  if (op->hasAttr(kRuleAttrName) || !op.hasPureTensorSemantics())
    return;
  std::optional<SmallVector<unsigned>> loops;
  Value index;
  for (OpResult result : op->getResults()) {
    if (result.use_empty())
      continue;
    std::optional<Packing> packing = getOnlyPacking(result);
    if (!packing || (index && packing->index != index))
      return;
    index = packing->index;
    FailureOr<SmallVector<unsigned>> own =
        getPackedLoops(op.getMatchingIndexingMap(
                           op.getDpsInitOperand(result.getResultNumber())),
                       *packing);
    if (failed(own) || (loops && *own != *loops))
      return;
    loops = *own;
  }
  if (!loops || !isPackable(op, *loops, index) || !setInsertionPoint(op, index))
    return;
  linalg::LinalgOp packed = packOp(op, *loops, index);
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), packed->getResults()))
    for (SReadOp read : getReads(result))
      replaceRead(read, value);
}

bool Folder::setInsertionPoint(Operation *op, Value index) {
  if (dominance.properlyDominates(index, op)) {
    rewriter.setInsertionPoint(op);
    return true;
  }
  Operation *definition = index.getDefiningOp();
  if (!definition || definition->getBlock() != op->getBlock())
    return false;
  rewriter.setInsertionPointAfter(definition);
  return true;
}
