//===- VectorSplit.h - Cuts large ops into tiles ----------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_VECTORSPLIT_H
#define PIT_LIB_CODEGEN_CPU_VECTORSPLIT_H

#include "VectorPlan.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::pit::cpu {

/// Cuts an op that is large, or that may be at run time, into tiles: for the
/// caches if it is a contraction, and for threads if `parallel` and it is not
/// in a parallel loop already. Returns the ops that take its place, on tiles
/// or, for small sizes at run time, on the whole; `op` itself if nothing is
/// cut.
SmallVector<linalg::LinalgOp> splitLargeOp(RewriterBase &rewriter,
                                           linalg::LinalgOp op,
                                           const CpuTarget &target,
                                           bool parallel);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_VECTORSPLIT_H
