//===- Selection.h - What a mark selects, as dense tensors ------*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_SELECTION_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_SELECTION_H

#include "pit/Dialect/Pit/IR/Pit.h"

namespace mlir::pit {

/// An i1 tensor of the mark's shape that says what the mark selects, or the
/// mark's own mask. The source is mask, lengths or routing.
Value createMask(OpBuilder &builder, SparseOp mark);

/// Does an element of a mask select? An i1: -0.0 is 0, and NaN is not.
Value isNotZero(OpBuilder &builder, Location loc, Value element);

/// The mark's result, computed by dense ops. The source is mask, lengths or
/// routing.
Value createSelection(OpBuilder &builder, SparseOp mark);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_SELECTION_H
