//===- Atomics.cpp - Combining with memory in one step --------------------===//

#include "Atomics.h"
#include "Dialect/Pit/IR/Arithmetic.h"
#include "Index.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;

Value mlir::pit::pointerOf(OpBuilder &builder, Location loc, Value memref) {
  Type type =
      LLVMTypeConverter(builder.getContext()).convertType(memref.getType());
  Value descriptor =
      UnrealizedConversionCastOp::create(builder, loc, type, memref)
          .getResult(0);
  return LLVM::ExtractValueOp::create(builder, loc, descriptor,
                                      ArrayRef<int64_t>{1});
}

bool mlir::pit::hasAtomicCombine(Type element) {
  int64_t bytes = elementBytes(element);
  return bytes <= 8 && llvm::isPowerOf2_64(bytes) && !isa<ComplexType>(element);
}

/// The instruction for `kind` on elements of `type`, if there is one.
static std::optional<LLVM::AtomicBinOp>
instructionFor(arith::AtomicRMWKind kind, Type type) {
  using Kind = arith::AtomicRMWKind;
  if (isa<FloatType>(type)) {
    if (kind == Kind::addf)
      return LLVM::AtomicBinOp::fadd;
    return std::nullopt;
  }
  int64_t bits = elementBytes(type) * 8;
  if (bits < 32)
    return std::nullopt;
  switch (kind) {
  case Kind::addi:
    return LLVM::AtomicBinOp::add;
  case Kind::maxs:
    return LLVM::AtomicBinOp::max;
  case Kind::maxu:
    return LLVM::AtomicBinOp::umax;
  case Kind::mins:
    return LLVM::AtomicBinOp::min;
  case Kind::minu:
    return LLVM::AtomicBinOp::umin;
  case Kind::ori:
    return LLVM::AtomicBinOp::_or;
  case Kind::andi:
    return LLVM::AtomicBinOp::_and;
  case Kind::xori:
    return LLVM::AtomicBinOp::_xor;
  default:
    return std::nullopt;
  }
}

/// The address of an element.
static Value addressOf(OpBuilder &builder, Location loc, Value memref,
                       ValueRange indices, int64_t bytes) {
  ArithEmitter e(builder, loc);
  Value base = pointerOf(builder, loc, memref);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value element = metadata.getOffset();
  for (auto [i, stride] : llvm::zip_equal(indices, metadata.getStrides()))
    element = e.add(element, e.mul(i, stride));
  element = e.toI64(e.mul(element, bytes));
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(),
                             base, ArrayRef<LLVM::GEPArg>{element});
}

/// Compares and swaps until nobody came between.
static void swapLoop(OpBuilder &builder, Location loc,
                     arith::AtomicRMWKind kind, Value value, Value address) {
  Type type = value.getType();
  Type word = builder.getIntegerType(8 * elementBytes(type));
  auto fromWord = [&](Value bits) -> Value {
    if (isa<FloatType>(type))
      return arith::BitcastOp::create(builder, loc, type, bits);
    if (isa<IndexType>(type))
      return arith::IndexCastOp::create(builder, loc, type, bits);
    return type == word
               ? bits
               : arith::TruncIOp::create(builder, loc, type, bits).getResult();
  };
  auto toWord = [&](Value element) -> Value {
    if (isa<FloatType>(type))
      return arith::BitcastOp::create(builder, loc, word, element);
    if (isa<IndexType>(type))
      return arith::IndexCastOp::create(builder, loc, word, element);
    return type == word ? element
                        : arith::ExtUIOp::create(builder, loc, word, element)
                              .getResult();
  };
  Value first = LLVM::LoadOp::create(builder, loc, word, address);
  auto loop = scf::WhileOp::create(builder, loc, word, first);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, word, loc);
  Value expected = before->getArgument(0);
  Value next = toWord(
      arith::getReductionOp(kind, builder, loc, fromWord(expected), value));
  Value swap = LLVM::AtomicCmpXchgOp::create(
      builder, loc, address, expected, next, LLVM::AtomicOrdering::monotonic,
      LLVM::AtomicOrdering::monotonic, "device");
  Value seen =
      LLVM::ExtractValueOp::create(builder, loc, swap, ArrayRef<int64_t>{0});
  Value done =
      LLVM::ExtractValueOp::create(builder, loc, swap, ArrayRef<int64_t>{1});
  scf::ConditionOp::create(builder, loc,
                           ArithEmitter(builder, loc).logicalNot(done), seen);
  Block *after = builder.createBlock(&loop.getAfter(), {}, word, loc);
  scf::YieldOp::create(builder, loc, after->getArgument(0));
}

void mlir::pit::atomicCombine(OpBuilder &builder, Location loc,
                              arith::AtomicRMWKind kind, Value value,
                              Value memref, ValueRange indices) {
  Type type = value.getType();
  Value address = addressOf(builder, loc, memref, indices, elementBytes(type));
  std::optional<LLVM::AtomicBinOp> op = instructionFor(kind, type);
  if (!op)
    return swapLoop(builder, loc, kind, value, address);
  if (isa<IndexType>(type))
    value = ArithEmitter(builder, loc).toI64(value);
  LLVM::AtomicRMWOp::create(builder, loc, *op, address, value,
                            LLVM::AtomicOrdering::monotonic, "device");
}
