//===- VectorEmit.cpp - Loops and vector ops of one linalg op -------------===//
//
// The loops of an op are emitted outermost first. Each is cut into blocks and
// what is left; inside all of them a block of points is computed. The outputs
// stay in registers across the loops of reductions.
//
//===----------------------------------------------------------------------===//

#include "VectorPlan.h"

#include "PackTile.h"
#include "VectorBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

namespace {

class LoopEmitter {
public:
  LoopEmitter(OpBuilder &b, linalg::LinalgOp op, const VectorPlan &plan)
      : b(b), loc(op.getLoc()), plan(plan), lanes(plan.lanes),
        block(b, op, plan) {
    for (auto [range, known] :
         llvm::zip(op.createLoopRanges(b, loc), getKnownExtents(op)))
      extents.push_back(ShapedType::isDynamic(known) ? range.size
                                                     : b.getIndexAttr(known));
  }

  void run() { emitOuter(0); }

private:
  bool isLane(unsigned loop) const { return plan.laneLoop == loop; }

  int64_t getMaxCount(unsigned loop) const {
    if (isLane(loop))
      return plan.vectors;
    for (const VectorPlan::Rows &rows : plan.rows)
      if (rows.loop == loop)
        return rows.count;
    return 1;
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  using Body = function_ref<SmallVector<Value>(ValueRange accumulators)>;

  // A loop from `from` to `to`, inline if it is known to run once.
  SmallVector<Value> emitFor(unsigned loop, OpFoldResult from, OpFoldResult to,
                             int64_t step, ValueRange accumulators, Body body) {
    return cpu::emitFor(b, loc, getValueOrCreateConstantIndexOp(b, loc, from),
                        getValueOrCreateConstantIndexOp(b, loc, to), step,
                        accumulators, [&](Value iv, ValueRange args) {
                          block.origin[loop] = iv;
                          return body(args);
                        });
  }

  // The largest multiple of `step` below the loop's extent.
  OpFoldResult roundDown(unsigned loop, int64_t step) {
    if (std::optional<int64_t> extent = getConstantIntValue(extents[loop]))
      return b.getIndexAttr(*extent - *extent % step);
    Value extent = cast<Value>(extents[loop]);
    Value rest = arith::RemSIOp::create(b, loc, extent, constant(step));
    return arith::SubIOp::create(b, loc, extent, rest).getResult();
  }

  SmallVector<Value> emitLoop(unsigned loop, ValueRange accumulators,
                              Body body) {
    if (isLane(loop))
      return emitLaneLoop(loop, accumulators, body);
    int64_t step = getMaxCount(loop);
    std::optional<int64_t> extent = getConstantIntValue(extents[loop]);
    if (extent)
      step = std::min(step, std::max<int64_t>(*extent, 1));
    if (step == 1)
      return emitFor(loop, b.getIndexAttr(0), extents[loop], 1, accumulators,
                     body);
    OpFoldResult middle = roundDown(loop, step);
    block.count[loop] = step;
    SmallVector<Value> values =
        emitFor(loop, b.getIndexAttr(0), middle, step, accumulators, body);
    block.count[loop] = extent ? *extent % step : 1;
    if (block.count[loop] != 0)
      values =
          emitFor(loop, middle, extents[loop], block.count[loop], values, body);
    block.count[loop] = 1;
    return values;
  }

  // Whole blocks, then what is left: with the last vector masked, or point by
  // point.
  SmallVector<Value> emitLaneLoop(unsigned loop, ValueRange accumulators,
                                  Body body) {
    std::optional<int64_t> extent = getConstantIntValue(extents[loop]);
    int64_t vectors = plan.vectors;
    if (extent)
      vectors = std::min(vectors, std::max<int64_t>(*extent / lanes, 1));
    OpFoldResult middle = roundDown(loop, vectors * lanes);
    block.count[loop] = vectors;
    SmallVector<Value> values = emitFor(loop, b.getIndexAttr(0), middle,
                                        vectors * lanes, accumulators, body);
    if (extent)
      values = emitStaticRest(loop, getConstantIntValue(middle).value(),
                              *extent, values, body);
    else
      values = emitDynamicRest(loop, middle, values, body);
    block.count[loop] = 1;
    return values;
  }

  SmallVector<Value> emitStaticRest(unsigned loop, int64_t from, int64_t to,
                                    ValueRange accumulators, Body body) {
    int64_t rest = to - from;
    SmallVector<Value> values(accumulators);
    if (!plan.maskable) {
      int64_t whole = from + rest / lanes * lanes;
      block.count[loop] = rest / lanes;
      values = emitFor(loop, b.getIndexAttr(from), b.getIndexAttr(whole), rest,
                       values, body);
      return emitPointwise(loop, b.getIndexAttr(whole), values, body);
    }
    block.count[loop] = llvm::divideCeil(rest, lanes);
    block.live = rest - (block.count[loop] - 1) * lanes;
    if (rest != 0 && block.live != lanes)
      block.mask = vector::ConstantMaskOp::create(
          b, loc, VectorType::get(lanes, b.getI1Type()),
          ArrayRef<int64_t>(block.live));
    values = emitFor(loop, b.getIndexAttr(from), b.getIndexAttr(to),
                     std::max<int64_t>(rest, 1), values, body);
    block.mask = nullptr;
    block.live = lanes;
    return values;
  }

  SmallVector<Value> emitDynamicRest(unsigned loop, OpFoldResult from,
                                     ValueRange accumulators, Body body) {
    block.count[loop] = 1;
    if (plan.maskable && !block.hasStridedOperand())
      return emitFor(loop, from, extents[loop], lanes, accumulators,
                     [&](ValueRange values) {
                       Value rest = arith::SubIOp::create(
                           b, loc, cast<Value>(extents[loop]),
                           block.origin[loop]);
                       block.mask = vector::CreateMaskOp::create(
                           b, loc, VectorType::get(lanes, b.getI1Type()), rest);
                       SmallVector<Value> results = body(values);
                       block.mask = nullptr;
                       return results;
                     });
    OpFoldResult whole = roundDown(loop, lanes);
    SmallVector<Value> values =
        emitFor(loop, from, whole, lanes, accumulators, body);
    return emitPointwise(loop, whole, values, body);
  }

  SmallVector<Value> emitPointwise(unsigned loop, OpFoldResult from,
                                   ValueRange accumulators, Body body) {
    block.count[loop] = 1;
    block.lanes = 1;
    SmallVector<Value> values =
        emitFor(loop, from, extents[loop], 1, accumulators, body);
    block.lanes = lanes;
    return values;
  }

  void emitOuter(unsigned level) {
    if (level == plan.outer.size())
      return block.emitLast(emitInner(0, block.emitFirst()));
    emitLoop(plan.outer[level], {}, [&](ValueRange) {
      emitOuter(level + 1);
      return SmallVector<Value>();
    });
  }

  SmallVector<Value> emitInner(unsigned level, ValueRange accumulators) {
    if (level == plan.inner.size())
      return block.emitPoints(accumulators);
    return emitLoop(plan.inner[level], accumulators, [&](ValueRange args) {
      return emitInner(level + 1, args);
    });
  }

  OpBuilder &b;
  Location loc;
  const VectorPlan &plan;
  const int64_t lanes;
  SmallVector<OpFoldResult> extents;
  BlockEmitter block;
};

} // namespace

void cpu::emitVectorCode(OpBuilder &builder, linalg::LinalgOp op,
                         const VectorPlan &plan) {
  LoopEmitter(builder, op, plan).run();
}
