//===- LowerCollapseShape.cpp - Collapsed memory without gaps -------------===//

#include "pit/Codegen/Common/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITLOWERCOLLAPSESHAPE
#include "pit/Codegen/Common/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

/// The same memory with the products of the sizes of each group.
static void lower(memref::CollapseShapeOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto source =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
  SmallVector<OpFoldResult> sourceSizes = source.getConstifiedMixedSizes();
  AffineExpr x, y;
  bindSymbols(rewriter.getContext(), x, y);
  auto times = [&](OpFoldResult a, OpFoldResult b) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, x * y, {a, b});
  };
  SmallVector<OpFoldResult> sizes;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    OpFoldResult size = rewriter.getIndexAttr(1);
    for (int64_t d : group)
      size = times(size, sourceSizes[d]);
    sizes.push_back(size);
  }
  SmallVector<OpFoldResult> strides(sizes.size());
  OpFoldResult next = rewriter.getIndexAttr(1);
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = next;
    next = times(next, sizes[d]);
  }
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, op.getResultType(), source.getBaseBuffer(), rewriter.getIndexAttr(0),
      sizes, strides);
}

namespace {
struct LowerCollapseShapePass
    : pit::impl::PitLowerCollapseShapeBase<LowerCollapseShapePass> {
  void runOnOperation() override {
    SmallVector<memref::CollapseShapeOp> ops;
    getOperation().walk([&](memref::CollapseShapeOp op) {
      if (op.getSrcType().getLayout().isIdentity() &&
          op.getResultType().getLayout().isIdentity())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (memref::CollapseShapeOp op : ops)
      lower(op, rewriter);
  }
};
} // namespace
