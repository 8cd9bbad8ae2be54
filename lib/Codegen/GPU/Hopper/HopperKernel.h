//===- HopperKernel.h - A kernel of specialised warps -----------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_HOPPER_HOPPERKERNEL_H
#define PIT_LIB_CODEGEN_GPU_HOPPER_HOPPERKERNEL_H

#include "HopperFill.h"

namespace mlir::pit::cuda {

/// Makes a kernel of `function` for `target`, which has wgmma, by specialised
/// warps; lowerKernel makes the one to take where its tensors cannot be
/// described to TMA. Fails, and says `why`, if the function does not fit. A
/// kernel that says `pit.fills` also does what the launch `before` does.
FailureOr<gpu::GPUFuncOp>
lowerHopperKernel(func::FuncOp function, gpu::GPUModuleOp device,
                  const GpuTarget &target,
                  const std::optional<LaunchedFill> &before, std::string &why);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_HOPPER_HOPPERKERNEL_H
