//===- Upstream.cpp - What MLIR's passes cannot take ----------------------===//

#include "pit/Analysis/Upstream.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;

/// The first operand whose elements are no floats. MLIR's decompositions make
/// float constants of its type.
static Value findOtherThanFloats(Operation *op) {
  for (Value operand : op->getOperands())
    if (!isa<FloatType>(getElementTypeOrSelf(operand.getType())))
      return operand;
  return {};
}

LogicalResult pit::checkVerifiable(Operation *op) {
  if (!isa<linalg::TransposeOp>(op))
    return success();
  for (Type type : op->getOperandTypes())
    if (auto shaped = dyn_cast<ShapedType>(type);
        shaped && shaped.hasRank() && shaped.getRank() == 0)
      return op->emitOpError()
             << "is of " << type
             << ", and MLIR transposes one dimension or more [U5]; "
                "linalg.copy takes one element";
  return success();
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

/// Is the op an instruction of one machine, or one that no machine of pit's
/// has?
static bool isOfOneMachine(Operation *op) {
  if (isa<vector::VectorScaleOp, LLVM::vscale, LLVM::InlineAsmOp>(op))
    return true;
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  if (!call)
    return false;
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(call.getIntrin());
  return id == llvm::Intrinsic::vscale ||
         (id != llvm::Intrinsic::not_intrinsic &&
          llvm::Intrinsic::isTargetIntrinsic(id));
}

LogicalResult pit::checkSelectable(Operation *op) {
  if (!isOfOneMachine(op))
    return success();
  return op->emitOpError()
         << "is no instruction that each target has [U4]; call a function that "
            "is linked to the program";
}
