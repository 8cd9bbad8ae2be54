//===- AmpereLowering.h - A mainloop of all threads of a block --*- C++ -*-===//
//
// What the parts of the expansion share. The portable schedule: all threads of
// the block copy tiles into a ring of stages in shared memory (cp.async) and
// multiply them from there, with tensor cores (ldmatrix, mma.sync) or without.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_AMPERE_AMPERELOWERING_H
#define PIT_LIB_CODEGEN_GPU_AMPERE_AMPERELOWERING_H

#include "AmperePlan.h"

#include "Codegen/GPU/Common/Epilogue.h"
#include "Codegen/GPU/Common/MainloopSteps.h"

namespace mlir::pit::cuda {

/// What chunks of row `row` (i32) change places by: xor with their number.
Value swizzleOf(Emitter &e, const SharedTile &tile, Value row);

/// Locates them if they are the same in all steps; empty if a thread has too
/// many. `row` is the dimension along rows.
LocatedRows locateRows(Emitter &e, const AmperePlan &plan,
                       const AmpereOperand &operand, const TileDim &row,
                       Value thread);

/// Copies one stage's part of an operand: its depth elements from `first` (i32)
/// on along k, to the shared memory at `to` (i32, bytes). Asynchronous where
/// the layout allows. `rows` may be empty.
void loadStage(Emitter &e, const AmperePlan &plan, const AmpereOperand &operand,
               TileAccess access, const LocatedRows &rows, Value first,
               Value to, Value thread);

/// Multiplies one stage. `a` and `b` are the shared memory of the operands'
/// tiles (i32, bytes); gives the new accumulators.
SmallVector<Value> multiplyScalar(Emitter &e, MainloopOp mainloop,
                                  const AmperePlan &plan, Value a, Value b,
                                  Value thread, ArrayRef<Value> accumulators);

/// Loads a warp's blocks of both operands, for one step of the tensor cores,
/// number `k` in the stage.
SmallVector<Value> loadTensorCoreBlocks(Emitter &e, const AmperePlan &plan,
                                        Value a, Value b, Value thread,
                                        int64_t k);
/// Makes fragments of them and multiplies these.
SmallVector<Value> multiplyTensorCores(Emitter &e, const AmperePlan &plan,
                                       Type accumulator, ArrayRef<Value> blocks,
                                       Value thread,
                                       ArrayRef<Value> accumulators);

Fragment scalarFragment(Emitter &e, const AmperePlan &plan, Value thread);
Fragment tensorCoreFragment(Emitter &e, const AmperePlan &plan, Value thread);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_AMPERE_AMPERELOWERING_H
