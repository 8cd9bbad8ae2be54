//===- SequenceForalls.cpp - No index is built by several threads ---------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSEQUENCEFORALLS
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Does `slice` read what an iteration of the loop writes of its output?
static bool readsOwnSlice(tensor::ExtractSliceOp slice,
                          ArrayRef<tensor::ParallelInsertSliceOp> inserts) {
  return llvm::any_of(inserts, [&](tensor::ParallelInsertSliceOp insert) {
    return insert.getDest() == slice.getSource() &&
           insert.getMixedOffsets() == slice.getMixedOffsets() &&
           insert.getMixedSizes() == slice.getMixedSizes() &&
           insert.getMixedStrides() == slice.getMixedStrides();
  });
}

/// Replaces a loop on tensors by nested scf.for that carry its outputs.
static LogicalResult sequence(RewriterBase &rewriter, scf::ForallOp loop) {
  SmallVector<tensor::ParallelInsertSliceOp> inserts;
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert)
      return failure();
    inserts.push_back(insert);
  }
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> outs(loop.getOutputs());
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, loc, loop.getLowerBound(rewriter), loop.getUpperBound(rewriter),
      loop.getStep(rewriter), outs,
      [&](OpBuilder &builder, Location, ValueRange ivs, ValueRange args) {
        IRMapping mapping;
        mapping.map(loop.getInductionVars(), ivs);
        // An iteration does not see what the others write.
        mapping.map(loop.getRegionIterArgs(), outs);
        DenseMap<Value, Value> current;
        for (auto [own, arg] : llvm::zip(loop.getRegionIterArgs(), args))
          current[own] = arg;
        for (Operation &op : loop.getBody()->without_terminator()) {
          Operation *clone = builder.clone(op, mapping);
          auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
          if (slice && readsOwnSlice(slice, inserts))
            cast<tensor::ExtractSliceOp>(clone).getSourceMutable().assign(
                current[slice.getSource()]);
        }
        for (tensor::ParallelInsertSliceOp insert : inserts) {
          auto mapped = [&](ArrayRef<OpFoldResult> values) {
            return llvm::map_to_vector(values, [&](OpFoldResult value) {
              auto dynamic = dyn_cast<Value>(value);
              return dynamic ? OpFoldResult(mapping.lookupOrDefault(dynamic))
                             : value;
            });
          };
          Value &into = current[insert.getDest()];
          into = tensor::InsertSliceOp::create(
              builder, insert.getLoc(),
              mapping.lookupOrDefault(insert.getSource()), into,
              mapped(insert.getMixedOffsets()), mapped(insert.getMixedSizes()),
              mapped(insert.getMixedStrides()));
        }
        return llvm::map_to_vector(
            loop.getRegionIterArgs(),
            [&](Value own) -> Value { return current[own]; });
      });
  rewriter.replaceOp(loop, nest.results);
  return success();
}

namespace {
struct SequenceForallsPass
    : pit::impl::PitSequenceForallsBase<SequenceForallsPass> {
  void runOnOperation() override {
    // Outer loops last: inner ones are part of them.
    SmallVector<Operation *> loops;
    getOperation().walk([&](Operation *op) {
      if (!isa<scf::ForallOp, scf::ParallelOp>(op))
        return;
      WalkResult found = op->walk([](Operation *inner) {
        return isa<SparseOp, IndexOp>(inner) ? WalkResult::interrupt()
                                             : WalkResult::advance();
      });
      if (found.wasInterrupted())
        loops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : loops) {
      OperationName name = op->getName();
      Location loc = op->getLoc();
      rewriter.setInsertionPoint(op);
      auto forall = dyn_cast<scf::ForallOp>(op);
      LogicalResult done = forall ? sequence(rewriter, forall)
                                  : LogicalResult(scf::parallelForToNestedFors(
                                        rewriter, cast<scf::ParallelOp>(op)));
      if (failed(done)) {
        emitError(loc) << "'" << name
                       << "' op holds a mark, but cannot be made a sequential "
                          "loop: its iterations may only insert slices";
        return signalPassFailure();
      }
      emitRemark(loc) << name
                      << " runs one iteration after another: an index is built "
                         "in it";
    }
  }
};
} // namespace
