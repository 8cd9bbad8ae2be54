//===- PredicateKernels.cpp - Kernels that leave if it is not their turn --===//

#include "pit/Codegen/GPU/Passes.h"
#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITPREDICATEKERNELS
#include "pit/Codegen/GPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Moves to the start of a block what has to stay in a function's first block:
/// memory on the stack, which is static only there. Returns what follows it.
static Block::iterator moveStackToStart(Block &block) {
  auto isStack = [](Operation &op) {
    return isa<LLVM::AllocaOp, memref::AllocaOp>(op);
  };
  Operation *last = nullptr;
  auto move = [&](Operation *op) {
    if (last)
      op->moveAfter(last);
    else
      op->moveBefore(&block, block.begin());
    last = op;
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isStack(op))
      continue;
    for (Value operand : op.getOperands())
      if (Operation *size = operand.getDefiningOp();
          size && size->getBlock() == &block &&
          (!last || !size->isBeforeInBlock(last)))
        move(size);
    move(&op);
  }
  return last ? std::next(last->getIterator()) : block.begin();
}

/// Appends a parameter (insertArgument of llvm.func cannot: a function that
/// returns nothing has a result there).
static Value appendParameter(LLVM::LLVMFuncOp kernel, Type type) {
  LLVM::LLVMFunctionType old = kernel.getFunctionType();
  SmallVector<Type> parameters(old.getParams());
  parameters.push_back(type);
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < old.getNumParams(); ++i)
    attributes.push_back(kernel.getArgAttrDict(i));
  attributes.push_back(DictionaryAttr::get(kernel.getContext()));
  kernel.setFunctionType(
      LLVM::LLVMFunctionType::get(old.getReturnType(), parameters));
  for (DictionaryAttr &each : attributes)
    if (!each)
      each = DictionaryAttr::get(kernel.getContext());
  kernel.setAllArgAttrs(attributes);
  return kernel.getBody().front().addArgument(type, kernel.getLoc());
}

/// Adds the parameters, and a first block that leaves if the word is not the
/// number.
static void predicate(LLVM::LLVMFuncOp kernel, bool pdl) {
  OpBuilder b(kernel.getContext());
  Location loc = kernel.getLoc();
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value address = appendParameter(kernel, i64);
  Value number = appendParameter(kernel, i64);
  Block &entry = kernel.getBody().front();
  Block *body = entry.splitBlock(moveStackToStart(entry));
  auto *ask = new Block, *leave = new Block;
  kernel.getBody().getBlocks().insertAfter(entry.getIterator(), ask);
  kernel.getBody().getBlocks().insertAfter(ask->getIterator(), leave);

  // Blocks that come while those of this kernel leave crowd onto the
  // multiprocessors that are free by then; each of Hopper's has one of its own.
  bool isHopper = kernel
                      .walk([](NVVM::GriddepcontrolOp op) {
                        return WalkResult::interrupt();
                      })
                      .wasInterrupted();
  b.setInsertionPointToEnd(&entry);
  using Control = NVVM::GridDepActionKind;
  if (pdl) {
    if (isHopper)
      NVVM::GriddepcontrolOp::create(b, loc, Control::launch_dependents);
    // The word may be written by the kernel before, which still runs.
    NVVM::GriddepcontrolOp::create(b, loc, Control::wait);
  }
  Value zero = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(0));
  Value conditional =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, address, zero);
  LLVM::CondBrOp::create(b, loc, conditional, ask, body);

  b.setInsertionPointToStart(ask);
  auto global = LLVM::LLVMPointerType::get(b.getContext(), /*addressSpace=*/1);
  Value pointer = LLVM::IntToPtrOp::create(b, loc, global, address);
  Value word = LLVM::LoadOp::create(b, loc, i32, pointer);
  Value turn = LLVM::TruncOp::create(b, loc, i32, number);
  Value isChosen =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, word, turn);
  LLVM::CondBrOp::create(b, loc, isChosen, body, leave);
  if (pdl && !isHopper) {
    b.setInsertionPointToStart(body);
    NVVM::GriddepcontrolOp::create(b, loc, Control::launch_dependents);
  }
  b.setInsertionPointToStart(leave);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

namespace {
struct PredicateKernelsPass
    : pit::impl::PitPredicateKernelsBase<PredicateKernelsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (std::optional<LaunchInfo> info = LaunchInfo::of(kernel);
          info && info->predicated)
        predicate(kernel, info->pdl);
  }
};
} // namespace
