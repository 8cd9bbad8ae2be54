//===- StageRing.cpp - Steps through a ring of the block ------------------===//

#include "StageRing.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

Value StageRing::tile(Value stage, unsigned number) {
  return pitgpu::TileOp::create(e.b, e.loc, stage, number);
}

Value StageRing::address(Value stage, unsigned number) {
  return pitgpu::AddressOp::create(e.b, e.loc, tile(stage, number));
}

Value StageRing::next(Value stage, int64_t by) {
  Value next = e.add(stage, by);
  Value past = e.compare(arith::CmpIPredicate::sge, next, e.i32(stages));
  return e.select(past, e.sub(next, e.i32(stages)), next);
}

void StageRing::fill(Value s, Value stage, Load load) {
  Value taken = pitgpu::AcquireOp::create(e.b, e.loc, ring, stage);
  e.ifThen(e.lessThan(s, total), [&] { load(s, taken); });
  pitgpu::CommitOp::create(e.b, e.loc, taken, pitgpu::CommitKind::Copies);
}

void StageRing::start(Load load) {
  auto type = pitgpu::RingType::get(e.b.getContext(), stages, tiles,
                                    /*ofBlock=*/true);
  ring = pitgpu::BlockRingOp::create(e.b, e.loc, type, shared);
  for (int64_t s = 0; s < stages - 1; ++s)
    fill(e.i32(s), e.i32(s), load);
}

void StageRing::loadAhead(Value s, Value stage, Load load) {
  fill(e.add(s, stages - 1), next(stage, stages - 1), load);
}

Value StageRing::wait(Value stage) {
  return pitgpu::WaitOp::create(e.b, e.loc, ring, stage);
}

void StageRing::release(Value stage) {
  pitgpu::ReleaseOp::create(e.b, e.loc, stage);
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
