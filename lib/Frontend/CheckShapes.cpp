//===- CheckShapes.cpp - Sizes that are known and do not fit --------------===//

#include "pit/Dialect/Pit/IR/TileExtents.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCHECKSHAPES
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {
/// The extent of a loop, as an operand's dimension has it.
struct Said {
  int64_t size, operand, dim;
};
using Extents = SmallVector<std::optional<Said>>;
} // namespace

/// Are sums of loops, as of a convolution's windows, inside of their operand?
/// Only where all of these loops are known, and run at all.
static LogicalResult checkWindows(linalg::LinalgOp op, const Extents &extents) {
  SmallVector<AffineExpr> last;
  for (auto [loop, said] : llvm::enumerate(extents))
    last.push_back(said && said->size > 0
                       ? getAffineConstantExpr(said->size - 1, op->getContext())
                       : getAffineDimExpr(loop, op->getContext()));
  for (OpOperand &operand : op->getOpOperands()) {
    ArrayRef<int64_t> shape = op.getShape(&operand);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (isa<AffineDimExpr>(expr) || ShapedType::isDynamic(shape[dim]) ||
          !pit::isMonotone(expr))
        continue;
      auto reached = dyn_cast<AffineConstantExpr>(expr.replaceDims(last));
      if (reached && reached.getValue() >= shape[dim])
        return op->emitOpError()
               << "reaches " << reached.getValue() << " in dimension " << dim
               << " of operand " << operand.getOperandNumber()
               << ", which is of " << shape[dim] << "; it has to be of "
               << reached.getValue() + 1 << " at least";
    }
  }
  return success();
}

/// Do all operands say the same of each loop's extent? The op's verifier looks
/// only if all extents are known.
static LogicalResult checkOp(linalg::LinalgOp op) {
  Extents extents(op.getNumLoops());
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
  return checkWindows(op, extents);
}

/// Is there such a dimension? No verifier asks, and MLIR's value bounds look it
/// up.
static LogicalResult checkDim(ShapedDimOpInterface op) {
  auto type = cast<ShapedType>(op.getShapedValue().getType());
  std::optional<int64_t> dim = getConstantIntValue(op.getDimension());
  if (!dim || !type.hasRank() || (*dim >= 0 && *dim < type.getRank()))
    return success();
  return op->emitOpError() << "asks for dimension " << *dim << " of " << type
                           << ", which has " << type.getRank()
                           << ", numbered from 0";
}

namespace {
struct CheckShapesPass : pit::impl::PitCheckShapesBase<CheckShapesPass> {
  void runOnOperation() override {
    WalkResult found = getOperation()->walk([](Operation *op) {
      if (auto dim = dyn_cast<ShapedDimOpInterface>(op))
        return WalkResult(checkDim(dim));
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        return WalkResult(checkOp(linalgOp));
      return WalkResult::advance();
    });
    if (found.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
