//===- FallbackKernels.h - Kernels that are hardly ever started -*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_HOST_FALLBACKKERNELS_H
#define PIT_LIB_CODEGEN_GPU_HOST_FALLBACKKERNELS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::pit::cuda {

/// Kernels that the host starts where no other can be started.
using NeededKernels = llvm::SmallPtrSet<Operation *, 8>;

/// {data, size} of that name; pit-embed-kernels fills it in.
void createImage(ModuleOp module, StringRef name);

/// Moves the kernels of `from` that are started only where tensors do not suit
/// a kernel of Hopper's to a module, and an image, of their own.
void separateFallbackKernels(gpu::GPUModuleOp from,
                             const NeededKernels &needed);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_HOST_FALLBACKKERNELS_H
