//===- CollapseDims.cpp - Dims that go together become one ----------------===//
//
// A contraction whose operands have dims one after the other, or have none of
// them, is the same one with a single dim in their place. Element-wise ops that
// its loop would take in (FuseEpilogues.cpp) are collapsed with it: what
// expands the result comes after them. If one of them cannot be, the dims stay.
//
//===----------------------------------------------------------------------===//

#include "Reshapes.h"
#include "Tiler.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCOLLAPSEDIMS
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

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Reshapes come before the op's operands and after its results.
static void collapse(RewriterBase &rewriter, linalg::LinalgOp op,
                     ArrayRef<Run> runs) {
  if (runs.empty())
    return;
  rewriter.setInsertionPoint(op);
  if (!isa<linalg::GenericOp>(op))
    op = *linalg::generalizeNamedOp(rewriter, op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, runs, rewriter);
  if (succeeded(collapsed))
    rewriter.replaceOp(op, collapsed->results);
}

namespace {
struct CollapseDimsPass : pit::impl::PitCollapseDimsBase<CollapseDimsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if ((isDenseContraction(op) || isRowSum(op)) &&
          op->getNumResults() == 1 && !op.hasIndexSemantics())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    bool changed = false;
    for (linalg::LinalgOp op : ops) {
      op = readUnrepeated(rewriter, op);
      SmallVector<Run> runs = findRuns(op);
      SmallVector<Follower> followers = findFollowers(op, runs);
      if (runs.empty())
        continue;
      changed = true;
      collapse(rewriter, op, runs);
      for (Follower &follower : followers)
        collapse(rewriter, follower.op, follower.runs);
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
