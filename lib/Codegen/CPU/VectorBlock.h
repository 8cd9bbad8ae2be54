//===- VectorBlock.h - Vector code for one block of points ------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_VECTORBLOCK_H
#define PIT_LIB_CODEGEN_CPU_VECTORBLOCK_H

#include "VectorPlan.h"

#include "llvm/ADT/SmallBitVector.h"

namespace mlir::pit::cpu {

/// Emits the values of a block of points of a linalg op: one for each point, or
/// for each `lanes` points of the lane loop. Loads are shared by the points
/// that read the same; the outputs are accumulators, which the caller carries
/// from `emitFirst` through the loops inside of the block, with an `emitPoints`
/// in the innermost, to `emitLast`.
class BlockEmitter {
public:
  BlockEmitter(OpBuilder &b, linalg::LinalgOp op, const VectorPlan &plan);

  /// Loads the accumulators, or starts partial results.
  SmallVector<Value> emitFirst();
  /// Computes the points; returns the new accumulators.
  SmallVector<Value> emitPoints(ValueRange before);
  /// Stores the outputs.
  void emitLast(ArrayRef<Value> after);

  /// Whether an operand is not read in whole vectors.
  bool hasStridedOperand() const;

  // The block, as the loops around it set it.

  /// Its first point.
  SmallVector<Value> origin;
  /// Points along each loop; vectors along the lane loop.
  SmallVector<int64_t> count;
  /// Lanes of a vector: the plan's, or 1 in what is left of a loop.
  int64_t lanes;
  /// If set: the lanes of the last vector that are used, and their number where
  /// it is known.
  Value mask;
  int64_t live = 0;

private:
  /// Coordinates of a point in the block, for each loop in steps of one, or of
  /// one vector for the lane loop.
  using Point = SmallVector<int64_t, 6>;

  /// An operand, without trailing dims of size one if lanes run along the dim
  /// before them, and as bytes if it is read as vectors of i1.
  struct View {
    Value source, bytes;
    AffineMap map;
    LaneAccess access;
  };

  bool isLane(unsigned loop) const { return plan.laneLoop == loop; }

  // Set-up.
  View makeView(OpOperand &operand);
  void analyzeBody();

  // Points and accumulators.
  int64_t getAccumulatorCount(unsigned loop) const;
  bool hasAccumulator(unsigned output);
  void forEachPoint(function_ref<bool(unsigned)> loops,
                    function_ref<int64_t(unsigned)> counts,
                    function_ref<void(const Point &)> visit);
  int64_t linearize(const Point &point, const llvm::SmallBitVector &loops,
                    function_ref<int64_t(unsigned)> counts);
  unsigned getOutputView(unsigned output);
  void forEachAccumulator(unsigned output, bool perLane,
                          function_ref<void(const Point &)> visit);
  unsigned getAccumulator(unsigned output, const Point &point);
  Value emitIdentity(unsigned output);
  Value emitLaneReduction(unsigned output, const Point &point,
                          ArrayRef<Value> accumulators, unsigned &next);
  Value emitLoadOutput(unsigned output, const Point &point);
  void emitStoreOutput(unsigned output, const Point &point, Value value);

  // Values of the body.
  void emitOutput(unsigned output, const Point &point, Value &accumulator);
  bool isMasked(const Point &point) const;
  Value broadcast(Value value);
  Value emitValue(Value value, const Point &point);
  Value emitArgument(BlockArgument arg, const Point &point);
  Value emitBodyOp(Operation *inner, const Point &point);
  bool isWideAccumulator(OperandRange operands);
  Value emitIndex(unsigned loop, const Point &point);
  SmallVector<Value> emitScalarBody(ValueRange before);

  // Memory.
  SmallVector<Value> emitIndices(const View &view, const Point &point,
                                 int64_t lane = 0);
  Value emitLoad(unsigned number, const Point &point);
  Value emitVectorLoad(Value source, ValueRange indices, bool masked);
  Value emitStridedLoad(const View &view, Type element, const Point &point);
  bool isTransposed(unsigned number);
  bool isWholeTranspose() const;
  Value emitTransposedLoad(unsigned number, const Point &point);
  void emitStore(unsigned number, const Point &point, Value value);

  OpBuilder &b;
  Location loc;
  linalg::LinalgOp op;
  const VectorPlan &plan;
  SmallVector<View> views;
  /// The loops that a value of the body depends on.
  DenseMap<Value, llvm::SmallBitVector> dependence;
  /// Outputs that are combined in a wider type than they have in memory.
  llvm::SmallBitVector wide;
  /// Products and sums that may be fused.
  DenseSet<Operation *> contract;
  /// Values at the points, in the order of `linearize`.
  DenseMap<Value, SmallVector<Value>> memo;
  ValueRange accumulators;
  SmallVector<unsigned> firstAccumulator;
};

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_VECTORBLOCK_H
