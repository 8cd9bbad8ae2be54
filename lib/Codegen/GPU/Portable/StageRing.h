//===- StageRing.h - Stages of shared memory in turn ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_PORTABLE_STAGERING_H
#define PIT_LIB_CODEGEN_GPU_PORTABLE_STAGERING_H

#include "Codegen/GPU/Common/Emitter.h"

namespace mlir::pit::cuda {

/// Stages are loaded `stages - 1` steps ahead:
///
///   for the first stages - 1 steps: load, commit
///   for each step s:
///     wait until step s is there; barrier
///     load step s + stages - 1 (over the stage of step s - 1), commit
///     compute the stage of step s
class StageRing {
public:
  /// Starts the copies of a step (i32) to a stage that lies at (i32, bytes).
  using Load = function_ref<void(Value, Value)>;

  /// `forWgmma`: it reads the stages.
  StageRing(Emitter &e, int64_t stages, int64_t stageBytes, Value shared,
            Value total, bool forWgmma = false)
      : e(e), stages(stages), stageBytes(stageBytes), shared(shared),
        total(total), forWgmma(forWgmma) {}

  /// The address of a stage.
  Value address(Value stage) { return e.add(shared, e.mul(stage, stageBytes)); }
  /// The stage so many steps later.
  Value next(Value stage, int64_t by);
  /// Starts the copies of the first steps.
  void start(Load load);
  /// Starts the copies of the step that is `stages - 1` after step `s`.
  void loadAhead(Value s, Value stage, Load load);
  /// Waits for the oldest stage that is under way.
  void wait();
  /// Waits for all: shared memory is free again.
  void drain();
  /// Runs the loop over steps; `body` gets the step, its stage, and what is
  /// carried, and gives the latter's next values.
  SmallVector<Value>
  loop(ArrayRef<Value> initial,
       function_ref<SmallVector<Value>(Value, Value, ValueRange)> body);

private:
  /// Loads step `s` into stage `stage`, if there is such a step.
  void loadIfAny(Value s, Value stage, Load load);

  Emitter &e;
  int64_t stages, stageBytes;
  Value shared; ///< where the first one lies (i32, bytes)
  Value total;  ///< steps (i32)
  bool forWgmma;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PORTABLE_STAGERING_H
