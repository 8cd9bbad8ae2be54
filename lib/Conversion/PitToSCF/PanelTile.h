//===- PanelTile.h - Tiles of tensors, element by element -------*- C++ -*-===//

#ifndef PIT_LIB_CONVERSION_PITTOSCF_PANELTILE_H
#define PIT_LIB_CONVERSION_PITTOSCF_PANELTILE_H

#include "../Common/Index.h"

namespace mlir::pit {

/// A tensor of which a tile is read or written.
struct TileAccess {
  Value memref;
  SmallVector<TileDimension> dims;
};

TileAccess accessTile(OpBuilder &b, Location loc, Value memref,
                      ValueRange subscripts, ArrayRef<int64_t> shape,
                      const ChunkMap &chunks);

/// Where element `at` of a tile's dimension lies in the tensor. An id may be of
/// an index of a larger tensor: it is taken for the last one, and `exists`, if
/// asked for and if there are ids, says whether it was not.
Value coordinateInTensor(OpBuilder &b, Location loc, const TileDimension &dim,
                         Value at, Value *exists = nullptr);

/// `for i = from to to step step`; the body once if that is known to be all.
SmallVector<Value>
emitFor(OpBuilder &b, Location loc, Value from, Value to, int64_t step,
        ValueRange carried,
        function_ref<SmallVector<Value>(Value, ValueRange)> body);

/// What `extension` makes of a value or, lane by lane, of a vector; the value
/// itself if there is none.
Value extend(OpBuilder &b, Operation *extension, Value value);

/// Copies the elements of a tile that exist to `packed`, a memref of the tile's
/// shape whose last dimension holds whole vectors of `lanes`; `extension`,
/// unless null, is applied to each. Absent ids read as 0.
void packTile(OpBuilder &b, Location loc, const TileAccess &tile,
              Operation *extension, int64_t lanes, Value packed);

} // namespace mlir::pit

#endif // PIT_LIB_CONVERSION_PITTOSCF_PANELTILE_H
