//===- GPUToNVVM.cpp - gpu ops of kernels to nvvm -------------------------===//
//
// Upstream's convert-gpu-to-nvvm without its calls of libdevice, which is not
// at hand: ops of arith and math stay for convert-to-llvm.
//
//===----------------------------------------------------------------------===//

#include "pit/Conversion/Passes.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITGPUTONVVM
#include "pit/Conversion/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {
struct PitGPUToNVVMPass : pit::impl::PitGPUToNVVMBase<PitGPUToNVVMPass> {
  void runOnOperation() override {
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter converter(&getContext(), options);
    configureGpuToNVVMTypeConverter(converter);
    RewritePatternSet patterns(&getContext());
    populateGpuToNVVMConversionPatterns(converter, patterns);
    ConversionTarget target(getContext());
    target.addIllegalDialect<gpu::GPUDialect>();
    target.addLegalOp<gpu::GPUModuleOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return signalPassFailure();
    // What is passed by value is not copied: TMA reads descriptors where they
    // are. gpu.func does not know this attribute.
    StringRef constant = NVVM::NVVMDialect::getGridConstantAttrName();
    StringRef byValue = LLVM::LLVMDialect::getByValAttrName();
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (function.getArgAttr(i, byValue))
          function.setArgAttr(i, constant, UnitAttr::get(&getContext()));
  }
};
} // namespace
