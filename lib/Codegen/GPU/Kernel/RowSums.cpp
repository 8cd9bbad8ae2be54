//===- RowSums.cpp - Sums over the rows of a matrix -----------------------===//

#include "RowSums.h"

#include "Codegen/GPU/Common/Emitter.h"
#include "Codegen/GPU/Common/LinalgLowering.h"
#include "Codegen/GPU/Common/MainloopNest.h"

#include "pit/Analysis/BodyEvaluator.h"
#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Bytes that a thread reads at once.
static constexpr int64_t kAccessBytes = 16;
/// Rows that a thread reads before it adds the first of them, at most.
static constexpr int64_t kRowsAtOnce = 8;
/// The fewest rows of a part, and the most splits: the last block reads the
/// sums of all.
static constexpr int64_t kLeastRows = 64, kMostSplits = 128;
/// Partial sums that a thread reads at once.
static constexpr int64_t kPartialsAtOnce = 16;

//===----------------------------------------------------------------------===//
// Recognizing such a loop
//===----------------------------------------------------------------------===//

/// The only op of a kind in a block, if beside it there is nothing but what
/// `isElse` takes, and what has no effects.
template <typename OpTy>
static OpTy findOnly(Block &block, function_ref<bool(Operation *)> isElse) {
  OpTy found;
  for (Operation &op : block.without_terminator()) {
    if (auto next = dyn_cast<OpTy>(op)) {
      if (found)
        return {};
      found = next;
    } else if (!isMemoryEffectFree(&op) && !isElse(&op)) {
      return {};
    }
  }
  return found;
}

/// The dimension of what `read` reads along which the loop moves; nothing if it
/// is not one but the last, whose tile has other dimensions of one element
/// only.
static std::optional<unsigned> findRowDim(ForOp rows, SReadOp read) {
  bool byIds = static_cast<bool>(rows.getIndex());
  auto moves = [&](Value subscript) {
    return byIds
               ? subscript == rows.getIds() || subscript == rows.getPositions()
               : subscript == rows.getInductionVars().front();
  };
  std::optional<unsigned> found;
  ArrayRef<int64_t> tile = read.getTileType().getShape();
  for (auto [d, subscript] : llvm::enumerate(read.getSubscripts())) {
    if (moves(subscript)) {
      if (found || d + 1 == tile.size())
        return std::nullopt;
      found = d;
      continue;
    }
    bool isKnown = !rows.getRegion().isAncestor(subscript.getParentRegion());
    if (!isKnown || !isa<IndexType>(subscript.getType()) ||
        (d + 1 < tile.size() && tile[d] != 1))
      return std::nullopt;
  }
  return found;
}

/// Does the op reduce rows of a tile, and nothing else, to its last dimension?
static bool reducesRows(linalg::LinalgOp sum, unsigned rowDim) {
  if (sum.getNumDpsInputs() != 1 || sum.getNumDpsInits() != 1 ||
      !sum.hasPureBufferSemantics() || sum.hasIndexSemantics())
    return false;
  AffineMap from = sum.getMatchingIndexingMap(sum.getDpsInputOperand(0));
  AffineMap to = sum.getMatchingIndexingMap(sum.getDpsInitOperand(0));
  if (!from.isPermutation() || !to.isProjectedPermutation() ||
      to.getNumResults() == 0)
    return false;
  unsigned row = from.getDimPosition(rowDim);
  unsigned column = from.getDimPosition(from.getNumResults() - 1);
  return !to.isFunctionOfDim(row) &&
         to.getDimPosition(to.getNumResults() - 1) == column;
}

/// Is a sum the same with and without an element of this value? Rows that do
/// not exist are left out.
static bool addsNothing(linalg::LinalgOp sum, TypedAttr element) {
  BodyEvaluator evaluator(sum, Arithmetic::Computed);
  evaluator.assume(0, element);
  evaluator.run();
  return evaluator.lookup(getYielded(sum, 0)) == Known(getAccumulator(sum, 0));
}

std::optional<RowSums> cuda::matchRowSums(func::FuncOp function,
                                          int64_t threads) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return std::nullopt;
  RowSums found;
  found.tiles =
      findOnly<ForallOp>(function.front(), [](Operation *op) { return false; });
  if (!found.tiles || found.tiles.getIndex() ||
      found.tiles.getConflicts() != Conflicts::None)
    return std::nullopt;
  found.rows = findOnly<ForOp>(*found.tiles.getBody(), [](Operation *op) {
    auto write = dyn_cast<SWriteOp>(op);
    return isa<memref::AllocOp, memref::DeallocOp, SReadOp, linalg::LinalgOp>(
               op) ||
           (write && !write.getCombine());
  });
  ForOp rows = found.rows;
  if (!rows || rows.getConflicts() != Conflicts::None ||
      rows.getNumResults() != 0 ||
      rows.getSteps().size() != (rows.getIndex() ? 0 : 1))
    return std::nullopt;
  memref::AllocOp tile;
  for (Operation &op : rows.getBody()->without_terminator()) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op); alloc && !tile)
      tile = alloc;
    else if (auto read = dyn_cast<SReadOp>(op); read && !found.read)
      found.read = read;
    else if (auto sum = dyn_cast<linalg::LinalgOp>(op); sum && !found.sum)
      found.sum = sum;
    else if (!isa<memref::DeallocOp>(op))
      return std::nullopt;
  }
  if (!tile || !found.read || !found.sum ||
      found.read.getDest() != tile.getResult() ||
      found.sum.getDpsInputs().size() != 1 ||
      found.sum.getDpsInputs()[0] != tile.getResult())
    return std::nullopt;
  std::optional<unsigned> rowDim = findRowDim(rows, found.read);
  if (!rowDim || !reducesRows(found.sum, *rowDim))
    return std::nullopt;
  found.rowDim = *rowDim;

  auto acc = found.sum.getDpsInits()[0].getDefiningOp<memref::AllocOp>();
  if (!acc || acc->getBlock() != found.tiles.getBody() ||
      !acc->isBeforeInBlock(rows))
    return std::nullopt;
  MemRefType accType = acc.getType();
  found.columns = tile.getType().getShape().back();
  auto source = cast<MemRefType>(found.read.getSrc().getType());
  Type element = source.getElementType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!accType.hasStaticShape() || accType.getNumElements() != found.columns ||
      accType.getShape().back() != found.columns ||
      element != tile.getType().getElementType() || !hasVectors(element) ||
      !hasVectors(accType.getElementType()) ||
      failed(source.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return std::nullopt;
  int64_t lanes = kAccessBytes / elementBytes(element);
  if (found.columns > lanes * threads)
    return std::nullopt;
  FailureOr<Combiner> combiner = matchCombiner(found.sum, 0);
  if (!addsNothing(found.sum, found.read.getPadOrZero()) || failed(combiner) ||
      !identityOf(combiner->ops.front(), accType.getElementType()))
    return std::nullopt;
  return found;
}

int64_t cuda::chooseSplitsOfRows(const RowSums &sums) {
  ForOp rows = sums.rows;
  if (rows.getIndex())
    return kMostSplits;
  int64_t trips = tripsOf(rows.getLower()[0], rows.getUpper()[0], 1);
  return trips < 0 ? kMostSplits
                   : std::clamp<int64_t>(trips / kLeastRows, 1, kMostSplits);
}

RowSumsLowering::RowSumsLowering(RewriterBase &rewriter, const RowSums &found)
    : RowSumsLoop{found.rows, {}, found.rowDim, found.columns, {}, {}} {
  SReadOp read = found.read;
  linalg::LinalgOp sum = found.sum;
  Location loc = sum.getLoc();
  Value acc = sum.getDpsInits()[0];
  auto accType = cast<MemRefType>(acc.getType());
  combiner = matchCombiner(sum, 0)->ops.front();
  identity = identityOf(combiner, accType.getElementType());
  body.takeBody(sum->getRegion(0));

  rewriter.setInsertionPoint(read);
  view = ViewOp::create(rewriter, loc,
                        VectorType::get(read.getTileType().getShape(),
                                        read.getTileType().getElementType()),
                        read.getSrc(), read.getSubscripts(), read.getPadAttr());
  Value zero = constantIndex(rewriter, loc, 0);
  sums = ViewOp::create(
      rewriter, loc,
      VectorType::get(accType.getShape(), accType.getElementType()), acc,
      SmallVector<Value>(accType.getRank(), zero), TypedAttr());
  Value tile = read.getDest();
  rewriter.eraseOp(sum);
  rewriter.eraseOp(read);
  for (Operation *user : llvm::make_early_inc_range(tile.getUsers()))
    rewriter.eraseOp(user); // the end of its life
  rewriter.eraseOp(tile.getDefiningOp());

  rewriter.setInsertionPointAfter(rows);
  Value always =
      arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
  rest = scf::IfOp::create(rewriter, loc, always, /*withElseRegion=*/false);
  Block *to = rest.thenBlock();
  Block *from = rows->getBlock();
  to->getOperations().splice(
      to->getTerminator()->getIterator(), from->getOperations(),
      std::next(rest->getIterator()), from->getTerminator()->getIterator());
}

int64_t RowSumsLowering::partialBytes() const {
  return columns * elementBytes(identity.getType());
}

//===----------------------------------------------------------------------===//
// The loop over rows
//===----------------------------------------------------------------------===//

namespace {
/// The code of one thread of a block. All numbers are of type index.
class RowSumsEmitter : RowSumsLoop {
public:
  RowSumsEmitter(RewriterBase &rewriter, const RowSumsBlock &block,
                 const RowSumsLoop &loop, Block *body)
      : RowSumsLoop(loop), rewriter(rewriter), e(rewriter, rows.getLoc()),
        loc(rows.getLoc()), block(block), body(body), source(view.getSrc()),
        element(cast<MemRefType>(source.getType()).getElementType()),
        lanes(kAccessBytes / elementBytes(element)),
        threadsOfRow(llvm::divideCeil(columns, lanes)),
        rowsOfBlock(block.threads / threadsOfRow) {}

  /// Adds up the rows of this block's part; what comes after is for the block
  /// for which this is true. `acc` is where the sums are added.
  Value run(Value acc, const IndexMap &indices);

private:
  void findRows(const IndexMap &indices);
  void findPart();
  Value load(Value rowAt, Value columnAt, Type type);
  Value add(Value sum, Value element, Value exists);
  std::pair<Value, SmallVector<Value>> addRows(Value from, ValueRange sums,
                                               int64_t atOnce, bool asVectors,
                                               bool toTheEnd);
  SmallVector<Value> addRows(bool asVectors);
  Value combine(Value a, Value b);
  Value start() { return e.constant(identity); }
  /// Leaves the sums of all threads in shared memory.
  Value stage(ArrayRef<Value> own);
  /// The sum of a column over so many rows in shared memory.
  Value sumOfRows(Value staged, int64_t rows, Value column);
  Value sumOfBlock(Value staged, Value column) {
    return sumOfRows(staged, rowsOfBlock, column);
  }
  void shareColumns(function_ref<void(Value column)> each);
  void addTo(Value acc, Value column, Value sum);
  Value slotOf(Value part);
  Value stageParts(int64_t &groups);

  RewriterBase &rewriter;
  Emitter e;
  Location loc;
  const RowSumsBlock &block;
  Block *body;
  Value source;
  Type element;
  int64_t lanes, threadsOfRow, rowsOfBlock;
  Value total;        ///< rows of the tile
  Value first;        ///< coordinate or, with ids, position of the first one
  Value ids;          ///< memref<?xi32>, null if coordinates are consecutive
  Value part, splits; ///< this block's, and how many the tile has
  Value begin, end;   ///< rows of this block, from the tile's first one
  Value row, column;  ///< of this thread, in those, and in the tensor
  Value numRows, numColumns; ///< of the tensor
};
} // namespace

void RowSumsEmitter::findRows(const IndexMap &indices) {
  numRows = memref::DimOp::create(rewriter, loc, source, rowDim);
  numColumns = memref::DimOp::create(rewriter, loc, source,
                                     view.getSubscripts().size() - 1);
  LoopBounds bounds = loopBounds(rewriter, rows, indices);
  if (!rows.getIndex()) {
    // Rows before the first one do not exist, nor do those past the last.
    first = e.max(bounds.lower[0], e.index(0));
    Value last = e.min(bounds.upper[0], numRows);
    total = e.max(e.sub(last, first), e.index(0));
  } else {
    first = bounds.offset;
    total = bounds.count;
    if (view.getSubscripts()[rowDim] == rows.getIds())
      ids = indices.at(rows.getIndex()).ids;
    else
      total = e.max(e.min(total, e.sub(numRows, first)), e.index(0));
  }
  // So that there is a row and a column to be read in the place of one that
  // does not exist.
  Value exists = e.logicalAnd(e.lessThan(e.index(0), numRows),
                              e.lessThan(e.index(0), numColumns));
  for (auto [d, subscript] : llvm::enumerate(view.getSubscripts())) {
    if (d == rowDim || d + 1 == view.getSubscripts().size())
      continue;
    Value size = memref::DimOp::create(rewriter, loc, source, d);
    exists = e.logicalAnd(exists, e.inRange(subscript, size));
  }
  total = e.select(exists, total, e.index(0));
}

void RowSumsEmitter::findPart() {
  if (!block.partials) {
    begin = part = e.index(0);
    splits = e.index(1);
    end = total;
    return;
  }
  auto y = gpu::Dimension::y;
  part = gpu::BlockIdOp::create(rewriter, loc, y);
  auto own = pitgpu::StepsOfSplitOp::create(
      rewriter, loc, part, gpu::GridDimOp::create(rewriter, loc, y), total,
      rewriter.getI64IntegerAttr(kLeastRows));
  splits = own.getCount();
  begin = e.min(own.getBegin(), total); // a block may have no part
  end = e.min(own.getEnd(), total);
}

Value RowSumsEmitter::combine(Value a, Value b) {
  Operation *clone = rewriter.clone(*combiner);
  clone->setOperands({a, b});
  return clone->getResult(0);
}

/// Loads from a row of the tensor, at places that exist.
Value RowSumsEmitter::load(Value rowAt, Value columnAt, Type type) {
  SmallVector<Value> at(view.getSubscripts());
  at[rowDim] = rowAt;
  at.back() = columnAt;
  if (!isa<VectorType>(type))
    return e.loadAt(source, at);
  return e.loadVector(type, source, at, kAccessBytes);
}

/// Adds an element to a sum, if it exists.
Value RowSumsEmitter::add(Value sum, Value element, Value exists) {
  IRMapping mapping;
  mapping.map(body->getArgument(0), element);
  mapping.map(body->getArgument(1), sum);
  for (Operation &op : body->without_terminator())
    cloneBodyOp(rewriter, op, mapping);
  Value more = mapping.lookupOrDefault(body->getTerminator()->getOperand(0));
  return exists ? e.select(exists, more, sum) : more;
}

/// Goes on with so many rows at once from `from` on: as long as they are all
/// before the end, or up to there. Returns where that is, and the sums.
std::pair<Value, SmallVector<Value>>
RowSumsEmitter::addRows(Value from, ValueRange sums, int64_t atOnce,
                        bool asVectors, bool toTheEnd) {
  SmallVector<Value> columnAt, columnExists;
  if (!asVectors)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value at = e.add(column, lane);
      columnExists.push_back(e.inRange(at, numColumns));
      columnAt.push_back(e.select(columnExists.back(), at, e.index(0)));
    }
  int64_t step = atOnce * rowsOfBlock;
  Value last = e.sub(end, e.index(toTheEnd ? 0 : step - rowsOfBlock));
  SmallVector<Value> starts{from};
  llvm::append_range(starts, sums);
  auto loop =
      scf::ForOp::create(rewriter, loc, from, last, e.index(step), starts);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> exist(atOnce), coordinates;
  for (int64_t i = 0; i < atOnce; ++i) {
    Value number = e.add(loop.getInductionVar(), i * rowsOfBlock);
    if (toTheEnd && i > 0) {
      exist[i] = e.lessThan(number, end);
      number = e.min(number, e.sub(end, e.index(1)));
    }
    Value at = e.add(first, number);
    if (ids) {
      Value id = e.loadAt(ids, at);
      // An index may be of a larger tensor.
      at = e.toIndex(id);
      Value isInside = e.inRange(at, numRows);
      at = e.select(isInside, at, e.index(0));
      exist[i] = exist[i] ? e.logicalAnd(exist[i], isInside) : isInside;
    }
    coordinates.push_back(at);
  }
  SmallVector<SmallVector<Value>> loaded(atOnce);
  if (asVectors) {
    SmallVector<Value> vectors;
    for (Value at : coordinates)
      vectors.push_back(load(at, column, VectorType::get(lanes, element)));
    for (auto [values, vector] : llvm::zip_equal(loaded, vectors))
      for (int64_t lane = 0; lane < lanes; ++lane)
        values.push_back(
            vector::ExtractOp::create(rewriter, loc, vector, lane));
  } else {
    for (auto [values, at] : llvm::zip_equal(loaded, coordinates))
      for (Value place : columnAt)
        values.push_back(load(at, place, element));
  }
  SmallVector<Value> carried(loop.getRegionIterArgs().drop_front());
  for (int64_t i = 0; i < atOnce; ++i)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value exists = exist[i];
      if (!asVectors)
        exists = exists ? e.logicalAnd(exists, columnExists[lane])
                        : columnExists[lane];
      carried[lane] = add(carried[lane], loaded[i][lane], exists);
    }
  carried.insert(carried.begin(), e.add(loop.getInductionVar(), step));
  scf::YieldOp::create(rewriter, loc, carried);
  return {loop.getResult(0),
          SmallVector<Value>(loop.getResults().drop_front())};
}

/// The sums of this thread's columns over its rows.
SmallVector<Value> RowSumsEmitter::addRows(bool asVectors) {
  Value from = e.add(begin, row);
  SmallVector<Value> sums(lanes, start());
  if (!asVectors)
    return addRows(from, sums, 1, asVectors, /*toTheEnd=*/true).second;
  int64_t atOnce = kRowsAtOnce;
  if (!rows.getIndex())
    if (int64_t count = tripsOf(rows.getLower()[0], rows.getUpper()[0], 1);
        count > 0)
      atOnce = std::clamp<int64_t>(count / rowsOfBlock, 1, kRowsAtOnce);
  std::tie(from, sums) =
      addRows(from, sums, atOnce, asVectors, /*toTheEnd=*/false);
  return addRows(from, sums, atOnce, asVectors, /*toTheEnd=*/true).second;
}

//===----------------------------------------------------------------------===//
// Sums of the block, and of all splits
//===----------------------------------------------------------------------===//

Value RowSumsEmitter::stage(ArrayRef<Value> own) {
  auto type =
      MemRefType::get({rowsOfBlock, threadsOfRow * lanes}, identity.getType());
  Value staged = block.staging(rewriter, loc, 0, type);
  // The values that were staged before have been read.
  gpu::BarrierOp::create(rewriter, loc);
  Value inTile = e.mul(e.rem(block.thread, threadsOfRow), lanes);
  Value isUsed = e.lessThan(row, e.index(rowsOfBlock));
  e.ifThen(isUsed, [&] {
    for (auto [lane, value] : llvm::enumerate(own))
      e.storeAt(value, staged, ValueRange{row, e.add(inTile, lane)});
  });
  gpu::BarrierOp::create(rewriter, loc);
  return staged;
}

Value RowSumsEmitter::sumOfRows(Value staged, int64_t rows, Value at) {
  Value sum;
  for (int64_t i = 0; i < rows; ++i) {
    Value one = e.loadAt(staged, ValueRange{e.index(i), at});
    sum = sum ? combine(sum, one) : one;
  }
  return sum;
}

void RowSumsEmitter::shareColumns(function_ref<void(Value)> each) {
  Workers workers{block.thread, block.threads, Value(), Value()};
  workers.share(rewriter, loc, e.index(columns), each);
}

void RowSumsEmitter::addTo(Value acc, Value at, Value sum) {
  SmallVector<Value> place(cast<MemRefType>(acc.getType()).getRank(),
                           e.index(0));
  place.back() = at;
  Value before = e.loadAt(acc, place);
  e.storeAt(combine(before, sum), acc, place);
}

/// The slot of a part's partial sums (i32): a tile has as many as the launch
/// has splits.
Value RowSumsEmitter::slotOf(Value number) {
  Value all = e.gridDim(gpu::Dimension::y);
  return e.add(e.mul(e.blockId(), all), e.toI32(number));
}

/// Leaves the sums of all splits in shared memory, a row for each group of
/// threads: together they read whole splits, 16 bytes each, and a group every
/// `groups`-th of them.
Value RowSumsEmitter::stageParts(int64_t &groups) {
  Type type = identity.getType();
  int64_t count = kAccessBytes / elementBytes(type);
  while (columns % count != 0)
    count /= 2;
  int64_t vectors = columns / count;
  int64_t threads = std::min(vectors, block.threads);
  groups = block.threads / threads;
  // Kept over the rows, what is computed of it would take their registers.
  Value thread = e.toIndex(e.hideFromOptimizer(e.toI32(block.thread)));
  Value group = e.div(thread, threads);
  Value own = e.sub(e.add(splits, groups - 1), group);
  own = e.div(e.max(own, e.index(0)), groups);
  Value staged =
      block.staging(rewriter, loc, 0, MemRefType::get({groups, columns}, type));
  auto sum = [&](Value number) {
    auto sums = pitgpu::AddPartialsOp::create(
        rewriter, loc, SmallVector<Type>(count, type), e.toI32(own),
        block.partials, slotOf(group), e.i32(groups), /*from=*/Value(),
        /*of=*/IntegerAttr(), e.toI32(number), vectors, /*vector=*/count,
        rewriter.getI64IntegerAttr(kPartialsAtOnce),
        rewriter.getI64IntegerAttr(count), identity);
    for (auto [i, value] : llvm::enumerate(sums.getSums()))
      e.storeAt(value, staged,
                ValueRange{group, e.add(e.mul(number, count), i)});
    OpBuilder::InsertionGuard guard(rewriter);
    Block *two =
        rewriter.createBlock(&sums.getCombine(), {}, {type, type}, {loc, loc});
    pitgpu::YieldOp::create(rewriter, loc,
                            combine(two->getArgument(0), two->getArgument(1)));
  };
  // Threads that are left over are of no group.
  e.ifThen(e.lessThan(group, e.index(groups)), [&] {
    e.forEach(e.rem(thread, threads), e.index(vectors), e.index(threads), sum);
  });
  gpu::BarrierOp::create(rewriter, loc);
  return staged;
}

Value RowSumsEmitter::run(Value acc, const IndexMap &indices) {
  findRows(indices);
  findPart();
  row = e.div(block.thread, threadsOfRow);
  column = e.add(view.getSubscripts().back(),
                 e.mul(e.rem(block.thread, threadsOfRow), lanes));
  // Threads that are left over have no rows.
  if (rowsOfBlock * threadsOfRow != block.threads)
    begin = e.select(e.lessThan(row, e.index(rowsOfBlock)), begin, end);
  Value isWhole = e.logicalAnd(
      e.isAligned(source, column, Value(), kAccessBytes),
      e.logicalAnd(e.lessThan(e.add(column, lanes - 1), numColumns),
                   e.lessThan(e.index(-1), column)));
  Value staged = stage(e.choose(
      isWhole, [&] { return addRows(/*asVectors=*/true); },
      [&] { return addRows(/*asVectors=*/false); }));
  auto addOwn = [&] {
    shareColumns([&](Value at) { addTo(acc, at, sumOfBlock(staged, at)); });
  };
  if (!block.partials) {
    addOwn();
    return e.constant(rewriter.getBoolAttr(true));
  }
  Value isShared = e.lessThan(e.index(1), splits);
  Value hasSplit = e.lessThan(part, splits);
  auto share = [&] {
    shareColumns([&](Value at) {
      pitgpu::StorePartialsOp::create(
          rewriter, loc, sumOfBlock(staged, at), block.partials, slotOf(part),
          /*from=*/Value(), /*of=*/IntegerAttr(), e.toI32(at), columns);
    });
    Value last = pitgpu::LastSplitOp::create(rewriter, loc, e.toI32(splits),
                                             block.counters, e.blockId(),
                                             e.toI32(block.thread), block.word);
    e.ifThen(last, [&] {
      int64_t groups;
      Value all = stageParts(groups);
      shareColumns(
          [&](Value at) { addTo(acc, at, sumOfRows(all, groups, at)); });
    });
    return last;
  };
  auto keep = [&] {
    e.ifThen(hasSplit, addOwn);
    return hasSplit;
  };
  return e.choose(e.logicalAnd(isShared, hasSplit), share, keep);
}

void RowSumsLowering::lower(RewriterBase &rewriter, const RowSumsBlock &block,
                            const IndexMap &indices) {
  rewriter.setInsertionPoint(rows);
  Value goesOn = RowSumsEmitter(rewriter, block, *this, &body.front())
                     .run(getAccumulator(), indices);
  rest.getConditionMutable().assign(goesOn);
  rewriter.eraseOp(rows);
  body.dropAllReferences();
}
