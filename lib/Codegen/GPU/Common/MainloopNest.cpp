//===- MainloopNest.cpp - The loops of a kernel around a mainloop ---------===//

#include "MainloopNest.h"

#include "TileAccess.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Finds the only op of a block that does something, if it is of this kind.
template <typename Op> static bool findOnly(Block &block, Op &op) {
  for (Operation &inner : block.without_terminator()) {
    if (isMemoryEffectFree(&inner) || isa<ViewOp>(inner))
      continue;
    auto found = dyn_cast<Op>(inner);
    if (op || !found)
      return false;
    op = found;
  }
  return static_cast<bool>(op);
}

/// Does a block read the number of a tile, or name ids of a list?
static bool readsNumbers(Block &block) {
  return llvm::any_of(block.without_terminator(), [](Operation &op) {
    return isNumberOfTile(&op) || isa<IdsOp>(op);
  });
}

std::optional<MainloopNest> cuda::matchMainloopNest(func::FuncOp function) {
  ForallOp forall;
  if (!function.getBody().hasOneBlock() || !findOnly(function.front(), forall))
    return std::nullopt;
  return matchMainloopNest(forall);
}

std::optional<MainloopNest> cuda::matchMainloopNest(ForallOp forall) {
  MainloopNest nest;
  nest.forall = forall;
  auto isFree = [](Conflicts conflicts) {
    return conflicts == Conflicts::None || conflicts == Conflicts::Atomic;
  };
  if (!isFree(nest.forall.getConflicts()))
    return std::nullopt;
  Block *body = nest.forall.getBody();
  if (!findOnly(*body, nest.mainloop)) {
    nest.mainloop = {};
    if (nest.forall.getIndex() || !findOnly(*body, nest.chunks) ||
        !nest.chunks.getIndex() || !nest.chunks.getSteps().empty() ||
        nest.chunks.getNumResults() || !isFree(nest.chunks.getConflicts()) ||
        !findOnly(*nest.chunks.getBody(), nest.mainloop))
      return std::nullopt;
    // Groups are gone through one after another.
    for (Value group : nest.chunks.getGroup())
      if (!llvm::is_contained(nest.forall.getInductionVars(), group))
        return std::nullopt;
  }
  // Roles of a tile body alone read the numbers that stand around it.
  if (nest.mainloop.isProduct() &&
      (readsNumbers(nest.mainloop.getLoad().front()) ||
       readsNumbers(*forall->getBlock()) || readsNumbers(*body) ||
       (nest.chunks && readsNumbers(*nest.chunks.getBody()))))
    return std::nullopt;
  return nest;
}

int64_t cuda::tripsOf(Value lower, Value upper, int64_t step) {
  std::optional<int64_t> from = getConstantIntValue(lower);
  std::optional<int64_t> to = getConstantIntValue(upper);
  // So many from a place that a loop around it names.
  if (auto add = upper.getDefiningOp<arith::AddIOp>();
      add && add.getLhs() == lower)
    from = 0, to = getConstantIntValue(add.getRhs());
  return from && to ? llvm::divideCeil(std::max<int64_t>(0, *to - *from), step)
                    : -1;
}

int64_t cuda::stagesOfTile(MainloopOp mainloop, int64_t perStep) {
  if (mainloop.getIndex())
    return -1;
  int64_t stages = perStep;
  for (auto [lower, upper, step] : llvm::zip(
           mainloop.getLower(), mainloop.getUpper(), mainloop.getSteps())) {
    int64_t trips = tripsOf(lower, upper, step);
    if (trips < 0)
      return -1;
    stages *= trips;
  }
  return stages;
}
