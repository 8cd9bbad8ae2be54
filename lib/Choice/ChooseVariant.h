//===- ChooseVariant.h - An op that chooses its rule ------------*- C++ -*-===//

#ifndef PIT_LIB_CHOICE_CHOOSEVARIANT_H
#define PIT_LIB_CHOICE_CHOOSEVARIANT_H

#include "RunTimeVariants.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// The steps of planning that are done to the variants of an op.
struct VariantPlanner {
  /// Gives a planned op its index and mark; returns the index.
  function_ref<IndexOp(linalg::LinalgOp, const Candidate &)> apply;
  /// Plans the variant of an op without a rule, which may have further marks.
  function_ref<void(linalg::LinalgOp)> planDense;
  /// The elements that a mask selects are written out once, for all variants.
  bool writesOutMasked = false;
};

/// Puts the op, and the element-wise ops that its result goes through alone,
/// into scf.if ops on pit.choose: once without a rule of the mark, and once by
/// each of the variants' rules. The op is erased.
void chooseVariant(RewriterBase &rewriter, MarkedOperand marked,
                   const VariantSet &set, bool deterministic,
                   const VariantPlanner &planner);

} // namespace mlir::pit

#endif // PIT_LIB_CHOICE_CHOOSEVARIANT_H
