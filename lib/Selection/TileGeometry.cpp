//===- TileGeometry.cpp - Shapes of tiles and when an op tiles ------------===//

#include "TileGeometry.h"

#include "pit/Analysis/Combiner.h"
#include "pit/Analysis/Padding.h"
#include "pit/Analysis/PitAxis.h"
#include "pit/Analysis/Skipping.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;

/// Tiles lie in every worker's scratch; those beyond any cache help nobody.
static constexpr int64_t kMaxTileElements = 1 << 24;

static constexpr StringLiteral kMayTrap =
    "a tile that reaches past the end of a dim may divide by zero there";

int64_t LinearExpr::extent(ArrayRef<int64_t> tile) const {
  int64_t last = 0;
  for (auto [dim, coefficient] : terms)
    last += coefficient * (tile[dim] - 1);
  return last + 1;
}

std::optional<LinearExpr> mlir::pit::matchLinear(AffineExpr expr) {
  LinearExpr linear;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    linear.constant = constant.getValue();
    return linear.constant >= 0 ? std::optional(linear) : std::nullopt;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    linear.terms.push_back({dim.getPosition(), 1});
    return linear;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<LinearExpr> lhs = matchLinear(binary.getLHS());
  std::optional<LinearExpr> rhs = matchLinear(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    lhs->constant += rhs->constant;
    for (auto [dim, coefficient] : rhs->terms) {
      auto *same = llvm::find_if(
          lhs->terms, [d = dim](auto term) { return term.first == d; });
      if (same != lhs->terms.end())
        same->second += coefficient;
      else
        lhs->terms.push_back({dim, coefficient});
    }
    return lhs;
  }
  if (expr.getKind() == AffineExprKind::Mul) {
    if (lhs->terms.empty())
      std::swap(lhs, rhs);
    if (!rhs->terms.empty() || rhs->constant <= 0)
      return std::nullopt;
    lhs->constant *= rhs->constant;
    for (auto &term : lhs->terms)
      term.second *= rhs->constant;
    return lhs;
  }
  return std::nullopt;
}

int64_t mlir::pit::tileElements(AffineMap map, ArrayRef<int64_t> tile) {
  int64_t elements = 1;
  for (AffineExpr expr : map.getResults())
    if (llvm::MulOverflow(elements, matchLinear(expr)->extent(tile), elements))
      return std::numeric_limits<int64_t>::max();
  return elements;
}

bool mlir::pit::isReducedDim(linalg::LinalgOp op, unsigned dim) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return !op.getMatchingIndexingMap(&init).isFunctionOfDim(dim);
  });
}

RuleAttr mlir::pit::getDenseRule(linalg::LinalgOp op, ArrayRef<int64_t> tile) {
  return RuleAttr::get(op->getContext(), /*operand=*/-1, /*axis=*/-1,
                       /*microTile=*/{}, tile, Conflicts::None);
}

std::optional<unsigned> mlir::pit::getAxisDim(linalg::LinalgOp op,
                                              RuleAttr rule) {
  if (rule.getOperand() < 0 || rule.getOperand() >= op->getNumOperands())
    return std::nullopt;
  AffineMap map =
      op.getMatchingIndexingMap(&op->getOpOperand(rule.getOperand()));
  if (rule.getAxis() < 0 || rule.getAxis() >= map.getNumResults())
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(rule.getAxis()));
  if (!dim)
    return std::nullopt;
  return dim.getPosition();
}

/// Do loops run over several dims of one element each, as over the points of a
/// window? Then every element of the operand is a micro-tile along there.
static bool visitsElements(linalg::LinalgOp op, const LinearExpr &linear,
                           ArrayRef<int64_t> tile) {
  return linear.extent(tile) == 1 &&
         llvm::any_of(llvm::drop_begin(linear.terms), [&](auto term) {
           return !isSingleTile(op, term.first, /*tile=*/1);
         });
}

/// Elements from one group of tiles to the next along a dimension. The first
/// one of several dims moves from window to window; the others lie within the
/// window.
static int64_t getStep(linalg::LinalgOp op, const LinearExpr &linear,
                       ArrayRef<int64_t> tile) {
  if (linear.terms.empty() || visitsElements(op, linear, tile))
    return 1;
  auto [dim, coefficient] = linear.terms.front();
  return coefficient * tile[dim];
}

FailureOr<SparsityIndexType>
mlir::pit::getIndexType(linalg::LinalgOp op, AffineMap map, int64_t axis,
                        ArrayRef<int64_t> tile, ArrayRef<bool> whole) {
  SmallVector<int64_t> microTile, step;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    if (static_cast<int64_t>(d) == axis) {
      microTile.push_back(1);
      step.push_back(1);
      continue;
    }
    if (whole[d]) {
      microTile.push_back(ShapedType::kDynamic);
      step.push_back(ShapedType::kDynamic);
      continue;
    }
    std::optional<LinearExpr> linear = matchLinear(expr);
    if (!linear || linear->constant != 0)
      return failure();
    microTile.push_back(linear->extent(tile));
    step.push_back(getStep(op, *linear, tile));
  }
  return SparsityIndexType::get(op->getContext(), microTile, axis, step);
}

bool mlir::pit::isConflicting(linalg::LinalgOp op, RuleAttr rule,
                              SparsityIndexType index, unsigned d) {
  std::optional<unsigned> axis = getAxisDim(op, rule);
  if (!axis || isReducedDim(op, *axis) || !isReducedDim(op, d))
    return false;
  AffineMap map =
      op.getMatchingIndexingMap(&op->getOpOperand(rule.getOperand()));
  return llvm::any_of(index.getGroupDims(), [&](int64_t dim) {
    return map.getResult(dim).isFunctionOfDim(d);
  });
}

bool mlir::pit::hasConflicts(linalg::LinalgOp op, RuleAttr rule,
                             SparsityIndexType index) {
  return llvm::any_of(llvm::seq<unsigned>(op.getNumLoops()), [&](unsigned d) {
    return isConflicting(op, rule, index, d);
  });
}

/// Can partial results be combined with the outputs in memory?
static Refused checkCombiners(linalg::LinalgOp op) {
  for (auto [r, init] : llvm::enumerate(op.getDpsInits())) {
    Type element = getElementTypeOrSelf(init.getType());
    std::string of = (" of result " + Twine(r)).str();
    OrRefusal<Combiner> combiner = matchCombiner(op, r);
    if (!combiner)
      return combiner.refusal();
    Operation *combine = combiner->ops.front();
    if (!atomicKindOf(combine))
      return refuse(combine->getName().getStringRef() + of +
                    " is no atomic operation; groups have to be sequential");
    // The value that partial results start from.
    if (element.isInteger(1) || !identityOf(combine, element))
      return refuse(element, of, " cannot be combined in memory by ",
                    combine->getName(), "; groups have to be sequential");
  }
  return std::nullopt;
}

Refused mlir::pit::checkConflicts(linalg::LinalgOp op, RuleAttr rule,
                                  SparsityIndexType index) {
  if (rule.getConflicts() <= Conflicts::Sequential ||
      rule.getConflicts() == Conflicts::Disjoint ||
      !hasConflicts(op, rule, index))
    return std::nullopt;
  if (Refused refused = checkCombiners(op))
    return refused;
  if (rule.getConflicts() == Conflicts::Atomic)
    return std::nullopt;
  // Positions are all that tells parts of different groups apart.
  AffineMap map =
      op.getMatchingIndexingMap(&op->getOpOperand(rule.getOperand()));
  for (int64_t dim : index.getGroupDims())
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (map.getResult(dim).isFunctionOfDim(d) &&
          !isConflicting(op, rule, index, d))
        return refuse("d" + Twine(d) +
                      " numbers groups, but they do not conflict along it, so "
                      "there are no two phases; groups have to be sequential");
  return std::nullopt;
}

bool mlir::pit::isSingleTile(linalg::LinalgOp op, unsigned dim, int64_t tile) {
  int64_t extent = op.getStaticLoopRanges()[dim];
  return !ShapedType::isDynamic(extent) && extent > 0 && extent <= tile;
}

bool mlir::pit::overhangs(linalg::LinalgOp op, RuleAttr rule, unsigned dim) {
  if (dim == getAxisDim(op, rule))
    return true;
  int64_t tile = rule.getTile()[dim], extent = op.getStaticLoopRanges()[dim];
  return tile > 1 && !isSingleTile(op, dim, tile) &&
         (ShapedType::isDynamic(extent) || extent % tile != 0);
}

std::optional<SmallVector<TypedAttr>>
mlir::pit::findParallelPadding(linalg::LinalgOp op, RuleAttr rule,
                               TypedAttr background) {
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (!isReducedDim(op, d) && overhangs(op, rule, d))
      dims.push_back(d);
  std::optional<unsigned> marked;
  if (rule.getOperand() >= 0 &&
      !op.isDpsInit(&op->getOpOperand(rule.getOperand())))
    marked = rule.getOperand();
  FailureOr<SmallVector<TypedAttr>> found =
      findPadding(op, dims, marked, background);
  return succeeded(found) ? std::optional(*found) : std::nullopt;
}

/// The groups of an index have to be just the tiles of the group dimensions.
static Refused checkGroups(linalg::LinalgOp op, RuleAttr rule, AffineMap map,
                           SparsityIndexType index) {
  for (int64_t d : index.getGroupDims()) {
    LinearExpr linear = *matchLinear(map.getResult(d));
    if (linear.constant != 0)
      return refuse("dimension " + Twine(d) +
                    " of the sparse operand starts at an offset of " +
                    Twine(linear.constant));
    unsigned looped = 0;
    bool single = true, elements = visitsElements(op, linear, rule.getTile());
    for (auto [i, term] : llvm::enumerate(linear.terms)) {
      if (isSingleTile(op, term.first, rule.getTile()[term.first]))
        continue;
      single = false;
      if (!elements && (i > 0 || ++looped > 1))
        return refuse("a micro-tile is a window along dimension " + Twine(d) +
                      " of the sparse operand, so dim d" + Twine(term.first) +
                      " has to fit in one tile; its tile is " +
                      Twine(rule.getTile()[term.first]));
    }
    int64_t extent = linear.extent(rule.getTile());
    int64_t step = getStep(op, linear, rule.getTile());
    if (!single &&
        (index.getMicroTile()[d] != extent || index.getStep()[d] != step))
      return refuse("a tile touches " + Twine(extent) + " elements every " +
                    Twine(step) + " along dimension " + Twine(d) +
                    " of the sparse operand, a micro-tile of the index " +
                    Twine(index.getMicroTile()[d]) + " every " +
                    Twine(index.getStep()[d]));
    if (single && index.getMicroTile()[d] < extent)
      return refuse("a micro-tile of " + Twine(index.getMicroTile()[d]) +
                    " along dimension " + Twine(d) +
                    " does not cover the single tile of " + Twine(extent));
  }
  return std::nullopt;
}

/// Can tiles of the operands be cut out and the results be written by them?
static Refused checkTiles(linalg::LinalgOp op, ArrayRef<int64_t> tile) {
  if (!op.hasPureTensorSemantics())
    return refuse("the op does not work on tensors");
  if (static_cast<int64_t>(tile.size()) != op.getNumLoops())
    return refuse("the rule's tile has " + Twine(tile.size()) +
                  " extents, the op iterates over " + Twine(op.getNumLoops()) +
                  " dims");
  for (int64_t extent : tile)
    if (extent > kMaxTileElements)
      return refuse("a tile of " + Twine(extent) +
                    " along one dim has more than " + Twine(kMaxTileElements) +
                    " elements");
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      if (!matchLinear(expr))
        return refuse("a tile cannot be cut out by ", expr);
  for (OpOperand &any : op->getOpOperands()) {
    int64_t elements = tileElements(op.getMatchingIndexingMap(&any), tile);
    if (elements > kMaxTileElements)
      return refuse("a tile of operand " + Twine(any.getOperandNumber()) +
                    " has " + Twine(elements) + " elements, more than " +
                    Twine(kMaxTileElements));
  }
  // All results are written tile by tile over the same dims.
  AffineMap first = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!map.isProjectedPermutation())
      return refuse("a result is not indexed by plain dims");
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (map.isFunctionOfDim(d) != first.isFunctionOfDim(d))
        return refuse("its results are reduced over different dims");
  }
  return std::nullopt;
}

Refused mlir::pit::checkDense(linalg::LinalgOp op, ArrayRef<int64_t> tile) {
  if (Refused refused = checkTiles(op, tile))
    return refused;
  // All conditions of an axis but one: dense tiles know where they are.
  for (const AxisVerdict &dim : analyzeAxes(op))
    if (!dim.isAxis && dim.condition != AxisCondition::NoIndex)
      return refuse(dim.reason);
  if (!findParallelPadding(op, getDenseRule(op, tile), TypedAttr()))
    return refuse(kMayTrap);
  return std::nullopt;
}

Refused mlir::pit::checkTileable(linalg::LinalgOp op, RuleAttr rule,
                                 SparsityIndexType index,
                                 TypedAttr background) {
  if (Refused refused = checkTiles(op, rule.getTile()))
    return refused;
  std::optional<unsigned> axis = getAxisDim(op, rule);
  if (!axis)
    return refuse("operand " + Twine(rule.getOperand()) +
                  " has no plain dim at " + "axis " + Twine(rule.getAxis()));
  AxisVerdict axisVerdict = analyzeAxis(op, *axis);
  if (!axisVerdict.isAxis)
    return refuse(axisVerdict.reason);
  OpOperand &operand = op->getOpOperand(rule.getOperand());
  SkippingVerdict skipping =
      op.isDpsInit(&operand)
          ? analyzeResultSkipping(op, rule.getOperand() - op.getNumDpsInputs())
          : analyzeSkipping(op, rule.getOperand(), background);
  if (!skipping.isLegal)
    return refuse(skipping.reason);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (index.getRank() != map.getNumResults() ||
      index.getAxis() != rule.getAxis())
    return refuse("the index is of axis " + Twine(index.getAxis()) +
                  " of a rank-" + Twine(index.getRank()) + " tensor");
  if (!rule.getMicroTile().empty() &&
      rule.getMicroTile() != index.getMicroTile())
    return refuse("the micro-tile of ", rule, " is not that of ", index);
  if (Refused refused = checkConflicts(op, rule, index))
    return refused;
  if (!findParallelPadding(op, rule, background))
    return refuse(kMayTrap);
  return checkGroups(op, rule, map, index);
}
