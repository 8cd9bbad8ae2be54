//===- TileVersions.h - Tiles by an extent that is not known ----*- C++ -*-===//
//
// How many rows a batch has is known when a program runs. A tile for thousands
// of rows is a poor one for a few of them: too few such tiles for the machine,
// whose blocks then share them and add up large sums, or rows that do not exist
// are multiplied. So a contraction may have several tiles, each for extents up
// to a limit.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_TILEVERSIONS_H
#define PIT_LIB_SELECTION_TILEVERSIONS_H

#include "TileChoice.h"

namespace mlir::pit {

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

#endif // PIT_LIB_SELECTION_TILEVERSIONS_H
