//===- PlaceResults.cpp - What functions return is device memory ----------===//

#include "Codegen/Common/RuntimeCalls.h"

#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITPLACERESULTS
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// A token for work on the function's stream, or the default one. It is cast
/// from what gpu-to-llvm makes of tokens, so nothing is created for it.
static Value getToken(OpBuilder &builder, func::FuncOp function) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  auto token = gpu::AsyncTokenType::get(builder.getContext());
  Value stream;
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), kStreamAttrName))
      stream = argument;
  if (!stream)
    stream =
        LLVM::ZeroOp::create(builder, function.getLoc(),
                             LLVM::LLVMPointerType::get(builder.getContext()));
  if (stream.getType() == token)
    return stream;
  return UnrealizedConversionCastOp::create(builder, function.getLoc(), token,
                                            stream)
      .getResult(0);
}

static void freeOnDevice(memref::DeallocOp op, Value token) {
  OpBuilder builder(op);
  gpu::DeallocOp::create(builder, op.getLoc(), token.getType(), token,
                         op.getMemref());
  op.erase();
}

/// What is left of allocations is handed to the caller, and what is freed was
/// handed over by functions that were called.
static LogicalResult placeInDeviceFunction(func::FuncOp function) {
  SmallVector<memref::AllocOp> allocs;
  SmallVector<memref::DeallocOp> deallocs;
  WalkResult walk = function.walk([&](Operation *op) {
    if (isa<bufferization::DeallocOp>(op)) {
      op->emitOpError("is left in a function on a device; run "
                      "bufferization-lower-deallocations before "
                      "pit-functions-to-cuda");
      return WalkResult::interrupt();
    }
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      allocs.push_back(alloc);
    else if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
      deallocs.push_back(dealloc);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (allocs.empty() && deallocs.empty())
    return success();
  OpBuilder builder(function.getContext());
  Value token = getToken(builder, function);
  for (memref::AllocOp alloc : allocs) {
    builder.setInsertionPoint(alloc);
    auto made = gpu::AllocOp::create(
        builder, alloc.getLoc(), alloc.getType(), token.getType(), token,
        alloc.getDynamicSizes(), alloc.getSymbolOperands());
    alloc.replaceAllUsesWith(made.getMemref());
    alloc.erase();
  }
  for (memref::DeallocOp dealloc : deallocs) {
    // Kernels of the call may still use it, and cuMemFree is free not to wait.
    if (Value frame = getFrame(function)) {
      builder.setInsertionPoint(dealloc);
      callRuntime(builder, dealloc.getLoc(), "pit_rt_wait",
                  builder.getI32Type(), frame, /*status=*/true);
    }
    freeOnDevice(dealloc, token);
  }
  return success();
}

/// Functions of the host may free what functions on a device gave them.
static LogicalResult freeResults(func::FuncOp function, SymbolTable &symbols) {
  SmallVector<memref::DeallocOp> deallocs;
  function.walk([&](memref::DeallocOp op) { deallocs.push_back(op); });
  if (deallocs.empty())
    return success();
  BufferViewFlowAnalysis aliases(function);
  auto isOnDevice = [&](Value value) {
    auto call = value.getDefiningOp<func::CallOp>();
    auto callee =
        call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
    return callee && callee->hasAttr(kDeviceAttrName);
  };
  Value token;
  for (memref::DeallocOp dealloc : deallocs) {
    Value memref = dealloc.getMemref();
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
      memref = view.getViewSource();
    if (!isOnDevice(memref)) {
      if (!memref.getDefiningOp<CallOpInterface>() &&
          llvm::any_of(aliases.resolveReverse(memref), isOnDevice))
        return dealloc.emitOpError(
            "may free memory of the device, which a function with pit.device "
            "returned, or other memory; free each where it comes from");
      continue;
    }
    OpBuilder builder(dealloc);
    if (!token)
      token = getToken(builder, function);
    freeOnDevice(dealloc, token);
  }
  return success();
}

namespace {
struct PlaceResultsPass : pit::impl::PitPlaceResultsBase<PlaceResultsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (failed(function->hasAttr(kDeviceAttrName)
                     ? placeInDeviceFunction(function)
                     : freeResults(function, symbols)))
        return signalPassFailure();
    }
  }
};
} // namespace
