//===- CutChains.cpp - Long chains of insertions are analyzed in parts ----===//

#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCUTCHAINS
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

using Chain = SmallVector<tensor::InsertSliceOp>;

/// The insertion that alone uses `value`, as what it inserts into, in the same
/// block; null if there is none.
static tensor::InsertSliceOp nextInsertion(Value value, Block *block) {
  if (!value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
  return insert && insert->getBlock() == block &&
                 &use == &insert.getDestMutable()
             ? insert
             : tensor::InsertSliceOp();
}

/// The chain that begins with `first`; empty if `first` continues one.
static Chain chainFrom(tensor::InsertSliceOp first) {
  Block *block = first->getBlock();
  if (auto before = first.getDest().getDefiningOp<tensor::InsertSliceOp>();
      before && nextInsertion(before, block) == first)
    return {};
  Chain chain;
  for (tensor::InsertSliceOp insert = first; insert;
       insert = nextInsertion(insert, block))
    chain.push_back(insert);
  return chain;
}

/// Starts a chain in the memory that it materializes in, if nothing else uses
/// that: who analyzes parts of the chain does not see that they could.
static void startInMemory(const Chain &chain, const DominanceInfo &dominance) {
  tensor::InsertSliceOp last = chain.back();
  Value result = last.getResult();
  tensor::InsertSliceOp first = chain.front();
  auto empty = first.getDest().getDefiningOp<tensor::EmptyOp>();
  if (!empty || !empty->hasOneUse() || !result.hasOneUse())
    return;
  auto end =
      dyn_cast<bufferization::MaterializeInDestinationOp>(*result.user_begin());
  if (!end || end.getSource() != result || end->getNumResults() == 0)
    return;
  auto memory = end.getDest().getDefiningOp<bufferization::ToTensorOp>();
  if (!memory || !memory->hasOneUse() || !memory.getRestrict() ||
      !memory.getWritable() || memory.getType() != result.getType() ||
      !dominance.properlyDominates(memory.getOperation(), first))
    return;
  first.getDestMutable().assign(memory.getResult());
  end.getResult().replaceAllUsesWith(result);
  end->erase();
  empty->erase();
}

/// The ops after `insert` read its result through the memory of it.
static void cutAfter(tensor::InsertSliceOp insert) {
  OpBuilder builder(insert->getContext());
  builder.setInsertionPointAfter(insert);
  RankedTensorType type = insert.getType();
  OpOperand &use = *insert->use_begin();
  Value buffer = bufferization::ToBufferOp::create(
      builder, insert.getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()),
      insert.getResult());
  use.set(bufferization::ToTensorOp::create(builder, insert.getLoc(), type,
                                            buffer, /*restrict=*/true,
                                            /*writable=*/true));
}

namespace {
struct CutChainsPass : pit::impl::PitCutChainsBase<CutChainsPass> {
  using Base::Base;

  void runOnOperation() override {
    // In a loop a tensor is carried in one place only if bufferization sees
    // that what the loop hands on is in it.
    if (getOperation().isExternal())
      return;
    SmallVector<Chain> chains;
    for (auto insert : getOperation().front().getOps<tensor::InsertSliceOp>())
      if (Chain chain = chainFrom(insert); chain.size() > 2 * length)
        chains.push_back(std::move(chain));
    if (chains.empty())
      return;
    DominanceInfo dominance(getOperation());
    for (const Chain &chain : chains) {
      startInMemory(chain, dominance);
      for (size_t n = length; n < chain.size(); n += length)
        cutAfter(chain[n - 1]);
    }
  }
};
} // namespace
