//===- PitToGPU.cpp - Kernels of bufferized level 3 to gpu ----------------===//

#include "Common/ExpandMainloop.h"
#include "Kernel/KernelLowering.h"
#include "WarpSpecialized/BodyRoles.h"
#include "WarpSpecialized/HopperKernel.h"

#include "pit/Codegen/GPU/Passes.h"
#include "pit/Dialect/Pit/IR/LaunchInfo.h"
#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::pit {
#define GEN_PASS_DEF_CONVERTPITTOGPU
#include "pit/Codegen/GPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// A mainloop of the kernel that has a schedule with producers, if one has.
static MainloopOp findWithProducers(func::FuncOp function,
                                    const GpuTarget &target) {
  MainloopOp found;
  function.walk([&](MainloopOp mainloop) {
    if (findSchedule(mainloop, target, /*hasProducers=*/true))
      found = mainloop;
  });
  return found;
}

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
    if (int64_t level = optLevel; level < 0 || level > 3) {
      getOperation().emitError() << "convert-pit-to-gpu: opt-level is " << level
                                 << "; 0, 1, 2 or 3 is right";
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
    device->setAttr(kKernelsAttrName, rewriter.getUnitAttr());
    // All launches and kernels are still there.
    llvm::StringMap<std::optional<LaunchedFill>> fills;
    for (auto function : kernels.getOps<func::FuncOp>())
      if (findWithProducers(function, target))
        fills[function.getName()] = findFill(function);
    for (Operation &op : llvm::make_early_inc_range(*kernels.getBody())) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function || function.isExternal())
        op.moveBefore(device.getBody(), device.getBody()->end());
      else if (failed(convert(function, device, target,
                              fills.lookup(function.getName()))))
        return failure();
    }
    rewriter.eraseOp(kernels);
    return success();
  }

  /// Makes one or two kernels of a function.
  LogicalResult convert(func::FuncOp function, gpu::GPUModuleOp device,
                        const GpuTarget &target,
                        const std::optional<LaunchedFill> &fill) {
    gpu::GPUFuncOp hopper;
    if (MainloopOp mainloop = findWithProducers(function, target)) {
      FailureOr<gpu::GPUFuncOp> lowered =
          mainloop.isProduct()
              ? lowerHopperKernel(mainloop, device, target, fill)
              : lowerBodyByRoles(mainloop, device, target);
      if (failed(lowered))
        return failure();
      hopper = *lowered;
      // The first kernel is right without a schedule.
      IRRewriter rewriter(&getContext());
      if (mainloop.isProduct() &&
          !findSchedule(mainloop, target, /*hasProducers=*/false))
        expandMainloop(rewriter, mainloop);
    }
    FailureOr<gpu::GPUFuncOp> kernel =
        lowerKernel(function, device, {threads, maxSharedBytes, target});
    if (failed(kernel))
      return failure();
    if (!hopper)
      return success();
    LaunchInfo info = *LaunchInfo::of(*kernel);
    info.preferred = FlatSymbolRefAttr::get(hopper.getNameAttr());
    info.setOn(*kernel);
    if (LaunchInfo::of(hopper)->fills)
      for (auto [before, launch] : fill->launches)
        takeFill(before, launch);
    return success();
  }

  /// The launch before becomes a part of this one.
  static void takeFill(LaunchOp before, LaunchOp launch) {
    launch.setFill(before.getOuts().front(), before.getIterations(),
                   before.getKernelAttr());
    before.erase();
  }

  ArrayAttr targets(Builder &builder, const GpuTarget &target) {
    if (chip.empty())
      return {};
    StringRef ptx = features.empty() ? StringRef(target.ptx) : features;
    return builder.getArrayAttr(NVVM::NVVMTargetAttr::get(
        &getContext(), optLevel, "nvptx64-nvidia-cuda", chip, ptx));
  }
};
} // namespace
