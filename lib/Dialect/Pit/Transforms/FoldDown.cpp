//===- FoldDown.cpp - SWrites move down through ops -----------------------===//
//
// op(swrite(p into fill)) becomes swrite(op(p) into what op makes of the fill).
//
//===----------------------------------------------------------------------===//

#include "Folder.h"

using namespace mlir;
using namespace mlir::pit;

void Folder::pushDown() {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops)
    if (!op->hasAttr(kRuleAttrName) && op.hasPureTensorSemantics())
      for (OpOperand *operand : op.getDpsInputOperands())
        if (pushDownThrough(op, *operand))
          break;
}

std::optional<SmallVector<Value>>
Folder::makeOutside(linalg::LinalgOp op, ArrayRef<ResultEffect> effects) {
  Location loc = op.getLoc();
  SmallVector<Value> into;
  for (auto [result, effect] : llvm::zip_equal(op->getResults(), effects)) {
    Value init = op.getDpsInits()[result.getResultNumber()];
    switch (effect.kind) {
    case ResultEffect::Kind::Identity:
      into.push_back(init);
      break;
    case ResultEffect::Kind::Copy:
      // Packed like the result, as the maps are the same.
      into.push_back(getUnpack(op->getOperand(effect.operand)).getDest());
      if (into.back().getType() != init.getType())
        return std::nullopt;
      break;
    case ResultEffect::Kind::Constant: {
      Value constant = arith::ConstantOp::create(
          rewriter, loc, cast<TypedAttr>(effect.constant));
      into.push_back(fill(loc, constant, createEmptyLike(rewriter, loc, init)));
      break;
    }
    case ResultEffect::Kind::Illegal:
      llvm_unreachable("skipping is legal");
    }
  }
  return into;
}

bool Folder::pushDownThrough(linalg::LinalgOp op, OpOperand &operand) {
  SWriteOp write = getUnpack(operand.get());
  if (!write)
    return false;
  Attribute outside = getUniformConstant(write.getDest());
  Packing packing = *getPacking(write);
  FailureOr<SmallVector<unsigned>> loops =
      getPackedLoops(op.getMatchingIndexingMap(&operand), packing);
  if (!outside || failed(loops) || !isPackable(op, *loops, packing.index))
    return false;
  // No other operand has to be packed for this.
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<Packing> own = *getOperandPacking(
        op.getMatchingIndexingMap(input), *loops, packing.index);
    SWriteOp other = own ? getUnpack(input->get()) : SWriteOp();
    if (own && (!other || !(*getPacking(other) == *own)))
      return false;
  }
  SkippingVerdict skipping =
      analyzeSkipping(op, operand.getOperandNumber(), outside);
  if (!skipping.isLegal)
    return false;

  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  std::optional<SmallVector<Value>> into = makeOutside(op, skipping.results);
  if (!into)
    return false;
  linalg::LinalgOp packed = packOp(op, *loops, packing.index);
  SmallVector<Value> results;
  for (auto [result, dest] : llvm::zip_equal(packed->getResults(), *into)) {
    AffineMap map = op.getMatchingIndexingMap(
        op.getDpsInitOperand(result.getResultNumber()));
    results.push_back(
        createUnpack(rewriter, loc, result, dest,
                     **getOperandPacking(map, *loops, packing.index)));
  }
  rewriter.replaceOp(op, results);
  return true;
}
