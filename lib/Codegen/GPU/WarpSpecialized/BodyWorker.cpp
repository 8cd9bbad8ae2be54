//===- BodyWorker.cpp - Warps that compute a tile body --------------------===//
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
        products(e, plan,
                 pitgpu::WarpgroupOp::create(e.b, e.loc, e.b.getI32Type()),
                 [this](const StagedTile &staged) { return tileOf(staged); }) {}

  void run(Value tile, Value used) {
    this->used = used;
    tiles.locate(number);
    MainloopEpilogue epilogue(e, body.mainloop, {plan.mDim, plan.nDim, 2},
                              plan.vectorAtomics, body.chunks);
    SmallVector<Value> initial = tiles.initial();
    tiles.readOnce();
    for (const StagedTile &staged : plan.staged)
      if (staged.once)
        wait(staged, tile);
    SmallVector<Value> carried =
        late ? stepsWithLate(initial)
             : loop(e.i32(0), initial, [&](Value s, ValueRange values) {
                 return step(s, values);
               });
    for (const StagedTile &staged : plan.staged)
      if (staged.once)
        release(staged);
    tiles.finish(epilogue, number, carried);
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
  Value tileOf(const StagedTile &staged) {
    return pitgpu::TileOp::create(e.b, e.loc, stages.at(&staged), /*number=*/0);
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

  //===--- Contractions ---------------------------------------------------===//

  void multiply(Value s, ContractOp op) {
    Value lhs;
    if (!isa<BlockArgument>(op.getLhs()))
      lhs = products.factor(op.getLhs(), tiles.of(op.getLhs()));
    for (const StagedTile &tile : plan.staged)
      if (!tile.once && isFirstToRead(op, tile))
        wait(tile, e.add(used, s));
    bool startsLate = pending && !lateSums;
    if (startsLate)
      waitPending();
    bool hasTurn = late && op == *op->getBlock()->getOps<ContractOp>().begin();
    RegisterTile sums = tiles.of(op.getAcc());
    SmallVector<Value> started;
    auto startAll = [&] {
      started.push_back(products.start(op, sums, lhs));
      if (startsLate)
        started.push_back(
            products.start(late, tiles.of(plan.lateSums), factor));
    };
    if (hasTurn)
      inTurn(op, startsLate, started, startAll);
    else
      startAll();
    if (startsLate)
      lateSums = started[1];
    products.await(started[0], startsLate ? 1 : 0, sums);
    tiles.set(op.getResult(), sums);
    for (const StagedTile &tile : plan.staged)
      if (!tile.once && isLastToRead(op, tile))
        release(tile);
  }

  /// Runs `body` when it is this warpgroup's turn.
  void inTurn(ContractOp op, bool startsLate, SmallVectorImpl<Value> &started,
              function_ref<void()> body) {
    SmallVector<Type> types = {BodyProducts::sumsOf(op)};
    if (startsLate)
      types.push_back(BodyProducts::sumsOf(late));
    auto turn = pitgpu::InTurnOp::create(e.b, e.loc, types);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.createBlock(&turn.getBody());
    body();
    pitgpu::YieldOp::create(e.b, e.loc, started);
    started.assign(turn.result_begin(), turn.result_end());
  }

  //===--- Steps ----------------------------------------------------------===//

  /// A step; what is carried to the next one.
  SmallVector<Value> step(Value s, ValueRange carried) {
    tiles.enter(s, carried);
    Value lateFactor;
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
        tiles.compute(mlir::cast<PointwiseOp>(op));
      } else if (contract == late) {
        if (pending)
          finishPending();
        if (packed->hasOneUse())
          tiles.compute(mlir::cast<PointwiseOp>(packed));
        lateFactor = products.factor(late.getLhs(), tiles.of(late.getLhs()));
        // The next step goes on from here.
        tiles.set(late.getResult(), tiles.of(late.getAcc()));
      } else {
        multiply(s, contract);
      }
    }
    SmallVector<Value> next = tiles.next();
    if (lateFactor)
      next.push_back(lateFactor);
    return next;
  }

  /// What is carried has the late contraction's first factor, too; its sums are
  /// those before it.
  SmallVector<Value> stepsWithLate(ArrayRef<Value> initial) {
    Value total = body.steps.total();
    auto run = [&] {
      SmallVector<Value> carried = step(e.i32(0), initial);
      carried = loop(e.i32(1), carried, [&](Value s, ValueRange values) {
        pending = e.sub(s, e.i32(1));
        factor = values.back();
        return step(s, values.drop_back());
      });
      pending = e.sub(total, e.i32(1));
      factor = carried.pop_back_val();
      tiles.takeCarried(carried);
      finishPending();
      return tiles.carried();
    };
    return e.choose(e.lessThan(e.i32(0), total), run,
                    [&] { return SmallVector<Value>(initial); });
  }

  void waitPending() {
    wait(plan.stagedOf(late.getRhs()), e.add(used, pending));
  }

  /// Waits for the late contraction of the step before, which may have to be
  /// started.
  void finishPending() {
    RegisterTile &sums = tiles.of(plan.lateSums);
    if (!lateSums) {
      waitPending();
      lateSums = products.start(late, sums, factor);
    }
    products.await(lateSums, /*later=*/0, sums);
    release(plan.stagedOf(late.getRhs()));
    pending = lateSums = Value();
  }

  const RolesContext &roles;
  Emitter &e;
  const BodyPlan &plan;
  BodyContext body;
  Value number; ///< of the thread among the workers (i32)
  BodyTiles tiles;
  ContractOp late;
  BodyProducts products;
  Value used; ///< steps of the block's tiles before (i32)
  DenseMap<const StagedTile *, Value> stages; ///< that the role has
  Value pending;  ///< the step whose late contraction is not done
  Value factor;   ///< of that one
  Value lateSums; ///< accumulators of that one, if it was started
};

} // namespace

void cuda::computeBody(const RolesContext &roles, const BodyContext &body,
                       const RoleTile &place) {
  BodyWorker(roles, body, place.number).run(place.tile, place.used);
}
