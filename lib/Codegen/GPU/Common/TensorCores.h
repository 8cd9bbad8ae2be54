//===- TensorCores.h - What tensor cores take -------------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_TENSORCORES_H
#define PIT_LIB_CODEGEN_GPU_COMMON_TENSORCORES_H

#include "Codegen/Common/ContractionInfo.h"

namespace mlir::pit::cuda {

/// Do tensor cores compute this contraction? With `tf32`, elements of f32 may
/// be rounded to tf32.
bool fitsTensorCores(const ContractionInfo &info, bool tf32);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_TENSORCORES_H
