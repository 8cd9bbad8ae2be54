//===- KernelMainloops.h - The plans of a kernel's mainloops ----*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_KERNEL_KERNELMAINLOOPS_H
#define PIT_LIB_CODEGEN_GPU_KERNEL_KERNELMAINLOOPS_H

#include "Codegen/GPU/Portable/PortableMainloop.h"

#include "pit/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit::cuda {

/// The plans of mainloops, which run one after another in the same shared
/// memory. They say how many threads a block has.
struct KernelMainloops {
  DenseMap<Operation *, PortablePlan> products;
  DenseMap<Operation *, BodyPlan> bodies;
  /// The plan of those whose tiles blocks share, if any.
  std::optional<PortablePlan> shared;
  int64_t threads = 0;     ///< of a block; 0: there are no mainloops
  int64_t blocks = 1;      ///< of a multiprocessor that are to fit
  int64_t sharedBytes = 0; ///< of the one that needs the most

  /// The alignment of shared memory.
  int64_t alignment() const;
};

/// Reads the plans that the mainloops of a kernel have as attributes; reports
/// one that cannot be carried out.
FailureOr<KernelMainloops> readMainloops(func::FuncOp function,
                                         const GpuTarget &target);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_KERNEL_KERNELMAINLOOPS_H
