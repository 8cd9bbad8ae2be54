//===- Mark.h - Which mark a linalg op sees ---------------------*- C++ -*-===//
//
// Finds the pit.sparse behind an operand, or after a result, of a linalg op
// through ops that only rename or reorder dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_MARK_H
#define PIT_DIALECT_PIT_TRANSFORMS_MARK_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::pit {

/// A mark, as an operand or a result of another op sees it.
struct Mark {
  SparseOp sparse;
  /// For each dimension of the operand or result, the dimension of the marked
  /// tensor that it is; -1 where a reshape merged or split dimensions of more
  /// than one element.
  SmallVector<int64_t> dims;
  /// The ops in between, beginning at the operand or result.
  SmallVector<Operation *, 2> path;
};

/// True for the ops between a mark and its user: tensor.cast,
/// tensor.expand_shape, tensor.collapse_shape and linalg.transpose.
bool isTracedThrough(Operation *op);

/// Is `op` a linalg op on tensors that casts the elements of its one input, and
/// does nothing else?
bool isElementCast(Operation *op);

/// The mark that `operand` comes from.
std::optional<Mark> traceOperandMark(Value operand);

/// The mark that `result` goes to: it says which of its elements are wanted.
/// Nothing if any other use wants them all.
std::optional<Mark> traceResultMark(Value result);

/// The mark by an index on what the rule of a planned op names: an operand, or
/// a result, which then has no other use. Null if there is none.
SparseOp getIndexMark(linalg::LinalgOp op, RuleAttr rule);

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_TRANSFORMS_MARK_H
