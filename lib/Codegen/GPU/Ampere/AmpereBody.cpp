//===- AmpereBody.cpp - Expansion of a mainloop with a tile body ----------===//
//
// Tiles that contractions read from memory go through the ring of stages, or
// are loaded once. All other tiles are registers: each warp has some rows of
// them, and a thread the elements that mma.sync and wgmma give it as sums. So
// nothing that is computed leaves the registers, and what reduces a row is
// exchanged by four lanes.
//
//===----------------------------------------------------------------------===//

#include "AmpereBody.h"

#include "StageRing.h"

#include "Codegen/Common/TileInput.h"
#include "Codegen/GPU/Common/LinalgLowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

class BodyExpander {
public:
  BodyExpander(const AmpereThread &self, const AmpereBodyPlan &plan,
               MainloopOp mainloop, KernelValues values)
      : self(self), e(self.e), plan(plan), mainloop(mainloop),
        chunks(values.chunks), steps(e, mainloop, /*stagesPerStep=*/1, values),
        ring(e, plan.common.stages, plan.stageBytes,
             e.add(self.shared, plan.onceBytes), steps.total(), plan.wgmma),
        load([this](Value s, Value to) { loadStep(s, to); }) {}

  void run() {
    self.number = e.hideFromOptimizer(self.number);
    for (const StagedTile &staged : plan.staged)
      if (staged.once)
        loadTile(staged, accessView(e, staged.view, chunks), self.shared);
    ring.start([&](Value s, Value to) {
      ids = loadIds(s);
      loadStep(s, to);
    });
    locateThread();
    MainloopEpilogue epilogue(e, mainloop, {plan.mDim, plan.nDim, 2},
                              plan.common.vectorAtomics, chunks);
    SmallVector<Value> carried = initial();
    size_t elements = carried.size();
    llvm::append_range(carried, loadIds(e.i32(plan.common.stages - 1)));
    // Elements that all steps read alike are loaded before them.
    for (BlockArgument tile : mainloop.getOnceTiles())
      if (plan.info.has(tile))
        tiles[tile] = readDirectly(tile);
    carried = ring.loop(carried, [&](Value s, Value stage, ValueRange values) {
      ring.wait();
      ids.assign(values.begin() + elements, values.end());
      ring.loadAhead(s, stage, load);
      SmallVector<Value> later = loadIds(e.add(s, plan.common.stages));
      SmallVector<Value> next =
          step(s, ring.address(stage), values.take_front(elements));
      llvm::append_range(next, later);
      return next;
    });
    carried.resize(elements);
    ring.drain();
    self.number = e.hideFromOptimizer(self.number);
    locateThread();
    Fragment fragment{rows, colsOf(plan.columns)};
    epilogue.setRows(fragment.rows, /*withDest=*/true);
    epilogue.setCols(fragment.cols);
    epilogue.finish(resultElements(carried, fragment));
  }

private:
  //===--- Places ---------------------------------------------------------===//

  /// The rows that this thread has.
  void locateThread() {
    lane = e.rem(self.number, 32);
    origin = e.mul(e.div(self.number, 32), plan.rowsPerWarp);
    rows.clear();
    Value row = e.add(origin, e.div(lane, 4));
    for (int64_t i = 0; i < plan.rowsPerWarp; i += 8)
      rows.push_back(e.add(row, i));
  }

  /// The columns that this thread has, of so many.
  SmallVector<Value> colsOf(int64_t columns) {
    if (columns == 1)
      return {e.i32(0)};
    SmallVector<Value> cols;
    Value col = e.mul(e.rem(lane, 4), 2);
    for (int64_t j = 0; j < columns; j += 8)
      for (int64_t c = 0; c < 2; ++c)
        cols.push_back(e.add(col, j + c));
    return cols;
  }

  RegisterTile shapeOf(Value tile) {
    RegisterTile registers;
    int64_t columns = plan.info.extent(tile, TileRole::Col);
    registers.hasRows = plan.info.extent(tile, TileRole::Row) > 1;
    registers.hasCols = columns > 1;
    registers.rows = registers.hasRows ? plan.rowsPerWarp / 8 : 1;
    registers.cols = registers.hasCols ? columns / 4 : 1;
    registers.values.resize(registers.rows * registers.cols);
    return registers;
  }

  //===--- Loads ----------------------------------------------------------===//

  void loadTile(const StagedTile &staged, const TileAccess &access, Value to,
                const LocatedRows &located = {}) {
    loadStage(self, staged.operand, access, located, e.add(to, staged.offset));
  }

  void loadStep(Value s, Value to) {
    steps.enter(s);
    for (const StagedTile &staged : plan.staged) {
      if (staged.once)
        continue;
      TileAccess access = steps.access(staged.tile.getArgNumber());
      LocatedRows located;
      if (plan.takesIdsAhead(staged, mainloop))
        for (Value id : ids)
          located.push_back(
              {e.toIndex(id),
               e.inRange(e.toIndex(id),
                         access.dims[staged.operand.rowDim].size)});
      loadTile(staged, access, to, located);
    }
  }

  /// The ids (i32) of the rows that this thread copies in a step; -1 of those
  /// that are absent. They come a step before the rows: what waits for an id
  /// would hold up all that is behind it.
  SmallVector<Value> loadIds(Value s) {
    SmallVector<Value> loaded;
    const StagedTile *staged = plan.tileOfIds(mainloop);
    if (!staged)
      return loaded;
    steps.enter(s);
    const ChunkView &chunk =
        chunks.at(mainloop.getLoad().getArgument(mainloop.getSteps().size()));
    const SharedTile &tile = staged->operand.tile;
    for (int64_t i = 0; i < plan.piecesOf(tile); ++i) {
      Value piece = e.add(self.number, i * plan.common.threads);
      Value row = e.toIndex(e.div(piece, tile.chunks()));
      loaded.push_back(
          scf::IfOp::create(
              e.b, e.loc, e.lessThan(row, chunk.live),
              [&](OpBuilder &b, Location loc) {
                Value at = e.add(chunk.start, row);
                scf::YieldOp::create(
                    b, loc,
                    memref::LoadOp::create(b, loc, chunk.ids, at).getResult());
              },
              [&](OpBuilder &b, Location loc) {
                scf::YieldOp::create(b, loc, e.i32(-1));
              })
              .getResult(0));
    }
    return loaded;
  }

  /// A thread's elements of a tile that ops take element by element, of the
  /// step that was entered.
  RegisterTile readDirectly(BlockArgument tile) {
    unsigned number = tile.getArgNumber(), loaded = mainloop.getNumLoaded();
    Value source =
        number < loaded
            ? mainloop.getLoad().front().getTerminator()->getOperand(number)
            : mainloop.getOnce()[number - loaded];
    if (auto coords = source.getDefiningOp<CoordsOp>())
      return readCoords(tile, coords.getIds());
    auto view = source.getDefiningOp<ViewOp>();
    return readElements(tile, number < loaded ? steps.access(number)
                                              : accessView(e, view, chunks));
  }

  /// Coordinates of ids; -1 of those that are absent.
  RegisterTile readCoords(BlockArgument tile, Value ids) {
    const ChunkView &chunk = chunks.at(ids);
    RegisterTile registers = shapeOf(tile);
    SmallVector<Value> places =
        registers.hasRows ? rows
                          : colsOf(plan.info.extent(tile, TileRole::Col));
    Value live = e.toI32(chunk.live);
    for (auto [place, value] : llvm::zip(places, registers.values)) {
      Value exists = e.lessThan(place, live);
      Value at =
          e.add(chunk.start, e.toIndex(e.select(exists, place, e.i32(0))));
      // Without a sign, LLVM knows that what exists is not -1.
      if (chunk.ids)
        at = arith::IndexCastUIOp::create(
            e.b, e.loc, e.b.getIndexType(),
            memref::LoadOp::create(e.b, e.loc, chunk.ids, at));
      value = e.select(exists, at, e.index(-1));
    }
    return registers;
  }

  RegisterTile readElements(BlockArgument tile, const TileAccess &access) {
    RegisterTile registers = shapeOf(tile);
    ArrayRef<TileRole> roles = plan.info.rolesOf(tile);
    SmallVector<Value> cols = colsOf(plan.info.extent(tile, TileRole::Col));
    // Where they are along each dimension, by row, by column, or at all.
    SmallVector<SmallVector<std::pair<Value, Value>>> places;
    for (auto [d, role] : llvm::enumerate(roles)) {
      SmallVector<Value> positions = role == TileRole::Row ? rows
                                     : role == TileRole::Col
                                         ? cols
                                         : SmallVector<Value>{e.i32(0)};
      auto &found = places.emplace_back();
      for (Value position : positions)
        found.push_back(locate(e, access.dims[d], e.toIndex(position)));
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
        registers.at(i, j) =
            scf::IfOp::create(
                e.b, e.loc, exists,
                [&](OpBuilder &b, Location loc) {
                  scf::YieldOp::create(b, loc,
                                       e.load(access.element, from, bytes));
                },
                [&](OpBuilder &b, Location loc) {
                  scf::YieldOp::create(b, loc, e.constant(access.pad));
                })
                .getResult(0);
      }
    return registers;
  }

  //===--- Steps ----------------------------------------------------------===//

  /// First values of what is carried, all in a row.
  SmallVector<Value> initial() {
    SmallVector<Value> values;
    Block &init = mainloop.getInit().front();
    IRMapping mapping;
    for (Operation &op : init.without_terminator())
      e.b.clone(op, mapping);
    for (auto [tile, value] : llvm::zip(mainloop.getCarriedTiles(),
                                        init.getTerminator()->getOperands()))
      values.append(shapeOf(tile).values.size(),
                    mapping.lookupOrDefault(value));
    return values;
  }

  SmallVector<Value> step(Value s, Value stage, ValueRange carried) {
    steps.enter(s);
    numbers = IRMapping();
    auto loaded = mainloop.getLoad().front().getTerminator()->getOperands();
    for (auto [argument, value] : llvm::zip(
             mainloop.getNumbers(), loaded.drop_front(mainloop.getNumLoaded())))
      numbers.map(argument, steps.lookup(value));
    for (BlockArgument tile : mainloop.getLoadedTiles())
      if (plan.info.has(tile))
        tiles[tile] = readDirectly(tile);
    for (BlockArgument tile : mainloop.getCarriedTiles()) {
      RegisterTile registers = shapeOf(tile);
      size_t count = registers.values.size();
      registers.values.assign(carried.begin(), carried.begin() + count);
      carried = carried.drop_front(count);
      tiles[tile] = registers;
    }
    Block &compute = mainloop.getCompute().front();
    for (Operation &op : compute.without_terminator())
      tiles[op.getResult(0)] = isa<ContractOp>(op)
                                   ? contract(cast<ContractOp>(op), stage)
                                   : computeElements(cast<PointwiseOp>(op));
    SmallVector<Value> next;
    for (Value tile : compute.getTerminator()->getOperands())
      llvm::append_range(next, tiles.at(tile).values);
    return next;
  }

  RegisterTile contract(ContractOp op, Value stage) {
    bool isComputed = !isa<BlockArgument>(op.getLhs());
    return multiplyInBody({self, plan, origin, stage}, op,
                          tiles.at(op.getAcc()),
                          isComputed ? &tiles.at(op.getLhs()) : nullptr);
  }

  RegisterTile computeElements(PointwiseOp op) {
    RegisterTile result = shapeOf(op.getResult());
    SmallVector<TileRole> roles = plan.info.dimRoles(op);
    int64_t columns = 1;
    bool hasRows = false;
    for (auto [d, role] : llvm::enumerate(roles)) {
      if (op.getTile()[d] == 1)
        continue;
      hasRows |= role == TileRole::Row;
      if (role == TileRole::Col)
        columns = op.getTile()[d];
    }
    SmallVector<Value> cols = colsOf(columns);
    size_t rowCount = hasRows ? rows.size() : 1;
    auto reduction = plan.reductions.find(op);
    bool reduces = reduction != plan.reductions.end();
    if (reduces)
      llvm::fill(result.values, e.constant(reduction->second.identity));
    for (size_t i = 0; i < rowCount; ++i)
      for (size_t j = 0; j < cols.size(); ++j)
        result.at(i, j) = elementOf(op, roles, i, j, cols,
                                    reduces ? result.at(i, j) : Value());
    if (reduces)
      combineParts(op, reduction->second.combiner, columns > 1, result);
    return result;
  }

  Value elementOf(PointwiseOp op, ArrayRef<TileRole> roles, size_t i, size_t j,
                  ArrayRef<Value> cols, Value before) {
    IRMapping scalars = numbers;
    Block &body = op.getBody().front();
    auto argument = body.args_begin();
    for (auto [d, role] : llvm::enumerate(roles)) {
      BlockArgument point = *argument++;
      if (!point.use_empty())
        scalars.map(point, e.toIndex(op.getTile()[d] == 1    ? e.i32(0)
                                     : role == TileRole::Row ? rows[i]
                                                             : cols[j]));
    }
    for (Value input : op.getInputs())
      scalars.map(*argument++, tiles.at(input).at(i, j));
    if (before)
      scalars.map(*argument, before);
    for (Operation &scalar : body.without_terminator()) {
      auto compare = dyn_cast<arith::CmpIOp>(scalar);
      if (Value known = compare ? comparePlaces(compare, scalars) : Value())
        scalars.map(compare.getResult(), known);
      else
        e.b.clone(scalar, scalars);
    }
    return scalars.lookupOrDefault(body.getTerminator()->getOperand(0));
  }

  /// A comparison of places in the tile with something that is the same for all
  /// of its elements, as masks of edges and causal ones are: in 32 bits, of
  /// which the latter is computed once. Null: it is another one.
  Value comparePlaces(arith::CmpIOp op, IRMapping &scalars) {
    if (!op.getLhs().getType().isIndex() ||
        op.getPredicate() > arith::CmpIPredicate::sge)
      return {};
    Value places, limit = e.index(0);
    if (!splitPlaces(op.getLhs(), scalars, /*adds=*/true, places, limit) ||
        !splitPlaces(op.getRhs(), scalars, /*adds=*/false, places, limit) ||
        !places)
      return {};
    // What is so far away decides as what is infinitely far away does.
    limit = e.max(e.min(limit, e.index(1 << 30)), e.index(-(1 << 30)));
    return arith::CmpIOp::create(e.b, e.loc, op.getPredicate(), places,
                                 e.toI32(limit));
  }

  /// Adds the rows and columns that `value` is a sum of to `places`, or
  /// subtracts them, and the rest the other way round to `limit`.
  bool splitPlaces(Value value, IRMapping &scalars, bool adds, Value &places,
                   Value &limit) {
    auto inBody = dyn_cast<BlockArgument>(value);
    Operation *op = value.getDefiningOp();
    bool isOwn = isa<PointwiseOp>(value.getParentRegion()->getParentOp());
    if (!isOwn || (op && op->hasTrait<OpTrait::ConstantLike>())) {
      Value same =
          isOwn ? e.b.clone(*op)->getResult(0) : scalars.lookupOrDefault(value);
      limit = adds ? e.sub(limit, same) : e.add(limit, same);
      return true;
    }
    if (inBody) {
      auto cast =
          scalars.lookupOrDefault(value).getDefiningOp<arith::IndexCastOp>();
      if (!cast || !cast.getIn().getType().isInteger(32))
        return false;
      Value place = cast.getIn();
      if (places || !adds)
        places = adds ? e.add(places, place)
                      : e.sub(places ? places : e.i32(0), place);
      else
        places = place;
      return true;
    }
    bool isSum = isa_and_nonnull<arith::AddIOp>(op);
    if (!isSum && !isa_and_nonnull<arith::SubIOp>(op))
      return false;
    return splitPlaces(op->getOperand(0), scalars, adds, places, limit) &&
           splitPlaces(op->getOperand(1), scalars, isSum ? adds : !adds, places,
                       limit);
  }

  /// Of what is reduced along columns, four lanes have a part each.
  void combineParts(PointwiseOp op, Operation *combiner, bool alongCols,
                    RegisterTile &result) {
    auto combine = [&](Value x, Value y) {
      Operation *clone = e.b.clone(*combiner);
      clone->setOperands({x, y});
      return clone->getResult(0);
    };
    RegisterTile &first = tiles.at(op.getAcc());
    for (size_t i = 0; i < result.rows; ++i)
      for (size_t j = 0; j < result.cols; ++j) {
        Value &value = result.at(i, j);
        if (alongCols && !result.hasCols)
          for (int64_t apart : {1, 2})
            value = combine(value, shuffleLanes(e.b, e.loc, value, apart));
        value = combine(first.at(i, j), value);
      }
  }

  //===--- Results --------------------------------------------------------===//

  /// The elements of all that is carried, as the epilogue has them: of each row
  /// and column of the result.
  SmallVector<Value> resultElements(ArrayRef<Value> carried,
                                    const Fragment &fragment) {
    SmallVector<Value> elements;
    for (BlockArgument tile : mainloop.getCarriedTiles()) {
      RegisterTile registers = shapeOf(tile);
      size_t count = registers.values.size();
      registers.values.assign(carried.begin(), carried.begin() + count);
      carried = carried.drop_front(count);
      for (size_t i = 0; i < fragment.rows.size(); ++i)
        for (size_t j = 0; j < fragment.cols.size(); ++j)
          elements.push_back(registers.at(i, j));
    }
    return elements;
  }

  AmpereThread self;
  Emitter &e;
  const AmpereBodyPlan &plan;
  MainloopOp mainloop;
  ChunkMap &chunks;
  MainloopSteps steps;
  StageRing ring;
  std::function<void(Value, Value)> load;
  SmallVector<Value> ids;  ///< of the rows of the step that is loaded next
  Value lane, origin;      ///< in the warp; its first row
  SmallVector<Value> rows; ///< of this thread
  DenseMap<Value, RegisterTile> tiles;
  IRMapping numbers; ///< of the step
};

} // namespace

void cuda::lowerTileBody(const AmpereThread &self, const AmpereBodyPlan &plan,
                         MainloopOp mainloop, KernelValues values) {
  // Ids of steps are of no use after it.
  ChunkMap chunks = values.chunks;
  BodyExpander(self, plan, mainloop, {chunks, values.indices}).run();
}
