//===- HopperStore.cpp - Results of wgmma to memory -----------------------===//

#include "HopperStore.h"

#include "Codegen/Common/TileInput.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

HopperStore::HopperStore(Emitter &e, MainloopOp mainloop,
                         const HopperPlan &plan, const HopperThread &self,
                         ChunkMap &chunks)
    : e(e), mainloop(mainloop), plan(plan), self(self), chunks(chunks) {
  ArrayRef<int64_t> extents = mainloop.getAccumulatorShape();
  dest = accessTile(e, {mainloop.getDest(), mainloop.getSubscripts(), extents},
                    TypedAttr(), chunks);
  staged = canStage();
  if (!scans())
    return;
  bits =
      accessTile(e, {mainloop.getBitmap(), mainloop.getSubscripts(), extents},
                 TypedAttr(), chunks);
  bitsBytes = memref::DimOp::create(e.b, e.loc, mainloop.getBitmap(),
                                    e.index(dest.dims.size() - 1));
}

//===----------------------------------------------------------------------===//
// Rows and columns of a thread
//===----------------------------------------------------------------------===//

Value HopperStore::firstRow(Value wgmma) {
  Value row = e.add(e.mul(self.warp, kWarpRows), e.mul(wgmma, kWgmmaRows));
  return plan.splitN() ? row : e.add(row, e.mul(self.consumer, plan.perM()));
}

Value HopperStore::firstColumn(Value column) {
  return plan.splitN() ? e.add(column, e.mul(self.consumer, plan.perN()))
                       : column;
}

Value HopperStore::exists(Value wgmma) {
  if (plan.mDim < 0)
    return {};
  return e.lessThan(e.toIndex(firstRow(wgmma)), dest.dims[plan.mDim].limit);
}

Value HopperStore::existsAny() {
  if (plan.mDim < 0 || plan.splitN())
    return {};
  return e.lessThan(e.toIndex(e.mul(self.consumer, plan.perM())),
                    dest.dims[plan.mDim].limit);
}

int64_t HopperStore::pieceColumns() const {
  int64_t columns = kStoreColumns;
  while (plan.perN() % columns != 0)
    columns /= 2;
  return columns;
}

SmallVector<Value> HopperStore::colsOf(Value column, int64_t count) {
  return colsOf(column, count, lane());
}

SmallVector<Value> HopperStore::colsOf(Value column, int64_t count,
                                       Value lane) {
  Value col = e.add(firstColumn(column), e.mul(e.rem(lane, 4), 2));
  SmallVector<Value> cols;
  for (int64_t j = 0; j < count; j += 8)
    for (int64_t pair = 0; pair < 2; ++pair)
      cols.push_back(e.add(col, j + pair));
  return cols;
}

/// Which accumulator of a wgmma the fragment's element is, counted from the
/// first column's on.
static size_t place(size_t row, size_t col) {
  return col / 2 * 4 + row * 2 + col % 2;
}

SmallVector<Value> HopperStore::rowsOf(Value wgmma) {
  Value row = e.add(firstRow(wgmma), e.div(lane(), 4));
  return {row, e.add(row, 8)};
}

HopperRows HopperStore::locateRows(Value wgmma) {
  HopperRows rows(MainloopEpilogue(
      e, mainloop, AccumulatorTile{plan.mDim, plan.nDim, /*neighbours=*/2},
      plan.vectorAtomics, chunks));
  rows.wgmma = wgmma;
  rows.epilogue.setRows(rowsOf(wgmma), /*withDest=*/!staged);
  if (!staged)
    return rows;
  rows.results = locateLines(dest, lineDim(), otherDim(), wgmma);
  if (scans())
    rows.bits = locateLines(bits, lineDim(), otherDim(), wgmma);
  if (plan.isTransposed() || plan.perN() % kStoreColumns != 0)
    return rows;
  for (unsigned extra : rows.epilogue.extrasByChunks())
    rows.extras.emplace_back(
        extra, locateLines(rows.epilogue.tileOfExtra(extra),
                           rows.epilogue.dimOfExtra(extra, plan.nDim),
                           rows.epilogue.dimOfExtra(extra, plan.mDim), wgmma));
  return rows;
}

SmallVector<Value> HopperStore::initial(HopperRows &rows, Value column,
                                        int64_t count) {
  rows.epilogue.setCols(colsOf(column, count));
  SmallVector<Value> values = rows.epilogue.initial();
  SmallVector<Value> registers(values.size());
  size_t cols = count / 4;
  for (size_t first = 0; first < values.size(); first += 2 * cols)
    for (size_t row = 0; row < 2; ++row)
      for (size_t col = 0; col < cols; ++col)
        registers[first + place(row, col)] = values[first + row * cols + col];
  return registers;
}

void HopperStore::loadForColumns(HopperRows &rows) {
  // Their places, before the tiles, would only take up registers.
  rows.epilogue.loadForColumns(
      colsOf(e.i32(0), plan.perN(), e.hideFromOptimizer(lane())));
}

void HopperStore::store(HopperRows &rows, ArrayRef<Value> elements,
                        Value column, int64_t count, int64_t known) {
  size_t cols = count / 4;
  SmallVector<Value> values(elements.size());
  for (size_t first = 0; first < values.size(); first += 2 * cols)
    for (size_t row = 0; row < 2; ++row)
      for (size_t col = 0; col < cols; ++col)
        values[first + row * cols + col] = elements[first + place(row, col)];
  // A thread has two of every eight columns.
  rows.epilogue.setCols(colsOf(column, count), known < 0 ? -1 : known / 4);
  if (staged) {
    takeExtras(rows, column);
    return storeStaged(rows, values, column);
  }
  rows.epilogue.finish(values);
  if (scans())
    lookAt(rows.wgmma, column, count);
}

//===----------------------------------------------------------------------===//
// Results, transposed
//===----------------------------------------------------------------------===//

/// Is a line of the tile shorter than what a warp stores together, and does it
/// make up whole matrices of stmatrix? Skinny tiles alone have such lines: no
/// two consumers share them along n, no blocks along k, so nothing is behind
/// the line.
static bool hasShortLine(const HopperPlan &plan) {
  return plan.isSkinny && plan.perN() < kStoreColumns && plan.perN() % 16 == 0;
}

/// Can results go to memory 16 bytes at a time?
bool HopperStore::canStage() {
  APInt stride;
  int64_t bytes = elementBytes(dest.element);
  bool isTaken = isa<FloatType>(dest.element) && (bytes == 2 || bytes == 4);
  if (std::optional<arith::AtomicRMWKind> kind = mainloop.getCombine())
    isTaken = *kind == arith::AtomicRMWKind::addf && mainloop.getAtomic() &&
              dest.element.isF32() && plan.vectorAtomics;
  // Lines of bits are those of results.
  if (scans() && lineDim() + 1 != static_cast<int>(dest.dims.size()))
    return false;
  bool fits = plan.isTransposed() ? bytes == 2 && !mainloop.getCombine()
                                  : plan.perN() % kStoreColumns == 0 ||
                                        (hasShortLine(plan) && !scans());
  return isTaken && fits && plan.nDim >= 0 && plan.mDim >= 0 &&
         !dest.dims[lineDim()].ids &&
         matchPattern(dest.dims[lineDim()].stride, m_ConstantInt(&stride)) &&
         stride.isOne();
}

HopperLines HopperStore::locateLines(const TileAccess &tile, int along,
                                     int across, Value wgmma) {
  HopperLines lines;
  Value fixed = e.index(0), exists;
  Value address = e.toIndex(tile.start);
  int64_t bytes = elementBytes(tile.element);
  address = e.bitOr(address, e.mul(tile.dims[along].start, bytes));
  for (auto [d, dim] : llvm::enumerate(tile.dims)) {
    if (static_cast<int>(d) == along)
      continue;
    address = e.bitOr(address, e.mul(dim.stride, bytes));
    if (static_cast<int>(d) == across)
      continue;
    auto [at, there] = locate(e, dim, e.index(0));
    fixed = e.add(fixed, e.mul(at, dim.stride));
    exists = exists ? e.logicalAnd(exists, there) : there;
  }
  lines.aligned = e.equal(e.bitAnd(address, kChunkBytes - 1), e.index(0));
  lines.fixed = fixed;
  lines.exists = exists;
  if (plan.isTransposed())
    return lines;
  const TileDim &rowDim = tile.dims[across];
  for (int64_t r = 0; r < kWarpRows; r += 4) {
    Value row = e.add(firstRow(wgmma), e.add(e.div(lane(), 8), r));
    auto [at, there] = locate(e, rowDim, e.toIndex(row));
    lines.offsets.push_back(e.add(fixed, e.mul(at, rowDim.stride)));
    lines.exist.push_back(exists ? e.logicalAnd(exists, there) : there);
  }
  return lines;
}

/// The warpgroup's results in shared memory: lines of their rows or,
/// of a transposed tile, of their columns.
Value HopperStore::stagingTile(Type element) {
  Value address = e.add(self.shared.results,
                        e.mul(self.consumer, kWarps * plan.storeBytes()));
  // In lines of 32 bytes, each warp has a block of its own.
  int64_t rows = kWgmmaRows;
  auto type =
      plan.isTransposed()
          ? pitgpu::TileType::get(plan.storeBytes() / kShortestLine, rows,
                                  element, kShortestLine)
          : pitgpu::TileType::get(rows, kLineBytes / elementBytes(element),
                                  element, kLineBytes);
  return pitgpu::TileAtOp::create(e.b, e.loc, type, address);
}

/// The place of an element in a line of the warp's.
Value HopperStore::stagedPlace(Value tile, Value line, Value element) {
  Value first = e.mul(self.warp, kWarpRows);
  if (plan.isTransposed())
    element = e.add(first, element);
  else
    line = e.add(first, line);
  return pitgpu::AddressOp::create(e.b, e.loc, e.b.getI32Type(), tile, line,
                                   element);
}

/// Stages a thread's results of `columns` columns, from its `first` column of
/// each row on: as many at once as four matrices have.
void HopperStore::stage(MainloopEpilogue &epilogue, ArrayRef<Value> values,
                        size_t first, int64_t columns, Value tile) {
  constexpr int64_t kAtOnce = 16;
  Type element = dest.element;
  for (int64_t from = 0; from < columns; from += kAtOnce) {
    int64_t count = std::min(kAtOnce, columns - from);
    SmallVector<Value> own;
    for (int64_t col = from; col < from + count; col += 8)
      for (size_t row = 0; row < 2; ++row) {
        Value pair[2];
        for (size_t n = 0; n < 2; ++n)
          pair[n] = epilogue.result(values, row, first + col / 4 + n);
        if (elementBytes(element) == 2)
          own.push_back(pack(pair[0], pair[1]));
        else
          for (Value value : pair)
            own.push_back(convertElements(e.b, e.loc, value, element));
      }
    auto type =
        pitgpu::FragmentType::get(e.b.getContext(), kWgmmaRows, count, element);
    Value fragment =
        UnrealizedConversionCastOp::create(e.b, e.loc, type, own).getResult(0);
    pitgpu::LocalStoreOp::create(e.b, e.loc, fragment, tile, from,
                                 plan.isTransposed());
  }
}

/// Two results of 16 bits.
Value HopperStore::pack(Value low, Value high) {
  Value pair = e.pair(low, high);
  if (low.getType() == dest.element)
    return pair;
  return arith::TruncFOp::create(e.b, e.loc, VectorType::get(2, dest.element),
                                 pair);
}

void HopperStore::storeStaged(HopperRows &rows, ArrayRef<Value> values,
                              Value column) {
  MainloopEpilogue &epilogue = rows.epilogue;
  epilogue.loadForResults();
  if (plan.isTransposed())
    return storeTransposed(rows, values, column);
  Value tile = stagingTile(dest.element);
  Value laneRow = e.div(lane(), 8), laneChunk = e.rem(lane(), 8);
  bool hasIds = static_cast<bool>(dest.dims[plan.mDim].ids);
  // All that are stored together, or those that there are.
  int64_t stored = std::min(kStoreColumns, plan.perN());
  for (int64_t part = 0; part < stored; part += lineColumns()) {
    int64_t columns = std::min(lineColumns(), stored - part);
    syncWarp(e); // the last part has been read
    stage(epilogue, values, part / 4, columns, tile);
    syncWarp(e);
    Value first = firstColumn(e.add(column, part));
    HopperChunk chunk = chunkAt(rows, first, laneChunk);
    for (int64_t r = 0; r < kWarpRows; r += 4)
      storeChunk(chunk, tile, e.add(laneRow, r), rows.results.offsets[r / 4],
                 scans() ? rows.bits.offsets[r / 4] : Value(),
                 rows.results.exist[r / 4], /*inParts=*/hasIds);
    if (!hasIds)
      storeElements(rows, first, columns);
  }
}

/// Stores what no chunk has stored of the lines in shared memory, `columns`
/// from column `first` of the tile on: the edge, and results that are not
/// aligned. Lanes store neighbours, which lie in the same sectors of memory.
/// Its operands are computed in a loop that is not entered otherwise, so that
/// it takes hardly any registers there. Rows with ids would take some, since
/// these are loaded anew.
void HopperStore::storeElements(HopperRows &rows, Value first,
                                int64_t columns) {
  const TileDim &rowDim = dest.dims[plan.mDim], &colDim = dest.dims[plan.nDim];
  int64_t bytes = elementBytes(dest.element), perChunk = kChunkBytes / bytes;
  auto isStored = [&](Value count) {
    Value end = e.toIndex(e.add(first, count));
    return e.logicalAnd(rows.results.aligned,
                        e.lessThan(e.sub(end, e.index(1)), colDim.limit));
  };
  Value count =
      e.select(isStored(e.i32(columns)), e.index(0), e.index(kWarpRows));
  auto loop = scf::ForOp::create(e.b, e.loc, e.index(0), count, e.index(1));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value line = e.toI32(loop.getInductionVar());
  auto [at, there] =
      locate(e, rowDim, e.toIndex(e.add(firstRow(rows.wgmma), line)));
  if (rows.results.exists)
    there = e.logicalAnd(there, rows.results.exists);
  Value offset = e.add(rows.results.fixed, e.mul(at, rowDim.stride));
  offset = e.add(offset, colDim.start);
  Value tile = stagingTile(dest.element);
  for (int64_t from = 0; from < columns; from += 32) {
    Value number = e.add(lane(), from), col = e.toIndex(e.add(first, number));
    Value chunkEnd = e.mul(e.add(e.div(number, perChunk), 1), perChunk);
    Value isMine = e.select(isStored(chunkEnd), e.index(0), colDim.limit);
    e.ifThen(e.logicalAnd(there, e.lessThan(col, isMine)), [&] {
      Value place = stagedPlace(tile, line, number);
      Value element = e.load(dest.element, e.sharedPointer(place), bytes);
      storeOrAdd(element, elementAddress(e, dest, e.add(offset, col)), bytes);
    });
  }
}

/// The warp's 16 rows are 32 bytes of each column, which is a line in memory.
void HopperStore::storeTransposed(HopperRows &rows, ArrayRef<Value> values,
                                  Value column) {
  Value tile = stagingTile(dest.element);
  int64_t columns = 2 * values.size() / plan.pairs.size();
  syncWarp(e); // the last piece has been read
  stage(rows.epilogue, values, /*first=*/0, columns, tile);
  syncWarp(e);
  const TileDim &across = dest.dims[otherDim()];
  HopperChunk chunk = chunkAt(rows, firstRow(rows.wgmma), e.rem(lane(), 2));
  for (int64_t first = 0; first < columns; first += 16) {
    Value line = e.add(e.div(lane(), 2), first);
    auto copy = [&] {
      auto [number, there] =
          locate(e, across, e.toIndex(e.add(firstColumn(column), line)));
      if (rows.results.exists)
        there = e.logicalAnd(there, rows.results.exists);
      Value bitsOffset;
      if (scans())
        bitsOffset =
            e.add(rows.bits.fixed, e.mul(number, bits.dims[otherDim()].stride));
      storeChunk(chunk, tile, line,
                 e.add(rows.results.fixed, e.mul(number, across.stride)),
                 bitsOffset, there, /*inParts=*/true);
    };
    if (first + 16 > columns)
      e.ifThen(e.lessThan(line, e.i32(columns)), copy);
    else
      copy();
  }
}

/// Stores a chunk, or one element of it, or adds it to what is there.
void HopperStore::storeOrAdd(Value value, Value to, int64_t bytes) {
  if (!mainloop.getCombine()) {
    e.store(value, to, bytes);
  } else if (auto type = dyn_cast<VectorType>(value.getType())) {
    SmallVector<Value> elements;
    for (int64_t n = 0; n < type.getNumElements(); ++n)
      elements.push_back(e.extract(value, n));
    addVector(e, elements, to);
  } else {
    LLVM::AtomicRMWOp::create(e.b, e.loc, LLVM::AtomicBinOp::fadd, to, value,
                              LLVM::AtomicOrdering::monotonic);
  }
}

HopperChunk HopperStore::chunkAt(HopperRows &rows, Value first, Value number) {
  int64_t perChunk = kChunkBytes / elementBytes(dest.element);
  HopperChunk chunk;
  chunk.inLine = e.mul(number, perChunk);
  chunk.at = e.toIndex(e.add(first, chunk.inLine));
  chunk.whole = e.logicalAnd(
      rows.results.aligned,
      e.lessThan(e.add(chunk.at, perChunk - 1), dest.dims[lineDim()].limit));
  if (scans())
    chunk.bits = locateBits(chunk.at);
  return chunk;
}

void HopperStore::storeChunk(const HopperChunk &chunk, Value tile, Value line,
                             Value offset, Value bitsOffset, Value exists,
                             bool inParts) {
  const TileDim &along = dest.dims[lineDim()];
  int64_t bytes = elementBytes(dest.element), count = kChunkBytes / bytes;
  Value elements = e.load(
      VectorType::get(count, dest.element),
      e.sharedPointer(stagedPlace(tile, line, chunk.inLine)), kChunkBytes);
  offset = e.add(offset, e.add(along.start, chunk.at));
  e.ifThen(e.logicalAnd(exists, chunk.whole), [&] {
    storeOrAdd(elements, elementAddress(e, dest, offset), kChunkBytes);
  });
  if (inParts) {
    // Its elements that exist, in a loop that is not entered otherwise.
    Value left = e.sub(along.limit, chunk.at);
    left = e.min(e.max(left, e.index(0)), e.index(count));
    Value none = e.bitOr(chunk.whole, e.logicalNot(exists));
    left = e.select(none, e.index(0), left);
    e.forEach(e.index(0), left, e.index(1), [&](Value i) {
      storeOrAdd(extract(elements, e.toI32(i)),
                 elementAddress(e, dest, e.add(offset, i)), bytes);
    });
  }
  if (scans())
    storeBits(elements, bitsOffset, exists, chunk.bits);
}

/// Element `i` (i32) of a chunk. Halves are shifted there; words LLVM would put
/// into local memory to find one.
Value HopperStore::extract(Value chunk, Value i) {
  auto at = [&](Value n) -> Value { return e.extract(chunk, n); };
  if (elementBytes(dest.element) == 2)
    return at(i);
  int64_t count = cast<VectorType>(chunk.getType()).getNumElements();
  Value found = at(e.i32(count - 1));
  for (int64_t n = count - 2; n >= 0; --n)
    found = e.select(e.lessThan(i, e.i32(n + 1)), at(e.i32(n)), found);
  return found;
}
