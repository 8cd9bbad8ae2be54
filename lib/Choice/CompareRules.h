//===- CompareRules.h - The best rule for known zeros -----------*- C++ -*-===//
//
// Algorithm 1 of the PIT paper: the rules of an op are compared by the times
// that they take for the live fraction that is known of a mark.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CHOICE_COMPARERULES_H
#define PIT_LIB_CHOICE_COMPARERULES_H

#include "Variants.h"
#include "ZeroFacts.h"

namespace mlir::pit {

/// A rule, and what it is expected to take.
struct ComparedRule {
  Candidate candidate;
  double liveFraction; ///< live micro-tiles, of all
  double time;         ///< nanoseconds
};

/// The rules of an op for one of its marks.
struct RuleComparison {
  SparseOp mark;
  std::string source;                 ///< of what is known
  SmallVector<ComparedRule, 0> rules; ///< the fastest first
  double dense = 0;                   ///< nanoseconds
  SmallVector<std::string> unknown; ///< rules whose live fraction is not known

  /// Whether the fastest rule is faster than skipping nothing.
  bool pays() const { return !rules.empty() && rules.front().time < dense; }
  /// The least time, as a fraction of that of skipping nothing.
  double getGain() const { return pays() ? rules.front().time / dense : 1; }
  /// Says on `op` what was compared, and that the first of the rules, or none,
  /// was `chosen`.
  void explain(Operation *op, bool chosen) const;
};

/// Compares the rules that `legal` has for the operand.
/// Nothing if the table does not tell what they cost. On failure `error` says
/// why what is known does not fit the mark.
FailureOr<std::optional<RuleComparison>>
compareRules(MarkedOperand marked, ArrayRef<Candidate> legal,
             const PlanTarget &target, const CostTable &costs, MarkFacts &facts,
             std::string &error);

} // namespace mlir::pit

#endif // PIT_LIB_CHOICE_COMPARERULES_H
