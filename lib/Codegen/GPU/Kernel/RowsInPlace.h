//===- RowsInPlace.h - Element-wise ops on listed rows ----------*- C++ -*-===//
//
// A loop over an index of one list that computes an element-wise op on the rows
// that have positions:
//
//   pit.forall at pos in index {
//     tiles = SRead [pos, 0]; element-wise linalg op; SWrite [pos, 0]
//   }
//
// Positions follow each other: so all rows together are one part of memory. No
// tile is made. All threads share this part, as they share an op on whole
// memrefs.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_KERNEL_ROWSINPLACE_H
#define PIT_LIB_CODEGEN_GPU_KERNEL_ROWSINPLACE_H

#include "Codegen/GPU/Common/Lowering.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pit::cuda {

/// One such loop. Its body has the op alone, on the memrefs that the tiles came
/// from and go to: `takeRowsInPlace` has taken the tiles away.
struct RowsInPlace {
  ForallOp loop;
  linalg::LinalgOp op;
};

/// Takes the tiles out of the loop of a kernel that is nothing but such a loop.
std::optional<RowsInPlace> takeRowsInPlace(RewriterBase &rewriter,
                                           func::FuncOp function);

/// Replaces the loop. Fails where the op has no lowering.
LogicalResult lowerRowsInPlace(RewriterBase &rewriter, const RowsInPlace &rows,
                               const Workers &workers, const IndexMap &indices,
                               Staging staging);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_KERNEL_ROWSINPLACE_H
