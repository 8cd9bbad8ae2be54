//===- Variants.h - Rules to choose among -----------------------*- C++ -*-===//
//
// Which micro-tile is the right one depends on where the zeros are. So an op
// has variants, and their times as functions of what is known when the data is:
// the sizes, and how many micro-tiles are live. A program that chooses at run
// time holds a few of them. At compile time all count, and one is kept.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_VARIANTS_H
#define PIT_LIB_SELECTION_VARIANTS_H

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

/// The variants of an op for one of its marks, and the time of skipping
/// nothing.
struct VariantSet {
  SmallVector<Variant, 0> variants;
  CostTerm dense;
  /// Nanoseconds that the best of the variants has to save, if nothing is live,
  /// for the choice to be worth it: on a GPU, where sizes are not known.
  double leastSaving = 0;
  /// No zeros can make up for looking at the operand.
  bool neverPays = false;
  /// Those that are not worth their code, each with the reason.
  SmallVector<std::string> dropped;
};

/// Finds the variants of an op, for one of its marks, for a program that
/// chooses among them. Nothing if the program cannot
/// look, or the table does not tell what they cost: then one of the candidates
/// is taken whatever the zeros are.
std::optional<VariantSet> findRunTimeVariants(MarkedOperand marked,
                                              ArrayRef<Candidate> legal,
                                              const PlanTarget &target);

/// All variants that the cost model can judge.
SmallVector<Variant, 0> findAllVariants(MarkedOperand marked,
                                        ArrayRef<Candidate> legal,
                                        const PlanTarget &target,
                                        const CostModel &model);

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_VARIANTS_H
