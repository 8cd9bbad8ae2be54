//===- OnlineTilerScales.cpp - Factors that are left to users of tiles ----===//
//
// A positive factor that is the same along the axis does not change which
// element is the largest. So it need not multiply each element: the exponent's
// fma takes it, as it takes constants. Constants are numbers of a tile; factors
// that are read are tiles of rows.
//
//===----------------------------------------------------------------------===//

#include "OnlineTiler.h"

using namespace mlir;
using namespace mlir::pit;

Value OnlineTiler::materialize(Tile from, ArrayRef<int64_t> dims) {
  if (!from.isScaled())
    return from.tensor;
  SmallVector<std::pair<Value, Dims>> inputs = {{from.tensor, Dims(dims)}};
  if (from.rowScale)
    inputs.push_back(rowScaleTile(*from.rowScale, from.scale));
  return elementwise(inputs, dims, elementOf(from.tensor),
                     [&](ElementEmitter &e, ValueRange in) {
                       if (from.rowScale)
                         return e.product(in[0], in[1]);
                       return e.times(in[0], from.scale);
                     });
}

OnlineTiler::Tile OnlineTiler::withoutRowScale(Tile tile,
                                               ArrayRef<int64_t> dims) {
  return tile.rowScale ? Tile{materialize(tile, dims)} : tile;
}

/// What the ops of a body read that scalars are computed by.
static llvm::SmallDenseSet<Value> readsOf(linalg::LinalgOp computed,
                                          SmallVector<Value> scalars) {
  llvm::SmallDenseSet<Operation *> ops;
  llvm::SmallDenseSet<Value> reads;
  while (!scalars.empty()) {
    Value scalar = scalars.pop_back_val();
    Operation *def = scalar.getDefiningOp();
    if (!def)
      reads.insert(scalar);
    else if (def->getBlock() == computed.getBlock() && ops.insert(def).second)
      llvm::append_range(scalars, def->getOperands());
  }
  return reads;
}

OnlineTiler::Dims OnlineTiler::dimsOf(const RowScale &scale) const {
  linalg::LinalgOp computed = scale.op->linalgOp();
  llvm::SmallDenseSet<Value> reads = readsOf(computed, scale.scalars);
  Dims dims;
  for (const ChainInput &input : scale.op->inputs)
    if (reads.contains(computed.getMatchingBlockArgument(
            &computed->getOpOperand(input.number))))
      for (int64_t dim : scale.op->dimsOf(input.map))
        if (dim >= 0 && !llvm::is_contained(dims, dim))
          dims.push_back(dim);
  return dims;
}

std::pair<Value, OnlineTiler::Dims>
OnlineTiler::rowScaleTile(const RowScale &scale, double factor) {
  auto &known = rowScaleTiles[{&scale, factor}];
  if (known.first)
    return known;
  linalg::LinalgOp computed = scale.op->linalgOp();
  llvm::SmallDenseSet<Value> reads = readsOf(computed, scale.scalars);
  SmallVector<std::pair<Value, Dims>> inputs;
  SmallVector<BlockArgument> arguments;
  for (const ChainInput &input : scale.op->inputs) {
    BlockArgument argument = computed.getMatchingBlockArgument(
        &computed->getOpOperand(input.number));
    if (!reads.contains(argument))
      continue;
    Dims of = scale.op->dimsOf(input.map);
    inputs.push_back({read(input.value, of), of});
    arguments.push_back(argument);
  }
  Dims dims = dimsOf(scale);
  Value made =
      elementwise(inputs, dims, scale.scalars.front().getType(),
                  [&](ElementEmitter &e, ValueRange in) {
                    IRMapping mapping;
                    for (auto [argument, value] : llvm::zip(arguments, in))
                      mapping.map(argument, value);
                    mapNumbers(e, computed, mapping);
                    cloneSlice(e.b, computed, scale.scalars, mapping);
                    Value product;
                    for (Value scalar : scale.scalars) {
                      Value each = mapping.lookupOrDefault(scalar);
                      product = product ? e.product(product, each) : each;
                    }
                    return e.times(product, factor);
                  });
  return known = {made, dims};
}

std::optional<double> mlir::pit::positiveConstant(linalg::LinalgOp op,
                                                  Value value) {
  auto number = dyn_cast_or_null<FloatAttr>(getScalarConstant(op, value));
  if (!number || !(value.getType().isF32() || value.getType().isF64()) ||
      !number.getValue().isFiniteNonZero() || number.getValue().isNegative())
    return std::nullopt;
  return number.getValueAsDouble();
}

/// Is a scalar of a body the same along the axis, computed of what the chain
/// reads, and positive or NaN? Then it orders what it multiplies as that is.
bool OnlineTiler::isPositiveRow(const ChainOp &op, Value scalar) const {
  linalg::LinalgOp computed = op.linalgOp();
  auto most = scalar.getDefiningOp<arith::MaximumFOp>();
  if (op.role != ChainRole::Elements || !most ||
      most->getBlock() != computed.getBlock() ||
      !llvm::any_of(most->getOperands(), [&](Value operand) {
        return positiveConstant(computed, operand);
      }))
    return false;
  llvm::SmallDenseSet<Value> rows;
  for (const ChainInput &input : op.inputs)
    if (!chain.find(input.value) &&
        !llvm::is_contained(op.dimsOf(input.map), int64_t(chain.axis)))
      rows.insert(computed.getMatchingBlockArgument(
          &computed->getOpOperand(input.number)));
  SmallVector<Value> worklist = {scalar};
  bool reads = false;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *def = value.getDefiningOp();
    if (getScalarConstant(computed, value) ||
        value.getParentRegion() != computed.getBlock()->getParent())
      continue;
    if (!def && !rows.contains(value))
      return false;
    reads |= !def;
    if (!def)
      continue;
    if (isa<linalg::IndexOp>(def))
      return false;
    llvm::append_range(worklist, def->getOperands());
  }
  return reads;
}
