//===- AmpereBodyRoles.cpp - A tile body by warps of two roles ------------===//
//
// Four warps of the block load tiles of the steps into stages in shared memory.
// The others, the workers, compute. Each tile of a stage has two barriers: one
// that it is there, and one that nobody needs it any longer.
//
//   producers                       workers
//     load what is loaded once        for each step s:
//     for each step s:                  enter s
//       for each tile of s:             for each op:
//         wait until its place            wait until its tiles are there
//           is empty                      compute
//         start its copies                give their places back
//         arrive when they are done   store
//
// A contraction of what was computed can be late (AmpereBodyPlan::late): that
// of step s - 1 is started behind the first contraction of step s, and runs
// while what follows that one is computed, until its sums are needed. So tensor
// cores multiply powers of an attention while the next ones are computed (Shah
// et al., FlashAttention-3, 2024, section 3.2).
//
// Then warpgroups take turns, too: one starts its contractions of a step when
// the one before has started its own. So the tensor cores finish one's before
// the next one's, and it computes on while they have those (section 3.1).
//
//===----------------------------------------------------------------------===//

#include "AmpereBody.h"

#include "Codegen/GPU/Common/Wgmma.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

/// The barriers of the stages' tiles.
class BodyBarriers {
public:
  BodyBarriers(const BodyContext &body, Value shared)
      : e(body.e), plan(body.plan), first(e.add(shared, plan.barrierOffset())) {
  }

  void init() {
    // Threads arrive twice: with what they copied, and with what they wrote.
    int64_t loads = 2 * plan.loaders();
    for (int64_t i = 0; i < plan.barriers(); ++i)
      initMBarrier(e, at(i),
                   i < fullOnes() || i + 1 == plan.barriers() ? loads
                                                              : plan.workers());
    NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
  }
  void invalidate() {
    for (int64_t i = 0; i < plan.barriers(); ++i)
      invalidateMBarrier(e, at(i));
  }

  void waitFull(const StagedTile &tile, Value s) {
    waitMBarrier(e, of(tile, s, 0), round(s));
    fenceAsyncProxy(e);
  }
  void waitEmpty(const StagedTile &tile, Value s) {
    // In the first round all are.
    waitMBarrier(e, of(tile, s, fullOnes()), e.bitXor(round(s), e.i32(1)));
  }
  void waitOnce() {
    waitMBarrier(e, at(plan.barriers() - 1), e.i32(0));
    fenceAsyncProxy(e);
  }
  void arriveFull(const StagedTile &tile, Value s) { arrive(of(tile, s, 0)); }
  void arriveOnce() { arrive(at(plan.barriers() - 1)); }
  /// A thread of each warp speaks for it.
  void arriveEmpty(const StagedTile &tile, Value s, Value isLeader) {
    e.ifThen(isLeader, [&] { arriveAtMBarrier(e, of(tile, s, fullOnes())); });
  }

private:
  int64_t fullOnes() const { return plan.common.stages * plan.staged.size(); }
  Value at(int64_t number) { return e.add(first, kMBarrierBytes * number); }
  Value of(const StagedTile &tile, Value s, int64_t before) {
    int64_t number = &tile - plan.staged.data();
    Value stage = e.rem(s, plan.common.stages);
    return e.add(e.add(first, kMBarrierBytes * (before + number)),
                 e.mul(stage, kMBarrierBytes * plan.staged.size()));
  }
  Value round(Value s) { return e.bitAnd(e.div(s, plan.common.stages), 1); }
  void arrive(Value barrier) {
    arriveAfterCopies(e, barrier);
    arriveAtMBarrier(e, barrier);
  }

  Emitter &e;
  const AmpereBodyPlan &plan;
  Value first; ///< (i32, bytes)
};

class RoleExpander {
public:
  RoleExpander(const AmpereThread &self, const BodyContext &body)
      : self(self), e(body.e), plan(body.plan), body(body),
        loading(plan.common), tiles(body), barriers(body, self.shared) {
    loading.threads = plan.loaders();
    late = plan.late;
  }

  void run() {
    Value isFirst = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                          self.number, e.i32(0));
    e.ifThen(isFirst, [&] { barriers.init(); });
    e.barrier();
    Value number = e.hideFromOptimizer(self.number);
    // The same in a warp, and ptxas knows it.
    Value warp = fromLane(e, e.div(number, 32), e.i32(0));
    self.number = number;
    e.ifThen(
        e.lessThan(warp, e.i32(plan.workers())),
        [&] {
          exchangeRegisters(plan.workerRegisters());
          work();
          exchangeRegisters(plan.workerRegisters(), /*back=*/true);
        },
        [&] {
          exchangeRegisters(plan.producerRegisters());
          self.number = e.sub(number, e.i32(32 * plan.workers()));
          produce();
          exchangeRegisters(plan.producerRegisters(), /*back=*/true);
        });
    e.barrier();
    e.ifThen(isFirst, [&] { barriers.invalidate(); });
    e.barrier();
  }

private:
  /// From what all threads have to what those of a role have, or back.
  void exchangeRegisters(int64_t registers, bool back = false) {
    bool increases = (registers > plan.commonRegisters()) != back;
    using Action = NVVM::SetMaxRegisterAction;
    NVVM::SetMaxRegisterOp::create(
        e.b, e.loc, back ? plan.commonRegisters() : registers,
        increases ? Action::increase : Action::decrease);
  }

  Value addressOf(Value s) {
    return e.add(e.add(self.shared, plan.onceBytes),
                 e.mul(e.rem(s, plan.common.stages), plan.stageBytes));
  }

  SmallVector<Value>
  loop(Value from, ArrayRef<Value> initial,
       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto loop = scf::ForOp::create(e.b, e.loc, from, this->body.steps.total(),
                                   e.i32(1), initial);
    e.keepLoop(loop);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> values =
        body(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!values.empty())
      scf::YieldOp::create(e.b, e.loc, values);
    return SmallVector<Value>(loop.getResults());
  }

  //===--- Producers ------------------------------------------------------===//

  void produce() {
    AmpereThread thread{e, loading, self.number, self.shared};
    BodyLoader loader(body, thread);
    loader.loadOnce();
    barriers.arriveOnce();
    loop(e.i32(0), loader.loadIds(e.i32(0)), [&](Value s, ValueRange ids) {
      loader.setIds(ids);
      SmallVector<Value> later = loader.loadIds(e.add(s, 1));
      for (const StagedTile &staged : plan.staged) {
        if (staged.once)
          continue;
        barriers.waitEmpty(staged, s);
        loader.loadTile(staged, s, addressOf(s));
        barriers.arriveFull(staged, s);
      }
      return later;
    });
  }

  //===--- Workers --------------------------------------------------------===//

  void work() {
    tiles.locate(self.number);
    group =
        e.div(fromLane(e, e.div(self.number, 32), e.i32(0)), kWarpgroup / 32);
    isLeader = e.lessThan(e.rem(self.number, 32), e.i32(1));
    MainloopEpilogue epilogue(e, body.mainloop, {plan.mDim, plan.nDim, 2},
                              plan.common.vectorAtomics, body.chunks);
    SmallVector<Value> initial = tiles.initial();
    tiles.readOnce();
    barriers.waitOnce();
    SmallVector<Value> carried =
        late ? stepsWithLate(initial)
             : loop(e.i32(0), initial, [&](Value s, ValueRange values) {
                 return step(s, values);
               });
    tiles.finish(epilogue, self.number, carried);
  }

  /// What is carried has the late contraction's first factor, too; its sums are
  /// those before it.
  SmallVector<Value> stepsWithLate(ArrayRef<Value> initial) {
    Value total = body.steps.total();
    SmallVector<Type> types = llvm::map_to_vector(
        initial, [](Value value) { return value.getType(); });
    auto any = scf::IfOp::create(e.b, e.loc, types, e.lessThan(e.i32(0), total),
                                 /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(any.elseBlock());
    scf::YieldOp::create(e.b, e.loc, initial);
    e.b.setInsertionPointToStart(any.thenBlock());
    e.ifThen(isGroup(groups() - 1), [&] { passTurn(); });
    SmallVector<Value> carried = step(e.i32(0), initial);
    carried = loop(e.i32(1), carried, [&](Value s, ValueRange values) {
      pending = e.sub(s, e.i32(1));
      factor.assign(values.begin() + initial.size(), values.end());
      return step(s, values.take_front(initial.size()));
    });
    pending = e.sub(total, e.i32(1));
    factor.assign(carried.begin() + initial.size(), carried.end());
    carried.resize(initial.size());
    tiles.takeCarried(carried);
    finishPending();
    // The last turn is nobody's.
    e.ifThen(isGroup(0), [&] { takeTurn(); });
    scf::YieldOp::create(e.b, e.loc, tiles.carried());
    return SmallVector<Value>(any.getResults());
  }

  /// A step; what is carried to the next one.
  SmallVector<Value> step(Value s, ValueRange carried) {
    tiles.enter(s, carried);
    SmallVector<Value> lateFactor;
    Operation *packed = late ? late.getLhs().getDefiningOp() : nullptr;
    for (Operation &op :
         body.mainloop.getCompute().front().without_terminator()) {
      // The factor is computed where the registers of the step before's are
      // free.
      if (&op == packed && packed->hasOneUse())
        continue;
      if (pending && (&op == packed ||
                      llvm::is_contained(op.getOperands(), plan.lateSums)))
        finishPending();
      auto contract = dyn_cast<ContractOp>(op);
      if (!contract) {
        tiles.compute(cast<PointwiseOp>(op));
      } else if (contract == late) {
        if (pending)
          finishPending();
        if (packed->hasOneUse())
          tiles.compute(cast<PointwiseOp>(packed));
        lateFactor = packFactor(at(s), late, tiles.of(late.getLhs()));
        // The next step goes on from here.
        tiles.set(late.getResult(), tiles.of(late.getAcc()));
      } else {
        multiply(s, contract);
      }
    }
    SmallVector<Value> next = tiles.next();
    llvm::append_range(next, lateFactor);
    return next;
  }

  BodyStep at(Value s) {
    return {self, plan, tiles.warpOrigin(), addressOf(s)};
  }

  void multiply(Value s, ContractOp op) {
    SmallVector<Value> words;
    if (!isa<BlockArgument>(op.getLhs()))
      words = packFactor(at(s), op, tiles.of(op.getLhs()));
    for (const StagedTile &tile : plan.staged)
      if (!tile.once && isFirstToRead(op, tile))
        barriers.waitFull(tile, s);
    bool startsLate = pending && !isStarted;
    if (startsLate)
      waitPending();
    bool hasTurn = late && op == *op->getBlock()->getOps<ContractOp>().begin();
    if (hasTurn)
      takeTurn();
    RegisterTile sums = startInBody(at(s), op, tiles.of(op.getAcc()), words);
    if (startsLate)
      startPending();
    if (hasTurn)
      passTurn();
    tiles.set(op.getResult(), awaitInBody(e, sums, startsLate ? 1 : 0, words));
    for (const StagedTile &tile : plan.staged)
      if (!tile.once && isLastToRead(op, tile))
        barriers.arriveEmpty(tile, s, isLeader);
  }

  static bool reads(ContractOp op, const StagedTile &tile) {
    return op.getLhs() == tile.tile || op.getRhs() == tile.tile;
  }
  bool isFirstToRead(ContractOp op, const StagedTile &tile) {
    auto all = op->getBlock()->getOps<ContractOp>();
    return *llvm::find_if(
               all, [&](ContractOp each) { return reads(each, tile); }) == op;
  }
  bool isLastToRead(ContractOp op, const StagedTile &tile) {
    ContractOp last;
    for (auto each : op->getBlock()->getOps<ContractOp>())
      if (reads(each, tile))
        last = each;
    return last == op;
  }

  //===--- The late contraction -------------------------------------------===//

  void waitPending() {
    barriers.waitFull(plan.stagedOf(late.getRhs()), pending);
  }

  /// Starts that of the step before.
  void startPending() {
    tiles.set(plan.lateSums,
              startInBody(at(pending), late, tiles.of(plan.lateSums), factor));
    isStarted = true;
  }

  void finishPending() {
    if (!isStarted) {
      waitPending();
      startPending();
    }
    tiles.set(plan.lateSums, awaitInBody(e, tiles.of(plan.lateSums),
                                         /*later=*/0, factor));
    barriers.arriveEmpty(plan.stagedOf(late.getRhs()), pending, isLeader);
    pending = Value();
    isStarted = false;
  }

  //===--- Turns of warpgroups --------------------------------------------===//

  int64_t groups() const { return 32 * plan.workers() / kWarpgroup; }
  Value isGroup(int64_t number) {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, group,
                                 e.i32(number));
  }
  /// Barrier 0 is that of all threads. Two warpgroups meet at each of these.
  void takeTurn() {
    if (groups() == 1)
      return;
    NVVM::BarrierOp::create(e.b, e.loc, Type(), e.add(group, 1),
                            e.i32(2 * kWarpgroup), NVVM::BarrierReductionAttr(),
                            Value());
  }
  void passTurn() {
    if (groups() == 1)
      return;
    Value next = e.select(isGroup(groups() - 1), e.i32(0), e.add(group, 1));
    NVVM::BarrierArriveOp::create(e.b, e.loc, e.add(next, 1),
                                  e.i32(2 * kWarpgroup));
  }

  AmpereThread self;
  Emitter &e;
  const AmpereBodyPlan &plan;
  BodyContext body;
  AmperePlan loading; ///< with the producers' threads
  BodyTiles tiles;
  BodyBarriers barriers;
  Value isLeader; ///< of its warp
  ContractOp late;
  Value pending;             ///< the step whose late contraction is not done
  SmallVector<Value> factor; ///< of that one
  bool isStarted = false;
  Value group; ///< of this thread, among those of the workers (i32)
};

} // namespace

void cuda::lowerTileBodyByRoles(const AmpereThread &self,
                                const BodyContext &body) {
  RoleExpander(self, body).run();
}
