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

/// Can a cluster have so many blocks?
bool isCluster(int64_t blocks);

/// Are elements of a row neighbours?
bool hasUnitRows(MemRefType type);

/// The tile of a stage that has the number; null, and an error, if there is
/// none.
Type tileOf(Operation *op, StringRef constraint, StageType stage,
            int64_t number);

/// Is no op of the dialect in the region of `op`? Elements are computed by one
/// thread each, without a role.
LogicalResult verifyElementwise(Operation *op, StringRef constraint);

/// Does the region of an op take these, and give one value of `type`?
bool hasSignature(Region &region, ArrayRef<Type> arguments, Type type);

/// Do all lanes of a role's warps come to the op?
LogicalResult verifyInWarps(Operation *op, StringRef constraint);

/// Do the roles use their stages as the protocol says?
LogicalResult verifyProtocol(RolesOp roles);
/// Does the block use those of a ring of its own so?
LogicalResult verifyProtocol(BlockRingOp ring);
/// Are uses of a block's ring committed, awaited and released in turn?
LogicalResult verifyOrder(BlockRingOp ring);

/// A stage, and what it becomes where loops and branches carry it on.
void collectStages(Value stage, llvm::SetVector<Value> &stages);

/// Says where what an error is about stands.
LogicalResult note(InFlightDiagnostic error, Location loc, StringRef what);

} // namespace mlir::pit::pitgpu

#endif // PIT_LIB_DIALECT_PITGPU_IR_VERIFY_H
