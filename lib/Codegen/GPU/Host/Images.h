//===- Images.h - Names of device code in a program -------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_HOST_IMAGES_H
#define PIT_LIB_CODEGEN_GPU_HOST_IMAGES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::pit::cuda {

/// Modules of kernels, later binaries, and the constants of the program that
/// they become: all kernels, or those that usually run ...
inline constexpr StringLiteral kKernels = "pit_kernels";
inline constexpr StringLiteral kImage = "pit_image";
/// ... and those that run where tensors do not suit a kernel of Hopper's.
inline constexpr StringLiteral kFallbackKernels = "pit_fallback_kernels";
inline constexpr StringLiteral kFallbackImage = "pit_fallback_image";

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_HOST_IMAGES_H
