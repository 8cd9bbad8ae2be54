//===- Passes.h - Passes that form mainloops --------------------*- C++ -*-===//

#ifndef PIT_CODEGEN_MAINLOOP_PASSES_H
#define PIT_CODEGEN_MAINLOOP_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pit {

#define GEN_PASS_DECL
#include "pit/Codegen/Mainloop/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/Codegen/Mainloop/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_CODEGEN_MAINLOOP_PASSES_H
