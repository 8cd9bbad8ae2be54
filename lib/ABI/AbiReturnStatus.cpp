//===- AbiReturnStatus.cpp - Returns the status of failed runtime calls ---===//

#include "pit-runtime/Abi.h"
#include "pit/ABI/Manifest.h"
#include "pit/ABI/Passes.h"

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
  LogicalResult check(func::CallOp call);
};
} // namespace

LogicalResult AbiReturnStatus::check(func::CallOp call) {
  func::FuncOp func = getOperation();
  if (call.getNumResults() != 1 || !call.getResult(0).getType().isInteger(32))
    return call.emitOpError() << "of @" << call.getCallee() << " is marked "
                              << kStatusAttr << "; it has to return one i32";
  if (call->getParentOp() != func)
    return call.emitOpError()
           << "of @" << call.getCallee() << " is marked " << kStatusAttr
           << " but stands inside '" << call->getParentOp()->getName()
           << "', from where its status cannot be returned; it has to stand "
              "directly in a block of the function";
  FunctionType type = func.getFunctionType();
  if (type.getNumResults() != 1 || !type.getResult(0).isInteger(32))
    return call.emitOpError()
           << "of @" << call.getCallee() << " is marked " << kStatusAttr
           << " but @" << func.getName() << " returns " << type.getResults()
           << "; it has to return one i32, the status";
  return success();
}

void AbiReturnStatus::runOnOperation() {
  func::FuncOp func = getOperation();
  SmallVector<func::CallOp> calls;
  func.walk([&](func::CallOp call) {
    if (call->hasAttr(kStatusAttr))
      calls.push_back(call);
  });
  for (func::CallOp call : calls)
    if (failed(check(call)))
      return signalPassFailure();
  if (calls.empty())
    return;

  OpBuilder builder(&getContext());
  Block *exit = builder.createBlock(&func.getBody(), func.getBody().end(),
                                    builder.getI32Type(), func.getLoc());
  func::ReturnOp::create(builder, func.getLoc(), exit->getArguments());
  // From the last one: a split moves all that follows in the block.
  for (func::CallOp call : llvm::reverse(calls)) {
    Location loc = call.getLoc();
    call->removeAttr(kStatusAttr);
    Block *block = call->getBlock();
    Block *next = block->splitBlock(std::next(call->getIterator()));
    builder.setInsertionPointToEnd(block);
    Value ok = arith::ConstantIntOp::create(builder, loc, PIT_OK, 32);
    Value failed = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         call.getResult(0), ok);
    cf::CondBranchOp::create(builder, loc, failed, exit, call.getResult(0),
                             next, ValueRange());
  }
}
