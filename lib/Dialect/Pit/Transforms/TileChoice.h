//===- TileChoice.h - Tile sizes by the roles of dims -----------*- C++ -*-===//
//
// How large a tile of an op is along each of its dims, if nobody has said so:
// the sizes of the tile table by what the dim is to the op.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_TILECHOICE_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_TILECHOICE_H

#include "TileTable.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::pit {

/// The element type whose entries of `table` an op takes; `marked` is that of
/// its marked operand, if it has one.
Type getTableElement(linalg::LinalgOp op, const TileTable &table, Type marked);

/// The sizes of all dims. `axis` is the dim that is gathered along, if there is
/// one, and `grouped` has the dims that number groups.
SmallVector<int64_t> chooseTileByRoles(linalg::LinalgOp op,
                                       const TileSizes &sizes,
                                       std::optional<unsigned> axis,
                                       const llvm::SmallBitVector &grouped);

/// Halves the extents that are not `given` until the tile of each operand has
/// at most `maxElements`: the axis first if it gives no reuse, then the
/// outermost dims.
void boundTile(linalg::LinalgOp op, SmallVectorImpl<int64_t> &tile,
               std::optional<unsigned> axis, llvm::SmallBitVector given,
               int64_t maxElements);

/// Tile sizes for a contraction that gathers nothing.
SmallVector<int64_t> chooseDenseTile(linalg::LinalgOp op,
                                     const TileTable &table);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_TILECHOICE_H
