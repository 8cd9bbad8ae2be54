//===- ScanLowering.cpp - Bits of a tile by threads that share it ---------===//
//
// Each thread reads eight neighbours, which the block, or the warp, has just
// written and which are in the L2 cache, and writes their byte.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Lowering.h"

#include "Codegen/Common/Live.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr int64_t kByteBits = 8;

/// Does element `i` of a tile exist along `dim`, and where is it?
static std::pair<Value, Value>
locateElement(Emitter &e, const TileDimension &dim, Value i) {
  Value exists = e.lessThan(i, dim.limit);
  if (!dim.ids)
    return {e.add(dim.start, i), exists};
  // Absent ids are not loaded: the first one stands in for them.
  Value at = e.add(dim.start, e.select(exists, i, e.index(0)));
  Value id = e.toIndex(e.loadAt(dim.ids, at));
  // It may be of an index of a larger tensor.
  return {id, e.logicalAnd(exists, e.inRange(id, dim.size))};
}

ScannedTile cuda::describeScan(OpBuilder &b, ScanOp scan,
                               const ChunkMap &chunks) {
  return {scan.getSource(), scan.getBitmap(),
          tileDimensions(
              b, scan.getLoc(),
              {scan.getSource(), scan.getSubscripts(), scan.getTile()}, chunks),
          scan.getBackgroundAttr()};
}

ScannedTile cuda::describeScan(OpBuilder &b, MainloopOp mainloop,
                               const ChunkMap &chunks) {
  return {mainloop.getDest(), mainloop.getBitmap(),
          tileDimensions(b, mainloop.getLoc(),
                         {mainloop.getDest(), mainloop.getSubscripts(),
                          mainloop.getAccumulatorShape()},
                         chunks),
          mainloop.getBackgroundAttr()};
}

void cuda::lowerScan(OpBuilder &b, Location loc, const ScannedTile &scanned,
                     const Workers &workers) {
  Emitter e(b, loc);
  ArrayRef<TileDimension> dims = scanned.dims;
  const TileDimension &last = dims.back();
  Value lastDim = e.index(dims.size() - 1);
  Value rowBytes = memref::DimOp::create(b, loc, scanned.bits, lastDim),
        rowExtent = memref::DimOp::create(b, loc, scanned.source, lastDim);
  Value firstByte = e.div(last.start, kByteBits);
  int64_t bytes = last.extent / kByteBits;
  // The tile at the end of a row has the rest of its last word as well.
  Value isInner = e.lessThan(e.add(last.start, last.extent), rowExtent);
  Value endByte = e.select(isInner, e.add(firstByte, bytes), rowBytes);
  if (last.extent % kWordBits != 0)
    bytes += kWordBits / kByteBits - 1;

  SmallVector<OpFoldResult> extents;
  int64_t total = bytes;
  for (const TileDimension &dim : dims.drop_back()) {
    extents.push_back(b.getIndexAttr(dim.extent));
    total *= dim.extent;
  }
  extents.push_back(b.getIndexAttr(bytes));
  workers.share(b, loc, e.index(total), [&](Value number) {
    SmallVector<Value> position = delinearize(b, loc, number, extents), at;
    Value first = position.pop_back_val(), byte = e.add(firstByte, first);
    Value exists = e.lessThan(byte, endByte);
    for (auto [dim, i] : llvm::zip(dims, position)) {
      auto [coordinate, there] = locateElement(e, dim, i);
      at.push_back(coordinate);
      exists = e.logicalAnd(exists, there);
    }
    e.ifThen(exists, [&] {
      at.push_back(Value());
      auto bit = [&](int64_t i) -> Value {
        auto [coordinate, there] =
            locateElement(e, last, e.add(e.mul(first, kByteBits), i));
        at.back() = coordinate;
        return e.choose(
            there,
            [&] {
              Value element = e.loadAt(scanned.source, at);
              Value live = isLive(b, loc, element, scanned.background);
              return arith::ExtUIOp::create(b, loc, b.getI8Type(), live)
                  .getResult();
            },
            [&] { return e.constant(b.getI8IntegerAttr(0)); });
      };
      Value result = e.constant(b.getI8IntegerAttr(0));
      for (int64_t i = 0; i < kByteBits; ++i) {
        Value shift = e.constant(b.getI8IntegerAttr(i));
        result = e.bitOr(result, arith::ShLIOp::create(b, loc, bit(i), shift));
      }
      at.back() = byte;
      e.storeAt(result, scanned.bits, at);
    });
  });
}
