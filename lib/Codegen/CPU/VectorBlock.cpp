//===- VectorBlock.cpp - Vector code for one block of points --------------===//

#include "VectorBlock.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

#include <functional>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

BlockEmitter::BlockEmitter(OpBuilder &b, linalg::LinalgOp op,
                           const VectorPlan &plan)
    : origin(op.getNumLoops()), count(op.getNumLoops(), 1), lanes(plan.lanes),
      b(b), loc(op.getLoc()), op(op), plan(plan), wide(op.getNumDpsInits()) {
  for (OpOperand &operand : op->getOpOperands())
    views.push_back(makeView(operand));
  if (plan.laneLoop)
    analyzeBody();
}

bool BlockEmitter::hasStridedOperand() const {
  return llvm::any_of(views, [](const View &view) {
    return view.access == LaneAccess::Strided;
  });
}

BlockEmitter::View BlockEmitter::makeView(OpOperand &operand) {
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
    view.source = memref::SubViewOp::create(b, loc, type, view.source, offsets,
                                            sizes, strides);
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
void BlockEmitter::analyzeBody() {
  for (OpOperand &operand : op->getOpOperands()) {
    llvm::SmallBitVector loops(count.size());
    for (unsigned loop = 0; loop < count.size(); ++loop)
      loops[loop] = usesLoop(op, operand, loop);
    // Lanes that reduce hold one partial result each.
    if (op.isDpsInit(&operand) && plan.lanesReduce)
      loops.set(*plan.laneLoop);
    dependence[op.getMatchingBlockArgument(&operand)] = loops;
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    llvm::SmallBitVector loops(count.size());
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

//===----------------------------------------------------------------------===//
// Points and accumulators
//===----------------------------------------------------------------------===//

// The accumulators of a whole reduction outlive its blocks.
int64_t BlockEmitter::getAccumulatorCount(unsigned loop) const {
  return plan.lanesReduce && isLane(loop) ? plan.vectors : count[loop];
}

bool BlockEmitter::hasAccumulator(unsigned output) {
  return !plan.inner.empty() ||
         !op.getMatchingBlockArgument(op.getDpsInitOperand(output)).use_empty();
}

// Calls `visit` for each point of the block in the loops of `loops`, with
// `counts` points each.
void BlockEmitter::forEachPoint(function_ref<bool(unsigned)> loops,
                                function_ref<int64_t(unsigned)> counts,
                                function_ref<void(const Point &)> visit) {
  Point point(count.size(), 0);
  std::function<void(unsigned)> recurse = [&](unsigned loop) {
    if (loop == count.size())
      return visit(point);
    int64_t end = loops(loop) ? counts(loop) : 1;
    for (point[loop] = 0; point[loop] < end; ++point[loop])
      recurse(loop + 1);
    point[loop] = 0;
  };
  recurse(0);
}

// The number of a point among those that differ in `loops`.
int64_t BlockEmitter::linearize(const Point &point,
                                const llvm::SmallBitVector &loops,
                                function_ref<int64_t(unsigned)> counts) {
  int64_t number = 0;
  for (unsigned loop : loops.set_bits())
    number = number * counts(loop) + point[loop];
  return number;
}

unsigned BlockEmitter::getOutputView(unsigned output) {
  return op.getDpsInitOperand(output)->getOperandNumber();
}

void BlockEmitter::forEachAccumulator(unsigned output, bool perLane,
                                      function_ref<void(const Point &)> visit) {
  OpOperand *init = op.getDpsInitOperand(output);
  forEachPoint(
      [&](unsigned loop) {
        return usesLoop(op, *init, loop) ||
               (perLane && plan.lanesReduce && isLane(loop));
      },
      [&](unsigned loop) { return getAccumulatorCount(loop); }, visit);
}

unsigned BlockEmitter::getAccumulator(unsigned output, const Point &point) {
  BlockArgument arg = op.getMatchingBlockArgument(op.getDpsInitOperand(output));
  return firstAccumulator[output] +
         linearize(point, dependence[arg],
                   [&](unsigned loop) { return getAccumulatorCount(loop); });
}

SmallVector<Value> BlockEmitter::emitFirst() {
  SmallVector<Value> first;
  firstAccumulator.clear();
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    firstAccumulator.push_back(first.size());
    bool has = hasAccumulator(i);
    forEachAccumulator(i, /*perLane=*/true, [&](const Point &point) {
      first.push_back(!has               ? Value()
                      : plan.lanesReduce ? emitIdentity(i)
                                         : emitLoadOutput(i, point));
    });
  }
  return first;
}

void BlockEmitter::emitLast(ArrayRef<Value> after) {
  unsigned next = 0;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    forEachAccumulator(i, /*perLane=*/false, [&](const Point &point) {
      emitStoreOutput(i, point,
                      plan.lanesReduce
                          ? emitLaneReduction(i, point, after, next)
                          : after[next++]);
    });
}

Value BlockEmitter::emitIdentity(unsigned output) {
  TypedAttr identity =
      arith::getNeutralElement(matchCombiner(op, output)).value();
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(VectorType::get(lanes, identity.getType()),
                             ArrayRef<Attribute>(identity)));
}

Value BlockEmitter::emitLaneReduction(unsigned output, const Point &point,
                                      ArrayRef<Value> accumulators,
                                      unsigned &next) {
  vector::CombiningKind kind = plan.combiners[output];
  Value sum = accumulators[next++];
  for (int64_t i = 1; i < plan.vectors; ++i)
    sum = vector::makeArithReduction(b, loc, kind, sum, accumulators[next++]);
  return vector::ReductionOp::create(b, loc, kind, sum,
                                     emitLoadOutput(output, point));
}

// Loads an output in the type that it is combined in.
Value BlockEmitter::emitLoadOutput(unsigned output, const Point &point) {
  Value value = emitLoad(getOutputView(output), point);
  if (!wide[output])
    return value;
  Type type = matchCombiner(op, output)->getResult(0).getType();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  return arith::ExtFOp::create(b, loc, type, value);
}

void BlockEmitter::emitStoreOutput(unsigned output, const Point &point,
                                   Value value) {
  if (wide[output]) {
    Type type = getElementTypeOrSelf(op.getDpsInits()[output]);
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = vector.clone(type);
    value = arith::TruncFOp::create(b, loc, type, value);
  }
  emitStore(getOutputView(output), point, value);
}

// Computes the block's points; returns the new accumulators.
SmallVector<Value> BlockEmitter::emitPoints(ValueRange before) {
  if (!plan.laneLoop)
    return emitScalarBody(before);
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

//===----------------------------------------------------------------------===//
// Values of the body
//===----------------------------------------------------------------------===//

void BlockEmitter::emitOutput(unsigned output, const Point &point,
                              Value &accumulator) {
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

bool BlockEmitter::isMasked(const Point &point) const {
  return mask && point[*plan.laneLoop] == count[*plan.laneLoop] - 1;
}

Value BlockEmitter::broadcast(Value value) {
  return vector::BroadcastOp::create(
      b, loc, VectorType::get(lanes, value.getType()), value);
}

// The value of `value`, of the op's body or from outside, at one point.
Value BlockEmitter::emitValue(Value value, const Point &point) {
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

Value BlockEmitter::emitArgument(BlockArgument arg, const Point &point) {
  OpOperand *operand = &op->getOpOperand(arg.getArgNumber());
  if (op.isDpsInit(operand))
    return accumulators[getAccumulator(
        operand->getOperandNumber() - op.getNumDpsInputs(), point)];
  return emitLoad(operand->getOperandNumber(), point);
}

Value BlockEmitter::emitBodyOp(Operation *inner, const Point &point) {
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
    copy->setAttr("fastmath",
                  arith::FastMathFlagsAttr::get(
                      b.getContext(), flags | arith::FastMathFlags::contract));
  }
  return copy->getResult(0);
}

// Whether the operands are those of the extension of a wide accumulator.
bool BlockEmitter::isWideAccumulator(OperandRange operands) {
  auto arg = operands.size() == 1 ? dyn_cast<BlockArgument>(operands[0])
                                  : BlockArgument();
  if (!arg || arg.getOwner() != op.getBlock() ||
      arg.getArgNumber() < op.getNumDpsInputs())
    return false;
  return wide[arg.getArgNumber() - op.getNumDpsInputs()];
}

Value BlockEmitter::emitIndex(unsigned loop, const Point &point) {
  int64_t offset = point[loop] * (isLane(loop) ? lanes : 1);
  Value index = arith::AddIOp::create(
      b, loc, origin[loop], arith::ConstantIndexOp::create(b, loc, offset));
  if (!isLane(loop) || lanes == 1)
    return index;
  Value steps =
      vector::StepOp::create(b, loc, VectorType::get(lanes, b.getIndexType()));
  return arith::AddIOp::create(b, loc, broadcast(index), steps);
}

// The body as it is: it may hold anything.
SmallVector<Value> BlockEmitter::emitScalarBody(ValueRange before) {
  Point point(count.size(), 0);
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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

// The indices of a view at a point, `lane` lanes further.
SmallVector<Value> BlockEmitter::emitIndices(const View &view,
                                             const Point &point, int64_t lane) {
  SmallVector<AffineExpr> dims;
  for (unsigned loop = 0; loop < count.size(); ++loop) {
    int64_t offset = isLane(loop) ? point[loop] * lanes + lane : point[loop];
    dims.push_back(b.getAffineDimExpr(loop) + offset);
  }
  SmallVector<Value> indices;
  for (AffineExpr expr : view.map.getResults())
    indices.push_back(
        affine::expandAffineExpr(b, loc, expr.replaceDims(dims), origin, {}));
  return indices;
}

Value BlockEmitter::emitLoad(unsigned number, const Point &point) {
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

Value BlockEmitter::emitVectorLoad(Value source, ValueRange indices,
                                   bool masked) {
  auto type = VectorType::get(
      lanes, cast<MemRefType>(source.getType()).getElementType());
  if (!masked)
    return vector::LoadOp::create(b, loc, type, source, indices);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, loc, type, source, indices, mask,
                                      zero);
}

Value BlockEmitter::emitStridedLoad(const View &view, Type element,
                                    const Point &point) {
  int64_t used = isMasked(point) ? live : lanes;
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < used; ++lane)
    elements.push_back(memref::LoadOp::create(b, loc, view.source,
                                              emitIndices(view, point, lane)));
  elements.resize(lanes, elements.front());
  return vector::FromElementsOp::create(b, loc, VectorType::get(lanes, element),
                                        elements);
}

bool BlockEmitter::isTransposed(unsigned number) {
  return getLaneAccess(op, op->getOpOperand(number), *plan.transposedLoop) ==
             LaneAccess::Contiguous &&
         !cast<MemRefType>(views[number].source.getType())
              .getElementType()
              .isInteger(1);
}

bool BlockEmitter::isWholeTranspose() const {
  return count[*plan.transposedLoop] == lanes && count[*plan.laneLoop] == 1 &&
         !mask;
}

// Loads `lanes` vectors along the transposed loop, and transposes them by
// interleaving: a round moves one bit of the row number to the column number.
Value BlockEmitter::emitTransposedLoad(unsigned number, const Point &point) {
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

void BlockEmitter::emitStore(unsigned number, const Point &point, Value value) {
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
