//===- FormMatrices.cpp - Contractions become products of matrices --------===//
//
// Matrix times vector has one factor without a dim of its own in the result.
// With one of extent 1 it is a product of matrices, which tensor cores take.
// Element-wise ops that its loop would take in (FuseEpilogues.cpp) get the dim
// as well.
//
// A contraction whose operands have dims one after the other, or have none of
// them, is the same one with a single dim in their place. The element-wise
// ops behind it are collapsed with it: the op that expands the result comes
// after them. If one
// of them cannot be, the dims stay.
//
//===----------------------------------------------------------------------===//

#include "Reshapes.h"
#include "Tiler.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITFORMMATRICES
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

using Run = ReassociationIndices;

namespace {
/// An element-wise op after a contraction, and runs as its loops.
struct Follower {
  linalg::LinalgOp op;
  SmallVector<Run> runs;
};
} // namespace

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// By operand, before which of its dimensions the new one comes, if it has it.
using Places = SmallVector<std::optional<unsigned>>;

/// The first of a map's results that is a dim for which `isWanted` holds.
static std::optional<unsigned>
findResult(AffineMap map, function_ref<bool(unsigned)> isWanted) {
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (isWanted(map.getDimPosition(i)))
      return i;
  return std::nullopt;
}

/// The place of the row of a product's vector: before its reduced dims, and
/// before the other factor's own in the result. Empty if it has no vector, or
/// tensor cores would not take it.
static Places findRow(linalg::LinalgOp op) {
  SmallVector<OpOperand *> factors;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getRank(input) > 0)
      factors.push_back(input);
  if (factors.size() != 2 || op.getNumDpsInits() != 1)
    return {};
  for (OpOperand *factor : factors) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(factor->get()));
    if (!type || type.getWidth() > 16)
      return {};
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned vector : {0, 1}) {
    AffineMap map = op.getMatchingIndexingMap(factors[vector]);
    AffineMap other = op.getMatchingIndexingMap(factors[1 - vector]);
    auto isReduced = [&](unsigned d) {
      return linalg::isReductionIterator(kinds[d]);
    };
    auto isOwn = [&](unsigned d) {
      return !isReduced(d) && !other.isFunctionOfDim(d);
    };
    auto isOthers = [&](unsigned d) {
      return !isReduced(d) && other.isFunctionOfDim(d) &&
             !map.isFunctionOfDim(d);
    };
    OpOperand *init = op.getDpsInitOperand(0);
    std::optional<unsigned> row = findResult(map, isReduced),
                            column = findResult(op.getMatchingIndexingMap(init),
                                                isOthers);
    if (!row || !column || findResult(map, isOwn))
      continue;
    Places places(op->getNumOperands());
    places[factors[vector]->getOperandNumber()] = row;
    places[init->getOperandNumber()] = column;
    return places;
  }
  return {};
}

/// The same of an op after it, whose operand number `operand` has the row at
/// `place`, and so has its result. Other operands are the same for all rows.
static Places followRow(linalg::LinalgOp op, unsigned operand, unsigned place) {
  Places places(op->getNumOperands());
  places[operand] = place;
  OpOperand *init = op.getDpsInitOperand(0);
  unsigned d = op.getMatchingIndexingMap(&op->getOpOperand(operand))
                   .getDimPosition(place);
  places[init->getOperandNumber()] = findResult(
      op.getMatchingIndexingMap(init), [&](unsigned e) { return e == d; });
  return places;
}

/// Each dimension by itself, but for that at `place`, before which one of
/// extent 1 comes.
static SmallVector<ReassociationIndices> reassociate(int64_t rank,
                                                     unsigned place) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0, next = 0; d < rank; ++d) {
    groups.emplace_back(1, next++);
    if (d == place)
      groups.back().push_back(next++);
  }
  return groups;
}

static Value expandAt(RewriterBase &rewriter, Location loc, Value value,
                      unsigned place) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, value);
  shape.insert(shape.begin() + place, 1);
  sizes.insert(sizes.begin() + place, rewriter.getIndexAttr(1));
  return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), value,
                                       reassociate(type.getRank(), place),
                                       sizes);
}

/// Gives `op` a loop for the row. Reshapes come before it and after it.
static Value expand(RewriterBase &rewriter, linalg::LinalgOp op,
                    const Places &places) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (auto [i, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    SmallVector<AffineExpr> results(map.shiftDims(1).getResults());
    Value value = op->getOperand(i);
    if (places[i]) {
      results.insert(results.begin() + *places[i],
                     rewriter.getAffineDimExpr(0));
      value = expandAt(rewriter, loc, value, *places[i]);
    }
    operands.push_back(value);
    maps.push_back(AffineMap::get(op.getNumLoops() + 1, 0, results,
                                  rewriter.getContext()));
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.insert(kinds.begin(), utils::IteratorType::parallel);
  ArrayRef<Value> all(operands);
  ArrayRef<Value> inputs = all.drop_back(), inits = all.take_back();
  auto wide = linalg::GenericOp::create(rewriter, loc, inits.front().getType(),
                                        inputs, inits, maps, kinds);
  rewriter.inlineRegionBefore(op->getRegion(0), wide.getRegion(),
                              wide.getRegion().end());
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto narrow = tensor::CollapseShapeOp::create(
      rewriter, loc, type, wide.getResult(0),
      reassociate(type.getRank(), *places.back()));
  rewriter.replaceOp(op, narrow);
  return narrow;
}

//===----------------------------------------------------------------------===//
// Operands that are broadcast
//===----------------------------------------------------------------------===//

/// The op that repeats its only input along new dims to make `value`; null if
/// none does.
static linalg::LinalgOp getBroadcast(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op->hasAttr(kRuleAttrName) ||
      op.getNumParallelLoops() != op.getNumLoops())
    return {};
  OpOperand *input = op.getDpsInputOperand(0);
  AffineMap from = op.getMatchingIndexingMap(input);
  bool repeats =
      op.getRank(input) > 0 && from.isProjectedPermutation() &&
      from.getNumResults() < from.getNumDims() &&
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
      op.getBlock()->getTerminator()->getOperand(0) ==
          op.getMatchingBlockArgument(input) &&
      getElementTypeOrSelf(input->get()) == getElementTypeOrSelf(value);
  return repeats ? op : linalg::LinalgOp();
}

/// Has the contraction read what ops before it broadcast, each element where it
/// was.
static linalg::LinalgOp readUnrepeated(RewriterBase &rewriter,
                                       linalg::LinalgOp op) {
  SmallVector<Value> inputs = op.getDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool changed = false;
  for (auto [input, map] : llvm::zip(inputs, maps))
    while (linalg::LinalgOp broadcast = getBroadcast(input)) {
      AffineMap whole = map;
      map = broadcast.getIndexingMapsArray().front().compose(map);
      // The extents of all loops are those of operands.
      if (!inversePermutation(concatAffineMaps(maps, rewriter.getContext()))) {
        map = whole;
        break;
      }
      input = broadcast.getDpsInputs().front();
      changed = true;
    }
  if (!changed)
    return op;
  rewriter.setInsertionPoint(op);
  auto generic = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
      maps, op.getIteratorTypesArray());
  rewriter.inlineRegionBefore(op->getRegion(0), generic.getRegion(),
                              generic.getRegion().end());
  rewriter.replaceOp(op, generic);
  return generic;
}

//===----------------------------------------------------------------------===//
// Dims that can be collapsed
//===----------------------------------------------------------------------===//

/// May d be part of a run? A dim of all inputs numbers products, each of which
/// is computed alone.
static bool isTaken(linalg::LinalgOp op, unsigned d) {
  return linalg::isReductionIterator(op.getIteratorTypesArray()[d]) ||
         !llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           return op.getRank(input) == 0 ||
                  op.getMatchingIndexingMap(input).isFunctionOfDim(d);
         });
}

/// The longest runs of two dims or more that go together in all operands.
static SmallVector<Run> findRuns(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<Run> runs;
  llvm::SmallBitVector seen(op.getNumLoops());
  for (AffineMap map : maps) {
    Run run;
    for (unsigned i = 0, e = map.getNumResults(); i <= e; ++i) {
      std::optional<unsigned> d;
      if (i < e && !seen[map.getDimPosition(i)])
        d = map.getDimPosition(i);
      bool goesOn =
          d && !run.empty() && kinds[run.back()] == kinds[*d] &&
          llvm::all_of(maps, [&](AffineMap any) {
            return linalg::isDimSequencePreserved(any, {run.back(), *d});
          });
      if (!goesOn) {
        if (run.size() > 1)
          runs.push_back(run);
        run.clear();
      }
      if (d && isTaken(op, *d))
        run.push_back(*d);
    }
    for (unsigned i = 0, e = map.getNumResults(); i < e; ++i)
      seen.set(map.getDimPosition(i));
  }
  return runs;
}

/// Does `value` go, as it is, into memory that others share: a part of another
/// tensor, or what branches write their results to?
static bool goesElsewhere(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp,
               tensor::ConcatOp, bufferization::MaterializeInDestinationOp>(
        user);
  });
}

/// The run of a result's dims that `run`, of loops of `op`, is; empty if it is
/// of reductions.
static Run getResultRun(linalg::LinalgOp op, const Run &run) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Run found;
  for (int64_t d : run)
    if (std::optional<unsigned> position =
            map.getResultPosition(getAffineDimExpr(d, op->getContext())))
      found.push_back(*position);
  return found;
}

/// The ops after `op` that are collapsed with it. Runs that one of them does
/// not have are taken out of `runs`.
static SmallVector<Follower> findFollowers(linalg::LinalgOp op,
                                           SmallVector<Run> &runs) {
  SmallVector<Follower> followers;
  for (size_t i = 0; i < runs.size();) {
    SmallVector<Follower> found;
    Run run = getResultRun(op, runs[i]);
    Value value = op->getResult(0);
    bool fits = isCollapsible(op, runs[i]);
    while (linalg::LinalgOp next = findFollower(value)) {
      // It reads `value` by the identity.
      fits &= run.empty() || isCollapsible(next, run);
      found.push_back({next, {run}});
      value = next->getResult(0);
      if (!run.empty())
        run = getResultRun(next, run);
    }
    fits &= run.empty() || !goesElsewhere(value);
    if (!fits) {
      runs.erase(runs.begin() + i);
      continue;
    }
    if (i == 0)
      followers = std::move(found);
    else
      for (auto [follower, other] : llvm::zip(followers, found))
        follower.runs.push_back(other.runs.front());
    ++i;
  }
  for (Follower &follower : followers)
    llvm::erase_if(follower.runs, [](const Run &run) { return run.empty(); });
  return followers;
}

namespace {
struct FormMatricesPass : pit::impl::PitFormMatricesBase<FormMatricesPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    expandVectors(rewriter);
    collapseDims(rewriter);
  }

  void expandVectors(RewriterBase &rewriter) {
    SmallVector<std::pair<linalg::LinalgOp, Places>> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isDenseContraction(op) || op->getNumResults() != 1 ||
          op.hasIndexSemantics())
        return;
      if (Places places = findRow(op); !places.empty())
        products.push_back({op, places});
    });
    for (auto &[op, places] : products) {
      Value value = expand(rewriter, op, places);
      unsigned place = *places.back();
      while (linalg::LinalgOp next = findFollower(value)) {
        Places of =
            followRow(next, value.use_begin()->getOperandNumber(), place);
        place = *of.back();
        value = expand(rewriter, next, of);
      }
    }
    if (!products.empty() && failed(mergeReshapes(getOperation())))
      signalPassFailure();
  }

  void collapseDims(RewriterBase &rewriter) {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if ((isDenseContraction(op) || isRowSum(op)) &&
          op->getNumResults() == 1 && !op.hasIndexSemantics())
        ops.push_back(op);
    });
    bool changed = false;
    for (linalg::LinalgOp op : ops) {
      op = readUnrepeated(rewriter, op);
      SmallVector<Run> runs = findRuns(op);
      SmallVector<Follower> followers = findFollowers(op, runs);
      if (runs.empty())
        continue;
      changed = true;
      collapseLoops(rewriter, op, runs);
      for (Follower &follower : followers)
        collapseLoops(rewriter, follower.op, follower.runs);
    }
    if (!changed)
      return;
    readSizesBeforeReshapes(rewriter);
    if (failed(mergeReshapes(getOperation())))
      signalPassFailure();
  }

  /// Sizes of what is expanded are those that it is expanded to: nothing has to
  /// be computed for them.
  void readSizesBeforeReshapes(RewriterBase &rewriter) {
    getOperation().walk([&](tensor::DimOp dim) {
      auto expand = dim.getSource().getDefiningOp<tensor::ExpandShapeOp>();
      std::optional<int64_t> number = dim.getConstantIndex();
      if (!expand || !number)
        return;
      rewriter.setInsertionPoint(dim);
      rewriter.replaceOp(dim, getValueOrCreateConstantIndexOp(
                                  rewriter, dim.getLoc(),
                                  expand.getMixedOutputShape()[*number]));
    });
  }
};
} // namespace
