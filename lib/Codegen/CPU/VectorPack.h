//===- VectorPack.h - Packs inputs of contractions --------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_VECTORPACK_H
#define PIT_LIB_CODEGEN_CPU_VECTORPACK_H

#include "VectorPlan.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::pit::cpu {

/// Whether an input of a contraction had better be copied: it is read many
/// times, each time across memory or to be extended. `lanes` is the loop along
/// the lanes, `bounds` are the most iterations of each loop.
bool isWorthPacking(linalg::LinalgOp op, OpOperand &input, unsigned lanes,
                    ArrayRef<int64_t> bounds);

/// Copies inputs of the contraction `op` to the stack, extended if `op` extends
/// them first, with lanes along the last dim. Returns the ops that take the
/// place of `op`, in order: the copies and a contraction.
SmallVector<linalg::LinalgOp> packInputs(RewriterBase &rewriter,
                                         linalg::LinalgOp op, unsigned lanes,
                                         ArrayRef<int64_t> bounds,
                                         ArrayRef<OpOperand *> inputs);

/// Packs the inputs that are worth it; returns `op` itself if none is.
SmallVector<linalg::LinalgOp> packInputs(RewriterBase &rewriter,
                                         linalg::LinalgOp op);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_VECTORPACK_H
