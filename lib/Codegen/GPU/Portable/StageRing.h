//===- StageRing.h - Steps through a ring of the block ----------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_PORTABLE_STAGERING_H
#define PIT_LIB_CODEGEN_GPU_PORTABLE_STAGERING_H

#include "Codegen/GPU/Common/Emitter.h"

namespace mlir::pit::cuda {

/// Steps of which each has a stage of a `pit_gpu.block_ring`:
///
///   for the first stages - 1 steps: acquire, load, commit
///   for each step s:
///     wait for s
///     acquire, load, commit step s + stages - 1
///     compute, release
class StageRing {
public:
  /// Starts the copies of a step (i32) into a stage.
  using Load = function_ref<void(Value, Value)>;

  StageRing(Emitter &e, int64_t stages, ArrayRef<Type> tiles, Value shared,
            Value total)
      : e(e), stages(stages), tiles(tiles), shared(shared), total(total) {}

  /// The tile of a stage, and where it lies (i32, bytes).
  Value tile(Value stage, unsigned number);
  Value address(Value stage, unsigned number);
  /// The number of the stage so many steps later.
  Value next(Value stage, int64_t by);
  /// Makes the ring, and starts the copies of the first steps.
  void start(Load load);
  /// Starts the copies of the step that is `stages - 1` after step `s`, whose
  /// stage has a number.
  void loadAhead(Value s, Value stage, Load load);
  /// Waits for the oldest step that is under way; gives its stage, that of a
  /// number.
  Value wait(Value stage);
  void release(Value stage);
  /// Waits for all: shared memory is free again.
  void drain();
  /// Runs the loop over steps; `body` gets the step, its stage's number, and
  /// what is carried, and gives the latter's next values.
  SmallVector<Value>
  loop(ArrayRef<Value> initial,
       function_ref<SmallVector<Value>(Value, Value, ValueRange)> body);

private:
  /// Loads step `s`, if there is such a step, into the stage of a number.
  void fill(Value s, Value stage, Load load);

  Emitter &e;
  int64_t stages;
  SmallVector<Type> tiles; ///< of a stage
  Value shared;            ///< where the first one lies (i32, bytes)
  Value total;             ///< steps (i32)
  Value ring;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PORTABLE_STAGERING_H
