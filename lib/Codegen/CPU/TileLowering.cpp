//===- TileLowering.cpp - SRead and SWrite to loops and vector moves ------===//
//
// A tile is moved row by row. A row is a run along the innermost dimension:
// vector moves where it is contiguous in the tensor, a vector gather or scalars
// where it is gathered. Places outside of the tensor, and rows of absent ids,
// are padded (SRead) or skipped (SWrite).
//
//===----------------------------------------------------------------------===//

#include "Codegen/Common/TileInput.h"
#include "Dialect/Pit/IR/Arithmetic.h"
#include "Lowering.h"
#include "PackTile.h"

#include "pit/Target/Target.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

namespace {

/// Moves one tile; SRead and SWrite differ in what they do with a row.
class TileMover : ArithEmitter {
public:
  TileMover(OpBuilder &b, Location loc, const TileMove &move,
            const ChunkMap &chunks, int64_t vectorBits)
      : ArithEmitter(b, loc), tensor(bytesOf(move.tensor)),
        tile(bytesOf(move.tile)),
        tensorType(cast<MemRefType>(tensor.getType())),
        tileType(cast<MemRefType>(tile.getType())), vectorBits(vectorBits),
        dims(tileDimensions(
            b, loc, {tensor, move.subscripts, tileType.getShape()}, chunks)) {}

  /// `next` is the place of the tile that the loop around reads next, if that
  /// is asked for.
  void read(TypedAttr pad, ArrayRef<Value> next) {
    ahead.assign(next.begin(), next.end());
    if (pad.getType().isInteger(1))
      pad = b.getI8IntegerAttr(cast<IntegerAttr>(pad).getValue().isOne());
    padding = arith::ConstantOp::create(b, loc, pad);
    if (dims.empty())
      return store(widen(load({})), {});
    SmallVector<Value> coordinates, position;
    forRows(coordinates, position, /*isRead=*/true);
  }

  void write(std::optional<arith::AtomicRMWKind> kind) {
    combine = kind;
    if (dims.empty()) {
      Value value = memref::LoadOp::create(b, loc, tile);
      return storeTensor(value, {});
    }
    SmallVector<Value> coordinates, position;
    forRows(coordinates, position, /*isRead=*/false);
  }

private:
  /// A memref of i1 as one of i8. In memory an i1 takes a byte, 0 or 1; vectors
  /// of i1 would be moved as bits.
  Value bytesOf(Value memref) {
    auto type = cast<MemRefType>(memref.getType());
    if (!type.getElementType().isInteger(1))
      return memref;
    MemRefType bytes = MemRefType::Builder(type).setElementType(b.getI8Type());
    // Descriptors do not depend on the element type.
    Type descriptor = LLVMTypeConverter(b.getContext()).convertType(type);
    Value raw = UnrealizedConversionCastOp::create(b, loc, descriptor, memref)
                    .getResult(0);
    return UnrealizedConversionCastOp::create(b, loc, bytes, raw).getResult(0);
  }

  Value coordinate(const TileDimension &dim, Value i) {
    Value at = add(dim.start, i);
    if (!dim.ids)
      return at;
    Value id = memref::LoadOp::create(b, loc, dim.ids, at);
    return toIndex(id);
  }

  /// Runs `body` if a coordinate along `dim`, of those that exist, lies in the
  /// tensor, and `otherwise`, if given, if it does not: ids may be of an index
  /// of a larger one.
  void ifInside(const TileDimension &dim, Value coordinate,
                function_ref<void()> body,
                function_ref<void()> otherwise = nullptr) {
    if (!dim.ids)
      return body();
    ifThen(inRange(coordinate, dim.size), body, otherwise);
  }

  /// `for i = lower to upper: body(i)`; no loop for the only iteration of a
  /// dimension of one element if it is known to be run.
  void loop(Value lower, Value upper, int64_t step,
            function_ref<void(Value)> body) {
    emitFor(b, loc, lower, upper, step, {}, [&](Value i, ValueRange) {
      body(i);
      return SmallVector<Value>();
    });
  }

  /// Runs through all dimensions but the innermost.
  void forRows(SmallVector<Value> &coordinates, SmallVector<Value> &position,
               bool isRead) {
    unsigned d = position.size();
    if (d + 1 == dims.size())
      return isRead ? readRow(coordinates, position)
                    : writeRow(coordinates, position);
    const TileDimension &dim = dims[d];
    loop(index(0), dim.limit, 1, [&](Value i) {
      Value at = coordinate(dim, i);
      position.push_back(i);
      auto move = [&] {
        coordinates.push_back(at);
        forRows(coordinates, position, isRead);
        coordinates.pop_back();
      };
      if (isRead)
        ifInside(dim, at, move, [&] { padRows(position); });
      else
        ifInside(dim, at, move);
      position.pop_back();
    });
    if (isRead)
      loop(dim.limit, index(dim.extent), 1, [&](Value i) {
        position.push_back(i);
        padRows(position);
        position.pop_back();
      });
  }

  void padRows(SmallVector<Value> &position) {
    unsigned d = position.size();
    if (d + 1 == dims.size()) {
      forVectors([&](Value j, VectorType type) {
        Value row = vector::BroadcastOp::create(
            b, loc, type.clone(tileType.getElementType()), padding);
        storeTile(row, position, j);
      });
      return;
    }
    loop(index(0), index(dims[d].extent), 1, [&](Value i) {
      position.push_back(i);
      padRows(position);
      position.pop_back();
    });
  }

  /// Covers a row of the tile with vectors: full ones in a loop, then one for
  /// the rest. The vector's element type is the tensor's.
  void forVectors(function_ref<void(Value, VectorType)> body) {
    Type element = tensorType.getElementType();
    int64_t bits = 8 * std::max(elementBytes(tileType.getElementType()),
                                elementBytes(element));
    int64_t extent = dims.back().extent;
    int64_t lanes = std::max<int64_t>(1, vectorBits / bits);
    int64_t full = extent / lanes * lanes;
    if (full)
      loop(index(0), index(full), lanes,
           [&](Value j) { body(j, VectorType::get(lanes, element)); });
    if (extent != full)
      body(index(full), VectorType::get(extent - full, element));
  }

  /// Is the innermost dimension of the tensor dense in memory?
  bool isContiguous() {
    SmallVector<int64_t> strides;
    int64_t offset;
    return succeeded(tensorType.getStridesAndOffset(strides, offset)) &&
           strides.back() == 1 &&
           VectorType::isValidElementType(tensorType.getElementType());
  }

  SmallVector<Value> at(ArrayRef<Value> outer, Value inner) {
    SmallVector<Value> indices(outer);
    indices.push_back(inner);
    return indices;
  }

  void storeTile(Value vector, ArrayRef<Value> position, Value j) {
    vector::TransferWriteOp::create(
        b, loc, vector, tile, at(position, j),
        /*inBounds=*/std::optional<ArrayRef<bool>>(ArrayRef<bool>{true}));
  }

  //===--------------------------------------------------------------------===//
  // SRead
  //===--------------------------------------------------------------------===//

  void readRow(ArrayRef<Value> coordinates, ArrayRef<Value> position) {
    const TileDimension &dim = dims.back();
    Type element = tensorType.getElementType();
    if (!dim.ids && isContiguous()) {
      prefetchNextRow(position);
      Value zero = ArithEmitter::zero(element);
      forVectors([&](Value j, VectorType type) {
        Value from = add(dim.start, j);
        Value row = maskedMove(type, j, [&](Value mask) -> Value {
          return vector::TransferReadOp::create(
              b, loc, type, tensor, at(coordinates, from),
              AffineMapAttr::get(transferMap(tensorType)), zero, mask,
              b.getBoolArrayAttr({true}));
        });
        storeTile(padded(widen(row),
                         dims.back().isFull() ? Value() : liveMask(type, j)),
                  position, j);
      });
      return;
    }
    int64_t bits = 8 * elementBytes(element);
    if (dim.ids && isContiguous() && (bits == 32 || bits == 64)) {
      forVectors([&](Value j, VectorType type) {
        Value at0 = add(dim.start, j);
        VectorType idType = type.clone(b.getI32Type());
        Value mask = liveMask(type, j);
        Value ids = vector::MaskedLoadOp::create(b, loc, idType, dim.ids, at0,
                                                 mask, zero(idType));
        mask = logicalAnd(mask, existing(ids));
        Value row = vector::GatherOp::create(b, loc, type, tensor,
                                             at(coordinates, index(0)), ids,
                                             mask, zero(type));
        storeTile(padded(widen(row), mask), position, j);
      });
      return;
    }
    loop(index(0), dim.limit, 1, [&](Value j) {
      Value from = coordinate(dim, j);
      ifInside(
          dim, from,
          [&] { store(widen(load(at(coordinates, from))), at(position, j)); },
          [&] { store(padding, at(position, j)); });
    });
    loop(dim.limit, index(dim.extent), 1,
         [&](Value j) { store(padding, at(position, j)); });
  }

  /// Asks for the row of the next tile that lies where this one does in its
  /// own.
  void prefetchNextRow(ArrayRef<Value> position) {
    if (ahead.empty())
      return;
    SmallVector<Value> row;
    for (auto [start, i] : llvm::zip(ahead, position))
      row.push_back(add(start, i));
    int64_t line =
        CpuTarget::lineBytes / elementBytes(tensorType.getElementType());
    loop(index(0), dims.back().limit, line, [&](Value j) {
      // Beyond the tensor it does nothing.
      memref::PrefetchOp::create(b, loc, tensor, at(row, add(ahead.back(), j)),
                                 /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
    });
  }

  static AffineMap transferMap(MemRefType type) {
    return AffineMap::getMinorIdentityMap(type.getRank(), 1, type.getContext());
  }

  /// Lanes of the vector at j that exist.
  Value liveMask(VectorType type, Value j) {
    Value left = sub(dims.back().limit, j);
    return vector::CreateMaskOp::create(b, loc, type.clone(b.getI1Type()),
                                        left);
  }

  /// Lanes whose ids lie in the tensor.
  Value existing(Value ids) {
    Value size = toI32(dims.back().size);
    size = vector::BroadcastOp::create(b, loc, ids.getType(), size);
    return lessThan(ids, size);
  }

  Value maskedMove(VectorType type, Value j, function_ref<Value(Value)> move) {
    return move(dims.back().isFull() ? Value() : liveMask(type, j));
  }

  /// The row with `pad` in the lanes that `mask`, unless null, leaves out.
  Value padded(Value row, Value mask) {
    Attribute pad;
    bool isZero = matchPattern(padding, m_Constant(&pad)) &&
                  pad == b.getZeroAttr(tileType.getElementType());
    if (!mask || isZero) // such lanes are loaded as 0
      return row;
    Value pads = vector::BroadcastOp::create(b, loc, row.getType(), padding);
    return select(mask, row, pads);
  }

  Value load(ValueRange coordinates) {
    return memref::LoadOp::create(b, loc, tensor, coordinates);
  }

  void store(Value value, ValueRange position) {
    memref::StoreOp::create(b, loc, value, tile, position);
  }

  //===--------------------------------------------------------------------===//
  // SWrite
  //===--------------------------------------------------------------------===//

  void writeRow(ArrayRef<Value> coordinates, ArrayRef<Value> position) {
    const TileDimension &dim = dims.back();
    if (dim.ids || !isContiguous()) {
      loop(index(0), dim.limit, 1, [&](Value j) {
        Value to = coordinate(dim, j);
        ifInside(dim, to, [&] {
          storeTensor(memref::LoadOp::create(b, loc, tile, at(position, j)),
                      at(coordinates, to));
        });
      });
      return;
    }
    Value zero = ArithEmitter::zero(tensorType.getElementType());
    Value tileZero = ArithEmitter::zero(tileType.getElementType());
    forVectors([&](Value j, VectorType type) {
      Value row = vector::TransferReadOp::create(
          b, loc, type.clone(tileType.getElementType()), tile, at(position, j),
          std::optional<Value>(tileZero), ArrayRef<bool>{true});
      row = narrow(row);
      Value to = add(dim.start, j);
      Value mask = dims.back().isFull() ? Value() : liveMask(type, j);
      auto map = AffineMapAttr::get(transferMap(tensorType));
      ArrayAttr inBounds = b.getBoolArrayAttr({true});
      if (combine) {
        Value old = vector::TransferReadOp::create(b, loc, type, tensor,
                                                   at(coordinates, to), map,
                                                   zero, mask, inBounds);
        row = arith::getReductionOp(*combine, b, loc, old, row);
      }
      vector::TransferWriteOp::create(b, loc, /*result=*/Type(), row, tensor,
                                      at(coordinates, to), map, mask, inBounds);
    });
  }

  Value widen(Value value) {
    return convertElements(b, loc, value, tileType.getElementType());
  }
  Value narrow(Value value) {
    return convertElements(b, loc, value, tensorType.getElementType());
  }

  void storeTensor(Value value, ValueRange coordinates) {
    value = narrow(value);
    if (combine)
      value = arith::getReductionOp(*combine, b, loc, load(coordinates), value);
    memref::StoreOp::create(b, loc, value, tensor, coordinates);
  }

  Value tensor, tile, padding;
  MemRefType tensorType, tileType;
  int64_t vectorBits;
  SmallVector<TileDimension> dims;
  SmallVector<Value> ahead; ///< coordinates of the next tile
  std::optional<arith::AtomicRMWKind> combine;
};

} // namespace

void cpu::lowerSRead(OpBuilder &b, SReadOp op, const ChunkMap &chunks,
                     ElementPlaces &places, int64_t vectorBits) {
  auto tile = cast<MemRefType>(op.getDest().getType());
  SmallVector<Value> next;
  if (tile.getNumElements() == 1)
    places[op.getDest()] = {op.getSrc(), llvm::to_vector(op.getSubscripts()),
                            op->getParentRegion()};
  else if (tile.getNumElements() * elementBytes(tile.getElementType()) >
           CpuTarget::lineBytes)
    next = emitNextPlace(b, op, places);
  TileMover(b, op.getLoc(), {op.getSrc(), op.getDest(), op.getSubscripts()},
            chunks, vectorBits)
      .read(op.getPadOrZero(), next);
}

void cpu::lowerSWrite(OpBuilder &b, SWriteOp op, const ChunkMap &chunks,
                      int64_t vectorBits) {
  TileMover(b, op.getLoc(), {op.getDest(), op.getTile(), op.getSubscripts()},
            chunks, vectorBits)
      .write(op.getCombine());
}

void cpu::lowerCoords(OpBuilder &b, CoordsOp op, const ChunkMap &chunks) {
  Location loc = op.getLoc();
  const ChunkView &chunk = chunks.at(op.getIds());
  ArithEmitter e(b, loc);
  Value size = e.index(op.getIds().getType().getSize());
  e.forEach(e.index(0), size, e.index(1), [&](Value i) {
    Value exists = e.lessThan(i, chunk.live), at = e.add(chunk.start, i);
    auto load = [&] {
      return e.toIndex(memref::LoadOp::create(b, loc, chunk.ids, at));
    };
    auto none = [&] { return e.index(-1); };
    Value coordinate =
        chunk.ids ? e.choose(exists, load, none) : e.select(exists, at, none());
    memref::StoreOp::create(b, loc, coordinate, op.getDest(), i);
  });
}
