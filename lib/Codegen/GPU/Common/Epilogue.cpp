//===- Epilogue.cpp - From accumulators to the result ---------------------===//

#include "Epilogue.h"

#include "LinalgLowering.h"

#include "Codegen/Common/TileInput.h"

#include "Codegen/Common/Atomics.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

void MainloopEpilogue::setRows(ArrayRef<Value> rows, bool withDest) {
  fragment.rows.assign(rows.begin(), rows.end());
  extras.clear();
  for (auto [extra, map] :
       llvm::zip(mainloop.getExtras(),
                 mainloop.getExtraMaps().getAsValueRange<AffineMapAttr>())) {
    Elements elements = accessExtra(extra, map);
    locateRows(elements);
    if (!elements.alongN)
      for (size_t i = 0; i < rows.size(); ++i)
        elements.values.push_back(loadExtra(elements, i, 0));
    extras.push_back(elements);
  }
  dest = Elements();
  if (withDest) {
    dest = accessDest();
    locateRows(dest);
  }
}

/// Beside the accumulators a thread has room for about so many registers.
static constexpr int64_t kRegistersOfExtras = 32;
/// The bits of a register that has two elements of 16 bits. The gain for f32,
/// with twice as many registers, is less than 1 %.
static constexpr unsigned kPairBits = 32;

void MainloopEpilogue::loadForColumns(ArrayRef<Value> cols) {
  setCols(cols);
  Region &region = mainloop.getEpilogue();
  int64_t registers = 0;
  for (auto [n, extra] : llvm::enumerate(extras)) {
    BlockArgument argument =
        region.front().getArgument(mainloop.getNumAccumulators() + n);
    APInt stride;
    auto dim = llvm::find(extra.dims, shape.nDim);
    if (!extra.alongN || extra.alongM || argument.use_empty() ||
        extra.tile.element.getIntOrFloatBitWidth() != kPairBits / 2 ||
        dim == extra.dims.end())
      continue;
    const TileDim &along = extra.tile.dims[dim - extra.dims.begin()];
    registers += cols.size() / 2;
    if (registers <= kRegistersOfExtras && !along.ids &&
        matchPattern(along.stride, m_ConstantInt(&stride)) && stride.isOne())
      extra.pairs = loadPairs(extra);
  }
}

/// If all columns exist and pairs are aligned, one load takes two of them.
SmallVector<Value> MainloopEpilogue::loadPairs(const Elements &elements) {
  Type pair = e.b.getIntegerType(kPairBits);
  size_t count = fragment.cols.size() / 2;
  int64_t bytes = kPairBits / 8;
  Value first = LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI64Type(),
                                         address(elements, 0, 0));
  Value isWhole = e.equal(e.bitAnd(e.toIndex(first), bytes - 1), e.index(0));
  if (Value exist = exists(elements, 0, fragment.cols.size() - 1))
    isWhole = e.logicalAnd(isWhole, exist);
  auto loadAll = [&](bool whole) {
    SmallVector<Value> loaded;
    auto type = VectorType::get(2, elements.tile.element);
    for (size_t j = 0; j < count; ++j) {
      if (whole) {
        loaded.push_back(e.load(pair, address(elements, 0, 2 * j), bytes));
        continue;
      }
      Value both = LLVM::UndefOp::create(e.b, e.loc, type);
      for (size_t n = 0; n < 2; ++n)
        both = LLVM::InsertElementOp::create(
            e.b, e.loc, both, loadExtra(elements, 0, 2 * j + n), e.i32(n));
      loaded.push_back(e.bitcast(pair, both));
    }
    return loaded;
  };
  return e.choose(
      isWhole, [&] { return loadAll(true); }, [&] { return loadAll(false); });
}

/// The values of the columns from number `first` of the thread's on.
void MainloopEpilogue::unpackPairs(Elements &elements, size_t first) {
  for (size_t j = first; j < first + fragment.cols.size(); ++j)
    elements.values.push_back(
        ofPair(elements.pairs[j / 2], elements.tile.element, j % 2));
}

/// The first or the second of two elements in an integer.
Value MainloopEpilogue::ofPair(Value pair, Type element, size_t number) {
  Value both = e.bitcast(VectorType::get(2, element), pair);
  return e.extract(both, number);
}

void MainloopEpilogue::setCols(ArrayRef<Value> cols, int64_t first) {
  fragment.cols.assign(cols.begin(), cols.end());
  for (Elements &extra : extras) {
    locateCols(extra);
    if (extra.alongN) { // of the columns before
      extra.values.clear();
      extra.ofPiece.clear();
    }
    if (first >= 0 && !extra.pairs.empty())
      unpackPairs(extra, first);
  }
  if (!dest.dims.empty())
    locateCols(dest);
}

/// Places along one dimension of the accumulator's tile.
void MainloopEpilogue::along(const TileDim &dim, ArrayRef<Value> positions,
                             Places &places) {
  for (auto [i, position] : llvm::enumerate(positions)) {
    auto [at, exists] = cuda::locate(e, dim, e.toIndex(position));
    addPlace(places, i, positions.size(), e.mul(at, dim.stride), exists);
  }
}

void MainloopEpilogue::addPlace(Places &places, size_t i, size_t count,
                                Value offset, Value exists) {
  places.offsets.resize(count);
  places.exist.resize(count);
  places.offsets[i] =
      places.offsets[i] ? e.add(places.offsets[i], offset) : offset;
  places.exist[i] =
      places.exist[i] ? e.logicalAnd(places.exist[i], exists) : exists;
}

void MainloopEpilogue::locateRows(Elements &elements) {
  for (auto [d, dim] : llvm::enumerate(elements.tile.dims)) {
    int along = elements.dims[d];
    if (along == shape.mDim && along >= 0) {
      this->along(dim, fragment.rows, elements.rows);
    } else if (along != shape.nDim || along < 0) {
      auto [at, exists] = cuda::locate(e, dim, e.index(0));
      Value offset = e.mul(at, dim.stride);
      for (size_t i = 0; i < fragment.rows.size(); ++i)
        addPlace(elements.rows, i, fragment.rows.size(), offset, exists);
    }
  }
}

void MainloopEpilogue::locateCols(Elements &elements) {
  elements.cols = Places();
  for (auto [d, dim] : llvm::enumerate(elements.tile.dims))
    if (elements.dims[d] == shape.nDim && shape.nDim >= 0)
      along(dim, fragment.cols, elements.cols);
}

MainloopEpilogue::Elements MainloopEpilogue::accessExtra(Value extra,
                                                         AffineMap map) {
  Elements elements;
  elements.tile = accessView(e, extra.getDefiningOp<ViewOp>(), chunks);
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    elements.dims.push_back(dim ? static_cast<int>(dim.getPosition()) : -1);
  }
  auto runsAlong = [&](int dim) {
    return dim >= 0 && llvm::is_contained(elements.dims, dim);
  };
  elements.alongM = runsAlong(shape.mDim);
  elements.alongN = runsAlong(shape.nDim);
  return elements;
}

MainloopEpilogue::Elements MainloopEpilogue::accessDest() {
  Elements elements;
  elements.tile = accessTile(e, place, TypedAttr(), chunks);
  for (size_t d = 0; d < elements.tile.dims.size(); ++d)
    elements.dims.push_back(d);
  return elements;
}

Value MainloopEpilogue::address(const Elements &elements, size_t i, size_t j) {
  Value offset;
  if (!elements.rows.offsets.empty())
    offset = elements.rows.offsets[i];
  if (!elements.cols.offsets.empty())
    offset = offset ? e.add(offset, elements.cols.offsets[j])
                    : elements.cols.offsets[j];
  if (!offset)
    offset = e.index(0);
  return elementAddress(e, elements.tile, offset);
}

Value MainloopEpilogue::exists(const Elements &elements, size_t i, size_t j) {
  Value exist;
  if (!elements.rows.exist.empty())
    exist = elements.rows.exist[i];
  if (!elements.cols.exist.empty())
    exist = exist ? e.logicalAnd(exist, elements.cols.exist[j])
                  : elements.cols.exist[j];
  return exist;
}

/// The value of an extra for accumulator (i, j); what does not exist is
/// padded.
Value MainloopEpilogue::readExtra(const Elements &elements, size_t i,
                                  size_t j) {
  if (!elements.ofPiece.empty())
    return ofPair(elements.ofPiece[(i * fragment.cols.size() + j) / 2],
                  elements.tile.element, j % 2);
  if (elements.values.empty())
    return loadExtra(elements, i, j);
  if (!elements.alongN)
    return elements.values[i];
  return elements.values[elements.alongM ? i * fragment.cols.size() + j : j];
}

Value MainloopEpilogue::loadExtra(const Elements &elements, size_t i,
                                  size_t j) {
  Value from = address(elements, i, j);
  if (Value exist = exists(elements, i, j))
    return loadIf(exist, from, elements.tile);
  return e.load(elements.tile.element, from,
                elementBytes(elements.tile.element));
}

Value MainloopEpilogue::loadIf(Value exist, Value from,
                               const TileAccess &tile) {
  int64_t bytes = elementBytes(tile.element);
  unsigned bits = tile.element.getIntOrFloatBitWidth();
  if (bits != 8 * bytes || bits < 16) {
    return e.choose(
        exist, [&] { return e.load(tile.element, from, bytes); },
        [&] { return e.constant(tile.pad); });
  }
  // LLVM makes a branch of each condition around a load, and then no two loads
  // are on their way at once.
  Type integer = e.b.getIntegerType(bits);
  Value pad = e.constant(tile.pad);
  if (pad.getType() != integer)
    pad = e.bitcast(integer, pad);
  std::string type = ".b" + std::to_string(bits);
  StringRef constraint = bits == 16 ? "h" : bits == 32 ? "r" : "l";
  Value is = LLVM::ZExtOp::create(e.b, e.loc, e.b.getI32Type(), exist);
  Value loaded = e.assembly(
      integer,
      "{ .reg .pred there; setp.ne.b32 there, $2, 0; mov" + type +
          " $0, $3; @there ld.global" + type + " $0, [$1]; }",
      ("=&" + constraint + ",l,r," + constraint + ",~{memory}").str(),
      {from, is, pad});
  if (tile.element == integer)
    return loaded;
  return e.bitcast(tile.element, loaded);
}

void MainloopEpilogue::loadExtras(Region &region, unsigned firstArgument) {
  for (auto [n, extra] : llvm::enumerate(extras)) {
    if (!extra.alongN || !extra.values.empty() || !extra.ofPiece.empty() ||
        region.front().getArgument(firstArgument + n).use_empty())
      continue;
    size_t rows = extra.alongM ? fragment.rows.size() : 1;
    if (rows * fragment.cols.size() > kRegistersOfExtras)
      continue;
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < fragment.cols.size(); ++j)
        extra.values.push_back(loadExtra(extra, i, j));
  }
}

/// The elements of the extras that a region uses.
SmallVector<Value> MainloopEpilogue::extraElements(Region &region, size_t i,
                                                   size_t j,
                                                   unsigned firstArgument) {
  SmallVector<Value> values;
  for (auto [n, extra] : llvm::enumerate(extras)) {
    BlockArgument arg = region.front().getArgument(firstArgument + n);
    values.push_back(arg.use_empty() ? e.constant(extra.tile.pad)
                                     : readExtra(extra, i, j));
  }
  return values;
}

SmallVector<Value> MainloopEpilogue::initial() {
  loadExtras(mainloop.getPrologue(), 0);
  size_t columns = fragment.cols.size(), size = fragment.rows.size() * columns;
  SmallVector<Value> elements(mainloop.getNumAccumulators() * size);
  for (size_t i = 0; i < fragment.rows.size(); ++i)
    for (size_t j = 0; j < columns; ++j) {
      SmallVector<Value> values =
          e.clone(mainloop.getPrologue().front(),
                  extraElements(mainloop.getPrologue(), i, j, 0));
      for (auto [accumulator, value] : llvm::enumerate(values))
        elements[accumulator * size + i * columns + j] = value;
    }
  return elements;
}

Value MainloopEpilogue::convert(Value value, Type to) {
  return convertElements(e.b, e.loc, value, to);
}

Value MainloopEpilogue::result(ArrayRef<Value> elements, size_t i, size_t j) {
  size_t columns = fragment.cols.size(), size = fragment.rows.size() * columns;
  SmallVector<Value> arguments;
  for (size_t first = 0; first < elements.size(); first += size)
    arguments.push_back(elements[first + i * columns + j]);
  llvm::append_range(
      arguments, extraElements(mainloop.getEpilogue(), i, j, arguments.size()));
  return e.clone(mainloop.getEpilogue().front(), arguments).front();
}

/// How many neighbouring columns are neighbours in memory, too, and are
/// stored at once if they all exist and the first one's place allows.
size_t MainloopEpilogue::storeWidth() {
  size_t width = shape.neighbours;
  APInt stride;
  bool contiguous =
      shape.nDim >= 0 && !dest.tile.dims[shape.nDim].ids &&
      matchPattern(dest.tile.dims[shape.nDim].stride, m_ConstantInt(&stride)) &&
      stride.isOne();
  int64_t bytes = elementBytes(dest.tile.element);
  while (width > 1 && width * bytes > kChunkBytes)
    width /= 2;
  if (combine)
    if (!atomic || *combine != arith::AtomicRMWKind::addf ||
        !dest.tile.element.isF32() || !vectorAtomics)
      return 1;
  return contiguous ? width : 1;
}

/// Does every group of `width` columns start at a multiple of its size?
Value MainloopEpilogue::alignedGroups(size_t width) {
  int64_t bytes = elementBytes(dest.tile.element);
  Value address = e.toIndex(dest.tile.start);
  for (auto [d, dim] : llvm::enumerate(dest.tile.dims)) {
    Value offset = static_cast<int>(d) == shape.nDim ? dim.start : dim.stride;
    address = e.bitOr(address, e.mul(offset, bytes));
  }
  // The last dimension's stride is 1.
  return isZero(e.bitAnd(address, width * bytes - 1));
}

void cuda::addVector(Emitter &e, ArrayRef<Value> values, Value to) {
  // One step for each element, but one message for all of them; LLVM has no
  // op for that.
  std::string text =
      "red.global.add.v" + std::to_string(values.size()) + ".f32 [$0], {";
  std::string constraints = "l";
  SmallVector<Value> operands = {to};
  for (auto [n, value] : llvm::enumerate(values)) {
    text += (n ? ", $" : "$") + std::to_string(n + 1);
    constraints += ",f";
    operands.push_back(value);
  }
  e.assembly(Type(), text + "};", constraints + ",~{memory}", operands);
}

void MainloopEpilogue::storeGroup(ArrayRef<Value> values, size_t i, size_t j) {
  auto type =
      VectorType::get(values.size(), Emitter::storedType(dest.tile.element));
  Value to = address(dest, i, j);
  int64_t bytes = values.size() * elementBytes(dest.tile.element);
  if (!combine) {
    Value vector = LLVM::UndefOp::create(e.b, e.loc, type);
    for (auto [n, value] : llvm::enumerate(values))
      vector = LLVM::InsertElementOp::create(
          e.b, e.loc, vector, e.toStored(convert(value, dest.tile.element)),
          e.i32(n));
    e.store(vector, to, bytes);
    return;
  }
  addVector(e,
            llvm::map_to_vector(
                values,
                [&](Value value) { return convert(value, dest.tile.element); }),
            to);
}

void MainloopEpilogue::storeElement(Value value, size_t i, size_t j) {
  Value to = address(dest, i, j);
  Type element = dest.tile.element;
  int64_t bytes = elementBytes(element);
  if (!combine) {
    e.store(convert(value, element), to, bytes);
    return;
  }
  if (!atomic) {
    Value old = e.load(element, to, bytes);
    Value sum = arith::getReductionOp(*combine, e.b, e.loc,
                                      convert(old, value.getType()), value);
    e.store(convert(sum, element), to, bytes);
    return;
  }
  // One element, as a memref, for the op that knows how to do this.
  auto type = MemRefType::get({}, element);
  Value generic = LLVM::AddrSpaceCastOp::create(
      e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext()), to);
  atomicCombine(e.b, e.loc, *combine, convert(value, element),
                memrefAt(e.b, e.loc, generic, type, {}), {});
}

/// Does the destination have a place for accumulator (i, j)?
Value MainloopEpilogue::isStored(size_t i, size_t j) {
  Value exist = exists(dest, i, j);
  if (!exist)
    exist = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
  if (shape.mDim < 0)
    exist = e.logicalAnd(exist, isZero(fragment.rows[i]));
  if (shape.nDim < 0)
    exist = e.logicalAnd(exist, isZero(fragment.cols[j]));
  return exist;
}

/// Lanes that have eight columns, and the columns that they have of as many
/// eights.
static constexpr size_t kQuad = 4, kInQuad = 2 * kQuad;

bool MainloopEpilogue::canExchange() {
  unsigned bits = dest.tile.element.getIntOrFloatBitWidth();
  return shape.laneOfQuads && bits == kPairBits / 2 &&
         fragment.cols.size() % kInQuad == 0 && storeWidth() == 2;
}

/// A thread has two neighbours of each of four eights of columns. After two
/// rounds, in each of which two lanes exchange half of what they have, it has
/// one of the eights: its words are those of the lanes in turn.
static void exchangeInQuad(Emitter &e, Value lane,
                           MutableArrayRef<Value> words) {
  for (size_t apart : {1, 2}) {
    Value isUpper = e.equal(e.rem(e.div(lane, apart), 2), e.i32(1));
    for (size_t low = 0; low < kQuad; ++low) {
      size_t high = low + apart;
      if (low & apart)
        continue;
      Value given = e.select(isUpper, words[low], words[high]);
      Value taken = shuffleLanes(e.b, e.loc, given, apart);
      words[low] = e.select(isUpper, taken, words[low]);
      words[high] = e.select(isUpper, words[high], taken);
    }
  }
}

void MainloopEpilogue::storeExchanged(
    function_ref<Value(size_t, size_t)> element) {
  loadForResults();
  size_t columns = fragment.cols.size();
  Type narrow = dest.tile.element, word = e.b.getI32Type();
  auto pairType = VectorType::get(2, narrow);
  SmallVector<Value> values;
  for (size_t i = 0; i < fragment.rows.size(); ++i)
    for (size_t first = 0; first < columns; first += kInQuad) {
      SmallVector<Value> words;
      for (size_t j = first; j < first + kInQuad; j += 2) {
        Value pair = e.pair(convert(element(i, j), narrow),
                            convert(element(i, j + 1), narrow));
        words.push_back(e.bitcast(word, pair));
      }
      exchangeInQuad(e, shape.laneOfQuads, words);
      for (Value each : words) {
        Value pair = e.bitcast(pairType, each);
        for (int64_t n : {0, 1})
          values.push_back(e.extract(pair, n));
      }
    }
  SmallVector<Value> cols;
  Value own = e.mul(e.rem(shape.laneOfQuads, kQuad), kInQuad);
  for (size_t first = 0; first < columns; first += kInQuad)
    for (size_t n = 0; n < kInQuad; ++n)
      cols.push_back(e.add(own, kQuad * first + n));
  shape.neighbours = kInQuad;
  shape.laneOfQuads = Value();
  setCols(cols);
  storeAll([&](size_t i, size_t j) { return values[i * columns + j]; });
}

void MainloopEpilogue::storeAll(function_ref<Value(size_t, size_t)> element) {
  if (canExchange())
    return storeExchanged(element);
  size_t columns = fragment.cols.size(), width = storeWidth();
  Value aligned = width > 1 ? alignedGroups(width) : Value();
  loadForResults();
  for (size_t i = 0; i < fragment.rows.size(); ++i)
    for (size_t first = 0; first < columns; first += width) {
      SmallVector<Value> values;
      for (size_t j = first; j < first + width; ++j)
        values.push_back(element(i, j));
      auto storeEach = [&] {
        for (size_t j = first; j < first + width; ++j)
          e.ifThen(isStored(i, j),
                   [&] { storeElement(values[j - first], i, j); });
      };
      if (width == 1) {
        storeEach();
        continue;
      }
      // If the last one of them exists, all do.
      Value all = e.logicalAnd(aligned, isStored(i, first + width - 1));
      e.ifThen(all, [&] { storeGroup(values, i, first); }, storeEach);
    }
}

SmallVector<unsigned> MainloopEpilogue::extrasByChunks() {
  SmallVector<unsigned> found;
  Region &region = mainloop.getEpilogue();
  for (auto [n, extra] : llvm::enumerate(extras)) {
    APInt stride;
    if (!extra.alongM || !extra.alongN ||
        region.front()
            .getArgument(mainloop.getNumAccumulators() + n)
            .use_empty() ||
        extra.tile.element.getIntOrFloatBitWidth() != kPairBits / 2)
      continue;
    const TileDim &along = extra.tile.dims[dimOfExtra(n, shape.nDim)];
    if (!along.ids && matchPattern(along.stride, m_ConstantInt(&stride)) &&
        stride.isOne())
      found.push_back(n);
  }
  return found;
}

void MainloopEpilogue::finish(ArrayRef<Value> elements) {
  storeAll([&](size_t i, size_t j) { return result(elements, i, j); });
}

MainloopEpilogue::MainloopEpilogue(Emitter &e, StoreOp store,
                                   ValueRange subscripts, AccumulatorTile shape,
                                   bool vectorAtomics, const ChunkMap &chunks)
    : e(e), mainloop(store->getParentOfType<MainloopOp>()), shape(shape),
      vectorAtomics(vectorAtomics), chunks(chunks),
      place{store.getDest(), subscripts,
            cast<VectorType>(store.getTile().getType()).getShape()},
      combine(store.getCombine()), atomic(combine.has_value()) {}

void MainloopEpilogue::store(Emitter &e, StoreOp store, ValueRange subscripts,
                             AccumulatorTile shape, const Fragment &fragment,
                             bool vectorAtomics, const ChunkMap &chunks,
                             function_ref<Value(size_t, size_t)> element) {
  MainloopEpilogue epilogue(e, store, subscripts, shape, vectorAtomics, chunks);
  epilogue.fragment.rows = fragment.rows;
  epilogue.dest = epilogue.accessDest();
  epilogue.locateRows(epilogue.dest);
  epilogue.setCols(fragment.cols);
  epilogue.storeAll(element);
}

Value MainloopEpilogue::isZero(Value number) {
  Value zero = number.getType().isIndex() ? e.index(0) : e.i32(0);
  return e.equal(number, zero);
}
