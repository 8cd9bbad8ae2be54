//===- OnlineDependences.h - What the ops of a chain compute ----*- C++ -*-===//

#ifndef PIT_LIB_ANALYSIS_ONLINEDEPENDENCES_H
#define PIT_LIB_ANALYSIS_ONLINEDEPENDENCES_H

#include "pit/Analysis/OnlineReductions.h"

namespace mlir::pit {

/// How each op uses results of earlier reductions. Refused if it cannot be
/// rescaled (O2, O3).
Refused findDependences(OnlineChain &chain);

/// Constants beyond the end of the axis, with which nothing is contributed; and
/// whether nothing is where the selection gives its background (O6, O7).
Refused findPads(OnlineChain &chain);

/// Do all reductions contribute nothing where these values are constants?
bool isNeutral(const OnlineChain &chain,
               const llvm::MapVector<Value, TypedAttr> &known);

/// Is each element of the one result computed once, of elements?
bool isElementwiseOp(linalg::LinalgOp op);

/// The input behind ops that only move elements.
ChainInput lookThrough(linalg::LinalgOp op, OpOperand &operand);

/// Goes from a row that is subtracted to the maximum that it is.
void lookThroughFinite(ChainInput &input);

/// Comparisons of places that leave out a part of the axis.
void findBounds(OnlineChain &chain);

/// Does each result of `map` stand for one dim, or for an element of a
/// dimension that has no other?
bool takesPlainDims(AffineMap map);

/// Does it reduce something, by a combiner, from a constant?
bool isReduction(linalg::LinalgOp op);

/// Computes an op powers relative to a number of the row?
bool hasRelativePowers(const ChainOp &op);

} // namespace mlir::pit

#endif // PIT_LIB_ANALYSIS_ONLINEDEPENDENCES_H
