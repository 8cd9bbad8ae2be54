//===- PitGPUOpBase.td - What ops of pit_gpu have in common *- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUOPBASE_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUOPBASE_TD

include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pit/Dialect/PitGPU/IR/PitGPUTypes.td"

class PitGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<PitGPU_Dialect, mnemonic, traits>;

#endif // PIT_DIALECT_PITGPU_IR_PITGPUOPBASE_TD
