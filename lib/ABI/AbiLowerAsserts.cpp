//===- AbiLowerAsserts.cpp - Assertions become statuses of the call -------===//

#include "pit/ABI/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABILOWERASSERTS
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

static constexpr StringLiteral kAssert = "pit_rt_assert";

/// The argument that is the frame of the call; null if there is none.
static Value frameOf(func::FuncOp func) {
  for (BlockArgument arg : func.getArguments())
    if (func.getArgAttr(arg.getArgNumber(), kFrameAttr))
      return arg;
  return {};
}

namespace {
struct AbiLowerAsserts : pit::impl::PitAbiLowerAssertsBase<AbiLowerAsserts> {
  using Base::Base;
  void runOnOperation() override;

  LLVM::GlobalOp message(StringAttr text);

  llvm::MapVector<Attribute, LLVM::GlobalOp> messages;
};
} // namespace

/// A constant with the text and a zero after it.
LLVM::GlobalOp AbiLowerAsserts::message(StringAttr text) {
  LLVM::GlobalOp &global = messages[text];
  if (global)
    return global;
  ModuleOp module = getOperation();
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  std::string bytes = text.getValue().str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  global = LLVM::GlobalOp::create(builder, module.getLoc(), type,
                                  /*isConstant=*/true, LLVM::Linkage::Internal,
                                  "pit_assert_message_" +
                                      std::to_string(messages.size() - 1),
                                  builder.getStringAttr(bytes));
  return global;
}

void AbiLowerAsserts::runOnOperation() {
  ModuleOp module = getOperation();
  messages.clear();
  Type i32 = IntegerType::get(&getContext(), 32);
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  for (auto func : module.getOps<func::FuncOp>()) {
    Value frame = func.isExternal() ? Value() : frameOf(func);
    SmallVector<cf::AssertOp> assertions;
    func.walk([&](cf::AssertOp op) { assertions.push_back(op); });
    if (!frame)
      continue;
    for (cf::AssertOp op : assertions) {
      if (op->getParentOp() != func) {
        op.emitOpError() << "stands inside '" << op->getParentOp()->getName()
                         << "', from where the call cannot end with an error; "
                            "assert it before the loop";
        return signalPassFailure();
      }
      OpBuilder builder(op);
      Location loc = op.getLoc();
      Value holds = arith::ExtUIOp::create(builder, loc, i32, op.getArg());
      Value text =
          LLVM::AddressOfOp::create(builder, loc, message(op.getMsgAttr()));
      auto call = func::CallOp::create(builder, loc, kAssert, i32,
                                       ValueRange{frame, holds, text});
      CheckStatusOp::create(builder, loc, call.getResult(0));
      op.erase();
    }
  }
  if (messages.empty() || module.lookupSymbol(kAssert))
    return;
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  func::FuncOp::create(builder, module.getLoc(), kAssert,
                       builder.getFunctionType({pointer, i32, pointer}, i32))
      .setPrivate();
}
