//===- BodyTiles.cpp - Tiles of a body in registers -----------------------===//
//
// Each warp has some rows of all tiles, and a thread the elements that mma.sync
// and wgmma give it as sums. So nothing that is computed leaves the registers,
// and what reduces a row is exchanged by four lanes.
//
//===----------------------------------------------------------------------===//

#include "PortableBody.h"

#include "Codegen/Common/TileInput.h"
#include "Codegen/GPU/Common/LinalgLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void BodyTiles::locate(Value number) {
  lane = e.rem(number, 32);
  origin = e.mul(e.div(number, 32), plan.perWorkerM());
  rows.clear();
  Value row = e.add(origin, e.div(lane, 4));
  for (int64_t i = 0; i < plan.perWorkerM(); i += 8)
    rows.push_back(e.add(row, i));
}

/// Columns that are spread over the lanes of a warp, two neighbours in each.
static constexpr int64_t kSpread = 64;

/// The columns that this thread has, of so many.
SmallVector<Value> BodyTiles::colsOf(int64_t columns) {
  if (columns == 1)
    return {e.i32(0)};
  SmallVector<Value> cols;
  Value col = e.mul(e.rem(lane, 4), 2);
  for (int64_t j = 0; j < columns; j += 8)
    for (int64_t c = 0; c < 2; ++c)
      cols.push_back(e.add(col, j + c));
  return cols;
}

RegisterTile BodyTiles::shapeOf(Value tile) {
  RegisterTile registers;
  int64_t columns = plan.info.extent(tile, TileRole::Col);
  registers.hasRows = plan.info.extent(tile, TileRole::Row) > 1;
  registers.hasCols = columns > 1;
  registers.rows = registers.hasRows ? plan.perWorkerM() / 8 : 1;
  registers.cols = registers.hasCols ? columns / 4 : 1;
  registers.values.resize(registers.rows * registers.cols);
  return registers;
}

//===----------------------------------------------------------------------===//
// Elements that are read one by one
//===----------------------------------------------------------------------===//

/// A thread's elements of a tile that ops take element by element, of the
/// step that was entered.
RegisterTile BodyTiles::readDirectly(BlockArgument tile) {
  unsigned number = tile.getArgNumber(), loaded = mainloop.getNumLoaded();
  Value source =
      number < loaded
          ? mainloop.getLoad().front().getTerminator()->getOperand(number)
          : mainloop.getInvariants()[number - loaded];
  if (auto coords = source.getDefiningOp<CoordsOp>())
    return readCoords(tile, coords.getIds());
  auto view = source.getDefiningOp<ViewOp>();
  return readElements(tile, number < loaded ? steps.access(number)
                                            : accessView(e, view, chunks));
}

/// Coordinates of ids; -1 of those that are absent.
RegisterTile BodyTiles::readCoords(BlockArgument tile, Value ids) {
  const ChunkView &chunk = chunks.at(ids);
  RegisterTile registers = shapeOf(tile);
  SmallVector<Value> places =
      registers.hasRows ? rows : colsOf(plan.info.extent(tile, TileRole::Col));
  Value live = e.toI32(chunk.live);
  for (auto [place, value] : llvm::zip(places, registers.values)) {
    Value exists = e.lessThan(place, live);
    Value at = e.add(chunk.start, e.toIndex(e.select(exists, place, e.i32(0))));
    // Without a sign, LLVM knows that what exists is not -1.
    if (chunk.ids)
      at = arith::IndexCastUIOp::create(e.b, e.loc, e.b.getIndexType(),
                                        e.loadAt(chunk.ids, at));
    value = e.select(exists, at, e.index(-1));
  }
  return registers;
}

/// Is an element one that lanes of a warp exchange?
static bool canShuffle(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() <= 32;
}

/// Are columns that are read spread over lanes?
bool BodyTiles::isSpread(BlockArgument tile) const {
  return plan.info.extent(tile, TileRole::Row) == 1 &&
         plan.info.extent(tile, TileRole::Col) >= kSpread / 2 &&
         canShuffle(cast<VectorType>(tile.getType()).getElementType());
}

RegisterTile BodyTiles::readElements(BlockArgument tile,
                                     const TileAccess &access) {
  RegisterTile registers = shapeOf(tile);
  ArrayRef<TileRole> roles = plan.info.rolesOf(tile);
  int64_t columns = plan.info.extent(tile, TileRole::Col);
  SmallVector<Value> cols = colsOf(columns);
  if (isSpread(tile)) {
    registers.isSpread = true;
    cols.clear();
    for (int64_t j = 0; j < columns; j += kSpread)
      for (int64_t c = 0; c < 2; ++c)
        cols.push_back(e.add(e.mul(lane, 2), j + c));
    registers.cols = cols.size();
    registers.values.resize(cols.size());
  }
  // Their places along each dimension, by row, by column, or at all.
  SmallVector<SmallVector<std::pair<Value, Value>>> places;
  for (auto [d, role] : llvm::enumerate(roles)) {
    SmallVector<Value> positions = role == TileRole::Row ? rows
                                   : role == TileRole::Col
                                       ? cols
                                       : SmallVector<Value>{e.i32(0)};
    auto &found = places.emplace_back();
    for (Value position : positions)
      found.push_back(cuda::locate(e, access.dims[d], e.toIndex(position)));
  }
  int64_t bytes = elementBytes(access.element);
  for (size_t i = 0; i < registers.rows; ++i)
    for (size_t j = 0; j < registers.cols; ++j) {
      Value offset = e.index(0), exists;
      for (auto [d, role] : llvm::enumerate(roles)) {
        auto [at, exist] = places[d][role == TileRole::Row   ? i
                                     : role == TileRole::Col ? j
                                                             : 0];
        offset = e.add(offset, e.mul(at, access.dims[d].stride));
        exists = exists ? e.logicalAnd(exists, exist) : exist;
      }
      Value from = elementAddress(e, access, offset);
      registers.at(i, j) = e.choose(
          exists, [&] { return e.load(access.element, from, bytes); },
          [&] { return e.constant(access.pad); });
    }
  return registers;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

SmallVector<Value> BodyTiles::initial() {
  SmallVector<Value> values;
  for (auto [tile, value] : llvm::zip(mainloop.getCarriedTiles(),
                                      e.clone(mainloop.getPrologue().front())))
    values.append(shapeOf(tile).values.size(), value);
  return values;
}

void BodyTiles::readInvariants() {
  findBases();
  for (BlockArgument tile : mainloop.getInvariantTiles())
    if (plan.info.has(tile))
      tiles[tile] = readDirectly(tile);
}

/// The elements of a tile, the first ones of all that is carried.
RegisterTile BodyTiles::take(Value tile, ValueRange &carried) {
  RegisterTile registers = shapeOf(tile);
  size_t count = registers.values.size();
  registers.values.assign(carried.begin(), carried.begin() + count);
  carried = carried.drop_front(count);
  return registers;
}

SmallVector<Value> BodyTiles::readAhead(Value s) {
  SmallVector<Value> values;
  steps.enter(e.min(s, e.sub(steps.total(), e.i32(1))));
  for (BlockArgument tile : mainloop.getLoadedTiles())
    if (plan.info.has(tile) && isSpread(tile))
      llvm::append_range(values, readDirectly(tile).values);
  return values;
}

/// Takes the numbers of a step.
void BodyTiles::enterNumbers(Value s) {
  steps.enter(s);
  numbers = IRMapping();
  auto loaded = mainloop.getLoad().front().getTerminator()->getOperands();
  for (auto [argument, value] : llvm::zip(
           mainloop.getNumbers(), loaded.drop_front(mainloop.getNumLoaded())))
    numbers.map(argument, steps.lookup(value));
}

void BodyTiles::enter(Value s, ValueRange carried, ValueRange ahead) {
  enterNumbers(s);
  for (BlockArgument tile : mainloop.getLoadedTiles()) {
    if (!plan.info.has(tile))
      continue;
    if (!ahead.empty() && isSpread(tile)) {
      RegisterTile &registers = tiles[tile] = shapeOf(tile);
      registers.isSpread = true;
      registers.cols = 2 * llvm::divideCeil(4 * registers.cols, kSpread);
      registers.values.assign(ahead.begin(), ahead.begin() + registers.cols);
      ahead = ahead.drop_front(registers.cols);
      continue;
    }
    tiles[tile] = readDirectly(tile);
  }
  takeCarried(carried);
}

void BodyTiles::takeCarried(ValueRange values) {
  for (BlockArgument tile : mainloop.getCarriedTiles())
    tiles[tile] = take(tile, values);
}

SmallVector<Value> BodyTiles::carried() {
  SmallVector<Value> values;
  for (Value tile : mainloop.getCarriedTiles())
    llvm::append_range(values, tiles.at(tile).values);
  return values;
}

SmallVector<Value> BodyTiles::next() {
  SmallVector<Value> values;
  for (Value tile :
       mainloop.getCompute().front().getTerminator()->getOperands())
    llvm::append_range(values, tiles.at(tile).values);
  return values;
}

void BodyTiles::store(StoreOp op) {
  RegisterTile &tile = tiles.at(op.getTile());
  AccumulatorTile shape;
  shape.neighbours = 2;
  shape.laneOfQuads = lane;
  for (auto [d, role] : llvm::enumerate(plan.info.rolesOf(op.getTile()))) {
    if (role == TileRole::Row)
      shape.mDim = d;
    if (role == TileRole::Col)
      shape.nDim = d;
  }
  Fragment all{rows, colsOf(plan.info.extent(op.getTile(), TileRole::Col))};
  MainloopEpilogue::store(e, op, op.getSubscripts(), shape, all,
                          plan.vectorAtomics, chunks,
                          [&](size_t i, size_t j) { return tile.at(i, j); });
}

void BodyTiles::storeExtraResults(ValueRange carried) {
  if (mainloop.getExtraResults().empty())
    return;
  for (BlockArgument tile : mainloop.getLastTiles())
    tiles[tile] = take(tile, carried);
  for (Operation &op : mainloop.getExtraResults().front().without_terminator())
    if (auto pointwise = dyn_cast<PointwiseOp>(op))
      compute(pointwise);
    else
      store(cast<StoreOp>(op));
}

void BodyTiles::finish(MainloopEpilogue &epilogue, Value number,
                       ValueRange carried) {
  locate(e.hideFromOptimizer(number));
  storeExtraResults(carried);
  epilogue.exchangeInQuads(lane);
  Fragment all{rows, colsOf(plan.tileN)};
  epilogue.setRows(all.rows, /*withDest=*/true);
  epilogue.setCols(all.cols);
  // Elements of each row and column of the result; of tiles that are not used
  // there any element.
  SmallVector<Value> elements;
  for (auto [tile, element] : llvm::zip(
           mainloop.getCarriedTiles(), mainloop.getEpilogue().getArguments())) {
    RegisterTile registers = take(tile, carried);
    for (size_t i = 0; i < all.rows.size(); ++i)
      for (size_t j = 0; j < all.cols.size(); ++j)
        elements.push_back(element.use_empty() ? registers.values.front()
                                               : registers.at(i, j));
  }
  epilogue.finish(elements);
}

namespace {
/// The operands of a comparison of places: rows and columns of the tile, so
/// many times, with something that is the same for all elements.
struct PlaceSum {
  int64_t rows = 0, cols = 0;
  Value limit; ///< index
};

/// Adds `value`, of an op's body, to `sum`, or subtracts it; fails if it is
/// something else.
bool addPlaces(Emitter &e, PointwiseOp op, ArrayRef<TileRole> roles,
               const IRMapping &numbers, Value value, bool adds,
               PlaceSum &sum) {
  if (value.getParentRegion() != &op.getBody() ||
      value.getDefiningOp<arith::ConstantOp>()) {
    Value same = value.getParentRegion() == &op.getBody()
                     ? e.b.clone(*value.getDefiningOp())->getResult(0)
                     : numbers.lookupOrDefault(value);
    sum.limit = adds ? e.sub(sum.limit, same) : e.add(sum.limit, same);
    return true;
  }
  if (auto place = dyn_cast<BlockArgument>(value)) {
    unsigned d = place.getArgNumber();
    if (d >= roles.size())
      return false;
    if (op.getTile()[d] > 1)
      (roles[d] == TileRole::Row ? sum.rows : sum.cols) += adds ? 1 : -1;
    return true;
  }
  Operation *defined = value.getDefiningOp();
  bool isSum = isa<arith::AddIOp>(defined);
  if (!isSum && !isa<arith::SubIOp>(defined))
    return false;
  return addPlaces(e, op, roles, numbers, defined->getOperand(0), adds, sum) &&
         addPlaces(e, op, roles, numbers, defined->getOperand(1),
                   isSum ? adds : !adds, sum);
}
} // namespace

/// Finds the comparisons of places in the tile with something that is the same
/// for all of its elements, as masks of edges and causal ones are.
void BodyTiles::findPlaceCompares(PointwiseOp op, ArrayRef<TileRole> roles) {
  compares.clear();
  for (auto compare : op.getBody().front().getOps<arith::CmpIOp>()) {
    if (!compare.getLhs().getType().isIndex() ||
        compare.getPredicate() > arith::CmpIPredicate::sge)
      continue;
    PlaceSum sum{0, 0, e.index(0)};
    if (!addPlaces(e, op, roles, numbers, compare.getLhs(), true, sum) ||
        !addPlaces(e, op, roles, numbers, compare.getRhs(), false, sum))
      continue;
    // In 32 bits: what is so far away decides as what is infinitely far away
    // does.
    Value limit =
        e.max(e.min(sum.limit, e.index(1 << 30)), e.index(-(1 << 30)));
    PlaceCompare places{sum.rows, sum.cols, e.toI32(limit), {}};
    Value col = e.mul(e.mul(e.rem(lane, 4), 2), sum.cols);
    for (Value row : rows)
      places.left.push_back(
          e.sub(places.limit, e.add(e.mul(row, sum.rows), col)));
    compares[compare] = places;
  }
}

/// Are there comparisons of places, and can one ask whether all hold?
bool BodyTiles::canAskAll() const {
  auto isOrder = [](const auto &compare) {
    auto predicate = cast<arith::CmpIOp>(compare.first).getPredicate();
    return predicate != arith::CmpIPredicate::eq &&
           predicate != arith::CmpIPredicate::ne;
  };
  return !compares.empty() && llvm::all_of(compares, isOrder);
}

/// Whether all comparisons of places hold for all elements of the tile; null:
/// it is not known, or there are none.
Value BodyTiles::allCompare(PointwiseOp op, int64_t columns) {
  Value all;
  if (!canAskAll())
    return all;
  for (auto &[compare, places] : compares) {
    int64_t low = 0, high = 0;
    for (auto [times, extent] : {std::pair(places.rows, plan.info.rows),
                                 std::pair(places.cols, columns)})
      (times < 0 ? low : high) += times * (extent - 1);
    auto predicate = cast<arith::CmpIOp>(compare).getPredicate();
    using Predicate = arith::CmpIPredicate;
    bool isBelow = predicate == Predicate::slt || predicate == Predicate::sle;
    Value holds =
        e.compare(predicate, e.i32(isBelow ? high : low), places.limit);
    all = all ? e.logicalAnd(all, holds) : holds;
  }
  return all;
}

/// The columns of what an op goes through.
static int64_t columnsOf(PointwiseOp op, ArrayRef<TileRole> roles) {
  for (auto [extent, role] : llvm::zip(op.getTile(), roles))
    if (role == TileRole::Col && extent != 1)
      return extent;
  return 1;
}

Value BodyTiles::allHold() {
  Value all;
  for (auto op : mainloop.getCompute().getOps<PointwiseOp>()) {
    if (isOfStore(op))
      continue;
    SmallVector<TileRole> roles = plan.info.dimRoles(op);
    findPlaceCompares(op, roles);
    if (Value holds = allCompare(op, columnsOf(op, roles)))
      all = all ? e.logicalAnd(all, holds) : holds;
  }
  return all;
}

Value BodyTiles::holdsAt(Value s) {
  enterNumbers(e.min(s, e.sub(steps.total(), e.i32(1))));
  return allHold();
}

/// Does an op compute each column from those of tiles that are spread?
bool BodyTiles::isOfSpread(PointwiseOp op) {
  auto places = op.getBody().getArguments().take_front(op.getTile().size());
  return !op.getInputs().empty() && !op.getAcc() &&
         canShuffle(getElementTypeOrSelf(op.getType())) &&
         llvm::all_of(places, [](Value place) { return place.use_empty(); }) &&
         llvm::all_of(op.getInputs(),
                      [&](Value input) { return tiles.at(input).isSpread; });
}

RegisterTile BodyTiles::elementsOf(PointwiseOp op) {
  RegisterTile result = shapeOf(op.getResult());
  SmallVector<TileRole> roles = plan.info.dimRoles(op);
  int64_t extent = columnsOf(op, roles);
  bool hasRows = false;
  for (auto [d, role] : llvm::enumerate(roles))
    hasRows |= op.getTile()[d] != 1 && role == TileRole::Row;
  Elements elements{roles, hasRows ? rows.size() : 1, colsOf(extent)};
  findPlaceCompares(op, roles);
  if (op.getAcc()) {
    reduce(op, elements, result);
    return result;
  }
  if (isOfSpread(op)) {
    result = tiles.at(op.getInputs().front());
    for (auto [r, value] : llvm::enumerate(result.values)) {
      IRMapping scalars = numbers;
      auto argument = op.getBody().args_begin() + op.getTile().size();
      for (Value input : op.getInputs())
        scalars.map(*argument++, tiles.at(input).values[r]);
      for (Operation &scalar : op.getBody().front().without_terminator())
        cloneBodyOp(e.b, scalar, scalars);
      value = scalars.lookupOrDefault(
          op.getBody().front().getTerminator()->getOperand(0));
    }
    return result;
  }
  // Columns of other lanes are for all rows, one after another.
  bool byColumns = llvm::any_of(
      op.getInputs(), [&](Value input) { return tiles.at(input).isSpread; });
  auto compute = [&](bool allHold) {
    columns.clear();
    size_t rows = elements.rows, cols = elements.cols.size();
    for (size_t n = 0; n < rows * cols; ++n) {
      size_t i = byColumns ? n % rows : n / cols;
      size_t j = byColumns ? n / rows : n % cols;
      result.at(i, j) = elementOf(op, elements, i, j, Value(), allHold);
    }
    columns.clear();
    return result.values;
  };
  if (stepHolds) {
    compute(*stepHolds && canAskAll());
    return result;
  }
  Value allHold = allCompare(op, extent);
  if (allHold && result.values.size() > 2 && plan.producers) {
    // Most tiles are no edge.
    result.values = e.choose(
        allHold, [&] { return compute(/*allHold=*/true); },
        [&] { return compute(/*allHold=*/false); });
  } else {
    compute(/*allHold=*/false);
  }
  return result;
}

/// Finds the vectors of which ops load elements. ptxas reads what it knows as a
/// parameter from constant memory again for each load, in the queue that loads
/// are in. So a number is added that it does not know: grids have less than
/// 2^16 blocks along z, so it is 0.
void BodyTiles::findBases() {
  mainloop.getCompute().walk([&](memref::LoadOp load) {
    MemRefType type = load.getMemRefType();
    Value &base = bases[load.getMemRef()];
    if (base || type.getRank() != 1 || !type.getLayout().isIdentity())
      return;
    Value zero = e.assembly(e.b.getI32Type(),
                            "{ mov.u32 $0, %nctaid.z; shr.u32 $0, $0, 16; }",
                            "=r", ValueRange());
    zero = e.mul(zero, lane);
    Value start = e.addressOf(load.getMemRef());
    base = e.toI64(e.add(start, e.toIndex(zero)));
  });
}

/// Has what was read, where that exists, be loaded from its vector's base.
void BodyTiles::readFromBase(Value read) {
  auto guarded = read.getDefiningOp<scf::IfOp>();
  auto load = guarded ? dyn_cast<memref::LoadOp>(guarded.thenBlock()->front())
                      : memref::LoadOp();
  Value base = load ? bases.lookup(load.getMemRef()) : Value();
  if (!base)
    return;
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(load);
  Type element = load.getType();
  Value from =
      e.elementAfter(e.globalPointer(base), element, load.getIndices().front());
  load.replaceAllUsesWith(e.load(element, from, elementBytes(element)));
  load.erase();
}

/// An element of what an op takes.
Value BodyTiles::inputOf(Value tile, size_t i, size_t j) {
  RegisterTile &registers = tiles.at(tile);
  if (!registers.isSpread)
    return registers.at(i, j);
  Value &known = columns[{tile, j}];
  if (known)
    return known;
  // The same place in the four lanes that have its eight columns.
  constexpr int64_t quads = kSpread / 8, inQuad = 3 << 8 | 31;
  size_t eight = j / 2;
  Value from = registers.values[eight / quads * 2 + j % 2];
  Type type = from.getType();
  Type bits = e.b.getIntegerType(type.getIntOrFloatBitWidth());
  if (type != bits)
    from = e.bitcast(bits, from);
  if (bits != e.b.getI32Type())
    from = arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), from);
  Value found =
      NVVM::ShflOp::create(e.b, e.loc, e.b.getI32Type(), e.i32(-1), from,
                           e.i32(static_cast<int64_t>(eight % quads) * 4),
                           e.i32(inQuad), NVVM::ShflKind::idx, UnitAttr());
  if (bits != e.b.getI32Type())
    found = arith::TruncIOp::create(e.b, e.loc, bits, found);
  if (type != bits)
    found = e.bitcast(type, found);
  return known = found;
}

/// An element of what an op computes. With `allHold`, all comparisons of places
/// are known to.
Value BodyTiles::elementOf(PointwiseOp op, const Elements &elements, size_t i,
                           size_t j, Value before, bool allHold) {
  IRMapping scalars = numbers;
  Block &body = op.getBody().front();
  auto argument = body.args_begin();
  for (auto [d, role] : llvm::enumerate(elements.roles)) {
    BlockArgument point = *argument++;
    if (!point.use_empty())
      scalars.map(point, e.toIndex(op.getTile()[d] == 1    ? e.i32(0)
                                   : role == TileRole::Row ? rows[i]
                                                           : elements.cols[j]));
  }
  for (Value input : op.getInputs())
    scalars.map(*argument++, inputOf(input, i, j));
  if (before)
    scalars.map(*argument, before);
  for (Operation &scalar : body.without_terminator()) {
    if (op.getAcc() && !before && &scalar == plan.reductions.at(op).combiner) {
      // The first of a reduction is combined with nothing.
      Value old = body.getArguments().back();
      unsigned other = scalar.getOperand(0) == old ? 1 : 0;
      scalars.map(scalar.getResult(0),
                  scalars.lookupOrDefault(scalar.getOperand(other)));
      continue;
    }
    auto found = compares.find(&scalar);
    if (found == compares.end()) {
      cloneBodyOp(e.b, scalar, scalars);
      if (isa<memref::LoadOp>(scalar))
        readFromBase(scalars.lookup(scalar.getResult(0)));
      continue;
    }
    const PlaceCompare &places = found->second;
    // In each eight columns a thread has two neighbours.
    int64_t col = static_cast<int64_t>(j / 2 * 8 + j % 2);
    Value holds = allHold
                      ? e.constant(e.b.getBoolAttr(true))
                      : e.compare(cast<arith::CmpIOp>(scalar).getPredicate(),
                                  e.i32(places.cols * col), places.left[i]);
    scalars.map(scalar.getResult(0), holds);
  }
  return scalars.lookupOrDefault(body.getTerminator()->getOperand(0));
}

/// Of what is reduced along columns, four lanes have a part each. A thread goes
/// through its part in chains, each of every other column: one waits for its
/// last op less often than that takes.
void BodyTiles::reduce(PointwiseOp op, const Elements &elements,
                       RegisterTile &result) {
  constexpr size_t kChains = 2;
  const BodyReduction &reduction = plan.reductions.at(op);
  auto combine = [&](Value x, Value y) {
    Operation *clone = e.b.clone(*reduction.combiner);
    clone->setOperands({x, y});
    return clone->getResult(0);
  };
  columns.clear();
  size_t count = elements.cols.size();
  size_t chains = result.hasCols ? count : std::min(count, kChains);
  for (size_t i = 0; i < elements.rows; ++i) {
    SmallVector<Value> parts(chains);
    for (size_t j = 0; j < count; ++j) {
      Value &part = parts[j % chains];
      part = elementOf(op, elements, i, j, part, /*allHold=*/false);
    }
    for (auto [j, part] : llvm::enumerate(parts)) {
      Value &value = result.at(i, j);
      value = value ? combine(value, part) : part;
    }
  }
  RegisterTile &first = tiles.at(op.getAcc());
  for (size_t i = 0; i < result.rows; ++i)
    for (size_t j = 0; j < result.cols; ++j) {
      Value &value = result.at(i, j);
      if (count > 1 && !result.hasCols)
        for (int64_t apart : {1, 2})
          value = combine(value, shuffleLanes(e.b, e.loc, value, apart));
      Attribute before;
      if (!matchPattern(first.at(i, j), m_Constant(&before)) ||
          before != reduction.identity)
        value = combine(first.at(i, j), value);
    }
}
