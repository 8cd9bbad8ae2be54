//===- HopperScales.h - Scales beside the stages of a ring ------*- C++ -*-===//
//
// Scales of a step lie in shared memory, so that a consumer does not wait for
// memory in each step. Producers copy them when they start the stage's other
// copies, element by element (cp.async of 4 bytes): they may lie anyhow, and
// belong to rows that ids select.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERSCALES_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERSCALES_H

#include "Codegen/GPU/Common/Scales.h"
#include "HopperLowering.h"

namespace mlir::pit::cuda {

/// A scale that a thread copies.
struct HopperScaleCopy {
  Value from;   ///< a pointer
  Value exists; ///< otherwise it is zero; null: it does
  Value isMine; ///< whether this thread copies it (i1)
  Value to;     ///< bytes after the stage's first one (i32)
};

/// Copies scales, in all threads of the producers.
class HopperScaleLoader {
public:
  /// Finds out, at the builder's place, what goes with the tile's rows and
  /// columns: the same in all steps.
  HopperScaleLoader(Emitter &e, const HopperTile &tile, MainloopSteps &steps);

  /// This thread's copies of the step that the steps are in.
  SmallVector<HopperScaleCopy> prepareStep();
  /// Starts the copies to a stage (i32), which has to be empty. They are over
  /// when an arrival of cp.async is.
  void issue(ArrayRef<HopperScaleCopy> copies, Value stage);

private:
  struct Place {
    ScaleView scale;
    Value offset, exists; ///< along the tile; exists may be null
    Value isMine, to;
  };

  Emitter &e;
  const HopperPlan &plan;
  const HopperThread &self;
  MainloopSteps &steps;
  SmallVector<Place> places;
};

/// The scale of a stage (i32) that goes with a row or column (i32) of the tile;
/// those of the first stage lie at `first`.
Value readScale(Emitter &e, const HopperPlan &plan, Value first, Value stage,
                const ScaleView &scale, Value position);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERSCALES_H
