//===- TileLowering.cpp - SRead and SWrite by a block of threads ----------===//
//
// Each thread moves some runs of a tile's innermost dimension: runs of up to 16
// bytes where that is contiguous in the tensor, single elements otherwise.
// Elements outside of the tensor, and rows of absent ids, are padded (SRead) or
// skipped (SWrite).
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Lowering.h"

#include "Codegen/Common/TileInput.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Bytes that one thread moves at once.
static constexpr int64_t kAccessBytes = 16;
/// Elements that ids select within rows, which a thread loads before it stores
/// the first of them: each comes from a line of its own.
static constexpr int64_t kGatheredAtOnce = 4;

namespace {

/// Moves one tile; SRead and SWrite differ in the direction.
class TileMover {
public:
  TileMover(OpBuilder &builder, Location loc, const TileMove &move,
            const ChunkMap &chunks, const Workers &workers)
      : builder(builder), loc(loc), e(builder, loc), tensor(move.tensor),
        tile(move.tile), tensorType(cast<MemRefType>(tensor.getType())),
        tileType(cast<MemRefType>(tile.getType())), workers(workers),
        dims(tileDimensions(builder, loc,
                            {tensor, move.subscripts, tileType.getShape()},
                            chunks)) {}

  void read(TypedAttr pad) {
    padding = e.constant(pad);
    isRead = true;
    move();
  }

  void write(std::optional<arith::AtomicRMWKind> kind, bool isAtomic) {
    combine = kind;
    atomic = kind && isAtomic;
    isRead = false;
    move();
  }

private:
  void move() {
    lanes = chooseLanes();
    Value aligned = lanes > 1 ? isAligned() : Value();
    SmallVector<OpFoldResult> extents;
    int64_t runs = 1;
    for (const TileDimension &dim : dims) {
      bool isInner = &dim == &dims.back();
      int64_t extent = isInner ? dim.extent / lanes : dim.extent;
      extents.push_back(builder.getIndexAttr(extent));
      runs *= extent;
    }
    if (isRead && !dims.empty() && dims.back().ids)
      return gatherElements(extents, runs);
    workers.share(builder, loc, e.index(runs), [&](Value number) {
      SmallVector<Value> position = delinearize(builder, loc, number, extents);
      if (lanes == 1)
        return moveElement(position);
      position.back() = e.mul(position.back(), lanes);
      moveRun(position, aligned);
    });
  }

  //===--------------------------------------------------------------------===//
  // Runs
  //===--------------------------------------------------------------------===//

  /// Elements that one thread moves at once.
  int64_t chooseLanes() {
    Type element = tensorType.getElementType();
    SmallVector<int64_t> strides;
    int64_t offset;
    if (dims.empty() || dims.back().ids || atomic || element.isInteger(1) ||
        !VectorType::isValidElementType(element) || isa<IndexType>(element) ||
        failed(tensorType.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1 || !tileType.getLayout().isIdentity())
      return 1;
    int64_t lanes =
        kAccessBytes / std::max(elementBytes(element),
                                elementBytes(tileType.getElementType()));
    while (lanes > 1 && dims.back().extent % lanes)
      lanes /= 2;
    return std::max<int64_t>(lanes, 1);
  }

  int64_t runBytes(MemRefType type) {
    return lanes * elementBytes(type.getElementType());
  }

  /// Do all runs start where an access to so many bytes may?
  Value isAligned() {
    Value aligned = e.isAligned(tensor, dims.back().start, /*limit=*/Value(),
                                runBytes(tensorType));
    if (!isa<BlockArgument>(tile)) // a buffer, which is aligned
      return aligned;
    return e.logicalAnd(
        aligned, e.isAligned(tile, e.index(0), Value(), runBytes(tileType)));
  }

  void moveRun(SmallVector<Value> &position, Value aligned) {
    auto [coordinates, exists] = locate(position, /*count=*/lanes);
    Value isWhole = exists ? e.logicalAnd(exists, aligned) : aligned;
    auto moveWhole = [&, &coordinates = coordinates] {
      if (isRead)
        storeRun(widen(loadRun(tensor, coordinates)), tile, position);
      else
        writeRun(position, coordinates);
    };
    e.ifThen(isWhole, moveWhole, [&] {
      e.forEach(e.index(0), e.index(lanes), e.index(1), [&](Value i) {
        SmallVector<Value> single(position);
        single.back() = e.add(single.back(), i);
        moveElement(single);
      });
    });
  }

  void writeRun(ValueRange position, ValueRange coordinates) {
    Value run = narrow(loadRun(tile, position));
    if (combine)
      run = arith::getReductionOp(*combine, builder, loc,
                                  loadRun(tensor, coordinates), run);
    storeRun(run, tensor, coordinates);
  }

  Value loadRun(Value memref, ValueRange at) {
    auto type = cast<MemRefType>(memref.getType());
    return e.loadVector(VectorType::get(lanes, type.getElementType()), memref,
                        at, runBytes(type));
  }

  void storeRun(Value run, Value memref, ValueRange at) {
    auto type = cast<MemRefType>(memref.getType());
    e.storeVector(run, memref, at, runBytes(type));
  }

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// The coordinates of the element at `position` of the tile, and whether it
  /// and the `count` - 1 next to it exist; null if they all do.
  std::pair<SmallVector<Value>, Value> locate(ArrayRef<Value> position,
                                              int64_t count = 1) {
    SmallVector<Value> coordinates;
    Value exists;
    auto require = [&](Value condition) {
      exists = exists ? e.logicalAnd(exists, condition) : condition;
    };
    for (auto [dim, i] : llvm::zip_equal(dims, position)) {
      if (dim.ids) {
        coordinates.push_back(coordinateOfId(dim, i, require));
        continue;
      }
      if (!dim.isFull()) {
        Value last = i;
        if (count > 1 && &dim == &dims.back())
          last = e.add(i, count - 1);
        require(e.lessThan(last, dim.limit));
      }
      coordinates.push_back(e.add(dim.start, i));
    }
    return {coordinates, exists};
  }

  /// Ids may be of an index of a larger tensor. Absent ids are not
  /// loaded: the first one stands in for them.
  Value coordinateOfId(const TileDimension &dim, Value i,
                       function_ref<void(Value)> require) {
    Value live = e.lessThan(i, dim.limit);
    Value at = e.add(dim.start, e.select(live, i, e.index(0)));
    Value id = e.toIndex(e.loadAt(dim.ids, at));
    require(live);
    require(e.inRange(id, dim.size));
    return id;
  }

  void moveElement(ArrayRef<Value> position) {
    auto [coordinates, exists] = locate(position);
    if (isRead)
      readElement(position, coordinates, exists);
    else
      writeElement(position, coordinates, exists);
  }

  /// Reads the tile's elements, of which there are `total`, several at once.
  void gatherElements(ArrayRef<OpFoldResult> extents, int64_t total) {
    Value workerCount = workers.count(builder, loc);
    std::optional<int64_t> threads = getConstantIntValue(workerCount);
    int64_t atOnce = threads
                         ? std::min<int64_t>(llvm::divideCeil(total, *threads),
                                             kGatheredAtOnce)
                         : 1;
    struct Element {
      SmallVector<Value> position, coordinates;
      Value isMine, exists, value;
    };
    SmallVector<Element> elements(atOnce);
    auto gather = [&](Value number) {
      for (auto [i, element] : llvm::enumerate(elements)) {
        if (i)
          number = e.add(number, workerCount);
        element.position = delinearize(builder, loc, number, extents);
        std::tie(element.coordinates, element.exists) =
            locate(element.position);
        // The loop's condition is about the first one.
        if (i) {
          element.isMine = e.lessThan(number, e.index(total));
          element.exists = e.logicalAnd(element.exists, element.isMine);
        }
      }
      for (Element &element : elements)
        element.value = loadElement(element.coordinates, element.exists);
      for (Element &element : elements) {
        auto store = [&] { e.storeAt(element.value, tile, element.position); };
        if (element.isMine)
          e.ifThen(element.isMine, store);
        else
          store();
      }
    };
    e.forEach(workers.id(builder, loc), e.index(total),
              e.mul(workerCount, atOnce), gather);
  }

  void readElement(ArrayRef<Value> position, ValueRange coordinates,
                   Value exists) {
    e.storeAt(loadElement(coordinates, exists), tile, position);
  }

  /// The element, or what is read in its place; null `exists`: it does.
  Value loadElement(ValueRange coordinates, Value exists) {
    auto load = [&] { return widen(e.loadAt(tensor, coordinates)); };
    return exists ? e.choose(exists, load, [&] { return padding; }) : load();
  }

  void writeElement(ArrayRef<Value> position, ValueRange coordinates,
                    Value exists) {
    auto write = [&] {
      Value value = narrow(e.loadAt(tile, position));
      if (atomic)
        return atomicCombine(builder, loc, *combine, value, tensor,
                             coordinates);
      if (combine)
        value = arith::getReductionOp(*combine, builder, loc,
                                      e.loadAt(tensor, coordinates), value);
      e.storeAt(value, tensor, coordinates);
    };
    if (exists)
      e.ifThen(exists, write);
    else
      write();
  }

  //===--------------------------------------------------------------------===//
  // Element types
  //===--------------------------------------------------------------------===//

  /// An i1 in memory is a byte, 0 or 1.
  Value widen(Value value) {
    return convertElements(builder, loc, value, tileType.getElementType());
  }
  Value narrow(Value value) {
    return convertElements(builder, loc, value, tensorType.getElementType());
  }

  OpBuilder &builder;
  Location loc;
  Emitter e;
  Value tensor, tile, padding;
  MemRefType tensorType, tileType;
  const Workers &workers;
  SmallVector<TileDimension> dims;
  std::optional<arith::AtomicRMWKind> combine;
  bool isRead = true, atomic = false;
  int64_t lanes = 1;
};

} // namespace

void cuda::lowerSRead(OpBuilder &builder, SReadOp op, const ChunkMap &chunks,
                      const Workers &workers) {
  TileMover(builder, op.getLoc(),
            {op.getSrc(), op.getDest(), op.getSubscripts()}, chunks, workers)
      .read(op.getPadOrZero());
}

void cuda::lowerSWrite(OpBuilder &builder, SWriteOp op, const ChunkMap &chunks,
                       const Workers &workers, bool atomic) {
  TileMover(builder, op.getLoc(),
            {op.getDest(), op.getTile(), op.getSubscripts()}, chunks, workers)
      .write(op.getCombine(), atomic);
}

void cuda::lowerCoords(OpBuilder &builder, CoordsOp op, const ChunkMap &chunks,
                       const Workers &workers) {
  Emitter e(builder, op.getLoc());
  const ChunkView &chunk = chunks.at(op.getIds());
  Value size = e.index(op.getIds().getType().getSize());
  workers.share(builder, e.loc, size, [&](Value i) {
    Value exists = e.lessThan(i, chunk.live);
    Value at = e.add(chunk.start, e.select(exists, i, e.index(0)));
    if (chunk.ids)
      at = e.toIndex(memref::LoadOp::create(builder, e.loc, chunk.ids, at));
    memref::StoreOp::create(builder, e.loc, e.select(exists, at, e.index(-1)),
                            op.getDest(), i);
  });
}
