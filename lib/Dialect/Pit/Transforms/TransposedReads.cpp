//===- TransposedReads.cpp - Tiles that are read the other way ------------===//

#include "TransposedReads.h"

#include "pit/Target/Target.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::pit;

/// Bytes that are copied at once.
static constexpr int64_t kPieceBytes = 16;

FailureOr<SmallVector<SReadOp>>
mlir::pit::listReadsForWgmma(func::FuncOp function, StringRef target) {
  FailureOr<Target> machine = getTarget(function.getLoc(), target);
  if (failed(machine))
    return failure();
  SmallVector<SReadOp> reads;
  if (machine->gpu && machine->gpu->wgmma)
    function.walk([&](SReadOp read) { reads.push_back(read); });
  return reads;
}

bool mlir::pit::readsElementsOfRows(SReadOp read) {
  if (!read.getResult() || read.isWhole())
    return false;
  auto tile = cast<RankedTensorType>(read.getResult().getType());
  Type element = getElementTypeOrSelf(read.getSrc().getType());
  auto isIds = [](Value subscript) {
    return isa<IdsType>(subscript.getType());
  };
  return element.isIntOrFloat() &&
         element.getIntOrFloatBitWidth() == 8 * kTransposedBytes &&
         element == tile.getElementType() && tile.getRank() > 1 &&
         isIds(read.getSubscripts().back()) &&
         llvm::count_if(read.getSubscripts(), isIds) == 1 &&
         llvm::all_of(read->getUsers(), [](Operation *user) {
           auto op = dyn_cast<linalg::LinalgOp>(user);
           return op && op.getNumReductionLoops() > 0;
         });
}

bool mlir::pit::isInPieces(int64_t elements) {
  return elements * kTransposedBytes % kPieceBytes == 0;
}

std::optional<int64_t>
mlir::pit::countTiles(ForallOp tiles, function_ref<bool(int64_t)> counts) {
  int64_t count = 1;
  for (int64_t loop = 0, e = tiles.getSteps().size(); loop < e; ++loop) {
    if (!counts(loop))
      continue;
    std::optional<int64_t> lower = getConstantIntValue(tiles.getLower()[loop]);
    std::optional<int64_t> upper = getConstantIntValue(tiles.getUpper()[loop]);
    if (!lower || !upper)
      return std::nullopt;
    count *= llvm::divideCeil(std::max<int64_t>(0, *upper - *lower),
                              tiles.getSteps()[loop]);
  }
  return count;
}

Value mlir::pit::copyTransposed(OpBuilder &b, Location loc,
                                const TransposedTile &copied, Value into,
                                ValueRange to) {
  auto [source, from, shape, pad, permutation] = copied;
  Type element = getElementTypeOrSelf(source.getType());
  Value tile = SReadOp::create(b, loc, RankedTensorType::get(shape, element),
                               source, from, pad)
                   .getResult();
  Value init =
      tensor::EmptyOp::create(b, loc, inOrder(permutation, shape), element);
  Value transposed =
      linalg::TransposeOp::create(b, loc, tile, init, permutation)
          ->getResult(0);
  return SWriteOp::create(b, loc, transposed, into, to).getResult();
}

void mlir::pit::replaceTransposed(RewriterBase &rewriter, SReadOp read,
                                  Value source, ValueRange subscripts,
                                  ArrayRef<int64_t> permutation) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(read);
  auto type = cast<RankedTensorType>(read.getResult().getType());
  Value tile =
      SReadOp::create(rewriter, read.getLoc(),
                      type.clone(inOrder(permutation, type.getShape())), source,
                      subscripts, read.getPadAttr())
          .getResult();
  for (OpOperand &use :
       llvm::make_early_inc_range(read.getResult().getUses())) {
    auto op = cast<linalg::LinalgOp>(use.getOwner());
    unsigned number = use.getOperandNumber();
    rewriter.setInsertionPoint(op);
    if (!isa<linalg::GenericOp>(op))
      op = *linalg::generalizeNamedOp(rewriter, op);
    auto generic = cast<linalg::GenericOp>(op.getOperation());
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    SmallVector<AffineExpr> results;
    for (int64_t dim : permutation)
      results.push_back(maps[number].getResult(dim));
    maps[number] = AffineMap::get(maps[number].getNumDims(), 0, results,
                                  rewriter.getContext());
    rewriter.modifyOpInPlace(generic, [&] {
      generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      generic->setOperand(number, tile);
    });
  }
  rewriter.eraseOp(read);
}
