//===- PitGPUProtocol.cpp - Do roles use stages as the protocol says? -----===//
//
// What is checked is what loops and branches of scf and pit_gpu.tiles say. A
// stage that comes from anywhere else, such as the value with which a loop
// begins to carry one, is taken as it is.
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::pit::pitgpu;

/// Says where what an error is about stands.
static LogicalResult note(InFlightDiagnostic error, Location loc,
                          StringRef what) {
  error.attachNote(loc) << what;
  return error;
}

namespace {

/// The loops that carry stages.
bool isLoop(Operation *op) { return isa<scf::ForOp, TilesOp>(op); }

/// The values that a loop or a branch makes of what its region yields as
/// operand `number`: in the next iteration, and after it.
SmallVector<Value> valuesOfYielded(Operation *op, unsigned number) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getRegionIterArg(number), loop.getResult(number)};
  if (auto tiles = dyn_cast<TilesOp>(op))
    return {tiles.getBody().getArgument(2 + number), tiles.getResult(number)};
  return {op->getResult(number)};
}

/// A role's stages.
class RoleCheck {
public:
  RoleCheck(RolesOp roles, unsigned number)
      : roles(roles), number(number), body(roles.getBodies()[number]) {
    body.walk<WalkOrder::PreOrder>([&](Operation *op) {
      order[op] = static_cast<int64_t>(inOrder.size());
      inOrder.push_back(op);
    });
  }

  LogicalResult run() {
    for (Operation *op : inOrder) {
      LogicalResult result = success();
      if (auto acquire = dyn_cast<AcquireOp>(op))
        result = checkAcquired(acquire);
      else if (auto wait = dyn_cast<WaitOp>(op))
        result = checkWaited(wait);
      if (failed(result))
        return failure();
    }
    return success();
  }

  /// Arrivals of the role in a use of each ring.
  llvm::MapVector<Value, int64_t> full, empty;

private:
  StringRef name() {
    return cast<StringAttr>(roles.getNames()[number]).getValue();
  }
  int64_t warps() { return roles.getWarps()[number]; }

  //===--- Every path -----------------------------------------------------===//

  /// The op of `block` in which `op` is, or which it is.
  static Operation *inBlock(Operation *op, Block *block) {
    return block->findAncestorOpInBlock(*op);
  }

  /// Is `stage` given on, on every path from the beginning of `block`? Where
  /// one thread alone is elected, what it does is done for all.
  bool isGivenIn(Value stage, Block *block) {
    SmallVector<Operation *> users;
    for (Operation *user : stage.getUsers())
      if (Operation *own = inBlock(user, block))
        users.push_back(own);
    for (Operation *op : users) {
      if (isa<CommitOp, ReleaseOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
        return true;
      if (isLoop(op) && llvm::is_contained(op->getOperands(), stage))
        return true;
      auto branch = dyn_cast<scf::IfOp>(op);
      if (!branch)
        continue;
      bool elected =
          branch.getCondition().getDefiningOp() &&
          branch.getCondition().getDefiningOp()->getName().getStringRef() ==
              "nvvm.elect.sync";
      bool first = isGivenIn(stage, branch.thenBlock());
      bool second = branch.elseBlock() && isGivenIn(stage, branch.elseBlock());
      if (first && (second || elected))
        return true;
    }
    return false;
  }

  /// Checks a stage and, where a loop carries it, what it becomes.
  LogicalResult checkGiven(Operation *op, Value stage, StringRef how,
                           llvm::SmallPtrSetImpl<void *> &seen) {
    if (!seen.insert(stage.getAsOpaquePointer()).second)
      return success();
    if (!isGivenIn(stage, stage.getParentBlock()))
      return note(violates(roles, "protocol 1")
                      << "role \"" << name() << "\" does not " << how
                      << " a stage on every path",
                  op->getLoc(), "the stage");
    for (OpOperand &use : stage.getUses()) {
      Operation *user = use.getOwner();
      if (isa<scf::YieldOp, YieldOp>(user)) {
        for (Value next :
             valuesOfYielded(user->getParentOp(), use.getOperandNumber()))
          if (failed(checkGiven(op, next, how, seen)))
            return failure();
      }
      // Until other copies are committed, too, a stage is not full.
      auto gives = [&](Operation *other) {
        auto commit = dyn_cast<CommitOp>(other);
        bool isLast = isa<ReleaseOp>(other) ||
                      (commit && commit.getKind() != CommitKind::Tma);
        return isLast && other != user &&
               other->getBlock() == user->getBlock() &&
               order[other] < order[user];
      };
      if (!isa<LoadOp, CommitOp>(user) && llvm::any_of(stage.getUsers(), gives))
        return note(violates(roles, "protocol 2")
                        << "role \"" << name()
                        << "\" uses a stage after it has been given on",
                    user->getLoc(), "the use");
    }
    return success();
  }

  //===--- Producers ------------------------------------------------------===//

  LogicalResult checkAcquired(AcquireOp acquire) {
    llvm::SmallPtrSet<void *, 4> seen;
    if (failed(checkGiven(acquire, acquire.getStage(), "commit", seen)))
      return failure();
    int64_t announced = 0, loaded = 0, arrivals = 0;
    for (Operation *user : acquire.getStage().getUsers()) {
      if (auto load = dyn_cast<LoadOp>(user))
        loaded += acquire.getStage()
                      .getType()
                      .getTiles()[load.getNumber()]
                      .getCopiedBytes();
      auto commit = dyn_cast<CommitOp>(user);
      if (!commit)
        continue;
      announced += commit.getBytes().value_or(0);
      arrivals += commit.getKind() == CommitKind::Tma ? 1 : 32 * warps();
    }
    if (announced != loaded)
      return note(violates(roles, "protocol 3")
                      << "role \"" << name() << "\" announces " << announced
                      << " bytes of a stage, and loads bring " << loaded,
                  acquire.getLoc(), "the stage");
    return count(full, acquire.getRing(), arrivals);
  }

  /// Each use of a ring has the same arrivals.
  LogicalResult count(llvm::MapVector<Value, int64_t> &arrivals, Value ring,
                      int64_t number) {
    auto [found, isNew] = arrivals.insert({ring, number});
    if (isNew || found->second == number)
      return success();
    return violates(roles, "protocol 4")
           << "role \"" << name() << "\" arrives " << found->second
           << " times for one use of a ring, and " << number
           << " times for another";
  }

  //===--- Consumers ------------------------------------------------------===//

  LogicalResult checkWaited(WaitOp wait) {
    llvm::SmallPtrSet<void *, 4> seen;
    if (failed(checkGiven(wait, wait.getStage(), "release", seen)) ||
        failed(count(empty, wait.getRing(), warps())))
      return failure();
    SmallVector<MmaOp> products;
    for (Operation *user : wait.getStage().getUsers())
      if (auto tile = dyn_cast<TileOp>(user))
        collectProducts(tile.getResult(), products);
    for (MmaOp product : products)
      if (failed(checkReleases(wait, product, wait.getStage(), {})))
        return failure();
    return success();
  }

  static void collectProducts(Value tile, SmallVectorImpl<MmaOp> &products) {
    for (Operation *user : tile.getUsers())
      if (auto product = dyn_cast<MmaOp>(user))
        products.push_back(product);
      else if (auto part = dyn_cast<SubtileOp>(user))
        collectProducts(part.getResult(), products);
  }

  /// Is each release of `stage`, which `product` reads, behind a wait for it?
  /// `before` are the ranges of ops, in order, that lie between the product and
  /// the loop's end where the stage is a carried one.
  LogicalResult checkReleases(WaitOp wait, MmaOp product, Value stage,
                              SmallVector<std::pair<int64_t, int64_t>> before) {
    if (before.size() > 2)
      return success(); // carried twice: too far to follow
    for (OpOperand &use : stage.getUses()) {
      Operation *user = use.getOwner();
      Operation *loop = user->getParentOp();
      if (auto release = dyn_cast<ReleaseOp>(user)) {
        int64_t from = before.empty() ? order[product] + 1 : start(stage);
        auto ranges = before;
        ranges.push_back({from, order[release]});
        if (!isAwaited(product, straight(release), ranges))
          return note(
              violates(roles, "protocol 5")
                  << "role \"" << name()
                  << "\" releases a stage while a product may read it; "
                     "a mma_wait is missing, or leaves too many pending",
              product.getLoc(), "the product");
      } else if (isa<scf::YieldOp, YieldOp>(user) && isLoop(loop)) {
        int64_t from = before.empty() ? order[product] + 1 : start(stage);
        auto ranges = before;
        ranges.push_back({from, order[user]});
        for (Value next : valuesOfYielded(loop, use.getOperandNumber()))
          if (failed(checkReleases(wait, product, next, ranges)))
            return failure();
      }
    }
    return success();
  }

  /// The first op that may use a carried stage.
  int64_t start(Value stage) {
    if (auto argument = dyn_cast<BlockArgument>(stage))
      return order[&argument.getOwner()->front()];
    Operation *after = stage.getDefiningOp()->getNextNode();
    return after ? order[after] : static_cast<int64_t>(inOrder.size());
  }

  /// The block of which an op is run whenever that is: turns are taken always.
  static Block *straight(Operation *op) {
    while (isa<InTurnOp>(op->getParentOp()))
      op = op->getParentOp();
    return op->getBlock();
  }

  /// Is there a wait in the ranges after which the product is done? Products
  /// in inner loops may not run at all, and are not counted.
  bool isAwaited(MmaOp product, Block *release,
                 ArrayRef<std::pair<int64_t, int64_t>> ranges) {
    int64_t later = 0;
    for (auto [from, to] : ranges)
      for (int64_t i = from; i < to; ++i) {
        Block *block = straight(inOrder[i]);
        if (block != straight(product) && block != release)
          continue;
        if (isa<MmaOp>(inOrder[i]))
          ++later;
        auto wait = dyn_cast<MmaWaitOp>(inOrder[i]);
        if (wait && static_cast<int64_t>(wait.getPending()) <= later)
          return true;
      }
    return false;
  }

  RolesOp roles;
  unsigned number;
  Region &body;
  SmallVector<Operation *> inOrder;
  llvm::DenseMap<Operation *, int64_t> order;
};

} // namespace

LogicalResult mlir::pit::pitgpu::verifyProtocol(RolesOp roles) {
  llvm::MapVector<Value, std::pair<int64_t, int64_t>> arrivals;
  for (unsigned i = 0; i < roles.getBodies().size(); ++i) {
    RoleCheck role(roles, i);
    if (failed(role.run()))
      return failure();
    for (auto [ring, count] : role.full)
      arrivals[ring].first += count;
    for (auto [ring, count] : role.empty)
      arrivals[ring].second += count;
  }
  for (auto [value, counts] : arrivals) {
    auto ring = value.getDefiningOp<RingOp>();
    if (!ring)
      continue;
    int64_t full = ring.getFull(), empty = ring.getEmpty();
    if (full != counts.first || empty != counts.second)
      return note(violates(roles, "protocol 4")
                      << "a ring is full after " << full << " and empty after "
                      << empty << " arrivals, and its roles arrive "
                      << counts.first << " and " << counts.second << " times",
                  ring.getLoc(), "the ring");
  }
  return success();
}
