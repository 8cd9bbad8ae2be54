//===- Pit.h - The pit dialect ----------------------------------*- C++ -*-===//
//
// Types, attributes and operations of the pit dialect. See PitDialect.td for
// what the dialect is for and the ops' descriptions for their meaning.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PIT_IR_PIT_H
#define PIT_DIALECT_PIT_IR_PIT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"

#include "pit/Dialect/Pit/IR/PitDialect.h.inc"
#include "pit/Dialect/Pit/IR/PitEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "pit/Dialect/Pit/IR/PitAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "pit/Dialect/Pit/IR/PitTypes.h.inc"

namespace mlir::pit {
class YieldOp;

/// Rows of bits (pit.scan) take whole words of so many.
constexpr int64_t kWordBits = 64;

/// Bytes of the bits of a row of so many elements.
inline int64_t getBitsBytes(int64_t elements) {
  return (elements + kWordBits - 1) / kWordBits * (kWordBits / 8);
}
} // namespace mlir::pit

#define GET_OP_CLASSES
#include "pit/Dialect/Pit/IR/PitOps.h.inc"

#endif // PIT_DIALECT_PIT_IR_PIT_H
