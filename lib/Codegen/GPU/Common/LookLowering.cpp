//===- LookLowering.cpp - Bits of a tile by a block of threads ------------===//
//
// Each thread reads eight neighbours, which the block has just written and
// which are in the L2 cache, and writes their byte.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "Codegen/Common/Live.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr int64_t kByteBits = 8;

/// Does element `i` of a tile exist along `dim`, and where is it?
static std::pair<Value, Value>
locateElement(OpBuilder &b, Location loc, const TileDimension &dim, Value i) {
  Value exists =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, dim.limit);
  if (!dim.ids)
    return {arith::AddIOp::create(b, loc, dim.start, i), exists};
  // Absent ids are not loaded: the first one stands in for them.
  Value at =
      arith::SelectOp::create(b, loc, exists, i, constantIndex(b, loc, 0));
  at = arith::AddIOp::create(b, loc, dim.start, at);
  Value id = memref::LoadOp::create(b, loc, dim.ids, at);
  id = arith::IndexCastOp::create(b, loc, b.getIndexType(), id);
  // It may be of an index of a larger tensor.
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, id, dim.size);
  return {id, arith::AndIOp::create(b, loc, exists, inside)};
}

void cuda::lowerLook(OpBuilder &b, Location loc, const LookedAt &looked,
                     const ChunkMap &chunks, const Workers &workers) {
  auto index = [&](int64_t value) { return constantIndex(b, loc, value); };
  SmallVector<TileDimension> dims = tileDimensions(
      b, loc, {looked.source, looked.subscripts, looked.tile}, chunks);
  const TileDimension &last = dims.back();
  Value lastDim = index(dims.size() - 1);
  Value rowBytes = memref::DimOp::create(b, loc, looked.bits, lastDim),
        rowExtent = memref::DimOp::create(b, loc, looked.source, lastDim);
  Value firstByte =
      arith::DivUIOp::create(b, loc, last.start, index(kByteBits));
  int64_t bytes = last.extent / kByteBits;
  // The tile at the end of a row has the rest of its last word as well.
  Value endByte = arith::AddIOp::create(b, loc, firstByte, index(bytes));
  Value isEnd = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::sge,
      arith::AddIOp::create(b, loc, last.start, index(last.extent)), rowExtent);
  endByte = arith::SelectOp::create(b, loc, isEnd, rowBytes, endByte);
  if (last.extent % kWordBits != 0)
    bytes += kWordBits / kByteBits - 1;

  SmallVector<OpFoldResult> extents;
  int64_t total = bytes;
  for (const TileDimension &dim : ArrayRef(dims).drop_back()) {
    extents.push_back(b.getIndexAttr(dim.extent));
    total *= dim.extent;
  }
  extents.push_back(b.getIndexAttr(bytes));
  workers.share(b, loc, index(total), [&](Value number) {
    SmallVector<Value> position = delinearize(b, loc, number, extents);
    Value byte = position.pop_back_val(), first = byte;
    byte = arith::AddIOp::create(b, loc, firstByte, byte);
    Value exists =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, byte, endByte);
    SmallVector<Value> at;
    for (auto [dim, i] : llvm::zip(dims, position)) {
      auto [coordinate, there] = locateElement(b, loc, dim, i);
      at.push_back(coordinate);
      exists = arith::AndIOp::create(b, loc, exists, there);
    }
    auto branch = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    at.push_back(Value());
    first = arith::MulIOp::create(b, loc, first, index(kByteBits));
    Value result = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
    for (int64_t i = 0; i < kByteBits; ++i) {
      auto [coordinate, there] = locateElement(
          b, loc, last, arith::AddIOp::create(b, loc, first, index(i)));
      at.back() = coordinate;
      auto load = scf::IfOp::create(
          b, loc, there,
          [&](OpBuilder &b, Location loc) {
            Value element = memref::LoadOp::create(b, loc, looked.source, at);
            Value live = isLive(b, loc, element, looked.background);
            scf::YieldOp::create(
                b, loc,
                arith::ExtUIOp::create(b, loc, b.getI8Type(), live)
                    .getResult());
          },
          [&](OpBuilder &b, Location loc) {
            scf::YieldOp::create(
                b, loc,
                arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0))
                    .getResult());
          });
      Value shift = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(i));
      result = arith::OrIOp::create(
          b, loc, result,
          arith::ShLIOp::create(b, loc, load.getResult(0), shift));
    }
    at.back() = byte;
    memref::StoreOp::create(b, loc, result, looked.bits, at);
  });
}
