//===- TileExtents.h - What a tile reads of an operand ----------*- C++ -*-===//

#ifndef PIT_DIALECT_PIT_IR_TILEEXTENTS_H
#define PIT_DIALECT_PIT_IR_TILEEXTENTS_H

#include "mlir/IR/AffineMap.h"

#include <optional>

namespace mlir::pit {

/// How far an operand with this map is read by a tile of the iteration space:
/// of each of its dimensions the first elements, so many. Nothing if a
/// dimension is more than a sum of dims times numbers, and of numbers, none of
/// them negative.
std::optional<SmallVector<int64_t>> getTileExtents(AffineMap map,
                                                   ArrayRef<int64_t> tile);

/// True if `expr` does not fall when a dim rises, so that it is largest at the
/// last point of an iteration space.
bool isMonotone(AffineExpr expr);

/// Does `map` have no symbols, and give dims, each once at most, and zeros?
bool takesDimsOnce(AffineMap map);

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_IR_TILEEXTENTS_H
