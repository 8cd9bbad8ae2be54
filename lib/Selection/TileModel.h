//===- TileModel.h - What an op takes in tiles ------------------*- C++ -*-===//
//
// The times of entries of a tile table that are timed: cycles of the machine,
// by the extents of an op and a tile.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_TILEMODEL_H
#define PIT_LIB_SELECTION_TILEMODEL_H

#include "TileTable.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

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

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_TILEMODEL_H
