//===- PitGPUDialect.cpp - Registration of the pit_gpu dialect ------------===//

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

using namespace mlir;
using namespace mlir::pit::pitgpu;

#include "pit/Dialect/PitGPU/IR/PitGPUDialect.cpp.inc"
#include "pit/Dialect/PitGPU/IR/PitGPUEnums.cpp.inc"

void PitGPUDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pit/Dialect/PitGPU/IR/PitGPUOps.cpp.inc"
      >();
}
