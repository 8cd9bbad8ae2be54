//===- SameIds.h - Do two indices list the same micro-tiles? ----*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_SAMEIDS_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_SAMEIDS_H

#include "pit/Dialect/Pit/IR/Pit.h"

namespace mlir::pit {

/// True if two indices list the same ids in the same groups. How long whole
/// dimensions are makes no difference.
bool listSameIds(IndexOp a, IndexOp b);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_SAMEIDS_H
