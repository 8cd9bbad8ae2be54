//===- Decompose.cpp - Aggregate linalg ops to structured ones ------------===//

#include "pit/Analysis/Upstream.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITDECOMPOSE
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {
struct DecomposePass : pit::impl::PitDecomposeBase<DecomposePass> {
  void runOnOperation() override {
    WalkResult checked = getOperation().walk(
        [](Operation *op) { return WalkResult(pit::checkDecomposable(op)); });
    if (checked.wasInterrupted())
      return signalPassFailure();
    SmallVector<Operation *> aggregates;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::AggregatedOpInterface, linalg::PackOp, linalg::UnPackOp>(
              op))
        aggregates.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : aggregates) {
      rewriter.setInsertionPoint(op);
      if (failed(decompose(rewriter, op))) {
        InFlightDiagnostic diag =
            op->emitOpError("cannot be decomposed into structured ops");
        if (auto pack = dyn_cast<linalg::PackOp>(op))
          if (ShapedType::isDynamicShape(pack.getStaticInnerTiles()))
            diag << ": the extents of its inner tiles have to be constants";
        return signalPassFailure();
      }
    }
    if (getOperation().walk(checkWinograd).wasInterrupted())
      return signalPassFailure();
    // Ops that the patterns do not take are left for bufferization to refuse.
    RewritePatternSet patterns(&getContext());
    linalg::populateDecomposeWinogradOpsPatterns(patterns);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  /// MLIR's patterns take the extents for static: of others they make loops
  /// without iterations.
  static WalkResult checkWinograd(Operation *op) {
    if (!isa<linalg::WinogradFilterTransformOp,
             linalg::WinogradInputTransformOp,
             linalg::WinogradOutputTransformOp>(op))
      return WalkResult::advance();
    for (Type type : op->getOperandTypes())
      if (!cast<ShapedType>(type).hasStaticShape())
        return op->emitOpError("is decomposed for static extents only, but has "
                               "an operand of type ")
               << type;
    return WalkResult::advance();
  }

  LogicalResult decompose(RewriterBase &rewriter, Operation *op) {
    if (auto pack = dyn_cast<linalg::PackOp>(op))
      return linalg::lowerPack(rewriter, pack);
    if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
      return linalg::lowerUnPack(rewriter, unpack);
    FailureOr<SmallVector<Value>> values =
        cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
    if (failed(values))
      return failure();
    rewriter.replaceOp(op, *values);
    return success();
  }
};
} // namespace
