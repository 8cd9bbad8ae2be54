//===- AbiExpectStatus.cpp - Failed runtime calls end the process ---------===//

#include "pit/ABI/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABIEXPECTSTATUS
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

static constexpr StringLiteral kExpect = "pit_rt_expect";

/// The argument that is the frame, in a function that returns no status.
static std::optional<unsigned> findFrame(func::FuncOp func) {
  if (func->hasAttr(kManifestAttr))
    return std::nullopt;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (func.getArgAttr(i, kFrameAttr))
      return i;
  return std::nullopt;
}

/// Takes the attributes off that only passes of pit know.
static void removeAttributes(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    for (StringRef name : {kFrameAttr, kStreamAttrName})
      func.removeArgAttr(i, name);
  for (NamedAttribute attr : llvm::to_vector(func->getDiscardableAttrs()))
    if (attr.getName().strref().starts_with("pit."))
      func->removeAttr(attr.getName());
}

namespace {
struct AbiExpectStatus : pit::impl::PitAbiExpectStatusBase<AbiExpectStatus> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool any = false;
    for (auto func : module.getOps<func::FuncOp>()) {
      std::optional<unsigned> frame = findFrame(func);
      if (!frame || func.isExternal())
        continue;
      func.walk([&](CheckStatusOp check) {
        OpBuilder builder(check);
        func::CallOp::create(
            builder, check.getLoc(), kExpect, TypeRange(),
            ValueRange{func.getArgument(*frame), check.getStatus()});
        check.erase();
        any = true;
      });
      removeAttributes(func);
    }
    // On a device callers were told by this, too.
    for (auto func : module.getOps<func::FuncOp>())
      func->removeAttr(kDeviceAttrName);
    if (!any || module.lookupSymbol(kExpect))
      return;
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    func::FuncOp::create(
        builder, module.getLoc(), kExpect,
        builder.getFunctionType(
            {LLVM::LLVMPointerType::get(&getContext()), builder.getI32Type()},
            {}))
        .setPrivate();
  }
};
} // namespace
