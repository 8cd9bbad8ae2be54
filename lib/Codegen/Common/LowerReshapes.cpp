//===- LowerReshapes.cpp - Reshapes that MLIR's passes lower badly --------===//

#include "pit/Codegen/Common/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITLOWERRESHAPES
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

/// Does MLIR divide where no access needs it, as memory has no gaps?
static bool isWithoutGaps(memref::CollapseShapeOp op) {
  return op.getSrcType().getLayout().isIdentity() &&
         op.getResultType().getLayout().isIdentity();
}

namespace {
/// Replaces one reshape by the same memory with other sizes.
struct ReshapeLowering {
  template <typename OpT>
  ReshapeLowering(OpT op, IRRewriter &rewriter)
      : rewriter(rewriter), loc(op.getLoc()) {
    rewriter.setInsertionPoint(op);
    source =
        memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
    bool expands = std::is_same_v<OpT, memref::ExpandShapeOp>;
    setSizes(op);
    rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
        op, op.getResultType(), source.getBaseBuffer(),
        expands ? source.getConstifiedMixedOffset()
                : OpFoldResult(rewriter.getIndexAttr(0)),
        sizes, strides);
  }

  void setSizes(memref::ExpandShapeOp op) {
    sizes = op.getMixedOutputShape();
    strides.resize(sizes.size());
    for (auto [group, stride] : llvm::zip_equal(
             op.getReassociationIndices(), source.getConstifiedMixedStrides()))
      setStrides(group, stride);
  }

  void setSizes(memref::CollapseShapeOp op) {
    SmallVector<OpFoldResult> sourceSizes = source.getConstifiedMixedSizes();
    OpFoldResult one = rewriter.getIndexAttr(1);
    for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
      sizes.push_back(one);
      for (int64_t d : group)
        sizes.back() = times(sizes.back(), sourceSizes[d]);
    }
    strides.resize(sizes.size());
    setStrides(llvm::to_vector(llvm::seq<int64_t>(sizes.size())), one);
  }

  /// The size of dims that lie together, the last of which has this stride.
  void setStrides(ArrayRef<int64_t> dims, OpFoldResult stride) {
    for (int64_t d : llvm::reverse(dims)) {
      strides[d] = stride;
      stride = times(stride, sizes[d]);
    }
  }

  OpFoldResult times(OpFoldResult a, OpFoldResult b) {
    AffineExpr x, y;
    bindSymbols(rewriter.getContext(), x, y);
    return affine::makeComposedFoldedAffineApply(rewriter, loc, x * y, {a, b});
  }

  IRRewriter &rewriter;
  Location loc;
  memref::ExtractStridedMetadataOp source;
  SmallVector<OpFoldResult> sizes, strides;
};

struct LowerReshapes : pit::impl::PitLowerReshapesBase<LowerReshapes> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      auto expand = dyn_cast<memref::ExpandShapeOp>(op);
      auto collapse = dyn_cast<memref::CollapseShapeOp>(op);
      if ((expand && hasSeveralDynamicDims(expand)) ||
          (collapse && isWithoutGaps(collapse)))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
        ReshapeLowering(expand, rewriter);
      else
        ReshapeLowering(cast<memref::CollapseShapeOp>(op), rewriter);
    }
  }
};
} // namespace
