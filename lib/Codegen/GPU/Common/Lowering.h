//===- Lowering.h - State of the lowering to gpu ----------------*- C++ -*-===//
//
// The declarations that files of convert-pit-to-gpu share. A block of threads
// computes one iteration of the outermost pit.forall at a time: all of its
// threads run the scalar code, and share the elements of each op on tiles.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_LOWERING_H
#define PIT_LIB_CODEGEN_GPU_COMMON_LOWERING_H

#include "Codegen/Common/Atomics.h"
#include "Codegen/Common/Index.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::pit::cuda {

/// Threads of a warp.
inline constexpr int64_t kWarp = 32;

/// Can elements be moved as vectors? An i1 is a byte in memory.
bool hasVectors(Type element);

//===----------------------------------------------------------------------===//
// Sharing out work
//===----------------------------------------------------------------------===//

/// The threads that share an op's elements: those of a block, or of the grid.
struct Workers {
  Value thread;    ///< in the block
  int64_t threads; ///< of a block
  Value block;     ///< null if the block works alone
  Value blocks;

  bool isGrid() const { return static_cast<bool>(block); }
  /// Number of this thread, and how many there are.
  Value id(OpBuilder &builder, Location loc) const;
  Value count(OpBuilder &builder, Location loc) const;
  /// Runs `body(e)` for every e < total, each on one of the workers.
  void share(OpBuilder &builder, Location loc, Value total,
             function_ref<void(Value)> body) const;
};

/// The coordinates of element `number` of a row-major box.
SmallVector<Value> delinearize(OpBuilder &builder, Location loc, Value number,
                               ArrayRef<OpFoldResult> extents);

/// The product of extents.
OpFoldResult volume(OpBuilder &builder, Location loc,
                    ArrayRef<OpFoldResult> extents);

//===----------------------------------------------------------------------===//
// Buffers and barriers
//===----------------------------------------------------------------------===//

/// The place of a block's buffer: in shared memory, or in the block's part of
/// the scratch in global memory.
struct Placement {
  bool shared;
  int64_t offset, bytes;
};

/// Places for all buffers that a kernel allocates. Buffers that are never
/// alive together may share a place.
struct BufferPlan {
  llvm::MapVector<Operation *, Placement> places;
  int64_t sharedBytes = 0, scratchBytes = 0;

  /// Plans for `function`. If the buffers need more than `maxShared` bytes, the
  /// largest ones go to the scratch.
  LogicalResult plan(func::FuncOp function, int64_t maxShared);
};

/// The buffer or argument that a memref is a view of; null if unknown.
Value rootOf(Value memref);

/// The memrefs that `op` and the ops in it read and write. Fails if that is
/// unknown.
LogicalResult collectAccesses(Operation *op, SetVector<Value> &reads,
                              SetVector<Value> &writes);

/// Knows what the block's threads may have accessed since the last barrier, and
/// inserts one before an op that depends on it.
class Barriers {
public:
  void place(Value buffer, Placement placement) { places[buffer] = placement; }
  bool isLocal(Value memref) const;

  /// Before an op that accesses these memrefs.
  void access(OpBuilder &builder, Location loc, ArrayRef<Value> reads,
              ArrayRef<Value> writes);
  /// A barrier, unless nothing was accessed since the last one.
  void flush(OpBuilder &builder, Location loc);

  /// Accesses since the last barrier; to be kept over branches.
  struct Access {
    std::optional<Placement> place; ///< none: anywhere in global memory
    bool isWrite;
  };
  using State = SmallVector<Access>;
  State pending;

private:
  Access accessOf(Value memref, bool isWrite) const;
  DenseMap<Value, Placement> places;
};

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Gives a memref of this type in shared memory for the partial results that
/// the warps of a block have of one output (by number).
using Staging =
    function_ref<Value(OpBuilder &, Location, unsigned output, MemRefType)>;

void lowerSRead(OpBuilder &builder, SReadOp op, const ChunkMap &chunks,
                const Workers &workers);
void lowerSWrite(OpBuilder &builder, SWriteOp op, const ChunkMap &chunks,
                 const Workers &workers, bool atomic);
void lowerCoords(OpBuilder &builder, CoordsOp op, const ChunkMap &chunks,
                 const Workers &workers);
/// The tile of a scan (pit.scan, or a mainloop's bitmap), and the bitmap.
struct ScannedTile {
  Value source, bits;
  SmallVector<TileDimension> dims; ///< of the tile, or of a part of it
  TypedAttr background;
};
ScannedTile describeScan(OpBuilder &b, ScanOp scan, const ChunkMap &chunks);
ScannedTile describeScan(OpBuilder &b, MainloopOp mainloop,
                         const ChunkMap &chunks);
void lowerScan(OpBuilder &b, Location loc, const ScannedTile &scanned,
               const Workers &workers);
void lowerCopy(RewriterBase &builder, memref::CopyOp op,
               const Workers &workers);
/// `start`: what the only output of a reduction has before, if nothing has
/// stored it.
LogicalResult lowerLinalg(RewriterBase &builder, linalg::LinalgOp op,
                          const Workers &workers, Staging staging,
                          TypedAttr start = {});

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_LOWERING_H
