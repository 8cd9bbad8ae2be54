//===- PitAxis.h - Which iteration dims may be permuted ---------*- C++ -*-===//
//
// A dim of a structured op is a PIT axis if its iterations may be taken in any
// order and packed together without changing the result. docs/Legality.md
// lists the conditions under the numbers used here. Knows upstream dialects
// only.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ANALYSIS_PITAXIS_H
#define PIT_ANALYSIS_PITAXIS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <string>

namespace mlir::pit {

/// The conditions on a PIT axis d. The values are the numbers C1, C2, ... of
/// docs/Legality.md.
enum class AxisCondition : unsigned {
  None = 0,
  /// Every map result that contains d is exactly d.
  ExactDim = 1,
  /// d occurs at most once in each map.
  OncePerMap = 2,
  /// A parallel d occurs in the map of every result.
  ParallelInResults = 3,
  /// If d is absent from a result's map, the result's combiner is commutative
  /// and associative, and alone uses the accumulator.
  Combiner = 4,
  /// The body has no side effects.
  PureBody = 5,
  /// The body captures scalars only.
  ScalarCaptures = 6,
  /// The body does not read `linalg.index` of d.
  NoIndex = 7,
  /// The op works on tensors and its maps are known at compile time.
  TensorOp = 8,
};

/// The facts about one iteration dim.
struct AxisVerdict {
  unsigned dim = 0;
  bool isAxis = false;
  /// The first condition that fails, None for an axis.
  AxisCondition condition = AxisCondition::None;
  /// True if permuting the dim gives the same bits: no result sums floats (or
  /// integers with nsw/nuw) over it.
  bool isExact = true;
  /// The results that are reduced over the dim, by number.
  SmallVector<unsigned, 2> reducedResults;
  /// One line, such as `d2 is no PIT axis [C1]: map 0 contains it as d2 + d5`.
  std::string reason;
};

/// Judges one iteration dim of `op`.
AxisVerdict analyzeAxis(linalg::LinalgOp op, unsigned dim);

/// Judges every iteration dim of `op`, in order.
SmallVector<AxisVerdict> analyzeAxes(linalg::LinalgOp op);

/// A condition that does not hold, and what is wrong.
struct BrokenCondition {
  AxisCondition condition;
  std::string why;
};

/// A condition of `op` as a whole (C5, C6 or C8), without which nothing else
/// is worth asking. None if all hold.
std::optional<BrokenCondition> checkBody(linalg::LinalgOp op);

} // namespace mlir::pit

#endif // PIT_ANALYSIS_PITAXIS_H
