//===- VectorWiden.h - Sums of narrow floats in f32 -------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_VECTORWIDEN_H
#define PIT_LIB_CODEGEN_CPU_VECTORWIDEN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit::cpu {

/// Makes a reduction into f16 or bf16 compute in f32: what it reads is extended
/// first, and only what it writes is rounded. Returns the op that takes the
/// place of `op`, or `op` itself if it is none, or if its body is not
/// arithmetic that f32 does as well. The output before the reduction is read by
/// an extension, and what is yielded comes from a truncation; matchCombiner
/// knows this form.
linalg::LinalgOp widenReduction(RewriterBase &rewriter, linalg::LinalgOp op);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_VECTORWIDEN_H
