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

} // namespace mlir::pit

#endif // PIT_LIB_CHOICE_RUNTIMEVARIANTS_H
