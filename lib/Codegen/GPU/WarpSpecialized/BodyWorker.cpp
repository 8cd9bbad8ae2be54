//===- BodyWorker.cpp - Warps that compute a tile body --------------------===//
//
// A contraction is started as soon as its factors are there, and awaited when
// an op takes its result. So tensor cores multiply while others of the step are
// computed: an attention's gradients begin with two products of what is loaded.
//
// A contraction of what was computed can be late (BodyPlan::late): that
// of step s - 1 is started behind the first contraction of step s, and runs
// while what follows that one is computed, until its sums are needed. So tensor
// cores multiply powers of an attention while the next ones are computed (Shah
// et al., FlashAttention-3, 2024, section 3.2).
//
// Then warpgroups take turns, too: one starts its contractions of a step when
// the one before has started its own. So the tensor cores finish one's before
// the next one's, and it computes on while they have those (section 3.1).
//
// What steps add to memory runs a step late, too: that of step s - 1 is started
// in step s when its own first factor is there. So a warpgroup may be ahead of
// another one, which has its part of the factor, by nearly a step. Earlier
// there would be no registers for its sums.
//
// Steps whose comparisons of places all hold, which are most of them, have a
// loop of their own, without masks.
//
//===----------------------------------------------------------------------===//

#include "BodyPipeline.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

class BodyWorker {
public:
  BodyWorker(const RolesContext &roles, const BodyContext &body, Value number)
      : roles(roles), e(body.e), plan(roles.plan), body(body), number(number),
        tiles(body), late(plan.late),
        group(pitgpu::WarpgroupOp::create(e.b, e.loc, e.b.getI32Type())),
        products(e, plan, group,
                 [this](const StagedTile &staged) { return tileOf(staged); }) {}

  void run(Value tile, Value used) {
    this->used = used;
    tiles.locate(number);
    tiles.beginAt(e.mul(group, kWgmmaRows));
    MainloopEpilogue epilogue(e, body.mainloop, {plan.mDim, plan.nDim, 2},
                              plan.vectorAtomics, body.chunks);
    SmallVector<Value> initial = tiles.initial();
    fragments = initial.size();
    llvm::append_range(initial, tiles.readAhead(e.i32(0)));
    tiles.readInvariants();
    for (const StagedTile &staged : plan.staged)
      if (staged.isInvariant)
        wait(staged, tile);
    SmallVector<Value> carried =
        late         ? stepsWithLate(initial)
        : plan.added ? stepsThatAdd(initial)
                     : loop(e.i32(0), initial, [&](Value s, ValueRange values) {
                         return step(s, values);
                       });
    carried.resize(fragments);
    if (!late && !plan.added)
      releaseInvariants();
    tiles.finish(epilogue, number, carried);
    if (plan.added)
      pitgpu::AddWaitOp::create(e.b, e.loc);
  }

private:
  SmallVector<Value>
  loop(Value from, ArrayRef<Value> initial,
       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    scf::ForOp loop =
        e.loop(from, this->body.steps.total(), e.i32(1), initial, body);
    e.keepLoop(loop);
    return SmallVector<Value>(loop.getResults());
  }

  //===--- Stages ---------------------------------------------------------===//

  /// Waits for a tile, in use `number` of its ring.
  void wait(const StagedTile &staged, Value number) {
    stages[&staged] =
        pitgpu::WaitOp::create(e.b, e.loc, roles.ringOf(staged).ring, number);
  }
  void release(const StagedTile &staged) {
    pitgpu::ReleaseOp::create(e.b, e.loc, stages.at(&staged));
  }
  void releaseInvariants() {
    for (const StagedTile &staged : plan.staged)
      if (staged.isInvariant)
        release(staged);
  }
  Value tileOf(const StagedTile &staged) {
    return pitgpu::TileOp::create(e.b, e.loc, stages.at(&staged), /*number=*/0);
  }

  static bool reads(ContractOp op, const StagedTile &tile) {
    return op.getLhs() == tile.tile || op.getRhs() == tile.tile;
  }
  /// Waits for the tiles of step `s` that a contraction is the first to read.
  void waitForTiles(Value s, ContractOp op) {
    for (const StagedTile &tile : plan.staged)
      if (!tile.isInvariant && reads(op, tile) && !readers.contains(&tile)) {
        wait(tile, e.add(used, s));
        readers[&tile] =
            llvm::count_if(op->getBlock()->getOps<ContractOp>(),
                           [&](ContractOp each) { return reads(each, tile); });
      }
  }
  /// Releases the tiles that nothing reads any more.
  void releaseTiles(ContractOp done) {
    for (const StagedTile &tile : plan.staged)
      if (!tile.isInvariant && reads(done, tile) && --readers[&tile] == 0) {
        release(tile);
        readers.erase(&tile);
      }
  }

  //===--- Contractions ---------------------------------------------------===//

  bool isRunning(ContractOp op) const {
    return llvm::any_of(
        running, [&](const Running &started) { return started.op == op; });
  }

  /// Waits for a contraction that runs, and for those that were started before
  /// it.
  void await(ContractOp op) {
    auto *end =
        llvm::find_if(
            running, [&](const Running &started) { return started.op == op; }) +
        1;
    SmallVector<Running> done(running.begin(), end);
    running.erase(running.begin(), end);
    auto later = static_cast<int64_t>(running.size() + done.size());
    for (Running &each : done) {
      if (each.op == plan.added) {
        finishAdded(each.sums, --later);
        continue;
      }
      bool isLate = each.op == late;
      Value before = tiles.of(isLate ? Value(plan.lateSums) : each.op.getAcc());
      tiles.set(isLate ? Value(plan.lateSums) : each.op.getResult(),
                products.await(each.op, each.sums, --later, before));
      releaseTiles(each.op);
      if (isLate)
        pending = Value();
    }
  }

  /// Waits for what an op takes.
  void awaitOperands(Operation *op) {
    for (Value operand : op->getOperands())
      if (auto before = operand.getDefiningOp<ContractOp>();
          before && isRunning(before))
        await(before);
  }

  /// Starts a contraction of step `s`, and with the first one the late one of
  /// the step before.
  void multiply(Value s, ContractOp op) {
    Value lhs;
    if (!isa<BlockArgument>(op.getLhs()))
      lhs = products.factor(op.getLhs(), tiles.of(op.getLhs()));
    waitForTiles(s, op);
    bool startsLate = pending && !isRunning(late);
    if (startsLate)
      waitForTiles(pending, late);
    bool handsOver =
        late && op == *op->getBlock()->getOps<ContractOp>().begin();
    SmallVector<Value> started;
    auto startAll = [&] {
      started.push_back(products.start(op, tiles.of(op.getAcc()), lhs));
      if (startsLate)
        started.push_back(
            products.start(late, tiles.of(plan.lateSums), factor));
    };
    if (handsOver)
      handOver(op, startsLate, started, startAll);
    else
      startAll();
    running.push_back({op, started[0]});
    if (startsLate)
      running.push_back({late, started[1]});
  }

  //===--- What steps add -------------------------------------------------===//

  /// Out of the loop, places that depend on the warpgroup would take up the
  /// registers that sums need.
  void hideGroup() {
    if (plan.added)
      products.setWarpgroup(e.hideFromOptimizer(group));
  }

  /// Gives all warps this one's rows of the first factor of what step `s` adds.
  void shareFactor(Value s) {
    Value lhs = ContractOp(plan.added).getLhs();
    Value stage =
        pitgpu::AcquireOp::create(e.b, e.loc, roles.addedRing, e.add(used, s));
    Value tile = pitgpu::TileOp::create(e.b, e.loc, stage, /*number=*/0);
    pitgpu::LocalStoreOp::create(e.b, e.loc,
                                 products.factor(lhs, tiles.of(lhs)),
                                 products.ownFactor(tile));
    pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Writes);
  }

  /// Starts the contraction of step `addedStep`.
  void startAdded() {
    addedStage = pitgpu::WaitOp::create(e.b, e.loc, roles.addedRing,
                                        e.add(used, addedStep));
    Value tile = pitgpu::TileOp::create(e.b, e.loc, addedStage, /*number=*/0);
    running.push_back({plan.added, products.startAdded(tile)});
  }

  void finishAdded(Value started, int64_t later) {
    Value sums = products.await(plan.added, started, later, /*before=*/Value());
    pitgpu::ReleaseOp::create(e.b, e.loc, addedStage);
    // Each warp has TMA add its own rows, which it writes again when they have
    // been read.
    pitgpu::TileType type = BodyProducts::typeOfSums(plan);
    Value group = products.warpgroup();
    // Out of the loop, each pair's place would take up a register.
    Value place = e.hideFromOptimizer(
        e.add(roles.addedSums, e.mul(group, 4 * kWgmmaRows * kAddedColumns)));
    Value tile = pitgpu::TileAtOp::create(e.b, e.loc, type, place);
    pitgpu::AddWaitOp::create(e.b, e.loc);
    pitgpu::LocalStoreOp::create(e.b, e.loc, sums, tile);
    SmallVector<Value> coords(addedPlace);
    coords.back() = e.add(coords.back(), e.mul(group, kAddedColumns));
    for (Value &coord : coords)
      coord = e.toIndex(coord);
    pitgpu::AddRowsOp::create(e.b, e.loc, tile, roles.addedMap, coords);
    addedStep = Value();
  }

  /// The loop carries the place of what the step before adds, too.
  SmallVector<Value> stepsThatAdd(ArrayRef<Value> initial) {
    Value total = body.steps.total(), one = e.i32(1);
    size_t places = storeOf(plan.added).getSubscripts().size();
    auto stepThatAdds = [&](Value s, ValueRange values) {
      SmallVector<Value> next = step(s, values);
      // In 32 bits, as TMA takes them: they take up registers.
      for (Value place : tiles.numbersOf(storeOf(plan.added).getSubscripts()))
        next.push_back(e.toI32(place));
      return next;
    };
    auto takePlace = [&](Value s, ValueRange values) {
      addedStep = s;
      addedPlace = llvm::to_vector(values.take_back(places));
      return values.drop_back(places);
    };
    auto run = [&] {
      SmallVector<Value> carried = stepThatAdds(e.i32(0), initial);
      carried = loop(one, carried, [&](Value s, ValueRange values) {
        return stepThatAdds(s, takePlace(e.sub(s, one), values));
      });
      takePlace(e.sub(total, one), carried);
      hideGroup();
      startAdded();
      await(plan.added);
      releaseInvariants();
      carried.resize(fragments);
      return carried;
    };
    return e.choose(e.lessThan(e.i32(0), total), run, [&] {
      releaseInvariants();
      return SmallVector<Value>(initial.take_front(fragments));
    });
  }

  /// Runs `body` when it is this warpgroup's turn.
  void handOver(ContractOp op, bool startsLate, SmallVectorImpl<Value> &started,
                function_ref<void()> body) {
    SmallVector<Type> types = {BodyProducts::sumsOf(op)};
    if (startsLate)
      types.push_back(BodyProducts::sumsOf(late));
    auto turn = pitgpu::HandOverOp::create(e.b, e.loc, types);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.createBlock(&turn.getBody());
    body();
    pitgpu::YieldOp::create(e.b, e.loc, started);
    started.assign(turn.result_begin(), turn.result_end());
  }

  //===--- Steps ----------------------------------------------------------===//

  /// Is a tile there, or does a contraction that runs, or an op that is left,
  /// give it?
  bool isThere(Value tile, ArrayRef<Operation *> left) const {
    Operation *op = tile.getDefiningOp();
    auto contract = dyn_cast_or_null<ContractOp>(op);
    return !op || (!llvm::is_contained(left, op) &&
                   !(contract && isRunning(contract)));
  }

  /// Takes the next of the ops that are left. It is the first one in the
  /// program's order if a contraction is late. Else it is a contraction that
  /// can start, or what can be computed while others run.
  Operation *takeNext(SmallVectorImpl<Operation *> &left) const {
    auto canRun = [&](Operation *op) {
      return llvm::all_of(op->getOperands(),
                          [&](Value tile) { return isThere(tile, left); });
    };
    auto *next = left.begin();
    if (!late) {
      // Others wait for what is shared.
      auto *found = llvm::find_if(left, [&](Operation *op) {
        return plan.added && op == plan.added && canRun(op);
      });
      if (found == left.end())
        found = llvm::find_if(left, [&](Operation *op) {
          return isa<ContractOp>(op) && canRun(op);
        });
      if (found == left.end())
        found = llvm::find_if(left, canRun);
      if (found != left.end())
        next = found;
    }
    Operation *op = *next;
    left.erase(next);
    return op;
  }

  /// A step; what is carried to the next one. If no contraction is late, a
  /// step whose comparisons of places all hold is one of its own.
  SmallVector<Value> step(Value s, ValueRange carried) {
    tiles.enter(s, carried.take_front(fragments),
                carried.drop_front(fragments));
    Value holds = late ? Value() : tiles.allHold();
    if (!holds)
      return computeStep(s);
    Value addedBefore = addedStep;
    auto assume = [&](bool known) {
      addedStep = addedBefore;
      tiles.assumeHolds(known);
      SmallVector<Value> next = computeStep(s);
      tiles.assumeHolds(std::nullopt);
      return next;
    };
    return e.choose(
        holds, [&] { return assume(true); }, [&] { return assume(false); });
  }

  /// Computes a step that was entered.
  SmallVector<Value> computeStep(Value s) {
    hideGroup();
    Value lateFactor;
    Operation *packed = late ? late.getLhs().getDefiningOp() : nullptr;
    SmallVector<Operation *> left;
    for (Operation &op :
         body.mainloop.getCompute().front().without_terminator()) {
      auto pointwise = dyn_cast<PointwiseOp>(op);
      if (!isa<StoreOp>(op) && !(pointwise && isOfStore(pointwise)))
        left.push_back(&op);
    }
    while (!left.empty()) {
      Operation *op = takeNext(left);
      // The factor is computed where the registers of the step before's are
      // free.
      if (op == packed && packed->hasOneUse())
        continue;
      awaitOperands(op);
      if (op == late) // its sums may be those of another one
        awaitOperands(packed);
      if (pending &&
          (op == packed || op == late ||
           llvm::is_contained(op->getOperands(), Value(plan.lateSums))))
        finishPending();
      auto contract = dyn_cast<ContractOp>(op);
      if (contract && contract == plan.added) {
        shareFactor(s);
        if (addedStep)
          startAdded();
      } else if (!contract) {
        tiles.compute(mlir::cast<PointwiseOp>(op));
      } else if (contract == late) {
        if (packed->hasOneUse())
          tiles.compute(mlir::cast<PointwiseOp>(packed));
        lateFactor = products.factor(late.getLhs(), tiles.of(late.getLhs()));
        // The next step goes on from here.
        tiles.set(late.getResult(), tiles.of(late.getAcc()));
      } else {
        multiply(s, contract);
      }
    }
    // Loads of the next step are on their way while products run.
    SmallVector<Value> ahead = tiles.readAhead(e.add(s, 1));
    if (!running.empty())
      await(running.back().op);
    SmallVector<Value> next = tiles.next();
    llvm::append_range(next, ahead);
    if (lateFactor)
      next.push_back(lateFactor);
    return next;
  }

  /// The loop carries the late contraction's first factor, too; its sums are
  /// those before it.
  SmallVector<Value> stepsWithLate(ArrayRef<Value> initial) {
    Value total = body.steps.total();
    auto run = [&] {
      SmallVector<Value> carried = step(e.i32(0), initial);
      Value holds = tiles.holdsAt(e.i32(1));
      carried = holds
                    ? loopsByHolds(holds, carried)
                    : loop(e.i32(1), carried, [&](Value s, ValueRange values) {
                        return stepBehind(s, values);
                      });
      // The late contraction reads nothing of that, and takes its time.
      releaseInvariants();
      pending = e.sub(total, e.i32(1));
      factor = carried.pop_back_val();
      tiles.takeCarried(carried);
      finishPending();
      return tiles.carried();
    };
    return e.choose(e.lessThan(e.i32(0), total), run, [&] {
      releaseInvariants();
      return SmallVector<Value>(initial.take_front(fragments));
    });
  }

  /// A step behind the first one.
  SmallVector<Value> stepBehind(Value s, ValueRange values) {
    pending = e.sub(s, e.i32(1));
    factor = values.back();
    return step(s, values.drop_back());
  }

  /// The steps from the second one on. `holds`: of that one, whether all
  /// comparisons of places hold, which each step says of the next one. A loop
  /// goes through those of which it is so, another one through that and the
  /// step behind it.
  SmallVector<Value> loopsByHolds(Value holds, ArrayRef<Value> initial) {
    Value total = body.steps.total();
    auto stepThatHolds = [&](ValueRange state, bool known) {
      Value s = state[0], next = e.add(s, 1);
      // Ids of the next step are on their way while this one is computed.
      Value holdsNext = tiles.holdsAt(next);
      tiles.assumeHolds(known);
      SmallVector<Value> values = {next, holdsNext};
      llvm::append_range(values, stepBehind(s, state.drop_front(2)));
      tiles.assumeHolds(std::nullopt);
      return values;
    };
    auto isLeft = [&](ValueRange state) { return e.lessThan(state[0], total); };
    SmallVector<Value> state = {e.i32(1), holds};
    llvm::append_range(state, initial);
    state = e.loopWhile(state, isLeft, [&](ValueRange outer) {
      SmallVector<Value> values = e.loopWhile(
          outer,
          [&](ValueRange inner) {
            return e.logicalAnd(isLeft(inner), inner[1]);
          },
          [&](ValueRange inner) { return stepThatHolds(inner, true); });
      return e.choose(
          isLeft(values), [&] { return stepThatHolds(values, false); },
          [&] { return values; });
    });
    return SmallVector<Value>(ArrayRef(state).drop_front(2));
  }

  /// Waits for the late contraction of the step before, which may have to be
  /// started.
  void finishPending() {
    if (!isRunning(late)) {
      waitForTiles(pending, late);
      running.push_back(
          {late, products.start(late, tiles.of(plan.lateSums), factor)});
    }
    await(late);
  }

  const RolesContext &roles;
  Emitter &e;
  const BodyPlan &plan;
  BodyContext body;
  Value number; ///< of the thread among the workers (i32)
  BodyTiles tiles;
  ContractOp late;
  Value group; ///< of the thread's warp (i32)
  BodyProducts products;
  size_t fragments = 0; ///< that steps carry
  Value used;           ///< steps of the block's tiles before (i32)
  DenseMap<const StagedTile *, Value> stages; ///< that the role has
  Value pending;   ///< the step whose late contraction is not done
  Value factor;    ///< of that one
  Value addedStep; ///< the step whose part is not added yet; null: none is left
  Value addedStage;              ///< that has its first factor
  SmallVector<Value> addedPlace; ///< where it is added
  /// A contraction that was started, and its accumulators.
  struct Running {
    ContractOp op;
    Value sums;
  };
  SmallVector<Running> running; ///< in the order in which they were started
  /// Contractions that have yet to read a tile that the role has.
  DenseMap<const StagedTile *, int64_t> readers;
};

} // namespace

void cuda::computeBody(const RolesContext &roles, const BodyContext &body,
                       const RoleTile &place) {
  BodyWorker(roles, body, place.number).run(place.tile, place.used);
}
