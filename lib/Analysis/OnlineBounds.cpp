//===- OnlineBounds.cpp - Which part of an axis comparisons leave out -----===//
//
// select(j <= i, x, -inf) contributes nothing at j > i, so a loop over tiles of
// j ends there.
//
//===----------------------------------------------------------------------===//

#include "OnlineDependences.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

/// A scalar of a body, and the chain's dims of the op's loops, -1 where they
/// have none.
struct Place {
  linalg::LinalgOp op;
  SmallVector<int64_t> dims;
  Value value;
  Place at(Value other) const { return {op, dims, other}; }
};

/// constant + coordinates + captured numbers + elements, each times a factor.
struct LinearSum {
  int64_t constant = 0;
  llvm::MapVector<unsigned, int64_t> dims;
  llvm::MapVector<Value, int64_t> captured;
  SmallVector<AxisBound::Read> reads;

  void add(const LinearSum &other, int64_t factor) {
    constant += other.constant * factor;
    for (auto &[dim, times] : other.dims)
      dims[dim] += times * factor;
    for (auto &[value, times] : other.captured)
      captured[value] += times * factor;
    for (const AxisBound::Read &read : other.reads)
      reads.push_back({read.value, read.dims, read.times * factor});
  }
};

/// Conditions that have to hold together.
struct Conditions {
  SmallVector<AxisBound> bounds;
  SmallVector<std::pair<AxisBound, AxisBound>, 0> eithers;
};

class BoundFinder {
public:
  BoundFinder(OnlineChain &chain) : chain(chain) {}
  void run();

private:
  /// The value that an argument of a body is in the op that computes it.
  std::optional<Place> resolve(Place place);
  std::optional<LinearSum> matchSum(Place place);
  std::optional<LinearSum> matchScalar(Place place);
  /// An element of a tensor of integers that does not run along the axis.
  std::optional<LinearSum> matchRead(Place place);
  /// Conditions without which `place` is a constant that contributes nothing.
  void findConditions(const ChainOp &op, Place place, bool exact);
  void addCondition(Place condition, bool negated, Conditions &found);
  std::optional<AxisBound> boundOf(arith::CmpIPredicate predicate,
                                   LinearSum difference);

  OnlineChain &chain;
};

} // namespace

std::optional<Place> BoundFinder::resolve(Place place) {
  auto argument = dyn_cast<BlockArgument>(place.value);
  if (!argument || argument.getOwner() != place.op.getBlock())
    return place;
  unsigned number = argument.getArgNumber();
  if (number >= place.op.getNumDpsInputs())
    return std::nullopt;
  OpOperand &operand = place.op->getOpOperand(number);
  if (!isa<ShapedType>(operand.get().getType()))
    return Place{place.op, place.dims, operand.get()};
  if (getScalarConstant(place.op, place.value))
    return place;
  ChainInput input = lookThrough(place.op, operand);
  auto def = input.value.getDefiningOp<linalg::LinalgOp>();
  if (!def || !isElementwiseOp(def))
    return std::nullopt;
  SmallVector<int64_t> dims(def.getNumLoops(), -1);
  AffineMap result = def.getMatchingIndexingMap(def.getDpsInitOperand(0));
  for (auto [loop, from] :
       llvm::zip(result.getResults(), input.map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(from))
      dims[cast<AffineDimExpr>(loop).getPosition()] =
          place.dims[dim.getPosition()];
  return resolve({def, dims, getYielded(def, 0)});
}

std::optional<LinearSum> BoundFinder::matchSum(Place place) {
  std::optional<Place> resolved = resolve(place);
  std::optional<LinearSum> sum;
  if (resolved)
    sum = matchScalar(*resolved);
  // The extremes of a sum of elements are nearer than the sum of extremes.
  if (!sum || (!sum->reads.empty() && resolved->op != place.op))
    if (std::optional<LinearSum> read = matchRead(place))
      return read;
  return sum;
}

std::optional<LinearSum> BoundFinder::matchRead(Place place) {
  auto argument = dyn_cast<BlockArgument>(place.value);
  if (!argument || argument.getOwner() != place.op.getBlock() ||
      argument.getArgNumber() >= place.op.getNumDpsInputs() ||
      !argument.getType().isIntOrIndex() || argument.getType().isInteger(1))
    return std::nullopt;
  OpOperand &operand = place.op->getOpOperand(argument.getArgNumber());
  if (!isa<RankedTensorType>(operand.get().getType()))
    return std::nullopt;
  ChainInput input = lookThrough(place.op, operand);
  if (chain.find(input.value))
    return std::nullopt;
  AxisBound::Read read{input.value, {}, 1};
  for (AffineExpr result : input.map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    read.dims.push_back(dim ? place.dims[dim.getPosition()] : -1);
  }
  // Bounds are those of the axis in all of the loops around it.
  if (llvm::any_of(read.dims, [&](int64_t dim) {
        return dim == int64_t(chain.axis) || chain.isOuter(dim);
      }))
    return std::nullopt;
  LinearSum sum;
  sum.reads.push_back(std::move(read));
  return sum;
}

std::optional<LinearSum> BoundFinder::matchScalar(Place place) {
  Value value = place.value;
  LinearSum sum;
  if (auto constant =
          dyn_cast_or_null<IntegerAttr>(getScalarConstant(place.op, value))) {
    llvm::APInt number = constant.getValue();
    if (number.getSignificantBits() > 62)
      return std::nullopt;
    sum.constant = number.getSExtValue();
    return sum;
  }
  Operation *op = value.getDefiningOp();
  bool isInside = op && op->getBlock() == place.op.getBlock();
  if (!isInside) {
    if (!value.getType().isIntOrIndex() || value.getType().isInteger(1))
      return std::nullopt;
    sum.captured[value] = 1;
    return sum;
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    int64_t dim = place.dims[index.getDim()];
    if (dim < 0 || chain.isOuter(dim))
      return std::nullopt;
    sum.dims[dim] = 1;
    return sum;
  }
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return matchSum(place.at(op->getOperand(0)));
  if (auto product = dyn_cast<arith::MulIOp>(op)) {
    llvm::APInt factor;
    std::optional<LinearSum> part = matchSum(place.at(product.getLhs()));
    if (!part || !matchPattern(product.getRhs(), m_ConstantInt(&factor)) ||
        factor.getSignificantBits() > 31)
      return std::nullopt;
    sum.add(*part, factor.getSExtValue());
    return sum;
  }
  bool minus = isa<arith::SubIOp>(op);
  if (!minus && !isa<arith::AddIOp>(op))
    return std::nullopt;
  std::optional<LinearSum> left = matchSum(place.at(op->getOperand(0))),
                           right = matchSum(place.at(op->getOperand(1)));
  if (!left || !right)
    return std::nullopt;
  left->add(*right, minus ? -1 : 1);
  return left;
}

static AxisBound addTerms(AxisBound bound, const LinearSum &sum,
                          int64_t factor) {
  bound.constant += sum.constant * factor;
  for (auto &[dim, times] : sum.dims)
    if (times != 0)
      bound.dims.push_back({dim, times * factor});
  for (auto &[value, times] : sum.captured)
    if (times != 0)
      bound.captured.push_back({value, times * factor});
  for (const AxisBound::Read &read : sum.reads)
    bound.reads.push_back({read.value, read.dims, read.times * factor});
  return bound;
}

std::optional<AxisBound> BoundFinder::boundOf(arith::CmpIPredicate predicate,
                                              LinearSum difference) {
  using Predicate = arith::CmpIPredicate;
  int64_t axis = difference.dims.lookup(chain.axis);
  difference.dims.erase(chain.axis);
  AxisBound bound;
  if (axis == 0) {
    // difference predicate 0, as sum < 0
    bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
    if (!isLess && predicate != Predicate::sgt && predicate != Predicate::sge)
      return std::nullopt;
    bound.isOfRows = true;
    if (predicate == Predicate::sle || predicate == Predicate::sge)
      bound.constant = -1;
    return addTerms(bound, difference, isLess ? 1 : -1);
  }
  if (axis != 1 && axis != -1)
    return std::nullopt;
  // axis * (t - at) predicate 0
  switch (predicate) {
  case Predicate::slt:
    bound.isUpper = axis == 1;
    bound.constant = axis == 1 ? 0 : 1;
    break;
  case Predicate::sle:
    bound.isUpper = axis == 1;
    bound.constant = axis == 1 ? 1 : 0;
    break;
  case Predicate::sgt:
    bound.isUpper = axis == -1;
    bound.constant = axis == -1 ? 0 : 1;
    break;
  case Predicate::sge:
    bound.isUpper = axis == -1;
    bound.constant = axis == -1 ? 1 : 0;
    break;
  default:
    return std::nullopt;
  }
  return addTerms(bound, difference, -axis);
}

void BoundFinder::addCondition(Place condition, bool negated,
                               Conditions &found) {
  std::optional<Place> resolved = resolve(condition);
  if (!resolved || !resolved->value.getDefiningOp())
    return;
  Operation *op = resolved->value.getDefiningOp();
  bool isAnd = isa<arith::AndIOp>(op), isOr = isa<arith::OrIOp>(op);
  if ((isAnd && !negated) || (isOr && negated)) {
    for (Value operand : op->getOperands())
      addCondition(resolved->at(operand), negated, found);
    return;
  }
  if (isAnd || isOr) {
    // Each side has one of the conditions at least that it consists of.
    Conditions sides[2];
    for (auto [side, operand] : llvm::zip(sides, op->getOperands()))
      addCondition(resolved->at(operand), negated, side);
    if (!sides[0].bounds.empty() && !sides[1].bounds.empty())
      found.eithers.push_back({sides[0].bounds[0], sides[1].bounds[0]});
    return;
  }
  // A condition as a number, and back.
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    auto yes = dyn_cast_or_null<IntegerAttr>(
             getScalarConstant(resolved->op, select.getTrueValue())),
         no = dyn_cast_or_null<IntegerAttr>(
             getScalarConstant(resolved->op, select.getFalseValue()));
    if (yes && no && !yes.getValue().isZero() && no.getValue().isZero())
      addCondition(resolved->at(select.getCondition()), negated, found);
    return;
  }
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return addCondition(resolved->at(op->getOperand(0)), !negated, found);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return;
  std::optional<LinearSum> left = matchSum(resolved->at(compare.getLhs())),
                           right = matchSum(resolved->at(compare.getRhs()));
  if (!left || !right)
    return;
  left->add(*right, -1);
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (negated)
    predicate = arith::invertPredicate(predicate);
  if (std::optional<AxisBound> bound = boundOf(predicate, *left))
    found.bounds.push_back(*bound);
}

void BoundFinder::findConditions(const ChainOp &op, Place place, bool exact) {
  Operation *def = place.value.getDefiningOp();
  if (!def || def->getBlock() != place.op.getBlock())
    return;
  auto isNone = [&](Value value) {
    auto constant =
        dyn_cast_or_null<TypedAttr>(getScalarConstant(place.op, value));
    if (!constant)
      return false;
    auto number = dyn_cast<FloatAttr>(constant);
    bool isLowest = number && number.getValue().isInfinity() &&
                    number.getValue().isNegative();
    if (!exact && !isLowest)
      return false;
    llvm::MapVector<Value, TypedAttr> known;
    Type element = getElementTypeOrSelf(op.result().getType());
    known[op.result()] =
        isLowest
            ? FloatAttr::get(element,
                             llvm::APFloat::getInf(
                                 cast<FloatType>(element).getFloatSemantics(),
                                 /*Negative=*/true))
            : constant;
    return known[op.result()].getType() == element && isNeutral(chain, known);
  };
  if (auto select = dyn_cast<arith::SelectOp>(def)) {
    for (bool negated : {false, true}) {
      Value kept = negated ? select.getFalseValue() : select.getTrueValue();
      Value none = negated ? select.getTrueValue() : select.getFalseValue();
      if (!isNone(none))
        continue;
      Conditions found;
      addCondition(place.at(select.getCondition()), negated, found);
      llvm::append_range(chain.bounds, found.bounds);
      llvm::append_range(chain.eithers, found.eithers);
      return findConditions(op, place.at(kept), exact);
    }
    return;
  }
  // -inf stays what it is.
  if (isa<arith::ExtFOp, arith::TruncFOp>(def))
    return findConditions(op, place.at(def->getOperand(0)), /*exact=*/false);
  if (auto product = dyn_cast<arith::MulFOp>(def)) {
    auto factor = dyn_cast_or_null<FloatAttr>(
        getScalarConstant(place.op, product.getRhs()));
    if (factor && !factor.getValue().isNegative() &&
        factor.getValue().isFiniteNonZero())
      findConditions(op, place.at(product.getLhs()), /*exact=*/false);
  }
}

void BoundFinder::run() {
  for (const ChainOp &op : chain.ops) {
    linalg::LinalgOp computed = op.linalgOp();
    if (op.role != ChainRole::Elements || !computed || isInnerContraction(op))
      continue;
    SmallVector<int64_t> dims(op.dims.begin(), op.dims.end());
    findConditions(op, {computed, dims, getYielded(computed, 0)},
                   /*exact=*/true);
  }
}

void mlir::pit::findBounds(OnlineChain &chain) { BoundFinder(chain).run(); }
