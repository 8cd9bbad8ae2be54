//===- LowerExpandShape.cpp - Expansions into several dynamic dims --------===//

#include "pit/Codegen/Common/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITLOWEREXPANDSHAPE
#include "pit/Codegen/Common/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

/// Do the sizes of a dim that is expanded not follow from its own size?
static bool hasSeveralDynamicDims(memref::ExpandShapeOp op) {
  MemRefType type = op.getResultType();
  return llvm::any_of(op.getReassociationIndices(),
                      [&](ArrayRef<int64_t> group) {
                        return llvm::count_if(group, [&](int64_t d) {
                                 return type.isDynamicDim(d);
                               }) > 1;
                      });
}

/// The same memory with the sizes that the op says, and the strides that these
/// and the source's give.
static void lower(memref::ExpandShapeOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto source =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
  SmallVector<OpFoldResult> sourceStrides = source.getConstifiedMixedStrides();
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(sizes.size());
  AffineExpr x, y;
  bindSymbols(rewriter.getContext(), x, y);
  for (auto [group, stride] :
       llvm::zip_equal(op.getReassociationIndices(), sourceStrides)) {
    OpFoldResult next = stride;
    for (int64_t d : llvm::reverse(group)) {
      strides[d] = next;
      next = affine::makeComposedFoldedAffineApply(rewriter, loc, x * y,
                                                   {next, sizes[d]});
    }
  }
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, op.getResultType(), source.getBaseBuffer(),
      source.getConstifiedMixedOffset(), sizes, strides);
}

namespace {
struct LowerExpandShapePass
    : pit::impl::PitLowerExpandShapeBase<LowerExpandShapePass> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> ops;
    getOperation().walk([&](memref::ExpandShapeOp op) {
      if (hasSeveralDynamicDims(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (memref::ExpandShapeOp op : ops)
      lower(op, rewriter);
  }
};
} // namespace
