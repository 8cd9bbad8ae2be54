//===- MainloopMatch.h - Contractions that mainloops can do -----*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_MAINLOOP_MAINLOOPMATCH_H
#define PIT_LIB_CODEGEN_MAINLOOP_MAINLOOPMATCH_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pit {

/// The contraction that a tile is computed from, with the loops around it.
struct Contraction {
  SWriteOp write;           ///< what writes the tile
  Value sum;                ///< what the outermost loop gives
  SmallVector<ForOp> loops; ///< from the outermost on; the last may have ids
  linalg::LinalgOp op;
  Value initial; ///< value of the sums
  SReadOp reads[2];
  SmallVector<int64_t> tile;   ///< extents of the op's iteration
  SmallVector<AffineMap> maps; ///< of the op
};

/// Why a tile is not computed by a mainloop.
struct MainloopRefusal {
  linalg::LinalgOp op; ///< the contraction, if there is one
  std::string why;
};

/// Finds the only contraction between SReads and the tile of `write`. Failure,
/// with the reason in `refusal`, if something else stands beside it, or a
/// mainloop has no such loops or maps: several loops and windows are for a CPU
/// only.
FailureOr<Contraction> findContraction(SWriteOp write, bool forCPU,
                                       MainloopRefusal &refusal);

/// What reads the elements of `op`'s operands for an element of its result:
/// from the result's dimensions to those of its iteration, where reductions of
/// a single step are at 0. Null if it reduces more, or computes no element of
/// the result once.
AffineMap getPointwiseMap(linalg::LinalgOp op);

/// Is it a scalar op, as may stand between the ops of tiles?
bool isScalar(Operation *op);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_MAINLOOP_MAINLOOPMATCH_H
