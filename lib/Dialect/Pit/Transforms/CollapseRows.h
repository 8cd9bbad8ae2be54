//===- CollapseRows.h - Rows of a batch as one list -------------*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_COLLAPSEROWS_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_COLLAPSEROWS_H

#include "pit/Selection/Rules.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// An op, and a rule for it.
struct RuledOp {
  linalg::LinalgOp op;
  LegalRule legal;
};

/// Replaces an op that sums over a batch and its rows, if `legal` lists rows by
/// lengths, by one that sums over all rows of the batch: its index has a single
/// group. Nothing where dims of the batch cannot be one.
std::optional<RuledOp> collapseRows(RewriterBase &rewriter, linalg::LinalgOp op,
                                    const LegalRule &legal, bool unordered);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_COLLAPSEROWS_H
