//===- CarryTensors.cpp - Tensors that loops carry stay in one place ------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCARRYTENSORS
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

static Value updatedTensor(Value value);

/// Does a loop hand on an updated version of the tensor that it carries?
static bool updatesCarried(scf::ForOp loop, unsigned number) {
  return updatedTensor(loop.getYieldedValues()[number]) ==
         loop.getRegionIterArg(number);
}

/// The tensor that `value` is an updated version of, the earliest that is
/// known. Both are of the same sizes.
static Value updatedTensor(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
      value = style.getTiedOpOperand(result)->get();
    else if (isa<ForallOp, ForOp>(op))
      value = cast<LoopLikeOpInterface>(op).getTiedLoopInit(result)->get();
    else if (auto insert = dyn_cast<tensor::InsertOp>(op))
      value = insert.getDest();
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (auto loop = dyn_cast<scf::ForOp>(op);
             loop && updatesCarried(loop, result.getResultNumber()))
      value = loop.getInitArgs()[result.getResultNumber()];
    else
      return value;
  }
  return value;
}

/// Are both known to be of the same sizes?
static bool haveSameSizes(Value a, Value b) {
  auto type = dyn_cast<RankedTensorType>(a.getType());
  if (!type || type != b.getType())
    return false;
  if (type.hasStaticShape())
    return true;
  a = updatedTensor(a);
  b = updatedTensor(b);
  if (a == b)
    return true;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d))
      continue;
    FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual({a, d}, {b, d});
    if (failed(equal) || !*equal)
      return false;
  }
  return true;
}

/// Is `value` in memory that cannot be that of a tensor which the loop with
/// this block carries?
static bool isFresh(Value value, Block *block) {
  value = updatedTensor(value);
  Operation *op = value.getDefiningOp();
  if (!op || !block->getParent()->isAncestor(op->getParentRegion()))
    return !block->getParent()->isAncestor(value.getParentRegion());
  return isa<tensor::EmptyOp, tensor::PadOp, tensor::ConcatOp,
             tensor::GenerateOp, tensor::SplatOp, tensor::FromElementsOp,
             bufferization::AllocTensorOp>(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

/// The tensors that `value` may be an updated version of: several behind
/// branches.
static void collectUpdated(Value value, SetVector<Value> &tensors) {
  value = updatedTensor(value);
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (!branch) {
    tensors.insert(value);
    return;
  }
  unsigned number = cast<OpResult>(value).getResultNumber();
  collectUpdated(branch.thenYield().getOperand(number), tensors);
  collectUpdated(branch.elseYield().getOperand(number), tensors);
}

/// Gives what a branch in a loop hands on from outside memory of its own, if
/// the other branch may hand on an updated tensor: bufferization takes both for
/// the same memory, whichever branch is taken.
static void separateBranches(OpBuilder &builder, scf::IfOp branch) {
  if (branch.getNumResults() == 0 ||
      !branch->getParentOfType<LoopLikeOpInterface>())
    return;
  auto isOutside = [&](Value value) {
    return !branch->isAncestor(value.getParentBlock()->getParentOp());
  };
  scf::YieldOp yields[2] = {branch.thenYield(), branch.elseYield()};
  for (unsigned side : {0, 1})
    for (auto [operand, other] : llvm::zip(yields[side]->getOpOperands(),
                                           yields[1 - side]->getOperands())) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type || !isOutside(operand.get()) || isOutside(other))
        continue;
      Value kept = updatedTensor(operand.get());
      SetVector<Value> updated;
      collectUpdated(other, updated);
      if (llvm::none_of(updated, [&](Value tensor) {
            return isOutside(tensor) && tensor != kept;
          }))
        continue;
      builder.setInsertionPoint(yields[side]);
      operand.set(bufferization::AllocTensorOp::create(
          builder, branch.getLoc(), type, /*dynamicSizes=*/ValueRange(),
          /*copy=*/operand.get()));
    }
}

/// Has the values that a loop hands on computed in the memory of those that
/// they replace. All that may be in such memory is copied first: nothing is
/// read once the first is overwritten.
static void carryInPlace(OpBuilder &builder, Operation *terminator,
                         MutableArrayRef<OpOperand> yielded, Block *block) {
  Block::BlockArgListType args = block->getArguments();
  if (auto loop = dyn_cast<scf::ForOp>(block->getParentOp()))
    args = loop.getRegionIterArgs();
  Location loc = terminator->getLoc();
  builder.setInsertionPoint(terminator);
  SmallVector<std::pair<OpOperand *, Value>> inPlace;
  for (auto [i, operand] : llvm::enumerate(yielded)) {
    Value value = operand.get();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    Value arg = i < args.size() ? Value(args[i]) : Value();
    if (!type || value == arg || updatedTensor(value) == arg)
      continue;
    bool fits = arg && haveSameSizes(value, arg);
    if (!fits || !isFresh(value, block))
      operand.set(bufferization::AllocTensorOp::create(
          builder, loc, type, /*dynamicSizes=*/ValueRange(), /*copy=*/value));
    if (fits)
      inPlace.push_back({&operand, arg});
  }
  for (auto [operand, arg] : inPlace)
    operand->set(bufferization::MaterializeInDestinationOp::create(
                     builder, loc, operand->get(), arg)
                     .getResult());
}

namespace {
struct CarryTensorsPass : pit::impl::PitCarryTensorsBase<CarryTensorsPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    getOperation()->walk([&](Operation *op) {
      if (auto branch = dyn_cast<scf::IfOp>(op)) {
        separateBranches(builder, branch);
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        carryInPlace(builder, loop.getBody()->getTerminator(),
                     *loop.getYieldedValuesMutable(), loop.getBody());
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        scf::ConditionOp condition = loop.getConditionOp();
        carryInPlace(builder, condition, condition.getArgsMutable(),
                     loop.getBeforeBody());
        scf::YieldOp yield = loop.getYieldOp();
        carryInPlace(builder, yield, yield.getResultsMutable(),
                     loop.getAfterBody());
      }
    });
  }
};
} // namespace
