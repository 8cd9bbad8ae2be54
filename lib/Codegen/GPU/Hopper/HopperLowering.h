//===- HopperLowering.h - pit.mainloop by specialised warps -----*- C++ -*-===//
//
// One tile's work of the producer and of a consumer. The kernel around them
// (convert-pit-to-gpu) gives both the same tiles in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_HOPPER_HOPPERLOWERING_H
#define PIT_LIB_CODEGEN_GPU_HOPPER_HOPPERLOWERING_H

#include "Codegen/GPU/Common/MBarrier.h"
#include "Codegen/GPU/Common/MainloopSteps.h"
#include "HopperPlan.h"

#include "Codegen/GPU/Common/Wgmma.h"

namespace mlir::pit::cuda {

/// A tensor that TMA reads: its descriptor is a parameter of the kernel.
struct HopperMap {
  Value source;             ///< the memref
  SmallVector<int64_t> box; ///< by dimension
  int64_t swizzle;          ///< bytes
  /// The dimension along k, if the host may have the memref copied: where the
  /// descriptor is all that the kernel reads of it; else -1.
  int64_t alongK = -1;
  SmallVector<int64_t> order = {}; ///< of a copy that there always is
};

/// The descriptors of the views of a, then of b. Tensors whose rows are copied
/// by chunks have one, too: what a descriptor asks of a tensor's address and
/// strides is what chunks need.
SmallVector<HopperMap> hopperMaps(MainloopOp mainloop, const HopperPlan &plan);

/// Where blocks share a tile along k: each goes through a part of its steps,
/// and the one that comes last adds up what the others wrote.
struct StreamKWork {
  Value count;    ///< parts of a tile (i32); null: tiles are not shared
  Value part;     ///< this block's (i32)
  Value partials; ///< memory for the sums of all blocks' threads (i64)
  Value counters; ///< memory for the numbers of parts that arrived (i64)
  Value first;    ///< number of the block that has the tile's first part (i32)
  Value distance; ///< from its number to the next part's (i32)
  bool ofList = false; ///< the tile's ids are those of the part alone
};

/// What a thread knows before it comes to a tile.
struct HopperThread {
  Value thread;   ///< of the warpgroup (i32)
  Value warp;     ///< of the warpgroup (i32), known to be the same in a warp
  Value consumer; ///< number of the warpgroup among the consumers (i32)
  Value shared;   ///< where shared memory starts (i32)
  Value rank;     ///< of the block in its cluster (i32)
  /// Whether the blocks of the cluster have neighbouring tiles along n and not
  /// along m, so that nothing of b is shared (i1); null: never.
  Value alongN;
  /// All lanes of a producer's warp come to a tile, even if one alone loads it.
  bool warps = false;
  SmallVector<Value> maps; ///< descriptors of the views of a, then of b
  StreamKWork streamK;
};

/// The steps of a tile that are this block's: first and last + 1 (i32).
std::pair<Value, Value> stepsOfPart(Emitter &e, const StreamKWork &parts,
                                    Value steps);

/// Initializes the barriers; all threads of the kernel's blocks wait for it.
void initHopperBarriers(Emitter &e, const HopperPlan &plan, Value thread,
                        Value shared);
/// Waits for the cluster's other blocks, which use this block's barriers.
void syncCluster(Emitter &e, const HopperPlan &plan);

/// Runs `body` in the producer's threads that have something to do.
void inProducers(Emitter &e, const HopperPlan &plan, const HopperThread &self,
                 function_ref<void()> body);

/// In one thread of each warp: true in the same one every time.
Value isLeader(Emitter &e);

/// Waits for the other threads of the warp, and for what they wrote.
void syncWarp(Emitter &e);

/// Lanes of a warp.
constexpr int64_t kLanes = 32;
/// Each lane gets the sum of what it and the lanes before it have (i32).
Value sumOfLanes(Emitter &e, Value value);
/// The first lane for which the condition holds; it does for one (i32).
Value firstLane(Emitter &e, Value condition);

/// What producers do after they have started a step's copies; the argument is
/// how many stages had gone through the ring before (i32).
using BetweenSteps = function_ref<void(Value)>;

/// How many ids a tile's steps have, and where they start: loaded while the
/// block works on the tiles before, since loads wait behind copies.
using GroupOfTile = std::pair<Value, Value>;

/// A tile that a role works on.
struct HopperTile {
  MainloopOp mainloop;
  const HopperPlan &plan;
  const HopperThread &self;
  KernelValues values;
  Value done;            ///< stages that had gone through the ring before (i32)
  Value turn = {};       ///< tiles of the block before (i32)
  GroupOfTile now = {};  ///< null: not known yet
  GroupOfTile next = {}; ///< of the block's next tile; null: not known
};

/// Copies the tiles of all steps; gives how many stages have gone through the
/// ring then. `between` may be null; a leader of each warp, at least, comes
/// there.
Value produceTile(Emitter &e, const HopperTile &tile, BetweenSteps between);

/// Multiplies the tiles of all steps and stores the result; gives the same.
Value consumeTile(Emitter &e, const HopperTile &tile);

/// Stages of the mainloop and their barriers, by the number of a stage's use.
class HopperStages {
public:
  HopperStages(Emitter &e, const HopperPlan &plan, Value shared)
      : e(e), plan(plan), shared(shared) {}

  Value stage(Value number) { return e.rem(number, plan.stages); }
  /// Where a stage lies in shared memory (i32, bytes).
  Value address(Value stage) {
    return e.add(shared, e.mul(stage, plan.stageBytes()));
  }
  Value full(Value stage);  ///< i32
  Value empty(Value stage); ///< i32
  /// Waits until the stage is full for use `number`, or empty.
  void waitFull(Value number, Value stage);
  void waitEmpty(Value number, Value stage);
  /// The barrier at which consumers arrive when the bits of rows are known.
  Value listed() { return e.add(shared, plan.listedOffset()); }
  void waitListed() { waitMBarrier(e, listed(), e.i32(0)); }
  /// The barrier that says that the ids of the first steps of a block's tile
  /// number `turn` (i32) have come.
  Value firstIds(Value turn) {
    return e.add(e.add(shared, plan.firstIdsOffset()),
                 e.mul(e.rem(turn, 2), 8));
  }
  void waitFirstIds(Value turn) {
    waitMBarrier(e, firstIds(turn), e.rem(e.div(turn, 2), 2));
  }

private:
  Value round(Value number) { return e.bitAnd(e.div(number, plan.stages), 1); }

  Emitter &e;
  const HopperPlan &plan;
  Value shared;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_HOPPER_HOPPERLOWERING_H
