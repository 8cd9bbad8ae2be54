//===- Wgmma.h - Hopper's tensor cores --------------------------*- C++ -*-===//
//
// What kernels of any schedule need of wgmma: PTX, "Asynchronous warpgroup
// level matrix instructions".
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_WGMMA_H
#define PIT_LIB_CODEGEN_GPU_COMMON_WGMMA_H

#include "Emitter.h"
#include "WgmmaLayout.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::pit::cuda {

/// The descriptor (i64) of one that lies at `address` (i32, bytes).
Value describeInShared(Emitter &e, Value address, int64_t descriptor);
/// That of a part so many bytes later.
Value advanceDescriptor(Emitter &e, Value descriptor, int64_t bytes);

/// A product of 64 rows and n columns that is added to sums.
struct Wgmma {
  NVVM::WGMMATypes a, b; ///< elements of the factors
  int64_t n, k;
  bool kIsColOfA = true, kIsColOfB = true;
  bool adds = true; ///< else it replaces the sums
};
/// Starts it, with both factors in shared memory; `sums` is a struct of f32.
Value startWgmma(Emitter &e, const Wgmma &wgmma, Value a, Value b, Value sums);
/// Starts one for each of the descriptors `b`, behind a fence, and commits them
/// as a group. `a` are descriptors, too, or four registers (i32) for each. All
/// add to the `count` sums, which begin as `sums` (f32) or, if these are empty,
/// as zeros.
SmallVector<Value> startWgmmas(Emitter &e, const Wgmma &wgmma,
                               ArrayRef<Value> a, ArrayRef<Value> b,
                               ArrayRef<Value> sums, size_t count);

/// Waits for all wgmmas but those of the `later` groups that were committed
/// last. The registers (f32) of their sums go through the wait, so that nothing
/// reads them before it; those of their first factor are `held`, so that
/// nothing writes them before it.
SmallVector<Value> waitForWgmmas(Emitter &e, ArrayRef<Value> registers,
                                 int64_t later = 0, ArrayRef<Value> held = {});

/// Waits for what this thread has loaded from tensor memory. The registers
/// (i32) go through the wait, so that nothing reads them before it.
SmallVector<Value> waitForTensorLoads(Emitter &e, ArrayRef<Value> registers);

/// What this thread has written to shared memory is there for wgmma and TMA.
void fenceAsyncProxy(Emitter &e);
/// The value (i32) that a lane has, for all: what depends on it is the same in
/// a warp, and ptxas knows it.
Value fromLane(Emitter &e, Value value, Value lane);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_WGMMA_H
