//===- MemoryEffects.cpp - Effects of llvm's ops --------------------------===//

#include "pit/Codegen/Common/MemoryEffects.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace {
/// Nothing that reads or writes memory moves across the op.
template <typename OpTy>
struct OrderingModel
    : MemoryEffectOpInterface::ExternalModel<OrderingModel<OpTy>, OpTy> {
  void
  getEffects(Operation *,
             SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
};
} // namespace

void pit::registerMemoryEffectsExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LLVM::LLVMDialect *) {
    LLVM::FenceOp::attachInterface<OrderingModel<LLVM::FenceOp>>(*context);
    LLVM::StackSaveOp::attachInterface<OrderingModel<LLVM::StackSaveOp>>(
        *context);
    LLVM::StackRestoreOp::attachInterface<OrderingModel<LLVM::StackRestoreOp>>(
        *context);
  });
}
