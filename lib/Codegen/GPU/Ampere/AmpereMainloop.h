//===- AmpereMainloop.h - pit.mainloop, from outside ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H
#define PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H

#include "AmperePlan.h"

#include "Codegen/Common/Index.h"

namespace mlir::pit::cuda {

/// Expands the mainloop at the builder's place; the op itself stays. `thread`
/// is the number of the thread (i32), `shared` where the mainloop's shared
/// memory starts (i32, bytes). `chunks` and `indices` say what ids and indices
/// of the kernel stand for. Ends with a barrier: shared memory is free again.
void lowerMainloop(OpBuilder &builder, MainloopOp mainloop,
                   const AmperePlan &plan, Value thread, Value shared,
                   ChunkMap chunks, const DenseMap<Value, IndexView> &indices);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_AMPERE_AMPEREMAINLOOP_H
