//===- HopperKernel.h - A kernel of specialised warps -----------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERKERNEL_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERKERNEL_H

#include "HopperFill.h"

namespace mlir::pit::cuda {

/// Makes a kernel, by specialised warps, of the function that has `mainloop`
/// and does what the mainloop's schedule with producers says; lowerKernel makes
/// the one to take where its tensors cannot be described to TMA. A kernel that
/// says `fills` in its launch info also does what the launch `before` does.
FailureOr<gpu::GPUFuncOp>
lowerHopperKernel(MainloopOp mainloop, gpu::GPUModuleOp device,
                  const GpuTarget &target,
                  const std::optional<LaunchedFill> &before);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERKERNEL_H
