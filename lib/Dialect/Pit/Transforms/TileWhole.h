//===- TileWhole.h - Whole-tensor SRead and SWrite as tiles -----*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_TILEWHOLE_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_TILEWHOLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// Expands the whole-tensor forms of pit.sread and pit.swrite (level 2) in
/// `function` to loops over tiles. Unused ones are erased.
void expandWholeTensorOps(RewriterBase &rewriter, func::FuncOp function);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_TILEWHOLE_H
