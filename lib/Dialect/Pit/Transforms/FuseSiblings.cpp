//===- FuseSiblings.cpp - Contractions that meet share a loop -------------===//
//
//   g = pit.forall { ids: t1 = pit.for { .. x[ids] * a .. }; SWrite t1 }
//   h = pit.forall { ids: t2 = pit.for { .. x[ids] * b .. };
//                    SRead g; SWrite f(g, t2) }
//
// becomes one loop over tiles, in which one loop over steps carries both sums:
//
//   h = pit.forall { ids: t1, t2 = pit.for { .. x[ids] * a .. x[ids] * b .. };
//                    SWrite f(t1, t2) }
//
// Both loops go through the same tiles, and the second one reads just the tile
// that the first one wrote there. So g is never in memory, and what both read
// is read once.
//
//===----------------------------------------------------------------------===//

#include "Epilogues.h"

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopeExit.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITFUSESIBLINGS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {

/// Moves the loop that writes a tensor into the one that reads its tiles.
class SiblingFusion {
public:
  SiblingFusion(RewriterBase &rewriter, SReadOp read)
      : rewriter(rewriter), read(read) {}

  /// Does it, if the loops are alike; else nothing.
  bool run();

private:
  template <typename LoopTy> bool matchLoop(LoopTy from, LoopTy to);
  SmallVector<Operation *> loopsAround(Operation *inner);
  bool matchNest();
  ForOp matchSteps();
  Value takeTile();
  Value convert(Value tile, Type element);
  void mergeSteps(ForOp first, ForOp second);

  bool isSame(Value from, Value to) {
    return mapping.lookupOrDefault(from) == to;
  }
  bool areSame(ValueRange from, ValueRange to) {
    return from.size() == to.size() &&
           llvm::all_of(llvm::zip(from, to), [&](auto both) {
             return isSame(std::get<0>(both), std::get<1>(both));
           });
  }

  RewriterBase &rewriter;
  SReadOp read;
  ForallOp producer;
  SWriteOp write;    ///< the producer's
  IRMapping mapping; ///< values of the producer's loops to the reader's
};

} // namespace

/// Do both run through the same ranges and ids? If so, their variables are
/// mapped.
template <typename LoopTy>
bool SiblingFusion::matchLoop(LoopTy from, LoopTy to) {
  if (from.getSteps() != to.getSteps() || from.getChunk() != to.getChunk() ||
      !areSame(from.getLower(), to.getLower()) ||
      !areSame(from.getUpper(), to.getUpper()) ||
      !areSame(from.getGroup(), to.getGroup()) ||
      static_cast<bool>(from.getIndex()) != static_cast<bool>(to.getIndex()) ||
      (from.getIndex() && !isSame(from.getIndex(), to.getIndex())))
    return false;
  mapping.map(from.getInductionVars(), to.getInductionVars());
  if (from.getIndex()) {
    mapping.map(from.getIds(), to.getIds());
    mapping.map(from.getPositions(), to.getPositions());
  }
  return true;
}

/// From the innermost on, those in the op that the producer is in.
SmallVector<Operation *> SiblingFusion::loopsAround(Operation *inner) {
  SmallVector<Operation *> loops;
  for (Operation *op = inner->getParentOp();
       op && op != producer->getParentOp(); op = op->getParentOp())
    loops.push_back(op);
  return loops;
}

/// Are the loops around the producer's write those around the read?
bool SiblingFusion::matchNest() {
  SmallVector<Operation *> from = loopsAround(write), to = loopsAround(read);
  // The loops of the reader are in the producer's block, after it.
  if (from.size() != to.size() ||
      to.back()->getBlock() != producer->getBlock() ||
      !isa<ForallOp>(to.back()))
    return false;
  for (auto [outer, other] :
       llvm::zip(llvm::reverse(from), llvm::reverse(to))) {
    bool same = false;
    if (auto loop = dyn_cast<ForallOp>(outer))
      same = isa<ForallOp>(other) && matchLoop(loop, cast<ForallOp>(other));
    else if (auto loop = dyn_cast<ForOp>(outer))
      same = isa<ForOp>(other) && matchLoop(loop, cast<ForOp>(other));
    if (!same)
      return false;
    // All that the tile is computed from is cloned.
    for (Operation &inner : outer->getRegion(0).front().without_terminator())
      if (!isMemoryEffectFree(&inner))
        return false;
  }
  return true;
}

/// Is it a loop over steps alone, which carries tiles?
static bool isOverSteps(ForOp loop) {
  return loop.getConflicts() == Conflicts::None &&
         loop.getBody()->getOps<ForOp>().empty() && loop.getNumResults() > 0 &&
         llvm::all_of(loop.getResultTypes(), [](Type type) {
           return cast<RankedTensorType>(type).hasStaticShape();
         });
}

/// Do both loops compute what they carry by the same ops? A mainloop has no
/// others, and sums that form none are computed slowly.
static bool computeAlike(ForOp first, ForOp second) {
  auto opOf = [](Value sum) { return sum.getDefiningOp<linalg::LinalgOp>(); };
  linalg::LinalgOp x = opOf(first.getYield().getOperand(0));
  for (ForOp loop : {first, second})
    for (Value sum : loop.getYield().getOperands()) {
      linalg::LinalgOp y = opOf(sum);
      if (!x || !y || x.getIndexingMapsArray() != y.getIndexingMapsArray() ||
          x.getIteratorTypesArray() != y.getIteratorTypesArray() ||
          !OperationEquivalence::isRegionEquivalentTo(
              &x->getRegion(0), &y->getRegion(0),
              OperationEquivalence::IgnoreLocations))
        return false;
    }
  return true;
}

/// Are there registers for what both loops carry?
static bool haveRoom(ForOp first, ForOp second) {
  int64_t sums = 0, most = std::numeric_limits<int64_t>::max();
  for (ForOp loop : {first, second}) {
    for (Type type : loop.getResultTypes())
      sums += cast<ShapedType>(type).getNumElements();
    for (auto op : loop.getBody()->getOps<linalg::LinalgOp>())
      if (op.getNumReductionLoops() > 0)
        most = std::min(most, getMostSums(op));
  }
  return sums <= most;
}

/// The reader's loop over steps that is like the only one of the producer.
ForOp SiblingFusion::matchSteps() {
  auto loops = llvm::to_vector(write->getBlock()->getOps<ForOp>());
  if (loops.size() != 1 || !isOverSteps(loops.front()))
    return {};
  // Its own variables are mapped when it is cloned.
  IRMapping around = mapping;
  llvm::scope_exit restore([&] { mapping = around; });
  for (ForOp other : read->getBlock()->getOps<ForOp>())
    if (other->isBeforeInBlock(read) && isOverSteps(other) &&
        cast<RankedTensorType>(other.getResultTypes()[0]).getShape() ==
            cast<RankedTensorType>(loops.front().getResultTypes()[0])
                .getShape() &&
        haveRoom(loops.front(), other) && computeAlike(loops.front(), other) &&
        matchLoop(loops.front(), other))
      return other;
  return {};
}

/// `tile` with the elements that writing makes of its own.
Value SiblingFusion::convert(Value tile, Type element) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getElementType() == element)
    return tile;
  Location loc = read.getLoc();
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, type.getShape(), element);
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             rewriter, loc, empty.getType(), tile, empty,
             ArrayRef<AffineMap>{identity, identity}, parallel,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc,
                                       narrowTo(b, loc, args[0], element));
             })
      .getResult(0);
}

/// Clones what computes the producer's tile to where it is read.
Value SiblingFusion::takeTile() {
  SmallVector<Operation *> from = loopsAround(write), to = loopsAround(read);
  for (auto [outer, other] :
       llvm::zip(llvm::reverse(from), llvm::reverse(to))) {
    bool innermost = outer == from.front();
    rewriter.setInsertionPointToStart(&other->getRegion(0).front());
    for (Operation &op : outer->getRegion(0).front().without_terminator()) {
      if (&op == write || (!innermost && isa<ForOp>(op)))
        continue;
      rewriter.clone(op, mapping);
      // The ops after the steps need their sums.
      if (innermost && isa<ForOp>(op))
        rewriter.setInsertionPoint(read);
    }
  }
  rewriter.setInsertionPoint(read);
  // The value read is the one that would have been written.
  return convert(mapping.lookupOrDefault(write.getTile()),
                 getElementTypeOrSelf(read.getResult()));
}

/// Two loops with the same steps, none of which reads what the other one gives,
/// become one. The later one is in the place of both.
void SiblingFusion::mergeSteps(ForOp first, ForOp second) {
  // The init of the second one comes before it.
  rewriter.setInsertionPoint(second);
  SmallVector<Value> inits(first.getInitArgs());
  llvm::append_range(inits, second.getInitArgs());
  auto merged = ForOp::create(
      rewriter, second.getLoc(), second.getLower(), second.getUpper(),
      second.getSteps(), second.getIndex(), second.getGroup(),
      second.getChunk(), inits,
      [&](OpBuilder &b, Location loc, ValueRange ivs, Value ids,
          Value positions, ValueRange carried) {
        SmallVector<Value> results;
        unsigned taken = 0;
        for (ForOp loop : {first, second}) {
          IRMapping inside;
          inside.map(loop.getInductionVars(), ivs);
          if (ids) {
            inside.map(loop.getIds(), ids);
            inside.map(loop.getPositions(), positions);
          }
          unsigned count = loop.getNumResults();
          inside.map(loop.getRegionIterArgs(), carried.slice(taken, count));
          taken += count;
          for (Operation &op : loop.getBody()->without_terminator())
            b.clone(op, inside);
          for (Value value : loop.getYield().getOperands())
            results.push_back(inside.lookupOrDefault(value));
        }
        YieldOp::create(b, loc, results);
      });
  unsigned count = first.getNumResults();
  rewriter.replaceOp(first, merged.getResults().take_front(count));
  rewriter.replaceOp(second, merged.getResults().drop_front(count));
}

bool SiblingFusion::run() {
  producer = read.getSrc().getDefiningOp<ForallOp>();
  if (!producer || !read.getSrc().hasOneUse() || read.getPadAttr() ||
      getElementTypeOrSelf(read.getSrc()) !=
          getElementTypeOrSelf(read.getResult()))
    return false;
  write = findOnlyWrite(producer);
  if (!write || !matchNest() ||
      !areSame(write.getSubscripts(), read.getSubscripts()) ||
      cast<ShapedType>(write.getTile().getType()).getShape() !=
          cast<ShapedType>(read.getResult().getType()).getShape())
    return false;
  ForOp steps = matchSteps();
  if (!steps)
    return false;
  ForOp own = *write->getBlock()->getOps<ForOp>().begin();
  Value tile = takeTile();
  auto cloned = mapping.lookup(own->getResult(0)).getDefiningOp<ForOp>();
  rewriter.replaceOp(read, tile);
  mergeSteps(cloned, steps);
  rewriter.eraseOp(producer);
  return true;
}

unsigned pit::fuseSiblings(RewriterBase &rewriter, func::FuncOp function) {
  // Fusion erases the producer and what it reads.
  auto fuseOne = [&] {
    return function
        .walk([&](SReadOp read) {
          return SiblingFusion(rewriter, read).run() ? WalkResult::interrupt()
                                                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  unsigned fused = 0;
  while (fuseOne())
    ++fused;
  return fused;
}

namespace {
struct FuseSiblingsPass : pit::impl::PitFuseSiblingsBase<FuseSiblingsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    fuseSiblings(rewriter, getOperation());
  }
};
} // namespace
