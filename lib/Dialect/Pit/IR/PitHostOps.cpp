//===- PitHostOps.cpp - What the host does with kernels -------------------===//

#include "Verify.h"

#include "pit/Dialect/Pit/IR/Pit.h"

using namespace mlir;
using namespace mlir::pit;

void LaunchOp::build(OpBuilder &builder, OperationState &state,
                     TypeRange results, SymbolRefAttr kernel, Value iterations,
                     ValueRange inputs, ValueRange outs, bool elements) {
  build(builder, state, results, kernel, iterations, inputs, outs,
        /*choice=*/Value(), /*fill=*/Value(), /*fill_elements=*/Value(),
        elements, /*variant=*/IntegerAttr(), /*fill_kernel=*/SymbolRefAttr());
}

void LaunchOp::setFill(Value out, Value elements, SymbolRefAttr kernel) {
  getFillMutable().assign(out);
  getFillElementsMutable().assign(elements);
  setFillKernelAttr(kernel);
}

static LogicalResult verifyChoice(LaunchOp op) {
  if (!op.getChoice())
    return success();
  Type choice = op.getChoice().getType();
  if (!isa<BitmapType>(choice) && choice.getDialect().getNamespace() != "llvm")
    return violates(op, "launch 5")
           << "choice is " << choice
           << "; it must be the bitmap of a pit.choose, or an "
              "!llvm.ptr when that is lowered";
  if (!op.getResults().empty())
    return violates(op, "launch 6")
           << "has results and a choice; variants write memrefs";
  IntegerAttr variant = op.getVariantAttr();
  if (!variant || variant.getInt() < 0)
    return violates(op, "launch 7")
           << "has a choice, and "
           << (variant ? "variant " + std::to_string(variant.getInt())
                       : "no variant")
           << "; variants are numbered from 0";
  return success();
}

static LogicalResult verifyFill(LaunchOp op) {
  Value fill = op.getFill();
  if (fill && !llvm::is_contained(op.getOuts(), fill))
    return violates(op, "launch 8")
           << "fills a " << fill.getType() << " that is none of its "
           << op.getOuts().size() << " outputs";
  SymbolRefAttr kernel = op.getFillKernelAttr();
  if (bool(fill) != bool(kernel) || bool(fill) != bool(op.getFillElements()))
    return violates(op, "launch 9")
           << "has " << (fill ? "a" : "no") << " fill, "
           << (kernel ? "a" : "no") << " fill_kernel and "
           << (op.getFillElements() ? "a" : "no")
           << " number of its elements; all three stand together";
  if (kernel && kernel.getNestedReferences().size() != 1)
    return violates(op, "launch 9") << "fill_kernel " << kernel
                                    << " has to be named as @module::@kernel";
  return success();
}

LogicalResult LaunchOp::verify() {
  bool onTensors = !getResults().empty();
  for (auto [i, type] : llvm::enumerate(getOuts().getTypes())) {
    if (isa<RankedTensorType>(type) != onTensors)
      return violates(*this, "launch 1")
             << "output " << i << " is " << type
             << "; outputs are all tensors, with one result "
                "each, or all memrefs without results";
  }
  if (onTensors && getResults().size() != getOuts().size())
    return violates(*this, "launch 2")
           << "has " << getOuts().size() << " outputs but "
           << getResults().size() << " results";
  for (auto [i, result] : llvm::enumerate(getResults()))
    if (result.getType() != getOuts()[i].getType())
      return violates(*this, "launch 3")
             << "result " << i << " is " << result.getType() << " but output "
             << i << " is " << getOuts()[i].getType();
  if (getKernel().getNestedReferences().size() != 1)
    return violates(*this, "launch 4")
           << "kernel " << getKernel()
           << " has to be named as @module::@kernel";
  return failure(failed(verifyChoice(*this)) || failed(verifyFill(*this)));
}

void LaunchOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Read>(effects, getInputsMutable());
  addEffect<MemoryEffects::Write>(effects, getFillMutable());
  addEffect<MemoryEffects::Read>(effects, getOutsMutable());
  addEffect<MemoryEffects::Write>(effects, getOutsMutable());
}
