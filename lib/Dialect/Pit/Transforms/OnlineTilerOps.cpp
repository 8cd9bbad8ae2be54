//===- OnlineTilerOps.cpp - Tiles along the axis of a chain ---------------===//

#include "OnlineTiler.h"

#include "pit/Analysis/BodyEvaluator.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

const OnlineTiler::Dims &OnlineTiler::dimsOf(Value value) const {
  return chain.dims.find(value)->second;
}

Value OnlineTiler::emptyTile(ArrayRef<int64_t> dims, Type element) {
  return tensor::EmptyOp::create(rewriter, loc, shapeOf(dims), element);
}

Value OnlineTiler::filledTile(ArrayRef<int64_t> dims, TypedAttr constant) {
  Value number = arith::ConstantOp::create(rewriter, loc, constant);
  return linalg::FillOp::create(rewriter, loc, number,
                                emptyTile(dims, constant.getType()))
      .getResult(0);
}

Value OnlineTiler::read(Value value, ArrayRef<int64_t> dims) {
  TypedAttr pad;
  if (auto it = chain.pads.find(value); it != chain.pads.end())
    pad = it->second;
  auto type = RankedTensorType::get(shapeOf(dims), elementOf(value));
  return SReadOp::create(rewriter, loc, type, value, subscripts(dims), pad)
      .getResult();
}

Value OnlineTiler::elementwise(
    ArrayRef<std::pair<Value, Dims>> inputs, ArrayRef<int64_t> dims,
    Type element, function_ref<Value(ElementEmitter &, ValueRange)> body) {
  // The loops are the positions of `dims`.
  auto mapTo = [&](ArrayRef<int64_t> of) {
    SmallVector<AffineExpr> results;
    for (int64_t dim : of) {
      auto *at = dim < 0 ? dims.end() : llvm::find(dims, dim);
      results.push_back(at == dims.end()
                            ? rewriter.getAffineConstantExpr(0)
                            : rewriter.getAffineDimExpr(at - dims.begin()));
    }
    return AffineMap::get(dims.size(), 0, results, rewriter.getContext());
  };
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (const auto &[tensor, of] : inputs) {
    operands.push_back(tensor);
    maps.push_back(mapTo(of));
  }
  maps.push_back(rewriter.getMultiDimIdentityMap(dims.size()));
  SmallVector<utils::IteratorType> iterators(dims.size(),
                                             utils::IteratorType::parallel);
  Value init = emptyTile(dims, element);
  return linalg::GenericOp::create(
             rewriter, loc, init.getType(), operands, init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange arguments) {
               ElementEmitter e(b, loc);
               e.make<linalg::YieldOp>(body(e, arguments));
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Along the axis
//===----------------------------------------------------------------------===//

OnlineTiler::Tile OnlineTiler::elements(Value value, ArrayRef<int64_t> dims) {
  const ChainOp *op = chain.find(value);
  // A value that the loop only reads may be read along several dims.
  if (!op)
    return {read(value, dims), 1};
  auto known = stepTiles.find(value);
  if (known != stepTiles.end())
    return known->second;
  Tile made = op->isSelection()         ? computeSelection(*op)
              : isInnerContraction(*op) ? computeContraction(*op)
                                        : computeElements(*op);
  return stepTiles[value] = made;
}

OnlineTiler::Tile OnlineTiler::computeContraction(const ChainOp &op) {
  Dims dims = dimsOf(op.result());
  TypedAttr mask;
  if (auto it = chain.masks.find(op.result()); it != chain.masks.end())
    mask = it->second;
  return masked({multiplyTiles(op), 1}, dims, mask);
}

Value OnlineTiler::multiplyTiles(const ChainOp &op) {
  linalg::LinalgOp computed = templates.find(op.op)->second.inner.op;
  Type element = accumulatorOf(op);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const ChainInput &input : op.inputs) {
    Dims of = op.dimsOf(input.map);
    inputs.push_back(materialize(elements(input.value, of), of));
    maps.push_back(input.map);
  }
  maps.push_back(op.resultMap);
  Attribute given = getUniformConstant(op.linalgOp().getDpsInits()[0]);
  TypedAttr start = cast<TypedAttr>(given);
  if (auto number = dyn_cast<FloatAttr>(given))
    start = FloatAttr::get(element, number.getValueAsDouble());
  Value init = filledTile(dimsOf(op.result()), start);
  auto generic =
      linalg::GenericOp::create(rewriter, loc, init.getType(), inputs, init,
                                maps, computed.getIteratorTypesArray());
  IRMapping mapping;
  computed->getRegion(0).cloneInto(&generic.getRegion(), mapping);
  return generic.getResult(0);
}

Value OnlineTiler::addTo(const ChainOp &op, Value sums) {
  return SWriteOp::create(rewriter, loc, multiplyTiles(op), sums,
                          subscripts(dimsOf(op.result())),
                          arith::AtomicRMWKind::addf)
      .getResult();
}

SmallVector<int64_t> OnlineTiler::endsOfRows(const ChainOp &op) const {
  SmallVector<int64_t> found;
  for (unsigned number : added) {
    const ChainOp &sum = chain.ops[number];
    bool isFactor = llvm::any_of(sum.inputs, [&](const ChainInput &input) {
      return input.value == op.result();
    });
    for (int64_t dim : dimsOf(op.result()))
      if (isFactor && dim >= 0 && kinds[dim] == Kind::Row && tile[dim] > 1 &&
          !chain.hasDim(sum.result(), dim) &&
          (ShapedType::isDynamic(staticExtent(dim)) ||
           staticExtent(dim) % tile[dim] != 0))
        found.push_back(dim);
  }
  return found;
}

OnlineTiler::Tile OnlineTiler::computeElements(const ChainOp &op) {
  TypedAttr mask;
  if (auto it = chain.masks.find(op.result()); it != chain.masks.end())
    mask = it->second;
  return computeScalar(op, getYielded(op.linalgOp(), 0), mask);
}

namespace {
/// Rebuilds a body where scales that are positive are left to whoever uses
/// them.
struct ScaledBody {
  explicit ScaledBody(ElementEmitter &e) : e(e) {}
  ElementEmitter &e;
  IRMapping mapping;
  llvm::DenseMap<Value, double> scales; ///< of old values
  /// Old values of rows that they are multiplied by.
  llvm::DenseMap<Value, SmallVector<Value>> rowScales;
  double scaleOf(Value old) const {
    auto it = scales.find(old);
    return it == scales.end() ? 1 : it->second;
  }
  SmallVector<Value> rowScalesOf(Value old) const {
    return rowScales.lookup(old);
  }
  Value raw(Value old) { return mapping.lookupOrDefault(old); }
  /// The value but for constants, which are left to its users.
  Value withRows(Value old) {
    Value made = raw(old);
    for (Value row : rowScalesOf(old))
      made = e.product(made, whole(row));
    return made;
  }
  Value whole(Value old) { return e.times(withRows(old), scaleOf(old)); }
  /// `made` has what `old` leaves to others.
  void leave(Value made, Value old) {
    scales[made] = scaleOf(old);
    if (SmallVector<Value> rows = rowScalesOf(old); !rows.empty())
      rowScales[made] = rows;
  }
  bool leavesAlike(Value x, Value y) const {
    return scaleOf(x) == scaleOf(y) && rowScalesOf(x) == rowScalesOf(y);
  }
};
} // namespace

/// Is `value` an infinity or zero, which no scale changes?
static bool isFixed(linalg::LinalgOp op, Value value) {
  auto number = dyn_cast_or_null<FloatAttr>(getScalarConstant(op, value));
  return number &&
         (number.getValue().isInfinity() || number.getValue().isZero());
}

SmallVector<const Power *> OnlineTiler::powersOf(const ChainOp &op) const {
  SmallVector<const Power *> powers;
  for (const Power &power : op.dependence.powers)
    if (power.op == chain.numbers.lookup(op.op))
      powers.push_back(&power);
  return powers;
}

void OnlineTiler::mapNumbers(ElementEmitter &e, linalg::LinalgOp op,
                             IRMapping &mapping) {
  for (auto [i, operand] : llvm::enumerate(op.getDpsInputs())) {
    BlockArgument argument = op.getBlock()->getArgument(i);
    if (!isa<ShapedType>(operand.getType()))
      mapping.map(argument, operand);
    else if (op.getNumReductionLoops() > 0)
      continue;
    else if (auto constant =
                 dyn_cast_or_null<TypedAttr>(getScalarConstant(op, argument)))
      mapping.map(argument, e.constant(constant));
  }
}

OnlineTiler::Tile OnlineTiler::computeScalar(const ChainOp &op, Value yielded,
                                             TypedAttr mask) {
  linalg::LinalgOp computed = op.linalgOp();
  // The result runs along the loops that are not reduced, and the axis.
  Dims dims;
  if (op.role == ChainRole::Reduction)
    dims.assign(op.dims.begin(), op.dims.end());
  else
    dims = dimsOf(op.result());
  SmallVector<std::pair<Value, Dims>> inputs;
  SmallVector<std::pair<Value, double>> arguments; ///< of the old body
  SmallVector<const Power *> powers = powersOf(op);
  // In 16 bits, powers relative to the operand that is read equal those
  // relative to the operand that the chain reduces.
  llvm::DenseMap<Operation *, arith::SubFOp> relatives;
  for (Operation &inner : computed.getBlock()->without_terminator())
    if (auto of = findRelativeExponent(computed, &inner);
        of && isNarrow() && of.getType().isF32() && of->hasOneUse() &&
        llvm::none_of(powers, [&](const Power *power) {
          return power->scalar == &inner;
        }))
      relatives[&inner] = of;
  llvm::SmallDenseSet<Value> shiftArguments;
  llvm::DenseMap<Value, Tile> scaledArguments; ///< by row scales
  // Is an op what a plain power is of?
  auto isShift = [&](Operation *user) {
    return llvm::any_of(powers, [&](const Power *power) {
      return isPlain(*power) &&
             power->scalar->getOperand(0).getDefiningOp() == user;
    });
  };
  for (const ChainInput &input : op.inputs) {
    BlockArgument argument = computed.getMatchingBlockArgument(
        &computed->getOpOperand(input.number));
    if (argument.use_empty())
      continue;
    Dims of = op.dimsOf(input.map);
    const ChainOp *from = chain.find(input.value);
    Tile source;
    if (from && from->role != ChainRole::Elements) {
      // Factors are applied at the end, and shifts below.
      bool isUsed = llvm::any_of(argument.getUsers(), [&](Operation *user) {
        bool isFactor =
            llvm::any_of(op.dependence.factors,
                         [&](const RowFactor &f) { return f.scalar == user; });
        return !isFactor && !isShift(user);
      });
      if (!isUsed)
        continue;
      // In exponents it is finite.
      Tile now =
          withoutRowScale(rows(input.value, Epoch::Now), dimsOf(input.value));
      Value finite = elementwise(
          {{now.tensor, dimsOf(input.value)}}, dimsOf(input.value),
          elementOf(now.tensor), [&](ElementEmitter &e, ValueRange in) {
            Value value = e.times(in[0], now.scale);
            Value none = e.isInfinity(e.magnitude(value), /*negative=*/false);
            return e.select(none, e.real(value.getType(), 0), value);
          });
      source = {finite, 1};
    } else {
      source = elements(input.value, of);
      // Exponents that are computed by an fma take row scales for its factor.
      if (source.rowScale &&
          !llvm::all_of(argument.getUsers(), [&](Operation *user) {
            return user->hasOneUse() && isShift(user);
          }))
        source = withoutRowScale(source, of);
      // A shift is computed once for all that it shifts.
      if (argument.hasOneUse() && llvm::any_of(relatives, [&](auto relative) {
            return relative.second.getRhs() == argument;
          })) {
        shiftArguments.insert(argument);
        double unit = -source.scale * kLog2e;
        source = {elementwise({{source.tensor, of}}, of,
                              elementOf(source.tensor),
                              [&](ElementEmitter &e, ValueRange in) {
                                return e.times(in[0], unit);
                              }),
                  1};
      }
    }
    inputs.push_back({source.tensor, of});
    arguments.push_back({argument, source.scale});
    if (source.rowScale)
      scaledArguments[argument] = source;
  }
  size_t shiftsFrom = inputs.size();
  llvm::DenseMap<Operation *, Operation *> products; ///< of powers
  llvm::DenseMap<Operation *, size_t> unitsFrom; ///< inputs, by exponentials
  for (const Power *power : powers)
    if (isPlain(*power)) {
      Dims of = op.dimsOf(op.inputs[power->shift.input].map);
      Value shift = shiftOf(*power);
      // A constant factor is a summand of the exponent, once for each row.
      if (auto [product, factor] = scaledPower(*power); product) {
        double added = std::log2(factor);
        products[product] = power->scalar;
        shift =
            elementwise({{shift, of}}, of, elementOf(shift),
                        [&](ElementEmitter &e, ValueRange in) {
                          return e.sum(in[0], e.real(in[0].getType(), added));
                        });
      }
      inputs.push_back({shift, of});
    }
  for (const Power *power : powers) {
    Operation *difference = power->scalar->getOperand(0).getDefiningOp();
    if (!isPlain(*power) ||
        !scaledArguments.contains(difference->getOperand(0)))
      continue;
    const Tile &source = scaledArguments[difference->getOperand(0)];
    unitsFrom[power->scalar] = inputs.size();
    inputs.push_back(
        rowScaleTile(*source.rowScale, source.scale * unitOf(*power)));
  }
  SmallVector<int64_t> ends = endsOfRows(op);
  if (mask && needsMask())
    ends.push_back(chain.axis);
  else if (!ends.empty())
    mask = cast<TypedAttr>(rewriter.getZeroAttr(yielded.getType()));
  llvm::SmallMapVector<int64_t, size_t, 2> coordsFrom; ///< inputs, by dims
  auto takeCoords = [&](int64_t dim) {
    if (ids[dim] && coordsFrom.insert({dim, inputs.size()}).second)
      inputs.push_back({coords(dim), {dim}});
  };
  computed.getBlock()->walk(
      [&](linalg::IndexOp place) { takeCoords(op.dims[place.getDim()]); });
  for (int64_t dim : ends)
    takeCoords(dim);
  // Nothing is computed where one value passes through.
  double passed = 1;
  SmallVector<Value> passedRows;
  auto placeOf = [&](ElementEmitter &e, ValueRange in, int64_t dim) {
    if (auto *from = coordsFrom.find(dim); from != coordsFrom.end())
      return Value(in[from->second]);
    auto *at = llvm::find(dims, dim);
    Value place = e.make<linalg::IndexOp>(at - dims.begin());
    if (kinds[dim] == Kind::Whole)
      return place;
    return e.add(place, starts[dim]);
  };
  Type element = yielded.getType();
  Value made =
      elementwise(inputs, dims, element, [&](ElementEmitter &e, ValueRange in) {
        ScaledBody body(e);
        for (auto [i, argument] : llvm::enumerate(arguments)) {
          body.mapping.map(argument.first, in[i]);
          body.scales[argument.first] = argument.second;
        }
        mapNumbers(e, computed, body.mapping);
        size_t shift = shiftsFrom;
        llvm::DenseMap<Operation *, Value> shiftOfScalar;
        for (const Power *power : powers)
          if (isPlain(*power))
            shiftOfScalar[power->scalar] = in[shift++];
        auto isFactor = [&](Operation &inner) {
          auto *it =
              llvm::find_if(op.dependence.factors, [&](const RowFactor &f) {
                return f.scalar == &inner;
              });
          return it == op.dependence.factors.end() ? nullptr : &*it;
        };
        llvm::SmallDenseSet<Operation *> left;
        for (const Power *power : powers)
          if (isPlain(*power) && power->scalar->getOperand(0).hasOneUse())
            left.insert(power->scalar->getOperand(0).getDefiningOp());
        for (auto &[power, exponent] : relatives)
          left.insert(exponent);
        for (Operation &inner : computed.getBlock()->without_terminator()) {
          if (left.contains(&inner))
            continue;
          if (Operation *power = products.lookup(&inner)) {
            body.mapping.map(inner.getResult(0), body.raw(power->getResult(0)));
            continue;
          }
          if (auto place = dyn_cast<linalg::IndexOp>(inner)) {
            body.mapping.map(place.getResult(),
                             placeOf(e, in, op.dims[place.getDim()]));
            continue;
          }
          if (const RowFactor *factor = isFactor(inner)) {
            Value kept =
                inner.getOperand(inner.getOperand(0) == factor->row ? 1 : 0);
            body.mapping.map(inner.getResult(0), body.raw(kept));
            body.leave(inner.getResult(0), kept);
            continue;
          }
          if (Value added = shiftOfScalar.lookup(&inner)) {
            auto *power = *llvm::find_if(
                powers, [&](const Power *p) { return p->scalar == &inner; });
            Value x = inner.getOperand(0).getDefiningOp()->getOperand(0);
            Value unit =
                unitsFrom.contains(&inner)
                    ? in[unitsFrom[&inner]]
                    : e.real(x.getType(), body.scaleOf(x) * unitOf(*power));
            Value exponent = e.make<math::FmaOp>(body.withRows(x), unit, added);
            auto made = e.make<math::Exp2Op>(exponent);
            if (isNarrow())
              made.setFastmath(arith::FastMathFlags::afn);
            body.mapping.map(inner.getResult(0), made.getResult());
            continue;
          }
          if (arith::SubFOp of = relatives.lookup(&inner)) {
            Value x = of.getLhs(), y = of.getRhs();
            Value unit = e.real(x.getType(), body.scaleOf(x) * kLog2e);
            Value shift = body.withRows(y);
            if (!shiftArguments.contains(y))
              shift = e.times(shift, -body.scaleOf(y) * kLog2e);
            Value exponent = e.make<math::FmaOp>(body.withRows(x), unit, shift);
            auto made = e.make<math::Exp2Op>(exponent);
            made.setFastmath(arith::FastMathFlags::afn);
            body.mapping.map(inner.getResult(0), made.getResult());
            continue;
          }
          // A scale is left to whoever uses the value.
          bool isProduct = isa<arith::MulFOp>(inner);
          if (isProduct || isa<arith::DivFOp>(inner)) {
            Value x = inner.getOperand(0), y = inner.getOperand(1);
            if (isProduct && positiveConstant(computed, x))
              std::swap(x, y);
            if (std::optional<double> scale = positiveConstant(computed, y)) {
              body.mapping.map(inner.getResult(0), body.raw(x));
              body.leave(inner.getResult(0), x);
              double &left = body.scales[inner.getResult(0)];
              left = isProduct ? left * *scale : left / *scale;
              continue;
            }
          }
          if (isProduct && inner.getResult(0).getType() == yielded.getType()) {
            Value x = inner.getOperand(0), y = inner.getOperand(1);
            if (isPositiveRow(op, x))
              std::swap(x, y);
            if (isPositiveRow(op, y)) {
              body.mapping.map(inner.getResult(0), body.raw(x));
              body.leave(inner.getResult(0), x);
              body.rowScales[inner.getResult(0)].push_back(y);
              continue;
            }
          }
          if (auto select = dyn_cast<arith::SelectOp>(inner)) {
            Value x = select.getTrueValue(), y = select.getFalseValue();
            if (isFixed(computed, x) || isFixed(computed, y) ||
                body.leavesAlike(x, y)) {
              Value made = e.select(body.raw(select.getCondition()),
                                    body.raw(x), body.raw(y));
              body.mapping.map(select.getResult(), made);
              body.leave(select.getResult(), isFixed(computed, x) ? y : x);
              continue;
            }
          }
          IRMapping operands;
          for (Value operand : inner.getOperands())
            operands.map(operand, body.whole(operand));
          Operation *clone = e.b.clone(inner, operands);
          for (auto [old, result] :
               llvm::zip(inner.getResults(), clone->getResults()))
            body.mapping.map(old, result);
        }
        Value result = body.raw(yielded);
        passed = body.scaleOf(yielded);
        passedRows = body.rowScalesOf(yielded);
        if (ends.empty())
          return result;
        auto number = dyn_cast<FloatAttr>(mask);
        if ((passed != 1 || !passedRows.empty()) &&
            !(number &&
              (number.getValue().isInfinity() || number.getValue().isZero()))) {
          result = body.whole(yielded);
          passed = 1;
          passedRows.clear();
        }
        Value inside;
        for (int64_t dim : ends) {
          Value one =
              isInside(e, dim, placeOf(e, in, dim), coordsFrom.contains(dim));
          inside = inside ? e.logicalAnd(inside, one) : one;
        }
        Value none = e.constant(mask);
        return e.select(inside, result, none);
      });
  const RowScale *rowScale = nullptr;
  if (!passedRows.empty())
    rowScale = &(rowScales[op.op] = {&op, passedRows});
  // A body that yields an argument is that tile.
  auto generic = made.getDefiningOp<linalg::GenericOp>();
  auto argument = dyn_cast<BlockArgument>(getYielded(generic, 0));
  if (argument && argument.getOwner() == generic.getBlock()) {
    OpOperand &operand = generic->getOpOperand(argument.getArgNumber());
    if (generic.getMatchingIndexingMap(&operand).isIdentity()) {
      Value same = operand.get();
      rewriter.eraseOp(generic);
      return {same, passed, rowScale};
    }
  }
  return {made, passed, rowScale};
}
