//===- SchedulesByHand.h - What all schedules of GPUs have ------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_SCHEDULESBYHAND_H
#define PIT_LIB_CODEGEN_GPU_COMMON_SCHEDULESBYHAND_H

#include "pit/Dialect/Pit/IR/NotTaken.h"

namespace mlir::pit::cuda {

/// Are the bytes of shared memory that a schedule has, if it says so, those
/// that its stages take?
template <typename ScheduleT>
LogicalResult checkSharedBytes(ScheduleT schedule, int64_t bytes,
                               std::string &why) {
  int64_t said = schedule.getSharedBytes();
  if (said && said != bytes)
    return notTaken(why, "its shared_bytes have to be " + Twine(bytes));
  return success();
}

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_SCHEDULESBYHAND_H
