//===- MainloopMatch.cpp - Contractions that mainloops can do -------------===//

#include "MainloopMatch.h"

#include "pit/Analysis/Padding.h"
#include "pit/Dialect/Pit/IR/NotTaken.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

using namespace mlir;
using namespace mlir::pit;

AffineMap mlir::pit::getPointwiseMap(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1)
    return AffineMap();
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!out.isProjectedPermutation())
    return AffineMap();
  SmallVector<AffineExpr> point;
  for (auto [d, range] : llvm::enumerate(op.getStaticLoopRanges())) {
    std::optional<unsigned> position =
        out.getResultPosition(getAffineDimExpr(d, op->getContext()));
    if (!position && range != 1)
      return AffineMap();
    point.push_back(position ? getAffineDimExpr(*position, op->getContext())
                             : getAffineConstantExpr(0, op->getContext()));
  }
  return AffineMap::get(out.getNumResults(), 0, point, op->getContext());
}

bool mlir::pit::isScalar(Operation *op) {
  return isPure(op) && !mayTrap(op) && !op->getNumRegions() &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
}

/// The loops, each alone in the one before, whose innermost yields what
/// `computed` is set to; `sum` is what the outermost gives. Failure if they do
/// not carry one tile through, or the ids come before the last.
static FailureOr<SmallVector<ForOp>> findNest(Value sum, Value &computed,
                                              std::string &why) {
  SmallVector<ForOp> nest;
  computed = sum;
  while (auto loop = computed.getDefiningOp<ForOp>()) {
    if (loop.getNumResults() != 1 || loop.getConflicts() != Conflicts::None)
      return notTaken(why, "a loop over its steps carries " +
                               Twine(loop.getNumResults()) +
                               " values, or groups that write the same");
    if (!nest.empty()) {
      Region &outermost = nest.front().getRegion();
      auto isInside = [&](Value value) {
        return outermost.isAncestor(value.getParentRegion());
      };
      if (nest.back().getIndex() || loop->getBlock() != nest.back().getBody() ||
          loop.getInitArgs()[0] != nest.back().getRegionIterArgs()[0] ||
          llvm::any_of(loop.getLower(), isInside) ||
          llvm::any_of(loop.getUpper(), isInside))
        return notTaken(why, "the loops over its steps are no nest with bounds "
                             "that are known before it and ids innermost");
    }
    nest.push_back(loop);
    computed = loop.getYield().getOperand(0);
  }
  return nest;
}

/// `map` with 0 for windows of a single element.
static AffineMap dropUnitWindows(AffineMap map, ArrayRef<int64_t> tile) {
  SmallVector<AffineExpr> results(map.getResults());
  for (AffineExpr &result : results) {
    auto moves = [&](unsigned d) {
      return tile[d] > 1 && result.isFunctionOfDim(d);
    };
    if (!isa<AffineDimExpr>(result) &&
        llvm::none_of(llvm::seq<unsigned>(map.getNumDims()), moves))
      result = getAffineConstantExpr(0, map.getContext());
  }
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

/// The contraction that `write`'s tile is computed from, or the loop around
/// it. What reduces a single step of something that was computed comes after
/// it.
static FailureOr<Value> findSum(SWriteOp write, bool forCPU, std::string &why) {
  auto isContraction = [&](Value tile) {
    auto op = tile.getDefiningOp<linalg::LinalgOp>();
    if (!op || op.getNumReductionLoops() == 0)
      return false;
    return !forCPU || !getPointwiseMap(op) ||
           llvm::none_of(op.getDpsInputs(), [](Value input) {
             return input.getDefiningOp<ForOp>() ||
                    input.getDefiningOp<linalg::LinalgOp>();
           });
  };
  SmallVector<Value> worklist = {write.getTile()};
  llvm::SmallDenseSet<Value> seen;
  Value sum;
  while (!worklist.empty()) {
    Value tile = worklist.pop_back_val();
    if (!seen.insert(tile).second)
      continue;
    if (tile.getDefiningOp<ForOp>() || isContraction(tile)) {
      if (sum)
        return notTaken(why, "its tile is computed from two of them");
      sum = tile;
      continue;
    }
    if (auto op = tile.getDefiningOp<linalg::LinalgOp>())
      for (OpOperand &operand : op->getOpOperands())
        if (!op.getMatchingBlockArgument(&operand).use_empty())
          worklist.push_back(operand.get());
  }
  if (!sum)
    return notTaken(why, "nothing is summed up for its tile");
  return sum;
}

/// The maps of `op` on its tile of these extents. Of windows a CPU packs all
/// that they read; what reads them on a GPU takes one dimension each for m, n
/// and k.
static FailureOr<SmallVector<AffineMap>> findMaps(linalg::LinalgOp op,
                                                  ArrayRef<int64_t> tile,
                                                  bool forCPU,
                                                  std::string &why) {
  if (llvm::any_of(tile, ShapedType::isDynamic))
    return notTaken(why, "its tile has a dynamic extent");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineMap &map : maps) {
    if (forCPU && !getTileExtents(map, tile))
      return notTaken(
          why, "an operand is read by a map that is no sum of dimensions");
    if (!forCPU && !map.isProjectedPermutation())
      return notTaken(why, "an operand is read by windows");
    map = dropUnitWindows(map, tile);
  }
  return maps;
}

FailureOr<Contraction> mlir::pit::findContraction(SWriteOp write, bool forCPU,
                                                  MainloopRefusal &refusal) {
  std::string &why = refusal.why;
  FailureOr<Value> sum = findSum(write, forCPU, why);
  if (failed(sum))
    return failure();
  Value computed;
  FailureOr<SmallVector<ForOp>> found = findNest(*sum, computed, why);
  if (failed(found))
    return failure();
  if (!forCPU && found->size() > 1)
    return notTaken(why, "its steps are a nest of " + Twine(found->size()) +
                             " loops; a kernel takes one");
  ArrayRef<ForOp> loops = *found;
  auto op = computed.getDefiningOp<linalg::LinalgOp>();
  if (op && op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1)
    refusal.op = op;
  if (!op || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.hasIndexSemantics() || op.getNumReductionLoops() == 0)
    return notTaken(why,
                    "it is no op of two operands and one result that reduces");
  Value initial = op.getDpsInits()[0];
  if (!loops.empty()) {
    if (initial != ForOp(loops.back()).getRegionIterArgs()[0])
      return notTaken(why, "its sums do not start from what the loop carries");
    initial = ForOp(loops.front()).getInitArgs()[0];
  }
  SReadOp reads[2];
  for (unsigned i = 0; i < 2; ++i) {
    reads[i] = op.getDpsInputs()[i].getDefiningOp<SReadOp>();
    if (!reads[i] || reads[i].isWhole())
      return notTaken(why, "operand " + Twine(i) +
                               " is no tile that is read from a tensor");
  }
  SmallVector<int64_t> tile = op.getStaticLoopRanges();
  FailureOr<SmallVector<AffineMap>> maps = findMaps(op, tile, forCPU, why);
  if (failed(maps))
    return failure();

  // Only scalars may stand beside the contraction.
  for (ForOp loop : loops)
    for (Operation &inner : loop.getBody()->without_terminator())
      if (!isScalar(&inner) && &inner != op && &inner != reads[0] &&
          &inner != reads[1] && !llvm::is_contained(loops, &inner))
        return notTaken(why,
                        inner.getName().getStringRef() +
                            " stands beside it in the loop over its steps");
  return Contraction{write, *sum,    std::move(*found),
                     op,    initial, {reads[0], reads[1]},
                     tile,  *maps};
}
