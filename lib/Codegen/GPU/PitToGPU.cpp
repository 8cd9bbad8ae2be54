//===- PitToGPU.cpp - Kernels of bufferized level 3 to gpu ----------------===//

#include "Ampere/KernelLowering.h"
#include "Hopper/HopperKernel.h"

#include "pit/Codegen/GPU/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::pit {
#define GEN_PASS_DEF_CONVERTPITTOGPU
#include "pit/Codegen/GPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {
struct ConvertPitToGPUPass
    : pit::impl::ConvertPitToGPUBase<ConvertPitToGPUPass> {
  using Base::Base;

  void runOnOperation() override {
    int64_t count = threads;
    if (count < kWarp || count > 1024 || count % kWarp) {
      getOperation().emitError()
          << "convert-pit-to-gpu: " << count
          << " threads in a block; a multiple of 32 up to 1024 is right";
      return signalPassFailure();
    }
    // Without a chip kernels are for all GPUs.
    FailureOr<GpuTarget> target =
        chip.empty() ? FailureOr<GpuTarget>(getOldestGpuTarget())
                     : getGpuTarget(getOperation().getLoc(), chip);
    if (failed(target))
      return signalPassFailure();
    for (auto kernels :
         llvm::make_early_inc_range(getOperation().getOps<ModuleOp>()))
      if (kernels->hasAttr(kKernelsAttrName) &&
          failed(convert(kernels, *target)))
        return signalPassFailure();
  }

  LogicalResult convert(ModuleOp kernels, const GpuTarget &target) {
    IRRewriter rewriter(kernels);
    auto device =
        gpu::GPUModuleOp::create(rewriter, kernels.getLoc(),
                                 kernels.getSymName().value_or("pit_kernels"),
                                 targets(rewriter, target));
    llvm::StringMap<std::optional<LaunchedFill>> fills;
    if (target.wgmma)
      for (auto function : kernels.getOps<func::FuncOp>())
        fills[function.getName()] = findFill(function);
    for (Operation &op : llvm::make_early_inc_range(*kernels.getBody())) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function || function.isExternal()) {
        op.moveBefore(device.getBody(), device.getBody()->end());
        continue;
      }
      FailureOr<gpu::GPUFuncOp> hopper = failure();
      std::optional<LaunchedFill> fill;
      if (target.wgmma) {
        fill = fills.lookup(function.getName());
        hopper = lowerHopper(function, device, target, fill);
      }
      FailureOr<gpu::GPUFuncOp> kernel =
          lowerKernel(function, device, {threads, maxSharedBytes, target});
      if (failed(kernel))
        return failure();
      if (failed(hopper))
        continue;
      kernel->getOperation()->setAttr(
          kHopperAttrName, FlatSymbolRefAttr::get(hopper->getNameAttr()));
      if ((*hopper)->hasAttr(kFillsAttrName))
        for (LaunchOp launch : fill->launches)
          launch->setAttr(kFillsForNextAttrName, rewriter.getUnitAttr());
    }
    rewriter.eraseOp(kernels);
    return success();
  }

  FailureOr<gpu::GPUFuncOp>
  lowerHopper(func::FuncOp function, gpu::GPUModuleOp device,
              const GpuTarget &target,
              const std::optional<LaunchedFill> &before) {
    std::string why;
    FailureOr<gpu::GPUFuncOp> kernel =
        lowerHopperKernel(function, device, target, before, why);
    if (failed(kernel) && explain)
      function.walk([&](Operation *op) {
        bool isMainloop = isa<MainloopOp>(op);
        auto product = dyn_cast<linalg::LinalgOp>(op);
        if (isMainloop ||
            (product && linalg::isaContractionOpInterface(product)))
          op->emitRemark() << "kernel " << function.getName()
                           << " has the portable schedule only, not Hopper's: "
                           << (isMainloop ? why : "its product is no mainloop");
      });
    return kernel;
  }

  ArrayAttr targets(Builder &builder, const GpuTarget &target) {
    if (chip.empty())
      return {};
    StringRef ptx = features.empty() ? StringRef(target.ptx) : features;
    return builder.getArrayAttr(NVVM::NVVMTargetAttr::get(
        &getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", chip, ptx));
  }
};
} // namespace
