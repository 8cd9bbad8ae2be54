//===- Verify.h - Checks that several ops share -----------------*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PITGPU_IR_VERIFY_H
#define PIT_LIB_DIALECT_PITGPU_IR_VERIFY_H

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

namespace mlir::pit::pitgpu {

/// An error of a type's verifier. `constraint` is what stands in brackets
/// before the broken constraint in the description, such as "tile_type 3".
inline InFlightDiagnostic violates(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef constraint) {
  return emitError() << '[' << constraint << "] ";
}
/// The same of an op's.
inline InFlightDiagnostic violates(Operation *op, StringRef constraint) {
  return op->emitOpError() << '[' << constraint << "] ";
}

/// Is an op that has to know its role in one?
LogicalResult verifyInRole(Operation *op);

/// Do the roles use their stages as the protocol says?
LogicalResult verifyProtocol(RolesOp roles);

} // namespace mlir::pit::pitgpu

#endif // PIT_LIB_DIALECT_PITGPU_IR_VERIFY_H
