//===- RowSums.h - Sums over the rows of a matrix ---------------*- C++ -*-===//
//
// A tile of columns whose rows are added up (or combined otherwise: the largest
// of each column) by one loop, over all rows or over those that an index lists:
//
//   pit.forall (n) {
//     acc = ...
//     pit.for (rows) { tile = SRead; linalg op reduces the rows of tile to acc
//     } what comes after: element-wise ops, an SWrite
//   }
//
// No tile is made. Neighbouring threads read neighbouring columns, 16 bytes at
// once, and each warp takes rows of its own, several at a time. Sums stay in
// registers. Blocks share the rows of a tile in splits: each writes its sums,
// and the one that comes last combines them in the order of the splits, so that
// the bits are the same every time, and does what comes after.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_KERNEL_ROWSUMS_H
#define PIT_LIB_CODEGEN_GPU_KERNEL_ROWSUMS_H

#include "Codegen/GPU/Common/Lowering.h"

#include "pit/Analysis/Combiner.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::pit::cuda {

/// One such loop.
struct RowSums {
  ForallOp tiles;
  ForOp rows;
  SReadOp read;
  linalg::LinalgOp sum;
  int64_t columns = 0; ///< of the tile
  unsigned rowDim = 0; ///< of what is read
};

/// The loop of a kernel that is nothing but sums of rows, for blocks of so many
/// threads.
std::optional<RowSums> matchRowSums(func::FuncOp function, int64_t threads);

/// Decides in how many splits at most blocks share the rows of a tile; 1, if
/// they share none.
int64_t chooseSplitsOfRows(const RowSums &sums);

/// The values that a block has for such a loop.
struct RowSumsBlock {
  Value thread; ///< in the block (index)
  int64_t threads;
  Staging staging;
  Value partials, counters; ///< addresses (i64); null if no tile is shared
  Value word;               ///< where staging starts in shared memory (i32)
};

/// The loop of a kernel, and its sums.
struct RowSumsLoop {
  ForOp rows;
  ViewOp view; ///< what is read
  unsigned rowDim;
  int64_t columns;
  Operation *combiner;
  TypedAttr identity;
};

/// Lowers the loop of a kernel.
class RowSumsLowering : RowSumsLoop {
public:
  /// Takes what the loop computes out of its body, which has no tile any more,
  /// and puts what comes after the loop in a branch.
  RowSumsLowering(RewriterBase &rewriter, const RowSums &sums);

  ForOp getLoop() { return rows; }
  /// Bytes of the sums of one part.
  int64_t partialBytes() const;
  /// Replaces the loop.
  void lower(RewriterBase &rewriter, const RowSumsBlock &block,
             const IndexMap &indices);
  Value getSource() { return view.getSrc(); }
  Value getAccumulator() { return sums.getSrc(); }

private:
  scf::IfOp rest;
  ViewOp sums; ///< where the sums go
  Region body; ///< of the op that reduces
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_KERNEL_ROWSUMS_H
