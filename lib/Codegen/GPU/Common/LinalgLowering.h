//===- LinalgLowering.h - Points of a linalg op in one thread ---*- C++ -*-===//
//
// Shared by the two ways to share out a linalg op: outputs over threads, and
// reductions over the lanes of a group of threads.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_LINALGLOWERING_H
#define PIT_LIB_CODEGEN_GPU_COMMON_LINALGLOWERING_H

#include "Emitter.h"
#include "Lowering.h"

#include "pit/Analysis/Combiner.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::pit::cuda {

/// One point of the iteration space, or one of several that a thread computes
/// together.
struct Point {
  SmallVector<Value> ivs;       ///< by loop
  SmallVector<int64_t> inBlock; ///< by loop: which of the points together
};

/// A linalg op, and the code that computes points of it.
class PointEmitter {
public:
  PointEmitter(RewriterBase &builder, linalg::LinalgOp op, TypedAttr start);

  linalg::LinalgOp op;
  TypedAttr start; ///< what its only output has before, or null: it is loaded
  SmallVector<OpFoldResult> extents; ///< of all loops
  /// Loops whose points are outputs of their own, in the order of the first
  /// output's dimensions, and all others.
  SmallVector<unsigned> parallel, serial;
  /// How each result accumulates, where that is known.
  SmallVector<std::optional<Combiner>> combiners;

  SmallVector<OpFoldResult> extentsOf(ArrayRef<unsigned> loops) const;
  /// Outputs that stay the same over the serial loops are carried in registers.
  bool isCarried(unsigned output);

  Value loadOutput(const Point &point, unsigned output);
  void storeOutput(const Point &point, unsigned output, Value value);
  /// Runs the body at some points together; loads what several of them need
  /// once. `carried` are the accumulators, by point and output; null where an
  /// output is not carried, which is then loaded and stored.
  /// `along`: the points are neighbours along this loop, and haveVectors() says
  /// that they are loaded and stored as vectors.
  void run(ArrayRef<Point> points, MutableArrayRef<SmallVector<Value>> carried,
           std::optional<unsigned> along = std::nullopt);
  /// Whether (i1) each `count` neighbours along a loop, from a multiple of
  /// `count` on, are aligned as vectors in all operands that differ along it.
  /// Null if they are no vectors.
  Value haveVectors(unsigned along, int64_t count);

private:
  Value load(const Point &point, OpOperand &operand);
  bool isVector(OpOperand &operand, unsigned along);
  SmallVector<Value> subscripts(const Point &point, AffineMap map);
  void findContractions();

  RewriterBase &builder;
  Location loc;
  Emitter e;
  /// Products and the sums that they are added to may be fused.
  llvm::SmallPtrSet<Operation *, 4> contractions;
};

/// Clones an op of a linalg op's body. A load at coordinates that the
/// body computes gives 0 where these lie outside.
Operation *cloneBodyOp(OpBuilder &builder, Operation &op, IRMapping &mapping);

/// Runs through memory without coordinates, if all operands of `op` have their
/// elements in the same order. True if it did.
bool lowerFlat(RewriterBase &builder, linalg::LinalgOp op,
               const Workers &workers);

/// Shares each output's reduction out over lanes, if `emitter` is a reduction
/// for which that pays. True if it did.
bool lowerLaneReduction(RewriterBase &builder, PointEmitter &emitter,
                        const Workers &workers, Staging staging);

/// The value that the lane has whose number differs by bit `apart`: a number of
/// up to 64 bits, or an index.
Value shuffleLanes(OpBuilder &builder, Location loc, Value value,
                   int64_t apart);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_LINALGLOWERING_H
