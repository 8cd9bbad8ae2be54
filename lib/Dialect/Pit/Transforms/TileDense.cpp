//===- TileDense.cpp - Loops over tiles for ops without a mark ------------===//

#include "TileChoice.h"
#include "TileGeometry.h"
#include "Tiler.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITTILEDENSE
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Does the op reduce what it computes from two inputs or more, each indexed by
/// plain dims?
static bool isContraction(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
    return false;
  unsigned inputs =
      llvm::count_if(op.getDpsInputOperands(),
                     [&](OpOperand *input) { return op.getRank(input) > 0; });
  return inputs >= 2 &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

namespace {
struct TileDensePass : pit::impl::PitTileDenseBase<TileDensePass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TileTable> table =
        loadTileTable(getOperation(), tileTable, target, tf32);
    if (failed(table))
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      // In a loop over tiles it is the tile's.
      if (isContraction(op) && !op->hasAttr(kRuleAttrName) &&
          !op->getParentOfType<ForallOp>() && !op->getParentOfType<ForOp>())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      TileChoice choice = chooseDenseTile(op, *table);
      std::string why;
      if (failed(checkDense(op, choice.getTile(), why)))
        continue;
      if (explain)
        choice.explain(op);
      Tiler(rewriter, op, getDenseRule(op, choice.getTile()), SparseOp(),
            /*kernels=*/true)
          .run();
    }
  }
};
} // namespace
