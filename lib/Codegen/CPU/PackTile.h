//===- PackTile.h - Tiles of tensors, element by element --------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_PACKTILE_H
#define PIT_LIB_CODEGEN_CPU_PACKTILE_H

#include "Codegen/Common/Index.h"
#include "Dialect/Pit/IR/Arithmetic.h"

#include "llvm/ADT/SmallBitVector.h"

namespace mlir::pit::cpu {

/// A tensor of which a tile is read or written.
struct TileAccess {
  Value memref;
  SmallVector<TileDimension> dims;
};

TileAccess accessTile(OpBuilder &b, Location loc, const TilePlace &tile,
                      const ChunkMap &chunks);

/// The place in the tensor of element `at` of a tile's dimension. An id may be
/// of an index of a larger tensor: it is taken for the last one, and `exists`,
/// if asked for and if there are ids, says whether it was not.
Value coordinateInTensor(OpBuilder &b, Location loc, const TileDimension &dim,
                         Value at, Value *exists = nullptr);

/// `for i = from to to step step`; the body once if that is known to be all.
SmallVector<Value>
emitFor(OpBuilder &b, Location loc, Value from, Value to, int64_t step,
        ValueRange carried,
        function_ref<SmallVector<Value>(Value, ValueRange)> body);

/// The result of `extension` for a value or, lane by lane, for a vector; the
/// value itself if there is none.
Value extend(OpBuilder &b, Operation *extension, Value value);

/// How a tile is packed.
struct TileForm {
  Operation *extension; ///< applied to each element, unless null
  int64_t lanes; ///< of the vectors that the last dimension is rounded to
  /// Dimensions that are read to the end of the tile, whether elements exist or
  /// not.
  llvm::SmallBitVector windows;
  TypedAttr pad; ///< what is read where none exists
  unsigned last; ///< the dimension that becomes the last one
};

/// Moves the entry of dimension `d` behind the others.
template <typename T> void moveLast(SmallVectorImpl<T> &of, unsigned d) {
  std::rotate(of.begin() + d, of.begin() + d + 1, of.end());
}

/// Copies the elements of a tile that exist, and others that are read, to
/// `packed`, a memref of the tile's shape with `form.last` last.
void packTile(OpBuilder &b, Location loc, const TileAccess &tile,
              const TileForm &form, Value packed);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_PACKTILE_H
