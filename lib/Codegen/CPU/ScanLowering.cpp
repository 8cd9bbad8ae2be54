//===- ScanLowering.cpp - The bits of a tile that was just written --------===//
//
// Rows are read from the nearest cache, where the tile still is, a vector at a
// time. A vector's comparison is a mask register, or one move away from being
// bits, and these are whole bytes.
//
//===----------------------------------------------------------------------===//

#include "Codegen/Common/Live.h"
#include "Dialect/Pit/IR/Arithmetic.h"
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

static constexpr int64_t kByteBits = 8;

namespace {
class TileScanner : ArithEmitter {
public:
  TileScanner(OpBuilder &builder, ScanOp op, const ChunkMap &chunks,
              int64_t vectorBits)
      : ArithEmitter(builder, op.getLoc()), source(op.getSource()),
        bits(op.getBitmap()), background(op.getBackgroundAttr()),
        dims(tileDimensions(
            builder, loc, {source, op.getSubscripts(), op.getTile()}, chunks)) {
    // A vector's bits are whole bytes, and all vectors of a tile are whole.
    int64_t width = getType().getElementTypeBitWidth();
    lanes = std::max(kByteBits, vectorBits / width);
    while (dims.back().extent % lanes != 0)
      lanes /= 2;
  }

  void run() {
    SmallVector<Value> at;
    forRows(at);
  }

private:
  MemRefType getType() { return cast<MemRefType>(source.getType()); }

  void loop(Value lower, Value upper, int64_t step,
            function_ref<void(Value)> body) {
    forEach(lower, upper, index(step), body);
  }

  /// Runs through all dimensions but the last.
  void forRows(SmallVector<Value> &at) {
    if (at.size() + 1 == dims.size())
      return writeRow(at);
    const TileDimension &dim = dims[at.size()];
    loop(index(0), dim.limit, 1, [&](Value i) {
      Value coordinate = add(dim.start, i);
      OpBuilder::InsertionGuard guard(b);
      if (dim.ids) { // it may be of an index of a larger tensor
        Value id = memref::LoadOp::create(b, loc, dim.ids, coordinate);
        coordinate = toIndex(id);
        Value exists = inRange(coordinate, dim.size);
        auto branch = scf::IfOp::create(b, loc, exists,
                                        /*withElseRegion=*/false);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      at.push_back(coordinate);
      forRows(at);
      at.pop_back();
    });
  }

  void writeRow(ArrayRef<Value> row) {
    const TileDimension &dim = dims.back();
    Value firstByte = div(dim.start, kByteBits);
    auto byteAt = [&](Value j) { return add(firstByte, div(j, kByteBits)); };
    SmallVector<Value> to(row);
    to.push_back(Value());
    Value whole = dim.limit, rest = index(0);
    if (!dim.isFull()) {
      rest = rem(dim.limit, lanes);
      whole = sub(dim.limit, rest);
    }
    loop(index(0), whole, lanes, [&](Value j) {
      to.back() = byteAt(j);
      store(differing(row, j, Value()), to);
    });
    // A tile that is not full ends with its row, whose last bytes are its own.
    if (dim.isFull() && !endsInside())
      return;
    Value any = compare(arith::CmpIPredicate::ne, rest, index(0));
    ifThen(any, [&] {
      Value mask = vector::CreateMaskOp::create(
          b, loc, VectorType::get(lanes, b.getI1Type()), ValueRange{rest});
      to.back() = byteAt(whole);
      store(differing(row, whole, mask), to);
    });
    Value lastDim = index(dims.size() - 1);
    Value extent = memref::DimOp::create(b, loc, source, lastDim),
          bytes = memref::DimOp::create(b, loc, bits, lastDim);
    Value isEnd =
        compare(arith::CmpIPredicate::sge, add(dim.start, dim.extent), extent);
    Value written = ceilDiv(dim.limit, index(lanes));
    written = mul(written, lanes / kByteBits);
    written = add(firstByte, written);
    Value end = select(isEnd, bytes, written);
    Value zero = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
    loop(written, end, 1, [&](Value byte) {
      to.back() = byte;
      memref::StoreOp::create(b, loc, zero, bits, to);
    });
  }

  /// May a row end in the middle of its last word, as far as is known now?
  bool endsInside() {
    int64_t extent = getType().getShape().back();
    return ShapedType::isDynamic(extent) ||
           getBitsBytes(extent) * kByteBits != extent;
  }

  /// Which elements from `j` of the row on, a vector of them, are live; those
  /// that a mask, unless null, leaves out are not.
  Value differing(ArrayRef<Value> row, Value j, Value mask) {
    auto type = VectorType::get(lanes, getType().getElementType());
    SmallVector<Value> from(row);
    from.push_back(add(dims.back().start, j));
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(getType().getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return compareGathered(type, from, mask);
    if (!mask)
      return isLive(b, loc, vector::LoadOp::create(b, loc, type, source, from),
                    background);
    Value elements = vector::MaskedLoadOp::create(b, loc, type, source, from,
                                                  mask, zero(type));
    return logicalAnd(mask, isLive(b, loc, elements, background));
  }

  /// The same of elements that are no neighbours in memory.
  Value compareGathered(VectorType type, ArrayRef<Value> from, Value mask) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, source);
    Value first = metadata.getOffset();
    for (auto [at, stride] : llvm::zip(from, metadata.getStrides()))
      first = add(first, mul(at, stride));
    Value stride = metadata.getStrides().back();
    Value span = add(mul(stride, index(lanes - 1)), 1);
    auto flat = MemRefType::get(
        ShapedType::kDynamic, type.getElementType(),
        StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
    Value line = memref::ReinterpretCastOp::create(
        b, loc, flat, metadata.getBaseBuffer(), OpFoldResult(first),
        ArrayRef<OpFoldResult>{span},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    auto places = VectorType::get(lanes, b.getIndexType());
    Value offsets = mul(vector::StepOp::create(b, loc, places),
                        vector::BroadcastOp::create(b, loc, places, stride));
    if (!mask)
      mask = vector::CreateMaskOp::create(b, loc, type.clone(b.getI1Type()),
                                          ValueRange{index(lanes)});
    Value elements = vector::GatherOp::create(
        b, loc, type, line, ValueRange{index(0)}, offsets, mask, zero(type));
    return logicalAnd(mask, isLive(b, loc, elements, background));
  }

  void store(Value live, ValueRange to) {
    auto bytes = VectorType::get(lanes / kByteBits, b.getI8Type());
    vector::StoreOp::create(
        b, loc, vector::BitCastOp::create(b, loc, bytes, live), bits, to);
  }

  Value source, bits;
  TypedAttr background;
  SmallVector<TileDimension> dims;
  int64_t lanes;
};
} // namespace

void cpu::lowerScan(OpBuilder &builder, ScanOp op, const ChunkMap &chunks,
                    int64_t vectorBits) {
  TileScanner(builder, op, chunks, vectorBits).run();
}
