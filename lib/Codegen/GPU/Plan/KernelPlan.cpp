//===- KernelPlan.cpp - The part that plans of schedules share ------------===//

#include "KernelPlan.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Registers that a thread may have at most, with setmaxnreg.
static constexpr int64_t kMostRegisters = 240;

/// Registers are given out by eights.
static int64_t eights(int64_t registers) { return registers / 8 * 8; }

int64_t KernelPlan::workerRegisters(int64_t ofProducer) const {
  // Roles share what threads have when the kernel starts: a worker that waits
  // for more than the producers give back waits forever.
  int64_t entry = eights(registers / blocks / threads());
  int64_t left = entry * threads() - 32 * producers * ofProducer;
  return std::min(kMostRegisters, eights(left / (32 * workers())));
}

void KernelPlan::take(const ContractionInfo &info) {
  mDim = info.mDim;
  nDim = info.nDim;
  tileM = info.m;
  tileN = info.n;
  tileK = info.k;
  pairs = info.pairs;
}

void KernelPlan::take(GpuScheduleAttr schedule) {
  multiply = schedule.getMultiply();
  m = schedule.getTile()[0];
  n = schedule.getTile()[1];
  workersM = schedule.getWorkers()[0];
  workersN = schedule.getWorkers()[1];
  producers = schedule.getProducers();
  depth = schedule.getDepth();
  stages = schedule.getStages();
  blocks = schedule.getBlocks();
  splits = schedule.getSplits();
}

GpuScheduleAttr KernelPlan::toAttribute(MLIRContext *context,
                                        int64_t sharedBytes,
                                        std::array<int64_t, 2> swizzles,
                                        const OfProduct &more) const {
  auto pair = [&](int64_t first, int64_t second) {
    return DenseI64ArrayAttr::get(context, {first, second});
  };
  DenseI64ArrayAttr shifts;
  if (swizzles != std::array<int64_t, 2>{1, 1})
    shifts = pair(swizzles[0], swizzles[1]);
  return GpuScheduleAttr::get(
      context, multiply, pair(m, n), pair(workersM, workersN), producers, depth,
      stages, shifts, more.a, more.loadA, more.loadB, blocks, more.cluster,
      splits, more.columnBlocks, more.fillRows, more.fillBytes, sharedBytes);
}

Refused cuda::checkSharedBytes(GpuScheduleAttr schedule, int64_t bytes,
                               int64_t most, const GpuTarget &target) {
  if (bytes > most)
    return refuse("it takes ", bytes, " bytes of shared memory; ", target.chip,
                  " has ", most, " for it");
  int64_t said = schedule.getSharedBytes();
  if (said && said != bytes)
    return refuse("its shared_bytes have to be ", bytes);
  return {};
}

GpuScheduleAttr cuda::findSchedule(MainloopOp mainloop, const GpuTarget &target,
                                   bool hasProducers) {
  return mainloop.findSchedule<GpuScheduleAttr>([&](GpuScheduleAttr schedule) {
    return (schedule.getProducers() > 0) == hasProducers &&
           (schedule.getMultiply() != Multiply::Wgmma || target.wgmma);
  });
}
