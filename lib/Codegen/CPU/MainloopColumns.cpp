//===- MainloopColumns.cpp - How register blocks read their operands ------===//
//
// Columns of B come from a cache of the second level for the first block of
// rows, and tiles of A from beyond: both are asked for ahead of their use.
//
//===----------------------------------------------------------------------===//

#include "MainloopEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

/// So many steps pass while a row of B comes from the second level (measured,
/// docs/performance/cpu-contractions.md).
static constexpr int64_t kStepsAhead = 8;
/// If ids name less than one row of B in so many, no hardware foresees them,
/// and a panel is asked for while the one before it is multiplied (measured,
/// too).
static constexpr int64_t kFewRows = 4;

//===----------------------------------------------------------------------===//
// Columns of B
//===----------------------------------------------------------------------===//

/// The dimension of B that the innermost loop runs through by ids, if it does.
std::optional<unsigned> MainloopEmitter::rowsByIds(Accumulator &own) {
  // One row uses them once.
  if (plan.k.empty() || (!plan.m && plan.lanes > 1))
    return std::nullopt;
  std::optional<unsigned> d = findDim(mainloop.getMap(plan.b), plan.k.back());
  if (!d || !isa<IdsType>(view(own, plan.b).getSubscripts()[*d].getType()))
    return std::nullopt;
  return d;
}

/// Ids are read and checked once a chunk and not once a register block. If so
/// few of a group, `count` unless null, name rows of B that these hardly follow
/// each other, the next panel is to be asked for.
void MainloopEmitter::tabulateRows(Accumulator &own, Value count) {
  if (!own.rows)
    return;
  const TileDimension &dim = own.operands[plan.b].dims[*rowsByIds(own)];
  if (!dim.ids) // positions, which follow each other
    return;
  if (plan.lanes == 1)
    return tabulateExisting(own);
  int64_t lanes = plan.lanes;
  auto idType = VectorType::get(lanes, b.getI32Type());
  Value zero = ArithEmitter::zero(idType);
  Value last = sub(dim.size, index(1));
  last = toI32(last);
  last = vector::BroadcastOp::create(b, loc, idType, last);
  forLoop(index(0), dim.limit, lanes, {}, [&](Value at, ValueRange) {
    Value left = sub(dim.limit, at);
    Value mask =
        vector::CreateMaskOp::create(b, loc, idType.clone(b.getI1Type()), left);
    Value ids = vector::MaskedLoadOp::create(b, loc, idType, dim.ids,
                                             add(dim.start, at), mask, zero);
    ids = min(ids, last);
    ids =
        arith::IndexCastOp::create(b, loc, idType.clone(b.getIndexType()), ids);
    vector::StoreOp::create(b, loc, ids, own.rows, at);
    return SmallVector<Value>();
  });
  if (!count || plan.k.size() > 1 || packsColumns(own))
    return;
  count = mul(count, kFewRows);
  own.ahead = lessThan(count, dim.size);
}

/// The same for both operands, less ids that lie beyond one of them.
void MainloopEmitter::tabulateExisting(Accumulator &own) {
  unsigned k = plan.k.back();
  const TileDimension &dim = own.operands[plan.b].dims[*rowsByIds(own)];
  unsigned inA = *findDim(mainloop.getMap(plan.a), k);
  Value size = min(dim.size, own.operands[plan.a].dims[inA].size);
  own.existing =
      forLoop(index(0), dim.limit, 1, index(0),
              [&](Value at, ValueRange count) {
                Value id =
                    memref::LoadOp::create(b, loc, dim.ids, add(dim.start, at));
                id = toIndex(id);
                memref::StoreOp::create(b, loc, id, own.rows, count);
                Value exists = lessThan(id, size);
                exists = arith::IndexCastUIOp::create(b, loc, b.getIndexType(),
                                                      exists);
                return SmallVector<Value>{add(count.front(), exists)};
              })
          .front();
}

/// The element of A at an iteration point, where it lies.
Value MainloopEmitter::rowAt(Accumulator &own, ArrayRef<Value> at) {
  const TileAccess &tile = own.operands[plan.a];
  AffineMap map = mainloop.getMap(plan.a);
  if (!own.existing)
    return scalar(tile, map, at);
  unsigned k = *findDim(map, plan.k.back());
  SmallVector<Value> coordinates = positionOf(map, at);
  for (unsigned d = 0; d < coordinates.size(); ++d)
    coordinates[d] =
        d == k ? memref::LoadOp::create(b, loc, own.rows, coordinates[d])
               : coordinate(tile.dims[d], coordinates[d]);
  return memref::LoadOp::create(b, loc, tile.memref, coordinates);
}

/// Packs a tile of B, if it has to be. If it is known when the program runs
/// whether panels are packed before, tile and panels are found in one way.
void MainloopEmitter::packColumnsOfChunk(Accumulator &own) {
  auto pack = [&] {
    packTile(b, loc, own.operands[plan.b],
             describeTile(mainloop, plan, plan.b, plan.lane), own.packedB);
  };
  if (packsColumns(own))
    return pack();
  Value isPacked = own.before.panels.isPacked;
  if (!isPacked)
    return;
  ifThen(isPacked, [] {}, pack);
  own.panels = select(isPacked, own.before.panels.memref, tileAsPanels(own));
  own.origins.clear();
  for (const TileDimension &dim : own.operands[plan.b].dims)
    own.origins.push_back(select(isPacked, index(0), dim.start));
}

/// The packed tile of B with the dimensions of panels: others, panels, k,
/// columns of a panel.
Value MainloopEmitter::tileAsPanels(Accumulator &own) {
  ArrayRef<int64_t> extents =
      cast<MemRefType>(own.packedB.getType()).getShape();
  AffineMap map = mainloop.getMap(plan.b);
  unsigned k = *findDim(map, plan.k.back());
  int64_t width = plan.panel();
  SmallVector<OpFoldResult> sizes, strides;
  auto append = [&](int64_t size, int64_t stride) {
    sizes.push_back(index(size));
    strides.push_back(index(stride));
  };
  // Dimensions of the tile are those of B, lanes last.
  auto appendPacked = [&](unsigned d) {
    unsigned at = d > plan.lane ? d - 1 : d;
    int64_t stride = 1;
    for (int64_t extent : extents.drop_front(at + 1))
      stride *= extent;
    append(extents[at], stride);
  };
  for (unsigned d = 0; d < map.getNumResults(); ++d)
    if (d != k && d != plan.lane)
      appendPacked(d);
  append(llvm::divideCeil(extents.back(), width), width);
  appendPacked(k);
  sizes.push_back(b.getIndexAttr(width));
  strides.push_back(b.getIndexAttr(1));
  auto type = cast<MemRefType>(own.before.panels.memref.getType());
  return memref::ReinterpretCastOp::create(b, loc, type, own.packedB,
                                           b.getIndexAttr(0), sizes, strides);
}

/// The place of vector `v` of B; `at` is the point of the block's first one.
SmallVector<Value> MainloopEmitter::columnAt(Accumulator &own,
                                             const SumBlock &block,
                                             ArrayRef<Value> at, int64_t v) {
  const TileAccess &tile = own.operands[plan.b];
  AffineMap map = mainloop.getMap(plan.b);
  SmallVector<Value> coordinates;
  Value k;
  for (unsigned d = 0; d < tile.dims.size(); ++d) {
    if (d == plan.lane)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(d));
    bool inner = !plan.k.empty() && dim && dim.getPosition() == plan.k.back();
    Value position = dim ? at[dim.getPosition()] : index(0);
    Value c =
        inner && own.rows && tile.dims[d].ids
            ? memref::LoadOp::create(b, loc, own.rows, position).getResult()
            : coordinate(tile.dims[d], position);
    if (!own.origins.empty())
      c = sub(c, own.origins[d]);
    if (inner && own.before.panels.memref)
      k = c;
    else
      coordinates.push_back(c);
  }
  Value n = coordinate(tile.dims[plan.lane], at[plan.n]),
        within = index(v * plan.lanes);
  if (!own.before.panels.memref) {
    coordinates.insert(coordinates.begin() + plan.lane, add(n, within));
    return coordinates;
  }
  if (!own.origins.empty())
    n = sub(n, own.origins[plan.lane]);
  // Blocks begin where panels do, but for single vectors of the last one.
  Value width = index(plan.panel());
  if (block.mask)
    within = add(within, rem(n, width));
  coordinates.append({div(n, width), k, within});
  return coordinates;
}

/// Columns of B, as they lie in memory, from vector `v` of a block on.
Value MainloopEmitter::loadColumns(Accumulator &own, VectorType type,
                                   const SumBlock &block, ArrayRef<Value> at,
                                   int64_t v, Value mask) {
  if (packsColumns(own)) {
    SmallVector<Value> point(at);
    point[plan.n] = add(point[plan.n], v * plan.lanes);
    SmallVector<Value> position = positionOf(mainloop.getMap(plan.b), point);
    moveLast(position, plan.lane);
    return load(type, own.packedB, position, mask);
  }
  // Packed columns beyond the last are there, but in place they are not.
  return load(type, columnsOf(own), columnAt(own, block, at, v), mask);
}

/// The first block of rows asks for what steps to come read; `at` is the point
/// of its first row.
void MainloopEmitter::prefetchNextSteps(Accumulator &own, const SumBlock &block,
                                        SmallVector<Value> at) {
  if (!block.first || block.mask || plan.lanes == 1 || packsColumns(own) ||
      plan.k.empty() || !findDim(mainloop.getMap(plan.b), plan.k.back()))
    return;
  Value &k = at[plan.k.back()];
  Value last = sub(limitOf(own, plan.k.back()), index(1));
  k = min(add(k, kStepsAhead), last);
  prefetchColumns(own, block, at);
}

/// Asks for what a block reads of B in one step.
void MainloopEmitter::prefetchColumns(Accumulator &own, const SumBlock &block,
                                      ArrayRef<Value> at) {
  int64_t bytes =
      plan.lanes * elementBytes(getElementTypeOrSelf(columnsOf(own)));
  for (int64_t v = 0; v < block.vectors; ++v)
    if (v * bytes % CpuTarget::lineBytes == 0)
      memref::PrefetchOp::create(b, loc, columnsOf(own),
                                 columnAt(own, block, at, v),
                                 /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
}

/// Each block of rows asks for a part of the next panel's.
void MainloopEmitter::prefetchNextPanel(Accumulator &own,
                                        const SumBlock &block) {
  if (!own.ahead || block.mask)
    return;
  unsigned k = plan.k.back();
  SumBlock panel = block;
  panel.origin[plan.n] = add(block.origin[plan.n], plan.panel());
  Value exists = lessThan(panel.origin[plan.n], limits[plan.n]);
  auto branch = scf::IfOp::create(b, loc, logicalAnd(own.ahead, exists),
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  int64_t blocks = llvm::divideCeil(mainloop.getTile()[*plan.m], plan.rows),
          part = llvm::divideCeil(mainloop.getTile()[k], blocks);
  Value number = div(block.origin[*plan.m], plan.rows);
  Value from = mul(number, part);
  SmallVector<Value> at = point(panel, 0, 0);
  forLoop(from, min(add(from, part), limitOf(own, k)), 1, {},
          [&](Value step, ValueRange) {
            at[k] = step;
            prefetchColumns(own, panel, at);
            return SmallVector<Value>();
          });
}

//===----------------------------------------------------------------------===//
// Tiles of A
//===----------------------------------------------------------------------===//

/// Finds the packed tiles of A of this chunk and of the next one.
void MainloopEmitter::findTiles(Accumulator &own) {
  TileAccess ahead = own.operands[plan.a];
  Value first, firstAhead;
  bool moves = false;
  Block &load = mainloop.getLoad().front();
  for (auto [d, subscript] :
       llvm::enumerate(view(own, plan.a).getSubscripts())) {
    auto arg = dyn_cast<BlockArgument>(subscript);
    bool isIds = isa<IdsType>(subscript.getType()),
         isStep = arg && arg.getOwner() == &load;
    if (isIds)
      first = firstAhead = chunks.at(subscript).first;
    // The ids are the innermost loop, if there are any.
    if (isStep && isIds) {
      firstAhead = add(first, mainloop.getChunk());
      moves = true;
    } else if (isStep && !mainloop.getIndex() &&
               arg.getArgNumber() + 1 == mainloop.getSteps().size()) {
      ahead.dims[d].start =
          add(ahead.dims[d].start, mainloop.getSteps().back());
      moves = true;
    }
  }
  const PackedTiles &tiles = own.before.tiles;
  own.packed = tiles.find(b, loc, own.operands[plan.a], first);
  // Beyond the last chunk it lies outside, where a prefetch does nothing.
  own.next = moves ? tiles.find(b, loc, ahead, firstAhead) : Value();
}

/// Asks for the rows of this block in the next chunk, each panel for a part of
/// them.
void MainloopEmitter::prefetchTile(Accumulator &own, const SumBlock &block) {
  AffineMap map = mainloop.getMap(plan.a);
  if (!own.next || block.mask || map.getResults().empty() ||
      findDim(map, plan.k.back()) != map.getNumResults() - 1)
    return;
  auto type = cast<MemRefType>(own.next.getType());
  int64_t step = CpuTarget::lineBytes / elementBytes(type.getElementType()),
          steps = mainloop.getTile()[plan.k.back()],
          panels = llvm::divideCeil(mainloop.getTile()[plan.n], plan.panel()),
          part = llvm::alignTo(llvm::divideCeil(steps, panels), step);
  Value panel = div(block.origin[plan.n], plan.panel());
  Value from = mul(panel, part);
  for (int64_t row = 0; row < plan.rows; ++row) {
    SmallVector<Value> at = point(block, row, 0);
    for (unsigned dim : plan.k)
      at[dim] = index(0);
    for (int64_t k = 0; k < part; k += step) {
      at[plan.k.back()] = add(from, k);
      memref::PrefetchOp::create(b, loc, own.next, positionOf(map, at),
                                 /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
    }
  }
}

/// Asks for the lines of a tile, whose last dimension is in one piece.
void MainloopEmitter::prefetchLines(const TileAccess &tile, bool isWrite) {
  int64_t line = CpuTarget::lineBytes /
                 elementBytes(getElementTypeOrSelf(tile.memref.getType()));
  SmallVector<Value> coordinates;
  std::function<void(unsigned)> nest = [&](unsigned d) {
    if (d == tile.dims.size()) {
      memref::PrefetchOp::create(b, loc, tile.memref, coordinates, isWrite,
                                 /*localityHint=*/2, /*isDataCache=*/true);
      return;
    }
    bool inner = d + 1 == tile.dims.size();
    forRange(tile.dims[d].limit, inner ? line : 1, [&](Value at) {
      coordinates.push_back(coordinate(tile.dims[d], at));
      nest(d + 1);
      coordinates.pop_back();
    });
  };
  nest(0);
}

/// Asks for what the tile of C holds, if that is added to.
void MainloopEmitter::prefetchResults() {
  if (readsDestination() && plan.lanes > 1 && !plan.transposeC && !results)
    prefetchLines(dest, /*isWrite=*/true);
}

/// Asks for the rows of A that the next chunk packs, if they go on there.
void MainloopEmitter::prefetchNextRows(Accumulator &own) {
  ValueRange subscripts = view(own, plan.a).getSubscripts();
  if (subscripts.empty())
    return;
  auto step = dyn_cast<BlockArgument>(subscripts.back());
  if (mainloop.getIndex() || !step ||
      step.getOwner() != &mainloop.getLoad().front() ||
      step.getArgNumber() + 1 != mainloop.getSteps().size())
    return;
  TileAccess ahead = own.operands[plan.a];
  TileDimension &last = ahead.dims.back();
  last.start = add(last.start, mainloop.getSteps().back());
  prefetchLines(ahead, /*isWrite=*/false);
}
