//===- OnlineTiler.cpp - One loop for reductions that use each other ------===//

#include "OnlineTiler.h"

#include "pit/Analysis/BodyEvaluator.h"
#include "pit/Dialect/Pit/IR/NotTaken.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

std::optional<Selection> mlir::pit::findMarkSelection(Operation *op) {
  auto mark = dyn_cast<SparseOp>(op);
  if (!mark || mark.getSource() == Source::Values ||
      mark.getSource() == Source::Routing)
    return std::nullopt;
  return Selection{mark.getInput(), mark.getBackgroundOrZero()};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value OnlineTiler::index(int64_t value) {
  return arith::ConstantIndexOp::create(rewriter, loc, value);
}

Value OnlineTiler::extentOf(unsigned dim) {
  if (int64_t extent = staticExtent(dim); !ShapedType::isDynamic(extent))
    return index(extent);
  for (bool computed : {false, true})
    for (auto &[value, dims] : chain.dims) {
      auto *position = llvm::find(dims, int64_t(dim));
      const ChainOp *op = chain.find(value);
      if (position == dims.end() || bool(op) != computed)
        continue;
      Value from = !op                 ? value
                   : op->isSelection() ? op->op->getOperand(0)
                                       : op->linalgOp().getDpsInits()[0];
      return rewriter.createOrFold<tensor::DimOp>(loc, from,
                                                  position - dims.begin());
    }
  llvm_unreachable("each dim is one of a tensor");
}

OnlineTiler::Dims OnlineTiler::shapeOf(ArrayRef<int64_t> dims) const {
  Dims shape;
  for (int64_t dim : dims)
    shape.push_back(dim < 0 ? 1 : tile[dim]);
  return shape;
}

SmallVector<Value> OnlineTiler::subscripts(ArrayRef<int64_t> dims) {
  SmallVector<Value> found;
  for (int64_t dim : dims)
    found.push_back(dim < 0 || kinds[dim] == Kind::Whole ? index(0)
                    : dim == int64_t(chain.axis) && ids  ? ids
                                                         : starts[dim]);
  return found;
}

void OnlineTiler::run() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfter(last);
  for (const ChainOp &op : chain.ops)
    if (linalg::LinalgOp computed = op.linalgOp();
        computed && op.role != ChainRole::Rows &&
        (op.role == ChainRole::Reduction || isInnerContraction(op))) {
      auto no = [](unsigned) { return false; };
      templates[op.op] = buildTileBody(rewriter, computed, no, no);
    }
  for (unsigned dim = 0; dim < chain.numDims; ++dim)
    extents.push_back(kinds[dim] == Kind::Whole ? Value() : extentOf(dim));
  starts.assign(chain.numDims, Value());
  prepareSelection();
  if (!listed)
    prepareRanges();

  SmallVector<Value> inits, lower, upper;
  SmallVector<int64_t> steps;
  for (unsigned number : outputs) {
    const ChainOp &op = chain.ops[number];
    auto type = cast<RankedTensorType>(op.result().getType());
    SmallVector<OpFoldResult> sizes;
    for (auto [position, dim] : llvm::enumerate(dimsOf(op.result())))
      if (!type.isDynamicDim(position))
        sizes.push_back(rewriter.getIndexAttr(type.getDimSize(position)));
      else
        sizes.push_back(extents[dim]);
    inits.push_back(
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType()));
  }
  for (unsigned dim : rowDims) {
    lower.push_back(index(0));
    upper.push_back(extents[dim]);
    steps.push_back(tile[dim]);
  }
  auto loop = ForallOp::create(
      rewriter, loc, lower, upper, steps, Value(), ValueRange(), 0, inits,
      [&](OpBuilder &, Location, ValueRange ivs, Value, Value,
          ValueRange carried) {
        for (auto [dim, iv] : llvm::zip(rowDims, ivs))
          starts[dim] = iv;
        SmallVector<Value> written = tileOfRows(carried);
        YieldOp::create(rewriter, loc, written);
      });
  replaceUses(loop.getResults());
}

Value OnlineTiler::extremeOf(const AxisBound::Read &read, bool isLargest) {
  Type element = getElementTypeOrSelf(read.value);
  Dims shape = shapeOf(read.dims);
  bool isOne = llvm::all_of(shape, [](int64_t size) { return size == 1; });
  // Rows beyond the last one count for nothing.
  unsigned width = element.isIndex() ? IndexType::kInternalStorageBitWidth
                                     : element.getIntOrFloatBitWidth();
  TypedAttr nothing = rewriter.getIntegerAttr(
      element, isLargest ? llvm::APInt::getSignedMinValue(width)
                         : llvm::APInt::getSignedMaxValue(width));
  Value found = read.value;
  if (!shape.empty())
    found =
        SReadOp::create(rewriter, loc, RankedTensorType::get(shape, element),
                        found, subscripts(read.dims), isOne ? nullptr : nothing)
            .getResult();
  if (!isOne) {
    Value init = filledTile({}, nothing);
    unsigned rank = shape.size();
    SmallVector<utils::IteratorType> loops(rank,
                                           utils::IteratorType::reduction);
    SmallVector<AffineMap> maps = {
        rewriter.getMultiDimIdentityMap(rank),
        AffineMap::get(rank, 0, rewriter.getContext())};
    auto most = [&](OpBuilder &b, Location loc, ValueRange values) {
      Value next;
      if (isLargest)
        next = arith::MaxSIOp::create(b, loc, values[1], values[0]);
      else
        next = arith::MinSIOp::create(b, loc, values[1], values[0]);
      linalg::YieldOp::create(b, loc, next);
    };
    found = linalg::GenericOp::create(rewriter, loc, init.getType(), found,
                                      init, maps, loops, most)
                .getResult(0);
  }
  SmallVector<Value> first(isOne ? shape.size() : 0, index(0));
  Value number = tensor::ExtractOp::create(rewriter, loc, found, first);
  if (!element.isIndex())
    number = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                        number);
  return number;
}

Value OnlineTiler::boundOf(const AxisBound &bound) {
  int64_t constant = bound.constant;
  Value sum;
  auto add = [&](Value value, int64_t times) {
    if (times != 1)
      value = arith::MulIOp::create(rewriter, loc, value, index(times));
    sum = sum ? arith::AddIOp::create(rewriter, loc, sum, value).getResult()
              : value;
  };
  for (auto [dim, times] : bound.dims) {
    // The rows of the tile, the last or the first one of which counts.
    if ((times > 0) == bound.isUpper)
      constant += (tile[dim] - 1) * times;
    if (kinds[dim] == Kind::Row)
      add(starts[dim], times);
  }
  for (auto [value, times] : bound.captured) {
    if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                         value);
    add(value, times);
  }
  for (const AxisBound::Read &read : bound.reads)
    add(extremeOf(read, (read.times > 0) == bound.isUpper), read.times);
  if (!sum)
    return index(constant);
  if (constant != 0)
    sum = arith::AddIOp::create(rewriter, loc, sum, index(constant));
  return sum;
}

std::pair<Value, Value> OnlineTiler::axisRange() {
  Value lower = index(0), upper = extents[chain.axis];
  bool clamp = false;
  for (const AxisBound &bound : chain.bounds) {
    if (llvm::any_of(bound.dims, [&](auto term) {
          return kinds[term.first] == Kind::Axis;
        }))
      continue;
    Value limit = boundOf(bound);
    if (bound.isUpper) {
      upper = arith::MinSIOp::create(rewriter, loc, upper, limit);
      clamp |=
          !bound.captured.empty() || !bound.reads.empty() ||
          bound.constant < 0 ||
          llvm::any_of(bound.dims, [](auto term) { return term.second < 0; });
      continue;
    }
    lower = arith::MaxSIOp::create(rewriter, loc, lower, limit);
    clamp = true;
  }
  if (length)
    upper = arith::MinSIOp::create(rewriter, loc, upper, length);
  // A loop from a place behind its end has no steps.
  if (clamp || length)
    upper = arith::MaxSIOp::create(rewriter, loc, upper, lower);
  return {lower, upper};
}

/// Loops of a kernel's mainloop begin and end at numbers, so a loop before it
/// takes the extremes of what tiles of rows have in memory.
void OnlineTiler::prepareRanges() {
  bool isNeeded = false;
  llvm::SmallDenseSet<int64_t> used;
  for (const AxisBound &bound : chain.bounds) {
    for (auto [dim, times] : bound.dims)
      used.insert(dim);
    for (const AxisBound::Read &read : bound.reads)
      for (int64_t dim : read.dims) {
        isNeeded |= dim >= 0 && tile[dim] != 1;
        used.insert(dim);
      }
  }
  if (!isNeeded)
    return;
  for (unsigned dim : rowDims)
    if (used.contains(dim))
      rangeDims.push_back(dim);
  SmallVector<Value> lower, upper, inits;
  SmallVector<OpFoldResult> counts;
  for (unsigned dim : rangeDims) {
    lower.push_back(index(0));
    Value size = index(tile[dim]);
    upper.push_back(
        rewriter.createOrFold<arith::CeilDivUIOp>(loc, extents[dim], size));
    counts.push_back(getAsOpFoldResult(upper.back()));
  }
  Type wide = rewriter.getI64Type();
  for (int i = 0; i < 2; ++i)
    inits.push_back(tensor::EmptyOp::create(rewriter, loc, counts, wide));
  SmallVector<int64_t> steps(rangeDims.size(), 1);
  auto loop = ForallOp::create(
      rewriter, loc, lower, upper, steps, Value(), ValueRange(), 0, inits,
      [&](OpBuilder &, Location, ValueRange ivs, Value, Value,
          ValueRange carried) {
        for (auto [dim, iv] : llvm::zip(rangeDims, ivs))
          starts[dim] =
              arith::MulIOp::create(rewriter, loc, iv, index(tile[dim]));
        auto [from, to] = axisRange();
        SmallVector<Value> places = {from, to}, written;
        SmallVector<int64_t> shape(rangeDims.size(), 1);
        for (auto [place, dest] : llvm::zip(places, carried)) {
          Value number = arith::IndexCastOp::create(rewriter, loc, wide, place);
          Value empty = tensor::EmptyOp::create(rewriter, loc, shape, wide);
          Value one =
              linalg::FillOp::create(rewriter, loc, number, empty).getResult(0);
          written.push_back(
              SWriteOp::create(rewriter, loc, one, dest, ivs).getResult());
        }
        YieldOp::create(rewriter, loc, written);
      });
  ranges.assign(loop.getResults().begin(), loop.getResults().end());
  starts.assign(chain.numDims, Value());
}

std::pair<Value, Value> OnlineTiler::rangeOfTile() {
  if (ranges.empty())
    return axisRange();
  SmallVector<Value> at, found, first(rangeDims.size(), index(0));
  for (unsigned dim : rangeDims)
    at.push_back(tile[dim] == 1
                     ? starts[dim]
                     : arith::DivUIOp::create(rewriter, loc, starts[dim],
                                              index(tile[dim]))
                           .getResult());
  SmallVector<int64_t> shape(rangeDims.size(), 1);
  for (Value range : ranges) {
    Value read =
        SReadOp::create(rewriter, loc,
                        RankedTensorType::get(shape, rewriter.getI64Type()),
                        range, at, TypedAttr())
            .getResult();
    Value number = tensor::ExtractOp::create(rewriter, loc, read, first);
    found.push_back(arith::IndexCastOp::create(
        rewriter, loc, rewriter.getIndexType(), number));
  }
  if (length) {
    found[1] = arith::MinSIOp::create(rewriter, loc, found[1], length);
    found[1] = arith::MaxSIOp::create(rewriter, loc, found[1], found[0]);
  }
  return {found[0], found[1]};
}

SmallVector<Value> OnlineTiler::tileOfRows(ValueRange carried) {
  for (auto &memo : rowTiles)
    memo.clear();
  // One length for all rows of the tile is a number.
  if (SparseOp marked = mark();
      marked && marked.getSource() == Source::Lengths &&
      llvm::all_of(selectorDims,
                   [&](int64_t dim) { return dim < 0 || tile[dim] == 1; })) {
    Value read = this->read(selector, selectorDims);
    SmallVector<Value> first(selectorDims.size(), index(0));
    Value number = tensor::ExtractOp::create(rewriter, loc, read, first);
    length = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                        number);
  }
  SmallVector<Value> lower, upper, group = groupOfTile(), states;
  SmallVector<int64_t> steps;
  if (!listed) {
    auto [from, to] = rangeOfTile();
    lower.push_back(from);
    upper.push_back(to);
    steps.push_back(tile[chain.axis]);
  }
  for (unsigned number : reductions) {
    const ChainOp &op = chain.ops[number];
    Type element = accumulatorOf(op);
    TypedAttr start;
    Operation *combine = matchCombiner(op.linalgOp(), 0)->ops.front();
    Attribute given = getUniformConstant(op.linalgOp().getDpsInits()[0]);
    bool isMost = isa<arith::MaximumFOp, arith::MaxNumFOp>(combine),
         isLeast = isa<arith::MinimumFOp, arith::MinNumFOp>(combine);
    if (auto number = dyn_cast<FloatAttr>(given)) {
      llvm::APFloat value = number.getValue();
      bool loses = false;
      const auto &semantics = cast<FloatType>(element).getFloatSemantics();
      // From nothing: what is there is an infinity, a NaN or the least number.
      bool isNothing = value.isNaN() || value.isInfinity() || value.isLargest();
      if ((isMost || isLeast) && isNothing)
        value = llvm::APFloat::getInf(semantics, /*Negative=*/isMost);
      else
        value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
      start = FloatAttr::get(element, value);
    } else {
      start = cast<TypedAttr>(given);
    }
    states.push_back(filledTile(dimsOf(op.result()), start));
  }
  auto loop = ForOp::create(rewriter, loc, lower, upper, steps, sparsity, group,
                            byBlocks ? 1
                            : listed ? tile[chain.axis]
                                     : 0,
                            states,
                            [&](OpBuilder &, Location, ValueRange ivs,
                                Value chunk, Value, ValueRange before) {
                              if (listed)
                                enterIds(chunk);
                              else
                                starts[chain.axis] = ivs.front();
                              SmallVector<Value> next = step(before);
                              YieldOp::create(rewriter, loc, next);
                            });
  ids = Value();
  auto &end = rowTiles[unsigned(Epoch::End)];
  for (auto [number, state] : llvm::zip(reductions, loop.getResults())) {
    const ChainOp &op = chain.ops[number];
    end[op.result()] = {state, scales[number]};
  }
  for (unsigned number : reductions) {
    const ChainOp &op = chain.ops[number];
    if (!op.dependence.factors.empty())
      end[op.result()] = {finish(op, end[op.result()]), 1};
  }
  SmallVector<Value> written;
  for (auto [number, dest] : llvm::zip(outputs, carried)) {
    Value result = chain.ops[number].result();
    const Dims &dims = dimsOf(result);
    Value value = materialize(rows(result, Epoch::End), dims);
    written.push_back(
        SWriteOp::create(rewriter, loc, value, dest, subscripts(dims))
            .getResult());
  }
  return written;
}

SmallVector<Value> OnlineTiler::step(ValueRange before) {
  stepTiles.clear();
  shifts.clear();
  scaled.clear();
  coordinates = Value();
  auto &old = rowTiles[unsigned(Epoch::Before)];
  auto &now = rowTiles[unsigned(Epoch::Now)];
  for (auto [number, state] : llvm::zip(reductions, before))
    old[chain.ops[number].result()] = {state, 1};
  SmallVector<Value> next;
  for (auto [number, state] : llvm::zip(reductions, before)) {
    const ChainOp &op = chain.ops[number];
    next.push_back(accumulate(op, number, {state, 1}));
    now[op.result()] = {next.back(), scales[number]};
    old[op.result()].scale = scales[number];
  }
  return next;
}

/// Does nothing use an op any more, which has no effects? Reductions of others
/// stay: who looks for chains has a list of them.
static bool isDead(Operation &op, const OnlineChain &chain) {
  auto computed = dyn_cast<linalg::LinalgOp>(op);
  if (computed && computed.getNumReductionLoops() > 0 &&
      !chain.numbers.contains(&op))
    return false;
  return isa<linalg::LinalgOp, tensor::EmptyOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp, tensor::ExtractSliceOp, tensor::CastOp,
             tensor::DimOp, SparseOp>(op) &&
         isOpTriviallyDead(&op);
}

void OnlineTiler::replaceUses(ValueRange results) {
  Operation *after = results.front().getDefiningOp();
  for (Operation *user : findEarlyUsers()) {
    bool isSize = isa<tensor::DimOp>(user);
    if (isSize)
      continue;
    rewriter.moveOpAfter(user, after);
    after = user;
  }
  for (auto [number, result] : llvm::zip(outputs, results)) {
    const ChainOp &op = chain.ops[number];
    rewriter.replaceUsesWithIf(op.result(), result, [&](OpOperand &use) {
      return !chain.numbers.contains(use.getOwner());
    });
  }
  // Sizes do not keep what they are asked of.
  for (const ChainOp &op : chain.ops)
    for (Operation *user : llvm::make_early_inc_range(op.result().getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user)) {
        std::optional<int64_t> position = dim.getConstantIndex();
        if (!position || op.isSelection())
          continue;
        rewriter.setInsertionPoint(dim);
        rewriter.replaceOpWithNewOp<tensor::DimOp>(
            dim, op.linalgOp().getDpsInits()[0], dim.getIndex());
      }
  for (auto &[op, body] : templates)
    for (Operation *scaffold : llvm::reverse(body.scaffolding))
      rewriter.eraseOp(scaffold);
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(last->getBlock()->getOperations())))
    if (isDead(op, chain))
      rewriter.eraseOp(&op);
}

/// The ops before `last` that use what the chain gives, without those of the
/// chain.
SmallVector<Operation *> OnlineTiler::findEarlyUsers() const {
  llvm::SmallDenseSet<Operation *> found;
  SmallVector<Operation *> ordered;
  auto uses = [&](Operation *op) {
    Operation *def = op;
    bool does = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if ((def = operand.getDefiningOp()) &&
            (found.contains(def) || chain.numbers.contains(def)))
          does = true;
    });
    return does;
  };
  for (Operation &op : *last->getBlock()) {
    if (&op == last)
      break;
    if (chain.numbers.contains(&op) || !uses(&op))
      continue;
    found.insert(&op);
    ordered.push_back(&op);
  }
  return ordered;
}
