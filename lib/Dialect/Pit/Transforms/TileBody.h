//===- TileBody.h - What is computed on a tile ------------------*- C++ -*-===//
//
// The op that computes a tile is mostly the linalg op itself, cloned onto
// static tiles. Before that it may have to change: reductions in narrow floats
// accumulate in f32, and factors that do not depend on the reduction move
// behind it. The changed ops are built once, on the op's own operands, as
// templates.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_TILEBODY_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_TILEBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::pit {

/// A template op and which inputs of the original op its inputs are.
struct TileTemplate {
  linalg::LinalgOp op;
  SmallVector<unsigned> inputs;
};

struct TileBody {
  /// Computed for each tile of the iteration space.
  TileTemplate inner;
  /// Applied to the inner sum: acc + factors * sum; its last input is the sum.
  /// Not there if no factor was hoisted.
  TileTemplate epilogue;
  /// Element types of the accumulators, one per result.
  SmallVector<Type> accumulators;
  /// To be erased when the tiles are built.
  SmallVector<Operation *> scaffolding;
};

/// Builds the templates before `op`. `isInner(d)` says whether the sum over dim
/// d is taken before a tile is written: factors that vary along none of these
/// dims are hoisted. `isOne(i)` says whether input i is 1 wherever it is read:
/// as a factor it is left out [F4].
TileBody buildTileBody(OpBuilder &builder, linalg::LinalgOp op,
                       function_ref<bool(unsigned)> isInner,
                       function_ref<bool(unsigned)> isOne);

/// Clones the ops of the body that `values` need.
void cloneSlice(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<Value> values,
                IRMapping &mapping);

/// Clones a template onto tiles. `starts` are the tile's first coordinates in
/// the iteration space, for `linalg.index`.
linalg::LinalgOp cloneOntoTile(OpBuilder &builder, linalg::LinalgOp op,
                               ValueRange inputs, ValueRange inits,
                               ArrayRef<Value> starts);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_TILEBODY_H
