//===- TileExtents.h - What a tile reads of an operand ----------*- C++ -*-===//

#ifndef PIT_DIALECT_PIT_IR_TILEEXTENTS_H
#define PIT_DIALECT_PIT_IR_TILEEXTENTS_H

#include "mlir/IR/AffineMap.h"

#include <optional>

namespace mlir::pit {

/// Places of 16 neighbours in the order of tensor cores' fragments: 0 1 8 9 2 3
/// 10 11 4 5 12 13 6 7 14 15. Sums of a product, of which a thread has pairs of
/// neighbours, become a factor of 8 bits in this order, of which it has fours.
/// Gives where a place comes in it, and which place comes there.
AffineExpr toFragmentOrder(AffineExpr place);
AffineExpr fromFragmentOrder(AffineExpr place);
constexpr int64_t kFragmentOrder = 16;
/// The dim whose place in that order an expression is.
std::optional<unsigned> matchFragmentOrder(AffineExpr expr);

/// How far an operand with this map is read by a tile of the iteration space:
/// of each of its dimensions the first elements, so many. Nothing if a
/// dimension is more than a sum of dims times numbers, and of numbers, none of
/// them negative, or a dim in fragments' order.
std::optional<SmallVector<int64_t>> getTileExtents(AffineMap map,
                                                   ArrayRef<int64_t> tile);

/// True if `expr` does not fall when a dim rises, so that it is largest at the
/// last point of an iteration space.
bool isMonotone(AffineExpr expr);

/// Does `map` have no symbols, and give dims, each once at most, and zeros?
bool takesDimsOnce(AffineMap map);

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_IR_TILEEXTENTS_H
