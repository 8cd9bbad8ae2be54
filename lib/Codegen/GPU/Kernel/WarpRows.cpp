//===- WarpRows.cpp - Rows in the registers of a warp ---------------------===//

#include "WarpRows.h"

#include "Codegen/GPU/Common/Emitter.h"
#include "Codegen/GPU/Common/LinalgLowering.h"
#include "Codegen/GPU/Common/TileLoop.h"

#include "Codegen/Common/TileInput.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Elements of a row that a lane has side by side: 16 bytes of f32.
static constexpr int64_t kRun = 4;
/// Elements of a row that a lane has, at most.
static constexpr int64_t kMostElements = 64;

//===----------------------------------------------------------------------===//
// Recognizing such a loop
//===----------------------------------------------------------------------===//

/// The dimension of a tile along which its row lies; none of a single element.
static std::optional<unsigned> findRowDim(ArrayRef<int64_t> shape) {
  for (auto [d, extent] : llvm::enumerate(shape))
    if (extent != 1)
      return d;
  return std::nullopt;
}

/// The loop of an op that goes along the row; none of one on single elements.
static std::optional<unsigned> findRowLoop(linalg::LinalgOp op) {
  return findRowDim(op.getStaticLoopRanges());
}

static bool isOfRow(linalg::LinalgOp op, OpOperand *operand) {
  std::optional<unsigned> row = findRowLoop(op);
  return row && op.getMatchingIndexingMap(operand).isFunctionOfDim(*row);
}

/// Can lanes combine what they have of an output?
static bool canCombine(linalg::LinalgOp op, unsigned output) {
  Type type = getElementTypeOrSelf(op.getDpsInits()[output].getType());
  FailureOr<Combiner> combiner = matchCombiner(op, output);
  return succeeded(combiner) && identityOf(combiner->ops.front(), type) &&
         (isa<IndexType>(type) ||
          (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64));
}

namespace {
/// Looks at a loop's ops.
class Matcher {
public:
  explicit Matcher(ForallOp loop) : loop(loop) {}

  /// The length of the rows, if all ops are right and one reduces a row.
  std::optional<int64_t> run() {
    bool isRight = !loop.getBody()
                        ->walk<WalkOrder::PreOrder>([&](Operation *op) {
                          if (!takes(op))
                            return WalkResult::interrupt();
                          return isa<linalg::LinalgOp>(op)
                                     ? WalkResult::skip()
                                     : WalkResult::advance();
                        })
                        .wasInterrupted();
    // Other lanes may have written what a lane reads.
    bool isApart = llvm::none_of(
        read, [&](Value memref) { return written.contains(memref); });
    bool fits = length % kWarp == 0 && length <= kMostElements * kWarp;
    if (isRight && isApart && reduces && fits)
      return length;
    return std::nullopt;
  }

private:
  /// A tile of the loop, all of whose elements are one row, or one element.
  bool isTile(Value memref) {
    auto alloc = memref.getDefiningOp<memref::AllocOp>();
    if (!alloc || !loop->isAncestor(alloc))
      return false;
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity())
      return false;
    int64_t size = type.getNumElements();
    if (size == 1)
      return true;
    std::optional<unsigned> row = findRowDim(type.getShape());
    if (type.getDimSize(*row) != size || (length && length != size))
      return false;
    length = size;
    return true;
  }

  /// Does a tile move from or to a place of a tensor, which goes to `into`?
  bool moves(Value tile, Value tensor, ValueRange subscripts,
             llvm::SmallDenseSet<Value> &into) {
    Value root = rootOf(tensor);
    into.insert(root);
    return isTile(tile) && isa_and_nonnull<BlockArgument>(root) &&
           llvm::all_of(subscripts, [](Value subscript) {
             return isa<IndexType>(subscript.getType());
           });
  }

  bool takes(linalg::LinalgOp op) {
    if (!op.hasPureBufferSemantics())
      return false;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    for (OpOperand &operand : op->getOpOperands()) {
      if (op.isScalar(&operand))
        continue;
      if (!isTile(operand.get()))
        return false;
      // A row is gone through from its begin to its end.
      ArrayRef<int64_t> shape =
          cast<MemRefType>(operand.get().getType()).getShape();
      std::optional<unsigned> row = findRowDim(shape), by = findRowLoop(op);
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (row && (!by || map.getResult(*row) !=
                             getAffineDimExpr(*by, map.getContext())))
        return false;
    }
    std::optional<unsigned> row = findRowLoop(op);
    if (!row)
      return true;
    for (auto [d, range] : llvm::enumerate(ranges))
      if (d != *row && range != 1)
        return false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (isOfRow(op, &init))
        continue;
      if (!canCombine(op, init.getOperandNumber() - op.getNumDpsInputs()))
        return false;
      reduces = true;
    }
    return ranges[*row] == length;
  }

  bool takes(Operation *op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return takes(linalgOp);
    if (auto move = dyn_cast<SReadOp>(op))
      return !move.isWhole() &&
             moves(move.getDest(), move.getSrc(), move.getSubscripts(), read);
    if (auto move = dyn_cast<SWriteOp>(op))
      return !move.isWhole() && !move.getCombine() &&
             moves(move.getTile(), move.getDest(), move.getSubscripts(),
                   written);
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      return isTile(copy.getSource()) && isTile(copy.getTarget());
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return isTile(load.getMemRef()) &&
             load.getMemRefType().getNumElements() == 1;
    if (auto inner = dyn_cast<ForOp>(op))
      return !inner.getIndex();
    if (isa<memref::AllocOp, memref::DeallocOp, scf::ForOp, scf::IfOp>(op))
      return true;
    return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
           llvm::none_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
  }

  ForallOp loop;
  int64_t length = 0;
  bool reduces = false;
  llvm::SmallDenseSet<Value> read, written;
};
} // namespace

std::optional<WarpRows> cuda::matchWarpRows(func::FuncOp function) {
  ForallOp loop = matchOnlyLoop(function);
  if (!loop || loop.getIndex() || loop.getConflicts() != Conflicts::None)
    return std::nullopt;
  if (std::optional<int64_t> length = Matcher(loop).run())
    return WarpRows{loop, *length};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The code of a lane
//===----------------------------------------------------------------------===//

void cuda::placeInRegisters(RewriterBase &rewriter, const WarpRows &rows,
                            Block *entry) {
  SmallVector<memref::AllocOp> tiles;
  rows.loop->getBlock()->walk(
      [&](memref::AllocOp alloc) { tiles.push_back(alloc); });
  rewriter.setInsertionPointToStart(entry);
  auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  for (memref::AllocOp tile : tiles) {
    Location loc = tile.getLoc();
    MemRefType type = tile.getType();
    int64_t size = llvm::divideCeil(type.getNumElements(), kWarp);
    Value bytes = LLVM::ConstantOp::create(
        rewriter, loc, rewriter.getI64Type(),
        rewriter.getI64IntegerAttr(size * elementBytes(type.getElementType())));
    Value memory = LLVM::AllocaOp::create(rewriter, loc, pointer,
                                          rewriter.getI8Type(), bytes,
                                          /*alignment=*/16);
    rewriter.replaceOp(tile, memrefAt(rewriter, loc, memory, type, {}));
  }
}

namespace {
/// One op. All numbers are of type index.
class WarpRowEmitter {
public:
  WarpRowEmitter(RewriterBase &rewriter, Location loc, int64_t length,
                 Value lane)
      : rewriter(rewriter), loc(loc), e(rewriter, loc), lane(lane),
        elements(length / kWarp), run(elements % kRun == 0 ? kRun
                                      : elements % 2 == 0  ? 2
                                                           : 1) {}

  void read(SReadOp op);
  void write(SWriteOp op);
  void copy(memref::CopyOp op);
  void compute(linalg::LinalgOp op);

private:
  /// A tile of a tensor, whose dimension `row`, if there is one, is the row's.
  struct Place {
    Value tensor, tile;
    SmallVector<TileDimension> dims;
    std::optional<unsigned> row;
    Value isThere; ///< beside the row, or null
  };

  Place placeOf(const TileMove &move);
  /// The elements of a tile that a lane has.
  int64_t count(Value tile) {
    return cast<MemRefType>(tile.getType()).getNumElements() == 1 ? 1
                                                                  : elements;
  }
  SmallVector<Value> inTile(const Place &place, int64_t i);
  SmallVector<Value> inTensor(const Place &place, int64_t i);
  Value numberInRow(Value i);
  Value numberInRow(int64_t i);
  Value both(Value x, Value y) { return x ? e.logicalAnd(x, y) : y; }
  /// Whether element i exists; null if it does.
  Value exists(const Place &place, int64_t i);
  Value haveRuns(const Place &place);
  Value addressOf(const Place &place, int64_t i);
  VectorType runType(Type element);
  SmallVector<Value> loadRuns(const Place &place);
  void storeRuns(const Place &place, ArrayRef<Value> values);
  Value combineLanes(Operation *combiner, Value value);

  RewriterBase &rewriter;
  Location loc;
  Emitter e;
  Value lane;
  int64_t elements; ///< of a row, in a lane
  int64_t run;      ///< side by side
};
} // namespace

/// The place in its row of a lane's element i.
Value WarpRowEmitter::numberInRow(Value i) {
  Value runs = e.mul(e.div(i, run), run * kWarp);
  return e.add(e.add(runs, e.rem(i, run)), e.mul(lane, run));
}

Value WarpRowEmitter::numberInRow(int64_t i) {
  return e.add(e.mul(lane, run), i / run * run * kWarp + i % run);
}

//===----------------------------------------------------------------------===//
// Rows of tensors
//===----------------------------------------------------------------------===//

WarpRowEmitter::Place WarpRowEmitter::placeOf(const TileMove &move) {
  ArrayRef<int64_t> shape = cast<MemRefType>(move.tile.getType()).getShape();
  Place place{move.tensor,
              move.tile,
              tileDimensions(rewriter, loc,
                             {move.tensor, move.subscripts, shape}, ChunkMap()),
              findRowDim(shape),
              {}};
  for (auto [d, dim] : llvm::enumerate(place.dims))
    if (d != place.row && !dim.isFull())
      place.isThere = both(place.isThere, e.lessThan(e.index(0), dim.limit));
  return place;
}

SmallVector<Value> WarpRowEmitter::inTile(const Place &place, int64_t i) {
  SmallVector<Value> at(place.dims.size(), e.index(0));
  if (place.row)
    at[*place.row] = e.index(i);
  return at;
}

SmallVector<Value> WarpRowEmitter::inTensor(const Place &place, int64_t i) {
  SmallVector<Value> at;
  for (auto [d, dim] : llvm::enumerate(place.dims))
    at.push_back(d == place.row ? e.add(dim.start, numberInRow(i)) : dim.start);
  return at;
}

Value WarpRowEmitter::exists(const Place &place, int64_t i) {
  if (!place.row || place.dims[*place.row].isFull())
    return place.isThere;
  return both(place.isThere,
              e.lessThan(numberInRow(i), place.dims[*place.row].limit));
}

/// In memory an i1 is a byte.
VectorType WarpRowEmitter::runType(Type element) {
  return VectorType::get(run,
                         element.isInteger(1) ? rewriter.getI8Type() : element);
}

/// Whether all elements exist and runs of them are aligned vectors; null if
/// they never are.
Value WarpRowEmitter::haveRuns(const Place &place) {
  auto type = cast<MemRefType>(place.tensor.getType());
  Type element = type.getElementType();
  SmallVector<int64_t> strides;
  int64_t offset;
  bool isVector = place.row && *place.row + 1 == place.dims.size() &&
                  succeeded(type.getStridesAndOffset(strides, offset)) &&
                  strides.back() == 1 && element.isIntOrFloat() &&
                  llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()) &&
                  element.getIntOrFloatBitWidth() <= 32;
  if (!isVector || run == 1)
    return {};
  const TileDimension &dim = place.dims.back();
  Value aligned = e.isAligned(place.tensor, dim.start, Value(),
                              run * elementBytes(element));
  Value whole = e.lessThan(e.index(dim.extent - 1), dim.limit);
  return both(place.isThere, e.logicalAnd(aligned, whole));
}

/// Of the first element of a run.
Value WarpRowEmitter::addressOf(const Place &place, int64_t i) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, place.tensor);
  Value offset = metadata.getOffset();
  for (auto [at, stride] :
       llvm::zip_equal(inTensor(place, i), metadata.getStrides()))
    offset = e.add(offset, e.mul(at, stride));
  Type element = cast<MemRefType>(place.tensor.getType()).getElementType();
  offset = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(),
                                      e.mul(offset, elementBytes(element)));
  Value base = pointerOf(rewriter, loc, place.tensor);
  return LLVM::GEPOp::create(rewriter, loc, base.getType(),
                             rewriter.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

SmallVector<Value> WarpRowEmitter::loadRuns(const Place &place) {
  Type element = cast<MemRefType>(place.tensor.getType()).getElementType();
  VectorType type = runType(element);
  int64_t bytes = run * elementBytes(element);
  SmallVector<Value> values;
  for (int64_t i = 0; i < elements; i += run) {
    Value loaded = e.load(type, addressOf(place, i), bytes);
    for (int64_t j = 0; j < run; ++j)
      values.push_back(convertElements(
          rewriter, loc, vector::ExtractOp::create(rewriter, loc, loaded, j),
          element));
  }
  return values;
}

void WarpRowEmitter::storeRuns(const Place &place, ArrayRef<Value> values) {
  Type element = cast<MemRefType>(place.tensor.getType()).getElementType();
  VectorType type = runType(element);
  for (int64_t i = 0; i < elements; i += run) {
    SmallVector<Value> each;
    for (Value value : values.slice(i, run))
      each.push_back(
          convertElements(rewriter, loc, value, type.getElementType()));
    Value vector = vector::FromElementsOp::create(rewriter, loc, type, each);
    e.store(vector, addressOf(place, i), run * elementBytes(element));
  }
}

void WarpRowEmitter::read(SReadOp op) {
  Place place = placeOf({op.getSrc(), op.getDest(), op.getSubscripts()});
  Type inTileType = op.getTileType().getElementType();
  Value pad = e.constant(op.getPadOrZero());
  auto widen = [&](Value value) {
    return convertElements(rewriter, loc, value, inTileType);
  };
  auto loadEach = [&] {
    SmallVector<Value> values;
    for (int64_t i = 0; i < count(op.getDest()); ++i) {
      auto load = [&] {
        return widen(memref::LoadOp::create(rewriter, loc, op.getSrc(),
                                            inTensor(place, i)));
      };
      Value isThere = exists(place, i);
      values.push_back(isThere ? e.choose(isThere, load, [&] { return pad; })
                               : load());
    }
    return values;
  };
  auto loadTogether = [&] {
    return llvm::map_to_vector(loadRuns(place), widen);
  };
  Value together = haveRuns(place);
  SmallVector<Value> values =
      together ? e.choose(together, loadTogether, loadEach) : loadEach();
  for (auto [i, value] : llvm::enumerate(values))
    memref::StoreOp::create(rewriter, loc, value, op.getDest(),
                            inTile(place, i));
}

void WarpRowEmitter::write(SWriteOp op) {
  Place place = placeOf({op.getDest(), op.getTile(), op.getSubscripts()});
  SmallVector<Value> values;
  for (int64_t i = 0; i < count(op.getTile()); ++i)
    values.push_back(convertElements(
        rewriter, loc,
        memref::LoadOp::create(rewriter, loc, op.getTile(), inTile(place, i)),
        op.getDestType().getElementType()));
  auto storeEach = [&] {
    for (auto [i, value] : llvm::enumerate(values)) {
      auto store = [&, i = i, value = value] {
        memref::StoreOp::create(rewriter, loc, value, op.getDest(),
                                inTensor(place, i));
      };
      if (Value isThere = exists(place, i))
        e.ifThen(isThere, store);
      else
        store();
    }
  };
  if (Value together = haveRuns(place))
    e.ifThen(together, [&] { storeRuns(place, values); }, storeEach);
  else
    storeEach();
}

void WarpRowEmitter::copy(memref::CopyOp op) {
  auto shape = cast<MemRefType>(op.getSource().getType()).getShape();
  std::optional<unsigned> row = findRowDim(shape);
  for (int64_t i = 0; i < count(op.getSource()); ++i) {
    SmallVector<Value> at(shape.size(), e.index(0));
    if (row)
      at[*row] = e.index(i);
    Value value = memref::LoadOp::create(rewriter, loc, op.getSource(), at);
    memref::StoreOp::create(rewriter, loc, value, op.getTarget(), at);
  }
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

static std::optional<NVVM::ReduxKind> findRedux(Operation *combiner) {
  return llvm::TypeSwitch<Operation *, std::optional<NVVM::ReduxKind>>(combiner)
      .Case([](arith::AddIOp) { return NVVM::ReduxKind::ADD; })
      .Case([](arith::MinSIOp) { return NVVM::ReduxKind::MIN; })
      .Case([](arith::MaxSIOp) { return NVVM::ReduxKind::MAX; })
      .Case([](arith::MinUIOp) { return NVVM::ReduxKind::UMIN; })
      .Case([](arith::MaxUIOp) { return NVVM::ReduxKind::UMAX; })
      .Case([](arith::AndIOp) { return NVVM::ReduxKind::AND; })
      .Case([](arith::OrIOp) { return NVVM::ReduxKind::OR; })
      .Case([](arith::XOrIOp) { return NVVM::ReduxKind::XOR; })
      .Default([](Operation *) { return std::nullopt; });
}

static Value combine(RewriterBase &rewriter, Operation *combiner, Value x,
                     Value y) {
  Operation *clone = rewriter.clone(*combiner);
  clone->setOperands({x, y});
  return clone->getResult(0);
}

/// What all lanes have of a value, in all of them. The same numbers are
/// combined in each.
Value WarpRowEmitter::combineLanes(Operation *combiner, Value value) {
  std::optional<NVVM::ReduxKind> kind = findRedux(combiner);
  if (kind && value.getType().isInteger(32))
    return NVVM::ReduxOp::create(rewriter, loc, value.getType(), value, *kind,
                                 e.i32(-1));
  for (int64_t apart = kWarp / 2; apart; apart /= 2)
    value = combine(rewriter, combiner, value,
                    shuffleLanes(rewriter, loc, value, apart));
  return value;
}

void WarpRowEmitter::compute(linalg::LinalgOp op) {
  std::optional<unsigned> row = findRowLoop(op);
  op->walk([&](linalg::IndexOp index) {
    if (index.getDim() != row)
      return;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfter(index);
    Value at = index.getResult();
    SmallPtrSet<Operation *, 8> users(at.user_begin(), at.user_end());
    Value number = numberInRow(at);
    rewriter.replaceUsesWithIf(at, number, [&](OpOperand &use) {
      return users.contains(use.getOwner());
    });
  });
  PointEmitter emitter(rewriter, op, /*start=*/{});
  Point first{SmallVector<Value>(op.getNumLoops(), e.index(0)),
              SmallVector<int64_t>(op.getNumLoops(), 0)};
  SmallVector<Point> points(row ? elements : 1, first);
  if (row)
    for (auto [i, point] : llvm::enumerate(points)) {
      point.ivs[*row] = e.index(i);
      point.inBlock[*row] = i;
    }
  SmallVector<unsigned> reduced;
  SmallVector<Value> starts(op.getNumDpsInits());
  for (OpOperand &init : op.getDpsInitsMutable()) {
    unsigned output = init.getOperandNumber() - op.getNumDpsInputs();
    if (!row || isOfRow(op, &init))
      continue;
    reduced.push_back(output);
    starts[output] =
        e.constant(identityOf(emitter.combiners[output]->ops.front(),
                              getElementTypeOrSelf(init.get().getType())));
  }
  SmallVector<SmallVector<Value>> carried(points.size(), starts);
  emitter.run(points, carried);
  for (unsigned output : reduced) {
    Operation *combiner = emitter.combiners[output]->ops.front();
    for (size_t apart = 1; apart < points.size(); apart *= 2)
      for (size_t i = 0; i + apart < points.size(); i += 2 * apart)
        carried[i][output] = combine(rewriter, combiner, carried[i][output],
                                     carried[i + apart][output]);
    Value value = combineLanes(combiner, carried.front()[output]);
    value =
        combine(rewriter, combiner, emitter.loadOutput(first, output), value);
    emitter.storeOutput(first, output, value);
  }
}

void cuda::lowerWarpRow(RewriterBase &rewriter, Operation *op,
                        const WarpRows &rows, Value lane) {
  WarpRowEmitter emitter(rewriter, op->getLoc(), rows.length, lane);
  if (auto move = dyn_cast<SReadOp>(op))
    emitter.read(move);
  else if (auto move = dyn_cast<SWriteOp>(op))
    emitter.write(move);
  else if (auto copy = dyn_cast<memref::CopyOp>(op))
    emitter.copy(copy);
  else
    emitter.compute(cast<linalg::LinalgOp>(op));
}
