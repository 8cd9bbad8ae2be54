//===- MainloopMatch.h - Contractions that mainloops can do -----*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_MAINLOOP_MAINLOOPMATCH_H
#define PIT_LIB_CODEGEN_MAINLOOP_MAINLOOPMATCH_H

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pit {

/// One of the contractions that a tile is computed from.
struct Contraction {
  Value sum; ///< what the outermost loop gives
  linalg::LinalgOp op;
  Value initial; ///< value of the sums
  /// Numbers of the op's inputs: of those that it multiplies, and then of the
  /// scales.
  SmallVector<unsigned> inputs;
  SmallVector<SReadOp> reads; ///< of each of these
};

/// The sources of a tile: contractions that differ only in their operands, with
/// the loops around them.
struct Contractions {
  SWriteOp write; ///< what writes the tile
  SmallVector<Contraction> list;
  SmallVector<ForOp> loops;  ///< from the outermost on; the last may have ids
  SmallVector<int64_t> tile; ///< extents of the ops' iteration
  /// The maps of the factors, of the sums, and of the scales.
  SmallVector<AffineMap> maps;
};

/// Finds the contractions between SReads and the tile of `write`. Refuses if
/// something else stands beside them, or a mainloop has no such loops or maps:
/// several loops and windows are for a CPU only. `last` becomes the last
/// contraction that it looked at: a refusal is about that one.
OrRefusal<Contractions> findContractions(SWriteOp write, bool forCPU,
                                         linalg::LinalgOp &last);

/// The map by which the elements of `op`'s operands are read for an element of
/// its result: from the result's dimensions to those of its iteration, with
/// reductions of a single step at 0. Null if it reduces more, or computes no
/// element of the result once.
AffineMap getPointwiseMap(linalg::LinalgOp op);

/// Is it a scalar op, of no tile, as may stand between the ops of tiles?
bool isScalar(Operation *op);

/// Is it an element of an SRead's tile or of the coordinates of ids, at a
/// constant place? As a number that is where a step's tiles begin, it stands
/// beside the ops of tiles, too.
bool isNumberOfTile(Operation *op);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_MAINLOOP_MAINLOOPMATCH_H
