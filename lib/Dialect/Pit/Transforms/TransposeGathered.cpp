//===- TransposeGathered.cpp - Rows for what ids select within rows -------===//
//
//   pit.forall (m, n) { pit.for ids in index[m] {
//     a = SRead A[m, ids]; b = SRead B[n, ids]; .. a * b .. } }
//
// reads B element by element, since ids select elements of its rows, and for
// each group again. It becomes
//
//   T = pit.forall (k, n) { SWrite the transpose of SRead B[n, k] into T[k, n]
//   } pit.forall (m, n) { pit.for ids in index[m] {
//     a = SRead A[m, ids]; b = SRead T[ids, n]; .. a * b .. } }
//
// where ids select rows, which come in pieces of 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "TransposedReads.h"

#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITTRANSPOSEGATHERED
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Extents of a tile that a block transposes: rows of the source, which become
/// whole lines of memory, and elements of each, which are one.
static constexpr int64_t kTileRows = 64, kTileElements = 64;
/// Groups from which on a copy of everything, twice as many bytes, moves less
/// than sectors of memory for single elements. An estimate: it depends on what
/// the index lists.
static constexpr int64_t kLeastGroups = 4;
/// If rows are so few, elements are gathered before a copy of everything would
/// be made.
static constexpr int64_t kFewRows = 8;

namespace {

/// Reads by ids that select elements of rows.
class GatheredReads {
public:
  explicit GatheredReads(RewriterBase &rewriter) : rewriter(rewriter) {}

  /// Reads rows of a transposed copy, if it can be done and is worth it; else
  /// nothing.
  void run(SReadOp read);

private:
  Value transposedOf(ForallOp tiles, Value source, int64_t dim);

  RewriterBase &rewriter;
  /// Copies by the block that they are in, their source, and the dimension that
  /// became the last one.
  llvm::SmallMapVector<std::tuple<Block *, Value, int64_t>, Value, 4> copies;
};

} // namespace

/// Is the value ids of a loop, and not positions?
static bool areIds(Value value) {
  Operation *owner = value.getParentBlock()->getParentOp();
  if (auto loop = dyn_cast<ForallOp>(owner))
    return loop.getIds() == value;
  if (auto loop = dyn_cast<ForOp>(owner))
    return loop.getIds() == value;
  return false;
}

/// The tile loop around everything that `op` is part of.
static ForallOp outermostTiles(Operation *op) {
  ForallOp tiles;
  while ((op = op->getParentOp()))
    if (auto loop = dyn_cast<ForallOp>(op))
      tiles = loop;
  return tiles;
}

/// Do enough tiles read the same source that differ in something else than in
/// what the read's subscripts say, or may there be as many?
static bool isReadAgain(SReadOp read, ForallOp tiles) {
  std::optional<int64_t> groups = countTiles(tiles, [&](int64_t loop) {
    return !llvm::is_contained(read.getSubscripts(),
                               tiles.getInductionVars()[loop]);
  });
  return !groups || *groups >= kLeastGroups;
}

/// The dimension of the read's tile that is to be the last one; -1 if there is
/// none whose elements come in pieces.
static int64_t findRowDim(SReadOp read) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(read.getResult().getType()).getShape();
  int64_t found = -1;
  for (auto [d, extent] : llvm::enumerate(shape.drop_back()))
    if (extent > 1 && (found < 0 || extent > shape[found]))
      found = d;
  if (found < 0 || !isInPieces(shape[found]))
    return -1;
  int64_t rows = cast<ShapedType>(read.getSrc().getType()).getDimSize(found);
  return ShapedType::isDynamic(rows) || rows > kFewRows ? found : -1;
}

/// The order in which dimension `dim` and the last one have changed places.
static SmallVector<int64_t> swapWithLast(int64_t rank, int64_t dim) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(order[dim], order.back());
  return order;
}

/// `source` with dimension `dim` as its last one.
Value GatheredReads::transposedOf(ForallOp tiles, Value source, int64_t dim) {
  Value &copy = copies[{tiles->getBlock(), source, dim}];
  if (copy)
    return copy;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(tiles);
  Location loc = tiles.getLoc();
  auto type = cast<RankedTensorType>(source.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> order = swapWithLast(rank, dim), shape(rank, 1);
  shape[dim] = kTileRows;
  shape.back() = kTileElements;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, source);
  Value empty = tensor::EmptyOp::create(rewriter, loc,
                                        inOrder<OpFoldResult>(order, sizes),
                                        type.getElementType());
  SmallVector<Value> lower(rank,
                           arith::ConstantIndexOp::create(rewriter, loc, 0));
  SmallVector<Value> upper =
      getValueOrCreateConstantIndexOp(rewriter, loc, sizes);
  auto transposeTile = [&](OpBuilder &b, Location loc, ValueRange at, Value,
                           Value, ValueRange carried) {
    SmallVector<Value> from(at);
    auto zero = cast<TypedAttr>(b.getZeroAttr(type.getElementType()));
    YieldOp::create(b, loc,
                    copyTransposed(b, loc, {source, from, shape, zero, order},
                                   carried.front(),
                                   inOrder<Value>(order, from)));
  };
  copy = ForallOp::create(rewriter, loc, lower, upper, shape,
                          /*index=*/Value(), /*group=*/ValueRange(),
                          /*chunk=*/0, empty, transposeTile)
             .getResult(0);
  return copy;
}

void GatheredReads::run(SReadOp read) {
  ForallOp tiles = outermostTiles(read);
  if (!tiles || !readsElementsOfRows(read) ||
      !areIds(read.getSubscripts().back()) ||
      !read.getSrc().getParentRegion()->isAncestor(tiles->getParentRegion()))
    return;
  int64_t dim = findRowDim(read);
  if (dim < 0 || !isReadAgain(read, tiles))
    return;
  Value copy = transposedOf(tiles, read.getSrc(), dim);
  SmallVector<Value> subscripts(read.getSubscripts());
  SmallVector<int64_t> order = swapWithLast(subscripts.size(), dim);
  replaceTransposed(rewriter, read, copy, inOrder<Value>(order, subscripts),
                    order);
}

namespace {
struct TransposeGatheredPass
    : pit::impl::PitTransposeGatheredBase<TransposeGatheredPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<SmallVector<SReadOp>> reads =
        listReadsForWgmma(getOperation(), target);
    if (failed(reads))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    GatheredReads gathered(rewriter);
    for (SReadOp read : *reads)
      gathered.run(read);
  }
};
} // namespace
