//===- Combiner.h - How a linalg body accumulates ---------------*- C++ -*-===//
//
// The accumulator of a linalg result and the operation that combines it with
// what one iteration contributes. Knows upstream dialects only.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ANALYSIS_COMBINER_H
#define PIT_ANALYSIS_COMBINER_H

#include "pit/Analysis/Refusal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

namespace mlir::pit {

/// True for the operations that may combine an accumulator: commutative and
/// associative, where float sums and products count as associative.
bool isCombiner(Operation *op);

/// True if every order of combining gives the same bits: integers without
/// nsw or nuw, and float minimum and maximum.
bool isExactCombiner(Operation *op);

/// The zero of an integer, index, float or complex type, or null where the type
/// has none.
TypedAttr zeroOf(Type type);

/// The value e with combiner(e, x) == x, or null where the type has none.
/// Sums have +0: the sign of a zero is not promised.
TypedAttr identityOf(Operation *combiner, Type type);

/// The op that does `combiner` on memory, as one step. Nothing if no such thing
/// is known to arith.
std::optional<arith::AtomicRMWKind> atomicKindOf(Operation *combiner);

/// How one result accumulates: `yield op(op(acc, x0), x1)`.
struct Combiner {
  /// The operations from the accumulator to the yield, all of one name.
  SmallVector<Operation *, 1> ops;
  /// The contribution of an iteration, one value per operation.
  SmallVector<Value, 1> contributions;

  bool isExact() const {
    return llvm::all_of(ops, [](Operation *op) { return isExactCombiner(op); });
  }
};

/// The body's argument that holds the prior value of result number `result`.
BlockArgument getAccumulator(linalg::LinalgOp op, unsigned result);

/// The value that the body yields for result number `result`.
Value getYielded(linalg::LinalgOp op, unsigned result);

/// Matches the combiner of one result. The accumulator has to be used exactly
/// once, by a combiner, and the combined value only by the yield.
OrRefusal<Combiner> matchCombiner(linalg::LinalgOp op, unsigned result);

} // namespace mlir::pit

#endif // PIT_ANALYSIS_COMBINER_H
