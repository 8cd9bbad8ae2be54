//===- SeparateInits.cpp - Gives each op initial tensors of its own -------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSEPARATEINITS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

/// The operands that `op` may write into.
static SmallVector<OpOperand *> getInits(Operation *op) {
  auto pointers = [](MutableArrayRef<OpOperand> operands) {
    return llvm::map_to_vector(operands, [](OpOperand &o) { return &o; });
  };
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return pointers(loop.getInitsMutable());
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return pointers(dps.getDpsInitsMutable());
  return {};
}

/// Is `value` an empty tensor, or one that is computed from scalars alone, as
/// by linalg.fill? Making it again costs no more than copying it.
static bool isMadeFromScalars(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 ||
      !isa<RankedTensorType>(value.getType()) || !isMemoryEffectFree(op))
    return false;
  if (isa<tensor::EmptyOp>(op))
    return true;
  SmallVector<OpOperand *> inits = getInits(op);
  if (inits.size() != 1 ||
      !inits.front()->get().getDefiningOp<tensor::EmptyOp>())
    return false;
  SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (OpOperand &operand : op->getOpOperands())
    if (&operand != inits.front())
      used.insert(operand.get());
  return llvm::none_of(used, [](Value v) {
    return isa<ShapedType, pit::SparsityIndexType>(v.getType());
  });
}

/// A tensor like `value`, which is made from scalars, for one op alone.
static Value makeAgain(OpBuilder &builder, Value value) {
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  if (!isa<tensor::EmptyOp>(op)) {
    Value init = getInits(op).front()->get();
    mapping.map(init, builder.clone(*init.getDefiningOp())->getResult(0));
  }
  return builder.clone(*op, mapping)->getResult(0);
}

namespace {
struct SeparateInitsPass : pit::impl::PitSeparateInitsBase<SeparateInitsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> users;
    getOperation().walk([&](Operation *op) {
      if (!getInits(op).empty())
        users.push_back(op);
    });
    // Users of a fill come before the fill, so that its tensor is made again
    // for one user first.
    for (Operation *op : llvm::reverse(users)) {
      OpBuilder builder(op);
      llvm::SmallPtrSet<Value, 4> taken;
      for (OpOperand *init : getInits(op)) {
        Value value = init->get();
        if (!isa<RankedTensorType>(value.getType()))
          continue;
        bool second = !taken.insert(value).second;
        if (isMadeFromScalars(value)) {
          if (!value.hasOneUse())
            init->set(makeAgain(builder, value));
        } else if (second) {
          init->set(bufferization::AllocTensorOp::create(
              builder, op->getLoc(), cast<RankedTensorType>(value.getType()),
              /*dynamicSizes=*/ValueRange(), /*copy=*/value));
        }
      }
    }
  }
};
} // namespace
