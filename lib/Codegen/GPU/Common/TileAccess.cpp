//===- TileAccess.cpp - Tiles of tensors in global memory -----------------===//

#include "TileAccess.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

bool cuda::isZero(TypedAttr number) {
  if (auto floating = dyn_cast<FloatAttr>(number))
    return floating.getValue().isPosZero();
  auto integer = dyn_cast<IntegerAttr>(number);
  return integer && integer.getValue().isZero();
}

TileDim cuda::tileDim(Emitter &e, const TilePlace &tile, unsigned d,
                      const ChunkMap &chunks) {
  Value memref = tile.memref;
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(e.b, e.loc, memref);
  SmallVector<int64_t> strides;
  int64_t offset;
  bool isKnown = succeeded(type.getStridesAndOffset(strides, offset));
  TileDimension known = tileDimension(e.b, e.loc, tile, d, chunks);
  Value stride = isKnown && !ShapedType::isDynamic(strides[d])
                     ? e.index(strides[d])
                     : Value(metadata.getStrides()[d]);
  return {known.start, known.limit, known.ids, known.size, stride};
}

TileAccess cuda::accessTile(Emitter &e, const TilePlace &tile, TypedAttr pad,
                            const ChunkMap &chunks) {
  Value memref = tile.memref;
  OpBuilder &b = e.b;
  auto type = cast<MemRefType>(memref.getType());
  TileAccess access;
  access.element = type.getElementType();
  access.pad = pad ? pad : cast<TypedAttr>(b.getZeroAttr(access.element));
  auto metadata = memref::ExtractStridedMetadataOp::create(b, e.loc, memref);
  Value address = e.addressOf(memref);
  address =
      e.add(address, e.mul(metadata.getOffset(), elementBytes(access.element)));
  access.start = e.toI64(address);
  access.base = e.globalPointer(access.start);

  for (unsigned d = 0; d < tile.subscripts.size(); ++d)
    access.dims.push_back(tileDim(e, tile, d, chunks));
  return access;
}

TileAccess cuda::accessView(Emitter &e, ViewOp view, const ChunkMap &chunks) {
  return accessTile(e,
                    {view.getSrc(), view.getSubscripts(),
                     cast<VectorType>(view.getResult().getType()).getShape()},
                    view.getPadAttr(), chunks);
}

Value cuda::elementAddress(Emitter &e, const TileAccess &tile, Value offset) {
  return e.elementAfter(tile.base, tile.element, offset);
}

std::pair<Value, Value> cuda::locate(Emitter &e, const TileDim &dim, Value i) {
  Value exists = e.lessThan(i, dim.limit);
  Value at = e.add(dim.start, i);
  if (!dim.ids)
    return {at, exists};
  // An absent id has no place in the list.
  Value id = e.choose(
      exists, [&] { return e.toIndex(e.loadAt(dim.ids, at)); },
      [&] { return e.index(-1); });
  return {id, e.logicalAnd(exists, e.inRange(id, dim.size))};
}

Value cuda::readNumber(Emitter &e, const TileAccess &tile,
                       ArrayRef<int64_t> places) {
  Value offset = e.index(0), exists;
  for (auto [dim, place] : llvm::zip(tile.dims, places)) {
    auto [at, isThere] = locate(e, dim, e.index(place));
    offset = e.add(offset, e.mul(at, dim.stride));
    exists = exists ? e.logicalAnd(exists, isThere) : isThere;
  }
  return e.choose(
      exists,
      [&] {
        return e.load(tile.element, elementAddress(e, tile, offset),
                      elementBytes(tile.element));
      },
      [&] { return e.constant(tile.pad); });
}

Value cuda::readCoordinate(Emitter &e, const ChunkView &chunk, int64_t number) {
  Value place = e.index(number), exists = e.lessThan(place, chunk.live);
  Value at = e.add(chunk.start, place);
  if (!chunk.ids)
    return e.select(exists, at, e.index(-1));
  return e.choose(
      exists, [&] { return e.toIndex(e.loadAt(chunk.ids, at)); },
      [&] { return e.index(-1); });
}

bool cuda::isNumberOfTile(Operation *op) {
  auto extract = dyn_cast<vector::ExtractOp>(op);
  return extract &&
         isa_and_nonnull<ViewOp, CoordsOp>(extract.getSource().getDefiningOp());
}

void cuda::lowerNumber(RewriterBase &rewriter, vector::ExtractOp extract,
                       const ChunkMap &chunks) {
  Emitter e(rewriter, extract.getLoc());
  rewriter.setInsertionPoint(extract);
  ArrayRef<int64_t> places = extract.getStaticPosition();
  Operation *source = extract.getSource().getDefiningOp();
  Value number;
  if (auto coords = dyn_cast<CoordsOp>(source))
    number = readCoordinate(e, chunks.at(coords.getIds()), places.front());
  else
    number = readNumber(e, accessView(e, cast<ViewOp>(source), chunks), places);
  rewriter.replaceOp(extract, number);
  if (source->use_empty())
    rewriter.eraseOp(source);
}
