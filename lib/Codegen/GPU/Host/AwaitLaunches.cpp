//===- AwaitLaunches.cpp - The host waits for kernels of the same call ----===//

#include "Codegen/Common/RuntimeCalls.h"

#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITAWAITLAUNCHES
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {

/// The work of others in one function.
class Awaiter {
public:
  explicit Awaiter(func::FuncOp function) : function(function) {}

  LogicalResult run();

private:
  void collectStream();
  bool isOnStream(Operation *op) const;
  bool mustWait(Operation *op) const;
  void visit(Block &block, bool &pending);

  func::FuncOp function;
  Value stream; ///< of the function; null: it has none
  /// Values that mean the stream: the argument, and the tokens of what depends
  /// on it alone.
  llvm::SmallPtrSet<Value, 8> names;
};

} // namespace

void Awaiter::collectStream() {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), kStreamAttrName))
      stream = argument;
  if (!stream)
    return;
  names.insert(stream);
  // In the order of the function: what is used was seen before, except in
  // loops, whose tokens are then taken for those of other streams.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) {
      if (cast.getNumOperands() == 1 && names.contains(cast.getOperand(0)))
        names.insert(cast.result_begin(), cast.result_end());
      return;
    }
    auto async = dyn_cast<gpu::AsyncOpInterface>(op);
    // gpu.wait async makes a stream of its own.
    if (!async || !async.getAsyncToken() || isa<gpu::WaitOp>(op))
      return;
    OperandRange on = async.getAsyncDependencies();
    if (on.size() == 1 && names.contains(on.front()))
      names.insert(async.getAsyncToken());
  });
}

/// Does `op` come after what is on the stream already?
bool Awaiter::isOnStream(Operation *op) const {
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return names.contains(operand); });
}

/// May `op` touch memory that a kernel of pit works on, without being ordered
/// after it?
bool Awaiter::mustWait(Operation *op) const {
  // Memory is freed by the frame, or in the order of the stream
  // (pit-place-results).
  if (isa<memref::DeallocOp, bufferization::DeallocOp>(op) || isOnStream(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return !isMemoryEffectFree(op);
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  return llvm::any_of(all, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect());
  });
}

/// May `op` put work of pit on the stream?
static bool mayStartWork(Operation *op) {
  return isa_and_present<PitDialect>(op->getDialect()) &&
         !isa<CheckStatusOp>(op);
}

/// Goes through the ops of a block in order. `pending` says whether there may
/// be work on the stream that the host has not waited for.
void Awaiter::visit(Block &block, bool &pending) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (mayStartWork(&op)) {
      pending = true;
      continue;
    }
    if (op.hasTrait<OpTrait::IsTerminator>() || isa<CheckStatusOp>(op))
      continue;
    if (op.getNumRegions() &&
        op.hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
      // An iteration comes after others, a branch after what was before.
      bool before = pending, after = pending;
      WalkResult inside = op.walk([](Operation *inner) {
        return mayStartWork(inner) ? WalkResult::interrupt()
                                   : WalkResult::advance();
      });
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          bool pendingInside = before || inside.wasInterrupted();
          visit(inner, pendingInside);
          after |= pendingInside;
        }
      pending = after;
      continue;
    }
    if (!pending || !mustWait(&op))
      continue;
    OpBuilder builder(&op);
    callRuntime(builder, op.getLoc(), "pit_rt_wait", builder.getI32Type(),
                getFrame(function), /*status=*/true);
    pending = false;
  }
}

LogicalResult Awaiter::run() {
  collectStream();
  WalkResult walk = function.walk([&](gpu::WaitOp wait) {
    if (wait.getAsyncToken() || !isOnStream(wait))
      return WalkResult::advance();
    wait.emitOpError("ends the stream of the function, to which pit's frame "
                     "still belongs; let the caller wait");
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  for (Block &block : function.getBody()) {
    // Another block may come before, and around again.
    bool pending = !block.isEntryBlock() || !block.hasNoPredecessors();
    visit(block, pending);
  }
  return success();
}

namespace {
struct AwaitLaunchesPass : pit::impl::PitAwaitLaunchesBase<AwaitLaunchesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (getFrame(function) && function->hasAttr(kDeviceAttrName) &&
          failed(Awaiter(function).run()))
        return signalPassFailure();
  }
};
} // namespace
