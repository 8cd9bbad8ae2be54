//===- ShareLooks.cpp - One look for all choices by a value ---------------===//
//
// Choices by the same values decide each for itself, but what one has seen
// serves the others. A device counts only the micro-tiles that the look was
// for. So the one that looks for most comes first, if the times of its variants
// are known there.
//
//===----------------------------------------------------------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSHARELOOKS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Do both look at the same values for the same?
static bool isSameLook(ChooseOp a, ChooseOp b) {
  return a.getInput() == b.getInput() && a.getMask() == b.getMask() &&
         a.getBackgroundAttr() == b.getBackgroundAttr();
}

/// Does `one` look for all that `other` asks about?
static bool coversAll(ChooseOp one, ChooseOp other) {
  return llvm::all_of(other.getCandidates(), [&](Attribute candidate) {
    return llvm::is_contained(one.getCandidates(), candidate);
  });
}

/// The choice whose look serves most of the others; the first one of equal
/// ones.
static ChooseOp findLeader(ArrayRef<ChooseOp> choices) {
  return *llvm::max_element(choices, [&](ChooseOp a, ChooseOp b) {
    auto countServed = [&](ChooseOp one) {
      return llvm::count_if(
          choices, [&](ChooseOp other) { return coversAll(one, other); });
    };
    return countServed(a) < countServed(b);
  });
}

/// Has the choices of a block, in their order, look once.
static void share(RewriterBase &rewriter, ArrayRef<ChooseOp> choices) {
  ChooseOp first = choices.front(), leader = findLeader(choices);
  if (leader != first) {
    if (succeeded(moveOperationDependencies(rewriter, leader, first)))
      rewriter.moveOpBefore(leader, first);
    else
      leader = first;
  }
  for (ChooseOp other : choices)
    if (other != leader)
      rewriter.modifyOpInPlace(
          other, [&] { other.getSeenMutable().assign(leader.getBitmap()); });
}

namespace {
struct ShareLooksPass : pit::impl::PitShareLooksBase<ShareLooksPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Block *block) {
      SmallVector<SmallVector<ChooseOp>> groups;
      for (ChooseOp choose : block->getOps<ChooseOp>()) {
        // Tensors are values; memory may be written to in between.
        if (!isa<TensorType>(choose.getInput().getType()) || choose.getBits() ||
            choose.getSeen() || choose.getAfter())
          continue;
        auto *group = llvm::find_if(groups, [&](ArrayRef<ChooseOp> others) {
          return isSameLook(others.front(), choose);
        });
        if (group == groups.end())
          groups.push_back({choose});
        else
          group->push_back(choose);
      }
      for (ArrayRef<ChooseOp> group : groups)
        if (group.size() > 1)
          share(rewriter, group);
    });
  }
};
} // namespace
