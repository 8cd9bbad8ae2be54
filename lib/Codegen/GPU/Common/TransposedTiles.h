//===- TransposedTiles.h - Tiles that are copied transposed -----*- C++ -*-===//
//
// A tile that is read, transposed and written, and nothing else:
//
//   SRead -> a; linalg.transpose a -> b; SWrite b
//
// where b may have its last dimension in the order of fragments
// (TileExtents.h), needs no b. Threads read 16 bytes of a row at once, all of
// their reads before the first store, and write 16 bytes of a transposed row.
// In between the tile lies in shared memory with the pieces of 16 bytes of its
// rows permuted, so that neither rows nor columns meet in one bank.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_TRANSPOSEDTILES_H
#define PIT_LIB_CODEGEN_GPU_COMMON_TRANSPOSEDTILES_H

#include "Lowering.h"

namespace mlir::pit::cuda {

/// The tiles of a kernel that are copied like that.
class TransposedTiles {
public:
  /// Finds them. The transposing op goes: each write has the buffer of the
  /// read.
  void take(RewriterBase &rewriter, func::FuncOp function);

  /// Lowers a read or a write of one, by the threads of a block. False: it is
  /// of none.
  bool lower(OpBuilder &builder, Operation *op, const ChunkMap &chunks,
             const Workers &block) const;

private:
  struct Exchange {
    unsigned dim;     ///< that changes places with the last one
    bool inFragments; ///< has it the order of fragments then?
  };
  static std::optional<Exchange> findExchange(linalg::LinalgOp op);

  llvm::SmallDenseMap<Operation *, Exchange> moves; ///< of reads and writes
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_TRANSPOSEDTILES_H
