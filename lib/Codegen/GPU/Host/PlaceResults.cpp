//===- PlaceResults.cpp - What functions return is device memory ----------===//

#include "Codegen/Common/RuntimeCalls.h"
#include "Dialect/Pit/IR/Arithmetic.h"

#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// The call that `memref` is a result of, or a view of one.
static func::CallOp findCall(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (auto call = dyn_cast<func::CallOp>(op))
      return call;
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      memref = view.getViewSource();
    else if (auto parts = dyn_cast<memref::ExtractStridedMetadataOp>(op))
      memref = parts.getSource();
    else
      break;
  }
  return {};
}

namespace {
/// Frees in one function what other functions have returned.
class Freer {
public:
  Freer(func::FuncOp function, SymbolTable &symbols)
      : function(function), symbols(symbols), builder(function),
        frame(getFrame(function)),
        onDevice(function->hasAttr(kDeviceAttrName)) {}

  LogicalResult run();

private:
  bool isOnDevice(Value memref);
  void free(Location loc, Value memref);
  LogicalResult free(memref::DeallocOp op);
  LogicalResult free(bufferization::DeallocOp op);

  func::FuncOp function;
  SymbolTable &symbols;
  OpBuilder builder;
  Value frame;
  bool onDevice; ///< all memory of the function is
  Value token;
};
} // namespace

/// Is `memref` the device's memory, by what is known of it?
bool Freer::isOnDevice(Value memref) {
  func::CallOp call = findCall(memref);
  if (!call || onDevice)
    return onDevice;
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  return callee && callee->hasAttr(kDeviceAttrName);
}

void Freer::free(Location loc, Value memref) {
  if (!token)
    token = getToken(builder, function);
  // Kernels of the call may still use it, and cuMemFree is free not to wait.
  if (frame)
    callRuntime(builder, loc, "pit_rt_wait", builder.getI32Type(), frame,
                /*status=*/true);
  gpu::DeallocOp::create(builder, loc, token.getType(), token, memref);
}

LogicalResult Freer::free(memref::DeallocOp op) {
  Value memref = op.getMemref();
  if (!isOnDevice(memref)) {
    BufferViewFlowAnalysis aliases(function);
    if (!findCall(memref) &&
        llvm::any_of(aliases.resolveReverse(memref),
                     [&](Value source) { return isOnDevice(source); }))
      return op.emitOpError(
          "may free memory of the device, which a function with pit.device "
          "returned, or other memory; free each where it comes from");
    return success();
  }
  builder.setInsertionPoint(op);
  free(op.getLoc(), memref);
  op.erase();
  return success();
}

/// Each memref is freed if its condition holds, and nothing that is retained is
/// the same memory. Results of several calls are not.
LogicalResult Freer::free(bufferization::DeallocOp op) {
  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  ArithEmitter e(builder, loc);
  auto addressOf = [&](Value memref) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  };
  SmallVector<Value> updated;
  for (int64_t i = op.getMemrefs().size() - 1; i >= 0; --i) {
    Value memref = op.getMemrefs()[i], condition = op.getConditions()[i];
    if (!isOnDevice(memref))
      continue;
    if (!findCall(memref))
      return op.emitOpError()
             << "frees memref " << i
             << " on a device, which may be the same memory as another one; "
                "only results of calls are freed there";
    Value frees = condition;
    updated.resize(op.getRetained().size());
    for (auto [kept, retained] : llvm::zip(updated, op.getRetained())) {
      Value same = e.equal(addressOf(memref), addressOf(retained));
      Value keeps = e.logicalAnd(condition, same);
      kept = kept ? e.bitOr(kept, keeps) : keeps;
      frees = e.logicalAnd(frees, e.logicalNot(same));
    }
    auto branch =
        scf::IfOp::create(builder, loc, frees, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      free(loc, memref);
    }
    op.getMemrefsMutable().erase(i);
    op.getConditionsMutable().erase(i);
  }
  if (updated.empty() && !op.getMemrefs().empty())
    return success();
  builder.setInsertionPointAfter(op);
  for (auto [result, kept] : llvm::zip(op.getUpdatedConditions(), updated)) {
    Value both = e.bitOr(result, kept);
    result.replaceAllUsesExcept(both, both.getDefiningOp());
  }
  return success();
}

LogicalResult Freer::run() {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<memref::DeallocOp, bufferization::DeallocOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    auto one = dyn_cast<memref::DeallocOp>(op);
    if (failed(one ? free(one) : free(cast<bufferization::DeallocOp>(op))))
      return failure();
  }
  return success();
}

/// The remaining allocations on a device are handed to the caller.
static void allocateOnDevice(func::FuncOp function) {
  SmallVector<memref::AllocOp> allocs;
  function.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  if (allocs.empty())
    return;
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
}

namespace {
struct PlaceResultsPass : pit::impl::PitPlaceResultsBase<PlaceResultsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (failed(Freer(function, symbols).run()))
        return signalPassFailure();
      if (function->hasAttr(kDeviceAttrName))
        allocateOnDevice(function);
    }
  }
};
} // namespace
