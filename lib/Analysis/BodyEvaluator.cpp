//===- BodyEvaluator.cpp - What a body yields for known inputs ------------===//

#include "pit/Analysis/BodyEvaluator.h"
#include "pit/Analysis/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/ConstantRange.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

bool pit::isZero(Attribute attr) {
  if (auto number = dyn_cast_or_null<FloatAttr>(attr))
    return number.getValue().isZero();
  if (auto number = dyn_cast_or_null<IntegerAttr>(attr))
    return number.getValue().isZero();
  if (auto number = dyn_cast_or_null<complex::NumberAttr>(attr))
    return number.getReal().isZero() && number.getImag().isZero();
  if (auto parts = dyn_cast_or_null<ArrayAttr>(attr)) // of complex.constant
    return !parts.empty() && llvm::all_of(parts, isZero);
  return false;
}

static bool isNaN(Attribute attr) {
  auto number = dyn_cast_or_null<FloatAttr>(attr);
  return number && number.getValue().isNaN();
}

static bool isInf(Attribute attr, bool negative) {
  auto number = dyn_cast_or_null<FloatAttr>(attr);
  return number && number.getValue().isInfinity() &&
         number.getValue().isNegative() == negative;
}

/// True for the infinity or, in types without one, the largest number.
static bool isExtreme(Attribute attr, bool negative) {
  auto number = dyn_cast_or_null<FloatAttr>(attr);
  if (!number)
    return false;
  const llvm::fltSemantics &semantics = number.getValue().getSemantics();
  if (llvm::APFloat::semanticsHasInf(semantics))
    return isInf(attr, negative);
  return number.getValue().isLargest() &&
         number.getValue().isNegative() == negative;
}

static bool isInf(Attribute attr) {
  return isInf(attr, /*negative=*/false) || isInf(attr, /*negative=*/true);
}

Attribute pit::getUniformConstant(Value value) {
  Type type = value.getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor && !type.isIntOrIndexOrFloat() && !isa<ComplexType>(type))
    return {};
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return tensor ? getUniformConstant(fill.value()) : Attribute();
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return {};
  if (!tensor)
    return constant;
  // An element that is a vector is no constant of the element type.
  auto elements = dyn_cast<SplatElementsAttr>(constant);
  if (!elements || elements.getElementType() != tensor.getElementType())
    return {};
  return elements.getSplatValue<Attribute>();
}

//===----------------------------------------------------------------------===//
// Set-up and look-up
//===----------------------------------------------------------------------===//

void BodyEvaluator::assume(unsigned operand, Attribute constant) {
  known[op.getMatchingBlockArgument(&op->getOpOperand(operand))] = constant;
}

void BodyEvaluator::forget(unsigned operand) {
  forgotten.insert(op.getMatchingBlockArgument(&op->getOpOperand(operand)));
}

void BodyEvaluator::run() {
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (forgotten.contains(argument) || known.contains(argument))
      continue;
    if (Attribute constant = getUniformConstant(input->get()))
      known[argument] = constant;
  }
  for (Operation &inner : op.getBlock()->without_terminator())
    evaluate(inner);
}

Known BodyEvaluator::lookup(Value value) const {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  return value;
}

/// True if a min or max with an infinity may drop `value`, which must then be
/// no NaN.
bool BodyEvaluator::isNumber(Known value) const {
  if (value.getConstant())
    return !isNaN(value.getConstant());
  // The prior value of an output: a minnumf or maxnumf never makes a NaN out
  // of a number, so it is one if it started as one.
  linalg::LinalgOp op = this->op;
  for (unsigned result = 0, e = op.getNumDpsInits(); result != e; ++result) {
    if (value.getValue() != getAccumulator(op, result))
      continue;
    Attribute initial = getUniformConstant(op.getDpsInitOperand(result)->get());
    FailureOr<Combiner> combiner = matchCombiner(op, result);
    return initial && !isNaN(initial) && succeeded(combiner) &&
           isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner->ops.front());
  }
  return arithmetic == Arithmetic::Skipped;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

Known BodyEvaluator::evalProduct(Known lhs, Known rhs, Type type) const {
  for (auto [factor, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)}) {
    if (!isZero(factor.getConstant()))
      continue;
    bool isInteger = type.isIntOrIndex();
    if (isInteger || arithmetic == Arithmetic::Skipped)
      return zeroOf(type);
  }
  return {};
}

Known BodyEvaluator::evalSum(Known lhs, Known rhs, Type type) const {
  for (auto [term, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)}) {
    // x + 0 turns -0 into +0, which only bit-exact results can tell.
    if (isZero(term.getConstant()) &&
        (type.isIntOrIndex() || arithmetic != Arithmetic::Strict))
      return other;
    if (isInf(term.getConstant()) && other.getValue() &&
        arithmetic == Arithmetic::Skipped)
      return term;
  }
  return {};
}

Known BodyEvaluator::evalDifference(Known lhs, Known rhs, Type type) const {
  if (isZero(rhs.getConstant()) &&
      (type.isIntOrIndex() || arithmetic != Arithmetic::Strict))
    return lhs;
  if (arithmetic != Arithmetic::Skipped)
    return {};
  if (isInf(lhs.getConstant()) && rhs.getValue())
    return lhs;
  if (isInf(rhs.getConstant()) && lhs.getValue())
    return FloatAttr::get(type, -cast<FloatAttr>(rhs.getConstant()).getValue());
  return {};
}

Known BodyEvaluator::evalMinMax(Operation &inner, Known lhs, Known rhs) const {
  bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(inner);
  bool dropsNaN = isa<arith::MaxNumFOp, arith::MinNumFOp>(inner);
  for (auto [bound, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)}) {
    Attribute constant = bound.getConstant();
    if (dropsNaN && isNaN(constant))
      return other;
    // The value that never wins. maxnumf(-inf, NaN) is -inf, though.
    if (isExtreme(constant, /*negative=*/isMax) &&
        (!dropsNaN || isNumber(other)))
      return other;
    // The value that always wins. maximumf(inf, NaN) is NaN, though.
    if (isExtreme(constant, /*negative=*/!isMax) &&
        (dropsNaN || isNumber(other)))
      return bound;
  }
  return {};
}

Known BodyEvaluator::evalQuotient(Operation &inner, Known lhs) const {
  if (!isZero(lhs.getConstant()))
    return {};
  // Division of integers by zero is undefined, so 0 / y is 0 in any case.
  Type type = inner.getResult(0).getType();
  if (type.isIntOrIndex() || arithmetic == Arithmetic::Skipped)
    return zeroOf(type);
  return {};
}

/// A comparison of an extreme constant with anything.
Known BodyEvaluator::evalCompare(Operation &inner, Known lhs, Known rhs) const {
  auto known = [&](bool value) -> Known {
    return IntegerAttr::get(inner.getResult(0).getType(), value);
  };
  if (auto compare = dyn_cast<arith::CmpIOp>(inner)) {
    auto left = dyn_cast_or_null<IntegerAttr>(lhs.getConstant());
    auto right = dyn_cast_or_null<IntegerAttr>(rhs.getConstant());
    if (!left == !right)
      return {};
    unsigned width = (left ? left : right).getValue().getBitWidth();
    llvm::ConstantRange all = llvm::ConstantRange::getFull(width);
    llvm::ConstantRange a = left ? llvm::ConstantRange(left.getValue()) : all;
    llvm::ConstantRange b = right ? llvm::ConstantRange(right.getValue()) : all;
    // The two enumerations name the same predicates in different orders.
    using P = arith::CmpIPredicate;
    using L = llvm::CmpInst::Predicate;
    static const std::pair<P, L> table[] = {
        {P::eq, L::ICMP_EQ},   {P::ne, L::ICMP_NE},   {P::slt, L::ICMP_SLT},
        {P::sle, L::ICMP_SLE}, {P::sgt, L::ICMP_SGT}, {P::sge, L::ICMP_SGE},
        {P::ult, L::ICMP_ULT}, {P::ule, L::ICMP_ULE}, {P::ugt, L::ICMP_UGT},
        {P::uge, L::ICMP_UGE}};
    for (auto [ours, theirs] : table) {
      if (ours != compare.getPredicate())
        continue;
      if (a.icmp(theirs, b))
        return known(true);
      if (a.icmp(llvm::CmpInst::getInversePredicate(theirs), b))
        return known(false);
    }
    return {};
  }

  auto compare = cast<arith::CmpFOp>(inner);
  using P = arith::CmpFPredicate;
  P predicate = compare.getPredicate();
  // Nothing is ordered beyond an extreme, NaN included.
  bool lhsLow = isExtreme(lhs.getConstant(), true);
  bool lhsHigh = isExtreme(lhs.getConstant(), false);
  bool rhsLow = isExtreme(rhs.getConstant(), true);
  bool rhsHigh = isExtreme(rhs.getConstant(), false);
  if ((predicate == P::OGT && (lhsLow || rhsHigh)) ||
      (predicate == P::OLT && (lhsHigh || rhsLow)))
    return known(false);
  if ((predicate == P::ULE && (lhsLow || rhsHigh)) ||
      (predicate == P::UGE && (lhsHigh || rhsLow)))
    return known(true);
  return {};
}

/// A narrowing of what was widened from the same type.
Known BodyEvaluator::evalCast(Operation &inner, Known source) const {
  Operation *widening =
      source.getValue() ? source.getValue().getDefiningOp() : nullptr;
  if (!widening)
    return {};
  bool matches =
      (isa<arith::TruncFOp>(inner) && isa<arith::ExtFOp>(widening)) ||
      (isa<arith::TruncIOp>(inner) &&
       isa<arith::ExtSIOp, arith::ExtUIOp>(widening));
  if (!matches ||
      widening->getOperand(0).getType() != inner.getResult(0).getType())
    return {};
  return lookup(widening->getOperand(0));
}

Known BodyEvaluator::applyRule(Operation &inner) const {
  SmallVector<Known, 3> in;
  for (Value operand : inner.getOperands())
    in.push_back(lookup(operand));
  Type type = inner.getResult(0).getType();

  if (isa<arith::MulFOp, arith::MulIOp, complex::MulOp>(inner))
    return evalProduct(in[0], in[1], type);
  if (isa<arith::AddFOp, arith::AddIOp, complex::AddOp>(inner))
    return evalSum(in[0], in[1], type);
  if (isa<arith::SubFOp, arith::SubIOp, complex::SubOp>(inner))
    return evalDifference(in[0], in[1], type);
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp>(inner))
    return evalMinMax(inner, in[0], in[1]);
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
          arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp, arith::ShLIOp,
          arith::ShRSIOp, arith::ShRUIOp, complex::DivOp>(inner))
    return evalQuotient(inner, in[0]);
  if (isa<arith::CmpIOp, arith::CmpFOp>(inner))
    return evalCompare(inner, in[0], in[1]);
  if (isa<arith::TruncFOp, arith::TruncIOp>(inner))
    return evalCast(inner, in[0]);
  if (isa<arith::SelectOp>(inner)) {
    if (auto condition = dyn_cast_or_null<IntegerAttr>(in[0].getConstant()))
      return condition.getValue().isZero() ? in[2] : in[1];
    return in[1] == in[2] ? in[1] : Known();
  }
  if (isa<math::FmaOp>(inner)) {
    Known product = evalProduct(in[0], in[1], type);
    bool bothZero = isZero(in[0].getConstant()) && isZero(in[1].getConstant());
    if (!product && bothZero)
      product = zeroOf(type);
    return product ? evalSum(product, in[2], type) : Known();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Applies the folder of `inner` to what is known about its operands.
bool BodyEvaluator::foldConstants(Operation &inner) {
  // Folders may reorder the operands in place, so they get a clone.
  Operation *clone = inner.clone();
  llvm::scope_exit erase([&] { clone->erase(); });
  for (OpOperand &operand : clone->getOpOperands())
    if (Value same = lookup(operand.get()).getValue())
      if (same.getType() == operand.get().getType())
        operand.set(same);
  // Once more if the first attempt did no more than reorder.
  for (int attempt = 0; attempt != 2; ++attempt) {
    SmallVector<Attribute> constants;
    for (Value operand : clone->getOperands())
      constants.push_back(lookup(operand).getConstant());
    SmallVector<OpFoldResult> results;
    if (failed(clone->fold(constants, results)))
      return false;
    if (results.empty())
      continue;
    for (auto [value, folded] : llvm::zip_equal(inner.getResults(), results)) {
      if (auto constant = dyn_cast<Attribute>(folded))
        known[value] = constant;
      else
        known[value] = lookup(cast<Value>(folded));
    }
    return true;
  }
  return false;
}

void BodyEvaluator::evaluate(Operation &inner) {
  if (inner.getNumRegions() != 0 || inner.getNumResults() == 0)
    return;
  if (inner.getNumResults() == 1) {
    if (Known result = applyRule(inner)) {
      known[inner.getResult(0)] = result;
      return;
    }
  }
  // Functions rounded otherwise than at run time would not be bit for bit.
  if (foldConstants(inner) || inner.getNumOperands() == 0 ||
      arithmetic == Arithmetic::Strict)
    return;
  SmallVector<Attribute> constants;
  for (Value operand : inner.getOperands())
    constants.push_back(lookup(operand).getConstant());
  if (Attribute result = evalFloatMath(inner, constants))
    known[inner.getResult(0)] = result;
}
