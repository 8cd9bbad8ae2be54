//===- OnlineTilerRows.cpp - Results of the reductions of a chain ---------===//

#include "OnlineTiler.h"

#include "pit/Analysis/BodyEvaluator.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Results of reductions
//===----------------------------------------------------------------------===//

Type OnlineTiler::accumulatorOf(const ChainOp &op) const {
  return templates.find(op.op)->second.accumulators.front();
}

bool OnlineTiler::isSumOfExponentials(Value value) const {
  const ChainOp *op = chain.find(value);
  return op && op->role == ChainRole::Reduction &&
         !op->dependence.powers.empty();
}

OnlineTiler::Tile OnlineTiler::rows(Value value, Epoch epoch) {
  auto &memo = rowTiles[unsigned(epoch)];
  const ChainOp *op = chain.find(value);
  // Tiles of a step hold within it alone.
  auto it = memo.find(value);
  if (it != memo.end() &&
      (!op || op->role == ChainRole::Reduction || epoch == Epoch::End))
    return it->second;
  Tile made;
  if (!op)
    return {read(value, dimsOf(value)), 1};
  made = {computeRows(*op, epoch), 1};
  if (epoch == Epoch::End)
    memo[value] = made;
  return made;
}

Value OnlineTiler::computeRows(const ChainOp &op, Epoch epoch) {
  linalg::LinalgOp computed = op.linalgOp();
  SmallVector<std::pair<Value, Dims>> inputs;
  SmallVector<BlockArgument> arguments;
  SmallVector<double> factors;
  llvm::SmallDenseSet<Value> divisors;
  for (const ChainInput &input : op.inputs) {
    BlockArgument argument = computed.getMatchingBlockArgument(
        &computed->getOpOperand(input.number));
    if (argument.use_empty())
      continue;
    Dims of = op.dimsOf(input.map);
    // A later read may have other dims than the first one.
    Tile from = chain.find(input.value) ? rows(input.value, epoch)
                                        : Tile{read(input.value, of), 1};
    from = withoutRowScale(from, of);
    inputs.push_back({from.tensor, of});
    arguments.push_back(argument);
    factors.push_back(from.scale);
    if (isSumOfExponentials(input.value))
      divisors.insert(argument);
  }
  return elementwise(
      inputs, dimsOf(op.result()), elementOf(op.result()),
      [&](ElementEmitter &e, ValueRange in) {
        IRMapping mapping;
        for (auto [i, argument] : llvm::enumerate(arguments)) {
          Value given = e.times(in[i], factors[i]);
          // Sums are wider than the op takes them.
          mapping.map(argument, e.convert(argument.getType(), given));
        }
        mapNumbers(e, computed, mapping);
        for (Operation &inner : computed.getBlock()->without_terminator()) {
          auto quotient = dyn_cast<arith::DivFOp>(inner);
          if (!quotient || !divisors.contains(quotient.getRhs())) {
            e.b.clone(inner, mapping);
            continue;
          }
          // If nothing was selected, the sum is 0, and so is the result.
          Value sum = mapping.lookup(quotient.getRhs());
          Value zero = e.real(sum.getType(), 0);
          Value none = e.isSame(sum, zero);
          Value one = e.real(sum.getType(), 1);
          Value inverse = e.quotient(one, sum);
          inverse = e.select(none, zero, inverse);
          Value made =
              e.product(mapping.lookupOrDefault(quotient.getLhs()), inverse);
          mapping.map(quotient.getResult(), made);
        }
        return mapping.lookupOrDefault(getYielded(computed, 0));
      });
}

/// Is the argument of an exponential x - result, where the op subtracts it?
bool OnlineTiler::isPlain(const Power &power) const {
  auto difference = power.scalar->getOperand(0).getDefiningOp<arith::SubFOp>();
  if (!difference || power.shift.op != power.op ||
      power.shift.coefficient != -1)
    return false;
  const ChainOp &op = chain.ops[power.op];
  const ChainInput &input = op.inputs[power.shift.input];
  Type type = difference.getType();
  const ChainOp *from = chain.find(input.value);
  return (type.isF32() || type.isF64()) && from &&
         from->role == ChainRole::Reduction &&
         difference.getRhs() == op.linalgOp().getMatchingBlockArgument(
                                    &op.op->getOpOperand(input.number));
}

double OnlineTiler::unitOf(const Power &power) const {
  return isa<math::ExpOp>(power.scalar) ? kLog2e : 1;
}

std::pair<Operation *, double>
OnlineTiler::scaledPower(const Power &power) const {
  Value result = power.scalar->getResult(0);
  auto product = result.hasOneUse()
                     ? dyn_cast<arith::MulFOp>(*result.user_begin())
                     : arith::MulFOp();
  if (!product || !isPlain(power))
    return {nullptr, 1};
  Value other =
      product.getLhs() == result ? product.getRhs() : product.getLhs();
  std::optional<double> scale =
      positiveConstant(chain.ops[power.op].linalgOp(), other);
  return scale ? std::pair(product.getOperation(), *scale)
               : std::pair<Operation *, double>(nullptr, 1);
}

Value OnlineTiler::shiftOf(const Power &power) {
  const ChainInput &input = chain.ops[power.op].inputs[power.shift.input];
  Value &known = shifts[power.scalar];
  if (known)
    return known;
  Tile now = rows(input.value, Epoch::Now);
  double unit = now.scale * unitOf(power);
  const Dims &dims = dimsOf(input.value);
  SmallVector<std::pair<Value, Dims>> inputs = {{now.tensor, dims}};
  if (now.rowScale)
    inputs.push_back(rowScaleTile(*now.rowScale, unit));
  return known = elementwise(
             inputs, dims, elementOf(now.tensor),
             [&](ElementEmitter &e, ValueRange in) {
               Value none = input.isFinite
                                ? e.isInfinity(e.magnitude(in[0]),
                                               /*negative=*/false)
                                : e.isInfinity(in[0], /*negative=*/true);
               Value zero = e.real(in[0].getType(), 0);
               Value value;
               if (now.rowScale)
                 value = e.make<arith::NegFOp>(e.product(in[0], in[1]));
               else
                 value = e.times(in[0], -unit);
               return e.select(none, zero, value);
             });
}

/// The factor by which what was summed before counts now. Null if none.
Value OnlineTiler::rescale(const ChainOp &op) {
  Value product;
  Dims of;
  for (const Power &power : op.dependence.powers) {
    const ChainInput &input =
        chain.ops[power.shift.op].inputs[power.shift.input];
    const Dims &dims = dimsOf(input.value);
    Value &known = scaled[power.scalar];
    if (!known) {
      Tile before = rows(input.value, Epoch::Before);
      Type type = elementOf(before.tensor);
      if (isPlain(power)) {
        double unit = before.scale * unitOf(power);
        SmallVector<std::pair<Value, Dims>> inputs = {{before.tensor, dims},
                                                      {shiftOf(power), dims}};
        if (before.rowScale)
          inputs.push_back(rowScaleTile(*before.rowScale, unit));
        known = elementwise(
            inputs, dims, type, [&](ElementEmitter &e, ValueRange in) {
              // A maximum that has not changed gives 1, so the product is
              // rounded as that of the shift is: an fma would leave the shift's
              // rounding error, a factor of each step.
              Value then = before.rowScale ? e.product(in[0], in[2])
                                           : e.times(in[0], unit);
              Value exponent = e.sum(then, in[1]);
              auto made = e.make<math::Exp2Op>(exponent);
              if (isNarrow())
                made.setFastmath(arith::FastMathFlags::afn);
              return Value(made);
            });
      } else {
        Tile now = withoutRowScale(rows(input.value, Epoch::Now), dims);
        before = withoutRowScale(before, dims);
        double sign = power.shift.coefficient;
        known = elementwise(
            {{before.tensor, dims}, {now.tensor, dims}}, dims, type,
            [&](ElementEmitter &e, ValueRange in) {
              Value then = e.times(in[0], before.scale * sign);
              Value value = e.times(in[1], now.scale * sign);
              Value magnitude = e.magnitude(value);
              Value none = e.isInfinity(magnitude, /*negative=*/false);
              value = e.select(none, e.real(type, 0), value);
              // The old value is relative to `then`: it shrinks.
              Value difference = e.make<arith::SubFOp>(value, then);
              Value magnitudeThen = e.magnitude(then);
              Value nothing = e.isInfinity(magnitudeThen, /*negative=*/false);
              Value power2 = isa<math::ExpOp>(power.scalar)
                                 ? Value(e.make<math::ExpOp>(difference))
                                 : e.make<math::Exp2Op>(difference);
              return e.select(nothing, e.real(type, 0), power2);
            });
      }
    }
    if (!product) {
      product = known;
      of = dims;
      continue;
    }
    // Each of several shifts may have dims of its own.
    Dims both(of);
    for (int64_t dim : dims)
      if (!llvm::is_contained(both, dim))
        both.push_back(dim);
    product =
        elementwise({{product, of}, {known, dims}}, both, elementOf(product),
                    [&](ElementEmitter &e, ValueRange in) {
                      return e.product(in[0], in[1]);
                    });
    of = both;
  }
  scaledDims = of;
  return product;
}

Value OnlineTiler::accumulate(const ChainOp &op, unsigned number, Tile before) {
  linalg::LinalgOp computed = op.linalgOp();
  Dims dims = dimsOf(op.result());
  Type element = accumulatorOf(op);
  Operation *combine = matchCombiner(computed, 0)->ops.front();
  Value factor = rescale(op);
  Dims factorDims = scaledDims;
  if (op.inputs.size() > 1 && isContractionBody(op)) {
    Value carried = before.tensor;
    if (factor)
      carried =
          elementwise({{carried, dims}, {factor, factorDims}}, dims, element,
                      [&](ElementEmitter &e, ValueRange in) {
                        return e.product(in[0], e.convert(element, in[1]));
                      });
    linalg::LinalgOp inner = templates.find(op.op)->second.inner.op;
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (const ChainInput &input : op.inputs) {
      Dims of = op.dimsOf(input.map);
      AffineMap map = input.map;
      if (Value copy = copies.lookup(input.value)) {
        SmallVector<AffineExpr> along(map.getResults());
        std::swap(along[llvm::find(of, int64_t(chain.axis)) - of.begin()],
                  along.back());
        along.back() = toFragmentOrder(along.back());
        map = AffineMap::get(map.getNumDims(), 0, along, map.getContext());
        inputs.push_back(read(copy, alongAxis(of)));
      } else {
        inputs.push_back(materialize(elements(input.value, of), of));
      }
      maps.push_back(map);
    }
    maps.push_back(op.resultMap);
    auto generic =
        linalg::GenericOp::create(rewriter, loc, carried.getType(), inputs,
                                  carried, maps, inner.getIteratorTypesArray());
    IRMapping mapping;
    inner->getRegion(0).cloneInto(&generic.getRegion(), mapping);
    return generic.getResult(0);
  }
  // The tile's part, and then both together.
  FailureOr<Combiner> combiner = matchCombiner(computed, 0);
  Dims loops(op.dims.begin(), op.dims.end());
  Tile part;
  Value contribution = combiner->contributions.front();
  auto argument = dyn_cast<BlockArgument>(contribution);
  const ChainInput *only = nullptr;
  for (const ChainInput &input : op.inputs)
    if (argument && argument.getOwner() == computed.getBlock() &&
        input.number == argument.getArgNumber())
      only = &input;
  AffineMap partMap = rewriter.getMultiDimIdentityMap(loops.size());
  if (only) {
    part = elements(only->value, op.dimsOf(only->map));
    partMap = only->map;
  } else {
    part = computeScalar(op, contribution, TypedAttr());
  }
  // A scale of rows that are reduced, too, does not leave the reduction.
  if (part.rowScale && !llvm::all_of(dimsOf(*part.rowScale), [&](int64_t dim) {
        return llvm::is_contained(dims, dim);
      }))
    part = withoutRowScale(part, only ? op.dimsOf(only->map) : loops);
  bool isMost = isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp,
                    arith::MinNumFOp>(combine);
  if (isMost && startsFromNothing(op))
    scales[number] = {Value(), part.scale, part.rowScale};
  else
    part = {materialize(part, only ? op.dimsOf(only->map) : loops), 1};
  if (elementOf(part.tensor) != element) {
    Dims of = only ? op.dimsOf(only->map) : loops;
    part.tensor = elementwise({{part.tensor, of}}, of, element,
                              [&](ElementEmitter &e, ValueRange in) {
                                return e.convert(element, in[0]);
                              });
  }
  auto combined = [&](ElementEmitter &e, Value x, Value y) -> Value {
    OperationState state(loc, combine->getName(), {x, y}, TypeRange(element),
                         combine->getAttrs());
    return e.b.create(state)->getResult(0);
  };
  TypedAttr identity = identityOf(combine, element);
  if (auto number = dyn_cast_or_null<FloatAttr>(identity);
      number && number.getValue().isNaN())
    identity = FloatAttr::get(
        element,
        llvm::APFloat::getInf(cast<FloatType>(element).getFloatSemantics(),
                              /*Negative=*/isa<arith::MaxNumFOp>(combine)));
  Value start = identity ? filledTile(dims, identity) : before.tensor;
  SmallVector<utils::IteratorType> iterators = computed.getIteratorTypesArray();
  auto reduced = linalg::GenericOp::create(
      rewriter, loc, start.getType(), part.tensor, start,
      {partMap, op.resultMap}, iterators,
      [&](OpBuilder &b, Location loc, ValueRange in) {
        ElementEmitter e(b, loc);
        e.make<linalg::YieldOp>(combined(e, in[1], in[0]));
      });
  if (!identity)
    return reduced.getResult(0);
  SmallVector<std::pair<Value, Dims>> inputs = {{before.tensor, dims},
                                                {reduced.getResult(0), dims}};
  if (factor)
    inputs.push_back({factor, factorDims});
  return elementwise(inputs, dims, element,
                     [&](ElementEmitter &e, ValueRange in) {
                       Value old = in[0];
                       if (factor)
                         old = e.product(old, e.convert(element, in[2]));
                       return combined(e, old, in[1]);
                     });
}

bool OnlineTiler::isContractionBody(const ChainOp &op) const {
  return llvm::any_of(op.inputs, [&](const ChainInput &input) {
    return op.dimsOf(input.map).size() != size_t(op.linalgOp().getNumLoops()) ||
           !input.map.isPermutation();
  });
}

bool OnlineTiler::startsFromNothing(const ChainOp &op) const {
  auto number = dyn_cast_or_null<FloatAttr>(
      getUniformConstant(op.linalgOp().getDpsInits()[0]));
  return number &&
         (number.getValue().isNaN() || number.getValue().isInfinity() ||
          number.getValue().isLargest());
}

/// The value of a factor that left the loop, for the results.
Value OnlineTiler::factorOf(const RowFactor &factor) {
  const ChainOp &op = chain.ops[factor.op];
  linalg::LinalgOp computed = op.linalgOp();
  SmallVector<std::pair<Value, Dims>> inputs;
  SmallVector<BlockArgument> arguments;
  SmallVector<double> factors;
  Dims dims;
  bool isDivisor = false;
  for (const ChainInput &input : op.inputs) {
    Dims of = op.dimsOf(input.map);
    if (llvm::is_contained(of, int64_t(chain.axis)))
      continue;
    BlockArgument argument = computed.getMatchingBlockArgument(
        &computed->getOpOperand(input.number));
    Tile tile = chain.find(input.value) ? rows(input.value, Epoch::End)
                                        : Tile{read(input.value, of), 1};
    tile = withoutRowScale(tile, of);
    inputs.push_back({tile.tensor, of});
    arguments.push_back(argument);
    factors.push_back(tile.scale);
    for (int64_t dim : of)
      if (dim >= 0 && !llvm::is_contained(dims, dim))
        dims.push_back(dim);
    isDivisor |= factor.row == argument && isSumOfExponentials(input.value);
  }
  Type element = factor.row.getType();
  if (auto argument = dyn_cast<BlockArgument>(factor.row))
    for (auto [known, input] : llvm::zip(arguments, inputs))
      if (known == argument)
        element = elementOf(input.first); // maybe wider
  factorDims = dims;
  return elementwise(inputs, dims, element,
                     [&](ElementEmitter &e, ValueRange in) {
                       IRMapping mapping;
                       for (auto [i, argument] : llvm::enumerate(arguments))
                         mapping.map(argument, e.times(in[i], factors[i]));
                       mapNumbers(e, computed, mapping);
                       cloneSlice(e.b, computed, factor.row, mapping);
                       Value value = mapping.lookupOrDefault(factor.row);
                       if (!factor.inverse)
                         return value;
                       Value one = e.real(element, 1);
                       Value inverse = e.quotient(one, value);
                       if (!isDivisor)
                         return inverse;
                       Value zero = e.real(element, 0);
                       Value none = e.isSame(value, zero);
                       return e.select(none, zero, inverse);
                     });
}

Value OnlineTiler::finish(const ChainOp &op, Tile state) {
  const Dims &dims = dimsOf(op.result());
  Value value = materialize(state, dims);
  for (const RowFactor &factor : op.dependence.factors) {
    Value by = factorOf(factor);
    value = elementwise(
        {{value, dims}, {by, factorDims}}, dims, elementOf(value),
        [&](ElementEmitter &e, ValueRange in) {
          return e.product(in[0], e.convert(in[0].getType(), in[1]));
        });
  }
  return value;
}
