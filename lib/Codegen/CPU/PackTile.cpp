//===- PackTile.cpp - Tiles of tensors, element by element ----------------===//

#include "PackTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

#include <functional>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

TileAccess cpu::accessTile(OpBuilder &b, Location loc, const TilePlace &tile,
                           const ChunkMap &chunks) {
  return {tile.memref, tileDimensions(b, loc, tile, chunks)};
}

Value cpu::coordinateInTensor(OpBuilder &b, Location loc,
                              const TileDimension &dim, Value at,
                              Value *exists) {
  ArithEmitter e(b, loc);
  Value position = e.add(dim.start, at);
  if (!dim.ids)
    return position;
  Value id = e.toIndex(memref::LoadOp::create(b, loc, dim.ids, position));
  if (exists)
    *exists = e.lessThan(id, dim.size);
  return e.min(id, e.sub(dim.size, e.index(1)));
}

SmallVector<Value>
cpu::emitFor(OpBuilder &b, Location loc, Value from, Value to, int64_t step,
             ValueRange carried,
             function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  std::optional<int64_t> low = getConstantIntValue(from),
                         high = getConstantIntValue(to);
  if (low && high && *low >= *high)
    return SmallVector<Value>(carried);
  if (low && high && *high - *low <= step)
    return body(from, carried);
  auto loop =
      scf::ForOp::create(b, loc, from, to, constantIndex(b, loc, step), carried,
                         [&](OpBuilder &, Location, Value iv, ValueRange args) {
                           scf::YieldOp::create(b, loc, body(iv, args));
                         });
  return SmallVector<Value>(loop.getResults());
}

Value cpu::extend(OpBuilder &b, Operation *extension, Value value) {
  if (!extension)
    return value;
  IRMapping mapping;
  mapping.map(extension->getOperand(0), value);
  Operation *copy = b.clone(*extension, mapping);
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    copy->getResult(0).setType(vector.clone(copy->getResult(0).getType()));
  return copy->getResult(0);
}

namespace {

class TilePacker : ArithEmitter {
public:
  TilePacker(OpBuilder &b, Location loc, const TileAccess &tile,
             const TileForm &form, Value packed)
      : ArithEmitter(b, loc), tile(tile), form(form), lanes(form.lanes),
        packed(packed),
        element(cast<MemRefType>(tile.memref.getType()).getElementType()),
        last(tile.dims.back()) {
    // There are gathers of words only, and of neighbours.
    int64_t bits = 8 * elementBytes(element);
    inVectors = form.last + 1 == tile.dims.size() &&
                cast<MemRefType>(tile.memref.getType()).isLastDimUnitStride() &&
                (!last.ids || bits == 32 || bits == 64);
  }

  void run() {
    fill();
    nest(0);
  }

private:
  /// Pads all of the tile if windows reach beyond what exists.
  void fill() {
    Value beyond;
    for (unsigned d : form.windows.set_bits()) {
      const TileDimension &dim = tile.dims[d];
      if (dim.isFull())
        continue;
      Value ends = lessThan(dim.limit, index(dim.extent));
      beyond = beyond ? bitOr(beyond, ends) : ends;
    }
    if (!beyond)
      return;
    auto branch = scf::IfOp::create(b, loc, beyond, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value row = extend(b, form.extension, padding(vectorOf(element)));
    SmallVector<Value> at;
    std::function<void(unsigned)> nest = [&](unsigned d) {
      if (d == tile.dims.size()) {
        vector::StoreOp::create(b, loc, row, packed, at);
        return;
      }
      emitFor(b, loc, index(0), index(tile.dims[d].extent),
              d + 1 == tile.dims.size() ? lanes : 1, {},
              [&](Value i, ValueRange) {
                at.push_back(i);
                nest(d + 1);
                at.pop_back();
                return SmallVector<Value>();
              });
    };
    nest(0);
  }

  void nest(unsigned d) {
    bool innermost = d + 1 == tile.dims.size();
    emitFor(b, loc, index(0), tile.dims[d].limit,
            innermost && inVectors ? lanes : 1, {}, [&](Value at, ValueRange) {
              if (innermost) {
                inVectors ? moveVector(at) : moveElement(at);
                return SmallVector<Value>();
              }
              coordinates.push_back(
                  coordinateInTensor(b, loc, tile.dims[d], at));
              position.push_back(at);
              nest(d + 1);
              coordinates.pop_back();
              position.pop_back();
              return SmallVector<Value>();
            });
  }

  VectorType vectorOf(Type type) { return VectorType::get(lanes, type); }
  /// The value read at places that do not exist; `type` is of the source's
  /// elements.
  Value padding(Type type) {
    if (!form.pad)
      return zero(type);
    Value pad = arith::ConstantOp::create(b, loc, form.pad);
    return isa<VectorType>(type)
               ? vector::BroadcastOp::create(b, loc, type, pad).getResult()
               : pad;
  }

  void moveVector(Value at) {
    Value left = sub(last.limit, at);
    Value mask =
        vector::CreateMaskOp::create(b, loc, vectorOf(b.getI1Type()), left);
    Value from = add(last.start, at), row;
    VectorType type = vectorOf(element);
    SmallVector<Value> source(coordinates), to(position);
    if (last.ids) {
      VectorType idType = vectorOf(b.getI32Type());
      Value ids = vector::MaskedLoadOp::create(b, loc, idType, last.ids, from,
                                               mask, zero(idType));
      Value size = toI32(last.size);
      size = vector::BroadcastOp::create(b, loc, idType, size);
      mask = logicalAnd(mask, lessThan(ids, size));
      source.push_back(index(0));
      row = vector::GatherOp::create(b, loc, type, tile.memref, source, ids,
                                     mask, padding(type));
    } else {
      source.push_back(from);
      row = vector::MaskedLoadOp::create(b, loc, type, tile.memref, source,
                                         mask, padding(type));
    }
    to.push_back(at);
    vector::StoreOp::create(b, loc, extend(b, form.extension, row), packed, to);
  }

  void moveElement(Value at) {
    Value inside;
    SmallVector<Value> source(coordinates), to(position);
    source.push_back(coordinateInTensor(b, loc, last, at, &inside));
    Value value = memref::LoadOp::create(b, loc, tile.memref, source);
    if (inside)
      value = select(inside, value, padding(element));
    to.push_back(at);
    moveLast(to, form.last);
    memref::StoreOp::create(b, loc, extend(b, form.extension, value), packed,
                            to);
  }

  const TileAccess &tile;
  const TileForm &form;
  int64_t lanes;
  Value packed;
  Type element;
  const TileDimension &last;
  bool inVectors;
  SmallVector<Value> coordinates, position;
};

} // namespace

void cpu::packTile(OpBuilder &b, Location loc, const TileAccess &tile,
                   const TileForm &form, Value packed) {
  TilePacker(b, loc, tile, form, packed).run();
}
