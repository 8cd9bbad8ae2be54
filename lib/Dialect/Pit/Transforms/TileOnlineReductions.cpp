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

/// A copy of a product of matrices whose factors are in the other order: the
/// first one has the rows.
static void copySwapped(RewriterBase &rewriter, linalg::LinalgOp op,
                        IRMapping &copies) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::swap(maps[0], maps[1]);
  auto mapped = [&](Value value) { return copies.lookupOrDefault(value); };
  auto made = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(),
      ValueRange{mapped(op.getDpsInputs()[1]), mapped(op.getDpsInputs()[0])},
      mapped(op.getDpsInits()[0]), maps, op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange elements) {
        IRMapping scalars;
        scalars.map(op.getBlock()->getArguments(),
                    ValueRange{elements[1], elements[0], elements[2]});
        for (Operation &scalar : *op.getBlock())
          b.clone(scalar, scalars);
      });
  copies.map(op->getResult(0), made.getResult(0));
}

/// Gives the sums over rows of a chain copies of what they multiply, so that
/// they are chains of their own.
static void separateAdded(RewriterBase &rewriter, const OnlineChain &chain) {
  for (const ChainOp &op : chain.ops) {
    if (op.role != ChainRole::Added)
      continue;
    rewriter.setInsertionPoint(op.op);
    IRMapping copies;
    std::function<bool(Value)> copy = [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (!def || def->getBlock() != op.op->getBlock() ||
          isa<tensor::EmptyOp, tensor::DimOp, linalg::FillOp>(def))
        return false;
      if (copies.contains(value))
        return true;
      bool copied = chain.find(value) != nullptr;
      for (Value operand : def->getOperands())
        copied |= copy(operand);
      const ChainOp *part = chain.find(value);
      if (part && isInnerContraction(*part) && part->inputs.size() == 2)
        copySwapped(rewriter, part->linalgOp(), copies);
      else if (copied)
        rewriter.clone(*def, copies);
      return copied;
    };
    for (OpOperand &operand : op.op->getOpOperands())
      if (copy(operand.get()))
        rewriter.modifyOpInPlace(
            op.op, [&] { operand.set(copies.lookup(operand.get())); });
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
      // Tensor cores take second factors from memory.
      auto find = [&](bool adds) {
        return findOnlineChain(op, findMarkSelection,
                               /*storesFactors=*/bool(machine->gpu), adds);
      };
      auto tile = [&](OnlineChain &chain) -> Refused {
        OnlineTiler tiler(rewriter, chain, *machine);
        if (Refused refused = tiler.plan())
          return refused;
        for (const ChainOp &part : chain.ops)
          done.insert(part.op);
        if (explain)
          emitRemark(op.getLoc()) << op->getName() << ": " << tiler.describe();
        tiler.run();
        return std::nullopt;
      };
      auto isAdded = [](const ChainOp &part) {
        return part.role == ChainRole::Added;
      };
      Refused refused;
      auto found = find(/*adds=*/true);
      if (found && *found && llvm::any_of((*found)->ops, isAdded)) {
        refused = tile(**found);
        if (!refused)
          continue;
        if (explain)
          explainRefusal(op, "has loops of their own for sums over its rows",
                         *refused);
        separateAdded(rewriter, **found);
        found = find(/*adds=*/false);
      }
      if (!found)
        refused = found.refusal();
      else if (*found) {
        refused = tile(**found);
        if (refused)
          for (const ChainOp &part : (*found)->ops)
            done.insert(part.op);
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
