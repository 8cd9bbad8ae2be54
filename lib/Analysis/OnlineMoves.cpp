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
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

/// `map` to the source of a reshape by dims of one element, null if it is of
/// another kind.
static AffineMap mapToSource(Operation *op, AffineMap map) {
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
    // To a single element.
    if (collapse.getReassociationIndices().empty())
      results.assign(collapse.getSrcType().getRank(),
                     getAffineConstantExpr(0, context));
    for (auto [d, group] :
         llvm::enumerate(collapse.getReassociationIndices())) {
      unsigned longer = 0;
      for (int64_t source : group) {
        bool isOne = collapse.getSrcType().getDimSize(source) == 1;
        longer += !isOne;
        results.push_back(isOne ? getAffineConstantExpr(0, context)
                                : map.getResult(d));
      }
      if (longer > 1)
        return {};
    }
  } else {
    return {};
  }
  return AffineMap::get(map.getNumDims(), 0, results, context);
}

void mlir::pit::lookThroughMoves(Value &value, AffineMap &map) {
  while (Operation *def = value.getDefiningOp()) {
    if (AffineMap source = mapToSource(def, map)) {
      map = source;
      value = def->getOperand(0);
      continue;
    }
    if (auto cast = dyn_cast<tensor::CastOp>(def)) {
      if (!isa<RankedTensorType>(cast.getSource().getType()))
        return;
      value = cast.getSource();
      continue;
    }
    auto moved = dyn_cast<linalg::LinalgOp>(def);
    if (!moved || !isElementwiseOp(moved))
      return;
    auto yielded = dyn_cast<BlockArgument>(getYielded(moved, 0));
    if (!yielded || yielded.getOwner() != moved.getBlock() ||
        yielded.getArgNumber() >= moved.getNumDpsInputs())
      return;
    OpOperand &source = moved->getOpOperand(yielded.getArgNumber());
    if (!isa<RankedTensorType>(source.get().getType()))
      return;
    // The reader's loops by those of `moved`.
    AffineMap result = moved.getMatchingIndexingMap(moved.getDpsInitOperand(0));
    SmallVector<AffineExpr> loops(moved.getNumLoops());
    for (auto [position, expr] : llvm::enumerate(result.getResults()))
      loops[cast<AffineDimExpr>(expr).getPosition()] = map.getResult(position);
    map = moved.getMatchingIndexingMap(&source).replaceDimsAndSymbols(
        loops, {}, map.getNumDims(), 0);
    value = source.get();
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
