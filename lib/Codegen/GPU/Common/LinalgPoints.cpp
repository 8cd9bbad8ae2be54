//===- LinalgPoints.cpp - Points of a linalg op in one thread -------------===//

#include "LinalgLowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// The result of `map` that is loop `d` alone, or nothing.
static std::optional<unsigned> plainResult(AffineMap map, unsigned d) {
  for (auto [i, result] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      if (dim.getPosition() == d)
        return i;
  return std::nullopt;
}

/// 0 of a number's type.
static Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Attribute part = builder.getZeroAttr(complex.getElementType());
    return complex::ConstantOp::create(builder, loc, type,
                                       builder.getArrayAttr({part, part}));
  }
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

/// The most that a number can be which is computed from constants that bound
/// it, and is not negative; none if that is not known.
static std::optional<int64_t> mostOf(Value value) {
  APInt constant;
  auto small = [](std::optional<int64_t> most) {
    return most && *most >= 0 && *most < INT32_MAX ? most : std::nullopt;
  };
  if (matchPattern(value, m_ConstantInt(&constant)))
    return small(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::IndexCastOp>(op))
    return mostOf(op->getOperand(0));
  if (!op || op->getNumOperands() != 2)
    return std::nullopt;
  std::optional<int64_t> x = mostOf(op->getOperand(0)),
                         y = mostOf(op->getOperand(1));
  if (isa<arith::AndIOp, arith::MinUIOp>(op))
    return x && y ? std::min(*x, *y) : x ? x : y;
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return small(*x + *y);
  if (isa<arith::MulIOp>(op))
    return small(*x * *y);
  // The distance of a shift is a constant, or its most.
  if (isa<arith::ShLIOp>(op))
    return *y < 31 ? small(*x << *y) : std::nullopt;
  return std::nullopt;
}

/// Is a coordinate known to be within a size?
static bool isKnownInside(Value at, int64_t size) {
  std::optional<int64_t> most = mostOf(at);
  return !ShapedType::isDynamic(size) && most && *most < size;
}

static bool isMinusOne(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && number.isAllOnes();
}

/// Is a coordinate, which is an index that was cast from `number` (i32), less
/// than a size? A negative number is large without its sign. Numbers of
/// 32 bits are compared so: that takes a third of the instructions.
static Value isInside(Emitter &e, Value at, Value number, Value size) {
  if (!number)
    return e.inRange(at, size);
  Value most = e.index(int64_t{1} << 31);
  size = arith::MinUIOp::create(e.b, e.loc, size, most);
  return e.inRange(number, e.toI32(size));
}

/// Has a load read 0 where its coordinates lie outside of the memref. Returns
/// what is read.
static Value guardLoad(OpBuilder &builder, memref::LoadOp load) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(load);
  Location loc = load.getLoc();
  Emitter e(builder, loc);
  Value inside;
  auto require = [&](Value holds) {
    inside = inside ? e.logicalAnd(inside, holds) : holds;
  };
  for (OpOperand &operand : load.getIndicesMutable()) {
    int64_t d = operand.getOperandNumber() - 1;
    Value at = operand.get(), number;
    if (isKnownInside(at, load.getMemRefType().getDimSize(d)))
      continue;
    if (auto cast = at.getDefiningOp<arith::IndexCastOp>();
        cast && cast.getIn().getType().isInteger(32))
      number = cast.getIn();
    // A number or, where nothing is to be read, -1.
    if (auto either = number ? number.getDefiningOp<arith::SelectOp>()
                             : arith::SelectOp();
        either && isMinusOne(either.getFalseValue())) {
      require(either.getCondition());
      number = either.getTrueValue();
      at = e.toIndex(number);
      operand.set(at);
    }
    Value size =
        memref::DimOp::create(builder, loc, load.getMemRef(), d).getResult();
    require(isInside(e, at, number, size));
  }
  if (!inside) // it has no coordinates, or all are known
    return load;
  auto branch = scf::IfOp::create(builder, loc, load.getType(), inside,
                                  /*withElseRegion=*/true);
  load.replaceAllUsesWith(branch.getResult(0));
  load->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, load.getResult());
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, zeroOf(builder, loc, load.getType()));
  return branch.getResult(0);
}

Operation *cuda::cloneBodyOp(OpBuilder &builder, Operation &op,
                             IRMapping &mapping) {
  Operation *clone = builder.clone(op, mapping);
  SmallVector<memref::LoadOp> loads;
  clone->walk([&](memref::LoadOp load) { loads.push_back(load); });
  for (memref::LoadOp load : loads) {
    Value value = guardLoad(builder, load);
    if (load.getOperation() == clone)
      mapping.map(op.getResult(0), value);
  }
  return clone;
}

PointEmitter::PointEmitter(RewriterBase &builder, linalg::LinalgOp op,
                           TypedAttr start)
    : op(op), start(start), builder(builder), loc(op.getLoc()),
      e(builder, loc) {
  for (const Range &range : op.createLoopRanges(builder, loc))
    extents.push_back(range.size);
  SmallVector<AffineMap> outputs;
  for (OpOperand &init : op.getDpsInitsMutable())
    outputs.push_back(op.getMatchingIndexingMap(&init));
  auto iterators = op.getIteratorTypesArray();
  SmallVector<std::pair<unsigned, unsigned>> places;
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    bool isOwn = iterators[d] == utils::IteratorType::parallel &&
                 llvm::all_of(outputs, [&](AffineMap map) {
                   return plainResult(map, d).has_value();
                 });
    if (isOwn)
      places.push_back({*plainResult(outputs.front(), d), d});
    else
      serial.push_back(d);
  }
  llvm::sort(places);
  for (auto [place, d] : places)
    parallel.push_back(d);
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    FailureOr<Combiner> combiner = matchCombiner(op, i);
    combiners.push_back(succeeded(combiner) ? std::optional(*combiner)
                                            : std::nullopt);
  }
  findContractions();
}

void PointEmitter::findContractions() {
  if (serial.empty())
    return;
  for (const std::optional<Combiner> &combiner : combiners) {
    if (!combiner)
      continue;
    for (Operation *add : combiner->ops)
      for (Value operand : add->getOperands())
        if (auto mul = operand.getDefiningOp<arith::MulFOp>())
          if (isa<arith::AddFOp>(add) && mul->hasOneUse() &&
              mul->getBlock() == op.getBlock())
            contractions.insert({add, mul});
  }
}

SmallVector<OpFoldResult>
PointEmitter::extentsOf(ArrayRef<unsigned> loops) const {
  return llvm::map_to_vector(loops, [&](unsigned d) { return extents[d]; });
}

bool PointEmitter::isCarried(unsigned output) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(output));
  return !serial.empty() && llvm::none_of(serial, [&](unsigned d) {
    return map.isFunctionOfDim(d);
  });
}

SmallVector<Value> PointEmitter::subscripts(const Point &point, AffineMap map) {
  SmallVector<Value> result;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      result.push_back(point.ivs[dim.getPosition()]);
    else if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      result.push_back(e.index(constant.getValue()));
    else
      result.push_back(affine::AffineApplyOp::create(
          builder, loc, AffineMap::get(map.getNumDims(), 0, expr), point.ivs));
  }
  return result;
}

Value PointEmitter::load(const Point &point, OpOperand &operand) {
  if (op.isScalar(&operand))
    return operand.get();
  return e.loadAt(operand.get(),
                  subscripts(point, op.getMatchingIndexingMap(&operand)));
}

Value PointEmitter::loadOutput(const Point &point, unsigned output) {
  if (start)
    return e.constant(start);
  return load(point, *op.getDpsInitOperand(output));
}

void PointEmitter::storeOutput(const Point &point, unsigned output,
                               Value value) {
  OpOperand *init = op.getDpsInitOperand(output);
  e.storeAt(value, init->get(),
            subscripts(point, op.getMatchingIndexingMap(init)));
}

/// Bytes of the widest vector that one thread moves at once.
static constexpr int64_t kAccessBytes = 16;

/// Are neighbours along the loop neighbours in the operand's memory?
bool PointEmitter::isVector(OpOperand &operand, unsigned along) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || type.getRank() == 0 ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return false;
  return hasVectors(type.getElementType()) &&
         map.getResults().back() == getAffineDimExpr(along, map.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr expr) {
           return expr.isFunctionOfDim(along);
         });
}

static int64_t vectorBytes(OpOperand &operand, int64_t count) {
  Type element = getElementTypeOrSelf(operand.get().getType());
  return std::min(kAccessBytes, count * elementBytes(element));
}

Value PointEmitter::haveVectors(unsigned along, int64_t count) {
  Value misaligned;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isUsed = op.isDpsInit(&operand) ||
                  !op.getMatchingBlockArgument(&operand).use_empty();
    if (!isUsed || op.isScalar(&operand) ||
        !op.getMatchingIndexingMap(&operand).isFunctionOfDim(along))
      continue;
    if (!isVector(operand, along))
      return {};
    int64_t bytes = elementBytes(getElementTypeOrSelf(operand.get().getType()));
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, operand.get());
    auto scale = [&](Value elements) -> Value {
      return e.mul(elements, bytes);
    };
    Value all = e.add(e.addressOf(operand.get()), scale(metadata.getOffset()));
    for (Value stride : metadata.getStrides().drop_back())
      all = e.bitOr(all, scale(stride));
    all = e.bitAnd(all, vectorBytes(operand, count) - 1);
    misaligned = misaligned ? e.bitOr(misaligned, all) : all;
  }
  if (!misaligned)
    return {};
  return e.equal(misaligned, e.index(0));
}

void PointEmitter::run(ArrayRef<Point> points,
                       MutableArrayRef<SmallVector<Value>> carried,
                       std::optional<unsigned> along) {
  Block *body = op.getBlock();
  std::map<std::pair<unsigned, SmallVector<int64_t>>, Value> loaded;
  SmallVector<IRMapping> mappings(points.size());
  auto place = [&](OpOperand &operand) {
    return subscripts(points.front(), op.getMatchingIndexingMap(&operand));
  };
  auto typeOf = [&](OpOperand &operand) {
    return VectorType::get(points.size(),
                           getElementTypeOrSelf(operand.get().getType()));
  };
  auto alignmentOf = [&](OpOperand &operand) {
    return vectorBytes(operand, points.size());
  };
  llvm::SmallDenseMap<unsigned, Value> vectors; // by operand
  auto loadPoint = [&](size_t p, OpOperand &operand) -> Value {
    if (!along || op.isScalar(&operand) || !isVector(operand, *along))
      return load(points[p], operand);
    Value &vector = vectors[operand.getOperandNumber()];
    if (!vector)
      vector = e.loadVector(typeOf(operand), operand.get(), place(operand),
                            alignmentOf(operand));
    return vector::ExtractOp::create(builder, loc, vector, p);
  };
  // All loads come first.
  for (auto [p, point] : llvm::enumerate(points))
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      BlockArgument arg = body->getArgument(number);
      if (arg.use_empty())
        continue;
      if (op.isDpsInit(&operand)) {
        unsigned output = number - op.getNumDpsInputs();
        Value value = carried[p][output];
        mappings[p].map(arg, value ? value : loadPoint(p, operand));
        continue;
      }
      AffineMap map = op.getMatchingIndexingMap(&operand);
      SmallVector<int64_t> which(point.inBlock);
      for (auto [d, i] : llvm::enumerate(which))
        if (!map.isFunctionOfDim(d))
          i = 0;
      Value &value = loaded[{number, which}];
      if (!value)
        value = loadPoint(p, operand);
      mappings[p].map(arg, value);
    }
  SmallVector<SmallVector<Value>> stored(op.getNumDpsInits());
  for (size_t p = 0; p < points.size(); ++p) {
    const Point &point = points[p];
    IRMapping &mapping = mappings[p];
    for (Operation &inner : body->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
        mapping.map(index.getResult(), point.ivs[index.getDim()]);
        continue;
      }
      Operation *clone = cloneBodyOp(builder, inner, mapping);
      clone->walk([&](linalg::IndexOp index) {
        builder.replaceOp(index, point.ivs[index.getDim()]);
      });
      if (contractions.contains(&inner)) {
        auto flags =
            cast<arith::ArithFastMathInterface>(inner).getFastMathFlagsAttr();
        clone->setAttr("fastmath",
                       arith::FastMathFlagsAttr::get(
                           builder.getContext(),
                           flags.getValue() | arith::FastMathFlags::contract));
      }
    }
    for (auto [output, yielded] :
         llvm::enumerate(body->getTerminator()->getOperands())) {
      Value value = mapping.lookupOrDefault(yielded);
      if (carried[p][output])
        carried[p][output] = value;
      else if (along && isVector(*op.getDpsInitOperand(output), *along))
        stored[output].push_back(value);
      else
        storeOutput(point, output, value);
    }
  }
  for (auto [output, values] : llvm::enumerate(stored)) {
    if (values.empty())
      continue;
    OpOperand &init = *op.getDpsInitOperand(output);
    Value vector =
        vector::FromElementsOp::create(builder, loc, typeOf(init), values);
    e.storeVector(vector, init.get(), place(init), alignmentOf(init));
  }
}
