//===- Passes.h - Passes on the pit dialect ---------------------*- C++ -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_PASSES_H
#define PIT_DIALECT_PIT_TRANSFORMS_PASSES_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pit {

/// When it is chosen how an op gathers.
enum class Choice { Now, AtRunTime };

#define GEN_PASS_DECL
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_TRANSFORMS_PASSES_H
