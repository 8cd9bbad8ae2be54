//===- StageRing.cpp - Stages of shared memory in turn --------------------===//

#include "StageRing.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

Value StageRing::next(Value stage, int64_t by) {
  Value next = e.add(stage, by);
  Value past = e.compare(arith::CmpIPredicate::sge, next, e.i32(stages));
  return e.select(past, e.sub(next, e.i32(stages)), next);
}

void StageRing::loadIfAny(Value s, Value stage, Load load) {
  e.ifThen(e.lessThan(s, total), [&] { load(s, address(stage)); });
  pitgpu::CopyGroupOp::create(e.b, e.loc);
}

void StageRing::start(Load load) {
  for (int64_t s = 0; s < stages - 1; ++s)
    loadIfAny(e.i32(s), e.i32(s), load);
}

void StageRing::loadAhead(Value s, Value stage, Load load) {
  loadIfAny(e.add(s, stages - 1), next(stage, stages - 1), load);
}

void StageRing::wait() {
  pitgpu::CopyWaitOp::create(e.b, e.loc, stages - 2);
  if (forWgmma)
    e.asyncProxyFence();
  e.barrier();
}

void StageRing::drain() {
  pitgpu::CopyWaitOp::create(e.b, e.loc, 0);
  e.barrier();
}

SmallVector<Value> StageRing::loop(
    ArrayRef<Value> initial,
    function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  Value zero = e.i32(0);
  SmallVector<Value> carried(initial);
  carried.push_back(zero);
  auto step = [&](Value s, ValueRange carried) {
    Value stage = carried.back();
    SmallVector<Value> values = body(s, stage, carried.drop_back());
    values.push_back(next(stage, 1));
    return values;
  };
  scf::ForOp loop = e.loop(zero, total, e.i32(1), carried, step);
  return SmallVector<Value>(loop.getResults().drop_back());
}
