//===- Tile.cpp - Level 2 to level 3 --------------------------------------===//

#include "Selection/TileGeometry.h"
#include "TileWhole.h"
#include "Tiler.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

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
      if (failed(tileOp(rewriter, op)))
        return signalPassFailure();
    expandWholeTensorOps(rewriter, getOperation());
  }

  LogicalResult tileOp(RewriterBase &rewriter, linalg::LinalgOp op) {
    auto rule = op->getAttrOfType<RuleAttr>(kRuleAttrName);
    if (rule.getOperand() < 0 ||
        rule.getOperand() >= static_cast<int64_t>(op->getNumOperands()))
      return op->emitOpError()
             << "has a " << kRuleAttrName << " without one of its operands";
    SparseOp mark = getIndexMark(op, rule);
    if (!mark)
      return op->emitOpError()
             << "has a rule for operand " << rule.getOperand()
             << ", which is not marked by pit.sparse index(..)";
    std::string why;
    if (failed(checkTileable(
            op, rule, cast<SparsityIndexType>(mark.getSelector().getType()),
            mark.getBackgroundOrZero(), why)))
      return op->emitOpError() << "cannot be tiled by its rule: " << why;
    Tiler(rewriter, op, rule, mark, kernels).run();
    return success();
  }
};
} // namespace
