//===- BuildMainloop.h - The mainloop of one tile ---------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_MAINLOOP_BUILDMAINLOOP_H
#define PIT_LIB_CODEGEN_MAINLOOP_BUILDMAINLOOP_H

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

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

/// The memory that the mainloop of a tile writes to.
struct MainloopOutput {
  Value dest;  ///< a tensor, or in a kernel of a GPU a memref
  bool atomic; ///< do groups add to it in any order?
  Value bits;  ///< null, or a memref for the bits of what differs from this:
  TypedAttr background = {};
  /// Further results, with the memrefs that they go to: of a tile body only.
  SmallVector<std::pair<SWriteOp, Value>, 0> also = {};
};

/// Makes the view of what an SRead reads, or the coordinates of ids that a
/// CoordsOp gives. Refuses if a view cannot say it. `onTensors`: views are of
/// tensors, as a CPU's mainloops have them.
OrRefusal<Value> createTileSource(OpBuilder &builder, Operation *read,
                                  bool onTensors, const IRMapping &mapping);

/// Clones a scalar op or a chunk of ids, or makes the number that
/// isNumberOfTile() finds.
Refused cloneScalar(OpBuilder &builder, Operation *op, bool onTensors,
                    IRMapping &mapping);

/// Builds the mainloop that computes `contractions` and writes their tile into
/// `output`; `mapping` has what stands for the values around it. Refuses,
/// with the half-made ops where `builder` is, if a mainloop cannot say what
/// stands around the contractions.
OrRefusal<MainloopOp> buildMainloop(OpBuilder &builder,
                                    Contractions contractions,
                                    const MainloopOutput &output,
                                    IRMapping &mapping);

/// Builds the mainloop, with a tile body, of the loop over steps that the tiles
/// of `write` and of further results are computed from; the rest is as above.
/// For kernels of GPUs.
OrRefusal<MainloopOp> buildTileBody(OpBuilder &builder, SWriteOp write,
                                    const MainloopOutput &output,
                                    IRMapping &mapping);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_MAINLOOP_BUILDMAINLOOP_H
