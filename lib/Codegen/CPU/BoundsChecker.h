//===- BoundsChecker.h - Adds the checks of one function --------*- C++ -*-===//
//
// Part of pit-check-bounds: CheckBounds.cpp says what each op accesses,
// BoundsGuards.cpp lets an access run only where it is inside.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_CPU_BOUNDSCHECKER_H
#define PIT_LIB_CODEGEN_CPU_BOUNDSCHECKER_H

#include "Codegen/Common/RuntimeCalls.h"
#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/VectorInterfaces.h"

namespace mlir::pit {

/// Elements [first, first + count) of `size`, all of index type. None at all
/// are inside wherever they are.
struct Reach {
  Value first, count, size;
  bool linear = false; ///< counted in memory, not along a dimension
};

/// Adds the checks of one function.
class BoundsChecker : ArithEmitter {
public:
  BoundsChecker(OpBuilder &builder, func::FuncOp function, Value frame)
      : ArithEmitter(builder, function.getLoc()), function(function),
        frame(frame) {}

  LogicalResult run();

private:
  LogicalResult check(Operation *op);
  LogicalResult checkTransfer(VectorTransferOpInterface op);
  LogicalResult checkPlain(Operation *op, Value memref, ValueRange indices,
                           Type type);
  LogicalResult checkMasked(Operation *op, Value memref, ValueRange indices,
                            Value mask);
  LogicalResult checkGathered(Operation *op, Value memref, ValueRange indices,
                              Value offsets, Value mask);
  LogicalResult checkLinear(Operation *op, Value memref, Value first,
                            Value count);
  LogicalResult checkTile(Operation *op, Value memref, ValueRange indices,
                          Value stride, amx::TileType tile);
  LogicalResult checkCopy(memref::CopyOp op);
  SmallVector<Reach> viewRanges(Operation *op);
  void checkView(Operation *op);

  /// Lets `op` run only where all of `ranges` are inside, and the views that it
  /// goes through.
  void guard(Operation *op, ArrayRef<Reach> ranges);
  /// The same for the dimensions of one memref.
  void guard(Operation *op, Value memref, SmallVector<Reach> ranges);
  /// The dimension along which consecutive elements of memory lie.
  Reach &consecutive(Value memref, MutableArrayRef<Reach> ranges);
  /// Adds what elements in memory, counted as `linear` does, are of the memory
  /// that memref is a free view of (memref.reinterpret_cast). Such a view may
  /// promise more than there is, where accesses are masked.
  void addSources(Value memref, Value first, Value count,
                  SmallVector<Reach> &ranges);
  /// Tells the runtime of each reach, of which some are not inside.
  void report(Operation *op, ArrayRef<Reach> ranges);
  Value isInside(const Reach &range);
  /// A view, and whether it is inside of what it is a view of.
  struct View {
    Operation *op;
    SmallVector<Reach> ranges;
    Value isSound;
  };
  /// The views through which an op accesses memory.
  SmallVector<const View *> viewsOf(Operation *access) const;
  /// Both. A null one is true.
  Value conjunction(Value x, Value y);
  /// The result of an op that did not run.
  Value zero(Type type);

  /// The ranges of an op that takes one element along each dimension.
  SmallVector<Reach> points(Value memref, ValueRange indices);
  /// The lanes that a mask selects: the first one, and how many up to the last.
  std::pair<Value, Value> lanes(Value mask, Value offsets = {});
  /// The place at which a memref begins in the memory that it is a view of, and
  /// how many elements later it ends.
  std::pair<Value, Value> span(Value memref);
  Value linear(Value memref, ValueRange indices);

  Value sizeOf(Value memref, int64_t dim) {
    return memref::DimOp::create(b, loc, memref, dim);
  }

  func::FuncOp function;
  Value frame;
  DenseMap<Value, View> views; ///< those that may be outside of their source
};

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_CPU_BOUNDSCHECKER_H
