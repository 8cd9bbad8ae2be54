//===- MBarrier.h - Barriers in shared memory -------------------*- C++ -*-===//
//
// What roles of a kernel wait for: PTX, "mbarrier". A barrier is its address in
// shared memory (i32, bytes); it takes 8 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_MBARRIER_H
#define PIT_LIB_CODEGEN_GPU_COMMON_MBARRIER_H

#include "Emitter.h"

namespace mlir::pit::cuda {

constexpr int64_t kMBarrierBytes = 8;

/// Makes a barrier at which so many arrive. One thread does it, and all have to
/// wait for it.
void initMBarrier(Emitter &e, Value barrier, int64_t arrivals);
/// Waits for the end of a phase: of the even ones, if `parity` (i32) is 0.
void waitMBarrier(Emitter &e, Value barrier, Value parity);
/// Arrives; who waits sees what this thread has written.
void arriveAtMBarrier(Emitter &e, Value barrier);
/// Arrives when all copies (cp.async) that this thread has started are done.
void arriveAfterCopies(Emitter &e, Value barrier);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_MBARRIER_H
