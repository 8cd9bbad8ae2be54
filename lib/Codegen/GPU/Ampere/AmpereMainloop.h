//===- AmpereMainloop.h - pit.mainloop, from outside ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H
#define PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H

#include "AmpereBodyPlan.h"

#include "Codegen/GPU/Common/MainloopSteps.h"

namespace mlir::pit::cuda {

/// A thread of a block that runs a plan.
struct AmpereThread {
  Emitter &e;
  const AmperePlan &plan;
  Value number; ///< in the block (i32)
  Value shared; ///< where the mainloop's shared memory starts (i32, bytes)
  // Of a plan of several parts (SplitK.h):
  Value partials = {}; ///< memory for the sums of all blocks (i64)
  Value counters = {}; ///< memory for how many parts are done (i64)
};

/// Expands the mainloop at the emitter's place; the op itself stays. Ends with
/// a barrier: shared memory is free again. `afterStore` makes what comes after
/// the tile's elements are stored, in the block that does it.
void lowerMainloop(const AmpereThread &self, MainloopOp mainloop,
                   KernelValues values, function_ref<void()> afterStore);

/// The same of one with a tile body. `self` has the plan's common part.
void lowerTileBody(const AmpereThread &self, const AmpereBodyPlan &plan,
                   MainloopOp mainloop, KernelValues values);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H
