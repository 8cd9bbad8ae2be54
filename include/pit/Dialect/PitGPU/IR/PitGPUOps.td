//===- PitGPUOps.td - Operations of the pit_gpu dialect ----*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUOPS_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUOPS_TD

include "pit/Dialect/PitGPU/IR/PitGPUKernelOps.td"
include "pit/Dialect/PitGPU/IR/PitGPUOrderOps.td"
include "pit/Dialect/PitGPU/IR/PitGPUStageOps.td"
include "pit/Dialect/PitGPU/IR/PitGPUCopyOps.td"
include "pit/Dialect/PitGPU/IR/PitGPUProductOps.td"
include "pit/Dialect/PitGPU/IR/PitGPUFixupOps.td"

#endif // PIT_DIALECT_PITGPU_IR_PITGPUOPS_TD
