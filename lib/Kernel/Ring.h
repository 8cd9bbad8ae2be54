//===- Ring.h - pit.ring, from outside --------------------------*- C++ -*-===//

#ifndef PIT_LIB_KERNEL_RING_H
#define PIT_LIB_KERNEL_RING_H

#include "../Conversion/Common/Index.h"

namespace mlir::pit {

/// sm_80, the oldest GPU for which there are kernels.
constexpr int64_t kOldestCapability = 80;

/// Is what the ring computes acc + a * b, of elements that are widened at most?
bool isMultiplyAdd(RingOp ring);

/// What a ring asks of the kernel around it.
struct RingNeeds {
  int64_t threads;     ///< of the block, exactly
  int64_t sharedBytes; ///< of shared memory, aligned to 128
  int64_t blocks;      ///< that a multiprocessor is to run at once
};

/// None if no schedule computes this ring. `capability` is the least of the
/// GPUs to run on, 80 for sm_80.
std::optional<RingNeeds> getRingNeeds(RingOp ring, int64_t capability);

/// Expands the ring at the builder's place; the op itself stays. `thread` is
/// the number of the thread (i32), `shared` where the ring's shared memory
/// starts (i32, bytes). `chunks` and `indices` say what ids and indices of the
/// kernel stand for. Ends with a barrier: shared memory is free again.
LogicalResult lowerRing(OpBuilder &builder, RingOp ring, int64_t capability,
                        Value thread, Value shared, ChunkMap chunks,
                        const DenseMap<Value, IndexView> &indices);

/// Erases a ring that was expanded, and the views that only it read.
void eraseRing(RewriterBase &rewriter, RingOp ring);

} // namespace mlir::pit

#endif // PIT_LIB_KERNEL_RING_H
