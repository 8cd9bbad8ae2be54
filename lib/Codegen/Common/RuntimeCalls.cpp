//===- RuntimeCalls.cpp - Calls of the runtime in generated code ----------===//

#include "RuntimeCalls.h"

#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::pit;

Value mlir::pit::getFrame(func::FuncOp function) {
  for (BlockArgument arg : function.getArguments())
    if (function.getArgAttr(arg.getArgNumber(), kFrameAttr))
      return arg;
  return {};
}

func::CallOp mlir::pit::callRuntime(OpBuilder &builder, Location loc,
                                    StringRef name, TypeRange results,
                                    ValueRange operands, bool status) {
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto declaration = func::FuncOp::create(
        builder, loc, name,
        builder.getFunctionType(operands.getTypes(), results));
    declaration.setPrivate();
  }
  auto call = func::CallOp::create(builder, loc, name, results, operands);
  if (status)
    CheckStatusOp::create(builder, loc, call.getResult(0));
  return call;
}

Value mlir::pit::entryAlloca(OpBuilder &builder, Location loc,
                             func::FuncOp function, Type type, int64_t count,
                             unsigned alignment) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  Value size = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                        builder.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
      size, alignment);
}

Value mlir::pit::storeWords(OpBuilder &builder, Location loc,
                            func::FuncOp function, ValueRange words) {
  Value start =
      entryAlloca(builder, loc, function, builder.getI64Type(), words.size());
  for (auto [i, word] : llvm::enumerate(words))
    LLVM::StoreOp::create(builder, loc, word,
                          addressAt(builder, loc, start, 8 * i));
  return start;
}

/// The address of a constant of `count` elements. Its symbol ends in a hash of
/// its content.
static Value addressOf(OpBuilder &builder, Location loc, StringRef name,
                       StringRef bytes, Type element, int64_t count,
                       Attribute value) {
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string symbol =
      (name + "_" + llvm::utohexstr(llvm::xxh3_64bits(bytes), true)).str();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
  if (!global) {
    auto top = OpBuilder::atBlockBegin(module.getBody());
    global = LLVM::GlobalOp::create(
        top, loc, LLVM::LLVMArrayType::get(element, count),
        /*isConstant=*/true, LLVM::Linkage::Internal, symbol, value,
        /*alignment=*/alignof(int64_t));
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value mlir::pit::constantText(OpBuilder &builder, Location loc, StringRef name,
                              StringRef text) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  return addressOf(builder, loc, name, bytes, builder.getI8Type(), bytes.size(),
                   builder.getStringAttr(bytes));
}

Value mlir::pit::constantWords(OpBuilder &builder, Location loc, StringRef name,
                               ArrayRef<int32_t> words) {
  StringRef bytes(reinterpret_cast<const char *>(words.data()),
                  words.size() * sizeof(int32_t));
  return addressOf(builder, loc, name, bytes, builder.getI32Type(),
                   words.size(), builder.getI32TensorAttr(words));
}

Value mlir::pit::storeView(OpBuilder &builder, Location loc,
                           func::FuncOp function, Value address,
                           ArrayRef<OpFoldResult> sizes,
                           ArrayRef<OpFoldResult> strides) {
  Type i64 = builder.getI64Type();
  Value view = entryAlloca(builder, loc, function, i64,
                           sizeof(pit_view) / sizeof(int64_t));
  auto store = [&](Value word, size_t offset) {
    if (word.getType().isIndex())
      word = builder.createOrFold<arith::IndexCastOp>(loc, i64, word);
    LLVM::StoreOp::create(
        builder, loc, word,
        addressAt(builder, loc, view, static_cast<int64_t>(offset)));
  };
  store(address, offsetof(pit_view, data));
  for (auto [d, size, stride] : llvm::enumerate(sizes, strides)) {
    store(getValueOrCreateConstantIndexOp(builder, loc, size),
          offsetof(pit_view, shape) + 8 * d);
    store(getValueOrCreateConstantIndexOp(builder, loc, stride),
          offsetof(pit_view, strides) + 8 * d);
  }
  return view;
}

DLDataType mlir::pit::runtimeType(Type type) {
  int64_t word = dtypeWord(type);
  return {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8), 1};
}

int64_t mlir::pit::dtypeWord(Type type) {
  int64_t bits = 8 * elementBytes(type);
  int64_t code = type.isInteger(1)             ? PIT_DTYPE_BOOL
                 : type.isBF16()               ? PIT_DTYPE_BFLOAT
                 : isa<Float8E4M3FNType>(type) ? PIT_DTYPE_FLOAT8_E4M3FN
                 : isa<Float8E5M2Type>(type)   ? PIT_DTYPE_FLOAT8_E5M2
                 : isa<FloatType>(type)        ? PIT_DTYPE_FLOAT
                                               : PIT_DTYPE_INT;
  return code | bits << 8;
}

Value mlir::pit::firstElementAddress(OpBuilder &builder, Location loc,
                                     Value memref) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  ArithEmitter e(builder, loc);
  Value offset = e.mul(metadata.getOffset(), e.index(elementBytes(element)));
  return e.toI64(e.add(address, offset));
}

bool mlir::pit::mayRepeat(Block *block) {
  Operation *parent = block->getParentOp();
  for (; !isa<FunctionOpInterface>(parent); parent = parent->getParentOp()) {
    if (isa<LoopLikeOpInterface>(parent))
      return true;
    block = parent->getBlock();
  }
  // A block of the function that can be reached from itself.
  SetVector<Block *> reached(block->succ_begin(), block->succ_end());
  for (size_t i = 0; i < reached.size(); ++i)
    reached.insert(reached[i]->succ_begin(), reached[i]->succ_end());
  return reached.contains(block);
}

Value mlir::pit::entryPlace(OpBuilder &builder, Location loc,
                            func::FuncOp function) {
  constexpr int64_t kWords = sizeof(pit_place) / sizeof(int64_t);
  static_assert(sizeof(pit_place) == kWords * sizeof(int64_t));
  Type i64 = builder.getI64Type();
  Value place = entryAlloca(builder, loc, function, i64, kWords);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(place);
  Value zero =
      LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(0));
  for (int64_t word = 0; word < kWords; ++word)
    LLVM::StoreOp::create(builder, loc, zero,
                          addressAt(builder, loc, place, 8 * word));
  return place;
}

Value mlir::pit::allocateBytes(OpBuilder &builder, Location loc,
                               func::FuncOp function, Value bytes,
                               Reuse reuse) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value slot = entryAlloca(builder, loc, function, pointer);
  SmallVector<Value> operands = {getFrame(function),
                                 ArithEmitter(builder, loc).toI64(bytes)};
  StringRef callee = "pit_rt_alloc";
  if (reuse != Reuse::Never && mayRepeat(builder.getInsertionBlock())) {
    callee = "pit_rt_realloc";
    operands.push_back(arith::ConstantIntOp::create(
        builder, loc, builder.getI32Type(), reuse == Reuse::AfterNext));
    operands.push_back(entryPlace(builder, loc, function));
  }
  operands.push_back(slot);
  callRuntime(builder, loc, callee, builder.getI32Type(), operands,
              /*status=*/true);
  return LLVM::LoadOp::create(builder, loc, pointer, slot);
}

bool mlir::pit::mayBeConstant(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(memref);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
         argument.getOwner()->isEntryBlock();
}

KeptBytes mlir::pit::keepBytes(OpBuilder &builder, Location loc,
                               func::FuncOp function, Value memref,
                               ArrayRef<Value> layout, Value bytes,
                               Value needed) {
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto type = cast<MemRefType>(memref.getType());
  ArithEmitter e(builder, loc);
  Value from = e.index(elementBytes(type.getElementType()));
  for (int64_t d = 0; d < type.getRank(); ++d)
    from = e.mul(from, memref::DimOp::create(builder, loc, memref, d));
  Value data = LLVM::IntToPtrOp::create(
      builder, loc, pointer, firstElementAddress(builder, loc, memref));
  SmallVector<Value> words = {arith::ConstantIntOp::create(
      builder, loc, i64, static_cast<int64_t>(layout.size()))};
  llvm::append_range(words, layout);
  Value memory = entryAlloca(builder, loc, function, pointer);
  Value state = entryAlloca(builder, loc, function, i32);
  callRuntime(builder, loc, "pit_rt_keep", i32,
              {getFrame(function), data, e.toI64(from),
               storeWords(builder, loc, function, words), e.toI64(bytes),
               arith::ExtUIOp::create(builder, loc, i32, needed), memory,
               state},
              /*status=*/true);
  Value found = LLVM::LoadOp::create(builder, loc, i32, state);
  auto is = [&](arith::CmpIPredicate predicate, int64_t value) -> Value {
    return e.compare(predicate, found,
                     arith::ConstantIntOp::create(builder, loc, i32, value));
  };
  return {LLVM::LoadOp::create(builder, loc, pointer, memory),
          is(arith::CmpIPredicate::ne, PIT_KEEP_NONE),
          is(arith::CmpIPredicate::eq, PIT_KEEP_READY)};
}

void mlir::pit::publishBytes(OpBuilder &builder, Location loc,
                             func::FuncOp function, const KeptBytes &kept) {
  callRuntime(builder, loc, "pit_rt_kept", {},
              {getFrame(function), kept.pointer});
}
