//===- TileOnlineReductions.cpp - Chains of reductions as one loop --------===//

#include "OnlineTiler.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITTILEONLINEREDUCTIONS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Adds what `op` is computed of, in its block.
static void addProducers(Operation *op,
                         llvm::SmallDenseSet<Operation *> &found) {
  SmallVector<Operation *> worklist = {op};
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    if (!found.insert(next).second)
      continue;
    for (Value operand : next->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == op->getBlock())
        worklist.push_back(def);
  }
}

namespace {
struct TileOnlineReductionsPass
    : pit::impl::PitTileOnlineReductionsBase<TileOnlineReductionsPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<Target> machine = getTarget(getOperation().getLoc(), target);
    if (failed(machine))
      return signalPassFailure();
    // The last one of a chain first: it leads to the others.
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!op->getParentOfType<ForallOp>() && !op->getParentOfType<ForOp>() &&
          op.getNumReductionLoops() > 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    llvm::SmallDenseSet<Operation *> done, explained;
    for (linalg::LinalgOp op : llvm::reverse(ops)) {
      if (done.contains(op))
        continue;
      Refused refused;
      // Tensor cores take second factors from memory.
      auto found = findOnlineChain(op, findMarkSelection,
                                   /*storesFactors=*/bool(machine->gpu));
      if (!found) {
        refused = found.refusal();
      } else if (std::optional<OnlineChain> &chain = *found) {
        for (const ChainOp &part : chain->ops)
          done.insert(part.op);
        OnlineTiler tiler(rewriter, *chain, *machine);
        refused = tiler.plan();
        if (!refused) {
          if (explain)
            emitRemark(op.getLoc())
                << op->getName() << ": " << tiler.describe();
          tiler.run();
        }
      }
      // Once for all reductions behind it.
      if (explain && refused && !explained.contains(op)) {
        explainRefusal(op, "is not tiled together with what it reduces",
                       *refused);
        addProducers(op, explained);
      }
    }
  }
};
} // namespace
