//===- Upstream.h - What MLIR's passes cannot take --------------*- C++ -*-===//
//
// MLIR's decompositions and tilings, and LLVM's code generators, expect more of
// an op than its verifier asks, and end the process, or compute zeros, where
// they do not find it. So does a verifier.
// docs/Legality.md lists the conditions under the numbers used here. Knows
// upstream dialects only.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ANALYSIS_UPSTREAM_H
#define PIT_ANALYSIS_UPSTREAM_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace mlir::pit {

/// Can MLIR verify `op` (U5)? If not, there is an error. `op` need not have
/// been verified.
LogicalResult checkVerifiable(Operation *op);

/// Can MLIR make structured ops of `op` (U1, U2)? If not, there is an error.
LogicalResult checkDecomposable(Operation *op);

/// Can MLIR tile `op` (U3)? If not, there is an error.
LogicalResult checkTilable(Operation *op);

/// Can LLVM select instructions for `op` (U4)? If not, there is an error.
LogicalResult checkSelectable(Operation *op);

} // namespace mlir::pit

#endif // PIT_ANALYSIS_UPSTREAM_H
