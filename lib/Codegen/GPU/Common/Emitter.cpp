//===- RingEmitter.cpp - Arithmetic and addresses of tiles ----------------===//

#include "RingLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

Value Emitter::number(Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}
Value Emitter::i32(int64_t value) { return number(b.getI32Type(), value); }
Value Emitter::index(int64_t value) { return number(b.getIndexType(), value); }
Value Emitter::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}
Value Emitter::add(Value x, int64_t y) {
  return y == 0 ? x : add(x, number(x.getType(), y));
}
Value Emitter::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(loc, x, y);
}
Value Emitter::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(loc, x, y);
}
Value Emitter::mul(Value x, int64_t y) {
  return y == 1 ? x : mul(x, number(x.getType(), y));
}
Value Emitter::div(Value x, int64_t y) {
  return y == 1
             ? x
             : b.createOrFold<arith::DivUIOp>(loc, x, number(x.getType(), y));
}
Value Emitter::rem(Value x, int64_t y) {
  return b.createOrFold<arith::RemUIOp>(loc, x, number(x.getType(), y));
}
Value Emitter::bitAnd(Value x, int64_t y) {
  return b.createOrFold<arith::AndIOp>(loc, x, number(x.getType(), y));
}
Value Emitter::bitXor(Value x, Value y) {
  return b.createOrFold<arith::XOrIOp>(loc, x, y);
}
Value Emitter::min(Value x, Value y) {
  return b.createOrFold<arith::MinSIOp>(loc, x, y);
}
Value Emitter::max(Value x, Value y) {
  return b.createOrFold<arith::MaxSIOp>(loc, x, y);
}
Value Emitter::both(Value x, Value y) {
  return b.createOrFold<arith::AndIOp>(loc, x, y);
}
Value Emitter::less(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
}
Value Emitter::inRange(Value x, Value size) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x, size);
}
Value Emitter::select(Value condition, Value x, Value y) {
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}
Value Emitter::toIndex(Value x) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), x);
}
Value Emitter::toI32(Value x) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), x);
}
Value Emitter::constant(TypedAttr value) {
  return arith::ConstantOp::create(b, loc, value);
}
Value Emitter::sharedPointer(Value address) {
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
}
Value Emitter::opaque(Value x) {
  return LLVM::InlineAsmOp::create(
             b, loc, x.getType(), x, "mov.b32 $0, $1;", "=r,r",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}
void Emitter::keep(Operation *loop) {
  MLIRContext *context = b.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, b.getBoolAttr(true), {}, {},
                                          {}, {}, {}, {});
  loop->setAttr("loop_annotation",
                LLVM::LoopAnnotationAttr::get(
                    context, {}, {}, {}, unroll, {}, {}, {}, {},
                    LLVM::LoopPeeledAttr::get(context, b.getI32IntegerAttr(0)),
                    {}, {}, {}, {}, {}, {}));
}
void Emitter::ifThen(Value condition, function_ref<void()> then,
                     function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, condition,
                                  /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}
void Emitter::barrier() { NVVM::Barrier0Op::create(b, loc); }

Value mlir::pit::swizzleOf(Emitter &e, const SharedTile &tile, Value row) {
  Value line = e.mul(e.div(row, tile.rowsPerLine()), tile.swizzleStep);
  return e.bitAnd(line, tile.swizzleMask());
}

TileDim mlir::pit::tileDim(Emitter &e, Value memref, unsigned d,
                           Value subscript, int64_t extent,
                           const ChunkMap &chunks) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(e.b, e.loc, memref);
  SmallVector<int64_t> strides;
  int64_t offset;
  bool isKnown = succeeded(type.getStridesAndOffset(strides, offset));
  TileDimension known =
      tileDimension(e.b, e.loc, memref, d, subscript, extent, chunks);
  Value stride = isKnown && !ShapedType::isDynamic(strides[d])
                     ? e.index(strides[d])
                     : Value(metadata.getStrides()[d]);
  return {known.start, known.limit, known.ids, known.size, stride};
}

TileAccess mlir::pit::accessTile(Emitter &e, Value memref,
                                 ValueRange subscripts, ArrayRef<int64_t> shape,
                                 TypedAttr pad, const ChunkMap &chunks) {
  OpBuilder &b = e.b;
  auto type = cast<MemRefType>(memref.getType());
  TileAccess access;
  access.element = type.getElementType();
  access.pad = pad ? pad : cast<TypedAttr>(b.getZeroAttr(access.element));
  auto metadata = memref::ExtractStridedMetadataOp::create(b, e.loc, memref);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, e.loc, memref);
  address =
      e.add(address, e.mul(metadata.getOffset(), elementBytes(access.element)));
  access.start = arith::IndexCastOp::create(b, e.loc, b.getI64Type(), address);
  access.base = LLVM::IntToPtrOp::create(
      b, e.loc, LLVM::LLVMPointerType::get(b.getContext(), 1), access.start);

  for (auto [d, subscript] : llvm::enumerate(subscripts))
    access.dims.push_back(tileDim(e, memref, d, subscript, shape[d], chunks));
  return access;
}

Value mlir::pit::elementAddress(Emitter &e, const TileAccess &tile,
                                Value offset) {
  Value at = arith::IndexCastOp::create(e.b, e.loc, e.b.getI64Type(), offset);
  return LLVM::GEPOp::create(e.b, e.loc, tile.base.getType(), tile.element,
                             tile.base, ArrayRef<LLVM::GEPArg>{at});
}

std::pair<Value, Value> mlir::pit::locate(Emitter &e, const TileDim &dim,
                                          Value i) {
  Value exists = e.less(i, dim.limit);
  Value at = e.add(dim.start, i);
  if (!dim.ids)
    return {at, exists};
  // An absent id has no place in the list.
  auto guarded = scf::IfOp::create(
      e.b, e.loc, exists,
      [&](OpBuilder &b, Location loc) {
        Value id = memref::LoadOp::create(b, loc, dim.ids, at);
        id = arith::IndexCastOp::create(b, loc, b.getIndexType(), id);
        scf::YieldOp::create(b, loc, id);
      },
      [&](OpBuilder &b, Location loc) {
        Value none = arith::ConstantIndexOp::create(b, loc, -1);
        scf::YieldOp::create(b, loc, none);
      });
  Value id = guarded.getResult(0);
  return {id, e.both(exists, e.inRange(id, dim.size))};
}
