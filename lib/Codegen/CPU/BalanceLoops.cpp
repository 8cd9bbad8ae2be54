//===- BalanceLoops.cpp - How threads share out loops ---------------------===//

#include "Dialect/Pit/IR/Arithmetic.h"
#include "pit/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITBALANCELOOPS
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {

/// Tells whether values in a loop come from memory that the loop reads.
class Sources {
public:
  explicit Sources(Region &loop) : loop(loop) {}

  bool isRead(Value value) {
    Operation *op = value.getDefiningOp();
    // Arguments of blocks count from where other loops begin and end.
    if (!op || !loop.isAncestor(op->getParentRegion()) ||
        !seen.insert(op).second)
      return false;
    WalkResult reads = op->walk([](Operation *inner) {
      return inner->getNumRegions() == 0 &&
                     hasEffect<MemoryEffects::Read>(inner)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return reads.wasInterrupted() ||
           llvm::any_of(op->getOperands(),
                        [&](Value operand) { return isRead(operand); });
  }

private:
  Region &loop;
  llvm::SmallPtrSet<Operation *, 16> seen; ///< that do not read
};

/// Does how often loops in an iteration run depend on what is in memory?
bool isUneven(Region &loop) {
  Sources sources(loop);
  return loop
      .walk([&](scf::ForOp inner) {
        return sources.isRead(inner.getLowerBound()) ||
                       sources.isRead(inner.getUpperBound())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The only loop nest of a parallel region, if it consists of nothing else.
omp::LoopNestOp getOnlyLoopNest(omp::ParallelOp parallel) {
  Block &block = parallel.getRegion().front();
  if (!parallel.getRegion().hasOneBlock())
    return {};
  omp::LoopNestOp only;
  for (Operation &op : block.without_terminator()) {
    auto loop = dyn_cast<omp::WsloopOp>(op);
    if (!loop ? !isMemoryEffectFree(&op) : only != nullptr)
      return {};
    if (loop)
      only = cast<omp::LoopNestOp>(loop.getWrappedLoop());
  }
  return only;
}

/// Whether the loop nest has more than one iteration. Null if that is not known
/// before the parallel region.
Value hasSeveralIterations(omp::ParallelOp parallel, omp::LoopNestOp loop) {
  auto isOutside = [&](Value bound) {
    return !parallel.getRegion().isAncestor(bound.getParentRegion());
  };
  if (!llvm::all_of(loop->getOperands(), isOutside))
    return {};
  OpBuilder builder(parallel);
  pit::ArithEmitter e(builder, parallel.getLoc());
  Value several;
  for (auto [lower, upper, step] :
       llvm::zip(loop.getLoopLowerBounds(), loop.getLoopUpperBounds(),
                 loop.getLoopSteps())) {
    Value exists = e.lessThan(e.add(lower, step), upper);
    several = several ? e.bitOr(several, exists) : exists;
  }
  return several;
}

/// A loop is taken in about so many chunks, each of at most so many iterations.
/// With two threads LLVM's OpenMP library takes 0.7 us for a chunk, and a row
/// of a sparse product takes 0.2 us (docs/performance/choice.md).
constexpr int64_t kChunks = 128, kLargestChunk = 64;

/// How many iterations a thread takes at once, an i64.
Value getChunk(omp::WsloopOp op) {
  auto loop = cast<omp::LoopNestOp>(op.getWrappedLoop());
  OpBuilder b(op);
  pit::ArithEmitter e(b, op.getLoc());
  Type type = loop.getLoopLowerBounds().front().getType();
  auto constant = [&](int64_t value) -> Value {
    return e.constant(b.getIntegerAttr(type, value));
  };
  Value one = constant(1), count = one;
  for (auto [lower, upper, step] :
       llvm::zip(loop.getLoopLowerBounds(), loop.getLoopUpperBounds(),
                 loop.getLoopSteps())) {
    Value whole = e.add(e.sub(upper, lower), e.sub(step, one));
    Value trips = arith::DivSIOp::create(b, e.loc, whole, step);
    count = e.mul(count, trips);
  }
  Value chunk = arith::DivSIOp::create(b, e.loc, count, constant(kChunks));
  chunk = e.max(e.min(chunk, constant(kLargestChunk)), one);
  return type.isIndex() ? e.toI64(chunk) : chunk;
}

struct PitBalanceLoops : pit::impl::PitBalanceLoopsBase<PitBalanceLoops> {
  void runOnOperation() override {
    getOperation().walk([](omp::WsloopOp op) {
      if (op.getScheduleKind() || !isUneven(op.getRegion()))
        return;
      op.setScheduleKind(omp::ClauseScheduleKind::Dynamic);
      op.setScheduleMod(omp::ScheduleModifier::nonmonotonic);
      op.getScheduleChunkMutable().assign(getChunk(op));
    });
    getOperation().walk([](omp::ParallelOp op) {
      omp::LoopNestOp loop = getOnlyLoopNest(op);
      if (!loop || op.getIfExpr())
        return;
      if (Value several = hasSeveralIterations(op, loop))
        op.getIfExprMutable().assign(several);
    });
  }
};

} // namespace
