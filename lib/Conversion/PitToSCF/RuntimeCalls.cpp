//===- RuntimeCalls.cpp - Calls of the runtime in generated code ----------===//

#include "RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pit;

Value mlir::pit::getFrame(func::FuncOp function) {
  for (BlockArgument arg : function.getArguments())
    if (function.getArgAttr(arg.getArgNumber(), "pit.frame"))
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
    call->setAttr("pit.status", builder.getUnitAttr());
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

int64_t mlir::pit::dtypeWord(Type type) {
  int64_t bits = type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
  int64_t code = type.isInteger(1)      ? 6
                 : type.isBF16()        ? 4
                 : isa<FloatType>(type) ? 2
                                        : 0;
  return code | bits << 8;
}

Value mlir::pit::firstElementAddress(OpBuilder &builder, Location loc,
                                     Value memref) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  Value offset =
      arith::MulIOp::create(builder, loc, metadata.getOffset(),
                            constantIndex(builder, loc, elementBytes(element)));
  address = arith::AddIOp::create(builder, loc, address, offset);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                    address);
}

Value mlir::pit::allocateBytes(OpBuilder &builder, Location loc,
                               func::FuncOp function, Value bytes) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value slot = entryAlloca(builder, loc, function, pointer);
  Value size =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), bytes);
  callRuntime(builder, loc, "pit_rt_alloc", builder.getI32Type(),
              {getFrame(function), size, slot}, /*status=*/true);
  return LLVM::LoadOp::create(builder, loc, pointer, slot);
}
