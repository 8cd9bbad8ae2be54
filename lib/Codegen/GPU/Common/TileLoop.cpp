//===- TileLoop.cpp - The tiles of a kernel that a block has --------------===//

#include "TileLoop.h"

#include "Emitter.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

ForallOp cuda::matchOnlyLoop(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return {};
  ForallOp loop;
  for (Operation &op : function.front().without_terminator()) {
    if (auto next = dyn_cast<ForallOp>(op); next && !loop)
      loop = next;
    else if (!isMemoryEffectFree(&op))
      return {};
  }
  return loop;
}

SmallVector<Value> cuda::tilesAlong(RewriterBase &rewriter, Location loc,
                                    const LoopBounds &bounds) {
  Emitter e(rewriter, loc);
  SmallVector<Value> counts;
  for (auto [lower, upper, step] :
       llvm::zip(bounds.lower, bounds.upper, bounds.steps)) {
    Value span = e.max(e.sub(upper, lower), e.index(0));
    counts.push_back(e.ceilDiv(span, step));
  }
  return counts;
}

/// Are the rows of tiles of all outer dimensions the rows of one space? If
/// columns have more steps than others, blocks get the same number of steps
/// only where many rows are gone through for a column before the next one.
static bool joinsRows(ForallOp loop) {
  return loop.getUpper().size() >= 2 &&
         compareLaterSteps(loop) != LaterSteps::Same;
}

/// Bytes of the L2 cache for what the steps of tiles read: that of an H100 has
/// 50 MB, of which an A100's has 40.
static constexpr int64_t kCachedBytes = 32 << 20;

/// The rows of tiles whose steps read what the L2 cache has room for (index);
/// `extents` are the tiles along each dimension of the loop.
static Value countCachedRows(RewriterBase &rewriter, ForallOp loop,
                             ArrayRef<Value> extents) {
  Emitter e(rewriter, loop.getLoc());
  auto outer = loop.getInductionVars().drop_back();
  Value bytes = e.index(0);
  llvm::SmallDenseSet<Value> apart;
  loop.walk([&](MainloopOp mainloop) {
    auto tiles = mainloop.getLoad().front().getTerminator()->getOperands();
    for (Value tile : tiles.take_front(mainloop.getNumLoaded())) {
      auto view = tile.getDefiningOp<ViewOp>();
      if (!view)
        continue;
      auto type = cast<MemRefType>(view.getSrc().getType());
      Value size = e.index(elementBytes(type.getElementType()));
      for (auto [d, subscript] : llvm::enumerate(view.getSubscripts())) {
        bool isPlace = false;
        for (Value variable : outer)
          if (dependsOn(loop, subscript, variable)) {
            apart.insert(variable);
            isPlace = true;
          }
        if (!isPlace)
          size = e.mul(size, rewriter.createOrFold<memref::DimOp>(
                                 loop.getLoc(), view.getSrc(), d));
      }
      bytes = e.add(bytes, size);
    }
  });
  // Rows that read the same, such as heads that share keys.
  Value alike = e.index(1);
  for (auto [variable, extent] : llvm::zip(outer, extents))
    if (!apart.contains(variable))
      alike = e.mul(alike, extent);
  Value rows = rewriter.createOrFold<arith::DivUIOp>(
      loop.getLoc(), e.index(kCachedBytes), e.max(bytes, e.index(1)));
  return e.mul(e.max(rows, e.index(1)), e.max(alike, e.index(1)));
}

/// How many rows are gone through for a column before the next one; none if
/// these are all. If the steps of a mainloop are those of its row (an index),
/// the columns of the dense operand are what rows have in common. If rows have
/// nothing in common, each is gone through by itself. If later columns have
/// other steps, so many rows are that a round of blocks has whole columns of
/// them: of 132 blocks a third, or a twelfth where a row of a column is still
/// read by blocks of others.
static std::optional<int64_t> findBand(ForallOp loop) {
  constexpr int64_t kBand = 8, kManyRows = 32;
  constexpr int64_t kBandOfMoreSteps = 44, kBandOfFewerSteps = 11;
  LaterSteps later = compareLaterSteps(loop);
  bool isApart = readDisjointRows(loop);
  if (later == LaterSteps::Fewer) {
    std::optional<int64_t> rows =
        getConstantIntValue(loop.getUpper()[loop.getUpper().size() - 2]);
    if (isApart && rows && *rows >= kManyRows)
      return kBandOfFewerSteps;
    return std::nullopt;
  }
  if (later == LaterSteps::Same && isApart)
    return 1;
  bool bySteps = false;
  loop.walk([&](MainloopOp mainloop) {
    bySteps |= static_cast<bool>(mainloop.getIndex());
  });
  if (bySteps)
    return std::nullopt;
  return later == LaterSteps::More ? kBandOfMoreSteps : kBand;
}

/// In which order the iterations of the outermost loop are gone through. Tiles
/// of mainloops are taken in the order of a raster. If blocks take tiles as
/// they come, those with the most steps come first, of as many rows as the L2
/// cache has room for. `extents` are the tiles along each dimension, `counts`
/// those with rows joined.
static Value createSpace(RewriterBase &rewriter, ForallOp loop,
                         ArrayRef<Value> extents, ArrayRef<Value> counts,
                         bool areTaken) {
  bool hasMainloop =
      loop.walk([](MainloopOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  int64_t rank = counts.size();
  IntegerAttr rows, cols, band;
  Value height;
  auto order = pitgpu::TileOrder::Rows;
  if (hasMainloop && rank >= 2) {
    rows = rewriter.getI64IntegerAttr(rank - 2);
    cols = rewriter.getI64IntegerAttr(rank - 1);
    std::optional<int64_t> found = findBand(loop);
    if (areTaken && joinsRows(loop))
      height = countCachedRows(rewriter, loop, extents);
    else if (found)
      band = rewriter.getI64IntegerAttr(*found);
    order = band || height ? pitgpu::TileOrder::Bands : pitgpu::TileOrder::Cols;
  }
  return pitgpu::TileSpaceOp::create(
      rewriter, loop.getLoc(), counts, height, rows, cols, order, band,
      DenseI64ArrayAttr(), /*cluster=*/1, /*pairs=*/false,
      compareLaterSteps(loop) == LaterSteps::More);
}

/// The loop over the tiles that a block has, and the number of one in it,
/// behind which the rewriter is left: blocks take them in turns. If they have
/// fewer and fewer steps, every other round goes from the last block to the
/// first: a block that had the most steps has the fewest of the next round.
static std::pair<scf::ForOp, Value> createRounds(RewriterBase &rewriter,
                                                 ForallOp loop, Value block,
                                                 Value blocks, Value total,
                                                 ValueRange carried) {
  Location loc = loop.getLoc();
  if (compareLaterSteps(loop) == LaterSteps::Same) {
    auto strided =
        scf::ForOp::create(rewriter, loc, block, total, blocks, carried);
    rewriter.setInsertionPointToStart(strided.getBody());
    return {strided, strided.getInductionVar()};
  }
  Emitter e(rewriter, loc);
  Value zero = e.index(0), one = e.index(1);
  auto placeIn = [&](Value round) -> Value {
    Value back = e.equal(e.logicalAnd(round, one), one);
    return e.select(back, e.sub(e.sub(blocks, block), one), block);
  };
  Value whole = e.div(total, blocks);
  Value rest = e.rem(total, blocks);
  Value more = e.select(e.inRange(placeIn(whole), rest), one, zero);
  Value rounds = e.add(whole, more);
  auto made = scf::ForOp::create(rewriter, loc, zero, rounds, one, carried);
  rewriter.setInsertionPointToStart(made.getBody());
  Value round = made.getInductionVar();
  Value first = e.mul(round, blocks);
  return {made, e.add(first, placeIn(round))};
}

/// Moves the body of a loop into that over the tiles of a block, which `begin`
/// begins.
static void moveTiles(RewriterBase &rewriter, ForallOp loop, bool areTaken,
                      function_ref<Value(Value total)> begin,
                      const IndexMap &indices, ChunkMap &chunks) {
  Location loc = loop.getLoc();
  Type index = rewriter.getIndexType();
  Emitter e(rewriter, loc);
  LoopBounds bounds = loopBounds(rewriter, loop, indices);
  SmallVector<Value> extents = tilesAlong(rewriter, loc, bounds);
  if (extents.empty()) // one tile
    extents.push_back(e.index(1));
  SmallVector<Value> counts = extents;
  if (joinsRows(loop)) {
    counts = {extents[0], extents.back()};
    for (Value extent : ArrayRef(extents).drop_front().drop_back())
      counts[0] = e.mul(counts[0], extent);
  }
  Value space = createSpace(rewriter, loop, extents, counts, areTaken);
  Value number =
      begin(pitgpu::CountTilesOp::create(rewriter, loc, index, space));
  auto tile = pitgpu::TileOfOp::create(rewriter, loc,
                                       SmallVector<Type>(counts.size(), index),
                                       number, space, /*rank=*/Value());
  SmallVector<Value> places(tile.getResults());
  // The outer dimensions of a row that is one of all of them.
  for (size_t d = extents.size() - 2; counts.size() < extents.size() && d > 0;
       --d) {
    Value rest = e.rem(places[0], extents[d]);
    places[0] = e.div(places[0], extents[d]);
    places.insert(places.begin() + 1, rest);
  }
  SmallVector<Value> ivs;
  for (auto [at, lower, step] : llvm::zip(places, bounds.lower, bounds.steps))
    ivs.push_back(e.add(lower, e.mul(at, step)));
  moveLoopBody(rewriter, loop, {rewriter.getInsertionBlock(), ivs}, bounds,
               indices, chunks);
}

scf::ForOp cuda::loopOverTiles(RewriterBase &rewriter, ForallOp loop,
                               Value block, Value blocks, ValueRange carried,
                               const IndexMap &indices, ChunkMap &chunks) {
  scf::ForOp made;
  auto begin = [&](Value total) {
    Value number;
    std::tie(made, number) =
        createRounds(rewriter, loop, block, blocks, total, carried);
    return number;
  };
  moveTiles(rewriter, loop, /*areTaken=*/false, begin, indices, chunks);
  return made;
}

void cuda::loopOverTakenTiles(RewriterBase &rewriter, ForallOp loop,
                              function_ref<Value(Value total)> begin,
                              const IndexMap &indices, ChunkMap &chunks) {
  moveTiles(rewriter, loop, /*areTaken=*/true, begin, indices, chunks);
}
