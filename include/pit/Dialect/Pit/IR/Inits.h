//===- Inits.h - What an op may write into ----------------------*- C++ -*-===//

#ifndef PIT_DIALECT_PIT_IR_INITS_H
#define PIT_DIALECT_PIT_IR_INITS_H

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::pit {

/// The operands that `op` may write into: inits of a loop, outs.
inline SmallVector<OpOperand *> getInits(Operation *op) {
  auto addresses = [](auto &&operands) {
    return llvm::map_to_vector(operands, [](OpOperand &o) { return &o; });
  };
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return addresses(loop.getInitsMutable());
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return addresses(dps.getDpsInitsMutable());
  return {};
}

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_IR_INITS_H
