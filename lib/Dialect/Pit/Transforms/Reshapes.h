//===- Reshapes.h - Contractions of other dims ------------------*- C++ -*-===//
//
// Passes share this that change the dims of contractions on tensors, and of the
// element-wise ops after them (FormMatrices.cpp, CollapseSums.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_RESHAPES_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_RESHAPES_H

#include "pit/Selection/Rules.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// The element-wise op that the loop of what computes `value` would take in
/// (FuseEpilogues.cpp); null if there is none.
linalg::LinalgOp findFollower(Value value);

/// Do all operands of `op` that have the run of loops have it in one piece,
/// without gaps in memory?
bool isCollapsible(linalg::LinalgOp op, const ReassociationIndices &run);

/// Makes one loop of each run of loops, if there are any. Reshapes come before
/// the op's operands and after its results. Returns the new op, null if there
/// is none.
linalg::LinalgOp collapseLoops(RewriterBase &rewriter, linalg::LinalgOp op,
                               ArrayRef<ReassociationIndices> runs);

/// A value that is collapsed once it was expanded is as before, and a fill of a
/// new tensor stays one.
LogicalResult mergeReshapes(Operation *root);

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

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_RESHAPES_H
