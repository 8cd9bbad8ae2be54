//===- SeparateInits.cpp - Gives each op initial tensors of its own -------===//

#include "pit/Dialect/Pit/IR/Inits.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSEPARATEINITS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

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

/// Is `value` used by nobody but `op`, in the same tile loop and branch? A
/// kernel that is made of the loop would else be handed the tensor, and where
/// the branch is not taken, it would be filled for nobody.
static bool isOwn(Value value, Operation *op) {
  Operation *maker = value.getDefiningOp();
  return value.hasOneUse() &&
         op->getParentOfType<pit::ForallOp>() ==
             maker->getParentOfType<pit::ForallOp>() &&
         op->getParentOfType<scf::IfOp>() ==
             maker->getParentOfType<scf::IfOp>();
}

/// Erases an empty tensor that nobody uses any more.
static void eraseUnused(Value value) {
  auto empty = value.getDefiningOp<tensor::EmptyOp>();
  if (empty && empty->use_empty())
    empty.erase();
}

/// Is `value` known to lie in memory that the function allocates?
static bool isAllocated(Value value,
                        const bufferization::AnalysisState &state) {
  auto result = dyn_cast<OpResult>(value);
  auto op =
      result
          ? dyn_cast<bufferization::BufferizableOpInterface>(result.getOwner())
          : bufferization::BufferizableOpInterface();
  if (!op || isa<LoopLikeOpInterface>(result.getOwner()) ||
      !op.isWritable(value, state))
    return false;
  return llvm::all_of(state.getAliasingOpOperands(value),
                      [&](const bufferization::AliasingOpOperand &alias) {
                        return isAllocated(alias.opOperand->get(), state);
                      });
}

/// Gives the values that join `value` in a branch or a select memory of their
/// own: bufferization must not decide that `value` lies with a read-only one.
static void separateJoined(Value value,
                           const bufferization::AnalysisState &state,
                           llvm::SmallPtrSetImpl<OpOperand *> &seen) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    if (!seen.insert(&use).second ||
        isa<LoopLikeOpInterface>(use.getOwner()->getParentOp()) ||
        isa<LoopLikeOpInterface>(use.getOwner()))
      continue;
    for (const bufferization::AliasingValue &to :
         state.getAliasingValues(use)) {
      for (const bufferization::AliasingOpOperand &from :
           state.getAliasingOpOperands(to.value)) {
        Value other = from.opOperand->get();
        if (from.opOperand == &use || isAllocated(other, state))
          continue;
        OpBuilder builder(from.opOperand->getOwner());
        from.opOperand->set(bufferization::AllocTensorOp::create(
            builder, other.getLoc(), cast<RankedTensorType>(other.getType()),
            /*dynamicSizes=*/ValueRange(), /*copy=*/other));
      }
      separateJoined(to.value, state, seen);
    }
  }
}

namespace {
struct SeparateInitsPass : pit::impl::PitSeparateInitsBase<SeparateInitsPass> {
  using Base::Base;

  void runOnOperation() override {
    separateMemory();
    SmallVector<Operation *> users;
    getOperation().walk([&](Operation *op) {
      if (!isa<bufferization::MaterializeInDestinationOp>(op) &&
          !getInits(op).empty())
        users.push_back(op);
    });
    // Users of a fill come before the fill, so that its tensor is made again
    // for one user first, and a fill that none of them needs any more is
    // erased.
    for (Operation *op : llvm::reverse(users)) {
      if (auto fill = dyn_cast<linalg::FillOp>(op);
          fill && isOpTriviallyDead(fill)) {
        Value init = fill.getOutputs().front();
        fill.erase();
        eraseUnused(init);
        continue;
      }
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
          if (!isOwn(value, op)) {
            init->set(makeAgain(builder, value));
            eraseUnused(value);
          }
        } else if (copies) {
          init->set(bufferization::AllocTensorOp::create(
              builder, op->getLoc(), cast<RankedTensorType>(value.getType()),
              /*dynamicSizes=*/ValueRange(), /*copy=*/value));
        }
      }
    }
  }

private:
  /// The result that branches hand `value` on as, from one to the next.
  static Value findHandedOn(Value value) {
    while (value.hasOneUse()) {
      OpOperand &use = *value.use_begin();
      auto branch = dyn_cast<scf::IfOp>(use.getOwner()->getParentOp());
      if (!branch || !isa<scf::YieldOp>(use.getOwner()))
        break;
      value = branch.getResult(use.getOperandNumber());
    }
    return value;
  }

  /// Branches that materialize one result in a tensor mean to share its memory.
  /// Different results do not, though CSE makes one tensor of theirs.
  void separateMemory() {
    llvm::MapVector<std::pair<Value, Value>,
                    SmallVector<bufferization::MaterializeInDestinationOp>>
        groups;
    getOperation().walk([&](bufferization::MaterializeInDestinationOp insert) {
      if (insert->getNumResults() == 1 &&
          insert.getDest().getDefiningOp<tensor::EmptyOp>())
        groups[{insert.getDest(), findHandedOn(insert.getResult())}].push_back(
            insert);
    });
    bufferization::BufferizationOptions options;
    bufferization::AnalysisState state(options);
    llvm::SmallPtrSet<OpOperand *, 16> seen;
    for (auto &[key, inserts] : groups) {
      Value memory = key.first;
      OpBuilder builder(memory.getDefiningOp());
      Operation *own = builder.clone(*memory.getDefiningOp());
      for (bufferization::MaterializeInDestinationOp insert : inserts)
        insert.getDestMutable().assign(own->getResult(0));
      for (bufferization::MaterializeInDestinationOp insert : inserts)
        separateJoined(insert.getResult(), state, seen);
      if (memory.use_empty())
        memory.getDefiningOp()->erase();
    }
  }
};
} // namespace
