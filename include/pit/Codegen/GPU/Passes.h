//===- Passes.h - Passes to kernels for a GPU -------------------*- C++ -*-===//

#ifndef PIT_CODEGEN_GPU_PASSES_H
#define PIT_CODEGEN_GPU_PASSES_H

#include "pit/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pit {

#define GEN_PASS_DECL
#include "pit/Codegen/GPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/Codegen/GPU/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_CODEGEN_GPU_PASSES_H
