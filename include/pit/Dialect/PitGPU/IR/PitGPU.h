//===- PitGPU.h - The pit_gpu dialect ---------------------------*- C++ -*-===//
//
// Types and operations of the pit_gpu dialect. See PitGPUDialect.td for what
// the dialect is for and the ops' descriptions for their meaning.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPU_H
#define PIT_DIALECT_PITGPU_IR_PITGPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "pit/Dialect/PitGPU/IR/PitGPUDialect.h.inc"
#include "pit/Dialect/PitGPU/IR/PitGPUEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "pit/Dialect/PitGPU/IR/PitGPUTypes.h.inc"

namespace mlir::pit::pitgpu {
/// Bytes after which the pattern of a swizzle repeats; tiles start at these.
constexpr int64_t kSwizzleRepeat = 1024;
/// Tensor memory of a block of sm_100a: words of 32 bits.
constexpr int64_t kTensorLanes = 128, kTensorColumns = 512;

/// The numbers that a thread has of sums of these types, numbers or fragments:
/// their type, and how many.
Type elementOfSums(Type type);
int64_t countSums(TypeRange types);
} // namespace mlir::pit::pitgpu

#define GET_OP_CLASSES
#include "pit/Dialect/PitGPU/IR/PitGPUOps.h.inc"

#endif // PIT_DIALECT_PITGPU_IR_PITGPU_H
