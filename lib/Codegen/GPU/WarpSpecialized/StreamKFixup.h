//===- StreamKFixup.h - Tiles that blocks share -----------------*- C++ -*-===//
//
// Blocks that share a tile along k write the sums of their steps to memory.
// When all have come, each of them adds up and stores a part of the tile's
// columns: no block alone can read that much quickly. A warp needs what the
// same warps of the other blocks wrote, and waits for these only.
//
// No block may count on the others to run: the machine may be busy with
// something else that waits, too. So waiting has an end. A warp that gives up
// says so, and leaves all of its tile's rows to the one that comes last, which
// never waits.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_STREAMKFIXUP_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_STREAMKFIXUP_H

#include "HopperStore.h"

namespace mlir::pit::cuda {

class StreamKFixup {
public:
  StreamKFixup(Emitter &e, const HopperPlan &plan, const HopperThread &self,
               HopperStore &store)
      : e(e), plan(plan), self(self), store(store) {}

  /// Writes the sums of this block's part; of rows that do not exist, nothing.
  void write(ArrayRef<Value> sums);
  /// Waits for the other splits, then adds up and stores this block's pieces of
  /// the tile: the splits in their order, whichever block does it, and so the
  /// same bits every time.
  void addPieces();

private:
  /// Pieces that a block has: from `first` to all, so many apart (i32).
  struct Share {
    Value first, step;
  };
  Share awaitPeers();
  Value outcome(Value counter);
  Value poll(Value counter, Value state);
  Value abandonWait(Value counter, Value state);
  void leave(Value counter);
  SmallVector<Value> add(Value piece);
  Value firstOf(Value part, Value sum);
  Value place(Value first, int64_t sum);
  Value arrivals(Value state) { return e.bitAnd(state, kArrivals); }
  int64_t sums() const { return plan.wgmmas() * plan.accumulators(); }

  /// The bits of a counter's first word with the number of warps that arrived.
  static constexpr int64_t kArrivals = 0xFFFF;

  Emitter &e;
  const HopperPlan &plan;
  const HopperThread &self;
  HopperStore &store;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_STREAMKFIXUP_H
