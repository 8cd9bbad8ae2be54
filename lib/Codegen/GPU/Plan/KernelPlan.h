//===- KernelPlan.h - The part that plans of schedules share ----*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_PLAN_KERNELPLAN_H
#define PIT_LIB_CODEGEN_GPU_PLAN_KERNELPLAN_H

#include "Codegen/Common/ContractionInfo.h"

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Target/Target.h"

namespace mlir::pit::cuda {

/// Facts about the chip (GpuTarget) and the tile, and how a block runs.
struct KernelPlan {
  KernelPlan() = default;
  explicit KernelPlan(const GpuTarget &target)
      : tf32Nearest(target.tf32Nearest), vectorAtomics(target.vectorAtomics),
        registers(target.multiprocessorRegisters) {}

  bool tf32Nearest = false, vectorAtomics = false;
  int64_t registers = 0;                   ///< of a multiprocessor
  int mDim = -1, nDim = -1;                ///< dimensions of the result's tile
  int64_t tileM = 1, tileN = 1, tileK = 1; ///< without padding
  /// Which of the views of a product's operands each accumulator's contraction
  /// reads.
  SmallVector<std::array<unsigned, 2>> pairs = {{0, 0}};

  // What a schedule says; see GpuScheduleAttr.
  Multiply multiply = Multiply::Scalar;
  int64_t m = 0, n = 0; ///< of the tile, with padding
  int64_t workersM = 1, workersN = 1;
  int64_t producers = 0; ///< warps that only load; 0: all load
  int64_t depth = 1;     ///< of a stage along k
  int64_t stages = 0;    ///< in shared memory
  int64_t blocks = 1;    ///< that a multiprocessor is to run at once
  int64_t splits = 1;    ///< of a tile's steps at most, each of a block

  bool tensorCores() const { return multiply != Multiply::Scalar; }
  bool wgmma() const { return multiply == Multiply::Wgmma; }
  /// Warps that multiply, or threads of scalar code, and what each computes.
  int64_t workers() const { return workersM * workersN; }
  int64_t perWorkerM() const { return m / workersM; }
  int64_t perWorkerN() const { return n / workersN; }
  int64_t threads() const {
    return workers() * (tensorCores() ? 32 : 1) + 32 * producers;
  }
  /// Threads that load.
  int64_t loaders() const { return producers ? 32 * producers : threads(); }
  /// Stages that a step takes.
  int64_t subSteps() const { return llvm::divideCeil(tileK, depth); }

  /// Registers of a worker, after the roles are known, beside producers with so
  /// many.
  int64_t workerRegisters(int64_t ofProducer) const;

  /// Takes what is known of a product.
  void take(const ContractionInfo &info);
  /// Gives so many workers along m, and along n, parts of such an extent.
  void share(int64_t alongM, int64_t perM, int64_t alongN, int64_t perN) {
    workersM = alongM, workersN = alongN;
    m = alongM * perM, n = alongN * perN;
  }

  /// Takes what a schedule says of all mainloops.
  void take(GpuScheduleAttr schedule);
  /// The schedule that says it again; the rest is that of a plan with
  /// producers.
  struct OfProduct {
    int64_t a = 0;
    Loader loadA = Loader::CpAsync, loadB = Loader::CpAsync;
    int64_t cluster = 1, columnBlocks = 1, fillRows = 0, fillBytes = 0;
  };
  GpuScheduleAttr toAttribute(MLIRContext *context, int64_t sharedBytes,
                              std::array<int64_t, 2> swizzles,
                              const OfProduct &more) const;
};

/// Gives a plan as many stages as fit into so many bytes, up to `most`, and at
/// least two. Do these fit?
template <typename PlanT>
bool fitStages(PlanT &plan, int64_t most, int64_t bytes) {
  plan.stages = most;
  while (plan.stages > 2 && plan.sharedBytes() > bytes)
    --plan.stages;
  return plan.sharedBytes() <= bytes;
}

/// Fit the bytes of shared memory that a block takes into those that a chip has
/// for it, and are they those that its schedule has, if it says so?
Refused checkSharedBytes(GpuScheduleAttr schedule, int64_t bytes, int64_t most,
                         const GpuTarget &target);

/// The first of a mainloop's schedules that a chip can run, of those with
/// producers or of those without; null if there is none.
GpuScheduleAttr findSchedule(MainloopOp mainloop, const GpuTarget &target,
                             bool hasProducers);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PLAN_KERNELPLAN_H
