//===- TileAccess.h - Tiles of tensors in global memory ---------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_TILEACCESS_H
#define PIT_LIB_CODEGEN_GPU_COMMON_TILEACCESS_H

#include "Codegen/Common/Index.h"
#include "Emitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::pit::cuda {

/// Bytes that move at once: of cp.async, ldmatrix and vector loads.
constexpr int64_t kChunkBytes = 16;

/// Is a number 0, and no -0?
bool isZero(TypedAttr number);

/// How one dimension of a tensor is run through by a tile.
struct TileDim {
  Value start;  ///< coordinate, or with ids the position, of the first element
  Value limit;  ///< so many elements exist, of the tile's extent
  Value ids;    ///< memref<?xi32>, null if coordinates are consecutive
  Value size;   ///< of the tensor, with ids: they may lie beyond it
  Value stride; ///< in elements
};

/// A tile of a memref, in terms of addresses.
struct TileAccess {
  Value base;  ///< !llvm.ptr<1> of the memref's first element
  Value start; ///< i64 byte address of it
  Type element;
  TypedAttr pad; ///< never null
  SmallVector<TileDim> dims;
};

/// Describes dimension d of a tile.
TileDim tileDim(Emitter &e, const TilePlace &tile, unsigned d,
                const ChunkMap &chunks);

/// Describes a tile; without a pad it is padded with 0.
TileAccess accessTile(Emitter &e, const TilePlace &tile, TypedAttr pad,
                      const ChunkMap &chunks);

/// Describes the tile of a view that stands before a mainloop's steps.
TileAccess accessView(Emitter &e, ViewOp view, const ChunkMap &chunks);

/// The address of the element `offset` (index) elements after the first one of
/// the tile's memref.
Value elementAddress(Emitter &e, const TileAccess &tile, Value offset);

/// The coordinate of the tile's element i along `dim`, and whether it exists.
std::pair<Value, Value> locate(Emitter &e, const TileDim &dim, Value i);

/// The places of the rows that a thread copies chunks of, and whether they
/// exist.
using LocatedRows = SmallVector<std::pair<Value, Value>>;

/// The element at such places of a tile, its pad where it does not exist, as
/// all threads need it.
Value readNumber(Emitter &e, const TileAccess &tile, ArrayRef<int64_t> places);

/// Coordinate `number` of the ids of a step, -1 if it is absent.
Value readCoordinate(Emitter &e, const ChunkView &chunk, int64_t number);

/// Is it a number that loads of a mainloop, or what stands around it, take from
/// a view or from ids?
bool isNumberOfTile(Operation *op);

/// Makes a number of a view or of ids one that is read; of what stands around a
/// mainloop.
void lowerNumber(RewriterBase &rewriter, vector::ExtractOp extract,
                 const ChunkMap &chunks);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_TILEACCESS_H
