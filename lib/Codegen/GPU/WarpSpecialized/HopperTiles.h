//===- HopperTiles.h - A Hopper kernel, and its tiles -----------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERTILES_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERTILES_H

#include "HopperFill.h"
#include "HopperLowering.h"
#include "RoleKernel.h"

#include "Codegen/GPU/Plan/HopperNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::pit::cuda {

/// The tiles of a group, or all of them if there are no groups. Numbers are
/// i32.
struct TileSpace {
  MainloopNest nest;
  const LoopBounds &bounds;                ///< of the loop over tiles
  const LoopBounds *chunkBounds = nullptr; ///< of a group's chunks; may be null
  SmallVector<Value> extents = {};         ///< of the loop's dimensions
  SmallVector<Value> ivs = {};             ///< known for the group's dimensions
  Value chunkCount = {};
  Value firstCol = {},
        blockCols = {};       ///< of the column block; null: it is all of n
  SmallVector<int> dims = {}; ///< of `order`: of the forall, chunks
  Value order = {};           ///< !pit_gpu.tile_space
  Value total = {};
  Value first = {}; ///< of the numbers of this block's cluster
  Value whole = {},
        shared = {}; ///< tiles of whole waves; splits of a later one
};

/// Makes the kernel of a function. How it goes through tiles is in
/// HopperTiles.cpp, the rest in HopperKernel.cpp.
class HopperLowering : RoleKernel {
public:
  HopperLowering(func::FuncOp function, gpu::GPUModuleOp device,
                 const GpuTarget &target,
                 const std::optional<LaunchedFill> &before)
      : RoleKernel(function, device), target(target), before(before) {}

  /// Finds the loops, and reads how the mainloop is to be run.
  LogicalResult readPlan(MainloopOp mainloop);
  gpu::GPUFuncOp lower();

private:
  enum class Role { Producer, Consumer };

  LaunchInfo describeLaunch();
  void describeBlock(Emitter &e);
  void produce(Emitter &e);
  void consume(Emitter &e);
  void lowerRole(Role role);
  void lowerTiles(MainloopNest nest, Role role);
  Value extentOf(Emitter &e, const TileSpace &space, int dim);
  const HopperOperand *sharedByIds(MainloopNest nest) const;
  void shareLists(Emitter &e, TileSpace &space);
  void countTiles(Emitter &e, TileSpace &space, Value ids = {});
  HopperFill fillOf(Emitter &e, MainloopNest nest);
  void markFilled(Emitter &e, const TileSpace &space);
  void startFill(Emitter &e, const TileSpace &space, Value waves,
                 HopperFill &fill);
  void lowerAllTiles(TileSpace space, Role role);
  SmallVector<Value> setGroup(Emitter &e, TileSpace &space, Value number);
  void lowerGroups(TileSpace space, Role role);
  ValueRange lowerBatches(TileSpace space, Role role, ValueRange carried,
                          HopperFill *fill);
  Value columnsOfBlock(Emitter &e, const TileSpace &space);
  /// Variables of the forall (index), and the number of a group's chunk (i32).
  using TileIvs = std::pair<SmallVector<Value>, Value>;
  TileIvs tileAt(Emitter &e, const TileSpace &space, Value number);
  void enterTile(Emitter &e, TileSpace &space, Value number, Block *body);
  pitgpu::SplitOfOp partOf(const TileSpace &space, Value number);
  GroupOfTile listOf(Emitter &e, const TileSpace &space, Value number);
  GroupOfTile groupOf(Emitter &e, const TileSpace &space, Value number);
  Value lowerMainloop(HopperTile tile, Role role, HopperFill *fill);

  Value index(int64_t value) { return constantIndex(rewriter, loc, value); }
  Value ceilDiv(Value x, Value y) {
    return rewriter.createOrFold<arith::CeilDivUIOp>(loc, x, y);
  }
  const GpuTarget &target;
  HopperPlan hopper;
  int mDim = kNoDim, nDim = kNoDim;   ///< of the forall, or kChunkDim
  std::optional<LaunchedFill> before; ///< of the output; done here, if kept
  HopperThread self;
  Value worker, workers; ///< the block's cluster, and how many there are (i32)
  IndexMap indices;
  ChunkMap chunks;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERTILES_H
