//===- PrepareCalls.cpp - Calls that all can be inlined -------------------===//

#include "pit/Frontend/Passes.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITPREPARECALLS
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {
/// The calls between functions of a module.
class Calls {
public:
  explicit Calls(ModuleOp module) {
    SymbolTable symbols(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<func::CallOp> &calls = callsOf[function];
      function.walk([&](func::CallOp call) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (!callee || callee.isExternal())
          return;
        calls.push_back(call);
        callees[call] = callee;
      });
    }
  }

  /// Fails, with an error, if a function calls itself.
  LogicalResult checkRecursion() {
    for (auto &[function, calls] : callsOf)
      if (failed(visit(function)))
        return failure();
    return success();
  }

  const llvm::MapVector<func::CallOp, func::FuncOp> &get() const {
    return callees;
  }

private:
  LogicalResult visit(func::FuncOp function);

  llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> callsOf;
  llvm::MapVector<func::CallOp, func::FuncOp> callees;
  SetVector<func::FuncOp> path; ///< being visited, callers first
  DenseSet<func::FuncOp> finished;
};
} // namespace

LogicalResult Calls::visit(func::FuncOp function) {
  if (finished.contains(function))
    return success();
  path.insert(function);
  for (func::CallOp call : callsOf[function]) {
    func::FuncOp callee = callees[call];
    if (path.contains(callee)) {
      // The functions from the callee to the caller.
      ArrayRef<func::FuncOp> cycle = path.getArrayRef();
      cycle = cycle.drop_front(llvm::find(cycle, callee) - cycle.begin() + 1);
      std::string by;
      for (func::FuncOp step : cycle)
        by += (by.empty() ? " by @" : ", @") + step.getName().str();
      return call.emitOpError()
             << "calls @" << callee.getName() << ", which so calls itself" << by
             << "; recursion is not supported: write a loop";
    }
    if (failed(visit(callee)))
      return failure();
  }
  path.pop_back();
  finished.insert(function);
  return success();
}

/// Replaces tensors of which nothing is known, not even the size, by others:
/// bufferization wants them to be somewhere.
static void replacePoison(func::FuncOp function) {
  SmallVector<ub::PoisonOp> poisons;
  function.walk([&](ub::PoisonOp op) {
    if (isa<RankedTensorType>(op.getType()))
      poisons.push_back(op);
  });
  for (ub::PoisonOp op : poisons) {
    auto type = cast<RankedTensorType>(op.getType());
    OpBuilder builder(op);
    SmallVector<Value> sizes(
        type.getNumDynamicDims(),
        arith::ConstantIndexOp::create(builder, op.getLoc(), 0));
    op.replaceAllUsesWith(
        tensor::EmptyOp::create(builder, op.getLoc(), type, sizes).getResult());
    op.erase();
  }
}

namespace {
struct PrepareCallsPass : pit::impl::PitPrepareCallsBase<PrepareCallsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult indirect = module.walk([](func::CallIndirectOp call) {
      call.emitOpError("calls a function that is only known at run time; pit "
                       "takes func.call of functions that the module defines "
                       "or declares");
      return WalkResult::interrupt();
    });
    Calls calls(module);
    if (indirect.wasInterrupted() || failed(calls.checkRecursion()))
      return signalPassFailure();

    for (auto [call, callee] : calls.get()) {
      func::CallOp(call).setNoInline(false);
      func::FuncOp(callee).setNoInline(false);
    }
    OpPassManager lift(func::FuncOp::getOperationName());
    lift.addPass(createLiftControlFlowToSCFPass());
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal() || function.getBody().hasOneBlock())
        continue;
      if (failed(runPipeline(lift, function)))
        return signalPassFailure();
      replacePoison(function);
    }
  }
};
} // namespace
