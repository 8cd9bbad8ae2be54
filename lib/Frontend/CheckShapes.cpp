//===- CheckShapes.cpp - Sizes that are known and do not fit --------------===//

#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCHECKSHAPES
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

/// Do all operands say the same of each loop's extent? The op's verifier looks
/// only if all extents are known.
static LogicalResult checkOp(linalg::LinalgOp op) {
  struct Said {
    int64_t size, operand, dim;
  };
  SmallVector<std::optional<Said>> extents(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    ArrayRef<int64_t> shape = op.getShape(&operand);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || ShapedType::isDynamic(shape[dim]))
        continue;
      Said said = {shape[dim], operand.getOperandNumber(), int64_t(dim)};
      std::optional<Said> &first = extents[loop.getPosition()];
      if (!first)
        first = said;
      else if (first->size != said.size)
        return op->emitOpError()
               << "has d" << loop.getPosition() << " of " << first->size
               << " by dimension " << first->dim << " of operand "
               << first->operand << ", but of " << said.size << " by dimension "
               << said.dim << " of operand " << said.operand
               << "; both have to be the same";
    }
  }
  return success();
}

namespace {
struct CheckShapesPass : pit::impl::PitCheckShapesBase<CheckShapesPass> {
  void runOnOperation() override {
    WalkResult found = getOperation()->walk(
        [](linalg::LinalgOp op) { return WalkResult(checkOp(op)); });
    if (found.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
