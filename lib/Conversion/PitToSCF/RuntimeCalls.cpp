//===- RuntimeCalls.cpp - Calls of the runtime in generated code ----------===//

#include "RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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
                             func::FuncOp function, Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  Value size = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                        builder.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
      size);
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

Value mlir::pit::memrefAt(OpBuilder &builder, Location loc, Value pointer,
                          MemRefType type, ValueRange dynamic) {
  // The descriptor that MLIR's memref lowering agrees on: allocated and aligned
  // pointer, offset, sizes, strides.
  Type i64 = builder.getI64Type();
  int64_t rank = type.getRank();
  auto array = LLVM::LLVMArrayType::get(i64, rank);
  SmallVector<Type> fields = {pointer.getType(), pointer.getType(), i64};
  if (rank)
    fields.append({array, array});
  auto structType =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  };
  Value descriptor = LLVM::UndefOp::create(builder, loc, structType);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  insert(pointer, 0);
  insert(pointer, 1);
  insert(constant(0), 2);
  SmallVector<Value> sizes;
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent)) {
      sizes.push_back(
          arith::IndexCastOp::create(builder, loc, i64, dynamic.front()));
      dynamic = dynamic.drop_front();
    } else {
      sizes.push_back(constant(extent));
    }
  }
  Value stride = constant(1);
  for (int64_t d = rank - 1; d >= 0; --d) {
    insert(sizes[d], {3, d});
    insert(stride, {4, d});
    if (d)
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[d]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

int64_t mlir::pit::elementBytes(Type element) {
  if (isa<IndexType>(element))
    return 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}
