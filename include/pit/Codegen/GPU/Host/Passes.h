//===- Passes.h - Passes that make and launch kernels -----------*- C++ -*-===//

#ifndef PIT_CODEGEN_GPU_HOST_PASSES_H
#define PIT_CODEGEN_GPU_HOST_PASSES_H

#include "pit/Codegen/GPU/Host/DeviceCode.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pit {

#define GEN_PASS_DECL
#include "pit/Codegen/GPU/Host/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/Codegen/GPU/Host/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_CODEGEN_GPU_HOST_PASSES_H
