//===- SplitLowering.cpp - Parts of tiles that blocks share ---------------===//

#include "PipelineLowering.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

static void lower(RewriterBase &rewriter, ShareTilesOp op) {
  Emitter e(rewriter, op.getLoc());
  Value workers = op.getWorkers();
  auto [waves, rest] = e.divRem(op.getTotal(), workers);
  Value whole = e.mul(waves, workers);
  Value splits = e.divRem(workers, e.max(rest, e.i32(1))).first;
  splits = e.min(splits, e.i32(op.getMost()));
  splits = e.max(splits, e.i32(1));
  rewriter.replaceOp(op, {whole, splits, e.add(whole, e.mul(rest, splits))});
}

static void lower(RewriterBase &rewriter, SplitOfOp op) {
  Emitter e(rewriter, op.getLoc());
  Value number = op.getNumber(), whole = op.getWhole(), splits = op.getSplits();
  Value isWhole = e.lessThan(number, whole);
  if (!op.getUsuallyWhole()) {
    auto [later, part] =
        e.divRem(e.max(e.sub(number, whole), e.i32(0)), splits);
    rewriter.replaceOp(op, {e.select(isWhole, number, e.add(whole, later)),
                            e.select(isWhole, e.i32(0), part),
                            e.select(isWhole, e.i32(1), splits), later});
    return;
  }
  auto ofWhole = [&]() -> SmallVector<Value> {
    return {number, e.i32(0), e.i32(1), e.i32(0)};
  };
  auto ofPart = [&]() -> SmallVector<Value> {
    auto [later, part] = e.divRem(e.sub(number, whole), splits);
    return {e.add(whole, later), part, splits, later};
  };
  rewriter.replaceOp(op, e.choose(isWhole, ofWhole, ofPart));
}

static void lower(RewriterBase &rewriter, ShareListsOp op) {
  Emitter e(rewriter, op.getLoc());
  Value tiles = op.getTiles(), workers = op.getWorkers();
  auto numbers = [&] {
    SmallVector<Value> counted = e.clone(op.getCount().front());
    Value lists = e.max(counted[1], e.i32(1));
    Value parts = e.div(counted[0], static_cast<int64_t>(op.getLeast()));
    Value splits = e.divRem(parts, lists).first;
    Value most = e.divRem(workers, e.max(tiles, e.i32(1))).first;
    splits = e.min(splits, e.min(most, e.i32(op.getMost())));
    splits = e.max(splits, e.i32(1));
    Value total = e.mul(tiles, splits);
    // Neighbours took 1.3 times as long.
    Value apart = e.divRem(workers, e.max(total, e.i32(1))).first;
    auto [first, rest] = e.divRem(op.getWorker(), e.max(apart, e.i32(1)));
    first = e.select(e.lessThan(rest, e.i32(1)), first, total);
    return SmallVector<Value>{splits, first, total};
  };
  Value areMany =
      e.lessThan(workers, e.mul(tiles, static_cast<int64_t>(op.getEnough())));
  SmallVector<Value> shared = e.choose(
      areMany,
      [&] { return SmallVector<Value>{e.i32(1), op.getWorker(), tiles}; },
      numbers);
  Value whole = e.select(areMany, tiles, e.i32(0));
  rewriter.replaceOp(op, {whole, shared[0], shared[1], shared[2]});
}

static void lower(RewriterBase &rewriter, StepsOfSplitOp op) {
  Emitter e(rewriter, op.getLoc());
  int64_t by = op.getBy();
  auto number = [&](int64_t value) {
    return op.getSteps().getType().isIndex() ? e.index(value) : e.i32(value);
  };
  Value steps = op.getSteps(), count = op.getSplits();
  if (by > 1)
    steps = e.ceilDiv(steps, number(by));
  if (std::optional<int64_t> least = op.getLeast())
    count = e.min(count, e.max(e.div(steps, *least), number(1)));
  auto upTo = [&](Value split) { return e.div(e.mul(steps, split), count); };
  Value begin = upTo(op.getSplit()), end = upTo(e.add(op.getSplit(), 1));
  begin = e.mul(begin, by);
  end = e.mul(end, by);
  if (by > 1)
    end = e.min(op.getSteps(), end);
  rewriter.replaceOp(op, {begin, end, count});
}

void pitgpu::lowerSplits(RewriterBase &rewriter, gpu::GPUFuncOp kernel) {
  kernel.walk([&](Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto share = dyn_cast<ShareTilesOp>(op))
      lower(rewriter, share);
    else if (auto lists = dyn_cast<ShareListsOp>(op))
      lower(rewriter, lists);
    else if (auto part = dyn_cast<SplitOfOp>(op))
      lower(rewriter, part);
    else if (auto steps = dyn_cast<StepsOfSplitOp>(op))
      lower(rewriter, steps);
  });
}
