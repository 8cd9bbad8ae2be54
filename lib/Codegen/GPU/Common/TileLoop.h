//===- TileLoop.h - The tiles of a kernel that a block has ------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_TILELOOP_H
#define PIT_LIB_CODEGEN_GPU_COMMON_TILELOOP_H

#include "KernelLowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::pit::cuda {

/// The tile loop of a kernel that does nothing else; null if there is none.
ForallOp matchOnlyLoop(func::FuncOp function);

/// Tiles along each dimension of a loop (index).
SmallVector<Value> tilesAlong(RewriterBase &rewriter, Location loc,
                              const LoopBounds &bounds);

/// The same where blocks take the next tile that none has. `begin` begins the
/// loop: it takes the number of tiles, leaves the rewriter in the loop, and
/// gives the number of a tile (index).
void loopOverTakenTiles(RewriterBase &rewriter, ForallOp loop,
                        function_ref<Value(Value total)> begin,
                        const IndexMap &indices, ChunkMap &chunks);

/// Makes a loop over the tiles that block `block` of `blocks` (index) has of
/// the outermost loop of a kernel: every `blocks`-th. It carries `carried`; if
/// that is something, its terminator is missing. The loop's body moves there,
/// and `loop` is empty then.
scf::ForOp loopOverTiles(RewriterBase &rewriter, ForallOp loop, Value block,
                         Value blocks, ValueRange carried,
                         const IndexMap &indices, ChunkMap &chunks);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_TILELOOP_H
