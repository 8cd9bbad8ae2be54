//===- Passes.h - Passes to code for a CPU ----------------------*- C++ -*-===//

#ifndef PIT_CODEGEN_CPU_PASSES_H
#define PIT_CODEGEN_CPU_PASSES_H

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pit {

#define GEN_PASS_DECL
#include "pit/Codegen/CPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/Codegen/CPU/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_CODEGEN_CPU_PASSES_H
