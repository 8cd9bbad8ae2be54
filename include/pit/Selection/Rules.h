//===- Rules.h - The rules that an op may have ------------------*- C++ -*-===//
//
// Passes of other projects ask this before they plan or tile an op themselves:
//
//   std::string why;
//   OrRefusal<LegalRule> legal = checkRule(op, rule);
//   if (failed(legal))
//     return op.emitRemark() << "stays dense: " << why;
//   planByRule(rewriter, op, *legal);   // pit/Dialect/Pit/Transforms/Rules.h
//   return tileByRule(rewriter, op);
//
//===----------------------------------------------------------------------===//

#ifndef PIT_SELECTION_RULES_H
#define PIT_SELECTION_RULES_H

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace mlir::pit {

/// The mark on an operand of `op`: on what an input reads or, of an init, on
/// the result that it becomes, if all of that goes there. Null if there is
/// none. Marks before a reshape or a slice are not looked for: pit-sink-marks
/// moves them here.
SparseOp getMark(linalg::LinalgOp op, OpOperand &operand);

/// The time of a rule for the zeros that are known.
struct ExpectedTime {
  double liveFraction; ///< live micro-tiles, of all
  double time;         ///< nanoseconds
  double dense;        ///< nanoseconds of the op that skips nothing
};

/// A rule that is legal for an op: a candidate.
struct LegalRule {
  RuleAttr rule;           ///< with all of its parts
  SparseOp mark;           ///< of the operand that the rule packs
  SparsityIndexType index; ///< of the index that it gathers by
  /// Set by findRules: the least is the best one of rules without an expected
  /// time.
  double cost = 0;
  std::optional<ExpectedTime> expected = {}; ///< of findRules, with `zeros`
};

/// Can `op` be tiled by `rule`, which has an operand, an axis and a tile? The
/// op may be planned already.
OrRefusal<LegalRule> checkRule(linalg::LinalgOp op, RuleAttr rule);

} // namespace mlir::pit

#endif // PIT_SELECTION_RULES_H
