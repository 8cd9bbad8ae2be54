//===- FallbackKernels.cpp - Kernels that are hardly ever started ---------===//

#include "FallbackKernels.h"
#include "Images.h"
#include "StartKernel.h"

#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

void mlir::pit::cuda::createImage(ModuleOp module, StringRef name) {
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  LLVM::GlobalOp::create(
      builder, module.getLoc(),
      LLVM::LLVMStructType::getLiteral(module.getContext(),
                                       {pointer, builder.getI64Type()}),
      /*isConstant=*/true, LLVM::Linkage::Internal, name, Attribute());
}

/// The same target, at another level of optimization.
static Attribute withLevel(Attribute target, int level) {
  auto nvvm = dyn_cast<NVVM::NVVMTargetAttr>(target);
  if (!nvvm)
    return target;
  return NVVM::NVVMTargetAttr::get(nvvm.getContext(), level, nvvm.getTriple(),
                                   nvvm.getChip(), nvvm.getFeatures(),
                                   nvvm.getFlags(), nvvm.getLink());
}

void mlir::pit::cuda::separateFallbackKernels(gpu::GPUModuleOp from,
                                              const NeededKernels &needed) {
  auto module = from->getParentOfType<ModuleOp>();
  SmallVector<gpu::GPUFuncOp> fallbacks;
  for (auto kernel : from.getOps<gpu::GPUFuncOp>())
    if (std::optional<LaunchInfo> info = LaunchInfo::of(kernel);
        info && info->preferred && !needed.contains(kernel) &&
        findConstant(module, kernel))
      fallbacks.push_back(kernel);
  if (fallbacks.empty())
    return;
  createImage(module, kFallbackImage);
  OpBuilder builder(from.getContext());
  builder.setInsertionPointAfter(from);
  ArrayAttr targets = from.getTargetsAttr();
  if (targets)
    targets = builder.getArrayAttr(llvm::map_to_vector(
        targets, [](Attribute target) { return withLevel(target, 1); }));
  auto to = gpu::GPUModuleOp::create(builder, from.getLoc(), kFallbackKernels,
                                     targets);
  to->setAttr(kKernelsAttrName, builder.getUnitAttr());
  SymbolTable symbols(from), moved(to);
  // Others may refer to the same symbols.
  SmallVector<Operation *> users(fallbacks.begin(), fallbacks.end());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    auto uses = SymbolTable::getSymbolUses(user);
    assert(uses && "kernels have no ops of unknown dialects");
    for (const SymbolTable::SymbolUse &use : *uses) {
      StringRef name = use.getSymbolRef().getLeafReference();
      Operation *used = symbols.lookup(name);
      if (!used || isa<gpu::GPUFuncOp>(used) || moved.lookup(name))
        continue;
      Operation *copy = used->clone();
      moved.insert(copy);
      users.push_back(copy);
    }
  }
  for (gpu::GPUFuncOp kernel : fallbacks) {
    LaunchInfo info = *LaunchInfo::of(kernel);
    info.preferred = {}; // is in another module now
    info.setOn(kernel);
    kernel->moveBefore(to.getBody(), to.getBody()->end());
    findConstant(module, kernel).walk([](LLVM::AddressOfOp address) {
      if (address.getGlobalName() == kImage)
        address.setGlobalName(kFallbackImage);
    });
  }
}
