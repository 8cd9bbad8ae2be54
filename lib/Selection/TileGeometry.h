//===- TileGeometry.h - Shapes of tiles and when an op tiles ----*- C++ -*-===//
//
// Shared by pit-plan and pit-tile: how large the part of an operand is that a
// tile of the iteration space touches, the type of the index that a rule calls
// for, and the conditions under which a rule can be carried out.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_TILEGEOMETRY_H
#define PIT_LIB_SELECTION_TILEGEOMETRY_H

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pit {

/// An affine expression `constant + sum(coefficient * dim)` with positive
/// coefficients: what tiles can be cut out by.
struct LinearExpr {
  int64_t constant = 0;
  SmallVector<std::pair<unsigned, int64_t>, 2> terms; ///< dim, coefficient

  /// Elements between the smallest and the largest value over a tile.
  int64_t extent(ArrayRef<int64_t> tile) const;
};

/// `expr` as such, if it is one.
std::optional<LinearExpr> matchLinear(AffineExpr expr);

/// Elements of the operand with `map` that a tile touches, at most 2^63 - 1.
/// The map's results are linear.
int64_t tileElements(AffineMap map, ArrayRef<int64_t> tile);

/// Iteration dims of an op: the order of its indexing maps' dims.
bool isReducedDim(linalg::LinalgOp op, unsigned dim);

/// The rule by which nothing is gathered: it gives a tile only.
RuleAttr getDenseRule(linalg::LinalgOp op, ArrayRef<int64_t> tile);

/// The iteration dim that `rule` gathers along. Nothing if it is dense, or if
/// the operand's map has no plain dim there.
std::optional<unsigned> getAxisDim(linalg::LinalgOp op, RuleAttr rule);

/// The micro-tile and step that a tile cuts out of the operand of `op` that
/// `map` indexes: 1 along `axis`, the image of the tile elsewhere, `*` for the
/// dimensions in `whole`.
FailureOr<SparsityIndexType> getIndexType(linalg::LinalgOp op, AffineMap map,
                                          int64_t axis, ArrayRef<int64_t> tile,
                                          ArrayRef<bool> whole);

/// Does dim d of the op number the groups of `index` while the outputs lack it?
/// Then several groups write the same outputs. `rule` has an operand and an
/// axis.
bool isConflicting(linalg::LinalgOp op, RuleAttr rule, SparsityIndexType index,
                   unsigned d);

/// Does any dim?
bool hasConflicts(linalg::LinalgOp op, RuleAttr rule, SparsityIndexType index);

/// Can groups that write the same outputs be kept apart as `rule` says?
Refused checkConflicts(linalg::LinalgOp op, RuleAttr rule,
                       SparsityIndexType index);

/// True if dim's extent is known and not larger than its tile, so that it takes
/// no loop.
bool isSingleTile(linalg::LinalgOp op, unsigned dim, int64_t tile);

/// Does the last tile along `dim` reach past its end, or, along the axis, the
/// last chunk of a group?
bool overhangs(linalg::LinalgOp op, RuleAttr rule, unsigned dim);

/// One pad per input such that nothing traps at the points beyond the ends of
/// the parallel dims, which are computed and dropped. Nothing if there is none.
std::optional<SmallVector<TypedAttr>>
findParallelPadding(linalg::LinalgOp op, RuleAttr rule, TypedAttr background);

/// Can `op` be tiled along all dims, gathering along none?
Refused checkDense(linalg::LinalgOp op, ArrayRef<int64_t> tile);

/// Can `op` be tiled by `rule` with an index of type `index`?
Refused checkTileable(linalg::LinalgOp op, RuleAttr rule,
                      SparsityIndexType index, TypedAttr background);

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_TILEGEOMETRY_H
