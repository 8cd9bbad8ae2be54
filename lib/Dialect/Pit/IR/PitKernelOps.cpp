//===- PitKernelOps.cpp - Ops between host and kernels --------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

using namespace mlir;
using namespace mlir::pit;

LogicalResult LaunchOp::verify() {
  bool onTensors = !getResults().empty();
  for (auto [i, type] : llvm::enumerate(getOuts().getTypes())) {
    if (isa<RankedTensorType>(type) != onTensors)
      return emitOpError() << "output " << i << " is " << type
                           << "; outputs are all tensors, with one result "
                              "each, or all memrefs without results";
  }
  if (onTensors && getResults().size() != getOuts().size())
    return emitOpError() << "has " << getOuts().size() << " outputs but "
                         << getResults().size() << " results";
  for (auto [i, result] : llvm::enumerate(getResults()))
    if (result.getType() != getOuts()[i].getType())
      return emitOpError() << "result " << i << " is " << result.getType()
                           << " but output " << i << " is "
                           << getOuts()[i].getType();
  if (getKernel().getNestedReferences().size() != 1)
    return emitOpError() << "kernel " << getKernel()
                         << " has to be named as @module::@kernel";
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &input : getInputsMutable())
    if (isa<MemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input,
                           SideEffects::DefaultResource::get());
  for (OpOperand &out : getOutsMutable()) {
    if (!isa<MemRefType>(out.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &out,
                         SideEffects::DefaultResource::get());
    effects.emplace_back(MemoryEffects::Write::get(), &out,
                         SideEffects::DefaultResource::get());
  }
}
