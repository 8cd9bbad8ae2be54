//===- TileWhole.cpp - Whole-tensor SRead and SWrite as tiles -------------===//
//
// Packing copies tiles of the full tensor, gathered by ids, to tiles of the
// packed one, at the ids' positions; unpacking is its mirror.
//
//===----------------------------------------------------------------------===//

#include "pit/Dialect/Pit/Transforms/Transforms.h"

#include "Packing.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

/// Rows and columns copied at once.
static constexpr int64_t rowTile = 32, columnTile = 256;

namespace {
class WholeCopy {
public:
  /// `dims` are the dimensions of `full` that the index packs.
  WholeCopy(RewriterBase &rewriter, Location loc, Value index, Value full,
            ArrayRef<int64_t> dims)
      : rewriter(rewriter), loc(loc), index(index), full(full),
        type(cast<SparsityIndexType>(index.getType())) {
    auto fullType = cast<RankedTensorType>(full.getType());
    for (int64_t d = 0; d < fullType.getRank(); ++d) {
      const int64_t *it = llvm::find(dims, d);
      int64_t i = it - dims.begin();
      roles.push_back(it == dims.end() || type.isWhole(i) ? Role::Kept
                      : i == type.getAxis()               ? Role::Axis
                                                          : Role::Group);
      int64_t extent = fullType.getDimSize(d);
      bool last = d + 1 == fullType.getRank();
      tile.push_back(roles.back() == Role::Axis    ? rowTile
                     : roles.back() == Role::Group ? 1
                     : last ? (ShapedType::isDynamic(extent)
                                   ? columnTile
                                   : std::clamp<int64_t>(extent, 1, columnTile))
                            : 1);
    }
    groupOrder.resize(type.getRank(), -1);
    for (auto [i, d] : llvm::enumerate(dims))
      groupOrder[i] = d;
  }

  /// Reads tiles by `read` and writes them by `write` into `init`.
  Value run(Value init, bool packs, Value source) {
    // Group dimensions of the full tensor come first, so that the group of the
    // inner loop is known; the others are tiles.
    SmallVector<int64_t> outer, inner;
    for (int64_t d = 0; d < static_cast<int64_t>(roles.size()); ++d) {
      if (roles[d] == Role::Axis)
        continue;
      (roles[d] == Role::Group ? outer : inner).push_back(d);
    }
    starts.assign(roles.size(), Value());
    zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    auto copyTiles = [&](Value dest) { return copy(dest, packs, source); };
    if (outer.empty())
      return loop<ForallOp>(inner, /*overIds=*/true, init, copyTiles);
    return loop<ForallOp>(outer, /*overIds=*/false, init, [&](Value dest) {
      return loop<ForOp>(inner, /*overIds=*/true, dest, copyTiles);
    });
  }

private:
  enum class Role { Kept, Axis, Group };

  template <typename LoopTy>
  Value loop(ArrayRef<int64_t> dims, bool overIds, Value init,
             function_ref<Value(Value)> body) {
    SmallVector<Value> lower(dims.size(), zero), upper;
    SmallVector<int64_t> steps;
    for (int64_t d : dims) {
      upper.push_back(getValueOrCreateConstantIndexOp(
          rewriter, loc, tensor::getMixedSize(rewriter, loc, full, d)));
      steps.push_back(tile[d]);
    }
    SmallVector<Value> group;
    if (overIds)
      for (int64_t i : type.getGroupDims())
        group.push_back(starts[groupOrder[i]]);
    OpBuilder::InsertionGuard guard(rewriter);
    auto created =
        LoopTy::create(rewriter, loc, lower, upper, steps,
                       overIds ? index : Value(), group, rowTile, init,
                       [&](OpBuilder &, Location, ValueRange ivs, Value chunk,
                           Value places, ValueRange carried) {
                         for (auto [d, iv] : llvm::zip(dims, ivs))
                           starts[d] = iv;
                         if (overIds) {
                           ids = chunk;
                           positions = places;
                         }
                         Value next = body(carried.front());
                         YieldOp::create(rewriter, loc, next);
                       });
    return created.getResult(0);
  }

  /// Packed dimensions in terms of the full tensor's: the axis, then those
  /// kept.
  SmallVector<int64_t> packedOrder() {
    SmallVector<int64_t> order;
    for (int64_t d = 0; d < static_cast<int64_t>(roles.size()); ++d)
      if (roles[d] == Role::Axis)
        order.push_back(d);
    for (int64_t d = 0; d < static_cast<int64_t>(roles.size()); ++d)
      if (roles[d] == Role::Kept)
        order.push_back(d);
    return order;
  }

  Value copy(Value dest, bool packs, Value source) {
    SmallVector<int64_t> order = packedOrder(), shape;
    SmallVector<Value> fullSubscripts, packedSubscripts;
    for (auto [d, role] : llvm::enumerate(roles))
      fullSubscripts.push_back(role == Role::Axis ? ids : starts[d]);
    for (int64_t d : order) {
      packedSubscripts.push_back(roles[d] == Role::Axis ? positions
                                                        : starts[d]);
      shape.push_back(tile[d]);
    }
    // The packed tensor's elements, which may be the wider ones.
    Type element = getElementTypeOrSelf((packs ? dest : source).getType());
    auto fullTile = RankedTensorType::get(tile, element);
    auto packedTile = RankedTensorType::get(shape, element);
    Value read =
        SReadOp::create(rewriter, loc, packs ? fullTile : packedTile, source,
                        packs ? fullSubscripts : packedSubscripts)
            .getResult();
    Value value =
        fullTile == packedTile
            ? read
            : rearrange(read, packs ? packedTile : fullTile, packs, order);
    return SWriteOp::create(rewriter, loc, value, dest,
                            packs ? packedSubscripts : fullSubscripts)
        .getResult();
  }

  /// Moves the axis to the front and drops the group dimensions, which are 1
  /// long in a tile; or the mirror of that.
  Value rearrange(Value read, RankedTensorType result, bool packs,
                  ArrayRef<int64_t> order) {
    MLIRContext *context = rewriter.getContext();
    unsigned loops = order.size();
    SmallVector<AffineExpr> fullExprs(roles.size(),
                                      getAffineConstantExpr(0, context));
    for (auto [i, d] : llvm::enumerate(order))
      fullExprs[d] = getAffineDimExpr(i, context);
    AffineMap fullMap = AffineMap::get(loops, 0, fullExprs, context);
    AffineMap packedMap = rewriter.getMultiDimIdentityMap(loops);
    SmallVector<utils::IteratorType> iterators(loops,
                                               utils::IteratorType::parallel);
    Value empty = tensor::EmptyOp::create(rewriter, loc, result.getShape(),
                                          result.getElementType());
    AffineMap from = packs ? fullMap : packedMap;
    AffineMap to = packs ? packedMap : fullMap;
    return linalg::GenericOp::create(
               rewriter, loc, result, read, empty,
               ArrayRef<AffineMap>{from, to}, iterators,
               [](OpBuilder &b, Location l, ValueRange args) {
                 linalg::YieldOp::create(b, l, args[0]);
               })
        .getResult(0);
  }

  RewriterBase &rewriter;
  Location loc;
  Value index, full, zero, ids, positions;
  SparsityIndexType type;
  SmallVector<Role> roles;
  SmallVector<int64_t> tile, groupOrder;
  SmallVector<Value> starts;
};
} // namespace

void mlir::pit::expandWholeTensorOps(RewriterBase &rewriter,
                                     func::FuncOp function) {
  SmallVector<Operation *> whole;
  function.walk([&](Operation *op) {
    auto read = dyn_cast<SReadOp>(op);
    auto write = dyn_cast<SWriteOp>(op);
    if ((read && read.isWhole()) || (write && write.isWhole()))
      whole.push_back(op);
  });
  // A user that asks for the shape of an unpacked value does not need it
  // unpacked.
  function.walk([&](tensor::DimOp dim) {
    rewriter.modifyOpInPlace(dim, [&] {
      dim.getSourceMutable().assign(getShapeSource(dim.getSource()));
    });
  });
  // Users come last: what only fed a folded one is gone when its turn comes.
  for (Operation *op : llvm::reverse(whole)) {
    if (op->use_empty()) {
      rewriter.eraseOp(op);
      continue;
    }
    rewriter.setInsertionPoint(op);
    Location loc = op->getLoc();
    Value result;
    if (auto read = dyn_cast<SReadOp>(op)) {
      ReifiedRankedShapedTypeDims shape;
      // Cannot fail: the extents are the source's and the index's.
      (void)read.reifyResultShapes(rewriter, shape);
      Value init = tensor::EmptyOp::create(
          rewriter, loc, shape.front(),
          getElementTypeOrSelf(read.getResult().getType()));
      result = WholeCopy(rewriter, loc, read.getSubscripts().front(),
                         read.getSrc(), read.getPackedDims())
                   .run(init, /*packs=*/true, read.getSrc());
    } else {
      auto write = cast<SWriteOp>(op);
      result = WholeCopy(rewriter, loc, write.getSubscripts().front(),
                         write.getDest(), write.getPackedDims())
                   .run(write.getDest(), /*packs=*/false, write.getTile());
    }
    rewriter.replaceOp(op, result);
  }
}
