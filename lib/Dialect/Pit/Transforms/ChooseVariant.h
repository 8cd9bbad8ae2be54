//===- ChooseVariant.h - An op that chooses its rule ------------*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_CHOOSEVARIANT_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_CHOOSEVARIANT_H

#include "Selection/Variants.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// Gives a planned op its index and mark; returns the index.
using ApplyRule = function_ref<IndexOp(linalg::LinalgOp, const Candidate &)>;

/// Plans the variant of an op without a rule, which may have further marks.
using PlanDense = function_ref<void(linalg::LinalgOp)>;

/// Puts `op`, and the element-wise ops that its result goes through alone, into
/// scf.if ops on pit.choose: once without the rule of `mark`, and once by each
/// of the variants' rules. `op` is erased.
void chooseVariant(RewriterBase &rewriter, linalg::LinalgOp op, SparseOp mark,
                   const VariantSet &set, bool deterministic, ApplyRule apply,
                   PlanDense planDense);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_CHOOSEVARIANT_H
