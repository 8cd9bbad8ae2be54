//===- Costs.h - What a rule costs, as a function of the zeros --*- C++ -*-===//
//
// The time of an op by a rule is affine in what is known when the data is: a
// time for scanning the operand and for the lists of its index, and one for
// each live micro-tile. The table has the times of a multiplication and
// addition for rows of micro-tiles of a left operand. Other shapes follow from
// these by the shape of the tile.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CHOICE_COSTS_H
#define PIT_LIB_CHOICE_COSTS_H

#include "CostTable.h"
#include "Selection/Candidates.h"

namespace mlir::pit {

/// A sum of products of extents of iteration dims.
struct CostTerm {
  struct Product {
    double factor = 0;
    /// Iteration dims, each with the size of the blocks that it is counted in:
    /// the number of blocks counts.
    SmallVector<std::pair<unsigned, int64_t>> dims;
    /// It counts only where these dims have more points than `least`; without
    /// dims always.
    SmallVector<unsigned> points;
    int64_t least = 0;
  };
  SmallVector<Product, 2> products;

  /// Adds a product, unless it is 0.
  void add(Product product);
  void add(const CostTerm &term);
  /// Its value where dim d is `extents[d]` long.
  double evaluate(ArrayRef<double> extents) const;
};

/// The last dim of the result, which vectors run along; none of a scalar.
std::optional<unsigned> getLaneDim(linalg::LinalgOp op);

/// The times of an op's rules, for one operand of it.
class CostModel {
public:
  /// Nothing if the table has nothing of such elements.
  static std::optional<CostModel> get(MarkedOperand marked,
                                      const CostTable &table);

  /// The extents of the iteration dims, where the operand has this shape; empty
  /// if it is not known.
  SmallVector<double> getExtents(ArrayRef<int64_t> shape) const;

  /// Nanoseconds of the op that skips nothing.
  CostTerm getDense() const;
  /// Nanoseconds of the rule that do not depend on what is live, beside those
  /// of scanning.
  CostTerm getFixed(const Candidate &candidate) const;
  /// Nanoseconds of a live micro-tile.
  CostTerm getLive(const Candidate &candidate) const;
  /// Nanoseconds of the rule's kernels where another one is chosen.
  double getLeave(const Candidate &candidate) const;
  /// Nanoseconds of scanning the operand, if that is done by its elements.
  CostTerm getScan() const;
  /// The same for an operand of this shape.
  double getScan(ArrayRef<int64_t> shape) const;

  const ChoiceCosts &getCosts() const { return costs; }
  const CostTable &getTable() const { return table; }
  /// The dims that the operand lacks, or that number the points of windows of
  /// it: each of its elements is used so often.
  SmallVector<unsigned> getReuse() const;

private:
  using Product = CostTerm::Product;
  CostModel(MarkedOperand marked, ChoiceCosts costs, const CostTable &table);
  const ChoiceCosts::MicroTile &findMicroTile(const Candidate &candidate) const;
  double countRows(const Candidate &candidate) const;
  double multiply(const Candidate &candidate) const;
  double multiplyRows(double rows) const;
  bool isWantedPart(const Candidate &candidate) const;
  bool hasWantedColumns(const Candidate &candidate) const;
  double countGroups(const Candidate &candidate) const;
  void addLanes(Product &product, unsigned dim) const;
  int64_t getRowsOfReading() const;
  Product readOther(double cost) const;
  double readOfList(const Candidate &candidate) const;
  CostTerm readBeside() const;
  bool readsOtherAgain(const Candidate &candidate) const;
  SmallVector<unsigned> getSharingDims() const;
  SmallVector<unsigned> getSharingGroups(const Candidate &candidate) const;
  double shareOfReading(const Candidate &candidate) const;
  unsigned getAxisDim(const Candidate &candidate) const;
  bool isGrouped(const Candidate &candidate, unsigned dim) const;

  // Questions to ops are not const.
  mutable linalg::LinalgOp op;
  mutable SparseOp mark;
  ChoiceCosts costs;
  const CostTable &table;
  const ShapeFactors &shapes; ///< of the table
  AffineMap map;
  AffineMap otherMap;    ///< of the largest input beside the marked one, if any
  double otherBytes = 1; ///< of an element of it
  int64_t lanes = 1;     ///< elements of the result in a vector of a CPU
};

} // namespace mlir::pit

#endif // PIT_LIB_CHOICE_COSTS_H
