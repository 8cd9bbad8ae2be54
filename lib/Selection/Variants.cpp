//===- Variants.cpp - Rules to choose among -------------------------------===//

#include "Variants.h"

#include "TileGeometry.h"

#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

/// By how many times what may be saved has to be more than what looking takes.
/// Looks that end dense are 7 in the first hundred calls, and cost 3 % then.
static constexpr double kLeastGain = 2.5;
/// Nothing on a device waits for the host's look.
static constexpr double kLeastGainOfGpu = 1.5;
/// By how many times what a variant may save has to be more than what its
/// kernels take in calls that end with another one.
static constexpr double kLeastSaving = 4;
/// The same of one beside that which saves most: it wins in fewer calls.
static constexpr double kLeastSavingBeside = 10;
/// How often an element has to be used for a tile of windows, which copies it,
/// to take less time than the dense op.
static constexpr double kLeastUsesInWindows = 32;
/// Ids along an axis from which on it is worth a variant, if there is another.
static constexpr double kLeastIds = 8;
/// Columns of wanted results are computed one by one: for so many rows at once.
static constexpr int64_t kLeastWantedRows = 16;

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
/// Sizes of micro-tiles to try along a dimension that numbers groups.
struct MicroTileSizes {
  SmallVector<int64_t> rows;    ///< along a dim of the result
  SmallVector<int64_t> columns; ///< along the dim that vectors run along
  SmallVector<int64_t> parts;   ///< along a reduced dim
  bool wholeRows = false;       ///< also the whole of the last dimension
  bool wholeColumns = true;     ///< also where ids number the last dimension
  bool cutsColumns = false;     ///< also parts of whole columns of a matrix
  bool whole = false;           ///< also the whole of all dimensions
  bool elements = false;        ///< of windows also single elements
};

class VariantSearch {
public:
  VariantSearch(MarkedOperand marked, const PlanTarget &target,
                const CostModel &model, MicroTileSizes sizes)
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
        for (int64_t size : sizes.parts) {
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
    ArrayRef<int64_t> tried = isReducedDim(marked.op, last)   ? sizes.parts
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
  MicroTileSizes sizes;
  AffineMap map;
  SmallVector<Variant, 0> variants;
};
} // namespace

SmallVector<Variant, 0> mlir::pit::findAllVariants(MarkedOperand marked,
                                                   ArrayRef<Candidate> legal,
                                                   const PlanTarget &target,
                                                   const CostModel &model) {
  MicroTileSizes sizes;
  for (int64_t size = 1; size <= 128; size *= 2) {
    // Of an op with few rows only those were measured that are listed.
    if (!model.getCosts().lines)
      sizes.rows.push_back(size);
    if (size >= 16)
      sizes.columns.push_back(size);
    if (size >= 8)
      sizes.parts.push_back(size);
  }
  // What was measured, and what the table tiles by, may lie between these.
  for (const ChoiceCosts::MicroTile &micro : model.getCosts().micro)
    if (micro.rows)
      sizes.rows.push_back(micro.rows);
  sizes.wholeRows = sizes.whole = sizes.elements = true;
  return VariantSearch(marked, target, model, sizes).run(legal);
}

//===----------------------------------------------------------------------===//
// At run time
//===----------------------------------------------------------------------===//

/// Is the result an update of a tensor that a loop carries, or of a part of it?
/// The variants have memory of their own, which would be copied each time.
static bool updatesInPlace(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInits(), [](Value init) {
    if (auto argument = dyn_cast<BlockArgument>(init))
      return !isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
    return isa<tensor::ExtractSliceOp>(init.getDefiningOp());
  });
}

/// How often an element of the operand is used: once for each point of the
/// loops that do not move along it, less those that windows leave out between
/// each other. None if that is not known.
static std::optional<double> countUses(MarkedOperand marked) {
  SmallVector<int64_t> ranges = marked.op.getStaticLoopRanges();
  double uses = 1;
  for (AffineExpr expr : marked.getMap().getResults()) {
    std::optional<LinearExpr> linear = matchLinear(expr);
    if (!linear)
      return std::nullopt;
    if (linear->terms.empty())
      continue;
    auto [dim, stride] = linear->terms.front();
    ranges[dim] = 1;
    if (linear->terms.size() > 1)
      uses /= stride;
  }
  for (int64_t range : ranges) {
    if (ShapedType::isDynamic(range))
      return std::nullopt;
    uses *= range;
  }
  return uses;
}

/// Is each element of the operand used so rarely that looking at it takes
/// longer?
static bool isLookingTooDear(MarkedOperand marked, const CostModel &model,
                             bool isForGpu) {
  std::optional<double> uses = countUses(marked);
  return uses &&
         *uses * model.getCosts().dense <
             (isForGpu ? kLeastGainOfGpu : kLeastGain) * model.getCosts().scan;
}

/// Is each micro-tile of `coarse` made of whole ones of `fine`?
static bool isFiner(SparsityIndexType fine, SparsityIndexType coarse) {
  if (fine.getAxis() != coarse.getAxis())
    return false;
  for (auto [a, b] : llvm::zip(fine.getMicroTile(), coarse.getMicroTile()))
    if (a != b && !ShapedType::isDynamic(b) &&
        (ShapedType::isDynamic(a) || b % a != 0))
      return false;
  return true;
}

/// Moves variants to those that were dropped: kernels of each take time in the
/// calls that end with another one, and what is saved by the best of them has
/// to make up for all of that. `ask` is what a choice takes beside.
static void dropRareWinners(VariantSet &set, ArrayRef<double> extents,
                            double ask) {
  double dense = set.dense.evaluate(extents);
  auto saved = [&](const Variant &variant) {
    return dense - variant.fixed.evaluate(extents);
  };
  auto sayDropped = [&](const Variant &variant, double leave) {
    set.dropped.push_back(
        describeRule(variant.candidate) +
        llvm::formatv(": it saves at most {0:F1} us; where it is not chosen, "
                      "it takes {1:F1} us",
                      saved(variant) / 1000, leave / 1000)
            .str());
  };
  auto bySaved = [&](const Variant &a, const Variant &b) {
    return saved(a) < saved(b);
  };
  const Variant *best = llvm::max_element(set.variants, bySaved);
  SmallVector<Variant, 0> kept;
  for (Variant &variant : set.variants) {
    double least = &variant == best ? kLeastSaving : kLeastSavingBeside;
    if (saved(variant) >= least * variant.leave)
      kept.push_back(variant);
    else
      sayDropped(variant, variant.leave);
  }
  set.variants = std::move(kept);
  while (!set.variants.empty()) {
    double leave = ask;
    for (const Variant &variant : set.variants)
      leave += variant.leave;
    if (saved(*llvm::max_element(set.variants, bySaved)) >=
        kLeastSaving * leave)
      return;
    Variant *worst = llvm::min_element(set.variants, bySaved);
    sayDropped(*worst, leave);
    set.variants.erase(worst);
  }
}

/// Moves what cannot win from the variants to those that were dropped.
static void dropLosers(linalg::LinalgOp op, VariantSet &set, double ask) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::any_of(ranges, ShapedType::isDynamic)) {
    double leave = ask;
    for (const Variant &variant : set.variants)
      leave += variant.leave;
    set.leastSaving = kLeastSaving * leave;
    return;
  }
  SmallVector<double> extents(ranges.begin(), ranges.end());
  double dense = set.dense.evaluate(extents);
  // What a rule takes if all is live.
  auto allLive = [&](const Variant &variant) {
    return variant.live.evaluate(extents) *
           countMicroTiles(op, variant.candidate, extents);
  };
  SmallVector<Variant, 0> kept;
  for (const Variant &variant : set.variants) {
    double fixed = variant.fixed.evaluate(extents);
    if (fixed >= dense) {
      set.dropped.push_back(
          describeRule(variant.candidate) +
          ": looking and its lists take longer than the dense op");
      continue;
    }
    auto *better = llvm::find_if(set.variants, [&](const Variant &other) {
      return &other != &variant &&
             isFiner(other.candidate.index, variant.candidate.index) &&
             other.fixed.evaluate(extents) <= fixed &&
             allLive(other) <= allLive(variant);
    });
    if (better == set.variants.end())
      kept.push_back(variant);
    else
      set.dropped.push_back(describeRule(variant.candidate) + ": " +
                            describeRule(better->candidate) +
                            " is never slower");
  }
  set.variants = std::move(kept);
  dropRareWinners(set, extents, ask);
}

/// Can the cost model judge rules of the op for this operand? On a GPU products
/// were measured. What a mask selects of an operand is written out before, for
/// all variants.
static bool isJudged(MarkedOperand marked, bool isForGpu) {
  linalg::LinalgOp op = marked.op;
  AffineMap map = marked.getMap();
  std::optional<unsigned> lane = getLaneDim(op);
  if (isForGpu)
    return linalg::isaContractionOpInterface(op) &&
           map.isProjectedPermutation();
  // Where vectors run along a dim of windows, rules and the dense op differ
  // in more than what they multiply.
  auto isKnown = [&](AffineExpr expr) {
    return matchLinear(expr) &&
           (isa<AffineDimExpr>(expr) || !lane || !expr.isFunctionOfDim(*lane));
  };
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap one) {
    return llvm::all_of(one.getResults(), isKnown);
  });
}

/// Do tiles of windows copy more than they skip? It is as in a convolution of
/// each channel by itself, whose elements are used 9 times by 3x3 filters.
static bool isCopyingTooDear(MarkedOperand marked) {
  bool hasWindows =
      llvm::any_of(marked.getMap().getResults(), [](AffineExpr expr) {
        std::optional<LinearExpr> linear = matchLinear(expr);
        return linear && linear->terms.size() > 1;
      });
  std::optional<double> uses = countUses(marked);
  return hasWindows && uses && *uses < kLeastUsesInWindows;
}

/// Is each element of another operand used once, and elements of this one more
/// often, as of the vector in matrix times vector? Its zeros skip parts of the
/// matrix.
static bool isVector(MarkedOperand marked) {
  linalg::LinalgOp op = marked.op;
  AffineMap map = marked.getMap();
  auto loops = llvm::seq<unsigned>(op.getNumLoops());
  return llvm::any_of(loops,
                      [&](unsigned d) {
                        return !isReducedDim(op, d) && !map.isFunctionOfDim(d);
                      }) &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           return llvm::all_of(loops, [&](unsigned d) {
             return op.getMatchingIndexingMap(input).isFunctionOfDim(d);
           });
         });
}

/// Is what the mark selects of a result read by an op that has a rule by it,
/// too? Then it may stay packed, which a choice for one op would end.
static bool isReadByMark(SparseOp mark) {
  return llvm::any_of(mark->getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return reader && reader.isDpsInput(&use);
  });
}

/// The legal rules of the operand that variants are made of.
static SmallVector<Candidate> findFew(MarkedOperand marked,
                                      ArrayRef<Candidate> legal,
                                      const CostModel &model, bool isForGpu) {
  linalg::LinalgOp op = marked.op;
  bool isResult = op.isDpsInit(&marked.get());
  CostLayout layout = model.getCosts().layout;
  bool hasWhole = llvm::any_of(
      model.getCosts().micro,
      [](const ChoiceCosts::MicroTile &micro) { return micro.rows == 0; });
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool hasWindows = llvm::any_of(
      maps, [](AffineMap map) { return !map.isProjectedPermutation(); });
  auto getAxisDim = [&](const Candidate &candidate) {
    return cast<AffineDimExpr>(
               marked.getMap().getResult(candidate.index.getAxis()))
        .getPosition();
  };
  auto getRange = [&](const Candidate &candidate) -> double {
    int64_t range = op.getStaticLoopRanges()[getAxisDim(candidate)];
    return ShapedType::isDynamic(range) ? kAssumedExtent : range;
  };
  // Do ids select elements within rows?
  auto isAxisLast = [](const Candidate &candidate) {
    return candidate.index.getAxis() + 1 ==
           static_cast<int64_t>(candidate.index.getMicroTile().size());
  };
  Type element = getElementTypeOrSelf(marked.get().get());
  bool isNarrow =
      element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 32;
  SmallVector<Candidate> few;
  double longest = 0;
  for (const Candidate &candidate : legal) {
    if (candidate.rule.getOperand() != static_cast<int64_t>(marked.number))
      continue;
    bool isWhole = candidate.index.getGroupDims().empty();
    unsigned axis = getAxisDim(candidate);
    bool isReduced = isReducedDim(op, axis);
    bool isBatch = llvm::all_of(
        maps, [&](AffineMap map) { return map.isFunctionOfDim(axis); });
    // Whole rows of what is summed up have 4 KB or more: hardly any is dead.
    // Of whole images and filters there are few, and parts of them skip these,
    // too.
    if (candidate.rule.getConflicts() != Conflicts::None ||
        (isResult ? isBatch : isReduced == isWhole) ||
        (isWhole && (!hasWhole || hasWindows)))
      continue;
    // Wanted columns are gathered like rows, if the table says what that takes.
    // Whole columns of a right operand, which is transposed before, take as
    // long as the dense program where tensor cores multiply.
    if (isForGpu && axis == getLaneDim(op) &&
        (isResult ? layout != CostLayout::Wanted || isWhole
                  : isWhole && isNarrow && isAxisLast(candidate)))
      continue;
    if (isReduced)
      longest = std::max(longest, getRange(candidate));
    few.push_back(candidate);
  }
  // Taps of a filter are so few that lists of them skip hardly any work.
  llvm::erase_if(few, [&](const Candidate &candidate) {
    return isReducedDim(op, getAxisDim(candidate)) &&
           getRange(candidate) < std::min(kLeastIds, longest);
  });
  return few;
}

std::optional<VariantSet>
mlir::pit::findRunTimeVariants(MarkedOperand marked, ArrayRef<Candidate> legal,
                               const PlanTarget &target) {
  linalg::LinalgOp op = marked.op;
  SparseOp mark = marked.mark;
  const TileTable &table = target.table;
  bool isResult = op.isDpsInit(&marked.get());
  if ((mark.getSource() != Source::Values &&
       mark.getSource() != Source::Mask) ||
      mark.getRuleAttr() || updatesInPlace(op))
    return std::nullopt;
  if (!isJudged(marked, table.isForGpu)) {
    VariantSet set;
    set.neverPays = mark.getSource() == Source::Values && !table.isForGpu &&
                    isCopyingTooDear(marked);
    return set.neverPays ? std::optional(std::move(set)) : std::nullopt;
  }
  if (isResult && (op->getNumResults() != 1 || isReadByMark(mark)))
    return std::nullopt;
  bool isVectorOfGpu = table.isForGpu && !isResult &&
                       mark.getSource() == Source::Values && isVector(marked);
  VariantSet set;
  std::optional<CostModel> model = CostModel::get(marked, table);
  if (!model) {
    set.neverPays = isVectorOfGpu;
    return isVectorOfGpu ? std::optional(std::move(set)) : std::nullopt;
  }
  set.dense = model->getDense();
  // Where rows of the matrix are not contiguous, zeros of the vector take
  // longer than the dense op on a GPU, unless 19 of 20 are zero
  // (docs/performance/choice.md).
  set.neverPays =
      (mark.getSource() == Source::Values &&
       isLookingTooDear(marked, *model, table.isForGpu)) ||
      (isVectorOfGpu && model->getCosts().layout != CostLayout::Rows);
  if (set.neverPays)
    return set;
  // What a mask selects of an element that is used once may stay packed.
  if (model->getReuse().empty())
    return std::nullopt;
  MicroTileSizes sizes;
  // Each variant costs code: few heights, and of widths, which cost nearly the
  // same, the narrowest one that fills a vector.
  for (const ChoiceCosts::MicroTile &micro : model->getCosts().micro)
    if (micro.rows && !micro.known &&
        (!isResult || micro.rows >= kLeastWantedRows))
      sizes.rows.push_back(micro.rows);
  if (model->getCosts().layout == CostLayout::Right)
    sizes.columns = sizes.rows;
  else if (table.isForGpu)
    sizes.columns = {64};
  else
    sizes.columns = {16, isResult ? 64 : 128};
  sizes.elements = true;
  sizes.wholeRows = isResult;
  // Kernels gather wanted rows as they do those of an operand.
  if (isResult && table.isForGpu) {
    if (model->getCosts().layout != CostLayout::Wanted)
      sizes.rows = {};
    sizes.columns.resize(model->getCosts().wanted ? 1 : 0);
    sizes.wholeColumns = false;
  }
  // Rows of a right operand are tokens if nobody knows how many there are: in
  // the gradient of weights. Some are padding. Parts of them would need a read
  // of their own.
  if (table.isForGpu && model->getCosts().layout == CostLayout::Right &&
      mark.getType().isDynamicDim(0)) {
    sizes.columns = {};
    if (int64_t parts = model->getCosts().parts)
      sizes.parts = {parts};
    sizes.cutsColumns = !sizes.parts.empty();
    sizes.wholeRows = true;
    sizes.wholeColumns = false;
  }
  set.variants = VariantSearch(marked, target, *model, sizes)
                     .run(findFew(marked, legal, *model, table.isForGpu));
  if (set.variants.empty()) {
    set.neverPays = isVectorOfGpu;
    return isVectorOfGpu ? std::optional(std::move(set)) : std::nullopt;
  }
  // Dense calls can do without looking, so a rule has to make up for it.
  for (Variant &variant : set.variants)
    variant.fixed.add(model->getLook());
  dropLosers(op, set, model->getCosts().ask / 1000);
  return set;
}
