//===- BodyTiles.cpp - Tiles of a body as fragments -----------------------===//
//
// Each warp has some rows of all tiles, and a thread the elements that mma.sync
// and wgmma give it as sums. So nothing that is computed leaves the registers,
// and what reduces a row is exchanged by four lanes. Ops become `pit_gpu.map`
// and `pit_gpu.reduce_rows`.
//
//===----------------------------------------------------------------------===//

#include "PortableBody.h"

#include "Codegen/Common/TileInput.h"
#include "Codegen/GPU/Common/LinalgLowering.h"
#include "Codegen/GPU/Common/PlaceCompares.h"
#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;
using pitgpu::FragmentType;

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

/// Floats of 8 bits are kept as wider ones, and rounded where they are taken.
static Type elementOf(Type type) {
  type = getElementTypeOrSelf(type);
  return isF8(type) ? Float32Type::get(type.getContext()) : type;
}
static Value widen(Emitter &e, Value value) {
  auto rounded = value.getDefiningOp<arith::TruncFOp>();
  if (!isF8(value.getType()))
    return value;
  return rounded && rounded.getIn().getType().isF32()
             ? rounded.getIn()
             : arith::ExtFOp::create(e.b, e.loc, e.b.getF32Type(), value);
}
static Value narrow(Emitter &e, Value value, Type element) {
  return isF8(element) ? arith::TruncFOp::create(e.b, e.loc, element, value)
                       : value;
}

/// A fragment of so many rows and columns of the tiles; 1: it has no rows.
FragmentType BodyTiles::fragmentOf(int64_t rows, int64_t columns,
                                   Type element) const {
  int64_t perWarp = rows == 1 ? FragmentType::kWarpRows : plan.perWorkerM();
  rows = rows == 1 ? 1 : plan.wgmma() ? kWgmmaRows : perWarp;
  return FragmentType::get(e.b.getContext(), rows, columns, elementOf(element),
                           perWarp, /*spread=*/false);
}
FragmentType BodyTiles::typeOf(Value tile) const {
  return fragmentOf(plan.info.extent(tile, TileRole::Row),
                    plan.info.extent(tile, TileRole::Col), tile.getType());
}

/// The same, of a tile that is read: columns alone are spread over lanes.
FragmentType BodyTiles::typeOfRead(BlockArgument tile) const {
  FragmentType type = typeOf(tile);
  Type element = type.getElementType();
  bool isSpread =
      !type.hasRows() && type.getCols() >= FragmentType::kSpread / 2 &&
      element.isIntOrFloat() && element.getIntOrFloatBitWidth() <= 32;
  return FragmentType::get(e.b.getContext(), type.getRows(), type.getCols(),
                           element, type.getWarpRows(), isSpread);
}

//===----------------------------------------------------------------------===//
// Elements that are read one by one
//===----------------------------------------------------------------------===//

/// A thread's elements of a tile that ops take element by element, of the
/// step that was entered.
Value BodyTiles::readDirectly(BlockArgument tile) {
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
Value BodyTiles::readCoords(BlockArgument tile, Value ids) {
  const ChunkView &chunk = chunks.at(ids);
  ThreadElements elements(typeOf(tile));
  bool hasRows = elements.type.hasRows();
  SmallVector<Value> places = hasRows ? rows : colsOf(elements.type.getCols());
  Value live = e.toI32(chunk.live);
  for (auto [n, place] : llvm::enumerate(places)) {
    Value exists = e.lessThan(place, live);
    Value at = e.add(chunk.start, e.toIndex(e.select(exists, place, e.i32(0))));
    // Without a sign, LLVM knows that what exists is not -1.
    if (chunk.ids)
      at = arith::IndexCastUIOp::create(e.b, e.loc, e.b.getIndexType(),
                                        e.loadAt(chunk.ids, at));
    elements.at(hasRows ? n : 0, hasRows ? 0 : n) =
        e.select(exists, at, e.index(-1));
  }
  return elements.toFragment(e);
}

Value BodyTiles::readElements(BlockArgument tile, const TileAccess &access) {
  ThreadElements elements(typeOfRead(tile));
  FragmentType type = elements.type;
  ArrayRef<TileRole> roles = plan.info.rolesOf(tile);
  SmallVector<Value> cols;
  if (type.getSpread())
    for (int64_t j = 0; j < type.getCols(); j += FragmentType::kSpread)
      for (int64_t c = 0; c < 2; ++c)
        cols.push_back(e.add(e.mul(lane, 2), j + c));
  else
    cols = colsOf(type.getCols());
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
  for (int64_t i = 0; i < type.getThreadRows(); ++i)
    for (int64_t j = 0; j < type.getThreadCols(); ++j) {
      Value offset = e.index(0), exists;
      for (auto [d, role] : llvm::enumerate(roles)) {
        auto [at, exist] = places[d][role == TileRole::Row   ? i
                                     : role == TileRole::Col ? j
                                                             : 0];
        offset = e.add(offset, e.mul(at, access.dims[d].stride));
        exists = exists ? e.logicalAnd(exists, exist) : exist;
      }
      Value from = elementAddress(e, access, offset);
      elements.at(i, j) = widen(
          e, e.choose(
                 exists, [&] { return e.load(access.element, from, bytes); },
                 [&] { return e.constant(access.pad); }));
    }
  return elements.toFragment(e);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

SmallVector<Value> BodyTiles::initial() {
  SmallVector<Value> values;
  for (auto [tile, value] : llvm::zip(mainloop.getCarriedTiles(),
                                      e.clone(mainloop.getPrologue().front())))
    values.push_back(
        pitgpu::SplatOp::create(e.b, e.loc, typeOf(tile), widen(e, value)));
  return values;
}

void BodyTiles::readInvariants() {
  findBases();
  for (BlockArgument tile : mainloop.getInvariantTiles())
    if (plan.info.has(tile))
      tiles[tile] = readDirectly(tile);
}

/// Is a tile of a step columns that are spread?
bool BodyTiles::isReadAhead(BlockArgument tile) const {
  return plan.info.has(tile) && typeOfRead(tile).getSpread();
}

SmallVector<Value> BodyTiles::readAhead(Value s) {
  SmallVector<Value> values;
  steps.enter(e.min(s, e.sub(steps.total(), e.i32(1))));
  for (BlockArgument tile : mainloop.getLoadedTiles())
    if (isReadAhead(tile))
      values.push_back(readDirectly(tile));
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
    bool isThere = !ahead.empty() && isReadAhead(tile);
    tiles[tile] = isThere ? ahead.front() : readDirectly(tile);
    ahead = ahead.drop_front(isThere);
  }
  takeCarried(carried);
}

void BodyTiles::takeCarried(ValueRange values) {
  for (auto [tile, value] : llvm::zip(mainloop.getCarriedTiles(), values))
    tiles[tile] = value;
}

SmallVector<Value> BodyTiles::fragmentsOf(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value tile) {
    Value fragment = tiles.at(tile);
    FragmentType type = typeOf(tile); // is not spread
    return fragment.getType() == type
               ? fragment
               : mapFragments(e, type, fragment,
                              [](ValueRange at) { return at.back(); });
  });
}

void BodyTiles::store(StoreOp op) {
  ThreadElements tile(e, fragmentsOf(op.getTile()).front());
  Type element = getElementTypeOrSelf(op.getTile().getType());
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
  MainloopEpilogue::store(
      e, op, op.getSubscripts(), shape, all, plan.vectorAtomics, chunks,
      [&](size_t i, size_t j) { return narrow(e, tile.at(i, j), element); });
}

void BodyTiles::storeExtraResults(ValueRange carried) {
  if (mainloop.getExtraResults().empty())
    return;
  for (auto [tile, value] : llvm::zip(mainloop.getLastTiles(), carried))
    tiles[tile] = value;
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
  for (auto [value, element] :
       llvm::zip(carried, mainloop.getEpilogue().getArguments())) {
    ThreadElements tile(e, value);
    for (size_t i = 0; i < all.rows.size(); ++i)
      for (size_t j = 0; j < all.cols.size(); ++j)
        elements.push_back(element.use_empty()
                               ? tile.values.front()
                               : narrow(e, tile.at(i, j), element.getType()));
  }
  epilogue.finish(elements);
}

//===----------------------------------------------------------------------===//
// Comparisons of places
//===----------------------------------------------------------------------===//

/// A comparison of the rows and columns that an op goes through with something
/// that is the same for all of its elements, as masks of edges and causal ones
/// are.
static std::optional<PlaceCompare>
findCompare(PointwiseOp op, ArrayRef<TileRole> roles, arith::CmpIOp compare) {
  return findPlaceCompare(compare, [&](Value value) -> std::optional<Place> {
    auto place = dyn_cast<BlockArgument>(value);
    if (!place || place.getOwner() != &op.getBody().front() ||
        place.getArgNumber() >= roles.size())
      return std::nullopt;
    unsigned d = place.getArgNumber();
    if (op.getTile()[d] == 1)
      return Place(0, 0);
    return roles[d] == TileRole::Row ? Place(1, 0) : Place(0, 1);
  });
}

/// The comparisons of an op of which one can ask whether they hold for all of
/// its elements: all that it has, or none.
SmallVector<std::pair<arith::CmpIOp, PlaceCompare>>
BodyTiles::compares(PointwiseOp op) const {
  SmallVector<std::pair<arith::CmpIOp, PlaceCompare>> found;
  SmallVector<TileRole> roles = plan.info.dimRoles(op);
  for (auto compare : op.getBody().front().getOps<arith::CmpIOp>())
    if (auto places = findCompare(op, roles, compare)) {
      if (compare.getPredicate() == arith::CmpIPredicate::eq ||
          compare.getPredicate() == arith::CmpIPredicate::ne)
        return {};
      found.emplace_back(compare, *places);
    }
  return found;
}

/// The columns of what an op goes through.
static int64_t columnsOf(PointwiseOp op, ArrayRef<TileRole> roles) {
  for (auto [extent, role] : llvm::zip(op.getTile(), roles))
    if (role == TileRole::Col && extent != 1)
      return extent;
  return 1;
}

/// Whether an op's comparisons hold for all elements of the tile; null: it is
/// not known, or there are none.
Value BodyTiles::allHold(PointwiseOp op) {
  Value all;
  int64_t columns = columnsOf(op, plan.info.dimRoles(op));
  for (auto [compare, places] : compares(op)) {
    int64_t low = 0, high = 0;
    for (auto [times, extent] : {std::pair(places.rows, plan.info.rows),
                                 std::pair(places.cols, columns)})
      (times < 0 ? low : high) += times * (extent - 1);
    auto predicate = compare.getPredicate();
    using Predicate = arith::CmpIPredicate;
    bool isBelow = predicate == Predicate::slt || predicate == Predicate::sle;
    Value limit = places.limit(
        e, [&](Value value) { return numbers.lookupOrDefault(value); });
    Value holds = e.compare(predicate, e.i32(isBelow ? high : low), limit);
    all = all ? e.logicalAnd(all, holds) : holds;
  }
  return all;
}

Value BodyTiles::allHold() {
  Value all;
  for (auto op : mainloop.getCompute().getOps<PointwiseOp>())
    if (!isOfStore(op))
      if (Value holds = allHold(op))
        all = all ? e.logicalAnd(all, holds) : holds;
  return all;
}

Value BodyTiles::holdsAt(Value s) {
  enterNumbers(e.min(s, e.sub(steps.total(), e.i32(1))));
  return allHold();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The type of what an op computes without the reduction. If it computes each
/// column from those of tiles that are spread, it is spread, too.
FragmentType BodyTiles::typeOfElements(PointwiseOp op, Type element) {
  SmallVector<TileRole> roles = plan.info.dimRoles(op);
  bool hasRows = false;
  for (auto [extent, role] : llvm::zip(op.getTile(), roles))
    hasRows |= extent != 1 && role == TileRole::Row;
  FragmentType type =
      fragmentOf(hasRows ? plan.info.rows : 1, columnsOf(op, roles), element);
  auto places = op.getBody().getArguments().take_front(op.getTile().size());
  auto isSpread = [&](Value input) {
    return cast<FragmentType>(tiles.at(input).getType()).getSpread();
  };
  element = type.getElementType();
  if (op.getInputs().empty() || op.getAcc() || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() > 32 ||
      !llvm::all_of(op.getInputs(), isSpread) ||
      !llvm::all_of(places, [](Value place) { return place.use_empty(); }))
    return type;
  return cast<FragmentType>(tiles.at(op.getInputs().front()).getType())
      .of(element);
}

/// What an op's body computes as `result`. With `allHold`, all comparisons of
/// places are known to.
Value BodyTiles::map(PointwiseOp op, Value result, bool allHold) {
  Block &body = op.getBody().front();
  FragmentType type = typeOfElements(op, result.getType());
  if (auto constant = result.getDefiningOp<arith::ConstantOp>())
    return pitgpu::SplatOp::create(e.b, e.loc, type,
                                   widen(e, e.constant(constant.getValue())));
  SmallVector<Value> inputs = llvm::map_to_vector(
      op.getInputs(), [&](Value input) { return tiles.at(input); });
  int64_t first = op.getTile().size();
  llvm::SmallDenseSet<Operation *> known;
  if (allHold)
    for (auto &[compare, places] : compares(op))
      known.insert(compare);
  SmallVector<TileRole> roles = plan.info.dimRoles(op);
  auto elementAt = [&](ValueRange at) {
    IRMapping scalars = numbers;
    for (auto [d, role] : llvm::enumerate(roles))
      if (BlockArgument point = body.getArgument(d); !point.use_empty())
        scalars.map(point, op.getTile()[d] == 1
                               ? e.index(0)
                               : e.toIndex(at[role == TileRole::Row ? 0 : 1]));
    for (auto [n, element] : llvm::enumerate(at.drop_front(2))) {
      BlockArgument input = body.getArgument(first + n);
      scalars.map(input, narrow(e, element, input.getType()));
    }
    for (Operation &scalar : body.without_terminator()) {
      if (op.getAcc() && &scalar == plan.reductions.at(op).combiner)
        continue;
      if (known.contains(&scalar)) {
        scalars.map(scalar.getResult(0), e.constant(e.b.getBoolAttr(true)));
        continue;
      }
      Operation *clone = cloneBodyOp(e.b, scalar, scalars);
      // Selects of comparisons that hold.
      SmallVector<Value> folded;
      if (allHold && isa<arith::ArithDialect>(scalar.getDialect()) &&
          succeeded(e.b.tryFold(clone, folded)) && !folded.empty()) {
        scalars.map(scalar.getResults(), folded);
        clone->erase();
      }
      if (isa<memref::LoadOp>(scalar))
        readFromBase(scalars.lookup(scalar.getResult(0)));
    }
    return widen(e, scalars.lookupOrDefault(result));
  };
  bool readsRow = llvm::any_of(llvm::enumerate(roles), [&](auto role) {
    return role.value() == TileRole::Row &&
           !body.getArgument(role.index()).use_empty();
  });
  auto made = mapFragments(e, type, inputs, elementAt,
                           readsRow && type.hasRows() ? firstRow : Value())
                  .getDefiningOp<pitgpu::MapOp>();
  // What gives an input as it is needs no op.
  Block &region = made.getBody().front();
  auto same = dyn_cast<BlockArgument>(region.getTerminator()->getOperand(0));
  if (!same || same.getOwner() != &region)
    return made;
  Value input = inputs[same.getArgNumber() - 2];
  if (input.getType() != type)
    return made;
  made.erase();
  return input;
}

Value BodyTiles::fragmentOf(PointwiseOp op) {
  if (op.getAcc())
    return reduce(op);
  Value result = op.getBody().front().getTerminator()->getOperand(0);
  if (stepHolds)
    return map(op, result, *stepHolds);
  // Most tiles are no edge.
  if (plan.producers && typeOf(op.getResult()).getElements() > 2)
    if (Value holds = allHold(op))
      return e.choose(
          holds, [&] { return map(op, result, true); },
          [&] { return map(op, result, false); });
  return map(op, result, /*allHold=*/false);
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

/// What is reduced along columns, and then combined with what there was.
Value BodyTiles::reduce(PointwiseOp op) {
  const BodyReduction &reduction = plan.reductions.at(op);
  Operation *combiner = reduction.combiner;
  bool isFirst = combiner->getOperand(0) == op.getBody().getArguments().back();
  Type element = combiner->getResult(0).getType();
  auto combine = [&](ValueRange values) {
    Operation *clone = e.b.clone(*combiner);
    for (auto [n, value] : llvm::enumerate(values))
      clone->setOperand(n, narrow(e, value, element));
    return widen(e, clone->getResult(0));
  };
  FragmentType type = typeOf(op.getResult());
  Value value = map(op, combiner->getOperand(isFirst ? 1 : 0), false);
  auto all = cast<FragmentType>(value.getType());
  if (all.hasCols() && !type.hasCols()) {
    auto reduced = pitgpu::ReduceRowsOp::create(
        e.b, e.loc, fragmentOf(all.getRows(), 1, element), value);
    OpBuilder::InsertionGuard guard(e.b);
    Block *body = e.b.createBlock(&reduced.getBody(), {},
                                  SmallVector<Type>(2, all.getElementType()),
                                  SmallVector<Location>(2, e.loc));
    pitgpu::YieldOp::create(e.b, e.loc, combine(body->getArguments()));
    value = reduced;
  }
  Value first = tiles.at(op.getAcc());
  auto splat = first.getDefiningOp<pitgpu::SplatOp>();
  Attribute before;
  if (splat && matchPattern(splat.getValue(), m_Constant(&before)) &&
      before == reduction.identity && value.getType() == type)
    return value;
  return mapFragments(e, type, {first, value},
                      [&](ValueRange at) { return combine(at.drop_front(2)); });
}
