//===- RingLowering.h - Expansion of pit.ring -------------------*- C++ -*-===//
//
// What the parts of the expansion share. The portable schedule: all threads of
// the block copy tiles into a ring of stages in shared memory (cp.async) and
// multiply them from there, with tensor cores (ldmatrix, mma.sync) or without.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_KERNEL_RINGLOWERING_H
#define PIT_LIB_KERNEL_RINGLOWERING_H

#include "RingPlan.h"

#include "../Conversion/Common/Index.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::pit {

/// Arithmetic on i32, in which everything within a tile is counted, and on
/// index, in which coordinates and addresses are.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value i32(int64_t value);
  Value index(int64_t value);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value mul(Value x, int64_t y);
  Value div(Value x, int64_t y);
  Value rem(Value x, int64_t y);
  Value bitAnd(Value x, int64_t y);
  Value bitXor(Value x, Value y);
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  Value both(Value x, Value y);
  Value less(Value x, Value y);       ///< signed
  Value inRange(Value x, Value size); ///< 0 <= x < size
  Value select(Value condition, Value x, Value y);
  Value toIndex(Value x);
  Value toI32(Value x);
  Value constant(TypedAttr value);
  /// A pointer into shared memory, of a byte address in i32.
  Value sharedPointer(Value address);
  void barrier();
  /// Runs `then` where the condition holds, `otherwise` where it does not.
  void ifThen(Value condition, function_ref<void()> then,
              function_ref<void()> otherwise = nullptr);
  /// Has LLVM keep a loop as it is, neither unrolled nor peeled.
  void keep(Operation *loop);
  /// An i32, of which compilers know nothing, so that what is computed from it
  /// stays where it is: out of loops it would only take up registers.
  Value opaque(Value x);

  OpBuilder &b;
  Location loc;

private:
  Value number(Type type, int64_t value);
};

/// What chunks of row `row` (i32) change places by: xor with their number.
Value swizzleOf(Emitter &e, const SharedTile &tile, Value row);

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

/// Describes dimension d of a tile of `memref`: `extent` elements from
/// `subscript` on.
TileDim tileDim(Emitter &e, Value memref, unsigned d, Value subscript,
                int64_t extent, const ChunkMap &chunks);

/// Describes the tile that `subscripts` and `shape` select from `memref`.
TileAccess accessTile(Emitter &e, Value memref, ValueRange subscripts,
                      ArrayRef<int64_t> shape, TypedAttr pad,
                      const ChunkMap &chunks);

/// The address of the element `offset` (index) elements after the first one of
/// the tile's memref.
Value elementAddress(Emitter &e, const TileAccess &tile, Value offset);

/// The coordinate of the tile's element i along `dim`, and whether it exists.
std::pair<Value, Value> locate(Emitter &e, const TileDim &dim, Value i);

/// The steps of a ring, and what its load region says of each. A step may take
/// several stages.
class RingSteps {
public:
  /// Counts them at the builder's place. `chunks` gets the ids of steps.
  RingSteps(Emitter &e, RingOp ring, int64_t stagesPerStep, ChunkMap &chunks,
            const DenseMap<Value, IndexView> &indices);

  /// Stages to go through (i32).
  Value total() const { return stages; }
  /// Makes stage `s` (i32) the one that access() speaks of.
  void enter(Value s);
  /// The tile that operand i has in the stage's step.
  TileAccess access(unsigned i);
  /// What a value of the load region is in the stage's step.
  Value lookup(Value value) { return mapping.lookupOrDefault(value); }

private:
  Emitter &e;
  RingOp ring;
  int64_t stagesPerStep;
  ChunkMap &chunks;
  IndexView index;
  SmallVector<Value> trips; ///< of the dense ranges, then chunks of ids
  Value stages;
  Value count, offset; ///< of the group, if there is an index
  IRMapping mapping;
};

/// Where the rows are that a thread copies chunks of, and whether they exist.
using LocatedRows = SmallVector<std::pair<Value, Value>>;

/// Locates them if they are the same in all steps; empty if a thread has too
/// many. `row` is the dimension along rows.
LocatedRows locateRows(Emitter &e, const RingPlan &plan,
                       const RingOperand &operand, const TileDim &row,
                       Value thread);

/// Copies one stage's part of an operand: its depth elements from `first` (i32)
/// on along k, to the shared memory at `to` (i32, bytes). Asynchronous where
/// the layout allows. `rows` may be empty.
void loadStage(Emitter &e, const RingPlan &plan, const RingOperand &operand,
               TileAccess access, const LocatedRows &rows, Value first,
               Value to, Value thread);

/// Multiplies one stage. `a` and `b` are the shared memory of the operands'
/// tiles (i32, bytes); gives the new accumulators.
SmallVector<Value> multiplyScalar(Emitter &e, RingOp ring, const RingPlan &plan,
                                  Value a, Value b, Value thread,
                                  ArrayRef<Value> accumulators);

/// Loads a warp's blocks of both operands, for one step of the tensor cores,
/// number `k` in the stage.
SmallVector<Value> loadTensorCoreBlocks(Emitter &e, const RingPlan &plan,
                                        Value a, Value b, Value thread,
                                        int64_t k);
/// Makes fragments of them and multiplies these.
SmallVector<Value> multiplyTensorCores(Emitter &e, const RingPlan &plan,
                                       Type accumulator, ArrayRef<Value> blocks,
                                       Value thread,
                                       ArrayRef<Value> accumulators);

/// Where a thread's accumulators lie in the tile: accumulator i * columns + j
/// is at row rows[i] and column cols[j] (i32).
struct Fragment {
  SmallVector<Value> rows, cols;
};
Fragment scalarFragment(Emitter &e, const RingPlan &plan, Value thread);
Fragment tensorCoreFragment(Emitter &e, const RingPlan &plan, Value thread);

} // namespace mlir::pit

#endif // PIT_LIB_KERNEL_RINGLOWERING_H
