//===- ListLowering.cpp - Tiles of one list after another -----------------===//

#include "PipelineLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

/// Lanes of a warp.
static constexpr int64_t kLanes = 32;

/// Each lane gets the sum of what it and the lanes before it have (i32).
static Value sumOfLanes(Emitter &e, Value value) {
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

/// The first lane for which the condition holds; it does for one (i32).
static Value firstLane(Emitter &e, Value condition) {
  Value lanes =
      NVVM::VoteSyncOp::create(e.b, e.loc, e.b.getI32Type(), e.i32(-1),
                               condition, NVVM::VoteSyncKind::ballot);
  return LLVM::CountTrailingZerosOp::create(e.b, e.loc, e.b.getI32Type(), lanes,
                                            /*is_zero_poison=*/true);
}

/// Moves a region's code to the end of the builder's block; gives what it
/// yields.
static SmallVector<Value> inlineRegion(RewriterBase &rewriter, Region &region,
                                       ValueRange arguments) {
  Block *to = rewriter.getInsertionBlock();
  auto yield = cast<YieldOp>(region.front().getTerminator());
  SmallVector<Value> values(yield.getValues());
  rewriter.eraseOp(yield);
  // A value that it yields may be an argument.
  for (Value &value : values)
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && argument.getOwner() == &region.front())
      value = arguments[argument.getArgNumber()];
  rewriter.mergeBlocks(&region.front(), to, arguments);
  rewriter.setInsertionPointToEnd(to);
  return values;
}

/// 32 lists at once: the sums of their tiles say which of them has a number.
static void lower(RewriterBase &rewriter, ListTilesOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Emitter e(rewriter, loc);
  Value lists = op.getLists(), workers = op.getWorkers();
  SmallVector<Value> carried = {op.getFirst()};
  llvm::append_range(carried, op.getInits());
  auto batches = scf::ForOp::create(rewriter, loc, e.i32(0), lists,
                                    e.i32(kLanes), carried);
  rewriter.setInsertionPointToStart(batches.getBody());
  Value firstList = batches.getInductionVar();
  Value thread = ThreadOp::create(rewriter, loc, rewriter.getI32Type());
  Value list = e.add(firstList, e.rem(thread, kLanes));
  SmallVector<Value> ofLane = inlineRegion(rewriter, op.getCount(),
                                           e.min(list, e.sub(lists, e.i32(1))));
  Value tiles = e.select(e.lessThan(list, lists), ofLane.front(), e.i32(0));
  Value upTo = sumOfLanes(e, tiles);
  Value total = e.fromLane(upTo, e.i32(kLanes - 1));
  Value before = e.sub(upTo, tiles);

  Value from = batches.getRegionIterArgs()[0];
  auto loop = scf::ForOp::create(rewriter, loc, from, total, workers,
                                 batches.getRegionIterArgs().drop_front());
  Value waves = e.ceilDiv(e.max(e.sub(total, from), e.i32(0)), workers);
  SmallVector<Value> next = {e.sub(e.add(from, e.mul(waves, workers)), total)};
  llvm::append_range(next, loop.getResults());
  scf::YieldOp::create(rewriter, loc, next);

  Block *body = loop.getBody();
  if (!body->empty()) // without carried values, a terminator is there
    rewriter.eraseOp(body->getTerminator());
  rewriter.setInsertionPointToStart(body);
  Value tile = loop.getInductionVar();
  Value lane = firstLane(e, e.lessThan(tile, upTo));
  SmallVector<Value> numbers;
  for (Value number : ArrayRef(ofLane).drop_front())
    numbers.push_back(e.fromLane(number, lane));
  SmallVector<Value> arguments = {e.add(firstList, lane),
                                  e.sub(tile, e.fromLane(before, lane))};
  llvm::append_range(arguments, numbers);
  llvm::append_range(arguments, loop.getRegionIterArgs());
  SmallVector<Value> values = inlineRegion(rewriter, op.getBody(), arguments);
  scf::YieldOp::create(rewriter, loc, values);
  rewriter.replaceOp(op, batches.getResults());
}

void pitgpu::lowerLists(RewriterBase &rewriter, gpu::GPUFuncOp kernel) {
  SmallVector<ListTilesOp> ops;
  kernel.walk([&](ListTilesOp op) { ops.push_back(op); });
  for (ListTilesOp op : ops)
    lower(rewriter, op);
}
