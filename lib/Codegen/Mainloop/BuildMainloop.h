//===- BuildMainloop.h - The mainloop of one tile ---------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_MAINLOOP_BUILDMAINLOOP_H
#define PIT_LIB_CODEGEN_MAINLOOP_BUILDMAINLOOP_H

#include "MainloopMatch.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::pit {

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
