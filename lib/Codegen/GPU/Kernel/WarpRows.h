//===- WarpRows.h - Rows in the registers of a warp -------------*- C++ -*-===//
//
// A loop whose tiles are rows of one length, or single elements, and which
// reduces rows:
//
//   pit.forall (n) {
//     row = SRead [n, 0]; linalg ops on rows and elements; loops over these
//     SWrite row [n, 0]
//   }
//
// A block is one warp. Each lane has a part of every row in registers, and all
// lanes have the single elements, so a reduction ends with shuffles: no tile is
// in shared memory, and there are no barriers.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_KERNEL_WARPROWS_H
#define PIT_LIB_CODEGEN_GPU_KERNEL_WARPROWS_H

#include "Codegen/GPU/Common/Lowering.h"

namespace mlir::pit::cuda {

/// One such loop.
struct WarpRows {
  ForallOp loop;
  int64_t length = 0; ///< of its rows
};

/// The loop of a kernel that is nothing but such a loop.
std::optional<WarpRows> matchWarpRows(func::FuncOp function);

/// Makes the tiles of such a loop the registers of a lane. A tile keeps its
/// type, but has the elements of the lane alone, from 0 on.
void placeInRegisters(RewriterBase &rewriter, const WarpRows &rows,
                      Block *entry);

/// Lowers an op on tiles of such a loop: SRead, SWrite, memref.copy, linalg.
/// `lane` is the number (index) of the thread.
void lowerWarpRow(RewriterBase &rewriter, Operation *op, const WarpRows &rows,
                  Value lane);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_KERNEL_WARPROWS_H
