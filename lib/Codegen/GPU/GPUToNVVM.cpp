//===- GPUToNVVM.cpp - gpu ops of kernels to nvvm -------------------------===//
//
// Upstream's convert-gpu-to-nvvm without its calls of libdevice, which takes
// functions of f32, too: ops of arith and math stay for convert-to-llvm.
//
//===----------------------------------------------------------------------===//

#include "pit/Codegen/GPU/Passes.h"
#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITGPUTONVVM
#include "pit/Codegen/GPU/Passes.h.inc"
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
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (std::optional<pit::LaunchInfo> info = pit::LaunchInfo::of(function))
        passByValue(function, info->tensorMaps.size());
  }

  /// The last parameters of a kernel are descriptors, which TMA reads where
  /// they are. gpu.func has no such attributes.
  void passByValue(LLVM::LLVMFuncOp kernel, unsigned count) {
    Builder builder(&getContext());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
    unsigned end = kernel.getNumArguments();
    for (unsigned i = end - count; i < end; ++i) {
      kernel.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(type));
      kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(64));
      kernel.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
    }
  }
};
} // namespace
