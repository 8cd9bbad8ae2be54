//===- TileLoop.cpp - The tiles of a kernel that a block has --------------===//

#include "TileLoop.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

SmallVector<Value> cuda::tilesAlong(RewriterBase &rewriter, Location loc,
                                    const LoopBounds &bounds) {
  SmallVector<Value> counts;
  Value zero = constantIndex(rewriter, loc, 0);
  for (auto [lower, upper, step] :
       llvm::zip(bounds.lower, bounds.upper, bounds.steps)) {
    Value span = arith::SubIOp::create(rewriter, loc, upper, lower);
    span = arith::MaxSIOp::create(rewriter, loc, span, zero);
    counts.push_back(
        rewriter.createOrFold<arith::CeilDivUIOp>(loc, span, step));
  }
  return counts;
}

/// In which order the iterations of the outermost loop are gone through. Tiles
/// of mainloops are taken in the order of a raster. If the steps of a mainloop
/// are those of its row (an index), all rows are one band: the columns of the
/// dense operand are what they have in common. If rows have nothing in common,
/// each is one, unless tiles with the most steps come first: those of a few
/// rows do.
static Value createSpace(RewriterBase &rewriter, ForallOp loop,
                         ArrayRef<Value> extents) {
  constexpr int64_t kBand = 8;
  bool hasMainloop = false, bySteps = false;
  loop.walk([&](MainloopOp mainloop) {
    hasMainloop = true;
    bySteps |= static_cast<bool>(mainloop.getIndex());
  });
  int64_t rank = extents.size();
  bool isReversed = haveLaterMoreSteps(loop);
  IntegerAttr rows, cols, band;
  auto order = pitgpu::TileOrder::Rows;
  if (hasMainloop && rank >= 2) {
    rows = rewriter.getI64IntegerAttr(rank - 2);
    cols = rewriter.getI64IntegerAttr(rank - 1);
    bool isApart = readRowsApart(loop) && !isReversed;
    bool isOneBand = bySteps && !isApart;
    order = isOneBand ? pitgpu::TileOrder::Cols : pitgpu::TileOrder::Bands;
    if (!isOneBand)
      band = rewriter.getI64IntegerAttr(isApart ? 1 : kBand);
  }
  return pitgpu::TileSpaceOp::create(rewriter, loop.getLoc(), extents, rows,
                                     cols, order, band, DenseI64ArrayAttr(),
                                     /*cluster=*/1, /*pairs=*/false,
                                     isReversed);
}

scf::ForOp cuda::loopOverTiles(RewriterBase &rewriter, ForallOp loop,
                               Value block, Value blocks, ValueRange carried,
                               const IndexMap &indices, ChunkMap &chunks) {
  Location loc = loop.getLoc();
  Type index = rewriter.getIndexType();
  LoopBounds bounds = loopBounds(rewriter, loop, indices);
  SmallVector<Value> extents = tilesAlong(rewriter, loc, bounds);
  if (extents.empty()) // one tile
    extents.push_back(constantIndex(rewriter, loc, 1));
  Value space = createSpace(rewriter, loop, extents);
  Value total = pitgpu::CountTilesOp::create(rewriter, loc, index, space);
  auto strided =
      scf::ForOp::create(rewriter, loc, block, total, blocks, carried);
  rewriter.setInsertionPointToStart(strided.getBody());
  auto tile = pitgpu::TileOfOp::create(
      rewriter, loc, SmallVector<Type>(extents.size(), index),
      strided.getInductionVar(), space, /*rank=*/Value());
  SmallVector<Value> ivs;
  for (auto [at, lower, step] :
       llvm::zip(tile.getResults(), bounds.lower, bounds.steps))
    ivs.push_back(arith::AddIOp::create(
        rewriter, loc, lower,
        arith::MulIOp::create(rewriter, loc, at, step).getResult()));
  moveLoopBody(rewriter, loop, {strided.getBody(), ivs}, bounds, indices,
               chunks);
  return strided;
}
