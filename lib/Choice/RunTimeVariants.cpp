//===- RunTimeVariants.cpp - What a program chooses among -----------------===//

#include "RunTimeVariants.h"

#include "Selection/TileGeometry.h"

#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Has the mark a choice?
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

/// Has the cost model times of rules of the op for this operand? On a GPU
/// products were measured. The elements of an operand that a mask selects are
/// written out before, for all variants.
static bool isModelled(MarkedOperand marked, bool isForGpu) {
  linalg::LinalgOp op = marked.op;
  AffineMap map = marked.getMap();
  std::optional<unsigned> lane = getLaneDim(op);
  if (isForGpu)
    return linalg::isaContractionOpInterface(op) &&
           map.isProjectedPermutation();
  // If vectors run along a dim of windows, rules and the dense op differ in
  // more than what they multiply.
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
static bool isCopyingTooDear(MarkedOperand marked,
                             const VariantLimits &limits) {
  bool hasWindows =
      llvm::any_of(marked.getMap().getResults(), [](AffineExpr expr) {
        std::optional<LinearExpr> linear = matchLinear(expr);
        return linear && linear->terms.size() > 1;
      });
  std::optional<double> uses = countUses(marked);
  return hasWindows && uses && *uses < limits.leastWindowUses;
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

namespace {
/// An op and the mark that a choice would be made for.
class Question {
public:
  Question(MarkedOperand marked, const CostTable &costs)
      : marked(marked), op(marked.op), mark(marked.mark), costs(costs) {}

  bool isResult() { return op.isDpsInit(&marked.get()); }
  bool scansValues() { return mark.getSource() == Source::Values; }
  bool isVectorOfGpu() {
    return costs.isForGpu && !isResult() && scansValues() && isVector(marked);
  }
  /// Null if the table does not tell.
  const CostModel *getModel() {
    if (!model)
      model.emplace(CostModel::get(marked, costs));
    return *model ? &**model : nullptr;
  }

  MarkedOperand marked;
  linalg::LinalgOp op;
  SparseOp mark;
  const CostTable &costs;

private:
  std::optional<std::optional<CostModel>> model;
};

/// How the op is computed where a condition does not hold.
enum class Otherwise {
  OneRule, ///< whatever the zeros are
  Dense
};

/// A condition for a choice; docs/rationale/choice.md has them by number.
struct Condition {
  bool (*holds)(Question &);
  Otherwise otherwise;
};
} // namespace

static const Condition kConditions[] = {
    // [V1] The program can scan: not at lengths or a routing.
    {[](Question &q) {
       return q.scansValues() || q.mark.getSource() == Source::Mask;
     },
     Otherwise::OneRule},
    // [V2] The user insists on no rule.
    {[](Question &q) { return !q.mark.getRuleAttr(); }, Otherwise::OneRule},
    // [V3] Variants write to memory of their own.
    {[](Question &q) { return !updatesInPlace(q.op); }, Otherwise::OneRule},
    // [V4] The cost model has times of the op. If it has not, tiles of windows
    // that
    // copy more than they skip never pay.
    {[](Question &q) {
       return isModelled(q.marked, q.costs.isForGpu) || q.costs.isForGpu ||
              !q.scansValues() || !isCopyingTooDear(q.marked, q.costs.variants);
     },
     Otherwise::Dense},
    {[](Question &q) { return isModelled(q.marked, q.costs.isForGpu); },
     Otherwise::OneRule},
    // [V5] What is wanted of a result is not packed for a reader.
    {[](Question &q) {
       return !q.isResult() ||
              (q.op->getNumResults() == 1 && !isReadByMark(q.mark));
     },
     Otherwise::OneRule},
    // [V6] The table has costs of such an op; else zeros of the vector in
    // matrix times vector never pay on a GPU.
    {[](Question &q) { return q.getModel() || !q.isVectorOfGpu(); },
     Otherwise::Dense},
    {[](Question &q) { return q.getModel() != nullptr; }, Otherwise::OneRule},
    // [V7] Elements are used so often that scanning them can pay.
    {[](Question &q) {
       std::optional<double> uses = countUses(q.marked);
       const ChoiceCosts &costs = q.getModel()->getCosts();
       return !q.scansValues() || !uses ||
              !(*uses * costs.dense <
                q.costs.variants.leastScanGain * costs.scan);
     },
     Otherwise::Dense},
    // [V8] Where rows of the matrix are not contiguous, zeros of the vector
    // take longer than the dense op on a GPU, unless 19 of 20 are zero
    // (docs/performance/choice-gpu.md).
    {[](Question &q) {
       return !q.isVectorOfGpu() ||
              q.getModel()->getCosts().layout == CostLayout::Left;
     },
     Otherwise::Dense},
    // [V9] Elements are used more than once: what a mask selects of others may
    // stay packed.
    {[](Question &q) { return !q.getModel()->getReuse().empty(); },
     Otherwise::OneRule},
};

/// The answer where a condition does not hold.
static std::optional<VariantSet> answer(Otherwise otherwise) {
  if (otherwise == Otherwise::OneRule)
    return std::nullopt;
  VariantSet set;
  set.neverPays = true;
  return set;
}

//===----------------------------------------------------------------------===//
// Which rules and micro-tiles are tried?
//===----------------------------------------------------------------------===//

/// The legal rules of the operand that variants are made of.
static SmallVector<Candidate> findFew(MarkedOperand marked,
                                      ArrayRef<Candidate> legal,
                                      const CostModel &model) {
  bool isForGpu = model.getTable().isForGpu;
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
    if (candidate.rule.getConflicts() != Conflicts::None) // [V12]
      continue;
    // Whole rows of what is summed up have 4 KB or more: hardly any is dead.
    if (isResult ? isBatch : isReduced == isWhole) // [V13]
      continue;
    // Whole images and filters are few, and parts of them skip these, too.
    if (isWhole && (!hasWhole || hasWindows)) // [V14]
      continue;
    // [V15] Wanted columns are gathered like rows, if the table says what that
    // takes. Whole columns of an operand, which is transposed before, take as
    // long as the dense program where tensor cores multiply.
    if (isForGpu && (isResult ? axis == getLaneDim(op) &&
                                    (layout != CostLayout::Result || isWhole)
                              : isWhole && isNarrow && isAxisLast(candidate)))
      continue;
    if (isReduced)
      longest = std::max(longest, getRange(candidate));
    few.push_back(candidate);
  }
  // [V16] Taps of a filter are so few that lists of them skip hardly any work.
  llvm::erase_if(few, [&](const Candidate &candidate) {
    return isReducedDim(op, getAxisDim(candidate)) &&
           getRange(candidate) <
               std::min(model.getTable().variants.leastIds, longest);
  });
  return few;
}

/// Are the rows of an operand, its first dim, summed up?
static bool sumsRows(MarkedOperand marked) {
  auto rows = dyn_cast<AffineDimExpr>(marked.getMap().getResult(0));
  return rows && isReducedDim(marked.op, rows.getPosition());
}

/// The micro-tiles that are tried. Each variant costs code, so they are few: of
/// the heights that the costs list [V10], and of the table's widths [V11].
static TriedSizes getTriedSizes(Question &q) {
  const ChoiceCosts &costs = q.getModel()->getCosts();
  const MicroTileSizes &known = q.costs.microTiles;
  bool isResult = q.isResult(), isForGpu = q.costs.isForGpu;
  TriedSizes sizes;
  for (const ChoiceCosts::MicroTile &micro : costs.micro)
    if (micro.rows && !micro.compileTimeOnly &&
        (!isResult || micro.rows >= known.leastWantedRows))
      sizes.rows.push_back(micro.rows);
  sizes.columns = costs.layout == CostLayout::Right ? sizes.rows
                  : isResult                        ? known.wantedColumns
                                                    : known.columns;
  sizes.elements = true;
  sizes.wholeRows = isResult;
  // Kernels gather wanted rows as they do those of an operand.
  if (isResult && isForGpu) {
    if (costs.layout != CostLayout::Result)
      sizes.rows = {};
    sizes.columns.resize(costs.wanted ? 1 : 0);
    sizes.wholeColumns = false;
  }
  // Rows of a right operand, or rows that are summed up, are tokens if nobody
  // knows how many there are: in the gradient of weights. Some are padding.
  // Parts of them would need a read of their own.
  if (isForGpu && !isResult && q.mark.getType().isDynamicDim(0) &&
      (costs.layout == CostLayout::Right || sumsRows(q.marked))) {
    sizes.rows = sizes.columns = {};
    if (costs.partials)
      sizes.partials = {costs.partials};
    sizes.cutsColumns = !sizes.partials.empty();
    sizes.wholeRows = true;
    sizes.wholeColumns = false;
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Which variants are worth their code?
//===----------------------------------------------------------------------===//

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
                            double ask, const VariantLimits &limits) {
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
  // [V19]
  const Variant *best = llvm::max_element(set.variants, bySaved);
  SmallVector<Variant, 0> kept;
  for (Variant &variant : set.variants) {
    double least =
        &variant == best ? limits.leastSaving : limits.leastSavingBeside;
    if (saved(variant) >= least * variant.leave)
      kept.push_back(variant);
    else
      sayDropped(variant, variant.leave);
  }
  set.variants = std::move(kept);
  // [V20]
  while (!set.variants.empty()) {
    double leave = ask;
    for (const Variant &variant : set.variants)
      leave += variant.leave;
    if (saved(*llvm::max_element(set.variants, bySaved)) >=
        limits.leastSaving * leave)
      return;
    Variant *worst = llvm::min_element(set.variants, bySaved);
    sayDropped(*worst, leave);
    set.variants.erase(worst);
  }
}

/// Moves what cannot win from the variants to those that were dropped.
static void dropLosers(linalg::LinalgOp op, VariantSet &set, double ask,
                       const VariantLimits &limits) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::any_of(ranges, ShapedType::isDynamic)) {
    double leave = ask;
    for (const Variant &variant : set.variants)
      leave += variant.leave;
    set.leastSaving = limits.leastSaving * leave;
    return;
  }
  SmallVector<double> extents(ranges.begin(), ranges.end());
  double dense = set.dense.evaluate(extents);
  // The time of a rule if all is live.
  auto allLive = [&](const Variant &variant) {
    return variant.live.evaluate(extents) *
           countMicroTiles(op, variant.candidate, extents);
  };
  SmallVector<Variant, 0> kept;
  for (const Variant &variant : set.variants) {
    double fixed = variant.fixed.evaluate(extents);
    if (fixed >= dense) { // [V17]
      set.dropped.push_back(
          describeRule(variant.candidate) +
          ": scanning and its lists take longer than the dense op");
      continue;
    }
    // [V18]
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
  dropRareWinners(set, extents, ask, limits);
}

std::optional<VariantSet>
mlir::pit::findRunTimeVariants(MarkedOperand marked, ArrayRef<Candidate> legal,
                               const PlanTarget &target,
                               const CostTable &costs) {
  Question question(marked, costs);
  for (const Condition &condition : kConditions)
    if (!condition.holds(question))
      return answer(condition.otherwise);
  const CostModel &model = *question.getModel();
  VariantSet set;
  set.dense = model.getDense();
  set.variants = findVariants(marked, findFew(marked, legal, model), target,
                              model, getTriedSizes(question));
  if (set.variants.empty())
    return answer(question.isVectorOfGpu() ? Otherwise::Dense
                                           : Otherwise::OneRule);
  // Dense calls can do without a scan, so a rule has to make up for it.
  for (Variant &variant : set.variants)
    variant.fixed.add(model.getScan());
  dropLosers(marked.op, set, model.getCosts().ask / 1000, costs.variants);
  return set;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

/// Says up to which live fraction a variant is faster than the dense one.
static void explainVariant(linalg::LinalgOp op, const VariantSet &set,
                           const Variant &variant) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::any_of(ranges, ShapedType::isDynamic))
    return;
  SmallVector<double> extents(ranges.begin(), ranges.end());
  double all = countMicroTiles(op, variant.candidate, extents) *
               variant.live.evaluate(extents);
  double left = set.dense.evaluate(extents) - variant.fixed.evaluate(extents);
  op->emitRemark() << op->getName() << ": variant "
                   << describeRule(variant.candidate)
                   << llvm::formatv(
                          ": faster than dense below a live fraction of {0:F3}",
                          all > 0 ? std::clamp(left / all, 0.0, 1.0) : 1)
                          .str();
}

void VariantSet::explain(linalg::LinalgOp op) const {
  auto say = [&]() { return op->emitRemark() << op->getName() << ": "; };
  if (!variants.empty()) {
    InFlightDiagnostic remark = say() << "chooses at run time: dense";
    for (const Variant &variant : variants)
      remark << ", " << variant.candidate.index;
  }
  for (const Variant &variant : variants)
    explainVariant(op, *this, variant);
  for (const std::string &reason : dropped)
    say() << "no variant " << reason;
}
