//===- Packing.h - Linalg ops on packed tensors -----------------*- C++ -*-===//
//
// An op whose iterations along the dims that an index packs are independent can
// run on packed operands: the dims become one, and iterations that the index
// does not list are not run.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_PACKING_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_PACKING_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// How a tensor is packed: by which index, and which of its dimensions are the
/// index's groups and axis, in the index's order.
struct Packing {
  Value index;
  SmallVector<int64_t> dims;

  bool operator==(const Packing &other) const {
    return index == other.index && dims == other.dims;
  }
  bool operator!=(const Packing &other) const { return !(*this == other); }
  SparsityIndexType getType() const {
    return cast<SparsityIndexType>(index.getType());
  }
};

/// The packing of a whole-tensor SRead or SWrite; nothing for other ops.
std::optional<Packing> getPacking(Operation *op);

/// The packing in terms of an operand's own dimensions, given which iteration
/// dims are packed. Nothing if the operand has none of them, failure if it has
/// some, or any other than by itself.
FailureOr<std::optional<Packing>>
getOperandPacking(AffineMap map, ArrayRef<unsigned> loops, Value index);

/// The iteration dims that `packing`, of an operand with this map, packs.
/// Fails if one of its dimensions is not indexed by one dim alone.
FailureOr<SmallVector<unsigned>> getPackedLoops(AffineMap map,
                                                const Packing &packing);

/// Can `op` run on operands packed along `loops`?
bool isPackable(linalg::LinalgOp op, ArrayRef<unsigned> loops, Value index);

/// `op` on packed operands. `operands` are all of its operands, those that have
/// the packed dims packed.
linalg::LinalgOp createPacked(RewriterBase &rewriter, linalg::LinalgOp op,
                              ArrayRef<unsigned> loops, Value index,
                              ArrayRef<Value> operands);

/// The type of `type` packed: one leading dimension, and those that are kept.
RankedTensorType getPackedType(RankedTensorType type, const Packing &packing);

/// A tensor of the same shape that is computed earlier: what `tensor` was
/// written into, or marks. Asking it for its extents keeps nothing alive.
Value getShapeSource(Value tensor);

/// An empty tensor like `tensor`.
Value createEmptyLike(OpBuilder &builder, Location loc, Value tensor);

/// An empty tensor of the size of `tensor` packed.
Value createPackedEmpty(OpBuilder &builder, Location loc, Value tensor,
                        const Packing &packing);

/// A whole-tensor SRead of `tensor`.
Value createPack(OpBuilder &builder, Location loc, Value tensor,
                 const Packing &packing);

/// A whole-tensor SWrite of `packed` into `dest`.
Value createUnpack(OpBuilder &builder, Location loc, Value packed, Value dest,
                   const Packing &packing);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_PACKING_H
