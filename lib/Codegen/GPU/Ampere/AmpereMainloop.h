//===- AmpereMainloop.h - pit.mainloop, from outside ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H
#define PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H

#include "AmperePlan.h"

#include "Codegen/Common/Index.h"

namespace mlir::pit::cuda {

/// Whether `target` computes this mainloop; if not, `why` says the reason.
bool fitsMainloop(MainloopOp mainloop, const GpuTarget &target,
                  std::string &why);

/// Blocks that a multiprocessor is to run at once.
int64_t chooseBlocks(const AmperePlan &plan, const GpuTarget &target);

/// Expands the mainloop at the builder's place; the op itself stays. `thread`
/// is the number of the thread (i32), `shared` where the mainloop's shared
/// memory starts (i32, bytes). `chunks` and `indices` say what ids and indices
/// of the kernel stand for. Ends with a barrier: shared memory is free again.
void lowerMainloop(OpBuilder &builder, MainloopOp mainloop,
                   const AmperePlan &plan, Value thread, Value shared,
                   ChunkMap chunks, const DenseMap<Value, IndexView> &indices);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H
