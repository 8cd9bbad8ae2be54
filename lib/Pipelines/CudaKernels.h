//===- CudaKernels.h - What pipelines do with kernels -----------*- C++ -*-===//

#ifndef PIT_LIB_PIPELINES_CUDAKERNELS_H
#define PIT_LIB_PIPELINES_CUDAKERNELS_H

#include "pit/Codegen/GPU/Passes.h"
#include "pit/Codegen/GPU/Pipeline/Passes.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Pipelines/PitToCuda.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::pit {

/// Forms mainloops in a module of kernels, if that is asked for.
inline void addMainloops(OpPassManager &kernels,
                         const PitToCudaOptions &options) {
  if (!options.mainloops)
    return;
  PitFormMainloopsOptions mainloops;
  mainloops.tf32 = options.tf32;
  mainloops.chip = options.chip;
  mainloops.explain = options.explain;
  kernels.addNestedPass<func::FuncOp>(createPitFormMainloops(mainloops));
}

/// Decides how kernels are run, and makes the code of a block's threads.
inline void addSchedules(OpPassManager &pm, const PitToCudaOptions &options) {
  PitScheduleKernelsOptions schedule;
  schedule.chip = options.chip;
  schedule.explain = options.explain;
  schedule.strict = options.strict;
  pm.addPass(createPitScheduleKernels(schedule));
  ConvertPitToGPUOptions convert;
  convert.chip = options.chip;
  convert.optLevel = options.optLevel;
  pm.addPass(createConvertPitToGPU(convert));
  // Launches say what kernels take.
  pm.addNestedPass<gpu::GPUModuleOp>(createConvertPitGPUToNVVM());
}

} // namespace mlir::pit

#endif // PIT_LIB_PIPELINES_CUDAKERNELS_H
