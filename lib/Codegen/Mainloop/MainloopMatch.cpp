//===- MainloopMatch.cpp - Contractions that mainloops can do -------------===//

#include "BuildMainloop.h"

#include "pit/Analysis/Padding.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

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
  auto isTile = [](Value value) {
    return isa<ShapedType>(value.getType()) &&
           isa<ForOp, ForallOp>(value.getParentBlock()->getParentOp());
  };
  return isPure(op) && !mayTrap(op) && !op->getNumRegions() &&
         llvm::none_of(op->getOperands(), isTile) &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
}

bool mlir::pit::isNumberOfTile(Operation *op) {
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  if (!extract || !extract.getType().isIntOrIndexOrFloat() ||
      !llvm::all_of(extract.getIndices(),
                    [](Value at) { return matchPattern(at, m_Constant()); }))
    return false;
  auto read = extract.getTensor().getDefiningOp<SReadOp>();
  return (read && !read.isWhole()) ||
         extract.getTensor().getDefiningOp<CoordsOp>();
}

/// The loops, each alone in the one before, whose innermost yields what
/// `values` are set to; before, they are what the outermost gives. Failure if
/// the loops do not carry these tiles through, or the ids come before the last.
static OrRefusal<SmallVector<ForOp>> findNest(SmallVectorImpl<Value> &values) {
  SmallVector<ForOp> nest;
  while (auto loop = values.front().getDefiningOp<ForOp>()) {
    if (!llvm::equal(values, loop.getResults()) ||
        loop.getConflicts() != Conflicts::None)
      return refuse("a loop over its steps carries ", loop.getNumResults(),
                    " values, or groups that write the same");
    if (!nest.empty()) {
      Region &outermost = nest.front().getRegion();
      auto isInside = [&](Value value) {
        return outermost.isAncestor(value.getParentRegion());
      };
      if (nest.back().getIndex() || loop->getBlock() != nest.back().getBody() ||
          !llvm::equal(loop.getInitArgs(), nest.back().getRegionIterArgs()) ||
          llvm::any_of(loop.getLower(), isInside) ||
          llvm::any_of(loop.getUpper(), isInside))
        return refuse("the loops over its steps are no nest with bounds "
                      "that are known before it and ids innermost");
    }
    nest.push_back(loop);
    values.assign(loop.getYield().getOperands().begin(),
                  loop.getYield().getOperands().end());
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

/// The contractions that `write`'s tile is computed from, or the results of the
/// loop around them. A reduction of a single step of a computed value comes
/// after it.
static OrRefusal<SmallVector<Value>> findSums(SWriteOp write, bool forCPU) {
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
  SmallVector<Value> worklist = {write.getTile()}, sums;
  llvm::SmallDenseSet<Value> seen;
  while (!worklist.empty()) {
    Value tile = worklist.pop_back_val();
    if (!seen.insert(tile).second)
      continue;
    if (tile.getDefiningOp<ForOp>() || isContraction(tile)) {
      if (!sums.empty() &&
          (!tile.getDefiningOp<ForOp>() ||
           tile.getDefiningOp() != sums.front().getDefiningOp()))
        return refuse("its tile is computed from two of them, in no "
                      "loop that carries both");
      sums.push_back(tile);
      continue;
    }
    if (auto op = tile.getDefiningOp<linalg::LinalgOp>())
      for (OpOperand &operand : op->getOpOperands())
        if (!op.getMatchingBlockArgument(&operand).use_empty())
          worklist.push_back(operand.get());
  }
  if (sums.empty())
    return refuse("nothing is summed up for its tile");
  llvm::sort(sums, [](Value x, Value y) {
    return cast<OpResult>(x).getResultNumber() <
           cast<OpResult>(y).getResultNumber();
  });
  return sums;
}

/// The maps of `op` on its tile of these extents. A CPU packs all that windows
/// read; a GPU's reader takes one dimension each for m, n and k.
static OrRefusal<SmallVector<AffineMap>>
findMaps(linalg::LinalgOp op, ArrayRef<int64_t> tile, bool forCPU) {
  if (llvm::any_of(tile, ShapedType::isDynamic))
    return refuse("its tile has a dynamic extent");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineMap &map : maps) {
    if (forCPU && !getTileExtents(map, tile))
      return refuse("an operand is read by a map that is no sum of dimensions");
    if (!forCPU && !map.isProjectedPermutation())
      return refuse("an operand is read by windows");
    map = dropUnitWindows(map, tile);
  }
  return maps;
}

/// Does input `number` change along what the op sums up?
static bool changesInSums(linalg::LinalgOp op, unsigned number) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(number));
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [d, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (range != 1 && iterators[d] == utils::IteratorType::reduction &&
        map.isFunctionOfDim(d))
      return true;
  return false;
}

/// Numbers of the op's inputs, the two that it multiplies first. The others are
/// scales: for an element of the result they do not change along a tile.
static std::optional<SmallVector<unsigned>> orderInputs(linalg::LinalgOp op,
                                                        bool forCPU) {
  SmallVector<unsigned> inputs, scales;
  unsigned count = op.getNumDpsInputs();
  for (unsigned i = 0; i < count; ++i)
    (count == 2 || changesInSums(op, i) ? inputs : scales).push_back(i);
  if (inputs.size() != 2 || (forCPU && !scales.empty()))
    return std::nullopt;
  llvm::append_range(inputs, scales);
  return inputs;
}

/// The op that computes `computed` from two tiles and scales, and from what it
/// starts with in a loop; of a `sum` in a nest of loops it is accumulator
/// `number`.
static OrRefusal<Contraction> findContraction(Value sum, Value computed,
                                              ArrayRef<ForOp> loops,
                                              unsigned number, bool forCPU,
                                              linalg::LinalgOp &last) {
  auto op = computed.getDefiningOp<linalg::LinalgOp>();
  if (op && op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1)
    last = op;
  std::optional<SmallVector<unsigned>> inputs;
  if (op)
    inputs = orderInputs(op, forCPU);
  if (!inputs || op.getNumDpsInits() != 1 || op.hasIndexSemantics() ||
      op.getNumReductionLoops() == 0)
    return refuse("it is no op of two operands and one result that reduces");
  Value initial = op.getDpsInits()[0];
  if (!loops.empty()) {
    if (initial != ForOp(loops.back()).getRegionIterArgs()[number])
      return refuse("its sums do not start from what the loop carries");
    initial = ForOp(loops.front()).getInitArgs()[number];
  }
  Contraction contraction{sum, op, initial, *inputs, {}};
  for (unsigned i : *inputs) {
    auto read = op.getDpsInputs()[i].getDefiningOp<SReadOp>();
    if (!read || read.isWhole())
      return refuse("operand ", i, " is no tile that is read from a tensor");
    contraction.reads.push_back(read);
  }
  return contraction;
}

/// Do two ops compute the same of what they read?
static bool computeAlike(linalg::LinalgOp x, linalg::LinalgOp y) {
  return x.getIndexingMapsArray() == y.getIndexingMapsArray() &&
         x.getStaticLoopRanges() == y.getStaticLoopRanges() &&
         OperationEquivalence::isRegionEquivalentTo(
             &x->getRegion(0), &y->getRegion(0),
             OperationEquivalence::IgnoreLocations);
}

OrRefusal<Contractions> mlir::pit::findContractions(SWriteOp write, bool forCPU,
                                                    linalg::LinalgOp &last) {
  OrRefusal<SmallVector<Value>> sums = findSums(write, forCPU);
  if (!sums)
    return sums.refusal();
  SmallVector<Value> computed(*sums);
  OrRefusal<SmallVector<ForOp>> loops = findNest(computed);
  if (!loops)
    return loops.refusal();
  if (!forCPU && loops->size() > 1)
    return refuse("its steps are a nest of ", loops->size(),
                  " loops; a kernel takes one");
  Contractions found{write, {}, std::move(*loops), {}, {}};
  for (auto [i, sum] : llvm::enumerate(*sums)) {
    OrRefusal<Contraction> contraction =
        findContraction(sum, computed[i], found.loops, i, forCPU, last);
    if (!contraction)
      return contraction.refusal();
    found.list.push_back(*contraction);
    if (!computeAlike(contraction->op, found.list.front().op))
      return refuse("the loop over its steps carries sums that are "
                    "computed in different ways");
  }
  linalg::LinalgOp op = found.list.front().op;
  found.tile = op.getStaticLoopRanges();
  OrRefusal<SmallVector<AffineMap>> maps = findMaps(op, found.tile, forCPU);
  if (!maps)
    return maps.refusal();
  // The maps of the factors, of the sums, of the scales.
  ArrayRef<unsigned> inputs = found.list.front().inputs;
  for (unsigned input : inputs.take_front(2))
    found.maps.push_back((*maps)[input]);
  found.maps.push_back(maps->back());
  for (unsigned input : inputs.drop_front(2))
    found.maps.push_back((*maps)[input]);

  // Only scalars may stand beside the contractions.
  llvm::SmallDenseSet<Operation *> known(found.loops.begin(),
                                         found.loops.end());
  for (Contraction &contraction : found.list) {
    known.insert(contraction.op);
    for (SReadOp read : contraction.reads)
      known.insert(read);
  }
  for (ForOp loop : found.loops)
    for (Operation &inner : loop.getBody()->without_terminator())
      if (!isScalar(&inner) && !known.contains(&inner))
        return refuse(inner.getName().getStringRef(),
                      " stands beside it in the loop over its steps");
  return found;
}
