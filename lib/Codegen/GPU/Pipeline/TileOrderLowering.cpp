//===- TileOrderLowering.cpp - Tiles by their numbers ---------------------===//

#include "PipelineLowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

/// The row and the column of tile `number` among `rows` by `cols` tiles, in
/// bands of so many rows.
static std::pair<Value, Value> tileOfBands(Emitter &e, Value number, Value rows,
                                           Value cols, Value band) {
  auto [before, rest] = e.divRem(number, e.mul(band, cols));
  Value first = e.mul(before, band);
  Value left = e.sub(rows, first);
  // As upstream's delinearization of an index does: no sign.
  Value height = isa<IndexType>(left.getType())
                     ? e.b.createOrFold<arith::MinUIOp>(e.loc, band, left)
                     : e.min(band, left);
  auto [col, row] = e.divRem(rest, height);
  return {e.add(first, row), col};
}

namespace {
/// Numbers of tiles of a space, and what is computed of its extents.
class TileNumbers {
public:
  TileNumbers(Emitter &e, TileSpaceOp op)
      : e(e), op(op), cluster(op.getCluster()) {
    if (std::optional<ArrayRef<int64_t>> dims = op.getAlike())
      alike.assign(dims->begin(), dims->end());
    for (int64_t d = 0, rank = op.getExtents().size(); d < rank; ++d)
      if (d != dimOf(op.getRows()) && d != dimOf(op.getCols()) &&
          !llvm::is_contained(alike, d))
        others.push_back(d);
    Value rows = extentOf(op.getRows());
    cols = extentOf(op.getCols());
    Value left;
    if (op.getPairs())
      std::tie(clusters, left) = e.divRem(rows, constant(cluster));
    else
      clusters = ceilDiv(rows, cluster);
    alikeTiles = constant(1);
    for (int64_t d : alike)
      alikeTiles = e.mul(alikeTiles, op.getExtents()[d]);
    area = e.mul(e.mul(clusters, cols), alikeTiles);
    if (op.getPairs()) {
      alongM = area;
      across = ceilDiv(cols, cluster);
      area = e.add(area, e.mul(left, across));
    }
  }

  Value count() {
    Value total = area;
    for (int64_t d : others)
      total = e.mul(total, op.getExtents()[d]);
    return total;
  }

  /// The coordinates of a tile; of a space with pairs, whether it is of one
  /// along columns, too.
  SmallVector<Value> locate(Value number, Value rank) {
    coords.resize(op.getExtents().size());
    if (op.getLastFirst())
      number = e.sub(e.sub(count(), constant(1)), number);
    auto [outer, inner] = e.divRem(number, area);
    takeAll(others, outer);
    if (rank && constant(0).getType().isIndex())
      rank = e.toIndex(rank);
    Value row, col, isAlong;
    switch (op.getOrder()) {
    case TileOrder::Bands:
      std::tie(row, col, isAlong) = inBands(inner, rank);
      break;
    case TileOrder::Rows:
      std::tie(row, col) = e.divRem(inner, e.mul(cols, alikeTiles));
      col = take(alike, col);
      break;
    case TileOrder::Cols:
      std::tie(col, row) = e.divRem(inner, e.mul(clusters, alikeTiles));
      row = take(alike, row);
      break;
    }
    for (auto [dim, at] :
         {std::pair(op.getRows(), row), std::pair(op.getCols(), col)})
      if (dim)
        coords[*dim] = at;
    if (isAlong)
      coords.push_back(isAlong);
    return coords;
  }

private:
  Value constant(int64_t value) {
    return op.getExtents().getTypes().front().isIndex() ? e.index(value)
                                                        : e.i32(value);
  }
  Value ceilDiv(Value x, int64_t y) { return e.ceilDiv(x, constant(y)); }
  static int64_t dimOf(std::optional<uint64_t> dim) {
    return dim ? static_cast<int64_t>(*dim) : -1;
  }
  Value extentOf(std::optional<uint64_t> dim) {
    return dim ? op.getExtents()[*dim] : constant(1);
  }

  /// Takes the coordinates along some dimensions, of which the last one is the
  /// fastest, out of a number; gives what is left.
  Value take(ArrayRef<int64_t> dims, Value number) {
    for (int64_t d : llvm::reverse(dims))
      std::tie(number, coords[d]) = e.divRem(number, op.getExtents()[d]);
    return number;
  }

  /// The same of a number below the product of all: the first dimension longer
  /// than 1 has what the others leave.
  void takeAll(ArrayRef<int64_t> dims, Value number) {
    auto isOne = [&](int64_t d) {
      return matchPattern(op.getExtents()[d], m_One());
    };
    for (; !dims.empty() && isOne(dims.front()); dims = dims.drop_front())
      coords[dims.front()] = constant(0);
    if (dims.empty())
      return;
    // A remainder tells LLVM that it is below the extent.
    for (int64_t d : llvm::reverse(dims.drop_front())) {
      Value extent = op.getExtents()[d];
      coords[d] = e.rem(number, extent);
      number = e.div(number, extent);
    }
    coords[dims.front()] = number;
  }

  /// Row, column, and whether the cluster lies along columns, if that may be.
  std::tuple<Value, Value, Value> inBands(Value number, Value rank) {
    Value band = op.getHeight();
    if (!band)
      band = constant(
          std::max<int64_t>(1, static_cast<int64_t>(*op.getBand()) / cluster));
    if (!op.getPairs()) {
      auto [row, col] = tileOfBands(e, number, clusters, cols, band);
      if (rank)
        row = e.add(e.mul(row, cluster), rank);
      return {row, col, Value()};
    }
    Value zero = constant(0), one = constant(1);
    Value isAlong = e.compare(arith::CmpIPredicate::uge, number, alongM);
    Value inArea = e.max(e.min(number, e.sub(alongM, one)), zero);
    auto [row, col] = tileOfBands(e, inArea, e.max(clusters, one), cols, band);
    auto [rowLeft, group] =
        e.divRem(e.max(e.sub(number, alongM), zero), e.max(across, one));
    Value firstLeft = e.mul(clusters, cluster);
    Value colLeft = e.add(e.mul(group, cluster), rank);
    // A block for which no column is left has a row beyond the end.
    Value exists = e.lessThan(colLeft, cols);
    Value lastRow = e.add(firstLeft, cluster);
    Value left = e.select(exists, e.add(firstLeft, rowLeft), lastRow);
    return {e.select(isAlong, left, e.add(e.mul(row, cluster), rank)),
            e.select(isAlong, e.min(colLeft, e.sub(cols, one)), col), isAlong};
  }

  Emitter &e;
  TileSpaceOp op;
  int64_t cluster;
  SmallVector<int64_t> others, alike;
  Value clusters, cols, alikeTiles, area;
  /// With pairs: clusters along rows, and pairs of a row that is left.
  Value alongM, across;
  SmallVector<Value> coords;
};
} // namespace

/// Blocks take turns: a loop over the tiles of this one.
static void lower(RewriterBase &rewriter, TilesOp tiles) {
  Location loc = tiles.getLoc();
  rewriter.setInsertionPoint(tiles);
  Emitter e(rewriter, loc);
  auto count = [&](Value extent, int64_t step) {
    Value rounded = e.add(e.toI32(e.max(extent, e.index(0))), step - 1);
    return e.div(rounded, step);
  };
  int64_t stepM = tiles.getStep()[0], stepN = tiles.getStep()[1];
  Value rows = count(tiles.getRows(), stepM);
  Value cols = count(tiles.getCols(), stepN);
  Value block = e.blockId();
  Value blocks = e.gridDim();
  auto loop = scf::ForOp::create(rewriter, loc, block, e.mul(rows, cols),
                                 blocks, tiles.getInits());
  e.keepLoop(loop);
  Block *body = loop.getBody();
  if (!body->empty()) // without carried values, a terminator is there
    rewriter.eraseOp(body->getTerminator());
  rewriter.setInsertionPointToStart(body);
  auto [row, col] = tileOfBands(e, loop.getInductionVar(), rows, cols,
                                e.i32(tiles.getRaster()));
  SmallVector<Value> arguments = {e.mul(e.toIndex(row), stepM),
                                  e.mul(e.toIndex(col), stepN)};
  llvm::append_range(arguments, loop.getRegionIterArgs());
  Block *old = &tiles.getBody().front();
  auto yield = cast<YieldOp>(old->getTerminator());
  rewriter.mergeBlocks(old, body, arguments);
  rewriter.setInsertionPoint(yield);
  rewriter.replaceOpWithNewOp<scf::YieldOp>(yield, yield.getValues());
  rewriter.replaceOp(tiles, loop.getResults());
}

void pitgpu::lowerTileOrder(RewriterBase &rewriter, gpu::GPUFuncOp kernel) {
  SmallVector<TilesOp> loops;
  kernel.walk([&](TilesOp op) { loops.push_back(op); });
  for (TilesOp op : loops)
    lower(rewriter, op);
  SmallVector<Operation *> spaces;
  kernel.walk([&](Operation *op) {
    rewriter.setInsertionPoint(op);
    Emitter e(rewriter, op->getLoc());
    auto spaceOf = [&](Value space) {
      return TileNumbers(e, space.getDefiningOp<TileSpaceOp>());
    };
    if (isa<TileSpaceOp>(op))
      spaces.push_back(op);
    else if (auto count = dyn_cast<CountTilesOp>(op))
      rewriter.replaceOp(op, spaceOf(count.getSpace()).count());
    else if (auto of = dyn_cast<TileOfOp>(op))
      rewriter.replaceOp(
          op, spaceOf(of.getSpace()).locate(of.getNumber(), of.getRank()));
  });
  for (Operation *space : spaces)
    rewriter.eraseOp(space);
}
