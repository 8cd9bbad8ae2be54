//===- TileLowering.cpp - SRead and SWrite by a block of threads ----------===//
//
// Each thread moves some runs of a tile's innermost dimension: runs of up to 16
// bytes where that is contiguous in the tensor, single elements otherwise. What
// lies outside of the tensor, and rows of absent ids, are padded (SRead) or
// skipped (SWrite).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "Codegen/Common/TileInput.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
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
      : builder(builder), loc(loc), tensor(move.tensor), tile(move.tile),
        tensorType(cast<MemRefType>(tensor.getType())),
        tileType(cast<MemRefType>(tile.getType())), workers(workers),
        dims(tileDimensions(builder, loc,
                            {tensor, move.subscripts, tileType.getShape()},
                            chunks)) {}

  void read(TypedAttr pad) {
    padding = arith::ConstantOp::create(builder, loc, pad);
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
  Value index(int64_t value) { return constantIndex(builder, loc, value); }

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
    workers.share(builder, loc, index(runs), [&](Value e) {
      SmallVector<Value> position = delinearize(builder, loc, e, extents);
      if (lanes == 1)
        return moveElement(position);
      position.back() =
          arith::MulIOp::create(builder, loc, position.back(), index(lanes));
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
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, tensor);
    int64_t bytes = elementBytes(tensorType.getElementType());
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, tensor);
    Value start = arith::AddIOp::create(builder, loc, metadata.getOffset(),
                                        dims.back().start);
    for (Value stride : ValueRange(metadata.getStrides()).drop_back())
      start = arith::OrIOp::create(builder, loc, start, stride);
    start = arith::MulIOp::create(builder, loc, start, index(bytes));
    address = arith::OrIOp::create(builder, loc, address, start);
    Value rest = arith::AndIOp::create(builder, loc, address,
                                       index(runBytes(tensorType) - 1));
    if (isa<BlockArgument>(tile)) { // not a buffer, which is aligned
      address =
          memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, tile);
      address = arith::AndIOp::create(builder, loc, address,
                                      index(runBytes(tileType) - 1));
      rest = arith::OrIOp::create(builder, loc, rest, address);
    }
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                                 index(0));
  }

  void moveRun(SmallVector<Value> &position, Value aligned) {
    auto [coordinates, exists] = locate(position, /*count=*/lanes);
    Value isWhole =
        exists ? arith::AndIOp::create(builder, loc, exists, aligned) : aligned;
    auto branch = scf::IfOp::create(builder, loc, isWhole,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    if (isRead)
      storeRun(widen(loadRun(tensor, coordinates)), tile, position);
    else
      writeRun(position, coordinates);
    builder.setInsertionPointToStart(branch.elseBlock());
    auto loop =
        scf::ForOp::create(builder, loc, index(0), index(lanes), index(1));
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> single(position);
    single.back() = arith::AddIOp::create(builder, loc, single.back(),
                                          loop.getInductionVar());
    moveElement(single);
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
    return vector::LoadOp::create(
        builder, loc, VectorType::get(lanes, type.getElementType()), memref, at,
        /*nontemporal=*/false, llvm::MaybeAlign(runBytes(type)));
  }

  void storeRun(Value run, Value memref, ValueRange at) {
    auto type = cast<MemRefType>(memref.getType());
    vector::StoreOp::create(builder, loc, run, memref, at,
                            /*nontemporal=*/false,
                            llvm::MaybeAlign(runBytes(type)));
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
      exists = exists ? arith::AndIOp::create(builder, loc, exists, condition)
                      : condition;
    };
    for (auto [dim, i] : llvm::zip_equal(dims, position)) {
      if (dim.ids) {
        coordinates.push_back(coordinateOfId(dim, i, require));
        continue;
      }
      if (!dim.isFull()) {
        Value last = i;
        if (count > 1 && &dim == &dims.back())
          last = arith::AddIOp::create(builder, loc, i, index(count - 1));
        require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      last, dim.limit));
      }
      coordinates.push_back(arith::AddIOp::create(builder, loc, dim.start, i));
    }
    return {coordinates, exists};
  }

  /// Ids may be of an index of a larger tensor. Those that are absent are not
  /// loaded: the first one stands in for them.
  Value coordinateOfId(const TileDimension &dim, Value i,
                       function_ref<void(Value)> require) {
    Value live = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       i, dim.limit);
    Value at = arith::SelectOp::create(builder, loc, live, i, index(0));
    at = arith::AddIOp::create(builder, loc, dim.start, at);
    Value id = memref::LoadOp::create(builder, loc, dim.ids, at);
    id = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), id);
    require(live);
    require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, id,
                                  dim.size));
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
    Value step =
        arith::MulIOp::create(builder, loc, workerCount, index(atOnce));
    auto loop = scf::ForOp::create(builder, loc, workers.id(builder, loc),
                                   index(total), step);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    struct Element {
      SmallVector<Value> position, coordinates;
      Value isMine, exists, value;
    };
    SmallVector<Element> elements(atOnce);
    Value number = loop.getInductionVar();
    for (auto [i, element] : llvm::enumerate(elements)) {
      if (i)
        number = arith::AddIOp::create(builder, loc, number, workerCount);
      element.position = delinearize(builder, loc, number, extents);
      std::tie(element.coordinates, element.exists) = locate(element.position);
      // The loop's condition is about the first one.
      if (i) {
        element.isMine = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::slt, number, index(total));
        element.exists =
            arith::AndIOp::create(builder, loc, element.exists, element.isMine);
      }
    }
    for (Element &element : elements)
      element.value = loadElement(element.coordinates, element.exists);
    for (Element &element : elements) {
      auto store = [&](OpBuilder &b, Location l) {
        memref::StoreOp::create(b, l, element.value, tile, element.position);
      };
      if (!element.isMine) {
        store(builder, loc);
        continue;
      }
      scf::IfOp::create(builder, loc, element.isMine,
                        [&](OpBuilder &b, Location l) {
                          store(b, l);
                          scf::YieldOp::create(b, l);
                        });
    }
  }

  void readElement(ArrayRef<Value> position, ValueRange coordinates,
                   Value exists) {
    memref::StoreOp::create(builder, loc, loadElement(coordinates, exists),
                            tile, position);
  }

  /// The element, or what is read in its place; null `exists`: it does.
  Value loadElement(ValueRange coordinates, Value exists) {
    auto load = [&](OpBuilder &b, Location l) {
      return widen(memref::LoadOp::create(b, l, tensor, coordinates));
    };
    if (!exists)
      return load(builder, loc);
    return scf::IfOp::create(
               builder, loc, exists,
               [&](OpBuilder &b, Location l) {
                 scf::YieldOp::create(b, l, load(b, l));
               },
               [&](OpBuilder &b, Location l) {
                 scf::YieldOp::create(b, l, padding);
               })
        .getResult(0);
  }

  void writeElement(ArrayRef<Value> position, ValueRange coordinates,
                    Value exists) {
    OpBuilder::InsertionGuard guard(builder);
    if (exists) {
      auto branch = scf::IfOp::create(builder, loc, exists,
                                      /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    Value value = narrow(memref::LoadOp::create(builder, loc, tile, position));
    if (atomic)
      return atomicCombine(builder, loc, *combine, value, tensor, coordinates);
    if (combine)
      value = arith::getReductionOp(
          *combine, builder, loc,
          memref::LoadOp::create(builder, loc, tensor, coordinates), value);
    memref::StoreOp::create(builder, loc, value, tensor, coordinates);
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
  Location loc = op.getLoc();
  const ChunkView &chunk = chunks.at(op.getIds());
  Value size = constantIndex(builder, loc, op.getIds().getType().getSize());
  workers.share(builder, loc, size, [&](Value i) {
    Value zero = constantIndex(builder, loc, 0);
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, i, chunk.live);
    Value at = arith::SelectOp::create(builder, loc, exists, i, zero);
    at = arith::AddIOp::create(builder, loc, chunk.start, at);
    if (chunk.ids) {
      at = memref::LoadOp::create(builder, loc, chunk.ids, at);
      at = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), at);
    }
    Value none = constantIndex(builder, loc, -1);
    Value coordinate = arith::SelectOp::create(builder, loc, exists, at, none);
    memref::StoreOp::create(builder, loc, coordinate, op.getDest(), i);
  });
}
