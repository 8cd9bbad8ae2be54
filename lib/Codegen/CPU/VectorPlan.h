//===- VectorPlan.h - How one linalg op becomes vector code -----*- C++ -*-===//
//
// A plan says which loop of a linalg op runs along the lanes of vectors, and
// which points of its iteration space are computed together in registers.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_CPU_VECTORPLAN_H
#define PIT_LIB_CODEGEN_CPU_VECTORPLAN_H

#include "pit/Target/Target.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace mlir::pit::cpu {

/// How an operand is accessed by the lanes of a vector.
enum class LaneAccess {
  Uniform,    ///< All lanes see the same element (or a scalar operand).
  Contiguous, ///< Neighbouring lanes are neighbours in memory.
  Strided,    ///< Anything else: one access for each lane.
};

struct VectorPlan {
  /// The loop along the lanes; none: scalar code.
  std::optional<unsigned> laneLoop;
  /// The lane loop is a reduction: lanes hold partial results.
  bool lanesReduce = false;
  int64_t lanes = 1;
  /// Vectors of the lane loop in a block.
  int64_t vectors = 1;
  /// Further loops of which several points are computed in a block, and how
  /// many at most.
  struct Rows {
    unsigned loop;
    int64_t count;
  };
  SmallVector<Rows, 2> rows;
  /// This loop's points are loaded as vectors and transposed in registers:
  /// lanes of them at a time (also an entry of `rows`).
  std::optional<unsigned> transposedLoop;
  /// Loops around the accumulators, outermost first, and those inside.
  SmallVector<unsigned> outer, inner;
  /// A lane that is switched off computes harmless values.
  bool maskable = false;
  /// How each output is combined, if lanes reduce.
  SmallVector<vector::CombiningKind> combiners;
};

/// Chooses a plan. Every op has one; the last resort is scalar code.
VectorPlan planVectors(linalg::LinalgOp op, const CpuTarget &target);

/// The extents of the op's loops, from whichever operand has a static one.
SmallVector<int64_t> getKnownExtents(linalg::LinalgOp op);

/// The parallel loop along which all outputs are contiguous, if there is one.
std::optional<unsigned> findParallelLanes(linalg::LinalgOp op);

/// How many of `extent` rows are best computed together with `vectors` vectors
/// each; a dynamic extent is taken for a large one.
int64_t chooseRows(int64_t extent, int64_t vectors, int64_t accumulators);

/// How the lanes of loop `loop` access `operand`.
LaneAccess getLaneAccess(linalg::LinalgOp op, OpOperand &operand,
                         unsigned loop);

/// Whether the loop occurs in the operand's indexing map.
bool usesLoop(linalg::LinalgOp op, OpOperand &operand, unsigned loop);

/// The op of the body that combines output `number` with the value before it,
/// as `acc = combine(acc, x)` with an `x` that does not depend on acc; null if
/// the body is not of this form. Also matched is
/// `acc = truncf(combine(extf(acc), x))`: see isWide.
Operation *matchCombiner(linalg::LinalgOp op, unsigned number,
                         vector::CombiningKind *kind = nullptr);

/// Whether an output is combined in a wider type than it has in memory.
bool isWide(linalg::LinalgOp op, unsigned number);

/// Makes a reduction into f16 or bf16 compute in f32: what it reads is extended
/// first, and only what it writes is rounded. Returns the op that takes the
/// place of `op`, or `op` itself if it is none, or if its body is not
/// arithmetic that f32 does as well. The output before the reduction is read by
/// an extension, and what is yielded comes from a truncation; matchCombiner
/// knows this form.
linalg::LinalgOp widenReduction(RewriterBase &rewriter, linalg::LinalgOp op);

/// Cuts an op that is large, or that may be at run time, into tiles: for the
/// caches if it is a contraction, and for threads if `parallel` and it is not
/// in a parallel loop already. Returns the ops that take its place, on tiles
/// or, for small sizes at run time, on the whole; `op` itself if nothing is
/// cut.
SmallVector<linalg::LinalgOp> splitLargeOp(RewriterBase &rewriter,
                                           linalg::LinalgOp op,
                                           const CpuTarget &target,
                                           bool parallel);

/// Whether an input of a contraction had better be copied: it is read many
/// times, each time across memory or to be extended. `lanes` is the loop along
/// the lanes, `bounds` are the most iterations of each loop.
bool isWorthPacking(linalg::LinalgOp op, OpOperand &input, unsigned lanes,
                    ArrayRef<int64_t> bounds);

/// Copies inputs of the contraction `op` to the stack, extended if `op` extends
/// them first, with lanes along the last dim. Returns the ops that take the
/// place of `op`, in order: the copies and a contraction.
SmallVector<linalg::LinalgOp> packInputs(RewriterBase &rewriter,
                                         linalg::LinalgOp op, unsigned lanes,
                                         ArrayRef<int64_t> bounds,
                                         ArrayRef<OpOperand *> inputs);

/// Packs the inputs that are worth it; returns `op` itself if none is.
SmallVector<linalg::LinalgOp> packInputs(RewriterBase &rewriter,
                                         linalg::LinalgOp op);

/// Emits the loops and the vector code of `plan` for `op`, an op on memrefs, at
/// the builder's insertion point. `op` itself stays.
void emitVectorCode(OpBuilder &builder, linalg::LinalgOp op,
                    const VectorPlan &plan);

/// Replaces exp, exp2, expm1, log, log2, log1p, tanh and erf of vectors of f32,
/// or narrower, by polynomials.
LogicalResult approximateFunctions(Operation *root);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_VECTORPLAN_H
