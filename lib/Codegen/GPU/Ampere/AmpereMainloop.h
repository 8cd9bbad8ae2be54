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
};

/// Expands the mainloop at the emitter's place; the op itself stays. Ends with
/// a barrier: shared memory is free again.
void lowerMainloop(const AmpereThread &self, MainloopOp mainloop,
                   KernelValues values);

/// The same of one with a tile body. `self` has the plan's common part.
void lowerTileBody(const AmpereThread &self, const AmpereBodyPlan &plan,
                   MainloopOp mainloop, KernelValues values);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H
