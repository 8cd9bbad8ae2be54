//===- TileInput.h - What code generators take ------------------*- C++ -*-===//
//
// The conditions on a function at level 3 or 4 of the generators of code for a
// CPU and for a GPU, checked before they change anything.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_COMMON_TILEINPUT_H
#define PIT_LIB_CODEGEN_COMMON_TILEINPUT_H

#include "Index.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit {

/// The differences between the generators.
struct InputRules {
  /// Groups of one loop may run at the same time and add to the same outputs.
  bool hasAtomics;
  /// Says how a generator keeps groups apart, for errors.
  StringLiteral takes;
};

/// Reports the first op of a function that no code is made of: everything has
/// to be bufferized and tiled, marks have to be lowered, only ops of pit may
/// use an index, ids or a bitmap, and groups have to be kept apart as the rules
/// say.
LogicalResult checkTileInput(func::FuncOp function, const InputRules &rules);

/// May groups that run at the same time add to the elements that `write`
/// writes?
bool isAtomic(SWriteOp write);

/// The value of an op that asks about an index (pit.count, pit.extent,
/// pit.live_fraction), at the builder's place; null for other ops.
Value readFromIndex(OpBuilder &builder, Operation *op, const IndexMap &indices);

/// `value`, a number or a vector of them, with elements of type `to`: the
/// nearest float, or the same integer as far as there is room. An i1 is 0 or 1.
Value convertElements(OpBuilder &builder, Location loc, Value value, Type to);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_COMMON_TILEINPUT_H
