//===- Tile.cpp - Level 2 to level 3 --------------------------------------===//

#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Dialect/Pit/Transforms/Rules.h"
#include "pit/Dialect/Pit/Transforms/Transforms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITTILE
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
struct TilePass : pit::impl::PitTileBase<TilePass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> planned;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op->hasAttr(kRuleAttrName))
        planned.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : planned)
      if (failed(tileByRule(rewriter, op, kernels)))
        return signalPassFailure();
    expandWholeTensorOps(rewriter, getOperation());
  }
};
} // namespace
