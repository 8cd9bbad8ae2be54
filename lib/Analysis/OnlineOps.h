//===- OnlineOps.h - The ops of a chain, one by one -------------*- C++ -*-===//

#ifndef PIT_LIB_ANALYSIS_ONLINEOPS_H
#define PIT_LIB_ANALYSIS_ONLINEOPS_H

#include "pit/Analysis/OnlineReductions.h"

namespace mlir::pit {

/// Does each result of `map` stand for one dim, or for an element of a
/// dimension that has no other?
bool takesPlainDims(AffineMap map);

/// Does it reduce something, by a combiner, from a constant?
bool isReduction(linalg::LinalgOp op);

/// Computes an op powers relative to a number of the row?
bool hasRelativePowers(const ChainOp &op);

} // namespace mlir::pit

#endif // PIT_LIB_ANALYSIS_ONLINEOPS_H
