//===- PortableLowering.h - A mainloop of all threads of a block *- C++ -*-===//
//
// Declarations that files of the expansion share. The portable schedule: all
// threads of the block copy tiles into a ring of stages in shared memory
// (cp.async) and multiply them from there, with tensor cores (ldmatrix,
// mma.sync) or without.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_PORTABLE_PORTABLELOWERING_H
#define PIT_LIB_CODEGEN_GPU_PORTABLE_PORTABLELOWERING_H

#include "Codegen/GPU/Common/Scales.h"
#include "PortableMainloop.h"

#include "Codegen/GPU/Common/Epilogue.h"

namespace mlir::pit::cuda {

/// The swizzle of row `row` (i32): xor with it gives the place of a chunk.
Value swizzleOf(Emitter &e, const SharedTile &tile, Value row);

/// The type of an operand's tiles.
Type tileType(const PortableOperand &operand);

/// Locates them if they are the same in all steps; empty if a thread has too
/// many. `row` is the dimension along rows.
LocatedRows locateRows(const PortableThread &self,
                       const PortableOperand &operand, const TileDim &row);

/// The part of an operand's tile that one stage takes: its depth elements from
/// `first` (i32) on along k.
TileAccess accessStage(const ProductThread &self,
                       const PortableOperand &operand, TileAccess access,
                       Value first);

/// Copies one stage's part of an operand to the shared memory at `to` (i32,
/// bytes). Asynchronous where the layout allows. `rows` may be empty.
void loadStage(const PortableThread &self, const PortableOperand &operand,
               const TileAccess &access, const LocatedRows &rows, Value to);

/// Multiplies one stage. `a` and `b` are the shared memory of the operands'
/// tiles (i32, bytes); gives the new accumulators.
SmallVector<Value> multiplyScalar(const ProductThread &self,
                                  MainloopOp mainloop, Value a, Value b,
                                  Scales &scales, ArrayRef<Value> accumulators);

/// Loads a warp's blocks of a tile of operand a or b, which lies at `from`
/// (i32, bytes), for one step of the tensor cores, number `k` in the stage.
SmallVector<Value> loadTensorCoreBlocks(const ProductThread &self, bool isB,
                                        Value from, int64_t k);
/// The place of an operand's blocks: its tile (i32, bytes), and the first
/// position along m or n, which is a sum of an i32 and a constant.
struct BlockPlace {
  Value from, outer;
  int64_t first = 0;
  bool isB = false; ///< are registers in the order that B has?
};
/// Loads the blocks of `count` positions along m or n.
SmallVector<Value> loadTensorCoreBlocks(const PortableThread &self,
                                        const PortableOperand &operand,
                                        const BlockPlace &place, int64_t count,
                                        int64_t k);
/// The operands of tensor cores, of the blocks of one operand as they were
/// loaded.
SmallVector<Value> formFragments(const PortableThread &self,
                                 const PortableOperand &operand,
                                 ArrayRef<Value> blocks, bool kFirst);
/// Makes fragments of the blocks of a and of b and multiplies these.
SmallVector<Value> multiplyTensorCores(const ProductThread &self,
                                       ArrayRef<Value> a, ArrayRef<Value> b,
                                       ArrayRef<Value> accumulators);

Fragment scalarFragment(const ProductThread &self);
Fragment tensorCoreFragment(const ProductThread &self);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PORTABLE_PORTABLELOWERING_H
