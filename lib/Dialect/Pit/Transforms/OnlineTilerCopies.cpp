//===- OnlineTilerCopies.cpp - Factors that lie along the axis ------------===//
//
// wgmma takes rows of 16-bit factors either way, but floats of 8 bits only
// along what it sums up. Values of an attention lie along their columns. So
// they are stored along the keys before the loop, which is as little work as
// reading them once.
//
//===----------------------------------------------------------------------===//

#include "OnlineTiler.h"
#include "TransposedReads.h"

#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::pit;

/// Rows, and elements of each, of a tile that a block transposes: whole lines
/// of memory on both sides.
static constexpr int64_t kTransposed = 128;

/// Does a reduction multiply floats of 8 bits alone?
bool OnlineTiler::multipliesSmall(const ChainOp &op) const {
  return target.gpu && target.gpu->wgmma && op.role == ChainRole::Reduction &&
         op.inputs.size() == 2 && isContractionBody(op) &&
         llvm::all_of(op.inputs, [](const ChainInput &input) {
           return isa<Float8E4M3FNType, Float8E5M2Type>(
               getElementTypeOrSelf(input.value.getType()));
         });
}

OnlineTiler::Dims OnlineTiler::alongAxis(Dims dims) const {
  std::swap(*llvm::find(dims, int64_t(chain.axis)), dims.back());
  return dims;
}

void OnlineTiler::copyAlongAxis() {
  bool isGathered =
      (listed && !byBlocks) || llvm::any_of(orders, [&](const Order &order) {
        return order.dim == int64_t(chain.axis);
      });
  for (const ChainOp &op : chain.ops) {
    if (isGathered || !multipliesSmall(op))
      continue;
    for (const ChainInput &input : op.inputs) {
      Dims dims = op.dimsOf(input.map);
      if (chain.find(input.value) || chain.pads.contains(input.value) ||
          !llvm::is_contained(dims, int64_t(chain.axis)) ||
          copies.contains(input.value))
        continue;
      copies[input.value] = copyOf(input.value, dims);
    }
  }
}

Value OnlineTiler::copyOf(Value source, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(source.getType());
  int64_t rank = type.getRank();
  auto axis = llvm::find(dims, int64_t(chain.axis)) - dims.begin();
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(order[axis], order.back());
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = kTransposed;
  shape.back() =
      type.getDimSize(rank - 1) % kTransposed ? kTransposed / 2 : kTransposed;
  SmallVector<Value> upper = getValueOrCreateConstantIndexOp(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, source));
  // Whole steps: rows begin at multiples of 16 bytes, and there is 0 behind the
  // axis' end.
  Value step = index(tile[chain.axis]);
  upper[axis] = rewriter.createOrFold<arith::MulIOp>(
      loc, rewriter.createOrFold<arith::CeilDivUIOp>(loc, upper[axis], step),
      step);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc,
      inOrder<OpFoldResult>(order, getAsOpFoldResult(ValueRange(upper))),
      type.getElementType());
  SmallVector<Value> lower(rank, index(0));
  auto copyTile = [&](OpBuilder &b, Location loc, ValueRange at, Value, Value,
                      ValueRange carried) {
    SmallVector<Value> from(at);
    auto zero = cast<TypedAttr>(b.getZeroAttr(type.getElementType()));
    Value tile =
        SReadOp::create(b, loc,
                        RankedTensorType::get(shape, type.getElementType()),
                        source, from, zero)
            .getResult();
    Value init = tensor::EmptyOp::create(
        b, loc, inOrder(order, ArrayRef<int64_t>(shape)),
        type.getElementType());
    // The loops are the dims of the copy.
    SmallVector<AffineExpr> places;
    for (int64_t dim : order)
      places.push_back(b.getAffineDimExpr(dim));
    places[axis] = fromFragmentOrder(places[axis]);
    auto moved = linalg::GenericOp::create(
        b, loc, init.getType(), tile, init,
        {AffineMap::get(rank, 0, places, b.getContext()),
         b.getMultiDimIdentityMap(rank)},
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [](OpBuilder &b, Location loc, ValueRange in) {
          linalg::YieldOp::create(b, loc, in[0]);
        });
    YieldOp::create(b, loc,
                    SWriteOp::create(b, loc, moved.getResult(0),
                                     carried.front(),
                                     inOrder<Value>(order, from))
                        .getResult());
  };
  return ForallOp::create(rewriter, loc, lower, upper, shape, /*index=*/Value(),
                          /*group=*/ValueRange(), /*chunk=*/0, empty, copyTile)
      .getResult(0);
}
