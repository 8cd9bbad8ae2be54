//===- OnlineTilerSelection.cpp - Which elements of a chain count ---------===//
//
// A mask lists elements, or blocks of them if it is one of blocks that is
// repeated. A step has the elements of one block then, whose number is its id.
//
//===----------------------------------------------------------------------===//

#include "OnlineTiler.h"

#include "Selection.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

/// The mask of parts of blocks: each element along `axis` is repeated.
static Value repeatElements(OpBuilder &b, Location loc, Value mask,
                            int64_t axis, int64_t times) {
  auto type = cast<RankedTensorType>(mask.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, mask);
  sizes.insert(sizes.begin() + axis + 1, b.getIndexAttr(times));
  Value init = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  Value wide = linalg::BroadcastOp::create(b, loc, mask, init, {axis + 1})
                   .getResults()[0];
  SmallVector<ReassociationIndices> groups(type.getRank());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    groups[d].push_back(d + (d > axis));
    if (d == axis)
      groups[d].push_back(d + 1);
  }
  return tensor::CollapseShapeOp::create(b, loc, wide, groups);
}

void OnlineTiler::prepareSelection() {
  SparseOp marked = mark();
  if (!listed)
    return;
  if (marked.getSource() == Source::Index) {
    sparsity = selector;
    return;
  }
  if (blockParts > 1)
    selector =
        repeatElements(rewriter, loc, selector, listed.getAxis(), blockParts);
  sparsity = IndexOp::create(rewriter, loc, listed, Source::Mask, selector,
                             ValueRange(), Value(), Value(), TypedAttr(),
                             /*unordered=*/false);
}

Value OnlineTiler::blockOf(int64_t dim, int64_t size) {
  return div(starts[dim], size);
}

SmallVector<Value> OnlineTiler::groupOfTile() {
  SmallVector<Value> group;
  if (!listed)
    return group;
  if (mark().getSource() == Source::Index) {
    for (unsigned dim : groups)
      group.push_back(starts[dim]);
    return group;
  }
  for (auto [d, dim] : llvm::enumerate(selectorDims))
    if (int64_t(d) != listed.getAxis())
      group.push_back(dim < 0                 ? index(0)
                      : selectorBlocks[d] > 1 ? blockOf(dim, selectorBlocks[d])
                                              : starts[dim]);
  return group;
}

void OnlineTiler::enterIds(Value chunk) {
  if (!byBlocks) {
    ids[chain.axis] = chunk;
    return;
  }
  auto type = RankedTensorType::get(1, rewriter.getIndexType());
  Value coords = CoordsOp::create(rewriter, loc, type, chunk, /*dest=*/Value())
                     .getResult();
  blockNumber = tensor::ExtractOp::create(rewriter, loc, coords, index(0));
  starts[chain.axis] = mul(blockNumber, tile[chain.axis]);
  enterOrder(chain.axis);
}

void OnlineTiler::enterOrder(int64_t dim) {
  for (const Order &order : orders) {
    if (order.dim != dim)
      continue;
    auto from =
        llvm::map_to_vector(order.dims, [&](int64_t of) { return starts[of]; });
    auto type = IdsType::get(rewriter.getContext(), tile[dim]);
    ids[dim] = IdsOp::create(rewriter, loc, type, order.lists, from);
    coordinates[dim] = Value();
  }
}

std::pair<Value, OnlineTiler::Dims> OnlineTiler::readSelector() {
  Dims dims = selectorDims;
  SmallVector<Value> from = subscripts(dims);
  for (auto [d, size] : llvm::enumerate(selectorBlocks))
    if (size == 1 && !orders.empty() && dims[d] >= 0) {
      from[d] = starts[dims[d]]; // the mask is in the order
    } else if (size > 1 && dims[d] >= 0) {
      bool isAxis = dims[d] == int64_t(chain.axis);
      from[d] = isAxis ? blockNumber : blockOf(dims[d], size);
      dims[d] = -1;
    }
  auto type = RankedTensorType::get(shapeOf(dims), elementOf(selector));
  Value made = SReadOp::create(rewriter, loc, type, selector, from, TypedAttr())
                   .getResult();
  return {made, dims};
}

bool OnlineTiler::needsMask() const {
  if (listed && !byBlocks)
    return true;
  int64_t extent = staticExtent(chain.axis);
  return ShapedType::isDynamic(extent) || extent % tile[chain.axis] != 0 ||
         !chain.eithers.empty() ||
         llvm::any_of(chain.bounds,
                      [](const AxisBound &bound) { return !bound.isUpper; });
}

Value OnlineTiler::coords(int64_t dim) {
  if (!coordinates[dim]) {
    auto type = RankedTensorType::get(tile[dim], rewriter.getIndexType());
    coordinates[dim] =
        CoordsOp::create(rewriter, loc, type, ids[dim], /*dest=*/Value())
            .getResult();
  }
  return coordinates[dim];
}

Value OnlineTiler::isInside(ElementEmitter &e, int64_t dim, Value place,
                            bool isCoordinate) {
  return isCoordinate ? e.compare(arith::CmpIPredicate::sge, place, e.index(0))
                      : e.lessThan(place, extents[dim]);
}

OnlineTiler::Tile OnlineTiler::masked(Tile from, ArrayRef<int64_t> dims,
                                      TypedAttr mask) {
  if (!mask || !needsMask())
    return from;
  auto number = dyn_cast<FloatAttr>(mask);
  bool isScaled = from.isScaled() && number &&
                  !number.getValue().isInfinity() &&
                  !number.getValue().isZero();
  if (isScaled)
    from = {materialize(from, dims), 1};
  auto *at = llvm::find(dims, int64_t(chain.axis));
  SmallVector<std::pair<Value, Dims>> inputs = {{from.tensor, Dims(dims)}};
  bool hasIds = bool(ids[chain.axis]);
  if (hasIds)
    inputs.push_back({coords(chain.axis), {int64_t(chain.axis)}});
  Value made = elementwise(
      inputs, dims, elementOf(from.tensor),
      [&](ElementEmitter &e, ValueRange arguments) {
        Value place = hasIds ? arguments[1]
                             : e.add(e.make<linalg::IndexOp>(at - dims.begin()),
                                     starts[chain.axis]);
        Value inside = isInside(e, chain.axis, place, hasIds);
        Value none = e.constant(mask);
        return e.select(inside, arguments[0], none);
      });
  return {made, from.scale, from.rowScale};
}

OnlineTiler::Tile OnlineTiler::computeSelection(const ChainOp &op) {
  SparseOp marked = mark();
  Dims dims = dimsOf(op.result());
  Tile from = elements(op.inputs[0].value, dims);
  TypedAttr background = chain.background;
  auto number = dyn_cast<FloatAttr>(background);
  if (from.isScaled() && !(number && (number.getValue().isInfinity() ||
                                      number.getValue().isZero())))
    from = {materialize(from, dims), 1};
  // Listed elements are selected, if micro-tiles are single elements of a
  // mask.
  bool isListed =
      marked.getSource() == Source::Index ||
      (listed && llvm::all_of(listed.getMicroTile(),
                              [](int64_t size) { return size == 1; }));
  if (isListed)
    return masked(from, dims, background);
  SmallVector<std::pair<Value, Dims>> inputs = {{from.tensor, dims}};
  bool isLength = marked.getSource() == Source::Lengths;
  if (!isLength || !length)
    inputs.push_back(readSelector());
  if (isLength && ids[chain.axis])
    inputs.push_back({coords(chain.axis), {int64_t(chain.axis)}});
  auto *at = llvm::find(dims, int64_t(chain.axis));
  Value made = elementwise(inputs, dims, elementOf(from.tensor),
                           [&](ElementEmitter &e, ValueRange arguments) {
                             Value selected;
                             if (!isLength) {
                               selected = isNotZero(e.b, e.loc, arguments[1]);
                             } else {
                               Value bound = length;
                               if (!bound)
                                 bound = e.toIndex(arguments[1]);
                               Value place = e.add(
                                   e.make<linalg::IndexOp>(at - dims.begin()),
                                   starts[chain.axis]);
                               selected = e.lessThan(place, bound);
                             }
                             Value none = e.constant(background);
                             return e.select(selected, arguments[0], none);
                           });
  Tile result{made, from.scale, from.rowScale};
  // Beyond the end a mask of places reads false; lengths may be longer.
  if (!isLength && !byBlocks &&
      llvm::is_contained(selectorDims, int64_t(chain.axis)))
    return result;
  return masked(result, dims, background);
}
