//===- OnlineMoves.cpp - What ops of a chain read, behind others ----------===//
//
// Between two ops of a chain frameworks have ops that move elements, tensors of
// one number, and maxima that are made finite.
//
//===----------------------------------------------------------------------===//

#include "OnlineDependences.h"

#include "pit/Analysis/BodyEvaluator.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

/// The numbers of the source's dims, which make the dim that `coordinate`
/// numbers made; empty if several are longer than 1, unless `mayDivide`.
static SmallVector<AffineExpr> splitCoordinate(ArrayRef<int64_t> sizes,
                                               AffineExpr coordinate,
                                               bool mayDivide) {
  MLIRContext *context = coordinate.getContext();
  SmallVector<AffineExpr> found(sizes.size(),
                                getAffineConstantExpr(0, context));
  int64_t longer =
      llvm::count_if(sizes, [](int64_t size) { return size != 1; });
  if (longer > 1 && !mayDivide)
    return {};
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1)
      continue;
    if (--longer == 0) {
      found[d] = coordinate;
      continue;
    }
    if (ShapedType::isDynamic(sizes[d]) || sizes[d] == 0)
      return {};
    found[d] = coordinate % sizes[d];
    coordinate = coordinate.floorDiv(sizes[d]);
  }
  return found;
}

/// `map` to the source of a reshape by dims of one element, null if it is of
/// another kind. With `mayDivide` dims may be made of several.
static AffineMap mapToSource(Operation *op, AffineMap map, bool mayDivide) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> results;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      AffineExpr found = getAffineConstantExpr(0, context);
      for (int64_t d : group)
        if (expand.getResultType().getDimSize(d) != 1) {
          if (!isa<AffineConstantExpr>(found))
            return {};
          found = map.getResult(d);
        }
      results.push_back(found);
    }
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    ArrayRef<int64_t> sizes = collapse.getSrcType().getShape();
    // To a single element.
    if (collapse.getReassociationIndices().empty())
      results.assign(sizes.size(), getAffineConstantExpr(0, context));
    for (auto [d, group] :
         llvm::enumerate(collapse.getReassociationIndices())) {
      SmallVector<AffineExpr> parts =
          splitCoordinate(sizes.slice(group.front(), group.size()),
                          map.getResult(d), mayDivide);
      if (parts.empty())
        return {};
      llvm::append_range(results, parts);
    }
  } else {
    return {};
  }
  return AffineMap::get(map.getNumDims(), 0, results, context);
}

/// Goes to what `value` is moved from by one op. With `mayDivide` that may be
/// less than all of a source, or make dims of several.
static bool lookThroughMove(Value &value, AffineMap &map, bool mayDivide) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return false;
  if (AffineMap source = mapToSource(def, map, mayDivide)) {
    map = source;
    value = def->getOperand(0);
    return true;
  }
  if (auto cast = dyn_cast<tensor::CastOp>(def)) {
    if (!isa<RankedTensorType>(cast.getSource().getType()))
      return false;
    value = cast.getSource();
    return true;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def)) {
    // The first part of each dim.
    if (!mayDivide ||
        slice.getSourceType().getRank() != slice.getType().getRank() ||
        !llvm::all_of(slice.getMixedOffsets(), isZeroInteger) ||
        !llvm::all_of(slice.getMixedStrides(), isOneInteger))
      return false;
    value = slice.getSource();
    return true;
  }
  auto moved = dyn_cast<linalg::LinalgOp>(def);
  if (!moved || !isElementwiseOp(moved))
    return false;
  auto yielded = dyn_cast<BlockArgument>(getYielded(moved, 0));
  if (!yielded || yielded.getOwner() != moved.getBlock() ||
      yielded.getArgNumber() >= moved.getNumDpsInputs())
    return false;
  OpOperand &source = moved->getOpOperand(yielded.getArgNumber());
  if (!isa<RankedTensorType>(source.get().getType()))
    return false;
  // The reader's loops by those of `moved`.
  AffineMap result = moved.getMatchingIndexingMap(moved.getDpsInitOperand(0));
  SmallVector<AffineExpr> loops(moved.getNumLoops());
  for (auto [position, expr] : llvm::enumerate(result.getResults()))
    loops[cast<AffineDimExpr>(expr).getPosition()] = map.getResult(position);
  map = moved.getMatchingIndexingMap(&source).replaceDimsAndSymbols(
      loops, {}, map.getNumDims(), 0);
  value = source.get();
  return true;
}

void mlir::pit::lookThroughMoves(Value &value, AffineMap &map) {
  while (lookThroughMove(value, map, /*mayDivide=*/false))
    ;
}

int64_t mlir::pit::getBlockSize(AffineExpr coordinate) {
  auto quotient = dyn_cast<AffineBinaryOpExpr>(coordinate);
  if (!quotient)
    return isa<AffineDimExpr, AffineConstantExpr>(coordinate) ? 1 : 0;
  auto size = dyn_cast<AffineConstantExpr>(quotient.getRHS());
  return quotient.getKind() == AffineExprKind::FloorDiv && size &&
                 isa<AffineDimExpr>(quotient.getLHS())
             ? size.getValue()
             : 0;
}

void mlir::pit::lookThroughRepeats(Value &value, AffineMap &map) {
  Value from = value;
  AffineMap by = map;
  while (lookThroughMove(from, by, /*mayDivide=*/true))
    // Between a reshape and what repeats elements before it, a place within a
    // block counts.
    if (llvm::all_of(by.getResults(), getBlockSize)) {
      value = from;
      map = by;
    }
}

ChainInput mlir::pit::lookThrough(linalg::LinalgOp op, OpOperand &operand) {
  ChainInput input{operand.getOperandNumber(), operand.get(),
                   op.getMatchingIndexingMap(&operand)};
  lookThroughMoves(input.value, input.map);
  return input;
}

Attribute mlir::pit::getScalarConstant(linalg::LinalgOp op, Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBlock() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return {};
  OpOperand &operand = op->getOpOperand(argument.getArgNumber());
  if (!isa<RankedTensorType>(operand.get().getType()))
    return getUniformConstant(operand.get());
  return getUniformConstant(lookThrough(op, operand).value);
}

/// The tensor that a scalar of a body is an element of, by its operand.
static OpOperand *operandOf(linalg::LinalgOp op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBlock() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return nullptr;
  OpOperand &operand = op->getOpOperand(argument.getArgNumber());
  return isa<RankedTensorType>(operand.get().getType()) ? &operand : nullptr;
}

/// Is a condition that an element of `value` is finite? As |x| < inf.
static bool isFiniteness(linalg::LinalgOp op, Value condition, Value value) {
  if (OpOperand *operand = operandOf(op, condition)) {
    auto def =
        lookThrough(op, *operand).value.getDefiningOp<linalg::LinalgOp>();
    return def && isElementwiseOp(def) &&
           isFiniteness(def, getYielded(def, 0), value);
  }
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return false;
  using Predicate = arith::CmpFPredicate;
  Predicate predicate = compare.getPredicate();
  bool isBelow = predicate == Predicate::OLT || predicate == Predicate::ONE ||
                 predicate == Predicate::UNE || predicate == Predicate::ULT;
  auto magnitude = compare.getLhs().getDefiningOp<math::AbsFOp>();
  auto bound =
      dyn_cast_or_null<FloatAttr>(getScalarConstant(op, compare.getRhs()));
  if (!isBelow || !magnitude || !bound || !bound.getValue().isPosInfinity())
    return false;
  OpOperand *operand = operandOf(op, magnitude.getOperand());
  return operand && lookThrough(op, *operand).value == value;
}

/// The operand that an op gives as it is, but perhaps 0 where that is infinite,
/// and whether it does. So do softmaxes of frameworks with a maximum, lest -inf
/// be subtracted from itself.
static std::optional<std::pair<OpOperand *, bool>>
matchFinite(linalg::LinalgOp op) {
  Operation *def = getYielded(op, 0).getDefiningOp();
  if (isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(def))
    for (unsigned i : {0u, 1u}) {
      auto low = dyn_cast_or_null<FloatAttr>(
          getScalarConstant(op, def->getOperand(1 - i)));
      OpOperand *operand = operandOf(op, def->getOperand(i));
      if (operand && low && low.getValue().isInfinity() &&
          low.getValue().isNegative())
        return std::pair(operand, false);
    }
  auto select = dyn_cast_or_null<arith::SelectOp>(def);
  if (!select)
    return std::nullopt;
  OpOperand *operand = operandOf(op, select.getTrueValue());
  auto zero = dyn_cast_or_null<FloatAttr>(
      getScalarConstant(op, select.getFalseValue()));
  if (!operand || !zero || !zero.getValue().isZero() ||
      !isFiniteness(op, select.getCondition(), lookThrough(op, *operand).value))
    return std::nullopt;
  return std::pair(operand, true);
}

void mlir::pit::lookThroughFinite(ChainInput &input) {
  while (auto def = input.value.getDefiningOp<linalg::LinalgOp>()) {
    if (!isElementwiseOp(def))
      return;
    auto found = matchFinite(def);
    if (!found)
      return;
    AffineMap result = def.getMatchingIndexingMap(def.getDpsInitOperand(0));
    SmallVector<AffineExpr> loops(def.getNumLoops());
    for (auto [position, expr] : llvm::enumerate(result.getResults()))
      loops[cast<AffineDimExpr>(expr).getPosition()] =
          input.map.getResult(position);
    input.map =
        def.getMatchingIndexingMap(found->first)
            .replaceDimsAndSymbols(loops, {}, input.map.getNumDims(), 0);
    input.value = found->first->get();
    input.isFinite |= found->second;
    lookThroughMoves(input.value, input.map);
  }
}
