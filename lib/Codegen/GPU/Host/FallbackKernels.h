//===- FallbackKernels.h - Kernels that are hardly ever started -*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_HOST_FALLBACKKERNELS_H
#define PIT_LIB_CODEGEN_GPU_HOST_FALLBACKKERNELS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::pit::cuda {

/// The places where the host starts kernels.
struct KernelStarts {
  /// The image that is named there.
  llvm::MapVector<gpu::GPUFuncOp, SmallVector<LLVM::AddressOfOp>> images;
  /// Kernels that are started where no other can be.
  llvm::SmallPtrSet<Operation *, 8> needed;
};

/// {data, size} of that name; pit-embed-kernels fills it in.
void createImage(ModuleOp module, StringRef name);

/// Moves the kernels of `from` that are started only where tensors do not suit
/// a kernel of Hopper's to a module, and an image, of their own.
void separateFallbackKernels(gpu::GPUModuleOp from, KernelStarts &starts);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_HOST_FALLBACKKERNELS_H
