//===- TileTable.h - Tile sizes by element type -----------------*- C++ -*-===//
//
// The table that pit-plan chooses tiles from: a JSON file
//
//   {"target": "cpu", "density": 0.1,
//    "entries": [{"element": "f32", "vector": 128, "rows": 32, "chunk": 64,
//                 "reduced": 64, "window": 8}, ...]}
//
// `element` is the element type of the marked operand, or `any`; the first
// entry that fits counts. The numbers are extents of a tile along a dim by its
// role. `density` is the fraction of live elements that plans are made for.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_TILETABLE_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_TILETABLE_H

#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir::pit {

/// Extents of a tile by the role of a dim.
struct TileSizes {
  std::string element;
  int64_t vector = 0;  ///< the innermost dim of the result
  int64_t rows = 0;    ///< other dims of the result that an input lacks
  int64_t chunk = 0;   ///< the axis: micro-tiles computed at once
  int64_t reduced = 0; ///< other reduced dims
  int64_t window = 0;  ///< dims along which windows move
};

struct TileTable {
  double density = 0;
  SmallVector<TileSizes> entries;

  /// The entry for a marked operand with these elements; there is one.
  const TileSizes &lookup(Type element) const;
};

/// The table built into the compiler.
StringRef getCpuTileTable();

/// Parses a table. On failure `error` says what is wrong with it.
FailureOr<TileTable> parseTileTable(StringRef json, std::string &error);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_TILETABLE_H
