//===- Passes.h - Passes on the pipeline of kernels -------------*- C++ -*-===//

#ifndef PIT_CODEGEN_GPU_PIPELINE_PASSES_H
#define PIT_CODEGEN_GPU_PIPELINE_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pit {

#define GEN_PASS_DECL
#include "pit/Codegen/GPU/Pipeline/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/Codegen/GPU/Pipeline/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_CODEGEN_GPU_PIPELINE_PASSES_H
