//===- HopperNest.cpp - The loops of a kernel of Hopper's schedule --------===//

#include "HopperNest.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// The fewest steps of which a part of a tile is worth it to share the tile.
static constexpr int64_t kLeastSteps = 8;
/// Elements of the wider operand that take a block as long to read as the sums
/// of a shared tile take to go through memory (docs/performance/few-rows.md).
static constexpr int64_t kElementsOfSharing = 192 * 1024;
/// Steps that blocks save at least where they share the tiles of a last wave.
static constexpr int64_t kLeastGain = 24;
/// Column blocks of a result that are enough for any of which a column block
/// fits the cache.
static constexpr int64_t kMostColumnBlocks = 16;
/// How many times what a column block loads again it has to save: measured with
/// down projections of experts, which lose 5 % where it is eight times.
static constexpr int64_t kColumnBlockGain = 16;
/// The bytes of a sum that groups add to.
static constexpr int64_t kSumBytes = 4;

int cuda::tileDim(MainloopNest nest, const HopperOperand &operand) {
  ViewOp view = nest.mainloop.getOperandView(operand.number);
  Value subscript = view.getSubscripts()[operand.outerDim()];
  auto argument = dyn_cast<BlockArgument>(subscript);
  // A tile may be one of blocks, of which each is read from its beginning on.
  // The dim that numbers blocks numbers no dim of the other operand, and no
  // groups.
  ViewOp other = nest.mainloop.getOperandView(1 - operand.number);
  SmallVector<Value> numbers(other.getSubscripts());
  if (nest.chunks)
    llvm::append_range(numbers, nest.chunks.getGroup());
  bool isOfBlock = !argument;
  for (Value block : view.getSubscripts())
    if (auto number = dyn_cast<BlockArgument>(block);
        isOfBlock && number && number.getOwner() == nest.forall.getBody() &&
        !llvm::is_contained(numbers, block)) {
      if (argument)
        return kNoDim;
      argument = number;
    }
  if (!argument)
    return kNoDim;
  // Within a group there is one tile along what numbers the groups.
  if (nest.chunks && llvm::is_contained(nest.chunks.getGroup(), argument))
    return kNoDim;
  if (argument.getOwner() == nest.forall.getBody())
    return std::min<int>(argument.getArgNumber(),
                         nest.forall.getSteps().size());
  bool ofChunks = nest.chunks && argument.getOwner() == nest.chunks.getBody();
  return ofChunks ? kChunkDim : kNoDim;
}

/// Is `value` computed from one of these?
static bool isComputedFrom(Value value, ValueRange variables) {
  if (llvm::is_contained(variables, value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), [&](Value operand) {
           return isComputedFrom(operand, variables);
         });
}

bool cuda::loadsDependOn(MainloopNest nest, const HopperOperand &operand,
                         int dim) {
  if (dim == kNoDim)
    return false;
  SmallVector<Value> variables;
  if (dim == kChunkDim)
    variables = {nest.chunks.getIds(), nest.chunks.getPositions()};
  else if (dim == static_cast<int>(nest.forall.getSteps().size()))
    variables = {nest.forall.getIds(), nest.forall.getPositions()};
  else
    variables = {nest.forall.getInductionVars()[dim]};
  auto depends = [&](Value value) { return isComputedFrom(value, variables); };
  MainloopOp mainloop = nest.mainloop;
  return llvm::any_of(mainloop.getLower(), depends) ||
         llvm::any_of(mainloop.getUpper(), depends) ||
         llvm::any_of(operand.views, [&](unsigned view) {
           return llvm::any_of(mainloop.getLoaded(view).getSubscripts(),
                               depends);
         });
}

int64_t cuda::chooseCluster(MainloopNest nest, const HopperOperand &a) {
  int dim = tileDim(nest, a);
  if (dim == kNoDim)
    return 1;
  ForallOp forall = nest.forall;
  if (dim == kChunkDim || dim == static_cast<int>(forall.getSteps().size()))
    return 2;
  std::optional<int64_t> lower = getConstantIntValue(forall.getLower()[dim]);
  std::optional<int64_t> upper = getConstantIntValue(forall.getUpper()[dim]);
  if (!lower || !upper)
    return 2;
  int64_t tiles = llvm::divideCeil(std::max<int64_t>(0, *upper - *lower),
                                   forall.getSteps()[dim]);
  return tiles % 2 == 0 || tiles > 8 ? 2 : 1;
}

bool cuda::canPairAlongN(MainloopNest nest, const HopperPlan &plan) {
  ForallOp forall = nest.forall;
  int mDim = tileDim(nest, plan.a), nDim = tileDim(nest, plan.b);
  if (plan.cluster == 1 || nDim == mDim || nDim < 0 ||
      nDim == static_cast<int>(forall.getSteps().size()))
    return false;
  // The blocks of a cluster go through the same steps, of the same group.
  Value column = forall.getInductionVars()[nDim];
  auto depends = [&](Value value) { return isComputedFrom(value, column); };
  if (llvm::any_of(nest.mainloop.getLower(), depends) ||
      llvm::any_of(nest.mainloop.getUpper(), depends) ||
      (nest.chunks && llvm::any_of(nest.chunks.getGroup(), depends)))
    return false;
  if (mDim < 0 || mDim == static_cast<int>(forall.getSteps().size()))
    return true;
  int64_t rows = tripsOf(forall.getLower()[mDim], forall.getUpper()[mDim],
                         forall.getSteps()[mDim]);
  return rows < 0 || rows % plan.cluster != 0;
}

bool cuda::knowsGroups(MainloopNest nest) {
  return nest.mainloop.getIndex() &&
         llvm::all_of(nest.mainloop.getGroup(), [&](Value value) {
           auto argument = dyn_cast<BlockArgument>(value);
           if (argument && argument.getOwner() == nest.forall.getBody())
             return argument.getArgNumber() < nest.forall.getSteps().size();
           return !nest.forall->isAncestor(
               value.getParentBlock()->getParentOp());
         });
}

bool cuda::canShareTiles(MainloopNest nest, const HopperPlan &plan) {
  if (nest.chunks || nest.mainloop.getAtomic() || plan.pairs.size() > 1)
    return false;
  if (stagesOfTile(nest.mainloop, plan.subSteps()) >= 0)
    return true;
  // Tiles of few rows or columns: blocks with larger tiles have no registers
  // left. Lines that are short are stored as a whole.
  return knowsGroups(nest) && nest.mainloop.getSteps().empty() &&
         std::min(plan.m, plan.n) <= kWgmmaRows &&
         (plan.isTransposed() || plan.perN() % kStoreColumns == 0);
}

int64_t cuda::blocksOfMemory(const HopperPlan &plan) {
  return plan.b.isGatheredByElement() ? 4 : 8;
}

int64_t cuda::leastStepsOfList(const HopperPlan &plan) {
  int64_t perStep = plan.depth * std::max(plan.m, plan.n);
  return std::max<int64_t>(1, kElementsOfSharing / perStep);
}

bool cuda::canHaveColumnBlocks(MainloopNest nest, const HopperPlan &plan) {
  if (!nest.chunks || !nest.mainloop.getAtomic() || plan.isSkinny)
    return false;
  int nDim = tileDim(nest, plan.b);
  if (nDim < 0 || nDim == tileDim(nest, plan.a) ||
      nDim == static_cast<int>(nest.forall.getSteps().size()))
    return false;
  // A group has the same tiles in each column block, but for their columns.
  return !llvm::is_contained(nest.chunks.getGroup(),
                             nest.forall.getInductionVars()[nDim]);
}

int64_t cuda::chooseColumnBlocks(MainloopNest nest, const HopperPlan &plan) {
  if (!canHaveColumnBlocks(nest, plan))
    return 1;
  // The cost of a column block for a gathered row, and what all column blocks
  // save: sums that go from memory and back.
  int64_t steps = stagesOfTile(nest.mainloop, plan.subSteps());
  int64_t nDim = tileDim(nest, plan.b);
  std::optional<int64_t> lower =
      getConstantIntValue(nest.forall.getLower()[nDim]);
  std::optional<int64_t> upper =
      getConstantIntValue(nest.forall.getUpper()[nDim]);
  if (steps < 0 || !lower || !upper)
    return kMostColumnBlocks;
  int64_t read = std::max<int64_t>(1, steps * plan.depth * plan.a.elementBytes);
  int64_t saved = 2 * (*upper - *lower) * kSumBytes;
  return std::clamp<int64_t>(saved / kColumnBlockGain / read, 1,
                             kMostColumnBlocks);
}

int64_t cuda::chooseSplits(MainloopNest nest, const HopperPlan &plan,
                           const GpuTarget &target) {
  if (!canShareTiles(nest, plan))
    return 1;
  // How long a list is, only the device knows.
  int64_t steps = stagesOfTile(nest.mainloop, plan.subSteps());
  int64_t most = steps < 0 ? target.multiprocessors
                           : std::max<int64_t>(1, steps / kLeastSteps);
  int mDim = tileDim(nest, plan.a), nDim = tileDim(nest, plan.b);
  bool pairsAlongN = canPairAlongN(nest, plan);
  int64_t rows = 1, cols = 1, tiles = 1; // along m, along n, of clusters
  int64_t least = 1; // of those that there are whatever the sizes
  for (auto [d, lower, upper, step] :
       llvm::enumerate(nest.forall.getLower(), nest.forall.getUpper(),
                       nest.forall.getSteps())) {
    int64_t trips = tripsOf(lower, upper, step);
    least *= std::max<int64_t>(trips, 1);
    if (trips < 0)
      tiles = -1;
    else if (static_cast<int>(d) == mDim)
      rows = trips;
    else if (static_cast<int>(d) == nDim)
      cols = trips;
    else if (tiles >= 0)
      tiles *= trips;
  }
  if (tiles >= 0)
    tiles *= pairsAlongN ? rows / plan.cluster * cols +
                               rows % plan.cluster *
                                   llvm::divideCeil(cols, plan.cluster)
                         : llvm::divideCeil(rows, plan.cluster) * cols;
  // So many blocks read as fast as memory is, and do without each other.
  if (steps < 0 && least * blocksOfMemory(plan) > target.multiprocessors)
    return 1;
  if (nest.forall.getIndex() || tiles < 0)
    return most;
  // Here all is known. After whole waves, sharing has to gain more than the
  // sums cost that go through memory.
  int64_t clusters = target.multiprocessors / plan.cluster;
  int64_t rest = tiles % clusters;
  int64_t splits = rest ? std::min(clusters / rest, most) : 1;
  if (tiles > clusters && (steps < 0 || steps - steps / splits < kLeastGain))
    return 1;
  return splits;
}
