//===- HopperBarriers.cpp - What threads of a Hopper kernel wait for ------===//

#include "HopperLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

Value HopperStages::full(Value stage) {
  return e.add(e.add(shared, plan.barrierOffset()), e.mul(stage, 8));
}

Value HopperStages::empty(Value stage) {
  return e.add(full(stage), 8 * plan.stages);
}

void HopperStages::waitFull(Value number, Value stage) {
  waitMBarrier(e, full(stage), round(number));
}

void HopperStages::waitEmpty(Value number, Value stage) {
  // In the first round all are.
  waitMBarrier(e, empty(stage), e.bitXor(round(number), e.i32(1)));
}

void cuda::syncCluster(Emitter &e, const HopperPlan &plan) {
  if (plan.cluster == 1)
    return;
  NVVM::ClusterArriveOp::create(e.b, e.loc, UnitAttr());
  NVVM::ClusterWaitOp::create(e.b, e.loc, UnitAttr());
}

void cuda::initHopperBarriers(Emitter &e, const HopperPlan &plan, Value thread,
                              Value shared) {
  Value first = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                      thread, e.i32(0));
  e.ifThen(first, [&] {
    HopperStages stages(e, plan, shared);
    for (int64_t s = 0; s < plan.stages; ++s) {
      initMBarrier(e, stages.full(e.i32(s)), plan.fullCount());
      initMBarrier(e, stages.empty(e.i32(s)), plan.emptyCount());
    }
    if (plan.rows)
      initMBarrier(e, stages.listed(), kConsumers * kWarpgroup);
    if (plan.streamsIds())
      for (int64_t turn = 0; turn < 2; ++turn)
        initMBarrier(e, stages.firstIds(e.i32(turn)), kWarpgroup);
    NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
  });
  e.barrier();
  syncCluster(e, plan);
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

Value cuda::isLeader(Emitter &e) {
  return NVVM::ElectSyncOp::create(e.b, e.loc, e.b.getI1Type(), Value());
}

void cuda::syncWarp(Emitter &e) {
  NVVM::SyncWarpOp::create(e.b, e.loc, e.i32(-1));
}

Value cuda::sumOfLanes(Emitter &e, Value value) {
  Value lane = NVVM::LaneIdOp::create(e.b, e.loc, e.b.getI32Type());
  for (int64_t distance = 1; distance < kLanes; distance *= 2) {
    Value before = NVVM::ShflOp::create(e.b, e.loc, e.b.getI32Type(), e.i32(-1),
                                        value, e.i32(distance), e.i32(0),
                                        NVVM::ShflKind::up, UnitAttr());
    Value none = e.lessThan(lane, e.i32(distance));
    value = e.add(value, e.select(none, e.i32(0), before));
  }
  return value;
}

Value cuda::firstLane(Emitter &e, Value condition) {
  Value lanes =
      NVVM::VoteSyncOp::create(e.b, e.loc, e.b.getI32Type(), e.i32(-1),
                               condition, NVVM::VoteSyncKind::ballot);
  return LLVM::CountTrailingZerosOp::create(e.b, e.loc, e.b.getI32Type(), lanes,
                                            /*is_zero_poison=*/true);
}
