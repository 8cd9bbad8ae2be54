//===- AmpereMainloop.h - pit.mainloop, from outside ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H
#define PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H

#include "Codegen/Common/Index.h"

#include "pit/Target/Target.h"

namespace mlir::pit::cuda {

/// What a mainloop asks of the kernel around it.
struct MainloopNeeds {
  int64_t threads;     ///< of the block, exactly
  int64_t sharedBytes; ///< of shared memory, aligned to 128
  int64_t blocks;      ///< that a multiprocessor is to run at once
};

/// None if no schedule computes this mainloop on `target` and newer GPUs.
std::optional<MainloopNeeds> getMainloopNeeds(MainloopOp mainloop,
                                              const GpuTarget &target);

/// Expands the mainloop at the builder's place; the op itself stays. `thread`
/// is the number of the thread (i32), `shared` where the mainloop's shared
/// memory starts (i32, bytes). `chunks` and `indices` say what ids and indices
/// of the kernel stand for. Ends with a barrier: shared memory is free again.
LogicalResult lowerMainloop(OpBuilder &builder, MainloopOp mainloop,
                            const GpuTarget &target, Value thread, Value shared,
                            ChunkMap chunks,
                            const DenseMap<Value, IndexView> &indices);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H
