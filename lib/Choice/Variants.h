//===- Variants.h - Rules to choose among -----------------------*- C++ -*-===//
//
// Which micro-tile is the right one depends on where the zeros are. So an op
// has variants, and their times as functions of what is known when the data is:
// the sizes, and how many micro-tiles are live. A program that chooses at run
// time holds a few of them. At compile time all count, and one is kept.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CHOICE_VARIANTS_H
#define PIT_LIB_CHOICE_VARIANTS_H

#include "Costs.h"

namespace mlir::pit {

/// A rule, and its time in nanoseconds: `fixed`, and `live` for each live
/// micro-tile; `leave` where another one is chosen.
struct Variant {
  Candidate candidate;
  CostTerm fixed, live;
  double leave;
};

/// A rule as messages name it: "1x32 along axis 0 of operand 1".
std::string describeRule(const Candidate &candidate);

/// How many micro-tiles there are of a rule whose operand is indexed by plain
/// dims, where these have such extents.
double countMicroTiles(linalg::LinalgOp op, const Candidate &candidate,
                       ArrayRef<double> extents);

/// Micro-tiles to try along a dimension that numbers groups.
struct TriedSizes {
  SmallVector<int64_t> rows;     ///< along a dim of the result
  SmallVector<int64_t> columns;  ///< along the dim that vectors run along
  SmallVector<int64_t> partials; ///< along a reduced dim
  bool wholeRows = false;        ///< also the whole of the last dimension
  bool wholeColumns = true;      ///< also where ids number the last dimension
  bool cutsColumns = false;      ///< also parts of whole columns of a matrix
  bool whole = false;            ///< also the whole of all dimensions
  bool elements = false;         ///< of windows also single elements
};

/// The variants of an op for one of its marks: each of the rules that `legal`
/// has for it, with micro-tiles of these sizes.
SmallVector<Variant, 0> findVariants(MarkedOperand marked,
                                     ArrayRef<Candidate> legal,
                                     const PlanTarget &target,
                                     const CostModel &model, TriedSizes sizes);

/// All variants that the cost model has times of.
SmallVector<Variant, 0> findAllVariants(MarkedOperand marked,
                                        ArrayRef<Candidate> legal,
                                        const PlanTarget &target,
                                        const CostModel &model);

} // namespace mlir::pit

#endif // PIT_LIB_CHOICE_VARIANTS_H
