//===- Passes.h - Passes of every target ------------------------*- C++ -*-===//

#ifndef PIT_CODEGEN_COMMON_PASSES_H
#define PIT_CODEGEN_COMMON_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pit {

#define GEN_PASS_DECL
#include "pit/Codegen/Common/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/Codegen/Common/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_CODEGEN_COMMON_PASSES_H
