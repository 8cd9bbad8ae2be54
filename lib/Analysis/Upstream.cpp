//===- Upstream.cpp - What MLIR's passes cannot take ----------------------===//

#include "pit/Analysis/Upstream.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

/// The first operand whose elements are no floats. MLIR's decompositions make
/// float constants of its type.
static Value findOtherThanFloats(Operation *op) {
  for (Value operand : op->getOperands())
    if (!isa<FloatType>(getElementTypeOrSelf(operand.getType())))
      return operand;
  return {};
}

LogicalResult pit::checkDecomposable(Operation *op) {
  bool isSoftmax = isa<linalg::SoftmaxOp>(op);
  if (!isSoftmax &&
      !isa<linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp,
           linalg::WinogradOutputTransformOp>(op))
    return success();
  Value other = findOtherThanFloats(op);
  if (!other)
    return success();
  return op->emitOpError() << "is computed with floats only, not with "
                           << getElementTypeOrSelf(other.getType()) << " [U"
                           << (isSoftmax ? 1 : 2)
                           << "]; cast the elements to a float type";
}

LogicalResult pit::checkTilable(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return success();
  for (auto [d, extent] : llvm::enumerate(linalgOp.getStaticLoopRanges()))
    if (extent == 0)
      return op->emitOpError()
             << "iterates 0 times along d" << d
             << ", so MLIR cannot tile it [U3]; make the extent dynamic, or "
                "leave the op out of the schedule";
  return success();
}
