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

static void lower(RewriterBase &rewriter, StepsOfSplitOp op) {
  Emitter e(rewriter, op.getLoc());
  auto upTo = [&](Value part) -> Value {
    return rewriter.createOrFold<arith::DivUIOp>(
        op.getLoc(), e.mul(op.getSteps(), part), op.getSplits());
  };
  Value begin = upTo(op.getSplit());
  rewriter.replaceOp(op, {begin, upTo(e.add(op.getSplit(), 1))});
}

void pitgpu::lowerSplits(RewriterBase &rewriter, gpu::GPUFuncOp kernel) {
  kernel.walk([&](Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto share = dyn_cast<ShareTilesOp>(op))
      lower(rewriter, share);
    else if (auto part = dyn_cast<SplitOfOp>(op))
      lower(rewriter, part);
    else if (auto steps = dyn_cast<StepsOfSplitOp>(op))
      lower(rewriter, steps);
  });
}
