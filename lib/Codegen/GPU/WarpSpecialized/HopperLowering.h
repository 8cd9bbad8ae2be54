//===- HopperLowering.h - pit.mainloop by specialised warps -----*- C++ -*-===//
//
// One tile's work of the producer and of a consumer. The kernel around them
// (convert-pit-to-gpu) gives both the same tiles in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERLOWERING_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERLOWERING_H

#include "Codegen/GPU/Common/MainloopSteps.h"
#include "Codegen/GPU/Common/WgmmaLayout.h"
#include "Codegen/GPU/Plan/HopperPlan.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

namespace mlir::pit::cuda {

/// The shared memory of a kernel.
struct HopperShared {
  void place(Emitter &e, const HopperPlan &plan);
  /// Makes rings, whose barriers all threads of the block wait for.
  void makeRings(Emitter &e, MainloopOp mainloop, const HopperPlan &plan);

  /// Addresses (i32) of staged results, of ids and elements of later steps, of
  /// scales, of the bits of rows, and of the copy for rows that no tile writes;
  /// null: there is nothing there.
  Value results, ids, elements, scales, rows, fill;
  Value stages;   ///< the ring of the mainloop: views of a, then of b
  Value listed;   ///< full when the bits of rows are known
  Value firstIds; ///< full when those of a tile's first steps have come
};

/// The descriptors of the views of a, then of b, whose memrefs are among a
/// kernel's arguments. Tensors whose rows are copied by chunks have one, too:
/// what a descriptor asks of a tensor's address and strides is what chunks
/// need.
SmallVector<Value> makeTensorMaps(Emitter &e, MainloopOp mainloop,
                                  const HopperPlan &plan, ValueRange arguments);

/// The share of a block in a tile that is divided along k: each goes through a
/// split of its steps, and the one that comes last adds up what the others
/// wrote.
struct StreamKWork {
  Value count;    ///< splits of a tile (i32); null: tiles are not shared
  Value part;     ///< this block's (i32)
  Value partials; ///< memory for the sums of all blocks' threads (i64)
  Value counters; ///< memory for the numbers of splits that arrived (i64)
  Value first;    ///< number of the block that has the tile's first part (i32)
  Value distance; ///< from its number to the next part's (i32)
  bool ofList = false; ///< the tile's ids are those of the part alone
};

/// The values that a thread has before it comes to a tile.
struct HopperThread {
  Value thread;   ///< of the warpgroup (i32)
  Value warp;     ///< of the warpgroup (i32), known to be the same in a warp
  Value consumer; ///< number of the warpgroup among the consumers (i32)
  Value rank;     ///< of the block in its cluster (i32)
  /// Whether the blocks of the cluster have neighbouring tiles along n and not
  /// along m, so that nothing of b is shared (i1); null: never.
  Value alongN;
  /// All lanes of a producer's warp come to a tile, even if one alone loads it.
  bool warps = false;
  SmallVector<Value> maps; ///< of the views of a, then of b
  HopperShared shared;
  StreamKWork streamK;
};

/// The steps of a tile that are this block's: first and last + 1 (i32).
std::pair<Value, Value> stepsOfSplit(Emitter &e, const StreamKWork &splits,
                                     Value steps);

/// Runs `body` in the producer's threads that have something to do.
void inProducers(Emitter &e, const HopperPlan &plan, const HopperThread &self,
                 function_ref<void()> body);

/// Runs `body` in one thread of the role, or in one of each warp.
void inLeader(Emitter &e, bool ofWarps, function_ref<void()> body);

/// Waits for the other threads of the warp, and for what they wrote.
void syncWarp(Emitter &e);

/// Lanes of a warp.
constexpr int64_t kLanes = 32;

/// The work of producers after they have started a step's copies; the argument
/// is how many stages had gone through the ring before (i32).
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
  Value wave = {};       ///< tiles of the block before (i32)
  GroupOfTile now = {};  ///< null: not known yet
  GroupOfTile next = {}; ///< of the block's next tile; null: not known
};

/// Copies the tiles of all steps; gives how many stages have gone through the
/// ring then. `between` may be null; a leader of each warp, at least, comes
/// there.
Value produceTile(Emitter &e, const HopperTile &tile, BetweenSteps between);

/// Multiplies the tiles of all steps and stores the result; gives the same.
Value consumeTile(Emitter &e, const HopperTile &tile);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERLOWERING_H
