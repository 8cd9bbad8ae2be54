//===- AbiReturnStatus.cpp - Returns the status of failed runtime calls ---===//

#include "pit-runtime/Abi.h"
#include "pit/ABI/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABIRETURNSTATUS
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
struct AbiReturnStatus : pit::impl::PitAbiReturnStatusBase<AbiReturnStatus> {
  using Base::Base;
  void runOnOperation() override;
  LogicalResult check(CheckStatusOp op);
};
} // namespace

LogicalResult AbiReturnStatus::check(CheckStatusOp op) {
  func::FuncOp func = getOperation();
  if (op->getParentOp() != func)
    return op.emitOpError()
           << "stands inside '" << op->getParentOp()->getName()
           << "', from where a status cannot be returned; it has to stand "
              "directly in a block of the function";
  FunctionType type = func.getFunctionType();
  if (type.getNumResults() != 1 || !type.getResult(0).isInteger(32))
    return op.emitOpError()
           << "stands in @" << func.getName() << ", which returns "
           << type.getResults() << "; it has to return one i32, the status";
  return success();
}

void AbiReturnStatus::runOnOperation() {
  func::FuncOp func = getOperation();
  SmallVector<CheckStatusOp> checks;
  func.walk([&](CheckStatusOp op) { checks.push_back(op); });
  for (CheckStatusOp op : checks)
    if (failed(check(op)))
      return signalPassFailure();
  if (checks.empty())
    return;

  OpBuilder builder(&getContext());
  Block *exit = builder.createBlock(&func.getBody(), func.getBody().end(),
                                    builder.getI32Type(), func.getLoc());
  func::ReturnOp::create(builder, func.getLoc(), exit->getArguments());
  // From the last one: a split moves all that follows in the block.
  for (CheckStatusOp op : llvm::reverse(checks)) {
    Location loc = op.getLoc();
    Value status = op.getStatus();
    Block *block = op->getBlock();
    Block *next = block->splitBlock(op->getIterator());
    builder.setInsertionPointToEnd(block);
    Value ok = arith::ConstantIntOp::create(builder, loc, PIT_OK, 32);
    Value failed = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         status, ok);
    cf::CondBranchOp::create(builder, loc, failed, exit, status, next,
                             ValueRange());
    op.erase();
  }
}
