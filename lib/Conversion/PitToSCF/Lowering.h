//===- Lowering.h - State of the lowering to scf ----------------*- C++ -*-===//
//
// What the parts of convert-pit-to-scf know of each other: where an index lies
// in memory, and which part of it a chunk of ids is.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CONVERSION_PITTOSCF_LOWERING_H
#define PIT_LIB_CONVERSION_PITTOSCF_LOWERING_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::pit {

/// An index in memory: the fields of `pit_index` that a program reads.
struct IndexView {
  SparsityIndexType type;
  Value pointer;
  Value counts;                  ///< memref<?xi32>, by group
  Value offsets;                 ///< memref<?xi64>, by group
  Value ids;                     ///< memref<?xi32>
  Value groups, extent, total;   ///< index
  SmallVector<Value> groupShape; ///< index, for each group dimension
  Value axisExtent;              ///< index

  /// How many live ids the group of these subscripts has, and where they
  /// start. A group that does not exist is empty.
  std::pair<Value, Value> countAndOffset(OpBuilder &builder, Location loc,
                                         ValueRange group) const;
};

/// A chunk of ids or positions.
struct ChunkView {
  Value ids;   ///< memref<?xi32>; null for positions, which are consecutive
  Value start; ///< position of the chunk's first id
  Value live;  ///< how many ids are not absent
};

/// Chunks by the SSA values of type !pit.ids that stand for them.
using ChunkMap = DenseMap<Value, ChunkView>;

/// Reads the fields of the index at `pointer`.
IndexView readIndex(OpBuilder &builder, Location loc, SparsityIndexType type,
                    Value pointer);

/// Calls the runtime's builder.
Value buildIndex(OpBuilder &builder, IndexOp op, func::FuncOp function);

/// Lower one op at the builder's insertion point. `vectorBits` is the width of
/// a vector register.
void lowerSRead(OpBuilder &builder, SReadOp op, const ChunkMap &chunks,
                int64_t vectorBits);
void lowerSWrite(OpBuilder &builder, SWriteOp op, const ChunkMap &chunks,
                 int64_t vectorBits);
void lowerCoords(OpBuilder &builder, CoordsOp op, const ChunkMap &chunks);

inline Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

} // namespace mlir::pit

#endif // PIT_LIB_CONVERSION_PITTOSCF_LOWERING_H
