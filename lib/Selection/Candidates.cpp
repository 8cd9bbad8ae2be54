//===- Candidates.cpp - Rules that an op could be tiled by ----------------===//
//
// For each axis of the marked operand: tile sizes by the role of each dim, the
// micro-tile that follows from them, the check that the rule is legal, and a
// cost from a static model.
//
//===----------------------------------------------------------------------===//

#include "Candidates.h"

#include "TileGeometry.h"
#include "pit/Analysis/Factors.h"
#include "pit/Analysis/PitAxis.h"
#include "pit/Analysis/Skipping.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

/// Bytes that partial results may take.
static constexpr double maxParts = 4e9;

namespace {
class Search {
public:
  Search(MarkedOperand marked, const PlanTarget &target, CandidateSet &found)
      : op(marked.op), operand(marked.number), mark(marked.mark),
        table(target.table), target(target), found(found),
        user(mark.getRuleAttr()), map(marked.getMap()) {}

  void run() {
    if (map.getNumResults() == 0 ||
        map.getNumResults() > SparsityIndexType::kMaxRank) {
      found.refused.push_back(("operand " + Twine(operand) + " has rank " +
                               Twine(map.getNumResults()) +
                               "; an index takes 1 to " +
                               Twine(SparsityIndexType::kMaxRank))
                                  .str());
      return;
    }
    if (mark.getSource() == Source::Index)
      return tryAxis(indexOfMark().getAxis());
    if (user && user.getAxis() >= 0)
      return tryAxis(user.getAxis());
    std::optional<int64_t> natural = naturalAxis();
    size_t before = found.legal.size();
    if (natural)
      tryAxis(*natural);
    // Other axes need a mask; they are a way out only.
    if (natural && found.legal.size() > before)
      return;
    for (int64_t axis = 0; axis < map.getNumResults(); ++axis)
      if (axis != natural)
        tryAxis(axis);
  }

private:
  SparsityIndexType indexOfMark() {
    return cast<SparsityIndexType>(mark.getSelector().getType());
  }

  /// The axis along which a source lists what it selects.
  std::optional<int64_t> naturalAxis() {
    if (mark.getSource() == Source::Lengths)
      return cast<RankedTensorType>(mark.getSelector().getType()).getRank();
    if (mark.getSource() == Source::Routing)
      return 0;
    return std::nullopt;
  }

  bool refuse(int64_t axis, const Refusal &refusal) {
    std::string reason = ("operand " + Twine(operand) + ", axis " +
                          Twine(axis) + ": " + refusal.why)
                             .str();
    // Blocks and whole rows often fail alike.
    if (!llvm::is_contained(found.refused, reason))
      found.refused.push_back(reason);
    return false;
  }

  void tryAxis(int64_t axis) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis));
    if (!dim) {
      refuse(axis, pit::refuse("it is indexed by ", map.getResult(axis),
                               ", not by one dim [C1]"));
      return;
    }
    SmallVector<bool> whole(map.getNumResults(), false);
    if (mark.getSource() == Source::Index) {
      for (size_t d = 0; d < whole.size(); ++d)
        whole[d] = indexOfMark().isWhole(d);
      tryRule(axis, dim.getPosition(), whole);
      return;
    }
    if (user && !user.getMicroTile().empty()) {
      for (auto [d, extent] : llvm::enumerate(user.getMicroTile()))
        whole[d] = ShapedType::isDynamic(extent);
      tryRule(axis, dim.getPosition(), whole);
      return;
    }
    if (naturalAxis() == axis) {
      // Beyond a length everything is selected alike; of a routing, each
      // expert is a group of its own.
      if (mark.getSource() == Source::Lengths)
        for (int64_t d = axis + 1; d < map.getNumResults(); ++d)
          whole[d] = true;
      tryRule(axis, dim.getPosition(), whole);
      return;
    }
    // Blocks; where they do not work, whole windows, and then all of it; where
    // they conflict, also what is whole along the reduced dims.
    bool blocks = tryRule(axis, dim.getPosition(), whole);
    bool windows = false;
    for (int64_t d = 0; !blocks && d < map.getNumResults(); ++d)
      windows |= whole[d] = !isa<AffineDimExpr>(map.getResult(d));
    if (windows)
      blocks = tryRule(axis, dim.getPosition(), whole);
    bool conflict = false;
    for (int64_t d = 0; d < map.getNumResults(); ++d) {
      bool reduced = dependsOnReduced(map.getResult(d));
      conflict |= reduced && !whole[d];
      whole[d] = d != axis && (!blocks || whole[d] || reduced);
    }
    if (!blocks || (!isReducedDim(op, dim.getPosition()) && conflict))
      tryRule(axis, dim.getPosition(), whole);
  }

  bool dependsOnReduced(AffineExpr expr) {
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (isReducedDim(op, d) && expr.isFunctionOfDim(d))
        return true;
    return false;
  }

  bool tryRule(int64_t axis, unsigned dim, ArrayRef<bool> whole) {
    TileChoice choice = tileFor(axis, dim, whole);
    ArrayRef<int64_t> tile = choice.getTile();
    SparsityIndexType index;
    if (mark.getSource() == Source::Index) {
      index = indexOfMark();
    } else {
      FailureOr<SparsityIndexType> type =
          getIndexType(op, map, axis, tile, whole);
      if (failed(type))
        return refuse(axis, {"its groups cannot be cut out by tiles"});
      index = *type;
    }
    Conflicts how = conflicts(axis, index);
    if (user && user.getConflicts() != Conflicts::None &&
        user.getConflicts() != how)
      return refuse(axis, pit::refuse("groups are kept apart by ",
                                      stringifyConflicts(how), ", not by ",
                                      stringifyConflicts(user.getConflicts())));
    auto rule = RuleAttr::get(op->getContext(), operand, axis,
                              index.getMicroTile(), tile, how);
    TypedAttr background = mark.getBackgroundOrZero();
    if (Refused refused = checkTileable(op, rule, index, background))
      return refuse(axis, *refused);
    if (target.strict)
      if (Refused refused = checkExact(dim, background))
        return refuse(axis, *refused);
    if (user && !user.getMicroTile().empty() &&
        user.getMicroTile() != index.getMicroTile())
      return refuse(axis, pit::refuse("its tile makes an index of type ", index,
                                      ", whose micro-tile is not the rule's"));
    found.legal.push_back({{rule, mark, index, cost(dim, tile, whole, how)},
                           elements(dim, tile, whole),
                           choice});
    return true;
  }

  Refused checkExact(unsigned dim, TypedAttr background) {
    if (!analyzeAxis(op, dim).isExact)
      return pit::refuse(
          "summing floats in another order changes bits (strict)");
    for (unsigned r = 0; r < op.getNumDpsInits(); ++r)
      if (Refused refused = checkSum(r))
        return refused;
    if (op.isDpsInit(&op->getOpOperand(operand)))
      return std::nullopt;
    SkippingVerdict verdict =
        analyzeSkipping(op, operand, background, /*strict=*/true);
    if (!verdict.isLegal)
      return pit::refuse(verdict.reason);
    return std::nullopt;
  }

  /// Do tiles sum result r in the dense program's order and precision?
  Refused checkSum(unsigned r) {
    FailureOr<Combiner> combiner = matchCombiner(op, r);
    if (failed(combiner) || combiner->isExact())
      return std::nullopt;
    OpOperand *init = op.getDpsInitOperand(r);
    SmallVector<unsigned> reduced;
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (!op.getMatchingIndexingMap(init).isFunctionOfDim(d))
        reduced.push_back(d);
    if (reduced.empty())
      return std::nullopt;
    if (reduced.size() > 1)
      return pit::refuse(
          "tiles of several reduced dims are summed in another order (strict)");
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(init->get()));
    if (element && element.getWidth() < 32)
      return pit::refuse("narrow floats are summed in f32 (strict)");
    FailureOr<SumOfProducts> sum = matchSumOfProducts(op, r);
    if (succeeded(sum) && llvm::any_of(sum->factors, [&](const Factor &factor) {
          return !variesAlong(op, factor, reduced.front());
        }))
      return pit::refuse(
          "a factor leaves the sum, which rounds differently (strict)");
    return std::nullopt;
  }

  /// How groups that write the same outputs are kept apart, none if they do
  /// not.
  Conflicts conflicts(int64_t axis, SparsityIndexType index) {
    auto ruleWith = [&](Conflicts how) {
      return RuleAttr::get(op->getContext(), operand, axis, {}, {}, how);
    };
    if (!hasConflicts(op, ruleWith(Conflicts::None), index))
      return Conflicts::None;
    auto can = [&](Conflicts how) {
      return !checkConflicts(op, ruleWith(how), index);
    };
    bool insists = user && user.getConflicts() != Conflicts::None;
    if (insists ? user.getConflicts() == Conflicts::Disjoint : hasOneSlot(axis))
      return Conflicts::Disjoint;
    if (target.conflicts == Conflicts::Sequential)
      return Conflicts::Sequential;
    if (insists)
      return can(user.getConflicts()) ? user.getConflicts()
                                      : Conflicts::Sequential;
    auto suits = [&](Conflicts how) {
      bool rounded = how == Conflicts::TwoPhaseRounded;
      bool inParts = rounded || how == Conflicts::TwoPhase;
      return can(how) && (!inParts || partialBytes(index, rounded) <= maxParts);
    };
    Conflicts how = target.conflicts;
    // Sums that are not rounded need no second phase; and parts may be rounded,
    // but need not be.
    if (how == Conflicts::TwoPhaseRounded && (!roundsPartials() || !suits(how)))
      how = Conflicts::Atomic;
    // Sums of floats depend on the order, which differs from run to run.
    bool exact =
        llvm::all_of(llvm::seq<unsigned>(op.getNumDpsInits()), [&](unsigned r) {
          FailureOr<Combiner> combiner = matchCombiner(op, r);
          return succeeded(combiner) && combiner->isExact();
        });
    if (target.strict && !exact)
      return Conflicts::Sequential;
    if (target.deterministic && !exact && how == Conflicts::Atomic)
      how = Conflicts::TwoPhase;
    return suits(how) ? how : Conflicts::Sequential;
  }

  /// Are results floats that are narrower than their sums?
  bool roundsPartials() {
    return llvm::all_of(op.getDpsInits(), [](Value init) {
      Type element = getElementTypeOrSelf(init);
      return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
    });
  }

  /// Does each id of the axis, a token, have one slot, so that it is in one
  /// group at most?
  bool hasOneSlot(int64_t axis) { return axis == 0 && getSlots() == 1; }

  /// How many experts a token may have; dynamic if that is not known.
  int64_t getSlots() {
    Source source = mark.getSource();
    Value selector = mark.getSelector();
    if (source == Source::Index)
      if (auto index = selector.getDefiningOp<IndexOp>()) {
        source = index.getSource();
        selector = index.getInput();
      }
    return source == Source::Routing
               ? cast<ShapedType>(selector.getType()).getDimSize(1)
               : ShapedType::kDynamic;
  }

  /// Memory that the first of two phases writes to: a row of the results for
  /// each id that there may be, in f32 at least unless it is rounded.
  double partialBytes(SparsityIndexType index, bool rounded) {
    double bytes = 0;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    auto extent = [](int64_t size) {
      return ShapedType::isDynamic(size) ? kAssumedExtent : size;
    };
    for (OpOperand &init : op.getDpsInitsMutable()) {
      Type element = getElementTypeOrSelf(init.get());
      unsigned bits =
          element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
      double size = (rounded ? bits : std::max(32u, bits)) / 8.0;
      for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          size *= extent(ranges[dim.getPosition()]);
      bytes += size;
    }
    ArrayRef<int64_t> shape = mark.getInput().getType().getShape();
    if (!ShapedType::isDynamic(getSlots()) && index.getAxis() == 0)
      return bytes * getSlots();
    for (int64_t d : index.getGroupDims())
      bytes *= std::ceil(extent(shape[d]) / index.getStep()[d]);
    return bytes;
  }

  //===--------------------------------------------------------------------===//
  // Tile sizes
  //===--------------------------------------------------------------------===//

  TileChoice tileFor(int64_t axis, unsigned axisDim, ArrayRef<bool> whole) {
    if (user && !user.getTile().empty())
      return {{{llvm::to_vector(user.getTile()), std::nullopt}}};
    TileRoles roles;
    roles.form =
        isReducedDim(op, axisDim) ? TileForm::Reduced : TileForm::Parallel;
    roles.axis = axisDim;
    roles.grouped.resize(op.getNumLoops());
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
        if (dim != axisDim && !whole[d] && expr.isFunctionOfDim(dim))
          roles.grouped.set(dim);
    for (unsigned dim : roles.grouped.set_bits())
      if (roles.form == TileForm::Parallel && isReducedDim(op, dim))
        roles.form = TileForm::Parts;
    roles.points.resize(op.getNumLoops());
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      if (!whole[d] && !isa<AffineDimExpr>(expr) && isElement(d))
        for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
          if (expr.isFunctionOfDim(dim))
            roles.points.set(dim);
    Type element =
        getTableElement(op, table, mark.getInput().getType().getElementType());
    return chooseTile(op, table, element, roles,
                      [&](SmallVectorImpl<int64_t> &tile, int64_t maxElements) {
                        return adjust(tile, axis, whole, roles, maxElements);
                      });
  }

  /// Is each element along dimension `d` a micro-tile, as the user said?
  bool isElement(int64_t d) {
    if (mark.getSource() == Source::Index)
      return indexOfMark().getMicroTile()[d] == 1 &&
             indexOfMark().getStep()[d] == 1;
    return user && !user.getMicroTile().empty() && user.getMicroTile()[d] == 1;
  }

  /// Makes the tiles of the group dims what is given of the micro-tile. Are
  /// they all given, and as they were, or one by one?
  bool adjust(SmallVectorImpl<int64_t> &tile, int64_t axis,
              ArrayRef<bool> whole, const TileRoles &roles,
              int64_t maxElements) {
    SmallVector<int64_t> before = llvm::to_vector(tile);
    ArrayRef<int64_t> given;
    if (mark.getSource() == Source::Index)
      given = indexOfMark().getStep();
    else if (user && !user.getMicroTile().empty())
      given = user.getMicroTile();
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      if (static_cast<int64_t>(d) == axis || whole[d])
        continue;
      std::optional<LinearExpr> linear = matchLinear(expr);
      if (!linear || linear->terms.empty())
        continue;
      auto [moving, coefficient] = linear->terms.front();
      if (!given.empty()) {
        int64_t extent = given[d];
        if (mark.getSource() != Source::Index)
          // A window's extent says how many of its steps it holds.
          for (auto [other, c] : llvm::drop_begin(linear->terms))
            extent -= c * (tile[other] - 1);
        tile[moving] = std::max<int64_t>(1, (extent - 1) / coefficient + 1);
        if (mark.getSource() == Source::Index)
          tile[moving] = std::max<int64_t>(1, given[d] / coefficient);
      } else if (naturalAxis() == axis) {
        tile[moving] = 1;
      }
    }
    bool isOfEntry = llvm::all_of(roles.grouped.set_bits(), [&](unsigned d) {
      return tile[d] == 1 || (!given.empty() && tile[d] == before[d]);
    });
    boundTile(op, tile, roles.axis,
              given.empty() ? llvm::SmallBitVector(op.getNumLoops())
                            : roles.grouped,
              maxElements);
    return isOfEntry;
  }

  //===--------------------------------------------------------------------===//
  // Cost
  //===--------------------------------------------------------------------===//

  /// Elements of a micro-tile.
  double elements(unsigned axisDim, ArrayRef<int64_t> tile,
                  ArrayRef<bool> whole) {
    double count = 1;
    ArrayRef<int64_t> shape = mark.getInput().getType().getShape();
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      if (expr == getAffineDimExpr(axisDim, op->getContext()))
        continue;
      if (whole[d])
        count *= ShapedType::isDynamic(shape[d]) ? kAssumedExtent : shape[d];
      else
        count *= matchLinear(expr)->extent(tile);
    }
    return count;
  }

  /// Iterations that are expected to be computed, each weighed by how well the
  /// form of the loop suits the machine. Live elements cluster, so micro-tiles
  /// of n elements are taken to be as likely live as sqrt(n) independent ones.
  double cost(unsigned axisDim, ArrayRef<int64_t> tile, ArrayRef<bool> whole,
              Conflicts how) {
    double work = 1;
    for (int64_t range : op.getStaticLoopRanges())
      work *= ShapedType::isDynamic(range) ? kAssumedExtent
                                           : std::max<int64_t>(range, 1);
    double live = 1 - std::pow(1 - table.liveFraction,
                               std::sqrt(elements(axisDim, tile, whole)));
    if (naturalAxis())
      live = table.liveFraction;
    double weight = 1;
    bool everywhere = true;
    for (OpOperand &any : op->getOpOperands()) {
      AffineMap anyMap = op.getMatchingIndexingMap(&any);
      unsigned rank = anyMap.getNumResults();
      everywhere &= anyMap.isFunctionOfDim(axisDim);
      // Gathering along the contiguous dimension moves elements, not runs.
      if (rank && anyMap.getResult(rank - 1).isFunctionOfDim(axisDim))
        weight += any.getOperandNumber() == operand ? 0.1 : 0.4;
    }
    // A dim of all operands gives the tile no reuse.
    if (everywhere && op.getNumReductionLoops() > 0)
      weight *= 4;
    if (how != Conflicts::None)
      weight *= 1.2;
    return work * live * weight;
  }

  linalg::LinalgOp op;
  unsigned operand;
  SparseOp mark;
  const TileTable &table;
  const PlanTarget &target;
  CandidateSet &found;
  RuleAttr user;
  AffineMap map;
};
} // namespace

bool mlir::pit::insists(const LegalRule &legal) {
  return SparseOp(legal.mark).getRuleAttr() != nullptr;
}

bool mlir::pit::isBetter(const Candidate &a, const Candidate &b) {
  bool insistsA = insists(a), insistsB = insists(b);
  if (insistsA != insistsB)
    return insistsA;
  return std::tie(a.cost, a.elements) < std::tie(b.cost, b.elements);
}

void mlir::pit::findCandidates(MarkedOperand marked, const PlanTarget &target,
                               CandidateSet &found) {
  Search(marked, target, found).run();
}
