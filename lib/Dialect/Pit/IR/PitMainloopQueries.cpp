//===- PitMainloopQueries.cpp - What a mainloop has -----------------------===//

#include "Verify.h"

#include "pit/Dialect/Pit/IR/Pit.h"

using namespace mlir;
using namespace mlir::pit;

unsigned MainloopOp::getNumLoaded() {
  return llvm::count_if(getLoad().front().getTerminator()->getOperandTypes(),
                        llvm::IsaPred<VectorType>);
}

Block::BlockArgListType MainloopOp::getLoadedTiles() {
  return getCompute().getArguments().take_front(getNumLoaded());
}

Block::BlockArgListType MainloopOp::getInvariantTiles() {
  return getCompute().getArguments().slice(getNumLoaded(),
                                           getInvariants().size());
}

Block::BlockArgListType MainloopOp::getNumbers() {
  unsigned values = getLoad().front().getTerminator()->getNumOperands();
  return getCompute().getArguments().slice(
      getNumLoaded() + getInvariants().size(), values - getNumLoaded());
}

Block::BlockArgListType MainloopOp::getCarriedTiles() {
  return getCompute().getArguments().take_back(getNumAccumulators());
}

Block::BlockArgListType MainloopOp::getLastTiles() {
  if (getExtraResults().empty())
    return {};
  return getExtraResults().getArguments();
}

ViewOp MainloopOp::getLoaded(unsigned view) {
  return getLoad()
      .front()
      .getTerminator()
      ->getOperand(view)
      .getDefiningOp<ViewOp>();
}

unsigned MainloopOp::getNumAccumulators() {
  return getCompute().front().getTerminator()->getNumOperands();
}

ContractOp MainloopOp::getContraction(unsigned accumulator) {
  return getCompute()
      .front()
      .getTerminator()
      ->getOperand(accumulator)
      .getDefiningOp<ContractOp>();
}

unsigned MainloopOp::getViewOf(unsigned accumulator, unsigned operand) {
  return cast<BlockArgument>(getContraction(accumulator)->getOperand(operand))
      .getArgNumber();
}

ViewOp MainloopOp::getOperandView(unsigned operand, unsigned accumulator) {
  return getLoaded(getViewOf(accumulator, operand));
}

ArrayRef<int64_t> MainloopOp::getTile() { return getContraction().getTile(); }

AffineMap MainloopOp::getMap(unsigned number) {
  return getContraction().getMap(number);
}

unsigned MainloopOp::getNumScales() {
  return getContraction().getScales().size();
}

bool MainloopOp::getTf32() { return getContraction().getTf32(); }

ArrayRef<int64_t> MainloopOp::getAccumulatorShape() {
  if (getResultTile())
    return *getResultTile();
  Value first = getCompute().front().getTerminator()->getOperand(0);
  return cast<VectorType>(first.getType()).getShape();
}

SmallVector<AffineMap> MainloopOp::getElementMaps() {
  if (getSumMaps())
    return llvm::to_vector(getSumMaps()->getAsValueRange<AffineMapAttr>());
  return SmallVector<AffineMap>(
      getNumAccumulators(), AffineMap::getMultiDimIdentityMap(
                                getAccumulatorShape().size(), getContext()));
}

Type MainloopOp::getAccumulatorType() {
  return getElementTypeOrSelf(getContraction().getResult());
}

/// The op hands values to its regions, and takes what they yield, by itself:
/// none goes along an edge. Which region runs next depends on the steps, so all
/// may.
void MainloopOp::getSuccessorRegions(
    RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &regions) {
  for (Region &region : getOperation()->getRegions())
    if (!region.empty())
      regions.emplace_back(&region);
  regions.emplace_back(getOperation(),
                       getOperation()->getResults().take_front(0));
}

void MainloopOp::getEffects(Effects &effects) {
  // Views say themselves what they read.
  if (getCombine())
    addEffect<MemoryEffects::Read>(effects, getDestMutable());
  addEffect<MemoryEffects::Write>(effects, getDestMutable());
  addEffect<MemoryEffects::Write>(effects, getBitmapMutable());
}
