//===- TakenTiles.cpp - Tiles that blocks take as they come ---------------===//

#include "TakenTiles.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// The number that is next is written while that before it is read.
static constexpr int64_t kNumbers = 2, kNumberBytes = 4;

TakenTiles::TakenTiles(Emitter &e, Value counters, int64_t producers,
                       int64_t warps)
    : counters(counters) {
  auto type = pitgpu::RingType::get(e.b.getContext(), kNumbers, {});
  ring = pitgpu::RingOp::create(e.b, e.loc, type, 32 * producers, warps,
                                /*cluster=*/1, IntegerAttr(), IntegerAttr());
  numbers = pitgpu::SharedOp::create(e.b, e.loc, e.b.getI32Type(),
                                     kNumbers * kNumberBytes, IntegerAttr());
}

/// The address of the number of a use of the ring.
Value TakenTiles::place(Emitter &e, Value use) const {
  Value byte = e.mul(e.rem(use, kNumbers), kNumberBytes);
  return e.sharedPointer(e.add(numbers, byte));
}

Value TakenTiles::begin(Emitter &e, Value total, ValueRange carried,
                        Value thread, bool isProducer) {
  Value tiles = e.toI32(total);
  SmallVector<Value> inits = {e.blockId()};
  llvm::append_range(inits, carried);
  loop = scf::WhileOp::create(
      e.b, e.loc, ValueRange(inits).getTypes(), inits,
      [&](OpBuilder &b, Location loc, ValueRange values) {
        Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           values[0], tiles);
        scf::ConditionOp::create(b, loc, more, values);
      },
      [](OpBuilder &, Location, ValueRange) {});
  e.b.setInsertionPointToStart(loop.getAfterBody());
  isCounting = Value();
  if (isProducer) {
    isCounting = e.equal(thread, e.i32(0));
    // Each tile is counted for once: then the counter is 0 again.
    auto count = [&]() -> Value {
      return e.atomic(LLVM::AtomicBinOp::uinc_wrap,
                      e.globalPointer(counters, e.i32(0)),
                      e.sub(tiles, e.i32(1)));
    };
    counted = e.choose(isCounting, count, [&] { return e.i32(0); });
  }
  return e.toIndex(loop.getAfterArguments().front());
}

ValueRange TakenTiles::carried() {
  return loop.getAfterArguments().drop_front();
}

void TakenTiles::end(Emitter &e, ValueRange next) {
  Value use = carried().front();
  if (isCounting) {
    Value stage = pitgpu::AcquireOp::create(e.b, e.loc, ring, use);
    e.ifThen(isCounting, [&] {
      Value blocks = e.gridDim();
      e.store(e.add(counted, blocks), place(e, use), kNumberBytes);
    });
    pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Writes);
  }
  Value stage = pitgpu::WaitOp::create(e.b, e.loc, ring, use);
  Value number = e.load(e.b.getI32Type(), place(e, use), kNumberBytes,
                        /*isVolatile=*/true);
  number = e.fromLane(number, e.i32(0));
  // An arrival may overtake a load whose value nothing has used.
  Value isThere = e.compare(arith::CmpIPredicate::sge, number, e.i32(0));
  pitgpu::ReleaseOp::create(e.b, e.loc, stage, /*byWarpgroups=*/false,
                            /*cluster=*/1, isThere);
  SmallVector<Value> values = {number};
  llvm::append_range(values, next);
  scf::YieldOp::create(e.b, e.loc, values);
  e.b.setInsertionPointAfter(loop);
}
