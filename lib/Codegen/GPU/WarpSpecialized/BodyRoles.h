//===- BodyRoles.h - A tile body by warps of two roles ----------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_BODYROLES_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_BODYROLES_H

#include "Codegen/GPU/Common/KernelLowering.h"

#include "pit/Dialect/Pit/IR/Pit.h"

namespace mlir::pit::cuda {

/// Makes a kernel of warps of two roles of the function that has `mainloop`,
/// which has a schedule with producers. It is in ops of the pit_gpu dialect;
/// lowerKernel makes the one to take where its
/// tensors cannot be described to TMA.
FailureOr<gpu::GPUFuncOp> lowerBodyByRoles(MainloopOp mainloop,
                                           gpu::GPUModuleOp device,
                                           const GpuTarget &target);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_BODYROLES_H
