//===- TileLoop.cpp - The tiles of a kernel that a block has --------------===//

#include "TileLoop.h"

#include "Emitter.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Which tile iteration `number` of the outermost loop is. Tiles of mainloops
/// are taken in the order of a raster. If the steps of a mainloop are those of
/// its row (an index), all rows are one band: the columns of the dense operand
/// are what they have in common. If rows have nothing in common, each is one,
/// unless tiles with the most steps come first: those of a few rows do.
static SmallVector<Value> tileNumbers(RewriterBase &rewriter, ForallOp loop,
                                      Value number,
                                      ArrayRef<OpFoldResult> extents) {
  constexpr int64_t kBand = 8;
  Location loc = loop.getLoc();
  bool hasMainloop = false, bySteps = false;
  loop.walk([&](MainloopOp mainloop) {
    hasMainloop = true;
    bySteps |= static_cast<bool>(mainloop.getIndex());
  });
  size_t rank = extents.size();
  if (!hasMainloop || rank < 2)
    return delinearize(rewriter, loc, number, extents);
  Emitter e(rewriter, loc);
  Value rows =
      getValueOrCreateConstantIndexOp(rewriter, loc, extents[rank - 2]);
  Value cols =
      getValueOrCreateConstantIndexOp(rewriter, loc, extents[rank - 1]);
  auto [outer, inner] = e.divRem(number, e.mul(rows, cols));
  SmallVector<Value> numbers =
      delinearize(rewriter, loc, outer, extents.drop_back(2));
  bool isApart = readRowsApart(loop) && !haveLaterMoreSteps(loop);
  Value band = isApart ? e.index(1) : bySteps ? Value() : e.index(kBand);
  auto [row, col] = tileOfRaster(e, inner, rows, cols, band);
  numbers.append({row, col});
  return numbers;
}

scf::ForOp cuda::loopOverTiles(RewriterBase &rewriter, ForallOp loop,
                               Value block, Value blocks, ValueRange carried,
                               const IndexMap &indices, ChunkMap &chunks) {
  Location loc = loop.getLoc();
  auto index = [&](int64_t value) {
    return constantIndex(rewriter, loc, value);
  };
  LoopBounds bounds = loopBounds(rewriter, loop, indices);
  SmallVector<OpFoldResult> extents;
  for (auto [lower, upper, step] :
       llvm::zip(bounds.lower, bounds.upper, bounds.steps)) {
    Value span = arith::SubIOp::create(rewriter, loc, upper, lower);
    span = arith::MaxSIOp::create(rewriter, loc, span, index(0));
    extents.push_back(
        arith::CeilDivUIOp::create(rewriter, loc, span, step).getResult());
  }
  Value total = index(1);
  if (!extents.empty())
    total = cast<Value>(volume(rewriter, loc, extents));
  bool isReversed = haveLaterMoreSteps(loop);
  auto strided =
      scf::ForOp::create(rewriter, loc, block, total, blocks, carried);
  rewriter.setInsertionPointToStart(strided.getBody());
  Value number = strided.getInductionVar();
  if (isReversed) {
    Value last = arith::SubIOp::create(rewriter, loc, total, index(1));
    number = arith::SubIOp::create(rewriter, loc, last, number);
  }
  SmallVector<Value> ivs = tileNumbers(rewriter, loop, number, extents);
  for (auto [iv, lower, step] : llvm::zip(ivs, bounds.lower, bounds.steps)) {
    iv = arith::MulIOp::create(rewriter, loc, iv, step);
    iv = arith::AddIOp::create(rewriter, loc, lower, iv);
  }
  moveLoopBody(rewriter, loop, {strided.getBody(), ivs}, bounds, indices,
               chunks);
  return strided;
}
