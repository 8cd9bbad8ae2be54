//===- Candidates.h - Rules that an op could be tiled by --------*- C++ -*-===//

#ifndef PIT_LIB_SELECTION_CANDIDATES_H
#define PIT_LIB_SELECTION_CANDIDATES_H

#include "TileChoice.h"
#include "pit/Selection/Rules.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pit {

/// Extent that a dynamic dim is planned for.
constexpr double kAssumedExtent = 1024;

/// The limits on rules.
struct PlanTarget {
  const TileTable &table;
  /// Only the dense program's bits.
  bool strict = false;
  /// The same bits every time.
  bool deterministic = false;
  /// How groups that write the same outputs are kept apart, where they can be;
  /// a target that takes any but sequential takes all.
  Conflicts conflicts = Conflicts::Sequential;
};

/// An operand of an op, and the mark on it.
struct MarkedOperand {
  linalg::LinalgOp op;
  unsigned number;
  SparseOp mark;

  OpOperand &get() { return op->getOpOperand(number); }
  AffineMap getMap() { return op.getMatchingIndexingMap(&get()); }
};

/// A legal rule, and where it is from.
struct Candidate : LegalRule {
  double elements = 0; ///< of a micro-tile: of equal costs, the smaller wins
  TileChoice choice;   ///< where the tile is from
};

/// Does the user insist on the rule of this mark?
bool insists(const LegalRule &legal);

/// Is `a` to be taken before `b`? A rule that the user insists on comes first,
/// then the cheaper one.
bool isBetter(const Candidate &a, const Candidate &b);

/// The rules that the search found, and why it left out the rest, one line
/// each.
struct CandidateSet {
  SmallVector<Candidate> legal;
  SmallVector<std::string> refused;
};

/// Appends the rules by which an op can gather along an axis of its marked
/// operand.
void findCandidates(MarkedOperand marked, const PlanTarget &target,
                    CandidateSet &found);

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_CANDIDATES_H
