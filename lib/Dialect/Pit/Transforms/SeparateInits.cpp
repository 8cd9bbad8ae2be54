//===- SeparateInits.cpp - Gives each op initial tensors of its own -------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

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

/// Is `value` an empty tensor, or an empty one that was filled? Making it again
/// costs less than copying it.
static bool isFresh(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getOutputs().front();
  return value.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// A fresh tensor like `value` for one op alone.
static Value makeAgain(OpBuilder &builder, Value value) {
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    Value init = fill.getOutputs().front();
    mapping.map(init, builder.clone(*init.getDefiningOp())->getResult(0));
  }
  return builder.clone(*op, mapping)->getResult(0);
}

/// Is `value` used by nobody but `op`, in the same tile loop? A kernel that is
/// made of the loop would else be handed the tensor.
static bool isOwn(Value value, Operation *op) {
  return value.hasOneUse() &&
         op->getParentOfType<pit::ForallOp>() ==
             value.getDefiningOp()->getParentOfType<pit::ForallOp>();
}

namespace {
struct SeparateInitsPass : pit::impl::PitSeparateInitsBase<SeparateInitsPass> {
  using Base::Base;

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
        bool copies = !taken.insert(value).second ||
                      (copyAll && !op->getParentOfType<pit::ForallOp>() &&
                       !op->getParentOfType<pit::ForOp>());
        if (isFresh(value)) {
          if (!isOwn(value, op))
            init->set(makeAgain(builder, value));
        } else if (copies) {
          init->set(bufferization::AllocTensorOp::create(
              builder, op->getLoc(), cast<RankedTensorType>(value.getType()),
              /*dynamicSizes=*/ValueRange(), /*copy=*/value));
        }
      }
    }
  }
};
} // namespace
