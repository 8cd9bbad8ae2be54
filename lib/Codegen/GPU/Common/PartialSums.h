//===- PartialSums.h - Sums of blocks that share a tile ---------*- C++ -*-===//
//
// Blocks that share a tile, or the rows of a sum, write their parts to memory.
// The blocks that add these up do so in the order of the splits: the same bits
// every time.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_PARTIALSUMS_H
#define PIT_LIB_CODEGEN_GPU_COMMON_PARTIALSUMS_H

#include "Emitter.h"

namespace mlir::pit::cuda {

/// How many splits a thread reads at once, and how many sums of each.
struct SumsAtOnce {
  int64_t splits, sums;
};

/// Adds the sums of all splits to `zeros`. `load` gives so many sums of a part
/// from one on, `add` adds two. Compilers may unroll the loop.
scf::ForOp addPartials(
    Emitter &e, Value splits, SumsAtOnce atOnce, ValueRange zeros,
    function_ref<SmallVector<Value>(Value part, int64_t first, int64_t count)>
        load,
    function_ref<Value(Value, Value)> add);

/// Counts this block's part of its tile in, of so many (i32). Is it the last
/// one? `keep` leaves a number to all threads of the block, and `kept` gives
/// it. `thread` is of the block (i32).
Value isLastSplit(Emitter &e, Value counters, Value splits, Value thread,
                  function_ref<void(Value)> keep, function_ref<Value()> kept);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_PARTIALSUMS_H
