//===- MBarrier.cpp - Barriers in shared memory ---------------------------===//

#include "MBarrier.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Nanoseconds that one try of waiting takes at most.
static constexpr int64_t kPatience = 10000000;

void cuda::initMBarrier(Emitter &e, Value barrier, int64_t arrivals) {
  NVVM::MBarrierInitOp::create(e.b, e.loc, e.sharedPointer(barrier),
                               e.i32(arrivals), Value());
}

void cuda::waitMBarrier(Emitter &e, Value barrier, Value parity) {
  NVVM::MBarrierTryWaitParityOp::create(e.b, e.loc, e.sharedPointer(barrier),
                                        parity, e.i32(kPatience));
}

void cuda::arriveAtMBarrier(Emitter &e, Value barrier) {
  NVVM::MBarrierArriveOp::create(e.b, e.loc, Type(), e.sharedPointer(barrier),
                                 Value(), NVVM::MemScopeKind::CTA);
}

void cuda::arriveAfterCopies(Emitter &e, Value barrier) {
  NVVM::CpAsyncMBarrierArriveOp::create(e.b, e.loc, e.sharedPointer(barrier),
                                        /*noinc=*/true);
}
