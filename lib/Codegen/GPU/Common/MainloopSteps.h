//===- MainloopSteps.h - The steps of a mainloop ----------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_MAINLOOPSTEPS_H
#define PIT_LIB_CODEGEN_GPU_COMMON_MAINLOOPSTEPS_H

#include "Emitter.h"
#include "TileAccess.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::pit::cuda {

/// The values of ids and indices in a kernel.
struct KernelValues {
  ChunkMap &chunks;
  const DenseMap<Value, IndexView> &indices;
};

/// The steps of a mainloop, and what its load region says of each. A step may
/// take several stages.
class MainloopSteps {
public:
  /// Counts them at the builder's place. `values` get the ids of steps. `group`
  /// is how many ids there are and where they start, if that is known already.
  MainloopSteps(Emitter &e, MainloopOp mainloop, int64_t stagesPerStep,
                KernelValues values, std::pair<Value, Value> group = {});

  /// Stages to go through (i32).
  Value total() const { return stages; }
  /// Makes stage `s` (i32) the one that access() speaks of. `numbers` are what
  /// readNumbers() gave for it, or nothing.
  void enter(Value s, ValueRange numbers = {});
  /// Reads the numbers of a stage that its loads take from tiles and from ids.
  /// They may come early: what waits for one would hold up all behind it.
  SmallVector<Value> readNumbers(Value s);
  /// The tile that a view, by its number, has in the stage's step.
  TileAccess access(unsigned number);
  /// The value in the stage's step of a value of the load region.
  Value lookup(Value value) { return mapping.lookupOrDefault(value); }

private:
  TileAccess accessLoaded(ViewOp view);
  /// The number of a step that its loads take from a tile or from ids.
  Value numberOf(vector::ExtractOp extract);

  Emitter &e;
  MainloopOp mainloop;
  int64_t stagesPerStep;
  ChunkMap &chunks;
  IndexView index;
  SmallVector<Value> trips; ///< of the dense ranges, then chunks of ids
  Value stages;
  Value count, offset; ///< of the group, if there is an index
  IRMapping mapping;
};

/// Erases a mainloop that was expanded, and the views that only it read.
void eraseMainloop(RewriterBase &rewriter, MainloopOp mainloop);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_MAINLOOPSTEPS_H
