//===- RunTimeVariants.h - What a program chooses among ---------*- C++ -*-===//
//
// A program that chooses at run time has a variant for each rule that may win,
// and the dense one. Conditions decide which these are. They have numbers, V1
// and on, in docs/rationale/choice.md and beside the checks.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CHOICE_RUNTIMEVARIANTS_H
#define PIT_LIB_CHOICE_RUNTIMEVARIANTS_H

#include "Variants.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// The variants of an op for one of its marks, and the time of skipping
/// nothing.
struct VariantSet {
  SmallVector<Variant, 0> variants;
  CostTerm dense;
  /// Nanoseconds that the best of the variants has to save, if nothing is live,
  /// for the choice to be worth it: on a GPU, where sizes are not known.
  double leastSaving = 0;
  /// No zeros can make up for scanning the operand.
  bool neverPays = false;
  /// The variants that are not worth their code, each with the reason.
  SmallVector<std::string> dropped;

  /// Says on `op` which variants the program has, and which not.
  void explain(linalg::LinalgOp op) const;
};

/// Finds the variants of an op, for one of its marks, for a program that
/// chooses among them. Nothing if the program cannot scan, or the table does
/// not tell what they cost: then one of the candidates is taken whatever the
/// zeros are.
std::optional<VariantSet> findRunTimeVariants(MarkedOperand marked,
                                              ArrayRef<Candidate> legal,
                                              const PlanTarget &target,
                                              const CostTable &costs);

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

#endif // PIT_LIB_CHOICE_RUNTIMEVARIANTS_H
