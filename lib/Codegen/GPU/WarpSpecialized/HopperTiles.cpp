//===- HopperTiles.cpp - The tiles of a block, in turn --------------------===//
//
// Which tiles a block takes, in which order, and which ids they have: the same
// in each of its roles.
//
//===----------------------------------------------------------------------===//

#include "HopperTiles.h"

#include "Codegen/GPU/Common/TileLoop.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Rows of a band of tiles.
static constexpr int64_t kRasterRows = 16;
/// The part of the L2 cache that holds the sums of a column block: the rest is
/// for what is loaded.
static constexpr int64_t kSumsOfCache = 3;

/// Parts that a tile may have: no machine runs so many blocks at once.
static constexpr int64_t kMostSplits = 1024;

/// A block's next tile is so many after its last one as there are blocks.
void HopperLowering::lowerTiles(MainloopNest nest, Role role) {
  ForallOp forall = nest.forall;
  rewriter.setInsertionPoint(forall);
  Emitter e(rewriter, loc);
  LoopBounds bounds = loopBounds(rewriter, forall, indices);
  TileSpace space{nest, bounds};
  for (Value tiles : tilesAlong(rewriter, loc, bounds))
    space.extents.push_back(e.toI32(tiles));
  space.ivs.resize(space.extents.size());
  if (before && role == Role::Consumer)
    markFilled(e, space);
  if (nest.chunks)
    lowerGroups(space, role);
  else
    lowerAllTiles(space, role);
  rewriter.eraseOp(forall);
}

Value HopperLowering::extentOf(Emitter &e, const TileSpace &space, int dim) {
  if (dim == kNoDim)
    return e.i32(1);
  if (dim == nDim && space.blockCols)
    return space.blockCols;
  return dim == kChunkDim ? space.chunkCount : space.extents[dim];
}

/// The operand that tiles with other ids of the steps read the same part of,
/// but for these: one along which no group of the index lies, where groups lie
/// along the other one. All such tiles are gone through at once, so that the
/// part stays in the L2 cache. Skinny tiles without such ids share
/// a, of which each reads far more than of b. Null if there is none.
const HopperOperand *HopperLowering::sharedByIds(MainloopNest nest) const {
  ValueRange group = nest.mainloop.getGroup();
  ValueRange ivs = nest.forall.getInductionVars();
  // A packed operand lies along positions, and along no loop.
  auto isOfGroup = [&](int dim) {
    return dim == kNoDim || (dim >= 0 && dim < static_cast<int>(ivs.size()) &&
                             llvm::is_contained(group, ivs[dim]));
  };
  bool alongM = isOfGroup(mDim), alongN = isOfGroup(nDim);
  if (hopper.cluster > 1 || !nest.mainloop.getIndex() || alongM == alongN)
    return hopper.isSkinny ? &hopper.a : nullptr;
  return alongM ? &hopper.b : &hopper.a;
}

/// Finds out in how many splits tiles of lists are shared, by the mean list. If
/// there are many tiles, they are not, and no block waits for the number of
/// ids.
void HopperLowering::shareLists(Emitter &e, TileSpace &space) {
  auto share = pitgpu::ShareListsOp::create(
      rewriter, loc, space.total, workers, worker, blocksOfMemory(hopper),
      leastStepsOfList(hopper) * hopper.depth,
      std::min(hopper.splits, kMostSplits));
  space.whole = share.getWhole();
  space.shared = share.getSplits();
  space.first = share.getFirst();
  space.total = share.getNumbers();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.createBlock(&share.getCount());
  const IndexView &index = indices.at(space.nest.mainloop.getIndex());
  Value ids = e.toI32(e.min(index.total, e.index(INT32_MAX)));
  pitgpu::YieldOp::create(rewriter, loc,
                          ValueRange{ids, e.toI32(index.groups)});
}

/// Counts the tiles of a group of so many ids (of all, if there are no groups),
/// and says in which order they are.
void HopperLowering::countTiles(Emitter &e, TileSpace &space, Value ids) {
  if (ids)
    space.chunkCount =
        e.toI32(ceilDiv(ids, e.index(space.nest.chunks.getChunk())));
  const HopperOperand *operand = sharedByIds(space.nest);
  SmallVector<Value> extents;
  IntegerAttr rows, cols, band;
  SmallVector<int64_t> alike;
  auto add = [&](int dim) {
    int64_t number = space.dims.size();
    if (dim == mDim)
      rows = rewriter.getI64IntegerAttr(number);
    else if (dim == nDim)
      cols = rewriter.getI64IntegerAttr(number);
    else if (operand && dim != kChunkDim &&
             !loadsDependOn(space.nest, *operand, dim))
      alike.push_back(number);
    space.dims.push_back(dim);
    extents.push_back(extentOf(e, space, dim));
  };
  for (auto [d, iv] : llvm::enumerate(space.ivs))
    if (!iv)
      add(d);
  if (space.chunkCount)
    add(kChunkDim);
  auto order = !operand               ? pitgpu::TileOrder::Bands
               : operand == &hopper.a ? pitgpu::TileOrder::Rows
                                      : pitgpu::TileOrder::Cols;
  if (!operand)
    band = rewriter.getI64IntegerAttr(kRasterRows);
  if (extents.empty()) // one tile
    extents.push_back(e.i32(1));
  // Neighbours along m are tiles of a cluster.
  space.order = pitgpu::TileSpaceOp::create(
      rewriter, loc, extents, /*height=*/Value(), rows, cols, order, band,
      alike.empty() ? DenseI64ArrayAttr()
                    : rewriter.getDenseI64ArrayAttr(alike),
      hopper.cluster, canPairAlongN(space.nest, hopper), /*lastFirst=*/false);
  space.total = pitgpu::CountTilesOp::create(
      rewriter, loc, rewriter.getI32Type(), space.order);
  space.first = worker;
  if (hopper.splits == 1)
    return;
  if (space.nest.mainloop.getIndex())
    return shareLists(e, space);
  auto share =
      pitgpu::ShareTilesOp::create(rewriter, loc, space.total, workers,
                                   std::min(hopper.splits, kMostSplits));
  space.whole = share.getWhole();
  space.shared = share.getSplits();
  space.total = share.getNumbers();
}

/// The rows that this block fills.
HopperFill HopperLowering::fillOf(Emitter &e, MainloopNest nest) {
  unsigned groupDims = nest.chunks ? nest.chunks.getGroup().size() : 0;
  return HopperFill(e, hopper, self, kernel.getArgument(before->argument),
                    groupDims);
}

/// Has the consumers find out which rows tiles write.
void HopperLowering::markFilled(Emitter &e, const TileSpace &space) {
  MainloopNest nest = space.nest;
  HopperFill fill = fillOf(e, nest);
  const LoopBounds &bounds = space.bounds;
  if (!nest.chunks)
    return fill.mark(indices.at(nest.forall.getIndex()).ids, bounds.offset,
                     bounds.count);
  SmallVector<Value> upTo;
  for (Value group : nest.chunks.getGroup())
    upTo.push_back(bounds.upper[cast<BlockArgument>(group).getArgNumber()]);
  fill.markGroups(indices.at(nest.chunks.getIndex()), upTo);
}

/// Spreads what the producers fill over the steps of so many waves.
void HopperLowering::startFill(Emitter &e, const TileSpace &space, Value waves,
                               HopperFill &fill) {
  int64_t perTile = stagesOfTile(space.nest.mainloop, hopper.subSteps());
  Value steps = e.mul(waves, perTile);
  if (space.shared) {
    Value wholes = e.div(space.whole, workers);
    steps = e.select(e.lessThan(wholes, waves),
                     ceilDiv(e.i32(perTile), space.shared), e.i32(0));
    steps = e.add(e.mul(wholes, perTile), steps);
  }
  fill.start(perTile < 0 ? Value() : steps);
}

/// The tiles of a kernel without groups.
void HopperLowering::lowerAllTiles(TileSpace space, Role role) {
  Emitter e(rewriter, loc);
  countTiles(e, space);
  Value first = space.first;
  std::optional<HopperFill> fill;
  if (before && role == Role::Producer && hopper.fillsBetweenSteps()) {
    Value waves = ceilDiv(e.max(e.sub(space.total, first), e.i32(0)), workers);
    fill.emplace(fillOf(e, space.nest));
    startFill(e, space, waves, *fill);
  }
  // Beside the stages, the wave and the groups of this tile and the next one.
  SmallVector<Value> carried = {e.i32(0)};
  bool ahead = hopper.streamsIds() && knowsGroups(space.nest);
  if (hopper.streamsIds())
    carried.push_back(e.i32(0));
  if (ahead)
    for (Value number : {first, e.add(first, workers)}) {
      auto [count, offset] = groupOf(e, space, number);
      carried.append({count, offset});
    }
  auto loop =
      scf::ForOp::create(rewriter, loc, first, space.total, workers, carried);
  if (fill)
    fill->finish(loop.getResult(0));
  rewriter.setInsertionPointToStart(loop.getBody());
  ValueRange args = loop.getRegionIterArgs();
  HopperTile tile{
      space.nest.mainloop, hopper, self, {chunks, indices}, args[0]};
  SmallVector<Value> following;
  if (hopper.streamsIds()) {
    tile.wave = args[1];
    following.push_back(e.add(args[1], 1));
  }
  if (ahead) {
    tile.now = {args[2], args[3]};
    tile.next = {args[4], args[5]};
    Value later = e.add(loop.getInductionVar(), e.mul(workers, 2));
    auto [count, offset] = groupOf(e, space, later);
    following.append({args[4], args[5], count, offset});
  } else if (space.shared && tile.mainloop.getIndex()) {
    tile.now = listOf(e, space, loop.getInductionVar());
  }
  enterTile(e, space, loop.getInductionVar(), loop.getBody());
  following.insert(following.begin(),
                   lowerMainloop(tile, role, fill ? &*fill : nullptr));
  rewriter.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(rewriter, loc, following);
}

/// How many ids the steps of number `number`, a tile or a part of one that
/// there is, have, and where they start.
GroupOfTile HopperLowering::listOf(Emitter &e, const TileSpace &space,
                                   Value number) {
  MainloopOp mainloop = space.nest.mainloop;
  ForallOp forall = space.nest.forall;
  pitgpu::SplitOfOp part = partOf(space, number);
  SmallVector<Value> ivs =
      tileAt(e, space, part ? part.getTile() : number).first;
  SmallVector<Value> group;
  for (Value value : mainloop.getGroup()) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isIv = argument && argument.getOwner() == forall.getBody();
    group.push_back(isIv ? ivs[argument.getArgNumber()] : value);
  }
  auto [count, offset] =
      indices.at(mainloop.getIndex()).countAndOffset(rewriter, loc, group);
  if (!part)
    return {count, offset};
  auto ofPart = [&, count = count, offset = offset]() -> SmallVector<Value> {
    // Numbers stay narrow, so that no step has to reckon with wide ones.
    auto own = pitgpu::StepsOfSplitOp::create(
        rewriter, loc, part.getSplit(), part.getCount(), e.toI32(count),
        /*least=*/IntegerAttr(), /*by=*/hopper.depth);
    return {e.toIndex(e.sub(own.getEnd(), own.getBegin())),
            e.add(offset, e.toIndex(own.getBegin()))};
  };
  auto all = [count = count, offset = offset] {
    return SmallVector<Value>{count, offset};
  };
  SmallVector<Value> list =
      e.choose(e.lessThan(e.i32(1), part.getCount()), ofPart, all);
  return {list[0], list[1]};
}

/// The same; none, if there is no such number.
GroupOfTile HopperLowering::groupOf(Emitter &e, const TileSpace &space,
                                    Value number) {
  SmallVector<Value> list = e.choose(
      e.lessThan(number, space.total),
      [&]() -> SmallVector<Value> {
        auto [count, offset] = listOf(e, space, number);
        return {count, offset};
      },
      [&]() -> SmallVector<Value> { return {e.index(0), e.index(0)}; });
  return {list[0], list[1]};
}

/// Sets the loops' variables that say which group it is; gives the group's
/// subscripts.
SmallVector<Value> HopperLowering::setGroup(Emitter &e, TileSpace &space,
                                            Value number) {
  MainloopNest &nest = space.nest;
  auto ivs = llvm::enumerate(nest.forall.getInductionVars());
  for (auto [d, iv] : llvm::reverse(llvm::to_vector(ivs)))
    if (llvm::is_contained(nest.chunks.getGroup(), iv))
      std::tie(number, space.ivs[d]) = e.divRem(number, space.extents[d]);
  SmallVector<Value> group;
  const LoopBounds &bounds = space.bounds;
  for (Value subscript : nest.chunks.getGroup()) {
    unsigned d = cast<BlockArgument>(subscript).getArgNumber();
    group.push_back(e.add(bounds.lower[d],
                          e.mul(e.toIndex(space.ivs[d]), bounds.steps[d])));
  }
  return group;
}

/// Tiles along n of a column block of the result: as many as have sums that
/// stay in the L2 cache while all groups add to them. All, if that took too
/// many column blocks.
Value HopperLowering::columnsOfBlock(Emitter &e, const TileSpace &space) {
  MainloopOp mainloop = space.nest.mainloop;
  Value dest = mainloop.getDest();
  auto type = cast<MemRefType>(dest.getType());
  Value bytes = e.index(elementBytes(type.getElementType()));
  for (int64_t d = 0; d < type.getRank(); ++d)
    bytes =
        e.mul(bytes, memref::DimOp::create(rewriter, loc, dest, e.index(d)));
  Value columnBlocks =
      e.max(ceilDiv(bytes, e.index(target.l2Bytes / kSumsOfCache)), e.index(1));
  Value isWorthIt = e.lessThan(columnBlocks, e.index(hopper.columnBlocks + 1));
  columnBlocks = e.toI32(e.select(isWorthIt, columnBlocks, e.index(1)));
  // Clusters may have pairs of tiles along n.
  Value pairs =
      ceilDiv(space.extents[nDim], e.mul(columnBlocks, hopper.cluster));
  return e.mul(e.max(pairs, e.i32(1)), hopper.cluster);
}

/// The tiles of all groups; where groups add to the result, those of one column
/// block of it before those of the next one.
void HopperLowering::lowerGroups(TileSpace space, Role role) {
  Emitter e(rewriter, loc);
  MainloopNest nest = space.nest;
  std::optional<HopperFill> fill;
  if (this->before && role == Role::Producer && hopper.fillsBetweenSteps()) {
    // How many tiles this block has is not known yet; if any, then one.
    int64_t perTile = stagesOfTile(nest.mainloop, hopper.subSteps());
    fill.emplace(fillOf(e, nest));
    fill->start(perTile < 0 ? Value() : e.i32(perTile));
  }
  SmallVector<Value> carried = {worker, e.i32(0)};
  HopperFill *between = fill ? &*fill : nullptr;
  ValueRange after;
  if (hopper.columnBlocks == 1) {
    after = lowerBatches(space, role, carried, between);
  } else {
    Value columns = columnsOfBlock(e, space);
    auto columnBlocks = scf::ForOp::create(
        rewriter, loc, e.i32(0), space.extents[nDim], columns, carried);
    after = columnBlocks.getResults();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(columnBlocks.getBody());
    space.firstCol = columnBlocks.getInductionVar();
    space.blockCols =
        e.min(columns, e.sub(space.extents[nDim], space.firstCol));
    ValueRange next =
        lowerBatches(space, role, columnBlocks.getRegionIterArgs(), between);
    scf::YieldOp::create(rewriter, loc, next);
  }
  if (fill)
    fill->finish(after[1]);
  // Ids are known by the loop's arguments as long as they are of use.
  rewriter.eraseOp(nest.chunks);
}

/// The tiles of one group after another. Carried are the block's next tile,
/// counted from the first of the groups that are to come, and the stages that
/// were filled.
ValueRange HopperLowering::lowerBatches(TileSpace space, Role role,
                                        ValueRange carried, HopperFill *fill) {
  Emitter e(rewriter, loc);
  MainloopNest nest = space.nest;
  Value groups = e.i32(1);
  for (auto [d, iv] : llvm::enumerate(nest.forall.getInductionVars()))
    if (llvm::is_contained(nest.chunks.getGroup(), iv))
      groups = e.mul(groups, space.extents[d]);
  Type i32 = rewriter.getI32Type();
  auto op =
      pitgpu::ListTilesOp::create(rewriter, loc, TypeRange{i32, i32}, groups,
                                  carried[0], workers, carried.drop_front());
  OpBuilder::InsertionGuard guard(rewriter);
  auto createBlock = [&](Region &region, size_t arguments) {
    return rewriter.createBlock(&region, {}, SmallVector<Type>(arguments, i32),
                                SmallVector<Location>(arguments, loc));
  };
  Block *ofLane = createBlock(op.getCount(), 1);
  TileSpace counted = space;
  auto [count, offset] =
      indices.at(nest.chunks.getIndex())
          .countAndOffset(rewriter, loc,
                          setGroup(e, counted, ofLane->getArgument(0)));
  countTiles(e, counted, count);
  pitgpu::YieldOp::create(
      rewriter, loc,
      ValueRange{counted.total, e.toI32(count), e.toI32(offset)});

  // The group, the tile in it, its ids, and what is carried.
  Block *body = createBlock(op.getBody(), 5);
  LoopBounds chunkBounds;
  chunkBounds.count = e.toIndex(body->getArgument(2));
  chunkBounds.offset = e.toIndex(body->getArgument(3));
  space.chunkBounds = &chunkBounds;
  setGroup(e, space, body->getArgument(0));
  countTiles(e, space, chunkBounds.count);
  enterTile(e, space, body->getArgument(1), body);
  Value done = lowerMainloop(
      {nest.mainloop, hopper, self, {chunks, indices}, body->getArgument(4)},
      role, fill);
  rewriter.setInsertionPointToEnd(body);
  pitgpu::YieldOp::create(rewriter, loc, done);
  return op->getResults();
}

/// The place of tile `number` (i32) of the space.
HopperLowering::TileIvs
HopperLowering::tileAt(Emitter &e, const TileSpace &space, Value number) {
  auto order = space.order.getDefiningOp<pitgpu::TileSpaceOp>();
  SmallVector<Type> types(order.getExtents().size(), rewriter.getI32Type());
  if (order.getPairs())
    types.push_back(rewriter.getI1Type());
  auto tile =
      pitgpu::TileOfOp::create(rewriter, loc, types, number, space.order,
                               hopper.cluster > 1 ? self.rank : Value());
  if (order.getPairs())
    self.alongN = tile.getResults().back();
  SmallVector<Value> ivs = space.ivs;
  Value chunk;
  for (auto [dim, result] : llvm::zip(space.dims, tile.getResults())) {
    Value at = result;
    if (dim == nDim && dim != mDim && space.firstCol)
      at = e.add(space.firstCol, at);
    (dim == kChunkDim ? chunk : ivs[dim]) = at;
  }
  const LoopBounds &bounds = space.bounds;
  for (auto [iv, lower, step] : llvm::zip(ivs, bounds.lower, bounds.steps))
    iv = e.add(lower, e.mul(e.toIndex(iv), step));
  return {ivs, chunk};
}

/// Finds out which tile `number` of the space is, and moves the code around the
/// mainloop to the end of `body`.
void HopperLowering::enterTile(Emitter &e, TileSpace &space, Value number,
                               Block *body) {
  if (pitgpu::SplitOfOp part = partOf(space, number)) {
    // Neighbouring clusters have the splits of a tile. Each of their blocks
    // shares with those of its rank.
    number = part.getTile();
    self.streamK.count = part.getCount();
    self.streamK.part = part.getSplit();
    self.streamK.distance = e.i32(hopper.cluster);
    self.streamK.first = e.add(
        e.mul(e.mul(part.getLater(), space.shared), hopper.cluster), self.rank);
    self.streamK.ofList = static_cast<bool>(space.nest.mainloop.getIndex());
  }
  Value chunk;
  std::tie(space.ivs, chunk) = tileAt(e, space, number);
  const LoopBounds &bounds = space.bounds;
  MainloopNest &nest = space.nest;
  moveLoopBody(rewriter, nest.forall, {body, space.ivs}, bounds, indices,
               chunks);
  if (!space.chunkBounds)
    return;
  rewriter.setInsertionPoint(nest.chunks);
  Value at = e.mul(e.toIndex(chunk), nest.chunks.getChunk());
  moveLoopBody(rewriter, nest.chunks, {body, {at}}, *space.chunkBounds, indices,
               chunks);
}

/// The split that has `number` in the loop; null: the number is a tile's.
pitgpu::SplitOfOp HopperLowering::partOf(const TileSpace &space, Value number) {
  if (!space.shared)
    return {};
  // Most tiles of lists are whole ones.
  MainloopOp mainloop = space.nest.mainloop;
  return pitgpu::SplitOfOp::create(rewriter, loc, number, space.whole,
                                   space.shared,
                                   static_cast<bool>(mainloop.getIndex()));
}
