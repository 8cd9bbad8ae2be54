//===- NameGenerics.cpp - Generic ops that are fills or transposes --------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITNAMEGENERICS
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// The named op that does what `op` does, or null.
static Operation *createNamed(RewriterBase &rewriter, linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1)
    return nullptr;
  rewriter.setInsertionPoint(op);
  Value init = op.getDpsInits().front();
  if (std::optional<Value> value = linalg::isaFillOpInterface(op))
    return linalg::FillOp::create(rewriter, op.getLoc(), *value, init);
  // MLIR's linalg.transpose takes no permutation of nothing: of one element
  // there is nothing to transpose.
  if (std::optional<SmallVector<int64_t>> permutation =
          linalg::isaTransposeOpInterface(op);
      permutation && !permutation->empty())
    return linalg::TransposeOp::create(
        rewriter, op.getLoc(), op.getDpsInputs().front(), init, *permutation);
  return nullptr;
}

namespace {
struct NameGenericsPass : pit::impl::PitNameGenericsBase<NameGenericsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op.hasPureTensorSemantics() || op->hasAttr(kRuleAttrName))
        return;
      if (Operation *named = createNamed(rewriter, op))
        rewriter.replaceOp(op, named);
    });
  }
};
} // namespace
