//===- Variants.cpp - Rules to choose among -------------------------------===//

#include "Variants.h"

#include "Selection/TileGeometry.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

std::string mlir::pit::describeRule(const Candidate &candidate) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      candidate.index.getMicroTile(), os,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          os << "*";
        else
          os << size;
      },
      "x");
  os << " along axis " << candidate.index.getAxis() << " of operand "
     << candidate.rule.getOperand();
  return text;
}

double mlir::pit::countMicroTiles(linalg::LinalgOp op,
                                  const Candidate &candidate,
                                  ArrayRef<double> extents) {
  double count = 1;
  AffineMap map =
      op.getMatchingIndexingMap(&op->getOpOperand(candidate.rule.getOperand()));
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    if (candidate.index.isWhole(d))
      continue;
    std::optional<LinearExpr> linear = matchLinear(expr);
    double extent = 1;
    for (auto [dim, coefficient] : linear->terms)
      extent += coefficient * (extents[dim] - 1);
    // Windows start as long as one more element is left than the last one
    // covered.
    int64_t step = candidate.index.getStep()[d];
    int64_t shared = candidate.index.getMicroTile()[d] - step;
    count *= std::max(std::ceil((extent - shared) / step), 0.0);
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Micro-tiles
//===----------------------------------------------------------------------===//

namespace {
class VariantSearch {
public:
  VariantSearch(MarkedOperand marked, const PlanTarget &target,
                const CostModel &model, TriedSizes sizes)
      : marked(marked), target(target), model(model), sizes(std::move(sizes)),
        map(marked.getMap()) {}

  SmallVector<Variant, 0> run(ArrayRef<Candidate> legal) {
    for (const Candidate &candidate : legal) {
      if (candidate.rule.getOperand() != static_cast<int64_t>(marked.number))
        continue;
      for (ArrayRef<int64_t> microTile : getMicroTiles(candidate))
        addVariant(candidate, microTile);
    }
    return std::move(variants);
  }

private:
  /// The micro-tiles to try in place of that of a candidate, along its axis.
  SmallVector<SmallVector<int64_t>> getMicroTiles(const Candidate &candidate) {
    SparsityIndexType index = candidate.index;
    SmallVector<int64_t> groups = index.getGroupDims();
    SmallVector<int64_t> own(index.getMicroTile());
    SmallVector<SmallVector<int64_t>> microTiles;
    SmallVector<int64_t> microTile = own;
    bool hasWindows = false;
    for (int64_t d : groups)
      if (!isa<AffineDimExpr>(map.getResult(d))) {
        hasWindows = true;
        microTile[d] = ShapedType::kDynamic;
      }
    // Windows are as they are, all of the image, or its elements.
    if (groups.empty() || hasWindows || index.hasWindows()) {
      microTiles.push_back(own);
      if (hasWindows && sizes.whole)
        microTiles.push_back(microTile);
      if (hasWindows && sizes.elements)
        microTiles.emplace_back(own.size(), 1);
      if (groups.empty() && sizes.cutsColumns && own.size() == 2)
        for (int64_t size : sizes.partials) {
          microTile[1 - index.getAxis()] = size;
          microTiles.push_back(microTile);
        }
      return microTiles;
    }
    // A filter's taps: together, or one by one.
    auto isSummed = [&](int64_t d) {
      return isReducedDim(marked.op,
                          cast<AffineDimExpr>(map.getResult(d)).getPosition());
    };
    if (isSummed(index.getAxis()) && llvm::any_of(groups, isSummed))
      microTiles.push_back(own);
    for (int64_t d : groups)
      microTile[d] = 1;
    unsigned last =
        cast<AffineDimExpr>(map.getResult(groups.back())).getPosition();
    bool conflicts = candidate.rule.getConflicts() != Conflicts::None;
    ArrayRef<int64_t> tried = isReducedDim(marked.op, last)   ? sizes.partials
                              : last == getLaneDim(marked.op) ? sizes.columns
                                                              : sizes.rows;
    int64_t extent = SparseOp(marked.mark).getType().getDimSize(groups.back());
    bool hasAll = false; // One that holds all there is, is enough.
    for (int64_t size : tried) {
      bool holdsAll = !ShapedType::isDynamic(extent) && size >= extent;
      if (holdsAll && hasAll)
        continue;
      hasAll |= holdsAll;
      microTile[groups.back()] =
          holdsAll ? std::min<int64_t>(
                         size, llvm::PowerOf2Ceil(std::max<int64_t>(extent, 1)))
                   : size;
      microTiles.push_back(microTile);
    }
    bool isColumns = index.getAxis() + 1 == static_cast<int64_t>(own.size());
    if (sizes.wholeRows && !conflicts && (sizes.wholeColumns || !isColumns)) {
      microTile[groups.back()] = ShapedType::kDynamic;
      microTiles.push_back(microTile);
    }
    if (sizes.whole && !conflicts) {
      for (int64_t d : groups)
        microTile[d] = ShapedType::kDynamic;
      microTiles.push_back(microTile);
    }
    return microTiles;
  }

  void addVariant(const Candidate &candidate, ArrayRef<int64_t> microTile) {
    // The search takes the micro-tile as if the user had given it.
    CandidateSet found;
    SparseOp mark = marked.mark;
    if (mark.getSource() != Source::Values &&
        mark.getSource() != Source::Mask) {
      // It says itself what its groups are.
      found.legal.push_back(candidate);
    } else {
      mark.setRuleAttr(RuleAttr::get(mark.getContext(), /*operand=*/-1,
                                     candidate.rule.getAxis(), microTile, {},
                                     Conflicts::None));
      findCandidates(marked, target, found);
      mark.removeRuleAttr();
    }
    if (found.legal.empty())
      return;
    const Candidate &taken = found.legal.front();
    for (const Variant &other : variants)
      if (other.candidate.index == taken.index)
        return;
    variants.push_back({taken, model.getFixed(taken), model.getLive(taken),
                        model.getLeave(taken)});
  }

  MarkedOperand marked;
  const PlanTarget &target;
  const CostModel &model;
  TriedSizes sizes;
  AffineMap map;
  SmallVector<Variant, 0> variants;
};
} // namespace

SmallVector<Variant, 0> mlir::pit::findVariants(MarkedOperand marked,
                                                ArrayRef<Candidate> legal,
                                                const PlanTarget &target,
                                                const CostModel &model,
                                                TriedSizes sizes) {
  return VariantSearch(marked, target, model, std::move(sizes)).run(legal);
}

SmallVector<Variant, 0> mlir::pit::findAllVariants(MarkedOperand marked,
                                                   ArrayRef<Candidate> legal,
                                                   const PlanTarget &target,
                                                   const CostModel &model) {
  TriedSizes sizes;
  const MicroTileSizes &known = model.getTable().microTiles;
  // The listed heights alone were measured of an op with few rows.
  if (!model.getCosts().lines)
    sizes.rows = known.allRows;
  sizes.columns = known.allColumns;
  sizes.partials = known.allPartials;
  // The measured heights, and those that the table tiles by, may lie between
  // these.
  for (const ChoiceCosts::MicroTile &micro : model.getCosts().micro)
    if (micro.rows)
      sizes.rows.push_back(micro.rows);
  sizes.wholeRows = sizes.whole = sizes.elements = true;
  return findVariants(marked, legal, target, model, std::move(sizes));
}
