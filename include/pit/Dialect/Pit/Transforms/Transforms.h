//===- Transforms.h - The steps from marks to tiles -------------*- C++ -*-===//
//
// The steps of the passes of levels 1 to 3 for one op or function, so that
// other passes and transform scripts can take them. Rules.h plans and tiles.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_TRANSFORMS_H
#define PIT_DIALECT_PIT_TRANSFORMS_TRANSFORMS_H

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

#include <string>

namespace mlir::pit {

/// The dims of operand number `operand` (an input, or an init for a result) of
/// `op` along which it may be packed, if it is background where its mark does
/// not select; of an operand without a mark, if it is 0.
OrRefusal<SmallVector<int64_t>> inferPackedDims(linalg::LinalgOp op,
                                                unsigned operand);

/// Keeps values packed between the planned ops of `function` (pit-fold).
void foldPacked(RewriterBase &rewriter, func::FuncOp function);

/// Makes loops of the whole-tensor pit.sread and pit.swrite in `function`.
/// Unused ones are erased.
void expandWholeTensorOps(RewriterBase &rewriter, func::FuncOp function);

/// Computes the element-wise ops that follow `loop` on its tiles
/// (pit-fuse-epilogues); returns how many. With `separateFunctions` those that
/// compute functions of other operands stay as they are.
unsigned fuseEpilogues(RewriterBase &rewriter, ForallOp loop,
                       bool separateFunctions = false);

/// Computes contractions whose tiles meet in one loop over steps
/// (pit-fuse-siblings); returns how many loops went into others.
unsigned fuseSiblings(RewriterBase &rewriter, func::FuncOp function);

/// Makes dense ops of the marks in `scope` (pit-lower-marks).
void lowerMarks(RewriterBase &rewriter, Operation *scope);

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_TRANSFORMS_TRANSFORMS_H
