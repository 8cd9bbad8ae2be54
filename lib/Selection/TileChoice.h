//===- TileChoice.h - Tile sizes by the roles of dims -----------*- C++ -*-===//
//
// How large a tile of an op is along each of its dims, if nobody has said so:
// the sizes of the tile table by what the dim is to the op.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_TILECHOICE_H
#define PIT_LIB_SELECTION_TILECHOICE_H

#include "TileTable.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::pit {

/// The cycles that an op of such extents takes in tiles of an entry; nothing if
/// that cannot be told.
using TileModel = llvm::function_ref<std::optional<double>(
    linalg::LinalgOp op, ArrayRef<int64_t> extents, ArrayRef<int64_t> tile,
    const TileSizes &sizes, const TileTable &table)>;

/// Whole tiles, one after another on each processor. Points that an index skips
/// are counted like the rest. Nothing if an extent is not known.
std::optional<double> modelCycles(linalg::LinalgOp op,
                                  ArrayRef<int64_t> extents,
                                  ArrayRef<int64_t> tile,
                                  const TileSizes &sizes,
                                  const TileTable &table);

/// For a GPU whose blocks may share the tiles of the last wave along the
/// reduced dims, as those of wgmma do: also what is read of memory, and the
/// sums that are shared. All extents are known.
std::optional<double> modelSharedCycles(linalg::LinalgOp op,
                                        ArrayRef<int64_t> extents,
                                        ArrayRef<int64_t> tile,
                                        const TileSizes &sizes,
                                        const TileTable &table);

/// The element type whose entries of `table` an op takes; `marked` is that of
/// its marked operand, if it has one.
Type getTableElement(linalg::LinalgOp op, const TileTable &table, Type marked);

/// The roles of dims that an op is tiled by.
struct TileRoles {
  TileForm form = TileForm::Dense;
  std::optional<unsigned> axis; ///< the dim that is gathered along, if any
  llvm::SmallBitVector grouped; ///< the dims that number groups
  llvm::SmallBitVector points;  ///< the dims that are taken one by one
  /// A dim, and the extent that it is taken to have though it is not known.
  std::optional<std::pair<unsigned, int64_t>> assumed;
};

/// A tile, and what an op is expected to take with it.
struct ModelledTile {
  SmallVector<int64_t> tile;
  std::optional<double> cycles; ///< if all that it takes to tell is known
};

/// The first one of one or more tiles.
struct TileChoice {
  SmallVector<ModelledTile> tiles;

  ArrayRef<int64_t> getTile() const { return tiles.front().tile; }

  /// Says on `op` what was chosen, if there was a choice.
  void explain(linalg::LinalgOp op) const;
};

/// The tile of the table's best entry, or of the first one if that cannot be
/// told. `adjust` makes of the tile of an entry the one that it would be used
/// with, and returns whether it is still that of a timed entry.
TileChoice chooseTile(
    linalg::LinalgOp op, const TileTable &table, Type element,
    const TileRoles &roles,
    llvm::function_ref<bool(SmallVectorImpl<int64_t> &, int64_t maxElements)>
        adjust,
    TileModel model = modelCycles);

/// Halves the extents that are not `given` until the tile of each operand has
/// at most `maxElements`: the axis first if it gives no reuse, then the
/// outermost dims.
void boundTile(linalg::LinalgOp op, SmallVectorImpl<int64_t> &tile,
               std::optional<unsigned> axis, llvm::SmallBitVector given,
               int64_t maxElements);

/// Tile sizes for a contraction that gathers nothing, of which a dim may be
/// taken to have an extent (TileRoles::assumed). Without `model` the time is
/// that of modelCycles, unless on a GPU a larger tile, which blocks share,
/// takes 9 % less by modelSharedCycles.
TileChoice chooseDenseTile(
    linalg::LinalgOp op, const TileTable &table,
    std::optional<std::pair<unsigned, int64_t>> assumed = std::nullopt,
    TileModel model = nullptr);

/// A tile of an op for extents of up to `most` along one of its dims.
struct TileVersion {
  std::optional<int64_t> most; ///< none: all extents that are left
  SmallVector<int64_t> tile;
};

struct TileVersions {
  unsigned dim;                      ///< of the op's loops
  SmallVector<TileVersion> versions; ///< by `most`; at least two of them
};

/// The versions of a contraction that gathers nothing, on a GPU. Nothing if one
/// tile is good for all extents, or if not just one of them is unknown.
///
/// With timed entries a version has to save 9 % of the modelled time somewhere.
/// Without them there is one for up to 16 rows, which are a tile of tensor
/// cores, where the table has tiles of more.
std::optional<TileVersions> findTileVersions(linalg::LinalgOp op,
                                             const TileTable &table);

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_TILECHOICE_H
