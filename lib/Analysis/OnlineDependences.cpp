//===- OnlineDependences.cpp - What the ops of a chain compute ------------===//

#include "OnlineDependences.h"

#include "pit/Analysis/BodyEvaluator.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pit;

static std::string code(OnlineCondition condition) {
  return "[O" + std::to_string(static_cast<unsigned>(condition)) + "] ";
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

namespace {

/// Facts about a scalar of a body.
struct Scalar {
  bool varies = false; ///< along the axis
  bool isRow = false;  ///< it uses results of the chain, and does not vary
  /// A row is coefficient * input + something that never changes.
  std::optional<std::pair<unsigned, double>> linear;
  Dependence dependence; ///< of what varies
};

/// Follows dependences through one body.
class BodyDependences {
public:
  BodyDependences(const OnlineChain &chain, unsigned number)
      : chain(chain), number(number), op(chain.ops[number]) {}

  /// False if something depends on a result in a way that is not known.
  bool run();
  Scalar lookup(Value value) const {
    auto it = scalars.find(value);
    return it == scalars.end() ? Scalar() : it->second;
  }
  std::string why;

private:
  bool visit(Operation &inner, Scalar &result);
  bool visitSum(Operation &inner, ArrayRef<Scalar> operands, bool minus,
                Scalar &result);
  bool visitProduct(Operation &inner, Scalar x, Scalar y, Scalar &result);
  bool visitQuotient(Operation &inner, Scalar x, Scalar y, Scalar &result);
  bool visitSelect(arith::SelectOp inner, Scalar &result);
  std::optional<double> constantOf(Value value) const;
  bool bad(Operation &inner);

  const OnlineChain &chain;
  unsigned number;
  const ChainOp &op;
  llvm::DenseMap<Value, Scalar> scalars;
};

} // namespace

std::optional<double> BodyDependences::constantOf(Value value) const {
  auto constant =
      dyn_cast_or_null<FloatAttr>(getScalarConstant(op.linalgOp(), value));
  if (!constant)
    return std::nullopt;
  llvm::APFloat number = constant.getValue();
  bool loses = false;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}

bool BodyDependences::bad(Operation &inner) {
  why = code(OnlineCondition::Rescalable) +
        inner.getName().getStringRef().str() +
        " uses an earlier reduction other than in exponents or as a factor";
  return false;
}

bool BodyDependences::run() {
  linalg::LinalgOp computed = op.linalgOp();
  for (auto [i, input] : llvm::enumerate(op.inputs)) {
    Scalar scalar;
    const ChainOp *from = chain.find(input.value);
    scalar.varies =
        llvm::is_contained(op.dimsOf(input.map), int64_t(chain.axis));
    if (from && from->role != ChainRole::Elements) {
      scalar.isRow = true;
      scalar.linear = {unsigned(i), 1.0};
    } else if (from) {
      scalar.dependence = from->dependence;
    }
    scalars[computed.getMatchingBlockArgument(
        &computed->getOpOperand(input.number))] = scalar;
  }
  FailureOr<Combiner> combiner = failure();
  if (computed.getNumReductionLoops() > 0)
    combiner = matchCombiner(computed, 0);
  for (Operation &inner : computed.getBlock()->without_terminator()) {
    Scalar result;
    if (succeeded(combiner) && llvm::is_contained(combiner->ops, &inner))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      result.varies = op.dims[index.getDim()] == chain.axis;
    else if (!visit(inner, result))
      return false;
    for (Value value : inner.getResults())
      scalars[value] = result;
  }
  return true;
}

bool BodyDependences::visit(Operation &inner, Scalar &result) {
  SmallVector<Scalar> operands;
  bool none = true, rows = false;
  for (Value operand : inner.getOperands()) {
    operands.push_back(lookup(operand));
    result.varies |= operands.back().varies;
    none &= operands.back().dependence.isNone();
    rows |= operands.back().isRow;
  }
  if (!result.varies) {
    result.isRow = rows;
    if (!rows)
      return true;
    // Is it a multiple of one result?
    auto multiple = [&](unsigned from, double factor) {
      if (auto linear = operands[from].linear)
        result.linear = {linear->first, linear->second * factor};
    };
    llvm::TypeSwitch<Operation *>(&inner)
        .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { multiple(0, 1); })
        .Case<arith::NegFOp>([&](auto) { multiple(0, -1); })
        .Case<arith::MulFOp>([&](arith::MulFOp product) {
          if (auto right = constantOf(product.getRhs()))
            multiple(0, *right);
          else if (auto left = constantOf(product.getLhs()))
            multiple(1, *left);
        })
        .Case<arith::DivFOp>([&](arith::DivFOp quotient) {
          if (auto right = constantOf(quotient.getRhs()); right && *right != 0)
            multiple(0, 1 / *right);
        });
    return true;
  }
  if (none && !rows)
    return true;
  return llvm::TypeSwitch<Operation *, bool>(&inner)
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) {
        result.dependence = operands[0].dependence;
        return true;
      })
      .Case<arith::NegFOp>([&](auto) {
        result.dependence = operands[0].dependence;
        if (result.dependence.shift)
          result.dependence.shift->coefficient *= -1;
        return true;
      })
      .Case<arith::AddFOp>(
          [&](auto) { return visitSum(inner, operands, false, result); })
      .Case<arith::SubFOp>(
          [&](auto) { return visitSum(inner, operands, true, result); })
      .Case<arith::MulFOp>([&](auto) {
        return visitProduct(inner, operands[0], operands[1], result);
      })
      .Case<arith::DivFOp>([&](auto) {
        return visitQuotient(inner, operands[0], operands[1], result);
      })
      .Case<math::ExpOp, math::Exp2Op>([&](auto) {
        const Dependence &from = operands[0].dependence;
        if (!from.shift || !from.powers.empty() || !from.factors.empty())
          return bad(inner);
        result.dependence.powers.push_back({number, &inner, *from.shift});
        return true;
      })
      .Case<arith::SelectOp>(
          [&](arith::SelectOp select) { return visitSelect(select, result); })
      .Default([&](Operation *) { return bad(inner); });
}

bool BodyDependences::visitSum(Operation &inner, ArrayRef<Scalar> operands,
                               bool minus, Scalar &result) {
  for (unsigned i : {0u, 1u}) {
    const Scalar &x = operands[i], &y = operands[1 - i];
    if (!x.varies || y.varies)
      continue;
    double signX = minus && i == 1 ? -1 : 1, signY = minus && i == 0 ? -1 : 1;
    if (!x.dependence.powers.empty() || !x.dependence.factors.empty())
      return bad(inner);
    result.dependence = x.dependence;
    if (result.dependence.shift)
      result.dependence.shift->coefficient *= signX;
    if (!y.isRow)
      return true;
    if (!y.linear || result.dependence.shift)
      return bad(inner);
    result.dependence.shift = {number, y.linear->first,
                               y.linear->second * signY};
    return true;
  }
  const Dependence &x = operands[0].dependence, &y = operands[1].dependence;
  // Sums of what has the same factors have them.
  if (x == y && !x.shift) {
    result.dependence = x;
    return true;
  }
  bool isShifted = (x.isNone() || y.isNone()) && x.powers.empty() &&
                   y.powers.empty() && x.factors.empty() && y.factors.empty();
  if (!isShifted)
    return bad(inner);
  result.dependence = x.shift ? x : y;
  if (y.shift && minus)
    result.dependence.shift->coefficient *= -1;
  return true;
}

bool BodyDependences::visitProduct(Operation &inner, Scalar x, Scalar y,
                                   Scalar &result) {
  std::optional<double> constant = constantOf(inner.getOperand(1));
  if (!x.varies) {
    std::swap(x, y);
    constant = constantOf(inner.getOperand(0));
  }
  if (y.varies) {
    if (x.dependence.shift || y.dependence.shift)
      return bad(inner);
    result.dependence = x.dependence;
    llvm::append_range(result.dependence.powers, y.dependence.powers);
    llvm::append_range(result.dependence.factors, y.dependence.factors);
    return true;
  }
  result.dependence = x.dependence;
  if (x.dependence.shift && (!constant || y.isRow))
    return bad(inner);
  if (x.dependence.shift)
    result.dependence.shift->coefficient *= *constant;
  if (y.isRow)
    result.dependence.factors.push_back({number, &inner,
                                         lookup(inner.getOperand(0)).varies
                                             ? inner.getOperand(1)
                                             : inner.getOperand(0),
                                         /*inverse=*/false});
  return true;
}

bool BodyDependences::visitQuotient(Operation &inner, Scalar x, Scalar y,
                                    Scalar &result) {
  std::optional<double> constant = constantOf(inner.getOperand(1));
  if (y.varies && (!y.dependence.isNone() || x.dependence.shift || x.isRow))
    return bad(inner);
  result.dependence = x.dependence;
  if (x.dependence.shift && (!constant || *constant == 0))
    return bad(inner);
  if (x.dependence.shift)
    result.dependence.shift->coefficient /= *constant;
  if (y.isRow)
    result.dependence.factors.push_back(
        {number, &inner, inner.getOperand(1), /*inverse=*/true});
  return true;
}

bool BodyDependences::visitSelect(arith::SelectOp inner, Scalar &result) {
  Scalar condition = lookup(inner.getCondition());
  if (!condition.dependence.isNone() || condition.isRow)
    return bad(*inner);
  std::array<Value, 2> arms = {inner.getTrueValue(), inner.getFalseValue()};
  const Dependence x = lookup(arms[0]).dependence,
                   y = lookup(arms[1]).dependence;
  if (lookup(arms[0]).isRow || lookup(arms[1]).isRow)
    return bad(*inner);
  if (x == y) {
    result.dependence = x;
    return true;
  }
  for (unsigned i : {0u, 1u}) {
    const Dependence &from = i == 0 ? x : y, &other = i == 0 ? y : x;
    std::optional<double> constant = constantOf(arms[1 - i]);
    if (!other.isNone() || !constant)
      continue;
    // 0 has every factor, and an infinity every shift.
    if (from.shift ? std::isinf(*constant) : *constant == 0) {
      result.dependence = from;
      return true;
    }
  }
  return bad(*inner);
}

/// Do results of the chain that `value` is computed of hold in each step, for
/// what has been seen so far?
/// They are maxima, with a negative `sign`, or minima, with a positive one:
/// then exponents only shrink.
static bool holdsInSteps(const OnlineChain &chain, Value value, double sign) {
  const ChainOp *op = chain.find(value);
  if (!op)
    return true;
  if (op->role == ChainRole::Reduction) {
    Operation *combine = matchCombiner(op->linalgOp(), 0)->ops.front();
    return op->dependence.isNone() &&
           (sign < 0 ? isa<arith::MaximumFOp, arith::MaxNumFOp>(combine)
                     : isa<arith::MinimumFOp, arith::MinNumFOp>(combine));
  }
  // The sign of an op of several results is not known.
  if (op->role != ChainRole::Rows || op->inputs.size() != 1)
    return false;
  BodyDependences body(chain, op - chain.ops.begin());
  if (!body.run())
    return false;
  auto linear = body.lookup(getYielded(op->linalgOp(), 0)).linear;
  return linear &&
         holdsInSteps(chain, op->inputs[0].value, sign * linear->second);
}

Refused mlir::pit::findDependences(OnlineChain &chain) {
  for (auto [number, op] : llvm::enumerate(chain.ops)) {
    if (op.isSelection()) {
      if (const ChainOp *from = chain.find(op.inputs[0].value))
        op.dependence = from->dependence;
      if (op.dependence.isNone())
        continue;
      return refuse(code(OnlineCondition::Selection) +
                    "a mark selects what uses an earlier reduction");
    }
    if (op.role == ChainRole::Rows)
      continue;
    BodyDependences body(chain, number);
    if (!body.run())
      return Refusal{body.why};
    linalg::LinalgOp computed = op.linalgOp();
    if (op.role == ChainRole::Elements && !isInnerContraction(op)) {
      Scalar yielded = body.lookup(getYielded(computed, 0));
      op.dependence = yielded.dependence;
      if (yielded.isRow) {
        return refuse(
            code(OnlineCondition::Rescalable) +
            op.op->getName().getStringRef().str() +
            " repeats what it computes of an earlier reduction along the "
            "reduced dim");
      }
    } else {
      FailureOr<Combiner> combiner = matchCombiner(computed, 0);
      for (Value contribution : combiner->contributions) {
        Scalar scalar = body.lookup(contribution);
        if (scalar.isRow || (!scalar.dependence.isNone() &&
                             combiner->contributions.size() > 1)) {
          return refuse(code(OnlineCondition::Rescalable) +
                        "a reduction combines an earlier one's result");
        }
        op.dependence = scalar.dependence;
      }
      if (!op.dependence.isNone() &&
          (!isa<arith::AddFOp>(combiner->ops.front()) || op.dependence.shift ||
           isInnerContraction(op) || op.role == ChainRole::Added))
        return refuse(
            code(OnlineCondition::RescaledSum) +
            combiner->ops.front()->getName().getStringRef().str() +
            " combines what uses an earlier reduction; only sums of floats "
            "are rescaled");
      // It starts from nothing.
      Attribute start = getUniformConstant(computed.getDpsInits()[0]);
      if (!op.dependence.isNone() && !isZero(start)) {
        return refuse(code(OnlineCondition::RescaledSum) +
                      "a sum that is rescaled does not start from 0");
      }
    }
    if (!op.dependence.shift)
      continue;
    const ChainInput &input =
        chain.ops[op.dependence.shift->op].inputs[op.dependence.shift->input];
    if (!holdsInSteps(chain, input.value, op.dependence.shift->coefficient)) {
      return refuse(
          code(OnlineCondition::Rescalable) +
          "exponents use something else than what a maximum subtracts from "
          "them, or a minimum adds");
    }
  }
  for (const ChainOp &op : chain.ops)
    for (const Power &power : op.dependence.powers) {
      const ChainInput &input =
          chain.ops[power.shift.op].inputs[power.shift.input];
      if (!holdsInSteps(chain, input.value, power.shift.coefficient)) {
        return refuse(
            code(OnlineCondition::Rescalable) +
            "exponents use something else than what a maximum subtracts from "
            "them, or a minimum adds");
      }
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The value that contributes nothing
//===----------------------------------------------------------------------===//

/// Does a maximum that leaves out NaN combine -inf, or a minimum +inf? It
/// starts from a number here, so nothing changes.
static bool combinesNothing(const Combiner &combiner,
                            const BodyEvaluator &evaluator) {
  bool isMost = isa<arith::MaxNumFOp>(combiner.ops.front());
  if (!isMost && !isa<arith::MinNumFOp>(combiner.ops.front()))
    return false;
  return llvm::all_of(combiner.contributions, [&](Value contribution) {
    auto number = dyn_cast_or_null<FloatAttr>(
        evaluator.lookup(contribution).getConstant());
    return number && number.getValue().isInfinity() &&
           number.getValue().isNegative() == isMost;
  });
}

/// Evaluates the ops where `known` values are constants; the number of the
/// first reduction that contributes something.
static std::optional<unsigned>
findContribution(const OnlineChain &chain,
                 llvm::MapVector<Value, TypedAttr> known) {
  for (auto [number, op] : llvm::enumerate(chain.ops)) {
    if (op.role == ChainRole::Rows || known.contains(op.result()) ||
        op.isSelection())
      continue;
    linalg::LinalgOp computed = op.linalgOp();
    BodyEvaluator evaluator(computed, Arithmetic::Skipped);
    for (const ChainInput &input : op.inputs)
      if (auto it = known.find(input.value);
          it != known.end() &&
          llvm::is_contained(op.dimsOf(input.map), int64_t(chain.axis)))
        evaluator.assume(input.number, it->second);
    evaluator.run();
    Known yielded = evaluator.lookup(getYielded(computed, 0));
    if (op.role == ChainRole::Reduction || op.role == ChainRole::Added) {
      if (!(yielded == Known(getAccumulator(computed, 0))) &&
          !combinesNothing(*matchCombiner(computed, 0), evaluator))
        return number;
    } else if (auto constant =
                   dyn_cast_or_null<TypedAttr>(yielded.getConstant());
               constant && !isInnerContraction(op)) {
      known[op.result()] = constant;
    }
  }
  return std::nullopt;
}

bool mlir::pit::isNeutral(const OnlineChain &chain,
                          const llvm::MapVector<Value, TypedAttr> &known) {
  return !findContribution(chain, known);
}

/// Constants that may make a reduction contribute nothing.
static SmallVector<TypedAttr> listPads(linalg::LinalgOp op, Type element) {
  SmallVector<TypedAttr> found;
  Operation *combine = matchCombiner(op, 0)->ops.front();
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combine))
      found.push_back(FloatAttr::get(
          type, llvm::APFloat::getInf(semantics, /*Negative=*/true)));
    if (isa<arith::MinimumFOp, arith::MinNumFOp>(combine))
      found.push_back(FloatAttr::get(type, llvm::APFloat::getInf(semantics)));
  }
  for (TypedAttr pad : {identityOf(combine, element), zeroOf(element)})
    if (pad)
      found.push_back(pad);
  return found;
}

Refused mlir::pit::findPads(OnlineChain &chain) {
  // Elements beyond the end are read as 0. They do not count: products with
  // them are computed, and the other factor may be infinite.
  llvm::MapVector<Value, TypedAttr> known;
  if (chain.selection) {
    // Elements that are not selected are there: nothing is known of what is
    // read.
    llvm::MapVector<Value, TypedAttr> selected;
    const ChainOp &op = chain.ops[*chain.selection];
    selected[op.result()] = chain.background;
    if (!isNeutral(chain, selected)) {
      return refuse(code(OnlineCondition::Selection) +
                    "what a mark does not select contributes something");
    }
    known[op.result()] = chain.background;
  }
  while (std::optional<unsigned> number = findContribution(chain, known)) {
    const ChainOp &op = chain.ops[*number];
    linalg::LinalgOp computed = op.linalgOp();
    bool found = false;
    for (const ChainInput &input : op.inputs) {
      if (found ||
          !llvm::is_contained(op.dimsOf(input.map), int64_t(chain.axis)) ||
          chain.pads.contains(input.value) || chain.masks.contains(input.value))
        continue;
      Type element = getElementTypeOrSelf(input.value.getType());
      for (TypedAttr pad : listPads(computed, element)) {
        llvm::MapVector<Value, TypedAttr> tried = known;
        tried[input.value] = pad;
        std::optional<unsigned> next = findContribution(chain, tried);
        if (next && *next <= *number)
          continue;
        known[input.value] = pad;
        (chain.find(input.value) ? chain.masks : chain.pads)[input.value] = pad;
        found = true;
        break;
      }
    }
    if (!found) {
      return refuse(
          code(OnlineCondition::Padding) + "no constant beyond the end makes " +
          op.op->getName().getStringRef().str() + " contribute nothing");
    }
  }
  return std::nullopt;
}
