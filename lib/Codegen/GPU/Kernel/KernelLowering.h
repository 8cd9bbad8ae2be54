//===- KernelLowering.h - One kernel to a gpu.func --------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_KERNEL_KERNELLOWERING_H
#define PIT_LIB_CODEGEN_GPU_KERNEL_KERNELLOWERING_H

#include "Codegen/GPU/Common/KernelLowering.h"

namespace mlir::pit::cuda {

/// Moves `function` into `device` as a kernel for blocks of threads.
FailureOr<gpu::GPUFuncOp> lowerKernel(func::FuncOp function,
                                      gpu::GPUModuleOp device,
                                      const KernelOptions &options);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_KERNEL_KERNELLOWERING_H
