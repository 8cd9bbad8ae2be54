//===- Variants.cpp - Rules to choose among at run time -------------------===//

#include "Variants.h"

#include "TileGeometry.h"

#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pit;

/// Columns whose lists are read at once.
static constexpr int64_t kColumns = 128;
/// By how many times what may be saved has to be more than what looking takes.
static constexpr double kLeastGain = 1.5;

namespace {
class VariantSearch {
public:
  VariantSearch(linalg::LinalgOp op, unsigned operand, SparseOp mark,
                const TileTable &table, const PlanTarget &target,
                const ChoiceCosts &costs)
      : op(op), operand(operand), mark(mark), table(table), target(target),
        costs(costs),
        map(op.getMatchingIndexingMap(&op->getOpOperand(operand))) {
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (!map.isFunctionOfDim(d))
        reuse.push_back({d, 1});
  }

  VariantSet run(ArrayRef<Candidate> legal) {
    VariantSet set;
    set.dense.factor = costs.dense / 1000;
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      set.dense.dims.push_back({d, 1});
    set.neverPays = isLookingTooDear();
    if (set.neverPays)
      return set;
    for (const Candidate &candidate : legal)
      for (const ChoiceCosts::MicroTile &micro : costs.micro)
        addVariant(candidate, micro, set);
    return set;
  }

private:
  /// Is each element of the operand used so rarely that looking at it takes
  /// longer?
  bool isLookingTooDear() {
    double uses = 1;
    for (auto [dim, block] : reuse) {
      int64_t range = op.getStaticLoopRanges()[dim];
      if (ShapedType::isDynamic(range))
        return false;
      uses *= range;
    }
    return uses * costs.dense < kLeastGain * costs.scan;
  }

  void addVariant(const Candidate &candidate,
                  const ChoiceCosts::MicroTile &micro, VariantSet &set) {
    if (candidate.rule.getConflicts() != Conflicts::None ||
        candidate.index.hasWindows())
      return;
    std::optional<SmallVector<int64_t>> microTile =
        getMicroTile(candidate, micro.rows);
    if (!microTile)
      return;
    // The search takes the micro-tile as if the user had given it.
    mark.setRuleAttr(RuleAttr::get(op->getContext(), operand,
                                   candidate.rule.getAxis(), *microTile, {},
                                   Conflicts::None));
    CandidateSet found;
    findCandidates(op, operand, mark, table, target, found);
    mark.removeRuleAttr();
    if (found.legal.empty())
      return;
    const Candidate &taken = found.legal.front();
    for (const Variant &other : set.variants)
      if (other.candidate.index == taken.index)
        return;
    set.variants.push_back(
        {taken, getFixed(taken), getLive(taken, micro.multiply)});
  }

  /// The micro-tile of `rows` rows along the axis of `candidate`; of whole rows
  /// if `rows` is 0. Nothing if the candidate is of another kind.
  std::optional<SmallVector<int64_t>> getMicroTile(const Candidate &candidate,
                                                   int64_t rows) {
    SparsityIndexType index = candidate.index;
    auto axis = cast<AffineDimExpr>(map.getResult(index.getAxis()));
    bool isReduced = isReducedDim(op, axis.getPosition());
    SmallVector<int64_t> groups = index.getGroupDims();
    SmallVector<int64_t> microTile(index.getMicroTile());
    if (rows == 0) {
      if (isReduced || !groups.empty())
        return std::nullopt;
      return microTile;
    }
    if (!isReduced || groups.empty())
      return std::nullopt;
    // Rows are what vectors do not run along: not the result's last dim.
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (result.getNumResults() == 0)
      return std::nullopt;
    for (int64_t d : groups) {
      if (!isa<AffineDimExpr>(map.getResult(d)) ||
          map.getResult(d) == result.getResults().back())
        return std::nullopt;
      microTile[d] = d == groups.back() ? rows : 1;
    }
    return microTile;
  }

  /// Lists of all groups are read for each strip of columns.
  CostTerm getFixed(const Candidate &candidate) {
    CostTerm term;
    term.factor = costs.group / 1000;
    ArrayRef<int64_t> microTile = candidate.index.getMicroTile();
    for (int64_t d : candidate.index.getGroupDims())
      term.dims.push_back(
          {cast<AffineDimExpr>(map.getResult(d)).getPosition(), microTile[d]});
    for (auto [i, dim] : llvm::enumerate(reuse))
      term.dims.push_back({dim.first, i + 1 == reuse.size() ? kColumns : 1});
    return term;
  }

  CostTerm getLive(const Candidate &candidate, double multiply) {
    CostTerm term;
    term.factor = multiply / 1000;
    for (auto [d, extent] : llvm::enumerate(candidate.index.getMicroTile())) {
      if (!ShapedType::isDynamic(extent))
        term.factor *= extent;
      else
        term.dims.push_back(
            {cast<AffineDimExpr>(map.getResult(d)).getPosition(), 1});
    }
    term.dims.append(reuse);
    return term;
  }

  linalg::LinalgOp op;
  unsigned operand;
  SparseOp mark;
  const TileTable &table;
  const PlanTarget &target;
  const ChoiceCosts &costs;
  AffineMap map;
  /// The dims that the operand lacks: each of its elements is used so often.
  SmallVector<std::pair<unsigned, int64_t>> reuse;
};
} // namespace

/// Is the result an update of a tensor that a loop carries, or of a part of it?
/// The variants have memory of their own, which would be copied each time.
static bool updatesInPlace(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInits(), [](Value init) {
    if (auto argument = dyn_cast<BlockArgument>(init))
      return !isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
    return isa<tensor::ExtractSliceOp>(init.getDefiningOp());
  });
}

/// A dim's extent; that of one that is not known is planned for.
static double extentOf(linalg::LinalgOp op, unsigned dim) {
  constexpr double kAssumed = 1024;
  int64_t range = op.getStaticLoopRanges()[dim];
  return ShapedType::isDynamic(range) ? kAssumed : range;
}

/// Lines of the marked operand: its points along the dims of the result.
static double countLines(linalg::LinalgOp op, unsigned operand) {
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
  double lines = 1;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (map.isFunctionOfDim(d) && !isReducedDim(op, d))
      lines *= extentOf(op, d);
  return lines;
}

/// Bytes of the largest input beside the marked one.
static double countOtherBytes(linalg::LinalgOp op, unsigned operand) {
  double most = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->getOperandNumber() == operand)
      continue;
    double bytes =
        std::max(8u,
                 getElementTypeOrSelf(input->get()).getIntOrFloatBitWidth()) /
        8.0;
    AffineMap map = op.getMatchingIndexingMap(input);
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (map.isFunctionOfDim(d))
        bytes *= extentOf(op, d);
    most = std::max(most, bytes);
  }
  return most;
}

std::optional<VariantSet>
mlir::pit::findVariants(linalg::LinalgOp op, unsigned operand, SparseOp mark,
                        ArrayRef<Candidate> legal, const TileTable &table,
                        const PlanTarget &target) {
  // What was measured are products of matrices.
  if (mark.getSource() != Source::Values || mark.getRuleAttr() ||
      !linalg::isaContractionOpInterface(op) ||
      op.isDpsInit(&op->getOpOperand(operand)))
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
  if (!map.isProjectedPermutation() || updatesInPlace(op))
    return std::nullopt;
  Type element = mark.getInput().getType().getElementType();
  const ChoiceCosts *costs = table.findCosts(element, countLines(op, operand),
                                             countOtherBytes(op, operand));
  if (!costs)
    return std::nullopt;
  VariantSet set =
      VariantSearch(op, operand, mark, table, target, *costs).run(legal);
  if (set.variants.empty() && !set.neverPays)
    return std::nullopt;
  return set;
}
