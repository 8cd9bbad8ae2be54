//===- CpuLoops.h - From buffers of tiles to loops of a CPU -----*- C++ -*-===//

#ifndef PIT_LIB_PIPELINES_CPULOOPS_H
#define PIT_LIB_PIPELINES_CPULOOPS_H

#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Common/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::pit {

/// Appends what places the buffers of tiles, decides how mainloops are run, and
/// lowers all of level 4 to loops.
template <typename OptionsT>
void addCpuLoops(OpPassManager &pm, const OptionsT &options, bool amx) {
  PitCloseGapsOptions gaps;
  gaps.vectorWidth = options.vectorWidth;
  pm.addNestedPass<func::FuncOp>(createPitCloseGaps(gaps));
  PlaceBuffersOptions place;
  place.openmp = options.openmp;
  pm.addPass(createPlaceBuffers(place));
  PitScheduleMainloopsOptions schedule;
  schedule.vectorWidth = options.vectorWidth;
  schedule.amx = amx;
  pm.addNestedPass<func::FuncOp>(createPitScheduleMainloops(schedule));
  ConvertPitToSCFOptions convert;
  convert.vectorWidth = options.vectorWidth;
  pm.addPass(createConvertPitToSCF(convert));
}

} // namespace mlir::pit

#endif // PIT_LIB_PIPELINES_CPULOOPS_H
