//===- BalanceLoops.cpp - Schedules of loops of uneven work ---------------===//

#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITBALANCELOOPS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
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

struct PitBalanceLoops : pit::impl::PitBalanceLoopsBase<PitBalanceLoops> {
  void runOnOperation() override {
    getOperation().walk([](omp::WsloopOp op) {
      if (op.getScheduleKind() || !isUneven(op.getRegion()))
        return;
      op.setScheduleKind(omp::ClauseScheduleKind::Dynamic);
      op.setScheduleMod(omp::ScheduleModifier::nonmonotonic);
    });
  }
};

} // namespace
