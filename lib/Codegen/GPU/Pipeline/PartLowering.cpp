//===- PartLowering.cpp - Parts of tiles that blocks share ----------------===//

#include "PipelineLowering.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

static void lower(RewriterBase &rewriter, ShareTilesOp op) {
  Emitter e(rewriter, op.getLoc());
  Value workers = op.getWorkers();
  auto [turns, rest] = e.divRem(op.getTotal(), workers);
  Value whole = e.mul(turns, workers);
  Value parts = e.divRem(workers, e.max(rest, e.i32(1))).first;
  parts = e.min(parts, e.i32(op.getMost()));
  parts = e.max(parts, e.i32(1));
  rewriter.replaceOp(op, {whole, parts, e.add(whole, e.mul(rest, parts))});
}

static void lower(RewriterBase &rewriter, PartOfOp op) {
  Emitter e(rewriter, op.getLoc());
  Value number = op.getNumber(), whole = op.getWhole(), parts = op.getParts();
  Value isWhole = e.lessThan(number, whole);
  if (!op.getUsuallyWhole()) {
    auto [later, part] = e.divRem(e.max(e.sub(number, whole), e.i32(0)), parts);
    rewriter.replaceOp(op, {e.select(isWhole, number, e.add(whole, later)),
                            e.select(isWhole, e.i32(0), part),
                            e.select(isWhole, e.i32(1), parts), later});
    return;
  }
  auto ofWhole = [&]() -> SmallVector<Value> {
    return {number, e.i32(0), e.i32(1), e.i32(0)};
  };
  auto ofPart = [&]() -> SmallVector<Value> {
    auto [later, part] = e.divRem(e.sub(number, whole), parts);
    return {e.add(whole, later), part, parts, later};
  };
  rewriter.replaceOp(op, e.choose(isWhole, ofWhole, ofPart));
}

static void lower(RewriterBase &rewriter, StepsOfPartOp op) {
  Emitter e(rewriter, op.getLoc());
  auto upTo = [&](Value part) -> Value {
    return rewriter.createOrFold<arith::DivUIOp>(
        op.getLoc(), e.mul(op.getSteps(), part), op.getParts());
  };
  Value begin = upTo(op.getPart());
  rewriter.replaceOp(op, {begin, upTo(e.add(op.getPart(), 1))});
}

void pitgpu::lowerParts(RewriterBase &rewriter, gpu::GPUFuncOp kernel) {
  kernel.walk([&](Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto share = dyn_cast<ShareTilesOp>(op))
      lower(rewriter, share);
    else if (auto part = dyn_cast<PartOfOp>(op))
      lower(rewriter, part);
    else if (auto steps = dyn_cast<StepsOfPartOp>(op))
      lower(rewriter, steps);
  });
}
