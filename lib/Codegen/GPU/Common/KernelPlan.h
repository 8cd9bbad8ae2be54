//===- KernelPlan.h - The part that plans of schedules share ----*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_KERNELPLAN_H
#define PIT_LIB_CODEGEN_GPU_COMMON_KERNELPLAN_H

#include "pit/Analysis/Refusal.h"
#include "pit/Target/Target.h"

namespace mlir::pit::cuda {

/// Facts about the chip (GpuTarget), and how a block runs.
struct KernelPlan {
  KernelPlan() = default;
  explicit KernelPlan(const GpuTarget &target)
      : tf32Nearest(target.tf32Nearest), vectorAtomics(target.vectorAtomics),
        registers(target.multiprocessorRegisters) {}

  bool tf32Nearest = false, vectorAtomics = false;
  int64_t registers = 0;    ///< of a multiprocessor
  int mDim = -1, nDim = -1; ///< dimensions of the result's tile
  int64_t threads = 0;
  int64_t producers = 0; ///< warps of these that only load; 0: all load
  int64_t stages = 0;    ///< in shared memory
  int64_t blocks = 1;    ///< that a multiprocessor is to run at once
  int64_t splits = 1;    ///< of a tile's steps at most, each of a block

  /// Threads that load.
  int64_t loaders() const { return producers ? 32 * producers : threads; }
};

/// Are the bytes of shared memory that a schedule has, if it says so, those
/// that its stages take?
template <typename ScheduleT>
Refused checkSharedBytes(ScheduleT schedule, int64_t bytes) {
  int64_t said = schedule.getSharedBytes();
  if (said && said != bytes)
    return refuse("its shared_bytes have to be ", bytes);
  return {};
}

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_KERNELPLAN_H
