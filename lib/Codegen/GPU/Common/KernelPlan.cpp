//===- KernelPlan.cpp - The part that plans of schedules share ------------===//

#include "KernelPlan.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

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

Refused cuda::checkSharedBytes(GpuScheduleAttr schedule, int64_t bytes) {
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
