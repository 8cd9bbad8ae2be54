//===- Variants.h - Rules to choose among at run time -----------*- C++ -*-===//
//
// Which micro-tile is the right one depends on where the zeros of a call are.
// So an op gets a few variants, and their times as functions of what is known
// at run time: the sizes, and how many micro-tiles are live.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_VARIANTS_H
#define PIT_LIB_SELECTION_VARIANTS_H

#include "Candidates.h"

namespace mlir::pit {

/// A product of extents of iteration dims and of a number.
struct CostTerm {
  double factor = 0;
  /// Iteration dims, each with the size of the blocks that it is counted in:
  /// the number of blocks counts.
  SmallVector<std::pair<unsigned, int64_t>> dims;
};

/// A rule, and its time in nanoseconds: `fixed`, and `live` for each live
/// micro-tile.
struct Variant {
  Candidate candidate;
  CostTerm fixed, live;
};

/// The variants of an op with one mark, and the time of skipping nothing.
struct VariantSet {
  SmallVector<Variant, 0> variants;
  CostTerm dense;
  /// No zeros can make up for looking at the operand.
  bool neverPays = false;
};

/// Finds the variants of `op`, whose operand number `operand` is marked by
/// `mark`, among the rules that `legal` has for it. Nothing if the table does
/// not tell what they cost: then one of `legal` is taken whatever the zeros
/// are.
std::optional<VariantSet> findVariants(linalg::LinalgOp op, unsigned operand,
                                       SparseOp mark, ArrayRef<Candidate> legal,
                                       const TileTable &table,
                                       const PlanTarget &target);

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_VARIANTS_H
