//===- Padding.cpp - What may stand beyond the end of a dim ---------------===//

#include "pit/Analysis/Padding.h"
#include "pit/Analysis/BodyEvaluator.h"
#include "pit/Analysis/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;

/// True if the dim indexes `operand` by itself, so that beyond the dim's end
/// the operand reads its pad. (At x + i it may still read an element.)
static bool seesPadding(linalg::LinalgOp op, OpOperand *operand, unsigned dim) {
  return llvm::any_of(op.getMatchingIndexingMap(operand).getResults(),
                      [&](AffineExpr expr) {
                        auto exact = dyn_cast<AffineDimExpr>(expr);
                        return exact && exact.getPosition() == dim;
                      });
}

static bool isIntegerDivision(Operation *inner) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(
      inner);
}

/// Is an integer divided by a constant that is neither 0 nor -1?
static bool hasHarmlessDivisor(Operation *op) {
  llvm::APInt divisor;
  return matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
         !divisor.isZero() && !divisor.isAllOnes();
}

bool pit::mayTrap(Operation *op) {
  if (isIntegerDivision(op))
    return !hasHarmlessDivisor(op);
  return !isSpeculatable(op);
}

/// [P2] No operation of the body can trap where `dim` is padded.
static Refused checkTraps(linalg::LinalgOp op, unsigned dim,
                          const BodyEvaluator &body) {
  // Values that padding changes.
  llvm::DenseSet<Value> padded;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isFunctionOfDim(dim))
      padded.insert(op.getMatchingBlockArgument(input));
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getMatchingIndexingMap(&init).isFunctionOfDim(dim))
      padded.insert(op.getMatchingBlockArgument(&init));

  for (Operation &inner : op.getBlock()->without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(inner);
    bool isPadded = (index && index.getDim() == dim) ||
                    llvm::any_of(inner.getOperands(), [&](Value operand) {
                      return padded.contains(operand);
                    });
    inner.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        isPadded |= padded.contains(operand);
    });
    if (!isPadded)
      continue;
    padded.insert(inner.result_begin(), inner.result_end());
    if (!mayTrap(&inner))
      continue;
    // A divisor of the padding's own must be neither 0 nor -1, one of the
    // operands' own would trap without padding too.
    if (isIntegerDivision(&inner)) {
      Value divisor = inner.getOperand(1);
      auto constant =
          dyn_cast_or_null<IntegerAttr>(body.lookup(divisor).getConstant());
      if (constant ? !constant.getValue().isZero() &&
                         !constant.getValue().isAllOnes()
                   : !padded.contains(divisor))
        continue;
    }
    return refuse("[P2]: " + inner.getName().getStringRef() +
                  " may trap beyond the end of d" + Twine(dim));
  }
  return std::nullopt;
}

/// P1 and P2 for the points beyond the end of `dim`, which may lie beyond the
/// ends of other dims of `dims` as well.
static Refused checkAlong(linalg::LinalgOp op, unsigned dim,
                          ArrayRef<unsigned> dims, ArrayRef<TypedAttr> pads) {
  BodyEvaluator body(op, Arithmetic::Computed);
  for (OpOperand *input : op.getDpsInputOperands()) {
    unsigned number = input->getOperandNumber();
    AffineMap map = op.getMatchingIndexingMap(input);
    if (seesPadding(op, input, dim))
      body.assume(number, pads[number]);
    else if (llvm::any_of(dims,
                          [&](unsigned d) { return map.isFunctionOfDim(d); }))
      // An element or its pad: even of a constant tensor, nothing is known.
      body.forget(number);
  }
  body.run();

  if (Refused refused = checkTraps(op, dim, body))
    return refused;
  for (unsigned result = 0, e = op.getNumDpsInits(); result != e; ++result) {
    // If the result has the dim, the points beyond its end are dropped.
    if (seesPadding(op, op.getDpsInitOperand(result), dim))
      continue;
    // [P1] Where it is reduced, they contribute nothing.
    if (body.lookup(getYielded(op, result)) ==
        Known(getAccumulator(op, result)))
      continue;
    return refuse("[P1]: padding of d" + Twine(dim) +
                  " contributes to result " + Twine(result));
  }
  return std::nullopt;
}

Refused pit::checkPadding(linalg::LinalgOp op, ArrayRef<unsigned> dims,
                          ArrayRef<TypedAttr> pads) {
  assert(pads.size() == static_cast<size_t>(op.getNumDpsInputs()) &&
         "one pad per input");
  for (unsigned dim : dims)
    if (Refused refused = checkAlong(op, dim, dims, pads))
      return refused;
  return std::nullopt;
}

/// The constants to try for one input, the best first.
static SmallVector<TypedAttr>
candidatesFor(linalg::LinalgOp op, OpOperand *input, TypedAttr background) {
  Type type = getElementTypeOrSelf(input->get().getType());
  SmallVector<TypedAttr> candidates;
  auto add = [&](TypedAttr candidate) {
    if (candidate && !llvm::is_contained(candidates, candidate))
      candidates.push_back(candidate);
  };
  add(background);
  add(zeroOf(type));
  for (unsigned result = 0, e = op.getNumDpsInits(); result != e; ++result) {
    FailureOr<Combiner> combiner = matchCombiner(op, result);
    if (succeeded(combiner))
      add(identityOf(combiner->ops.front(), type));
  }
  if (type.isIntOrIndexOrFloat())
    add(Builder(op.getContext()).getOneAttr(type));
  // exp(-inf) is 0.
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (llvm::APFloat::semanticsHasInf(semantics))
      for (bool negative : {true, false})
        add(FloatAttr::get(type, llvm::APFloat::getInf(semantics, negative)));
  }
  return candidates;
}

OrRefusal<SmallVector<TypedAttr>>
pit::findPadding(linalg::LinalgOp op, ArrayRef<unsigned> dims,
                 std::optional<unsigned> marked, TypedAttr background) {
  SmallVector<SmallVector<TypedAttr>> candidates;
  // The inputs among whose candidates there is a choice.
  SmallVector<unsigned> searched;
  SmallVector<TypedAttr> pads;
  for (OpOperand *input : op.getDpsInputOperands()) {
    unsigned number = input->getOperandNumber();
    candidates.push_back(
        candidatesFor(op, input, marked == number ? background : TypedAttr()));
    if (candidates.back().empty())
      return refuse("operand " + Twine(number) + " has no constant to try");
    pads.push_back(candidates.back().front());
    if (llvm::any_of(dims,
                     [&](unsigned dim) { return seesPadding(op, input, dim); }))
      searched.push_back(number);
  }

  // Counts through all choices, the first input slowest, so that most inputs
  // keep their first candidate. Ops of many inputs are left to peeling.
  constexpr unsigned maxAttempts = 1024;
  SmallVector<unsigned> choice(candidates.size(), 0);
  Refused first;
  for (unsigned attempt = 0; attempt != maxAttempts; ++attempt) {
    Refused refused = checkPadding(op, dims, pads);
    if (!refused)
      return pads;
    if (!first)
      first = refused;
    auto next = llvm::find_if(llvm::reverse(searched), [&](unsigned number) {
      choice[number] = (choice[number] + 1) % candidates[number].size();
      pads[number] = candidates[number][choice[number]];
      return choice[number] != 0;
    });
    if (next == searched.rend())
      break;
  }
  return *first;
}
