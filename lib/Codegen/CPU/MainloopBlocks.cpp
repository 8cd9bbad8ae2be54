//===- MainloopBlocks.cpp - Blocks of sums of a mainloop ------------------===//

#include "MainloopEmitter.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <functional>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

/// Bytes of the shortest vector that goes past the caches.
static constexpr int64_t kLeastStreamed = 16;
/// Bytes of the smallest tile that does: a fence ends each, which takes as long
/// as the products of a row of few elements that are not zero.
static constexpr int64_t kLeastStreamedTile = 4096;
/// Rows of C to which an id is applied at once. If they lie a power of two
/// bytes apart, more of them, and of what else is read there, would share a set
/// of the first cache.
static constexpr int64_t kRowsTogether = 4;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

SmallVector<Value> MainloopEmitter::positionOf(AffineMap map,
                                               ArrayRef<Value> point) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr result) -> Value {
    if (auto plain = dyn_cast<AffineDimExpr>(result))
      return point[plain.getPosition()];
    return affine::expandAffineExpr(b, loc, result, point, {});
  });
}

SmallVector<Value> MainloopEmitter::coordinatesOf(const TileAccess &tile,
                                                  AffineMap map,
                                                  ArrayRef<Value> point) {
  SmallVector<Value> coordinates;
  for (auto [dim, at] : llvm::zip(tile.dims, positionOf(map, point)))
    coordinates.push_back(coordinate(dim, at));
  return coordinates;
}

/// A vector from memory; lanes that a mask, unless null, leaves out are 0.
Value MainloopEmitter::load(VectorType type, Value memref,
                            ValueRange coordinates, Value mask) {
  // A vector has to be in one piece.
  if (plan.lanes == 1)
    return toVector(memref::LoadOp::create(b, loc, memref, coordinates));
  if (!mask)
    return vector::LoadOp::create(b, loc, type, memref, coordinates);
  return vector::MaskedLoadOp::create(b, loc, type, memref, coordinates, mask,
                                      zero(type));
}

/// The element of a tile at an iteration point, as a scalar.
Value MainloopEmitter::scalar(const TileAccess &tile, AffineMap map,
                              ArrayRef<Value> point) {
  return memref::LoadOp::create(b, loc, tile.memref,
                                coordinatesOf(tile, map, point));
}

Value MainloopEmitter::vector(const TileAccess &tile, AffineMap map,
                              ArrayRef<Value> point, Value mask) {
  return load(vectorOf(getElementTypeOrSelf(tile.memref)), tile.memref,
              coordinatesOf(tile, map, point), mask);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void MainloopEmitter::forRows(SumBlock &block,
                              function_ref<void(const SumBlock &)> body) {
  if (!plan.m)
    return body(block);
  auto rows = [&](Value row, ValueRange) {
    block.origin[*plan.m] = row;
    body(block);
    return SmallVector<Value>();
  };
  // The first block waits for columns that the others find in the cache.
  block.first = true;
  forLoop(index(0), min(limits[*plan.m], index(plan.rows)), plan.rows, {},
          rows);
  block.first = false;
  forLoop(index(plan.rows), limits[*plan.m], plan.rows, {}, rows);
}

void MainloopEmitter::forBlocks(function_ref<void(const SumBlock &)> body) {
  SumBlock block{
      SmallVector<Value>(mainloop.getTile().size()), plan.vectors, {}};
  for (unsigned dim : plan.wide)
    block.origin[dim] = index(0);
  Value limit = limits[plan.n];
  auto panels = [&](function_ref<void()> inner) {
    int64_t panel = plan.panel();
    Value whole = roundDown(limit, panel);
    forLoop(index(0), whole, panel, {}, [&](Value n, ValueRange) {
      block.origin[plan.n] = n;
      block.vectors = plan.vectors;
      block.mask = Value();
      inner();
      return SmallVector<Value>();
    });
    forLoop(whole, limit, plan.lanes, {}, [&](Value n, ValueRange) {
      block.origin[plan.n] = n;
      block.vectors = 1;
      if (plan.lanes > 1)
        block.mask = vector::CreateMaskOp::create(
            b, loc, vectorOf(b.getI1Type()), ValueRange{sub(limit, n)});
      inner();
      return SmallVector<Value>();
    });
  };
  auto rows = [&] {
    if (!plan.dots)
      return forRows(block, body);
    forRange(limits[*plan.m], plan.rows, [&](Value row) {
      block.origin[*plan.m] = row;
      panels([&] { body(block); });
    });
  };
  std::function<void(unsigned)> nest = [&](unsigned i) {
    if (i == plan.batchDims.size())
      return rows();
    forRange(limits[plan.batchDims[i]], 1, [&](Value at) {
      block.origin[plan.batchDims[i]] = at;
      nest(i + 1);
    });
  };
  // Dot instructions have loops of their own, and here rows are in one piece.
  if (plan.dots)
    return nest(0);
  // A panel of B, in a cache, meets all of the tile's rows.
  panels([&] { nest(0); });
}

SmallVector<Value> MainloopEmitter::point(const SumBlock &block, int64_t row,
                                          int64_t v) {
  SmallVector<Value> result(block.origin);
  result[plan.n] = add(result[plan.n], v * plan.lanes);
  int64_t left = row;
  for (unsigned dim : llvm::reverse(plan.wide)) {
    int64_t extent = mainloop.getTile()[dim];
    result[dim] = add(result[dim], left % extent);
    left /= extent;
  }
  if (!plan.m || row == 0)
    return result;
  Value limit = limits[*plan.m];
  result[*plan.m] = add(result[*plan.m], row);
  std::optional<int64_t> known = getConstantIntValue(limit);
  if (!known || *known % plan.rows)
    result[*plan.m] = min(result[*plan.m], sub(limit, index(1)));
  return result;
}

Value MainloopEmitter::evaluate(Region &region, ValueRange elements,
                                unsigned result) {
  IRMapping mapping;
  Block &body = region.front();
  mapping.map(body.getArguments(), elements);
  for (Operation &op : body.without_terminator()) {
    auto isVector = [&](Value operand) {
      return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
    };
    bool vectors = llvm::any_of(op.getOperands(), isVector);
    IRMapping operands;
    for (Value operand : op.getOperands()) {
      Value value = mapping.lookupOrDefault(operand);
      operands.map(operand, vectors ? toVector(value) : value);
    }
    Operation *copy = b.clone(op, operands);
    if (vectors)
      for (OpResult value : copy->getResults())
        value.setType(vectorOf(value.getType()));
    mapping.map(op.getResults(), copy->getResults());
  }
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(result));
}

SmallVector<Value> MainloopEmitter::extrasAt(const SumBlock &block, int64_t row,
                                             int64_t v) {
  SmallVector<Value> at = point(block, row, v), values;
  for (auto [extra, map] : llvm::zip(extras, extraMaps)) {
    values.push_back(findDim(map, plan.n)
                         ? vector(extra, map, at, maskOf(block, v))
                         : scalar(extra, map, at));
  }
  return values;
}

BlockSums MainloopEmitter::initial(Accumulator &own, const SumBlock &block) {
  BlockSums sums;
  for (int64_t row = 0; row < plan.rows; ++row)
    for (int64_t v = 0; v < block.vectors; ++v)
      sums.push_back(toVector(evaluate(mainloop.getPrologue(),
                                       extrasAt(block, row, v), own.number)));
  return sums;
}

bool MainloopEmitter::readsDestination() {
  return mainloop.getCombine() ||
         llvm::any_of(mainloop.getExtras(), [&](Value extra) {
           return extra.getDefiningOp<ViewOp>().getSrc() == mainloop.getDest();
         });
}

/// Is the destination, which is only written, too large for a cache, and do the
/// tile's rows of it consist of whole cache lines? Then stores need not read
/// them first.
Value MainloopEmitter::findStreaming() {
  auto type = cast<MemRefType>(dest.memref.getType());
  int64_t bytes = elementBytes(type.getElementType()),
          known = type.hasStaticShape() ? type.getNumElements() * bytes
                                        : CpuTarget::l3Bytes,
          tile = ShapedType::getNumElements(mainloop.getAccumulatorShape());
  if (tile * bytes < kLeastStreamedTile || readsDestination() ||
      plan.transposeC || results || storedBytes() < kLeastStreamed ||
      CpuTarget::lineBytes % storedBytes() != 0 || known < CpuTarget::l3Bytes)
    return Value();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, dest.memref);
  Value size = index(bytes),
        pointer =
            memref::ExtractAlignedPointerAsIndexOp::create(b, loc, dest.memref);
  Value first = add(metadata.getOffset(), dest.dims.back().start);
  Value bits = add(pointer, mul(first, size));
  if (streamedVectors() > 1)
    bits = bitOr(bits, mul(dest.dims.back().limit, bytes));
  for (unsigned d = 0; d < dest.dims.size(); ++d) {
    if (d + 1 < dest.dims.size())
      bits = bitOr(bits, mul(metadata.getStrides()[d], bytes));
    size = mul(size, metadata.getSizes()[d]);
  }
  Value rest = logicalAnd(bits, index(CpuTarget::lineBytes - 1));
  return logicalAnd(
      equal(rest, index(0)),
      compare(arith::CmpIPredicate::uge, size, index(CpuTarget::l3Bytes)));
}

/// Stores a row of a block, or adds it to what is there.
void MainloopEmitter::storeRow(const SumBlock &block, ValueRange vectors,
                               ValueRange coordinates) {
  auto store = [&](bool streamed) {
    for (auto [v, value] : llvm::enumerate(vectors)) {
      SmallVector<Value> to(coordinates);
      to.back() = add(to.back(), v * plan.lanes);
      Value mask = maskOf(block, v), result = value;
      if (mainloop.getCombine()) {
        Value old =
            load(cast<VectorType>(value.getType()), dest.memref, to, mask);
        result =
            arith::getReductionOp(*mainloop.getCombine(), b, loc, old, value);
      }
      if (plan.lanes == 1)
        memref::StoreOp::create(b, loc,
                                vector::ExtractOp::create(b, loc, result, 0),
                                dest.memref, to);
      else if (mask)
        vector::MaskedStoreOp::create(b, loc, dest.memref, to, mask, result);
      else
        vector::StoreOp::create(b, loc, result, dest.memref, to, streamed,
                                streamed ? llvm::MaybeAlign(storedBytes())
                                         : llvm::MaybeAlign());
    }
  };
  if (!streams || block.mask || storesRows())
    return store(block.streamed);
  ifStreams([&] { store(/*streamed=*/true); },
            [&] { store(/*streamed=*/false); });
}

/// A result as C holds it.
Value MainloopEmitter::narrow(Value result) {
  Type type = getElementTypeOrSelf(mainloop.getDest());
  if (getElementTypeOrSelf(result) == type)
    return result;
  bool isFloat = isa<FloatType>(type);
  if (auto vector = dyn_cast<VectorType>(result.getType()))
    type = vector.clone(type);
  if (isFloat)
    return arith::TruncFOp::create(b, loc, type, result);
  return arith::TruncIOp::create(b, loc, type, result);
}

void MainloopEmitter::finish(const SumBlock &block, ArrayRef<BlockSums> sums) {
  int64_t rows = sums.front().size() / block.vectors;
  for (int64_t row = 0; row < rows; ++row) {
    // Does the row exist? Gathered ones may lie beyond the tensor.
    Value exists;
    auto also = [&](Value condition) {
      if (condition)
        exists = exists ? logicalAnd(exists, condition) : condition;
    };
    SmallVector<Value> at = point(block, row, 0);
    if (plan.m && row > 0) {
      std::optional<int64_t> known = getConstantIntValue(limits[*plan.m]);
      if (!known || *known % plan.rows)
        also(lessThan(add(block.origin[*plan.m], row), limits[*plan.m]));
    }
    SmallVector<Value> coordinates;
    for (auto [d, dim] : llvm::enumerate(dest.dims)) {
      Value inside;
      coordinates.push_back(coordinateInTensor(
          b, loc, dim, at[destMap.getDimPosition(d)], &inside));
      also(inside);
    }
    auto store = [&] {
      SmallVector<Value> results;
      for (int64_t v = 0; v < block.vectors; ++v) {
        SmallVector<Value> elements;
        for (const BlockSums &sum : sums)
          elements.push_back(sum[row * block.vectors + v]);
        llvm::append_range(elements, extrasAt(block, row, v));
        Value result =
            narrow(toVector(evaluate(mainloop.getEpilogue(), elements)));
        results.push_back(result);
      }
      storeRow(block, results, coordinates);
    };
    if (!exists) {
      store();
      continue;
    }
    ifThen(exists, store);
  }
}

/// `then` if stores go past the caches, else `otherwise`.
void MainloopEmitter::ifStreams(function_ref<void()> then,
                                function_ref<void()> otherwise) {
  ifThen(streams, then, otherwise);
}

/// Stores what the sums of the only chunk come to.
void MainloopEmitter::finishBlocks(
    function_ref<BlockSums(Accumulator &, const SumBlock &)> sumsOf) {
  forBlocks([&](const SumBlock &block) {
    SmallVector<BlockSums> sums =
        ofAll([&](Accumulator &own) { return sumsOf(own, block); });
    if (!storesRows())
      return finish(block, sums);
    ifStreams(
        [&] {
          forAccumulators([&](Accumulator &own) {
            storeSums(own, block, sums[own.number]);
          });
        },
        [&] { finish(block, sums); });
  });
  if (storesRows())
    ifStreams([&] { finishRows(); }, [] {});
}

/// The same for tiles of sums.
void MainloopEmitter::finishSums() {
  auto blocks = [&] {
    forBlocks([&](const SumBlock &block) {
      finish(block, ofAll([&](Accumulator &own) {
               return loadSums(own, block, plan.rows);
             }));
    });
  };
  if (!storesRows())
    return blocks();
  ifStreams([&] { finishRows(); }, blocks);
}

/// Stores a tile's results row by row, a cache line at a time.
void MainloopEmitter::finishRows() {
  SumBlock block{
      SmallVector<Value>(mainloop.getTile().size()), streamedVectors(), {}};
  block.streamed = true;
  SmallVector<unsigned> dims(plan.batchDims);
  llvm::append_range(dims, plan.wide);
  if (plan.m)
    dims.push_back(*plan.m);
  std::function<void(unsigned)> nest = [&](unsigned i) {
    bool inner = i == dims.size();
    unsigned dim = inner ? plan.n : dims[i];
    forRange(limits[dim], inner ? plan.lanes * block.vectors : 1,
             [&](Value at) {
               block.origin[dim] = at;
               inner ? finish(block, ofAll([&](Accumulator &own) {
                                return loadSums(own, block, 1);
                              }))
                     : nest(i + 1);
             });
  };
  nest(0);
}

BlockSums MainloopEmitter::loadSums(Accumulator &own, const SumBlock &block,
                                    int64_t rows) {
  BlockSums sums;
  AffineMap map = getSumsMap(mainloop, plan);
  auto type = cast<MemRefType>(own.sumsTile.getType());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < block.vectors; ++v) {
      SmallVector<Value> position = positionOf(map, point(block, row, v));
      sums.push_back(vector::LoadOp::create(
          b, loc, vectorOf(type.getElementType()), own.sumsTile, position));
    }
  return sums;
}

void MainloopEmitter::storeSums(Accumulator &own, const SumBlock &block,
                                ArrayRef<Value> sums) {
  AffineMap map = getSumsMap(mainloop, plan);
  // Rows beyond the last one are the last one: they are stored first.
  for (int64_t row = plan.rows; row-- > 0;)
    for (int64_t v = 0; v < block.vectors; ++v) {
      SmallVector<Value> position = positionOf(map, point(block, row, v));
      vector::StoreOp::create(b, loc, sums[row * block.vectors + v],
                              own.sumsTile, position);
    }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Runs through the elements of a tile of C, in the order of its dimensions;
/// `body` gets the first of `together` of them, or of 1, along lanes.
void MainloopEmitter::forElements(
    int64_t together, function_ref<void(ArrayRef<Value>, int64_t)> body) {
  SmallVector<Value> at(mainloop.getTile().size());
  std::function<void(unsigned, int64_t)> nest = [&](unsigned d, int64_t rows) {
    if (d == acc.getNumResults())
      return body(at, rows);
    unsigned dim = acc.getDimPosition(d);
    auto run = [&](Value from, Value to, int64_t rows) {
      forLoop(from, to, dim == plan.n ? rows : 1, {}, [&](Value i, ValueRange) {
        at[dim] = i;
        nest(d + 1, rows);
        return SmallVector<Value>();
      });
    };
    if (dim != plan.n || together == 1)
      return run(index(0), limits[dim], rows);
    Value whole = roundDown(limits[dim], together);
    run(index(0), whole, together);
    run(whole, limits[dim], 1);
  };
  nest(0, 1);
}

SmallVector<Value> MainloopEmitter::extrasAt(ArrayRef<Value> point) {
  SmallVector<Value> values;
  for (auto [extra, map] : llvm::zip(extras, extraMaps))
    values.push_back(scalar(extra, map, point));
  return values;
}

void MainloopEmitter::initElements() {
  forElements(1, [&](ArrayRef<Value> at, int64_t) {
    SmallVector<Value> values = extrasAt(at),
                       position = positionOf(getSumsMap(mainloop, plan), at);
    forAccumulators([&](Accumulator &own) {
      memref::StoreOp::create(
          b, loc, evaluate(mainloop.getPrologue(), values, own.number),
          own.sumsTile, position);
    });
  });
}

/// Stores what the elements of a tile of sums come to. Rows of C that lanes run
/// through share ids; a few of them are done together.
void MainloopEmitter::finishElements() {
  unsigned across = *findDim(acc, plan.n);
  forElements(dest.dims[across].ids ? 1 : kRowsTogether,
              [&](ArrayRef<Value> at, int64_t rows) {
                finishElements(SmallVector<Value>(at), across, rows);
              });
}

/// The same for `rows` elements that follow each other along dimension `across`
/// of C.
void MainloopEmitter::finishElements(SmallVector<Value> at, unsigned across,
                                     int64_t rows) {
  Value exists, first = at[plan.n];
  SmallVector<Value> to;
  for (auto [d, dim] : llvm::enumerate(dest.dims)) {
    Value inside;
    to.push_back(
        coordinateInTensor(b, loc, dim, at[acc.getDimPosition(d)], &inside));
    if (inside)
      exists = exists ? logicalAnd(exists, inside) : inside;
  }
  OpBuilder::InsertionGuard guard(b);
  if (exists) {
    auto branch = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  // Reads come first: stores could change what is read, as far as LLVM knows.
  SmallVector<SmallVector<Value>> elements(rows);
  for (auto [row, values] : llvm::enumerate(elements)) {
    at[plan.n] = add(first, row);
    forAccumulators([&, &values = values](Accumulator &own) {
      values.push_back(memref::LoadOp::create(
          b, loc, own.sumsTile, positionOf(getSumsMap(mainloop, plan), at)));
    });
    llvm::append_range(values, extrasAt(at));
  }
  for (auto [row, values] : llvm::enumerate(elements)) {
    Value result = narrow(evaluate(mainloop.getEpilogue(), values));
    if (row)
      to[across] = coordinate(dest.dims[across], add(first, row));
    if (mainloop.getCombine())
      result = arith::getReductionOp(
          *mainloop.getCombine(), b, loc,
          memref::LoadOp::create(b, loc, dest.memref, to), result);
    memref::StoreOp::create(b, loc, result, dest.memref, to);
  }
}
