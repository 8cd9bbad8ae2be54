//===- PitGPUBlockRing.cpp - Are uses of a block's ring in turn? ----------===//
//
// A ring of the block has no barriers that count. `wait` waits for all groups
// of copies but the last ones, and its barrier shows what was released before.
// So both are right if uses are committed, awaited and released in one order,
// however loops and branches are taken.
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit::pitgpu;

namespace {
class OrderCheck {
public:
  explicit OrderCheck(BlockRingOp ring)
      : ring(ring), stages(ring.getType().getStages()) {}

  LogicalResult run() {
    for (Operation *user : ring->getUsers())
      if (failed(findEnds(user)))
        return failure();
    State state;
    Block *block = ring->getBlock();
    for (auto op = std::next(ring->getIterator()); op != block->end(); ++op)
      if (failed(follow(*op, state)))
        return failure();
    return checkGroups();
  }

private:
  /// The uses of the ring so far.
  struct State {
    int64_t ahead = 0; ///< are committed, and no `wait` has come for them
    bool isHeld =
        false; ///< has the last `wait` given a stage that is not back?

    bool operator==(const State &other) const {
      return ahead == other.ahead && isHeld == other.isHeld;
    }
  };

  /// Finds what gives a stage on that is taken.
  LogicalResult findEnds(Operation *take) {
    llvm::SetVector<Value> carried;
    if (isa<WaitOp>(take))
      collectStages(take->getResult(0), carried);
    for (Value stage : carried)
      for (Operation *user : stage.getUsers())
        if (isa<ReleaseOp>(user))
          releases.insert(user);
    auto acquire = dyn_cast<AcquireOp>(take);
    if (!acquire)
      return success();
    int64_t count = 0;
    for (Operation *user : acquire.getStage().getUsers())
      if (isa<CommitOp>(user)) {
        commits.insert(user);
        count += user->getBlock() == take->getBlock() ? 1 : 2;
      }
    if (count == 1)
      return success();
    return note(violates(ring, "block_ring 2")
                    << "a stage is committed "
                    << (count ? "more than once, or elsewhere than it was "
                                "acquired"
                              : "by others than acquire it"),
                take->getLoc(), "the stage");
  }

  LogicalResult follow(Operation &op, State &state) {
    if (commits.contains(&op)) {
      if (++state.ahead == stages)
        return note(violates(ring, "block_ring 3")
                        << stages << " uses of " << stages
                        << " stages are committed before a wait; " << stages - 1
                        << " are right",
                    op.getLoc(), "the commit");
      return success();
    }
    if (auto wait = dyn_cast<WaitOp>(op);
        wait && wait.getRing() == ring.getResult()) {
      if (state.isHeld)
        return note(violates(ring, "block_ring 4")
                        << "a stage is not released before the next wait, "
                           "whose barrier shows that it is empty",
                    op.getLoc(), "the wait");
      if (state.ahead != stages - 1)
        return note(violates(ring, "block_ring 3")
                        << state.ahead << " uses of " << stages
                        << " stages are committed before a wait; " << stages - 1
                        << " are right",
                    op.getLoc(), "the wait");
      --state.ahead;
      state.isHeld = true;
      return success();
    }
    if (releases.contains(&op))
      state.isHeld = false;
    return followRegions(op, state);
  }

  /// Branches agree, and a loop ends an iteration as it begins it.
  LogicalResult followRegions(Operation &op, State &state) {
    const State before = state;
    for (Region &region : op.getRegions()) {
      State end = before;
      for (Block &block : region)
        for (Operation &inner : block)
          if (failed(follow(inner, end)))
            return failure();
      bool isFirst = isa<scf::IfOp>(op) && region.getRegionNumber() == 0;
      if (isFirst)
        state = end;
      else if (!(end == state))
        return note(violates(ring, "block_ring 3")
                        << "a loop or a branch changes how many uses are "
                           "committed or held, from "
                        << state.ahead << " and " << state.isHeld << " to "
                        << end.ahead << " and " << end.isHeld
                        << "; in each iteration, and in both branches, it is "
                           "the same",
                    op.getLoc(), "the loop, or the branch");
    }
    return success();
  }

  /// No other groups are ended where `wait` counts this ring's.
  LogicalResult checkGroups() {
    Operation *first = nullptr, *last = nullptr;
    for (Operation *user : ring->getUsers()) {
      Operation *own = ring->getBlock()->findAncestorOpInBlock(*user);
      if (!first || own->isBeforeInBlock(first))
        first = own;
      if (isa<WaitOp>(user) && (!last || last->isBeforeInBlock(own)))
        last = own;
    }
    for (Operation *op = first; last && op; op = op->getNextNode()) {
      WalkResult found = op->walk([&](Operation *inner) {
        auto commit = dyn_cast<CommitOp>(inner);
        bool isOther = isa<CopyGroupOp>(inner) ||
                       (commit && commit.getStage().getType().getOfBlock() &&
                        !commits.contains(inner));
        if (!isOther)
          return WalkResult::advance();
        return WalkResult(note(violates(ring, "block_ring 5")
                                   << "another group of copies is ended while "
                                      "waits count those of the ring",
                               inner->getLoc(), "the group"));
      });
      if (found.wasInterrupted())
        return failure();
      if (op == last)
        break;
    }
    return success();
  }

  BlockRingOp ring;
  int64_t stages;
  llvm::SmallPtrSet<Operation *, 8> commits, releases;
};
} // namespace

LogicalResult mlir::pit::pitgpu::verifyOrder(BlockRingOp ring) {
  return OrderCheck(ring).run();
}
