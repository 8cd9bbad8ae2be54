//===- HopperNest.h - The loops of a Hopper kernel --------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_PLAN_HOPPERNEST_H
#define PIT_LIB_CODEGEN_GPU_PLAN_HOPPERNEST_H

#include "HopperPlan.h"

#include "Codegen/GPU/Common/MainloopNest.h"

namespace mlir::pit::cuda {

/// The dimension of a tile space along which an operand's tiles lie: of the
/// forall, or one of these.
constexpr int kChunkDim = -2; ///< the loop over chunks
constexpr int kNoDim = -1;

/// Along which dimension of the loops the operand's part of the tile lies.
int tileDim(MainloopNest nest, const HopperOperand &operand);

/// Are the steps, or what the operand's views read in them, others along this
/// dimension?
bool loadsDependOn(MainloopNest nest, const HopperOperand &operand, int dim);

/// Blocks of a cluster, where `a` is the operand along m. Two blocks share what
/// they load of b, if they can have neighbouring tiles along m. That pads
/// groups of an index to pairs of tiles, but without it the L2 cache is what
/// limits the kernel.
int64_t chooseCluster(MainloopNest nest, const HopperOperand &a);

/// May the blocks of a cluster have neighbouring tiles along n, where fewer
/// tiles are left along m than a cluster has blocks? Each then loads all that
/// it needs of b. Not where no tiles are ever left.
bool canPairAlongN(MainloopNest nest, const HopperPlan &plan);

/// Are the groups of the steps' ids known by the numbers of tiles?
bool knowsGroups(MainloopNest nest);

/// May blocks share a tile along k, in splits of its steps, or of its list of
/// ids?
bool canShareTiles(MainloopNest nest, const HopperPlan &plan);

/// In how many splits blocks share a tile along k at most: there may be too few
/// tiles, or too few in the last wave.
int64_t chooseSplits(MainloopNest nest, const HopperPlan &plan,
                     const GpuTarget &target);

/// One processor of so many with a list reads nearly as fast as memory is:
/// where more have one, they do not share tiles. Elements take longer to gather
/// than rows.
int64_t blocksOfMemory(const HopperPlan &plan);

/// The fewest steps of a part of a list that is worth it to share the tile:
/// what the sums cost that go through memory is as long as reading so much.
int64_t leastStepsOfList(const HopperPlan &plan);

/// Do groups of an index add to the result atomically, so that they may all go
/// through one of its column blocks before the next one?
bool canHaveColumnBlocks(MainloopNest nest, const HopperPlan &plan);

/// The most column blocks that are worth it: for each, a group's rows are
/// loaded again.
int64_t chooseColumnBlocks(MainloopNest nest, const HopperPlan &plan);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PLAN_HOPPERNEST_H
