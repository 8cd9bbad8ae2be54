//===- Mlp.h - A dialect of two ops -----------------------------*- C++ -*-===//

#ifndef MLP_H
#define MLP_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include "MlpDialect.h.inc"

#define GET_OP_CLASSES
#include "MlpOps.h.inc"

namespace mlp {
/// Lowers mlp to linalg, with a pit.sparse mark on what a mlp.relu gives.
std::unique_ptr<mlir::Pass> createLowerMlpPass();
} // namespace mlp

#endif // MLP_H
