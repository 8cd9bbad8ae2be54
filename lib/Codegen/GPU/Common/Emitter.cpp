//===- Emitter.cpp - Arithmetic in kernels --------------------------------===//

#include "Emitter.h"

#include "Codegen/Common/Index.h"
#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

Value Emitter::i32(int64_t value) { return number(b.getI32Type(), value); }
Value Emitter::toI64(Value x) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), x);
}
Value Emitter::threadId() {
  return toI32(gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x));
}
Value Emitter::blockId(gpu::Dimension dimension) {
  return toI32(gpu::BlockIdOp::create(b, loc, dimension));
}
Value Emitter::gridDim(gpu::Dimension dimension) {
  return toI32(gpu::GridDimOp::create(b, loc, dimension));
}
std::pair<Value, Value> Emitter::divRem(Value x, Value y) {
  Value quotient = b.createOrFold<arith::DivUIOp>(loc, x, y);
  return {quotient, sub(x, mul(quotient, y))};
}
Value Emitter::isAligned(Value memref, Value first, Value limit,
                         int64_t bytes) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value bits = add(Value(metadata.getOffset()), first);
  for (Value stride : ValueRange(metadata.getStrides()).drop_back())
    bits = bitOr(bits, stride);
  if (limit)
    bits = bitOr(bits, limit);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  bits = mul(bits, elementBytes(element));
  return equal(bitAnd(bitOr(bits, addressOf(memref)), bytes - 1), index(0));
}
Value Emitter::sharedPointer(Value address) {
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
}
Value Emitter::globalPointer(Value address) {
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), 1), address);
}
Value Emitter::globalPointer(Value start, Value byte) {
  Value offset = arith::ExtUIOp::create(b, loc, b.getI64Type(), byte);
  return globalPointer(add(start, offset));
}
Value Emitter::elementAfter(Value pointer, Type element, Value count) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), storedType(element),
                             pointer, ArrayRef<LLVM::GEPArg>{toI64(count)});
}
Value Emitter::addressOf(Value memref) {
  return memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref);
}
Type Emitter::storedType(Type type) {
  if (!isF8(type))
    return type;
  Type byte = IntegerType::get(type.getContext(), 8);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.clone(byte) : byte;
}
Value Emitter::toStored(Value value) {
  return fromStored(value, storedType(value.getType()));
}
Value Emitter::fromStored(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return b.createOrFold<arith::BitcastOp>(loc, type, value);
}
Value Emitter::pair(Value first, Value second) {
  auto type = VectorType::get(2, first.getType());
  Value both = LLVM::UndefOp::create(b, loc, type);
  both = LLVM::InsertElementOp::create(b, loc, both, first, i32(0));
  return LLVM::InsertElementOp::create(b, loc, both, second, i32(1));
}
Value Emitter::extract(Value vector, Value number) {
  return LLVM::ExtractElementOp::create(b, loc, vector, number);
}
Value Emitter::extract(Value vector, int64_t number) {
  return extract(vector, i32(number));
}
Value Emitter::bitcast(Type type, Value value) {
  return LLVM::BitcastOp::create(b, loc, type, value);
}
Value Emitter::load(Type type, Value pointer, int64_t alignment,
                    bool isVolatile) {
  Value stored =
      LLVM::LoadOp::create(b, loc, storedType(type), pointer,
                           static_cast<unsigned>(alignment), isVolatile);
  return fromStored(stored, type);
}
void Emitter::store(Value value, Value pointer, int64_t alignment) {
  LLVM::StoreOp::create(b, loc, toStored(value), pointer,
                        static_cast<unsigned>(alignment));
}
Value Emitter::loadAt(Value memref, ValueRange at) {
  return memref::LoadOp::create(b, loc, memref, at);
}
void Emitter::storeAt(Value value, Value memref, ValueRange at) {
  memref::StoreOp::create(b, loc, value, memref, at);
}
Value Emitter::loadVector(Type type, Value memref, ValueRange at,
                          int64_t alignment) {
  return vector::LoadOp::create(b, loc, type, memref, at,
                                /*nontemporal=*/false,
                                llvm::MaybeAlign(alignment));
}
void Emitter::storeVector(Value vector, Value memref, ValueRange at,
                          int64_t alignment) {
  vector::StoreOp::create(b, loc, vector, memref, at, /*nontemporal=*/false,
                          llvm::MaybeAlign(alignment));
}
Value Emitter::atomic(LLVM::AtomicBinOp op, Value pointer, Value value) {
  return LLVM::AtomicRMWOp::create(b, loc, op, pointer, value,
                                   LLVM::AtomicOrdering::monotonic, "device");
}
Value Emitter::assembly(Type type, StringRef text, StringRef constraints,
                        ValueRange operands, bool hasSideEffects) {
  auto op = LLVM::InlineAsmOp::create(
      b, loc, type ? TypeRange(type) : TypeRange(), operands, text, constraints,
      hasSideEffects, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  return type ? op.getResult(0) : Value();
}
Value Emitter::hideFromOptimizer(Value x) {
  return assembly(x.getType(), "mov.b32 $0, $1;", "=r,r", x);
}
void Emitter::keepLoop(Operation *loop) {
  MLIRContext *context = b.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, b.getBoolAttr(true), {}, {},
                                          {}, {}, {}, {});
  loop->setAttr("loop_annotation",
                LLVM::LoopAnnotationAttr::get(
                    context, {}, {}, {}, unroll, {}, {}, {}, {},
                    LLVM::LoopPeeledAttr::get(context, b.getI32IntegerAttr(0)),
                    {}, {}, {}, {}, {}, {}));
}
void Emitter::barrier() { NVVM::Barrier0Op::create(b, loc); }
void Emitter::deviceFence() {
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acq_rel, "device");
}
void Emitter::asyncProxyFence() {
  NVVM::FenceProxyOp::create(
      b, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}
Value Emitter::fromLane(Value value, Value lane) {
  return NVVM::ShflOp::create(b, loc, b.getI32Type(), i32(-1), value, lane,
                              i32(31), NVVM::ShflKind::idx, UnitAttr());
}
