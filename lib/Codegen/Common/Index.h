//===- Index.h - Indices and tiles in memory --------------------*- C++ -*-===//
//
// Every lowering of bufferized level 3 shares this: the place of an index in
// memory, the part of it that a chunk of ids is, the elements of a tensor that
// a tile stands for, and the bounds of a loop over tiles.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_COMMON_INDEX_H
#define PIT_LIB_CODEGEN_COMMON_INDEX_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

inline Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// A memref of identity layout over memory at `pointer`; `dynamic` are its
/// dynamic extents.
Value memrefAt(OpBuilder &builder, Location loc, Value pointer, MemRefType type,
               ValueRange dynamic);

/// Bytes of one element of a buffer.
int64_t elementBytes(Type element);

/// The address `byte` bytes after `pointer`.
Value addressAt(OpBuilder &builder, Location loc, Value pointer, int64_t byte);

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

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
  /// Live micro-tiles divided by all of them, f64.
  Value liveFraction(OpBuilder &builder, Location loc) const;
};

/// Indices by the SSA values of type !pit.index that stand for them.
using IndexMap = DenseMap<Value, IndexView>;

/// Reads the fields of the index at `pointer`. The arrays that they point to
/// lie in address space `space`.
IndexView readIndex(OpBuilder &builder, Location loc, SparsityIndexType type,
                    Value pointer, unsigned space = 0);

/// A chunk of ids or positions.
struct ChunkView {
  Value ids;   ///< memref<?xi32>; null for positions, which are consecutive
  Value start; ///< position of the chunk's first id
  Value live;  ///< how many ids are not absent; at least one in a loop's body
  Value first; ///< number of the chunk's first id in its group, if it is known
};

/// The chunk that a list in memory has.
ChunkView chunkOf(OpBuilder &builder, IdsOp op, Value list,
                  ValueRange subscripts);

/// Chunks by the SSA values of type !pit.ids that stand for them.
using ChunkMap = DenseMap<Value, ChunkView>;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// How one dimension of the tensor is run through by a tile.
struct TileDimension {
  int64_t extent; ///< of the tile
  Value limit;    ///< this many of its elements exist (index)
  Value start;    ///< coordinate or, with ids, position of the first one
  Value ids;      ///< memref<?xi32>, null if coordinates are consecutive
  Value size;     ///< of the tensor, with ids: they may lie beyond it

  /// Do all elements of the tile exist, as far as is known now?
  bool isFull() const;
};

/// The tile of this shape that begins at these subscripts of a memref.
struct TilePlace {
  Value memref;
  ValueRange subscripts; ///< of type index or !pit.ids
  ArrayRef<int64_t> shape;
};

/// Dimension d of a tile.
TileDimension tileDimension(OpBuilder &builder, Location loc,
                            const TilePlace &tile, unsigned d,
                            const ChunkMap &chunks);
/// All of them.
SmallVector<TileDimension> tileDimensions(OpBuilder &builder, Location loc,
                                          const TilePlace &tile,
                                          const ChunkMap &chunks);

/// The elements that pit.sread and pit.swrite move, in either direction.
struct TileMove {
  Value tensor, tile;    ///< memrefs
  ValueRange subscripts; ///< of the tensor, where the tile begins
};

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The bounds of a lowered loop: the dense ranges, then the group's ids.
struct LoopBounds {
  SmallVector<Value> lower, upper, steps;
  Value count, offset; ///< of the group, if there is an index
};

/// Adds those of a group's ids, in chunks.
void appendIds(OpBuilder &builder, Location loc, const IndexView &index,
               ValueRange group, int64_t chunk, LoopBounds &bounds);

/// `LoopTy` is ForallOp, ForOp or MainloopOp. If the steps of a mainloop name
/// groups, only the dense ranges are known before them.
template <typename LoopTy>
LoopBounds loopBounds(OpBuilder &builder, LoopTy loop, const IndexMap &indices);

/// The place of a loop's body.
struct NewBody {
  Block *block; ///< before its terminator, if it has one
  /// The new induction variables; with an index the last one is the number of
  /// the chunk's first id within the group.
  SmallVector<Value> ivs;
};

/// Moves a loop's body.
template <typename LoopTy>
void moveLoopBody(RewriterBase &rewriter, LoopTy loop, NewBody to,
                  const LoopBounds &bounds, const IndexMap &indices,
                  ChunkMap &chunks);

/// Turns a loop into nested scf.for, of which it returns the outermost.
template <typename LoopTy>
Operation *lowerToSequentialLoops(RewriterBase &rewriter, LoopTy loop,
                                  const IndexMap &indices, ChunkMap &chunks);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_COMMON_INDEX_H
