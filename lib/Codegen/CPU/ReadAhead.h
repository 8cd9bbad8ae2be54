//===- ReadAhead.h - The place of a loop's next tile ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_READAHEAD_H
#define PIT_LIB_CODEGEN_CPU_READAHEAD_H

#include "pit/Dialect/Pit/IR/Pit.h"

namespace mlir::pit::cpu {

/// The element that a tile of one element was read from.
struct ElementPlace {
  Value src;
  SmallVector<Value> subscripts;
  Region *region; ///< that the read stands in
};

/// Tiles of one element that were lowered, by their buffers: a table's entries
/// say where other tiles lie.
using ElementPlaces = DenseMap<Value, ElementPlace>;

/// The place where the loop around `read` finds its next tile, if that depends
/// on an entry of a table, which the hardware cannot foresee: a
/// coordinate for each dimension. In the last iteration that is the tile
/// itself. Empty otherwise. `places` is of what is read before.
SmallVector<Value> emitNextPlace(OpBuilder &b, SReadOp read,
                                 const ElementPlaces &places);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_READAHEAD_H
