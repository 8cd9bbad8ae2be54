//===- Skipping.h - May points of the background be left out ----*- C++ -*-===//
//
// The legality of skipping the iterations at which a sparse operand holds its
// background. docs/Legality.md lists the conditions under the numbers used
// here. Knows upstream dialects only.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ANALYSIS_SKIPPING_H
#define PIT_ANALYSIS_SKIPPING_H

#include "pit/Analysis/BodyEvaluator.h"

#include <string>

namespace mlir::pit {

/// The conditions on skipping. The values are the numbers S1, S2, ... of
/// docs/Legality.md.
enum class SkipCondition : unsigned {
  None = 0,
  /// The operand is a tensor input and the background is of its element type.
  Background = 1,
  /// C5, C6 and C8 hold.
  Body = 2,
  /// With the background, each result is kept, constant, or a copy.
  NothingContributed = 3,
  /// A constant or copied result is written exactly once per element.
  WrittenOnce = 4,
  /// A constant or copied result does not read its own prior value.
  PriorUnread = 5,
  /// The copied input has the result's map and type.
  CopyMatches = 6,
  /// A sparse result is the only one of its op.
  SingleResult = 7,
  /// The map of a sparse result is a projected permutation.
  ProjectedResult = 8,
};

/// The value of one result at the points that are skipped.
struct ResultEffect {
  enum class Kind {
    /// As it was before: nothing is contributed.
    Identity,
    /// `constant`: fill the output with it before the live points.
    Constant,
    /// A copy of input operand number `operand`: start from that.
    Copy,
    Illegal
  };
  Kind kind = Kind::Illegal;
  Attribute constant;
  unsigned operand = 0;

  bool operator==(const ResultEffect &other) const {
    return kind == other.kind && constant == other.constant &&
           operand == other.operand;
  }
};

/// Whether an operand's background may be skipped.
struct SkippingVerdict {
  bool isLegal = false;
  /// The first condition that fails, None if legal.
  SkipCondition condition = SkipCondition::None;
  /// One per result of the op; empty if S1 or S2 fails.
  SmallVector<ResultEffect, 1> results;
  /// One line that says what happens to each result, or what is wrong.
  std::string reason;
};

/// Judges skipping where input operand number `operand` of `op` holds
/// `background`. `strict` promises the dense program's bits.
SkippingVerdict analyzeSkipping(linalg::LinalgOp op, unsigned operand,
                                Attribute background, bool strict = false);

/// Judges computing only the wanted elements of result number `result`. Its
/// other elements are not computed and become the mark's background.
SkippingVerdict analyzeResultSkipping(linalg::LinalgOp op, unsigned result);

} // namespace mlir::pit

#endif // PIT_ANALYSIS_SKIPPING_H
