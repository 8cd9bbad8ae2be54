//===- Factors.h - The factors of a sum of products -------------*- C++ -*-===//
//
// Splits a body `acc + f0 * f1 * ...` into its factors, so that those which do
// not depend on the reduction can leave it. Knows upstream dialects only.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ANALYSIS_FACTORS_H
#define PIT_ANALYSIS_FACTORS_H

#include "pit/Analysis/Combiner.h"

namespace mlir::pit {

/// One factor of a product.
struct Factor {
  /// The value of the body that enters the product.
  Value value;
  /// The input operands it is computed from, by number, ascending.
  SmallVector<unsigned, 2> operands;
  /// The iteration dims whose `linalg.index` it is computed from, ascending.
  SmallVector<unsigned, 1> indexDims;
};

/// The body of one result as `acc + f0 * f1 * ...`.
struct SumOfProducts {
  /// The addition that uses the accumulator.
  Operation *add = nullptr;
  SmallVector<Factor, 3> factors;
};

/// Matches result number `result` of `op` as a sum of products of floats,
/// integers or complex numbers. The product may be of one factor. Widening
/// float casts are looked through, since a factor taken out of them is only
/// rounded later; integer casts are not, since what is in them may wrap.
FailureOr<SumOfProducts> matchSumOfProducts(linalg::LinalgOp op,
                                            unsigned result = 0);

/// True if `factor` may have another value in another iteration of `dim`. A
/// factor that varies along none of the reduced dims can be applied to the sum.
bool variesAlong(linalg::LinalgOp op, const Factor &factor, unsigned dim);

} // namespace mlir::pit

#endif // PIT_ANALYSIS_FACTORS_H
