//===- PitTransformOps.h - Ops of transform scripts -------------*- C++ -*-===//
//
// `transform.pit.infer`, `plan`, `fold`, `tile`, `fuse` and `lower`: the steps
// from marks to tiles, for a script to take one by one.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PIT_TRANSFORMOPS_PITTRANSFORMOPS_H
#define PIT_DIALECT_PIT_TRANSFORMOPS_PITTRANSFORMOPS_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

#define GET_OP_CLASSES
#include "pit/Dialect/Pit/TransformOps/PitTransformOps.h.inc"

namespace mlir::pit {

/// Makes the ops known to the transform dialect.
void registerTransformDialectExtension(DialectRegistry &registry);

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_TRANSFORMOPS_PITTRANSFORMOPS_H
