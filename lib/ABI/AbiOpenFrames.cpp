//===- AbiOpenFrames.cpp - Frames of functions that take none -------------===//

#include "pit/ABI/Manifest.h"
#include "pit/ABI/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABIOPENFRAMES
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

static constexpr StringLiteral kOpen = "pit_rt_open", kLeave = "pit_rt_leave",
                               kCalls = "pit_calls", kBody = "_in_frame";

/// Has the function something that needs the memory of a call?
static bool needsFrame(func::FuncOp func) {
  if (func.isExternal())
    return false;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (func.getArgAttr(i, kFrameAttr))
      return false;
  WalkResult found = func.walk([](Operation *op) {
    return isa_and_present<PitDialect>(op->getDialect())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

static LogicalResult check(func::FuncOp func) {
  auto verify = [&](StringRef what, TypeRange types) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types)) {
      if (isa<TensorType>(type))
        return func.emitOpError()
               << what << " " << i << " is of type " << type
               << "; bufferize the function first (one-shot-bufferize with "
                  "bufferize-function-boundaries)";
      if (isa<SparsityIndexType>(type))
        return func.emitOpError()
               << what << " " << i
               << " is an index, which only entry points of the calling "
                  "convention take (pit-abi-prepare); build it in the function";
    }
    return success();
  };
  if (failed(verify("argument", func.getArgumentTypes())))
    return failure();
  return verify("result", func.getResultTypes());
}

/// Moves the body into a function of its own, which has a frame.
static func::FuncOp outlineBody(func::FuncOp func, SymbolTable &symbols) {
  OpBuilder builder(func);
  auto pointer = LLVM::LLVMPointerType::get(func.getContext());
  SmallVector<Type> inputs = {pointer};
  llvm::append_range(inputs, func.getArgumentTypes());
  auto body = func::FuncOp::create(
      func.getLoc(), (func.getName() + kBody).str(),
      builder.getFunctionType(inputs, func.getResultTypes()));
  body.setPrivate();
  symbols.insert(body, std::next(func->getIterator()));
  body.getBody().takeBody(func.getBody());
  body.front().insertArgument(0u, pointer, func.getLoc());
  body.setArgAttr(0, kFrameAttr, builder.getUnitAttr());
  return body;
}

/// Has `func` open a frame, call its body and close the frame. The words of its
/// module begin at `calls`; `number` is that of the function.
static void callInFrame(func::FuncOp func, func::FuncOp body,
                        LLVM::GlobalOp calls, int64_t number) {
  Location loc = func.getLoc();
  auto builder = OpBuilder::atBlockBegin(func.addEntryBlock());
  auto pointer = LLVM::LLVMPointerType::get(func.getContext());
  Value module = LLVM::AddressOfOp::create(builder, loc, calls);
  Value own = LLVM::GEPOp::create(
      builder, loc, pointer, pointer, module,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number) + 1});
  Value frame = func::CallOp::create(builder, loc, kOpen, pointer,
                                     ValueRange{module, own})
                    .getResult(0);
  SmallVector<Value> operands = {frame};
  llvm::append_range(operands, func.getArguments());
  auto call = func::CallOp::create(builder, loc, body, operands);
  Value ok = arith::ConstantIntOp::create(builder, loc, 0, 32);
  func::CallOp::create(builder, loc, kLeave, builder.getI32Type(),
                       ValueRange{frame, ok});
  func::ReturnOp::create(builder, loc, call.getResults());
}

static void declare(OpBuilder &builder, SymbolTable &symbols, StringRef name,
                    TypeRange inputs, Type result) {
  if (symbols.lookup(name))
    return;
  auto func = func::FuncOp::create(builder.getUnknownLoc(), name,
                                   builder.getFunctionType(inputs, result));
  func.setPrivate();
  symbols.insert(func, symbols.getOp()->getRegion(0).front().begin());
}

namespace {
struct AbiOpenFrames : pit::impl::PitAbiOpenFramesBase<AbiOpenFrames> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions;
    for (auto func : module.getOps<func::FuncOp>())
      if (needsFrame(func))
        functions.push_back(func);
    for (func::FuncOp func : functions)
      if (failed(check(func)))
        return signalPassFailure();
    if (functions.empty())
      return;

    SymbolTable symbols(module);
    OpBuilder builder(&getContext());
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    // A context, and an address for each function.
    auto words = LLVM::LLVMArrayType::get(pointer, functions.size() + 1);
    auto calls = LLVM::GlobalOp::create(
        builder, module.getLoc(), words, /*isConstant=*/false,
        LLVM::Linkage::Internal, kCalls, /*value=*/Attribute());
    {
      Block *block = builder.createBlock(&calls.getInitializerRegion());
      builder.setInsertionPointToStart(block);
      LLVM::ReturnOp::create(
          builder, module.getLoc(),
          LLVM::ZeroOp::create(builder, module.getLoc(), words).getResult());
    }
    symbols.insert(calls, module.getBody()->begin());
    declare(builder, symbols, kOpen, {pointer, pointer}, pointer);
    declare(builder, symbols, kLeave, {pointer, builder.getI32Type()},
            builder.getI32Type());
    for (auto [number, func] : llvm::enumerate(functions))
      callInFrame(func, outlineBody(func, symbols), calls, number);
  }
};
} // namespace
