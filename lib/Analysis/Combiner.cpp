//===- Combiner.cpp - How a linalg body accumulates -----------------------===//

#include "pit/Analysis/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pit;

bool pit::isCombiner(Operation *op) {
  return isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
             arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
             complex::AddOp, complex::MulOp>(op);
}

bool pit::isExactCombiner(Operation *op) {
  // maxnumf and minnumf may return either zero, so they depend on the order.
  if (isa<arith::AddFOp, arith::MulFOp, arith::MaxNumFOp, arith::MinNumFOp,
          complex::AddOp, complex::MulOp>(op))
    return false;
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    return !flags.hasNoSignedWrap() && !flags.hasNoUnsignedWrap();
  return isCombiner(op);
}

TypedAttr pit::zeroOf(Type type) {
  if (auto complexType = dyn_cast<ComplexType>(type))
    return complex::NumberAttr::get(complexType, 0.0, 0.0);
  if (auto floatType = dyn_cast<FloatType>(type))
    if (!llvm::APFloat::semanticsHasZero(floatType.getFloatSemantics()))
      return {};
  return Builder(type.getContext()).getZeroAttr(type);
}

/// The identity of float combiners, where `type` can hold it.
static TypedAttr floatIdentity(Operation *combiner, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  bool isMax = isa<arith::MaximumFOp>(combiner);
  if (isa<arith::AddFOp>(combiner))
    return zeroOf(type);
  if (isa<arith::MulFOp>(combiner))
    return FloatAttr::get(type, llvm::APFloat(semantics, 1));
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner))
    return llvm::APFloat::semanticsHasNaN(semantics)
               ? FloatAttr::get(type, llvm::APFloat::getNaN(semantics))
               : TypedAttr();
  if (!isMax && !isa<arith::MinimumFOp>(combiner))
    return {};
  if (isMax && !llvm::APFloat::semanticsHasSignedRepr(semantics))
    return {};
  // A type without infinity has a largest number instead.
  return FloatAttr::get(
      type, llvm::APFloat::semanticsHasInf(semantics)
                ? llvm::APFloat::getInf(semantics, /*Negative=*/isMax)
                : llvm::APFloat::getLargest(semantics, /*Negative=*/isMax));
}

TypedAttr pit::identityOf(Operation *combiner, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return floatIdentity(combiner, floatType);
  if (auto complexType = dyn_cast<ComplexType>(type)) {
    if (isa<complex::AddOp>(combiner))
      return zeroOf(type);
    if (isa<complex::MulOp>(combiner))
      return complex::NumberAttr::get(complexType, 1.0, 0.0);
    return {};
  }
  if (!type.isIntOrIndex())
    return {};
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                  : type.getIntOrFloatBitWidth();
  auto make = [&](const llvm::APInt &value) -> TypedAttr {
    return IntegerAttr::get(type, value);
  };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return make(llvm::APInt::getZero(width)); })
      .Case<arith::MulIOp>([&](auto) { return make(llvm::APInt(width, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](auto) { return make(llvm::APInt::getAllOnes(width)); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return make(llvm::APInt::getSignedMinValue(width)); })
      .Case<arith::MinSIOp>(
          [&](auto) { return make(llvm::APInt::getSignedMaxValue(width)); })
      .Default([](Operation *) { return TypedAttr(); });
}

std::optional<arith::AtomicRMWKind> pit::atomicKindOf(Operation *combiner) {
  using Kind = arith::AtomicRMWKind;
  using Result = std::optional<Kind>;
  return llvm::TypeSwitch<Operation *, Result>(combiner)
      .Case<arith::AddFOp>([](auto) { return Kind::addf; })
      .Case<arith::AddIOp>([](auto) { return Kind::addi; })
      .Case<arith::MulFOp>([](auto) { return Kind::mulf; })
      .Case<arith::MulIOp>([](auto) { return Kind::muli; })
      .Case<arith::MaximumFOp>([](auto) { return Kind::maximumf; })
      .Case<arith::MinimumFOp>([](auto) { return Kind::minimumf; })
      .Case<arith::MaxNumFOp>([](auto) { return Kind::maxnumf; })
      .Case<arith::MinNumFOp>([](auto) { return Kind::minnumf; })
      .Case<arith::MaxSIOp>([](auto) { return Kind::maxs; })
      .Case<arith::MaxUIOp>([](auto) { return Kind::maxu; })
      .Case<arith::MinSIOp>([](auto) { return Kind::mins; })
      .Case<arith::MinUIOp>([](auto) { return Kind::minu; })
      .Case<arith::AndIOp>([](auto) { return Kind::andi; })
      .Case<arith::OrIOp>([](auto) { return Kind::ori; })
      .Case<arith::XOrIOp>([](auto) { return Kind::xori; })
      .Default([](Operation *) { return Result(); });
}

BlockArgument pit::getAccumulator(linalg::LinalgOp op, unsigned result) {
  return op.getMatchingBlockArgument(op.getDpsInitOperand(result));
}

Value pit::getYielded(linalg::LinalgOp op, unsigned result) {
  return op.getBlock()->getTerminator()->getOperand(result);
}

OrRefusal<Combiner> pit::matchCombiner(linalg::LinalgOp op, unsigned result) {
  std::string ofResult = " of result " + std::to_string(result);
  Operation *yield = op.getBlock()->getTerminator();
  Value current = getAccumulator(op, result);
  if (current.use_empty())
    return refuse("every iteration overwrites the accumulator" + ofResult);
  Combiner combiner;
  while (true) {
    if (!current.hasOneUse()) {
      auto uses = std::distance(current.use_begin(), current.use_end());
      if (combiner.ops.empty())
        return refuse("the accumulator" + ofResult + " is used " + Twine(uses) +
                      " times");
      return refuse("the combined value" + ofResult + " is used " +
                    Twine(uses) + " times");
    }
    OpOperand &use = *current.use_begin();
    Operation *user = use.getOwner();
    if (user == yield) {
      if (use.getOperandNumber() != result)
        return refuse("the accumulator" + ofResult + " is yielded as result " +
                      Twine(use.getOperandNumber()));
      if (combiner.ops.empty())
        return refuse("the accumulator" + ofResult + " is yielded uncombined");
      return combiner;
    }
    StringRef name = user->getName().getStringRef();
    if (!isCombiner(user) || user->getBlock() != op.getBlock())
      return refuse(name + " uses the accumulator" + ofResult +
                    ", which is no commutative and associative combiner");
    if (!combiner.ops.empty() &&
        combiner.ops.front()->getName() != user->getName())
      return refuse(combiner.ops.front()->getName().getStringRef() + " and " +
                    name + " both combine the accumulator" + ofResult);
    combiner.ops.push_back(user);
    combiner.contributions.push_back(
        user->getOperand(1 - use.getOperandNumber()));
    current = user->getResult(0);
  }
}
