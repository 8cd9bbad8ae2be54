//===- OnlineTilerRanges.cpp - Where the loop of a chain begins and ends --===//

#include "OnlineTiler.h"

#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::pit;

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
      ArithEmitter e(b, loc);
      e.make<linalg::YieldOp>(isLargest ? e.max(values[1], values[0])
                                        : e.min(values[1], values[0]));
    };
    found = linalg::GenericOp::create(rewriter, loc, init.getType(), found,
                                      init, maps, loops, most)
                .getResult(0);
  }
  SmallVector<Value> first(isOne ? shape.size() : 0, index(0));
  Value number = tensor::ExtractOp::create(rewriter, loc, found, first);
  return element.isIndex() ? number : toIndex(number);
}

Value OnlineTiler::boundOf(const AxisBound &bound) {
  int64_t constant = bound.constant;
  Value sum;
  auto addTimes = [&](Value value, int64_t times) {
    value = mul(value, times);
    sum = sum ? add(sum, value) : value;
  };
  for (auto [dim, times] : bound.dims) {
    // The rows of the tile, the last or the first one of which counts.
    if ((times > 0) == bound.isUpper)
      constant += (tile[dim] - 1) * times;
    if (kinds[dim] == Kind::Row)
      addTimes(starts[dim], times);
  }
  for (auto [value, times] : bound.captured) {
    addTimes(value.getType().isIndex() ? value : toIndex(value), times);
  }
  for (const AxisBound::Read &read : bound.reads)
    addTimes(extremeOf(read, (read.times > 0) == bound.isUpper), read.times);
  return sum ? add(sum, constant) : index(constant);
}

/// Does a condition of two leave out a range between two others?
static bool isGap(const std::pair<AxisBound, AxisBound> &either) {
  const auto &[a, b] = either;
  return !a.isOfRows && !b.isOfRows && a.isUpper != b.isUpper;
}

bool OnlineTiler::hasGap() const { return llvm::any_of(chain.eithers, isGap); }

Value OnlineTiler::holdsSomewhere(const AxisBound &bound) {
  return lessThan(boundOf(bound), index(0));
}

OnlineTiler::Range OnlineTiler::axisRange() {
  Range found;
  found.lower = index(0);
  found.upper = extents[chain.axis];
  auto take = [&](bool isUpper, Value limit) {
    if (isUpper)
      found.upper = min(found.upper, limit);
    else
      found.lower = max(found.lower, limit);
  };
  bool clamp = false;
  for (const AxisBound &bound : chain.bounds) {
    if (bound.isOfRows) {
      found.upper = select(holdsSomewhere(bound), found.upper, index(0));
      clamp = true;
      continue;
    }
    take(bound.isUpper, boundOf(bound));
    clamp |=
        !bound.isUpper || !bound.captured.empty() || !bound.reads.empty() ||
        bound.constant < 0 ||
        llvm::any_of(bound.dims, [](auto term) { return term.second < 0; });
  }
  Value gapBegin, gapEnd;
  for (const auto &either : chain.eithers) {
    AxisBound a = either.first, b = either.second;
    if (a.isOfRows)
      std::swap(a, b);
    if (a.isOfRows)
      continue;
    clamp = true;
    if (b.isOfRows)
      take(a.isUpper,
           select(holdsSomewhere(b), a.isUpper ? found.upper : found.lower,
                  boundOf(a)));
    else if (a.isUpper == b.isUpper)
      take(a.isUpper, a.isUpper ? max(boundOf(a), boundOf(b))
                                : min(boundOf(a), boundOf(b)));
    else if (!gapBegin)
      std::tie(gapBegin, gapEnd) = a.isUpper
                                       ? std::pair(boundOf(a), boundOf(b))
                                       : std::pair(boundOf(b), boundOf(a));
  }
  if (length)
    found.upper = min(found.upper, length);
  // A copy has whole groups in an order of their own; what the comparison
  // leaves out of the first one is left out in the step.
  if (!copies.empty())
    for (Value *begin : {&found.lower, &gapEnd})
      if (*begin)
        *begin = bitAnd(*begin, -kFragmentOrder);
  // A loop from a place behind its end has no steps.
  if (clamp || length)
    found.upper = max(found.upper, found.lower);
  if (!gapBegin)
    return found;
  // Whole steps up to the gap, then those from its end on.
  Value zero = index(0), size = index(tile[chain.axis]);
  Value before = max(sub(min(gapBegin, found.upper), found.lower), zero);
  Value first = mul(ceilDiv(before, size), size);
  Value second = max(gapEnd, add(found.lower, first));
  Value after = max(sub(found.upper, second), zero);
  return {zero, add(first, after), first, found.lower, sub(second, first)};
}

Value OnlineTiler::placeOf(Value step) {
  if (!range.first)
    return step;
  return add(step,
             select(lessThan(step, range.first), range.before, range.after));
}

/// Loops of a kernel's mainloop begin and end at numbers, so a loop before it
/// takes the extremes of what tiles of rows have in memory.
void OnlineTiler::prepareRanges() {
  bool isNeeded = false;
  llvm::SmallDenseSet<int64_t> used;
  SmallVector<AxisBound> bounds = chain.bounds;
  for (const auto &[a, b] : chain.eithers)
    bounds.append({a, b});
  for (const AxisBound &bound : bounds) {
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
    upper.push_back(ceilDiv(extents[dim], index(tile[dim])));
    counts.push_back(getAsOpFoldResult(upper.back()));
  }
  Type wide = rewriter.getI64Type();
  for (unsigned i = 0, count = hasGap() ? 5 : 2; i < count; ++i)
    inits.push_back(tensor::EmptyOp::create(rewriter, loc, counts, wide));
  SmallVector<int64_t> steps(rangeDims.size(), 1);
  auto loop = ForallOp::create(
      rewriter, loc, lower, upper, steps, Value(), ValueRange(), 0, inits,
      [&](OpBuilder &, Location, ValueRange ivs, Value, Value,
          ValueRange carried) {
        for (auto [dim, iv] : llvm::zip(rangeDims, ivs))
          starts[dim] = mul(iv, tile[dim]);
        Range made = axisRange();
        SmallVector<Value> places = {made.lower, made.upper}, written;
        if (made.first)
          places.append({made.first, made.before, made.after});
        SmallVector<int64_t> shape(rangeDims.size(), 1);
        for (auto [place, dest] : llvm::zip(places, carried)) {
          Value number = toI64(place);
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

OnlineTiler::Range OnlineTiler::rangeOfTile() {
  if (ranges.empty())
    return axisRange();
  SmallVector<Value> at, found, first(rangeDims.size(), index(0));
  for (unsigned dim : rangeDims)
    at.push_back(div(starts[dim], tile[dim]));
  SmallVector<int64_t> shape(rangeDims.size(), 1);
  for (Value range : ranges) {
    Value read =
        SReadOp::create(rewriter, loc,
                        RankedTensorType::get(shape, rewriter.getI64Type()),
                        range, at, TypedAttr())
            .getResult();
    found.push_back(
        toIndex(tensor::ExtractOp::create(rewriter, loc, read, first)));
  }
  if (hasGap())
    return {found[0], found[1], found[2], found[3], found[4]};
  if (length) {
    found[1] = max(min(found[1], length), found[0]);
  }
  return {found[0], found[1], Value(), Value(), Value()};
}
