//===- KernelsToNVVM.h - From a gpu.module to nvvm --------------*- C++ -*-===//

#ifndef PIT_LIB_PIPELINES_KERNELSTONVVM_H
#define PIT_LIB_PIPELINES_KERNELSTONVVM_H

namespace mlir {
class OpPassManager;

namespace pit {

/// Appends the passes of one gpu.module.
void addKernelsToNVVM(OpPassManager &device);

} // namespace pit
} // namespace mlir

#endif // PIT_LIB_PIPELINES_KERNELSTONVVM_H
