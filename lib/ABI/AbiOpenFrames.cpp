//===- AbiOpenFrames.cpp - Frames of functions that take none -------------===//

#include "pit/ABI/Passes.h"
#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABIOPENFRAMES
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

static constexpr StringLiteral kCalls = "pit_calls", kBody = "_in_frame";

/// The runtime's functions that open and close frames of a device.
namespace {
struct Entries {
  StringLiteral open, close;
};
} // namespace
static constexpr Entries kCpu = {"pit_rt_open", "pit_rt_leave"},
                         kCuda = {"pit_rt_open_cuda", "pit_rt_close_cuda"};

static bool hasFrame(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (func.getArgAttr(i, kFrameAttr))
      return true;
  return false;
}

/// Has the function something that needs the memory of a call on that device?
static bool needsFrame(func::FuncOp func, bool onDevice) {
  if (func.isExternal() || hasFrame(func) ||
      func->hasAttr(kDeviceAttrName) != onDevice)
    return false;
  if (onDevice)
    return true;
  WalkResult found = func.walk([](Operation *op) {
    return isa_and_present<PitDialect>(op->getDialect())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Marks the argument that is the function's stream, if there is one.
static LogicalResult markStream(func::FuncOp func) {
  SmallVector<unsigned> streams;
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    bool isToken = isa<gpu::AsyncTokenType>(type);
    bool isMarked = bool(func.getArgAttr(i, kStreamAttrName));
    if (isMarked && !isToken && !isa<LLVM::LLVMPointerType>(type))
      return func.emitOpError()
             << "argument " << i << " has " << kStreamAttrName << ", and is a "
             << type << "; a stream is an !llvm.ptr or a !gpu.async.token";
    if (isToken || isMarked)
      streams.push_back(i);
  }
  if (streams.size() > 1)
    return func.emitOpError()
           << "arguments " << streams[0] << " and " << streams[1]
           << " are streams; a function works on one (gpu.wait async joins "
              "tokens)";
  if (!streams.empty())
    func.setArgAttr(streams.front(), kStreamAttrName,
                    UnitAttr::get(func.getContext()));
  return success();
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

/// The stream of a function on a device as a pointer; null, the default one, if
/// it has none. Passes after this one find it in the body.
static Value takeStream(OpBuilder &builder, func::FuncOp func,
                        func::FuncOp body, bool &isGiven) {
  Location loc = func.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(func.getContext());
  body->setAttr(kDeviceAttrName, func->getAttr(kDeviceAttrName));
  isGiven = false;
  for (BlockArgument argument : func.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (!func.removeArgAttr(i, kStreamAttrName))
      continue;
    isGiven = true;
    body.setArgAttr(i + 1, kStreamAttrName, builder.getUnitAttr());
    if (argument.getType() == pointer)
      return argument;
    return UnrealizedConversionCastOp::create(builder, loc, pointer,
                                              ValueRange{argument})
        .getResult(0);
  }
  return LLVM::ZeroOp::create(builder, loc, pointer);
}

/// Has `func` open a frame, call its body and close the frame. The words of its
/// module begin at `calls`; `number` is that of the function.
static void callInFrame(func::FuncOp func, func::FuncOp body,
                        LLVM::GlobalOp calls, int64_t number, bool onDevice) {
  Location loc = func.getLoc();
  auto builder = OpBuilder::atBlockBegin(func.addEntryBlock());
  auto pointer = LLVM::LLVMPointerType::get(func.getContext());
  Value module = LLVM::AddressOfOp::create(builder, loc, calls);
  Value own = LLVM::GEPOp::create(
      builder, loc, pointer, pointer, module,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number) + 1});
  SmallVector<Value> words = {module, own};
  bool isGiven = false;
  if (onDevice)
    words.push_back(takeStream(builder, func, body, isGiven));
  Value frame =
      func::CallOp::create(builder, loc, onDevice ? kCuda.open : kCpu.open,
                           pointer, words)
          .getResult(0);
  SmallVector<Value> operands = {frame};
  llvm::append_range(operands, func.getArguments());
  auto call = func::CallOp::create(builder, loc, body, operands);
  // The status of the call, or whether the host waits for its work.
  Value word =
      arith::ConstantIntOp::create(builder, loc, onDevice && !isGiven, 32);
  func::CallOp::create(builder, loc, onDevice ? kCuda.close : kCpu.close,
                       onDevice ? TypeRange() : TypeRange(word.getType()),
                       ValueRange{frame, word});
  func::ReturnOp::create(builder, loc, call.getResults());
}

static void declare(OpBuilder &builder, SymbolTable &symbols, StringRef name,
                    TypeRange inputs, TypeRange results) {
  if (symbols.lookup(name))
    return;
  auto func = func::FuncOp::create(builder.getUnknownLoc(), name,
                                   builder.getFunctionType(inputs, results));
  func.setPrivate();
  symbols.insert(func, symbols.getOp()->getRegion(0).front().begin());
}

namespace {
struct AbiOpenFrames : pit::impl::PitAbiOpenFramesBase<AbiOpenFrames> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (device != "cpu" && device != "cuda") {
      module.emitError() << "pit-abi-open-frames: device is '" << device
                         << "'; it must be cpu or cuda";
      return signalPassFailure();
    }
    bool onDevice = device == "cuda";
    SmallVector<func::FuncOp> functions;
    for (auto func : module.getOps<func::FuncOp>())
      if (needsFrame(func, onDevice))
        functions.push_back(func);
    for (func::FuncOp func : functions)
      if (failed(check(func)) || (onDevice && failed(markStream(func))))
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
    Type i32 = builder.getI32Type();
    if (onDevice) {
      declare(builder, symbols, kCuda.open, {pointer, pointer, pointer},
              pointer);
      declare(builder, symbols, kCuda.close, {pointer, i32}, {});
    } else {
      declare(builder, symbols, kCpu.open, {pointer, pointer}, pointer);
      declare(builder, symbols, kCpu.close, {pointer, i32}, i32);
    }
    for (auto [number, func] : llvm::enumerate(functions))
      callInFrame(func, outlineBody(func, symbols), calls, number, onDevice);
  }
};
} // namespace
