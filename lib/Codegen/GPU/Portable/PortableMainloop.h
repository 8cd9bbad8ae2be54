//===- PortableMainloop.h - pit.mainloop, from outside ----------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_PORTABLE_PORTABLEMAINLOOP_H
#define PIT_LIB_CODEGEN_GPU_PORTABLE_PORTABLEMAINLOOP_H

#include "Codegen/GPU/Common/MainloopSteps.h"
#include "Codegen/GPU/Plan/BodyPlan.h"

namespace mlir::pit::cuda {

/// A thread of a block that runs a plan.
struct PortableThread {
  Emitter &e;
  const KernelPlan &common;
  Value number; ///< in the block, or among its producers (i32)
  Value shared; ///< where the mainloop's shared memory starts (i32, bytes)
};

/// The same of a product.
struct ProductThread : PortableThread {
  const PortablePlan &plan;
  // If it has several parts (SplitK.h):
  Value partials = {}; ///< memory for the sums of all blocks (i64)
  Value counters = {}; ///< memory for how many parts are done (i64)
};

/// Expands the mainloop at the emitter's place; the op itself stays. Ends with
/// a barrier: shared memory is free again. `afterStore` makes what comes after
/// the tile's elements are stored, in the block that does it.
void lowerMainloop(const ProductThread &self, MainloopOp mainloop,
                   KernelValues values, function_ref<void()> afterStore);

/// The same of one with a tile body.
void lowerTileBody(const PortableThread &self, const BodyPlan &plan,
                   MainloopOp mainloop, KernelValues values);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PORTABLE_PORTABLEMAINLOOP_H
