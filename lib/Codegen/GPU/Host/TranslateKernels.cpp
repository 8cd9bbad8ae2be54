//===- TranslateKernels.cpp - From the nvvm dialect to PTX ----------------===//

#include "pit/Codegen/GPU/Host/Passes.h"

#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVM/ModuleToObject.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ThreadPool.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITTRANSLATEKERNELS
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {

/// One module on its way. What uses MLIR's context, which may be of one thread,
/// comes in steps of its own.
class Translation : public LLVM::ModuleToObject {
public:
  Translation(gpu::GPUModuleOp module, NVVM::NVVMTargetAttr target)
      : ModuleToObject(*module, target.getTriple(), target.getChip(),
                       target.getFeatures(), target.getO()),
        target(target) {}

  /// To LLVM IR.
  LogicalResult translate() {
    ir = translateToLLVMIR(context);
    if (!ir)
      return module.emitError("cannot be translated to LLVM IR");
    setDataLayoutAndTriple(*ir);
    machine = getOrCreateTargetMachine();
    return machine;
  }

  /// To PTX, on any thread.
  void emit() {
    if (failed(optimizeModule(*ir, optLevel)))
      return;
    FailureOr<SmallString<0>> text = translateModuleToISA(
        *ir, **machine, [] { return InFlightDiagnostic(); });
    if (succeeded(text))
      ptx = text->str().str();
  }

  /// The binary in the module's place.
  LogicalResult replace() {
    if (ptx.empty())
      return module.emitError("cannot be translated to PTX");
    auto kernels = cast<gpu::GPUModuleOp>(module);
    OpBuilder builder(kernels);
    auto object = gpu::ObjectAttr::get(
        builder.getContext(), target, gpu::CompilationTarget::Assembly,
        builder.getStringAttr(ptx),
        builder.getDictionaryAttr(
            builder.getNamedAttr("O", builder.getI32IntegerAttr(optLevel))),
        /*kernels=*/nullptr);
    gpu::BinaryOp::create(builder, kernels.getLoc(), kernels.getName(),
                          /*offloadingHandler=*/nullptr,
                          builder.getArrayAttr(object));
    kernels.erase();
    return success();
  }

private:
  NVVM::NVVMTargetAttr target;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir;
  FailureOr<llvm::TargetMachine *> machine = failure();
  std::string ptx;
};

struct TranslateKernels : pit::impl::PitTranslateKernelsBase<TranslateKernels> {
  using Base::Base;

  void runOnOperation() override {
    NVVM::SerializeGPUModuleBase::init();
    SmallVector<std::unique_ptr<Translation>> translations;
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (own && !module->hasAttr(pit::kKernelsAttrName))
        continue;
      ArrayAttr targets = module.getTargetsAttr();
      auto target = targets && targets.size() == 1
                        ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                        : NVVM::NVVMTargetAttr();
      if (!target) {
        module.emitOpError("needs one target, of the nvvm dialect");
        return signalPassFailure();
      }
      translations.push_back(std::make_unique<Translation>(module, target));
      if (failed(translations.back()->translate()))
        return signalPassFailure();
    }
    if (translations.size() == 1) {
      translations.front()->emit();
    } else {
      llvm::DefaultThreadPool threads;
      for (auto &translation : translations)
        threads.async([&translation] { translation->emit(); });
      threads.wait();
    }
    for (auto &translation : translations)
      if (failed(translation->replace()))
        return signalPassFailure();
  }
};

} // namespace
