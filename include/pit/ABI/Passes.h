//===- Passes.h - Passes of the calling convention --------------*- C++ -*-===//

#ifndef PIT_ABI_PASSES_H
#define PIT_ABI_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
} // namespace func
namespace pit {

#define GEN_PASS_DECL
#include "pit/ABI/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/ABI/Passes.h.inc"

} // namespace pit
} // namespace mlir

#endif // PIT_ABI_PASSES_H
