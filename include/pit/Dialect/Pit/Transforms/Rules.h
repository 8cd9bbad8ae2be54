//===- Rules.h - Plans and tiles an op by a rule ----------------*- C++ -*-===//
//
// The steps of pit-plan and pit-tile for one op, for passes that choose the
// rule themselves. pit/Choice/FindRules.h finds rules, pit/Selection/Rules.h
// checks one.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_RULES_H
#define PIT_DIALECT_PIT_TRANSFORMS_RULES_H

#include "pit/Choice/FindRules.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// Plans `op` by a rule (level 1 to 2): makes the index of the rule's mark,
/// lets the operand or the result be marked by it, and puts the rule on the op.
/// With `unordered` the index may list ids in any order. Returns the index:
/// that of the mark, if it has one.
Value planByRule(RewriterBase &rewriter, linalg::LinalgOp op,
                 const LegalRule &legal, bool unordered = false);

/// Tiles a planned op by its rule (level 2 to 3) and erases it. For `kernels` a
/// single tile is computed in a pit.forall, too. Reports on `op` why it cannot
/// be tiled.
LogicalResult tileByRule(RewriterBase &rewriter, linalg::LinalgOp op,
                         bool kernels = false);

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_TRANSFORMS_RULES_H
