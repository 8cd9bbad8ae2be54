//===- HopperScan.cpp - Bits of the results of wgmma ----------------------===//
//
// A chunk of 16 bytes that a lane stores is eight halves, whose bits are a
// byte, or four words, of which two lanes have a byte's.
//
//===----------------------------------------------------------------------===//

#include "HopperStore.h"

#include "Codegen/Common/Live.h"
#include "Codegen/GPU/Common/Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr int64_t kByteBits = 8;

HopperBitmapColumn HopperStore::locateBits(Value col) {
  const TileDim &line = dest.dims.back();
  int64_t count = kChunkBytes / elementBytes(dest.element);
  Value left = e.sub(line.limit, col);
  left = e.min(e.max(left, e.index(0)), e.index(count));
  Value mask = arith::ShLIOp::create(e.b, e.loc, e.i32(1), e.toI32(left));
  Value byte = arith::DivUIOp::create(e.b, e.loc, e.add(line.start, col),
                                      e.index(kByteBits));
  return {byte, e.lessThan(byte, bitsBytes), e.sub(mask, e.i32(1))};
}

/// The live elements of a chunk, in the lowest bits (i32).
Value HopperStore::packBits(Value chunk) {
  int64_t bytes = elementBytes(dest.element), count = kChunkBytes / bytes;
  TypedAttr background = mainloop.getBackgroundAttr();
  Value packed;
  auto add = [&](Value part) {
    packed = packed ? e.bitOr(packed, part) : part;
  };
  auto shift = [&](Value value, int64_t by) -> Value {
    if (by < 0)
      return arith::ShLIOp::create(e.b, e.loc, value, e.i32(-by));
    return arith::ShRUIOp::create(e.b, e.loc, value, e.i32(by));
  };
  auto number = cast_or_null<FloatAttr>(background);
  bool isPlain = !number || number.getValue().isZero();
  if (bytes == 2 && !(number && number.getValue().isNaN())) {
    // Two at once: a half that is not 0 carries into its highest bit.
    constexpr int64_t kRest = 0x7FFF7FFF, kHighest = 0x80008000;
    auto type = VectorType::get(kChunkBytes / 4, e.b.getI32Type());
    Value words = e.bitcast(type, chunk);
    for (int64_t i = 0; i < kChunkBytes / 4; ++i) {
      Value word = e.extract(words, i);
      if (!isPlain) {
        int64_t half = number.getValue().bitcastToAPInt().getZExtValue();
        word = e.bitXor(word, e.i32(static_cast<int32_t>(half << 16 | half)));
      }
      Value carried = e.add(e.bitAnd(word, kRest), e.i32(kRest));
      if (!isPlain) // the sign counts, too
        carried = e.bitOr(carried, word);
      carried = e.bitAnd(carried, static_cast<int32_t>(kHighest));
      // To bits 9 + 2 i and 25 + 2 i.
      add(shift(carried, 6 - 2 * i));
    }
    return e.bitOr(e.bitAnd(shift(packed, 9), 0x55),
                   e.bitAnd(shift(packed, 24), 0xAA));
  }
  for (int64_t i = 0; i < count; ++i) {
    Value element = e.extract(chunk, i);
    Value live = isLive(e.b, e.loc, element, background);
    add(shift(arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), live), -i));
  }
  return packed;
}

/// Stores the bits of a chunk. Lanes that hold a byte together are there
/// together.
void HopperStore::storeBits(Value chunk, Value rowOffset, Value exists,
                            const HopperBitmapColumn &column) {
  Value byte = arith::AndIOp::create(e.b, e.loc, packBits(chunk), column.mask);
  Value stores = e.logicalAnd(exists, column.exists);
  if (elementBytes(dest.element) == 4) {
    Value other = NVVM::ShflOp::create(
        e.b, e.loc, byte.getType(), e.i32(-1), byte, e.i32(1), e.i32(31),
        NVVM::ShflKind::bfly, /*return_value_and_is_valid=*/UnitAttr());
    byte = e.bitOr(byte, arith::ShLIOp::create(e.b, e.loc, other, e.i32(4)));
    stores = e.logicalAnd(stores, e.equal(e.rem(lane(), 2), e.i32(0)));
  }
  e.ifThen(stores, [&] {
    Value narrow = arith::TruncIOp::create(e.b, e.loc, e.b.getI8Type(), byte);
    e.store(narrow, elementAddress(e, bits, e.add(rowOffset, column.byte)), 1);
  });
}

void HopperStore::lookAt(Value wgmma, Value column, int64_t count) {
  syncWarp(e); // lanes read what others have stored
  ScannedTile scanned = describeScan(e.b, mainloop, chunks);
  Value isResult = e.constant(e.b.getBoolAttr(true));
  auto cut = [&](int dim, Value first, int64_t extent) {
    first = e.toIndex(first);
    // A tile without rows or columns has one of them.
    Value limit = dim < 0 ? e.index(1) : scanned.dims[dim].limit;
    isResult = e.logicalAnd(isResult, e.lessThan(first, limit));
    if (dim < 0)
      return;
    TileDimension &part = scanned.dims[dim];
    part.start = e.add(part.start, first);
    part.limit = e.sub(limit, first);
    part.extent = extent;
  };
  cut(plan.mDim, firstRow(wgmma), kWarpRows);
  cut(plan.nDim, firstColumn(column), count);
  e.ifThen(isResult, [&] {
    lowerScan(e.b, e.loc, scanned,
              {e.toIndex(lane()), kLanes, /*block=*/Value(),
               /*blocks=*/Value()});
  });
}
