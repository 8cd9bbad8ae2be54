//===- LowerMarks.cpp - Marks that nobody used become dense ops -----------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Transforms.h"

#include "Selection.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITLOWERMARKS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
/// How the micro-tiles of an index are copied: the tile read at once, and how
/// many ids it takes.
struct CopyTile {
  SmallVector<int64_t> extents;
  int64_t chunk = 0;
};
} // namespace

/// Whole dimensions are cut into tiles of at most kLargestExtent, and as many
/// ids are taken at once as keep the tile below kLargestTile elements.
static CopyTile chooseCopyTile(SparsityIndexType index, RankedTensorType type) {
  constexpr uint64_t kLargestExtent = 64, kLargestTile = 4096;
  CopyTile tile;
  tile.extents.assign(index.getMicroTile().begin(), index.getMicroTile().end());
  uint64_t volume = 1;
  for (int64_t d = 0; d < index.getRank(); ++d) {
    if (index.isWhole(d))
      continue;
    if (!type.isDynamicDim(d) && d != index.getAxis())
      tile.extents[d] =
          std::clamp<int64_t>(type.getDimSize(d), 1, tile.extents[d]);
    volume = llvm::SaturatingMultiply<uint64_t>(volume, tile.extents[d]);
  }
  // The innermost dimensions first: they are contiguous.
  for (int64_t d = index.getRank() - 1; d >= 0; --d) {
    if (!index.isWhole(d))
      continue;
    uint64_t extent =
        std::clamp<uint64_t>(kLargestTile / volume, 1, kLargestExtent);
    if (!type.isDynamicDim(d))
      extent = std::clamp<uint64_t>(type.getDimSize(d), 1, extent);
    tile.extents[d] = extent;
    volume *= extent;
  }
  tile.chunk = std::clamp<uint64_t>(kLargestTile / volume, 1, kLargestExtent);
  tile.extents[index.getAxis()] = tile.chunk;
  return tile;
}

/// The mark's result for an index: background, into which the index's
/// micro-tiles are copied.
static Value copyMicroTiles(OpBuilder &builder, SparseOp mark) {
  Location loc = mark.getLoc();
  Value input = mark.getInput(), index = mark.getSelector();
  RankedTensorType type = mark.getInput().getType();
  auto indexType = cast<SparsityIndexType>(index.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, input);
  Value background =
      arith::ConstantOp::create(builder, loc, mark.getBackgroundOrZero());
  Value empty = tensor::EmptyOp::create(
      builder, loc, sizes, type.getElementType(), type.getEncoding());
  Value init =
      linalg::FillOp::create(builder, loc, background, empty).getResult(0);

  CopyTile tile = chooseCopyTile(indexType, type);
  SmallVector<Value> lower, upper;
  SmallVector<int64_t> steps;
  SmallVector<unsigned> groupLoops;
  bool overlap = false;
  for (int64_t d = 0; d < indexType.getRank(); ++d) {
    if (d == indexType.getAxis())
      continue;
    int64_t step = tile.extents[d];
    OpFoldResult bound = sizes[d];
    if (!indexType.isWhole(d)) {
      groupLoops.push_back(lower.size());
      step = indexType.getStep()[d];
      int64_t extent = indexType.getMicroTile()[d];
      overlap |= step < extent;
      // Windows start as long as one more element is left than the last one
      // covered.
      AffineExpr size = builder.getAffineSymbolExpr(0);
      bound = affine::makeComposedFoldedAffineApply(
          builder, loc, AffineMap::get(0, 1, size + (step - extent)), {bound});
    }
    lower.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    upper.push_back(getValueOrCreateConstantIndexOp(builder, loc, bound));
    steps.push_back(step);
  }

  auto tileType = RankedTensorType::get(tile.extents, type.getElementType());
  auto copy = [&](OpBuilder &builder, Location loc, ValueRange ivs, Value ids,
                  Value into) -> Value {
    SmallVector<Value> at(ivs);
    at.insert(at.begin() + indexType.getAxis(), ids);
    Value read = SReadOp::create(builder, loc, tileType, input, at).getResult();
    return SWriteOp::create(builder, loc, read, into, at).getResult();
  };
  // An index with one group can be walked together with the dense ranges; to
  // name one of several groups takes a loop of its own.
  auto loopBody = [&](OpBuilder &builder, Location loc, ValueRange ivs,
                      Value ids, Value, ValueRange args) {
    if (ids) {
      YieldOp::create(builder, loc, copy(builder, loc, ivs, ids, args.front()));
      return;
    }
    SmallVector<Value> group = llvm::map_to_vector(
        groupLoops, [&](unsigned i) -> Value { return ivs[i]; });
    auto chunks = ForOp::create(
        builder, loc, /*lower=*/ValueRange(), /*upper=*/ValueRange(),
        /*steps=*/ArrayRef<int64_t>(), index, group, tile.chunk, args,
        [&](OpBuilder &builder, Location loc, ValueRange, Value ids, Value,
            ValueRange args) {
          YieldOp::create(builder, loc,
                          copy(builder, loc, ivs, ids, args.front()));
        });
    YieldOp::create(builder, loc, chunks.getResults());
  };
  Value walked = groupLoops.empty() ? index : Value();
  // Windows that overlap write the same elements, each the same values.
  if (overlap)
    return ForOp::create(builder, loc, lower, upper, steps, walked,
                         /*group=*/ValueRange(), tile.chunk, init, loopBody)
        .getResult(0);
  return ForallOp::create(builder, loc, lower, upper, steps, walked,
                          /*group=*/ValueRange(), tile.chunk, init, loopBody)
      .getResult(0);
}

/// The mark's result, computed by dense ops.
static Value lowerMark(OpBuilder &builder, SparseOp mark) {
  if (mark.getAssume())
    return mark.getInput();
  switch (mark.getSource()) {
  case Source::Values:
    return mark.getInput();
  case Source::Mask:
  case Source::Lengths:
  case Source::Routing:
    return createSelection(builder, mark);
  case Source::Index:
    return copyMicroTiles(builder, mark);
  }
  llvm_unreachable("unknown source");
}

/// The elements, written tile by tile to the places that the order lists.
static Value moveElements(OpBuilder &builder, ReorderOp op) {
  constexpr int64_t kLargestExtent = 64;
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getSource().getType());
  int64_t along = op.getDims().back(), last = type.getRank() - 1;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getSource());
  Value init =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  SmallVector<Value> lower, upper;
  SmallVector<int64_t> tile;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    // A tile has elements of one list.
    bool isTiled =
        d == along || (d == last && !llvm::is_contained(op.getDims(), d));
    int64_t extent = type.isDynamicDim(d) ? kLargestExtent : type.getDimSize(d);
    tile.push_back(isTiled ? std::clamp<int64_t>(extent, 1, kLargestExtent)
                           : 1);
    lower.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    upper.push_back(getValueOrCreateConstantIndexOp(builder, loc, sizes[d]));
  }
  return ForallOp::create(
             builder, loc, lower, upper, tile, /*index=*/Value(),
             /*group=*/ValueRange(), /*chunk=*/0, init,
             [&](OpBuilder &b, Location loc, ValueRange ivs, Value, Value,
                 ValueRange into) {
               auto lists = llvm::map_to_vector(
                   op.getDims(), [&](int64_t d) { return ivs[d]; });
               SmallVector<Value> to(ivs);
               to[along] = IdsOp::create(
                   b, loc, IdsType::get(b.getContext(), tile[along]),
                   op.getOrder(), lists);
               auto tileType =
                   RankedTensorType::get(tile, type.getElementType());
               Value read =
                   SReadOp::create(b, loc, tileType, op.getSource(), ivs)
                       .getResult();
               Value written =
                   SWriteOp::create(b, loc, read, into.front(), to).getResult();
               YieldOp::create(b, loc, written);
             })
      .getResult(0);
}

void pit::lowerMarks(RewriterBase &rewriter, Operation *scope) {
  SmallVector<SparseOp> marks;
  scope->walk([&](SparseOp mark) { marks.push_back(mark); });
  for (SparseOp mark : marks) {
    rewriter.setInsertionPoint(mark);
    rewriter.replaceOp(mark, lowerMark(rewriter, mark));
  }
  SmallVector<ReorderOp> reorders;
  scope->walk([&](ReorderOp op) { reorders.push_back(op); });
  for (ReorderOp op : llvm::reverse(reorders)) {
    rewriter.setInsertionPoint(op);
    if (op->use_empty())
      rewriter.eraseOp(op);
    else
      rewriter.replaceOp(op, moveElements(rewriter, op));
  }
}

namespace {
struct LowerMarksPass : pit::impl::PitLowerMarksBase<LowerMarksPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    lowerMarks(rewriter, getOperation());
  }
};
} // namespace
