//===- TakenTiles.h - Tiles that blocks take as they come -------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_TAKENTILES_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_TAKENTILES_H

#include "Codegen/GPU/Common/Emitter.h"

namespace mlir::pit::cuda {

/// Blocks take the next tile that none has (LaunchGrid::Taken). The first one
/// of a block is that of its number. Then one thread of a role counts, a tile
/// ahead, and both roles get the number through shared memory.
class TakenTiles {
public:
  /// Makes the ring of numbers, which producers fill; so many warps of all
  /// roles read it. `counters` is the kernel's parameter.
  TakenTiles(Emitter &e, Value counters, int64_t producers, int64_t warps);

  /// Begins a role's loop over the block's tiles, of `total` (index), and
  /// leaves the builder in it; `thread` is that of the role (i32). Carries
  /// `carried`, of which the first is how many tiles the block had (i32). Gives
  /// the tile's number (index).
  Value begin(Emitter &e, Value total, ValueRange carried, Value thread,
              bool isProducer);
  ValueRange carried();
  /// Ends it.
  void end(Emitter &e, ValueRange next);

private:
  Value place(Emitter &e, Value use) const;

  Value counters, ring, numbers;
  scf::WhileOp loop;
  Value isCounting; ///< of a thread (i1); null: the role does not count
  Value counted;    ///< the number of the next tile, in that thread (i32)
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_TAKENTILES_H
