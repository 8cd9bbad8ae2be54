//===- VectorEmit.cpp - Loops and vector ops of one linalg op -------------===//
//
// The loops of an op are emitted outermost first. Each is cut into blocks and
// what is left; inside all of them a block of points is computed with one value
// for each point, or for each `lanes` points of the lane loop: loads are shared
// by the points that read the same, outputs stay in registers across the loops
// of reductions.
//
//===----------------------------------------------------------------------===//

#include "VectorEmit.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

#include <functional>

using namespace mlir;
using namespace mlir::pit;

namespace {

/// Coordinates of a point in a block, for each loop in steps of one, or of one
/// vector for the lane loop.
using Point = SmallVector<int64_t, 6>;

class Emitter {
public:
  Emitter(OpBuilder &b, linalg::LinalgOp op, const VectorPlan &plan)
      : b(b), loc(op.getLoc()), op(op), plan(plan), lanes(plan.lanes) {
    for (auto [range, known] :
         llvm::zip(op.createLoopRanges(b, loc), getKnownExtents(op)))
      extents.push_back(ShapedType::isDynamic(known) ? range.size
                                                     : b.getIndexAttr(known));
    origin.resize(extents.size());
    count.resize(extents.size(), 1);
    for (OpOperand &operand : op->getOpOperands())
      views.push_back(makeView(operand));
    wide.resize(op.getNumDpsInits());
    if (plan.laneLoop)
      analyzeBody();
  }

  void run() { emitOuter(0); }

private:
  /// An operand, without trailing dims of size one if lanes run along the dim
  /// before them, and as bytes if it is read as vectors of i1.
  struct View {
    Value source, bytes;
    AffineMap map;
    LaneAccess access;
  };

  //===--------------------------------------------------------------------===//
  // Set-up
  //===--------------------------------------------------------------------===//

  View makeView(OpOperand &operand) {
    View view{operand.get(), nullptr, op.getMatchingIndexingMap(&operand),
              LaneAccess::Uniform};
    auto type = dyn_cast<MemRefType>(view.source.getType());
    if (!plan.laneLoop || !type)
      return view;
    view.access = getLaneAccess(op, operand, *plan.laneLoop);
    if (view.access != LaneAccess::Contiguous)
      return view;
    unsigned rank = type.getRank();
    while (!view.map.getResult(rank - 1).isFunctionOfDim(*plan.laneLoop))
      --rank;
    if (rank < type.getRank()) {
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
          sizes = memref::getMixedSizes(b, loc, view.source),
          strides(type.getRank(), b.getIndexAttr(1));
      type = memref::SubViewOp::inferRankReducedResultType(
          type.getShape().take_front(rank), type, offsets, sizes, strides);
      view.source = memref::SubViewOp::create(b, loc, type, view.source,
                                              offsets, sizes, strides);
      view.map = view.map.getMajorSubMap(rank);
    }
    // A vector of i1 is a bit string in memory, while an element is a byte.
    if (type.getElementType().isInteger(1))
      view.bytes = UnrealizedConversionCastOp::create(
                       b, loc,
                       MemRefType::get(type.getShape(), b.getI8Type(),
                                       type.getLayout(), type.getMemorySpace()),
                       view.source)
                       .getResult(0);
    return view;
  }

  // Finds the loops that each value of the body depends on, and the
  // multiply-adds.
  void analyzeBody() {
    for (OpOperand &operand : op->getOpOperands()) {
      llvm::SmallBitVector loops(extents.size());
      for (unsigned loop = 0; loop < extents.size(); ++loop)
        loops[loop] = usesLoop(op, operand, loop);
      // Lanes that reduce hold one partial result each.
      if (op.isDpsInit(&operand) && plan.lanesReduce)
        loops.set(*plan.laneLoop);
      dependence[op.getMatchingBlockArgument(&operand)] = loops;
    }
    for (Operation &inner : op.getBlock()->without_terminator()) {
      llvm::SmallBitVector loops(extents.size());
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        loops.set(index.getDim());
      for (Value operand : inner.getOperands())
        if (dependence.contains(operand))
          loops |= dependence[operand];
      dependence[inner.getResult(0)] = loops;
    }
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
      wide[i] = isWide(op, i);
    for (unsigned i = 0; !plan.inner.empty() && i < op.getNumDpsInits(); ++i)
      if (auto add = dyn_cast_or_null<arith::AddFOp>(matchCombiner(op, i)))
        for (Value operand : add->getOperands())
          if (auto mul = operand.getDefiningOp<arith::MulFOp>())
            if (mul->hasOneUse() && mul->getBlock() == op.getBlock()) {
              contract.insert(add);
              contract.insert(mul);
            }
  }

  bool isLane(unsigned loop) const { return plan.laneLoop == loop; }

  int64_t getMaxCount(unsigned loop) const {
    if (isLane(loop))
      return plan.vectors;
    for (const VectorPlan::Rows &rows : plan.rows)
      if (rows.loop == loop)
        return rows.count;
    return 1;
  }

  // The accumulators of a whole reduction outlive its blocks.
  int64_t getAccumulatorCount(unsigned loop) const {
    return plan.lanesReduce && isLane(loop) ? plan.vectors : count[loop];
  }

  bool hasAccumulator(unsigned output) {
    return !plan.inner.empty() ||
           !op.getMatchingBlockArgument(op.getDpsInitOperand(output))
                .use_empty();
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  using Body = function_ref<SmallVector<Value>(ValueRange accumulators)>;

  // A loop from `from` to `to`, inline if it is known to run once.
  SmallVector<Value> emitFor(unsigned loop, OpFoldResult from, OpFoldResult to,
                             int64_t step, ValueRange accumulators, Body body) {
    std::optional<int64_t> low = getConstantIntValue(from),
                           high = getConstantIntValue(to);
    if (low && high && *low >= *high)
      return SmallVector<Value>(accumulators);
    if (low && high && *high - *low <= step) {
      origin[loop] = getValueOrCreateConstantIndexOp(b, loc, from);
      return body(accumulators);
    }
    auto forOp = scf::ForOp::create(
        b, loc, getValueOrCreateConstantIndexOp(b, loc, from),
        getValueOrCreateConstantIndexOp(b, loc, to), constant(step),
        accumulators, [&](OpBuilder &, Location, Value iv, ValueRange args) {
          origin[loop] = iv;
          scf::YieldOp::create(b, loc, body(args));
        });
    return SmallVector<Value>(forOp.getResults());
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
    count[loop] = step;
    SmallVector<Value> values =
        emitFor(loop, b.getIndexAttr(0), middle, step, accumulators, body);
    count[loop] = extent ? *extent % step : 1;
    if (count[loop] != 0)
      values = emitFor(loop, middle, extents[loop], count[loop], values, body);
    count[loop] = 1;
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
    count[loop] = vectors;
    SmallVector<Value> values = emitFor(loop, b.getIndexAttr(0), middle,
                                        vectors * lanes, accumulators, body);
    if (extent)
      values = emitStaticRest(loop, getConstantIntValue(middle).value(),
                              *extent, values, body);
    else
      values = emitDynamicRest(loop, middle, values, body);
    count[loop] = 1;
    return values;
  }

  SmallVector<Value> emitStaticRest(unsigned loop, int64_t from, int64_t to,
                                    ValueRange accumulators, Body body) {
    int64_t rest = to - from;
    SmallVector<Value> values(accumulators);
    if (!plan.maskable) {
      int64_t whole = from + rest / lanes * lanes;
      count[loop] = rest / lanes;
      values = emitFor(loop, b.getIndexAttr(from), b.getIndexAttr(whole), rest,
                       values, body);
      return emitPointwise(loop, b.getIndexAttr(whole), values, body);
    }
    count[loop] = llvm::divideCeil(rest, lanes);
    live = rest - (count[loop] - 1) * lanes;
    if (rest != 0 && live != lanes)
      mask = vector::ConstantMaskOp::create(
          b, loc, VectorType::get(lanes, b.getI1Type()),
          ArrayRef<int64_t>(live));
    values = emitFor(loop, b.getIndexAttr(from), b.getIndexAttr(to),
                     std::max<int64_t>(rest, 1), values, body);
    mask = nullptr;
    live = lanes;
    return values;
  }

  SmallVector<Value> emitDynamicRest(unsigned loop, OpFoldResult from,
                                     ValueRange accumulators, Body body) {
    count[loop] = 1;
    bool strided = llvm::any_of(views, [](const View &view) {
      return view.access == LaneAccess::Strided;
    });
    if (plan.maskable && !strided)
      return emitFor(loop, from, extents[loop], lanes, accumulators,
                     [&](ValueRange values) {
                       Value rest = arith::SubIOp::create(
                           b, loc, cast<Value>(extents[loop]), origin[loop]);
                       mask = vector::CreateMaskOp::create(
                           b, loc, VectorType::get(lanes, b.getI1Type()), rest);
                       SmallVector<Value> results = body(values);
                       mask = nullptr;
                       return results;
                     });
    OpFoldResult whole = roundDown(loop, lanes);
    SmallVector<Value> values =
        emitFor(loop, from, whole, lanes, accumulators, body);
    return emitPointwise(loop, whole, values, body);
  }

  SmallVector<Value> emitPointwise(unsigned loop, OpFoldResult from,
                                   ValueRange accumulators, Body body) {
    count[loop] = 1;
    int64_t saved = std::exchange(lanes, 1);
    SmallVector<Value> values =
        emitFor(loop, from, extents[loop], 1, accumulators, body);
    lanes = saved;
    return values;
  }

  void emitOuter(unsigned level) {
    if (level == plan.outer.size())
      return emitBlock();
    emitLoop(plan.outer[level], {}, [&](ValueRange) {
      emitOuter(level + 1);
      return SmallVector<Value>();
    });
  }

  SmallVector<Value> emitInner(unsigned level, ValueRange accumulators) {
    if (level == plan.inner.size())
      return plan.laneLoop ? emitPoints(accumulators)
                           : emitScalarBody(accumulators);
    return emitLoop(plan.inner[level], accumulators, [&](ValueRange args) {
      return emitInner(level + 1, args);
    });
  }

  //===--------------------------------------------------------------------===//
  // One block
  //===--------------------------------------------------------------------===//

  // Calls `visit` for each point of the block in the loops of `loops`, with
  // `counts` points each.
  void forEachPoint(function_ref<bool(unsigned)> loops,
                    function_ref<int64_t(unsigned)> counts,
                    function_ref<void(const Point &)> visit) {
    Point point(extents.size(), 0);
    std::function<void(unsigned)> recurse = [&](unsigned loop) {
      if (loop == extents.size())
        return visit(point);
      int64_t end = loops(loop) ? counts(loop) : 1;
      for (point[loop] = 0; point[loop] < end; ++point[loop])
        recurse(loop + 1);
      point[loop] = 0;
    };
    recurse(0);
  }

  // The number of a point among those that differ in `loops`.
  int64_t linearize(const Point &point, const llvm::SmallBitVector &loops,
                    function_ref<int64_t(unsigned)> counts) {
    int64_t number = 0;
    for (unsigned loop : loops.set_bits())
      number = number * counts(loop) + point[loop];
    return number;
  }

  unsigned getOutputView(unsigned output) {
    return op.getDpsInitOperand(output)->getOperandNumber();
  }

  void forEachAccumulator(unsigned output, bool perLane,
                          function_ref<void(const Point &)> visit) {
    OpOperand *init = op.getDpsInitOperand(output);
    forEachPoint(
        [&](unsigned loop) {
          return usesLoop(op, *init, loop) ||
                 (perLane && plan.lanesReduce && isLane(loop));
        },
        [&](unsigned loop) { return getAccumulatorCount(loop); }, visit);
  }

  void emitBlock() {
    SmallVector<Value> accumulators;
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
      firstAccumulator.resize(i + 1);
      firstAccumulator[i] = accumulators.size();
      if (hasAccumulator(i))
        forEachAccumulator(i, /*perLane=*/true, [&](const Point &point) {
          accumulators.push_back(plan.lanesReduce ? emitIdentity(i)
                                                  : emitLoadOutput(i, point));
        });
      else
        forEachAccumulator(i, /*perLane=*/true, [&](const Point &) {
          accumulators.push_back(nullptr);
        });
    }
    accumulators = emitInner(0, accumulators);
    unsigned next = 0;
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
      forEachAccumulator(i, /*perLane=*/false, [&](const Point &point) {
        Value value = plan.lanesReduce
                          ? emitLaneReduction(i, point, accumulators, next)
                          : accumulators[next++];
        emitStoreOutput(i, point, value);
      });
  }

  Value emitIdentity(unsigned output) {
    TypedAttr identity =
        arith::getNeutralElement(matchCombiner(op, output)).value();
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(VectorType::get(lanes, identity.getType()),
                               ArrayRef<Attribute>(identity)));
  }

  Value emitLaneReduction(unsigned output, const Point &point,
                          ArrayRef<Value> accumulators, unsigned &next) {
    vector::CombiningKind kind = plan.combiners[output];
    Value sum = accumulators[next++];
    for (int64_t i = 1; i < plan.vectors; ++i)
      sum = vector::makeArithReduction(b, loc, kind, sum, accumulators[next++]);
    return vector::ReductionOp::create(b, loc, kind, sum,
                                       emitLoadOutput(output, point));
  }

  // Loads an output in the type that it is combined in.
  Value emitLoadOutput(unsigned output, const Point &point) {
    Value value = emitLoad(getOutputView(output), point);
    if (!wide[output])
      return value;
    Type type = matchCombiner(op, output)->getResult(0).getType();
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = vector.clone(type);
    return arith::ExtFOp::create(b, loc, type, value);
  }

  void emitStoreOutput(unsigned output, const Point &point, Value value) {
    if (wide[output]) {
      Type type = getElementTypeOrSelf(op.getDpsInits()[output]);
      if (auto vector = dyn_cast<VectorType>(value.getType()))
        type = vector.clone(type);
      value = arith::TruncFOp::create(b, loc, type, value);
    }
    emitStore(getOutputView(output), point, value);
  }

  // Computes the block's points; returns the new accumulators.
  SmallVector<Value> emitPoints(ValueRange before) {
    memo.clear();
    accumulators = before;
    SmallVector<Value> after(before);
    forEachPoint([](unsigned) { return true; },
                 [&](unsigned loop) { return count[loop]; },
                 [&](const Point &point) {
                   for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
                     emitOutput(i, point, after[getAccumulator(i, point)]);
                 });
    return after;
  }

  unsigned getAccumulator(unsigned output, const Point &point) {
    BlockArgument arg =
        op.getMatchingBlockArgument(op.getDpsInitOperand(output));
    return firstAccumulator[output] +
           linearize(point, dependence[arg],
                     [&](unsigned loop) { return getAccumulatorCount(loop); });
  }

  void emitOutput(unsigned output, const Point &point, Value &accumulator) {
    Value result = op.getBlock()->getTerminator()->getOperand(output);
    if (wide[output])
      result = result.getDefiningOp()->getOperand(0);
    Value value = emitValue(result, point);
    if (lanes > 1 && !isa<VectorType>(value.getType()) &&
        (plan.lanesReduce ||
         views[getOutputView(output)].access == LaneAccess::Contiguous))
      value = broadcast(value);
    // Lanes that are switched off keep their partial result.
    if (plan.lanesReduce && isMasked(point))
      value = arith::SelectOp::create(b, loc, mask, value, accumulator);
    accumulator = value;
  }

  bool isMasked(const Point &point) const {
    return mask && point[*plan.laneLoop] == count[*plan.laneLoop] - 1;
  }

  Value broadcast(Value value) {
    return vector::BroadcastOp::create(
        b, loc, VectorType::get(lanes, value.getType()), value);
  }

  // The value of `value`, of the op's body or from outside, at one point.
  Value emitValue(Value value, const Point &point) {
    auto known = dependence.find(value);
    if (known == dependence.end())
      return value;
    const llvm::SmallBitVector &loops = known->second;
    auto counts = [&](unsigned loop) { return count[loop]; };
    int64_t number = linearize(point, loops, counts);
    SmallVector<Value> &values = memo[value];
    if (values.size() <= static_cast<size_t>(number))
      values.resize(number + 1);
    if (values[number])
      return values[number];
    Value result;
    if (auto arg = dyn_cast<BlockArgument>(value))
      result = emitArgument(arg, point);
    else
      result = emitBodyOp(value.getDefiningOp(), point);
    // The recursion may have moved the map's entries.
    SmallVector<Value> &again = memo[value];
    if (again.size() <= static_cast<size_t>(number))
      again.resize(number + 1);
    return again[number] = result;
  }

  Value emitArgument(BlockArgument arg, const Point &point) {
    OpOperand *operand = &op->getOpOperand(arg.getArgNumber());
    if (op.isDpsInit(operand))
      return accumulators[getAccumulator(
          operand->getOperandNumber() - op.getNumDpsInputs(), point)];
    return emitLoad(operand->getOperandNumber(), point);
  }

  Value emitBodyOp(Operation *inner, const Point &point) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      return emitIndex(index.getDim(), point);
    // Wide accumulators are extended already.
    if (isWideAccumulator(inner->getOperands()))
      return emitValue(inner->getOperand(0), point);
    SmallVector<Value> operands;
    bool isVector = false;
    for (Value operand : inner->getOperands()) {
      operands.push_back(emitValue(operand, point));
      isVector |= isa<VectorType>(operands.back().getType());
    }
    IRMapping mapping;
    for (auto [from, to] : llvm::zip(inner->getOperands(), operands)) {
      bool spread = isVector && !isa<VectorType>(to.getType());
      mapping.map(from, spread ? broadcast(to) : to);
    }
    Operation *copy = b.clone(*inner, mapping);
    if (isVector)
      copy->getResult(0).setType(
          VectorType::get(lanes, inner->getResult(0).getType()));
    if (contract.contains(inner)) {
      auto flags = cast<arith::ArithFastMathInterface>(inner)
                       .getFastMathFlagsAttr()
                       .getValue();
      copy->setAttr("fastmath", arith::FastMathFlagsAttr::get(
                                    b.getContext(),
                                    flags | arith::FastMathFlags::contract));
    }
    return copy->getResult(0);
  }

  // Whether the operands are those of the extension of a wide accumulator.
  bool isWideAccumulator(OperandRange operands) {
    auto arg = operands.size() == 1 ? dyn_cast<BlockArgument>(operands[0])
                                    : BlockArgument();
    if (!arg || arg.getOwner() != op.getBlock() ||
        arg.getArgNumber() < op.getNumDpsInputs())
      return false;
    return wide[arg.getArgNumber() - op.getNumDpsInputs()];
  }

  Value emitIndex(unsigned loop, const Point &point) {
    int64_t offset = point[loop] * (isLane(loop) ? lanes : 1);
    Value index = arith::AddIOp::create(b, loc, origin[loop], constant(offset));
    if (!isLane(loop) || lanes == 1)
      return index;
    Value steps = vector::StepOp::create(
        b, loc, VectorType::get(lanes, b.getIndexType()));
    return arith::AddIOp::create(b, loc, broadcast(index), steps);
  }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  // The indices of a view at a point, `lane` lanes further.
  SmallVector<Value> emitIndices(const View &view, const Point &point,
                                 int64_t lane = 0) {
    SmallVector<AffineExpr> dims;
    for (unsigned loop = 0; loop < extents.size(); ++loop) {
      int64_t offset = isLane(loop) ? point[loop] * lanes + lane : point[loop];
      dims.push_back(b.getAffineDimExpr(loop) + offset);
    }
    SmallVector<Value> indices;
    for (AffineExpr expr : view.map.getResults())
      indices.push_back(
          affine::expandAffineExpr(b, loc, expr.replaceDims(dims), origin, {}));
    return indices;
  }

  Value emitLoad(unsigned number, const Point &point) {
    const View &view = views[number];
    auto type = dyn_cast<MemRefType>(view.source.getType());
    if (!type)
      return view.source;
    if (view.access == LaneAccess::Uniform || lanes == 1)
      return memref::LoadOp::create(b, loc, view.source,
                                    emitIndices(view, point));
    if (view.access == LaneAccess::Strided)
      return plan.transposedLoop && isWholeTranspose() && isTransposed(number)
                 ? emitTransposedLoad(number, point)
                 : emitStridedLoad(view, type.getElementType(), point);
    Value value = emitVectorLoad(view.bytes ? view.bytes : view.source,
                                 emitIndices(view, point), isMasked(point));
    if (!view.bytes)
      return value;
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }

  Value emitVectorLoad(Value source, ValueRange indices, bool masked) {
    auto type = VectorType::get(
        lanes, cast<MemRefType>(source.getType()).getElementType());
    if (!masked)
      return vector::LoadOp::create(b, loc, type, source, indices);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    return vector::MaskedLoadOp::create(b, loc, type, source, indices, mask,
                                        zero);
  }

  Value emitStridedLoad(const View &view, Type element, const Point &point) {
    int64_t used = isMasked(point) ? live : lanes;
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < used; ++lane)
      elements.push_back(memref::LoadOp::create(
          b, loc, view.source, emitIndices(view, point, lane)));
    elements.resize(lanes, elements.front());
    return vector::FromElementsOp::create(
        b, loc, VectorType::get(lanes, element), elements);
  }

  bool isTransposed(unsigned number) {
    return getLaneAccess(op, op->getOpOperand(number), *plan.transposedLoop) ==
               LaneAccess::Contiguous &&
           !cast<MemRefType>(views[number].source.getType())
                .getElementType()
                .isInteger(1);
  }

  bool isWholeTranspose() const {
    return count[*plan.transposedLoop] == lanes && count[*plan.laneLoop] == 1 &&
           !mask;
  }

  // Loads `lanes` vectors along the transposed loop, and transposes them by
  // interleaving: a round moves one bit of the row number to the column number.
  Value emitTransposedLoad(unsigned number, const Point &point) {
    const View &view = views[number];
    unsigned along = *plan.transposedLoop;
    Point first = point;
    first[along] = 0;
    SmallVector<Value> rows;
    for (int64_t lane = 0; lane < lanes; ++lane)
      rows.push_back(emitVectorLoad(view.source, emitIndices(view, first, lane),
                                    /*masked=*/false));
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes; ++i) {
      low.push_back(i / 2 + i % 2 * lanes);
      high.push_back(i / 2 + lanes / 2 + i % 2 * lanes);
    }
    for (int64_t round = 1; round < lanes; round *= 2) {
      SmallVector<Value> next;
      for (int64_t i = 0; i < lanes / 2; ++i)
        for (ArrayRef<int64_t> picks : {ArrayRef(low), ArrayRef(high)})
          next.push_back(vector::ShuffleOp::create(b, loc, rows[i],
                                                   rows[i + lanes / 2], picks));
      rows = next;
    }
    // All points along the loop are known now.
    BlockArgument arg = op.getMatchingBlockArgument(&op->getOpOperand(number));
    const llvm::SmallBitVector &loops = dependence[arg];
    for (first[along] = 0; first[along] < lanes; ++first[along]) {
      int64_t entry =
          linearize(first, loops, [&](unsigned loop) { return count[loop]; });
      SmallVector<Value> &values = memo[arg];
      if (values.size() <= static_cast<size_t>(entry))
        values.resize(entry + 1);
      values[entry] = rows[first[along]];
    }
    return rows[point[along]];
  }

  void emitStore(unsigned number, const Point &point, Value value) {
    const View &view = views[number];
    SmallVector<Value> indices = emitIndices(view, point);
    if (!isa<VectorType>(value.getType())) {
      memref::StoreOp::create(b, loc, value, view.source, indices);
      return;
    }
    Value target = view.source;
    if (view.bytes) {
      target = view.bytes;
      value = arith::ExtUIOp::create(
          b, loc, VectorType::get(lanes, b.getI8Type()), value);
    }
    if (isMasked(point))
      vector::MaskedStoreOp::create(b, loc, target, indices, mask, value);
    else
      vector::StoreOp::create(b, loc, value, target, indices);
  }

  //===--------------------------------------------------------------------===//
  // Scalar code
  //===--------------------------------------------------------------------===//

  // The body as it is: it may hold anything.
  SmallVector<Value> emitScalarBody(ValueRange before) {
    Point point(extents.size(), 0);
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument arg = op.getMatchingBlockArgument(&operand);
      if (arg.use_empty())
        continue;
      unsigned number = operand.getOperandNumber();
      mapping.map(arg, op.isDpsInit(&operand)
                           ? before[number - op.getNumDpsInputs()]
                           : emitLoad(number, point));
    }
    for (Operation &inner : op.getBlock()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
        mapping.map(index.getResult(), origin[index.getDim()]);
        continue;
      }
      Operation *copy = b.clone(inner, mapping);
      copy->walk([&](linalg::IndexOp index) {
        index.replaceAllUsesWith(origin[index.getDim()]);
        index.erase();
      });
    }
    SmallVector<Value> after;
    for (Value value : op.getBlock()->getTerminator()->getOperands())
      after.push_back(mapping.lookupOrDefault(value));
    return after;
  }

  OpBuilder &b;
  Location loc;
  linalg::LinalgOp op;
  const VectorPlan &plan;
  SmallVector<OpFoldResult> extents;
  SmallVector<View> views;
  /// The loops that a value of the body depends on.
  DenseMap<Value, llvm::SmallBitVector> dependence;
  /// Outputs that are combined in a wider type than they have in memory.
  llvm::SmallBitVector wide;
  /// Products and sums that may be fused.
  DenseSet<Operation *> contract;

  // The block that is being emitted.

  /// Its first point.
  SmallVector<Value> origin;
  /// Points along each loop; vectors along the lane loop.
  SmallVector<int64_t> count;
  /// Lanes of a vector: the plan's, or 1 in what is left of a loop.
  int64_t lanes;
  /// If set: the lanes of the last vector that are used, and their number where
  /// it is known.
  Value mask;
  int64_t live = 0;
  /// Values at the points, in the order of `linearize`.
  DenseMap<Value, SmallVector<Value>> memo;
  ValueRange accumulators;
  SmallVector<unsigned> firstAccumulator;
};

} // namespace

void pit::emitVectorCode(OpBuilder &builder, linalg::LinalgOp op,
                         const VectorPlan &plan) {
  Emitter(builder, op, plan).run();
}
