//===- PitGPUProtocol.cpp - Are stages used as the protocol says? ---------===//
//
// The check follows loops and branches of scf and pit_gpu.tiles. A
// stage that comes from anywhere else, such as the value with which a loop
// begins to carry one, is taken as it is.
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

#include <set>

using namespace mlir;
using namespace mlir::pit::pitgpu;

LogicalResult mlir::pit::pitgpu::note(InFlightDiagnostic error, Location loc,
                                      StringRef what) {
  error.attachNote(loc) << what;
  return error;
}

/// The loops that carry stages.
static bool isLoop(Operation *op) { return isa<scf::ForOp, TilesOp>(op); }

/// The values that a loop or a branch makes of what its region yields as
/// operand `number`: in the next iteration, and after it.
static SmallVector<Value> valuesOfYielded(Operation *op, unsigned number) {
  if (number >= op->getNumResults())
    return {}; // the op's own verifier says so
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getRegionIterArg(number), loop.getResult(number)};
  if (auto tiles = dyn_cast<TilesOp>(op))
    return {tiles.getBody().getArgument(2 + number), tiles.getResult(number)};
  return {op->getResult(number)};
}

void mlir::pit::pitgpu::collectStages(Value stage,
                                      llvm::SetVector<Value> &stages) {
  if (!stages.insert(stage))
    return;
  for (OpOperand &use : stage.getUses()) {
    Operation *carrier = use.getOwner()->getParentOp();
    if (isa<scf::YieldOp, YieldOp>(use.getOwner()) &&
        isa<scf::ForOp, TilesOp, scf::IfOp, HandOverOp>(carrier))
      for (Value next : valuesOfYielded(carrier, use.getOperandNumber()))
        collectStages(next, stages);
  }
}

namespace {

/// The stages of those that run a region: a role, or all threads of the block.
class RoleCheck {
public:
  /// `owner` says the rules, and `who` runs the region.
  RoleCheck(Operation *owner, Region &body, std::string who, int64_t warps)
      : owner(owner), who(std::move(who)), warps(warps) {
    body.walk<WalkOrder::PreOrder>([&](Operation *op) {
      order[op] = static_cast<int64_t>(inOrder.size());
      inOrder.push_back(op);
    });
  }

  /// Checks the stages of all rings, or of one.
  LogicalResult run(Value ring = {}) {
    for (Operation *op : inOrder) {
      LogicalResult result = success();
      if (ring && isa<AcquireOp, WaitOp>(op) && op->getOperand(0) != ring)
        continue;
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
  //===--- Every path -----------------------------------------------------===//

  /// The copies into a stage on one path, and how often it is given on.
  struct Path {
    int64_t announced = 0; ///< bytes, by commits
    int64_t loaded = 0;    ///< bytes, by loads
    int64_t arrivals = 0;  ///< of commits
    int64_t given = 0;     ///< releases, or commits that end the use
    bool isCounted = true; ///< else loads are in loops, or bytes not known
    int64_t blocks = 1;    ///< that multicasts load for, or releases speak to

    bool operator<(const Path &other) const {
      auto key = [](const Path &path) {
        return std::tie(path.announced, path.loaded, path.arrivals, path.given,
                        path.isCounted, path.blocks);
      };
      return key(*this) < key(other);
    }
  };
  using Paths = std::set<Path>;

  /// Each of `before`, followed by each of `after`.
  static Paths join(const Paths &before, const Paths &after) {
    Paths joined;
    for (Path path : before)
      for (const Path &next : after) {
        Path sum = path;
        sum.announced += next.announced;
        sum.loaded += next.loaded;
        sum.arrivals += next.arrivals;
        sum.given += next.given;
        sum.isCounted &= next.isCounted;
        sum.blocks = std::max(sum.blocks, next.blocks);
        joined.insert(sum);
      }
    return joined;
  }

  /// The paths of a stage: what its own uses do, and then those that it becomes
  /// where a loop, a branch or a turn carries it on. A stage that is carried
  /// round again begins no new path: `open` are those that are followed.
  Paths followStage(Value stage, llvm::SmallPtrSetImpl<void *> &open) {
    if (!open.insert(stage.getAsOpaquePointer()).second)
      return {};
    Paths paths = followUses(stage, stage.getParentBlock(), open);
    open.erase(stage.getAsOpaquePointer());
    return paths;
  }

  Paths followUses(Value stage, Block *block,
                   llvm::SmallPtrSetImpl<void *> &open) {
    llvm::MapVector<Operation *, SmallVector<OpOperand *>> uses;
    for (OpOperand &use : stage.getUses())
      if (Operation *own = block->findAncestorOpInBlock(*use.getOwner()))
        uses[own].push_back(&use);
    Paths paths = {Path()};
    for (auto &[op, operands] : uses) {
      bool isOwn = operands.front()->getOwner() == op;
      if (auto branch = dyn_cast<scf::IfOp>(op); branch && !isOwn) {
        Paths branches = followUses(stage, branch.thenBlock(), open);
        branches.merge(branch.elseBlock()
                           ? followUses(stage, branch.elseBlock(), open)
                           : Paths{Path()});
        paths = join(paths, branches);
      } else if (auto leader = dyn_cast<LeaderOp>(op); leader && !isOwn) {
        paths = join(paths, followUses(stage, &leader.getBody().front(), open));
      } else if (auto turn = dyn_cast<HandOverOp>(op); turn && !isOwn) {
        paths = join(paths, followUses(stage, &turn.getBody().front(), open));
      } else if (!isOwn) {
        // A loop: how often its copies are made is not known.
        Path inner;
        inner.isCounted = llvm::none_of(operands, [](OpOperand *use) {
          return isa<LoadOp, CommitOp>(use->getOwner());
        });
        paths = join(paths, {inner});
      } else {
        for (OpOperand *use : operands)
          paths = join(paths, followUse(*use, open));
      }
      if (paths.size() > 64) // more than anybody writes
        paths.erase(std::next(paths.begin(), 64), paths.end());
    }
    return paths;
  }

  Paths followUse(OpOperand &use, llvm::SmallPtrSetImpl<void *> &open) {
    Path path;
    Operation *op = use.getOwner(), *parent = op->getParentOp();
    auto leader = op->getParentOfType<LeaderOp>();
    int64_t speakers = leader ? (leader.getOfWarps() ? warps : 1) : 32 * warps;
    if (auto load = dyn_cast<LoadOp>(op)) {
      StageType stage = load.getStage().getType();
      path.loaded = stage.getTile(load.getNumber()).getCopiedBytes();
      path.blocks = static_cast<int64_t>(load.getMulticast());
    } else if (auto commit = dyn_cast<CommitOp>(op)) {
      bool isOne = commit.getKind() == CommitKind::Products;
      bool isTma = commit.getKind() == CommitKind::Tma;
      path.announced = commit.getBytes().value_or(0);
      path.isCounted = !commit.getAnnounced();
      path.arrivals = isOne || (isTma && !leader) ? 1 : speakers;
      path.given = 1;
    } else if (auto release = dyn_cast<ReleaseOp>(op)) {
      bool isOne = release.getAfterProducts();
      path.given = isOne || !leader; // one lane of each warp, not any
      path.blocks = static_cast<int64_t>(release.getCluster());
      int64_t speakers = release.getByWarpgroups() ? warps / 4 : warps;
      path.arrivals = isOne ? 1 : speakers * path.blocks;
    } else if (isa<scf::YieldOp, YieldOp>(op) || isLoop(op)) {
      bool isInit = isLoop(op);
      Operation *carrier = isInit ? op : parent;
      int64_t number = use.getOperandNumber();
      if (isInit)
        number -= isa<scf::ForOp>(op) ? 3 : 2;
      if (number >= 0 &&
          isa<scf::ForOp, TilesOp, scf::IfOp, HandOverOp>(carrier)) {
        Paths next;
        for (Value value : valuesOfYielded(carrier, number))
          next.merge(followStage(value, open));
        return next;
      }
    }
    return {path};
  }

  /// Checks a stage and, where a loop carries it, what it becomes. Gives its
  /// paths.
  FailureOr<Paths> checkGiven(Operation *op, Value stage, StringRef how) {
    llvm::SmallPtrSet<void *, 4> open;
    Paths paths = followStage(stage, open);
    bool releases = isa<WaitOp>(op);
    for (const Path &path : paths) {
      if (path.given == 0)
        return note(violates(owner, "protocol 1") << who << " does not " << how
                                                  << " a stage on every path",
                    op->getLoc(), "the stage");
      if (releases && path.given > 1)
        return note(violates(owner, "protocol 2")
                        << who << " releases a stage " << path.given
                        << " times on one path",
                    op->getLoc(), "the stage");
    }
    llvm::SmallPtrSet<void *, 4> seen;
    if (failed(checkLater(stage, seen)))
      return failure();
    return paths;
  }

  /// Does nothing use a stage, in the block in which it is given on, after
  /// that?
  LogicalResult checkLater(Value stage, llvm::SmallPtrSetImpl<void *> &seen) {
    if (!seen.insert(stage.getAsOpaquePointer()).second)
      return success();
    for (OpOperand &use : stage.getUses()) {
      Operation *user = use.getOwner();
      if (isa<scf::YieldOp, YieldOp>(user) &&
          isa<scf::ForOp, TilesOp, scf::IfOp, HandOverOp>(user->getParentOp()))
        for (Value next :
             valuesOfYielded(user->getParentOp(), use.getOperandNumber()))
          if (failed(checkLater(next, seen)))
            return failure();
      // Until other copies are committed, too, a stage is not full.
      auto gives = [&](Operation *other) {
        auto commit = dyn_cast<CommitOp>(other);
        // A commit after a later one's copies: the stage is carried on to it.
        bool isLast =
            isa<ReleaseOp>(other) ||
            (commit && commit.getKind() != CommitKind::Tma &&
             !isa<scf::YieldOp, YieldOp>(user) && !commitsLater(stage, user));
        Operation *later =
            isLast ? other->getBlock()->findAncestorOpInBlock(*user) : nullptr;
        return later && later != other && order[other] < order[later];
      };
      if (!isa<LoadOp, CommitOp>(user) && llvm::any_of(stage.getUsers(), gives))
        return note(violates(owner, "protocol 2")
                        << who << " uses a stage after it has been given on",
                    user->getLoc(), "the use");
    }
    return success();
  }

  /// Is the stage committed once more after an op?
  bool commitsLater(Value stage, Operation *op) {
    return llvm::any_of(stage.getUsers(), [&](Operation *other) {
      return isa<CommitOp>(other) && order[op] < order[other];
    });
  }

  /// Are the blocks of a path the ring's cluster?
  LogicalResult checkBlocks(Operation *op, RingOp ring, int64_t blocks) {
    int64_t cluster = ring ? static_cast<int64_t>(ring.getCluster()) : blocks;
    if (blocks == cluster)
      return success();
    return note(violates(owner, "protocol 6")
                    << who << " "
                    << (isa<WaitOp>(op) ? "speaks to " : "loads for ") << blocks
                    << " blocks, and the ring's cluster has " << cluster,
                op->getLoc(), "the stage");
  }

  //===--- Producers ------------------------------------------------------===//

  LogicalResult checkAcquired(AcquireOp acquire) {
    FailureOr<Paths> paths = checkGiven(acquire, acquire.getStage(), "commit");
    if (failed(paths))
      return failure();
    for (const Path &path : *paths) {
      if (path.isCounted && path.announced != path.loaded)
        return note(violates(owner, "protocol 3")
                        << who << " announces " << path.announced
                        << " bytes of a stage, and loads bring " << path.loaded,
                    acquire.getLoc(), "the stage");
      auto ring = acquire.getRing().getDefiningOp<RingOp>();
      if (path.blocks > 1 && failed(checkBlocks(acquire, ring, path.blocks)))
        return failure();
      if (failed(count(full, acquire.getRing(), path.arrivals)))
        return failure();
    }
    return checkSums(acquire.getStage(), /*isFilled=*/true);
  }

  /// Each use of a ring has the same arrivals.
  LogicalResult count(llvm::MapVector<Value, int64_t> &arrivals, Value ring,
                      int64_t number) {
    auto [found, isNew] = arrivals.insert({ring, number});
    if (isNew || found->second == number)
      return success();
    return violates(owner, "protocol 4") << who << " arrives " << found->second
                                         << " times for one use of a ring, and "
                                         << number << " times for another";
  }

  //===--- Consumers ------------------------------------------------------===//

  LogicalResult checkWaited(WaitOp wait) {
    auto ring = wait.getRing().getDefiningOp<RingOp>();
    if (ring && ring.getEmpty() == 0 && wait.getStage().use_empty())
      return success();
    FailureOr<Paths> paths = checkGiven(wait, wait.getStage(), "release");
    if (failed(paths))
      return failure();
    for (const Path &path : *paths)
      if (failed(checkBlocks(wait, ring, path.blocks)) ||
          failed(count(empty, wait.getRing(), path.arrivals)))
        return failure();
    if (wait.getRing().getType().isInTensorMemory())
      return checkSums(wait.getStage(), /*isFilled=*/false);
    llvm::SetVector<Value> stages;
    collectStages(wait.getStage(), stages);
    for (Value stage : stages) {
      SmallVector<MmaOp> products;
      for (Operation *user : stage.getUsers())
        if (auto tile = dyn_cast<TileOp>(user))
          collectProducts(tile.getResult(), products);
      for (MmaOp product : products)
        if (failed(checkReleases(wait, product, stage, {})))
          return failure();
    }
    return success();
  }

  //===--- Sums in tensor memory ------------------------------------------===//

  /// The products that are added to sums, and the reads of them.
  static void collectUses(Value sums, llvm::SetVector<Operation *> &uses) {
    for (OpOperand &use : sums.getUses()) {
      Operation *user = use.getOwner();
      if (isa<MmaOp, ReadOp>(user) && uses.insert(user) && isa<MmaOp>(user))
        collectUses(user->getResult(0), uses);
      else if (isa<scf::YieldOp>(user))
        for (Value next :
             valuesOfYielded(user->getParentOp(), use.getOperandNumber()))
          collectUses(next, uses);
    }
  }

  /// Are sums of a stage used by the right ops, and before it is given on?
  LogicalResult checkSums(Value taken, bool isFilled) {
    llvm::SetVector<Value> stages;
    collectStages(taken, stages);
    for (Value stage : stages) {
      if (!cast<StageType>(stage.getType()).isInTensorMemory())
        return success();
      llvm::SetVector<Operation *> uses;
      for (Operation *user : stage.getUsers())
        if (auto tile = dyn_cast<TileOp>(user))
          collectUses(tile.getResult(), uses);
      for (Operation *use : uses) {
        if (isa<MmaOp>(use) != isFilled)
          return note(violates(owner, "protocol 7")
                          << who << " "
                          << (isFilled ? "reads sums of a stage that it fills"
                                       : "adds products to sums that it reads"),
                      use->getLoc(), "the use");
        for (Operation *user : stage.getUsers()) {
          Operation *later = isa<CommitOp, ReleaseOp>(user)
                                 ? user->getBlock()->findAncestorOpInBlock(*use)
                                 : nullptr;
          if (later && order[user] < order[later])
            return note(violates(owner, "protocol 2")
                            << who
                            << " uses sums of a stage after it has been "
                               "given on",
                        use->getLoc(), "the use");
        }
      }
    }
    return success();
  }

  /// Are two ops in two branches, of which one is run?
  static bool areExclusive(Operation *op, Operation *other) {
    for (Region *region = op->getParentRegion(); region;
         region = region->getParentRegion()) {
      Operation *parent = region->getParentOp();
      if (isa_and_nonnull<scf::IfOp>(parent) && parent->isAncestor(other) &&
          !region->isAncestor(other->getParentRegion()))
        return true;
    }
    return false;
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
        if (before.empty() && areExclusive(product, release))
          continue;
        if (product.getAcc().getType().getInTensorMemory()) {
          bool isBehind = !before.empty() || order[product] < order[release];
          if (release.getAfterProducts() && isBehind)
            continue;
          return note(violates(owner, "protocol 5")
                          << who
                          << " releases a stage while a product into tensor "
                             "memory may read it; release after products, "
                             "behind it, is right",
                      product.getLoc(), "the product");
        }
        if (release.getAfterProducts())
          return note(violates(owner, "protocol 5")
                          << who
                          << " releases a stage after products into tensor "
                             "memory, and wgmma reads it; a mma_wait and "
                             "release alone are right",
                      product.getLoc(), "the product");
        int64_t from = before.empty() ? order[product] + 1 : start(stage);
        auto ranges = before;
        ranges.push_back({from, order[release]});
        if (!isAwaited(product, straight(release), ranges))
          return note(
              violates(owner, "protocol 5")
                  << who
                  << " releases a stage while a product may read it; "
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
    while (isa<HandOverOp>(op->getParentOp()))
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

  Operation *owner;
  std::string who;
  int64_t warps;
  SmallVector<Operation *> inOrder;
  llvm::DenseMap<Operation *, int64_t> order;
};

} // namespace

LogicalResult mlir::pit::pitgpu::verifyProtocol(RolesOp roles) {
  llvm::MapVector<Value, std::pair<int64_t, int64_t>> arrivals;
  for (unsigned i = 0; i < roles.getBodies().size(); ++i) {
    StringRef name = cast<StringAttr>(roles.getNames()[i]).getValue();
    RoleCheck role(roles, roles.getBodies()[i], ("role \"" + name + "\"").str(),
                   roles.getWarps()[i]);
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

LogicalResult mlir::pit::pitgpu::verifyProtocol(BlockRingOp ring) {
  // The ring comes before the ops that use it, which are not verified yet.
  Region &body = *ring->getParentRegion();
  WalkResult walked = body.walk([](Operation *op) {
    bool isUse = isa_and_nonnull<PitGPUDialect>(op->getDialect()) &&
                 op->getNumRegions() == 0 && !isa<BlockRingOp>(op);
    return WalkResult(isUse ? verify(op, /*verifyRecursively=*/false)
                            : success());
  });
  if (walked.wasInterrupted())
    return failure();
  RoleCheck block(ring, body, "the block", /*warps=*/0);
  if (failed(block.run(ring.getResult())))
    return failure();
  return verifyOrder(ring);
}
