//===- SequenceNestedLoops.cpp - One level of parallel loops --------------===//

#include "Codegen/Common/RuntimeCalls.h"
#include "pit/Codegen/CPU/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSEQUENCENESTEDLOOPS
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {

struct PitSequenceNestedLoops
    : pit::impl::PitSequenceNestedLoopsBase<PitSequenceNestedLoops> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ParallelOp> nested;
    if (all && !getFrame(getOperation()))
      return;
    getOperation().walk([&](scf::ParallelOp loop) {
      if ((all || loop->getParentOfType<scf::ParallelOp>()) &&
          loop.getNumResults() == 0)
        nested.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ParallelOp loop : nested) {
      rewriter.setInsertionPoint(loop);
      if (failed(scf::parallelForToNestedFors(rewriter, loop))) {
        loop.emitError("pit-sequence-nested-loops: cannot make this loop "
                       "sequential");
        return signalPassFailure();
      }
    }
  }
};

} // namespace
