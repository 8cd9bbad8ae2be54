//===- Epilogues.h - Ops that the loop before them computes -----*- C++ -*-===//
//
// Conditions E1 to E7 of docs/Legality.md. On level 2 they say which planned
// ops need no loop of their own (FoldEpilogues.cpp), on level 3 what a loop
// takes in (FuseEpilogues.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_EPILOGUES_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_EPILOGUES_H

#include "Packing.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::pit {

/// Is `op` computed element by element, anywhere, from operand number
/// `operand`, which it takes as it is? [E1, E2] Its rule is not asked for.
bool isEpilogue(linalg::LinalgOp op, unsigned operand);

/// Element-wise ops in a row, and what of the last one's result is wanted.
struct SelectedEpilogues {
  /// The operand of each op that is the result of the one before.
  SmallVector<OpOperand *> operands;
  /// How those operands are packed.
  SmallVector<Packing> packings;
  /// The marks of the last result, which nothing else uses. All select the same
  /// and have the same background.
  SmallVector<SparseOp> marks;
  /// How what the marks select is packed.
  Packing packing;

  TypedAttr getBackground() const {
    return SparseOp(marks.front()).getBackgroundOrZero();
  }
};

/// The value that others see of the result of a planned op: its mark, if the op
/// is planned for that.
Value getOutcome(linalg::LinalgOp planned);

/// How the result of a planned op is packed, if its loop writes what its index
/// lists, all of it, and nothing else. [E7]
std::optional<Packing> getWrittenPacking(linalg::LinalgOp planned);

/// The ops between `value`, of which what `packing` packs is known, and marks
/// that select just that [E5, E6]. There may be none.
std::optional<SelectedEpilogues> findSelectedEpilogues(Value value,
                                                       Packing packing);

/// The op that alone uses `mark`, if what it makes of the background is a
/// constant or another operand [E4]; else null.
linalg::LinalgOp findSkippedEpilogue(SparseOp mark);

/// The only SWrite of a loop with one result, if what it writes is all that the
/// result is made of: neither read again nor combined. Null if there is none.
SWriteOp findOnlyWrite(ForallOp loop);

/// The effect of writing a scalar into a tensor of narrower elements: sums are
/// rounded, bytes are bits.
Value narrowTo(OpBuilder &builder, Location loc, Value value, Type type);

/// Computes the ops on the tiles of `loop`, which gives what the first of them
/// takes, and has the loop start from the background. True if the loop took
/// all of them; then it stands in the place of the marks.
bool fuseSelectedEpilogues(RewriterBase &rewriter, ForallOp loop,
                           const SelectedEpilogues &epilogues);

inline Value createFill(OpBuilder &builder, Location loc, Value number,
                        Value into) {
  return linalg::FillOp::create(builder, loc, number, into).getResult(0);
}
inline Value createFill(OpBuilder &builder, Location loc, TypedAttr constant,
                        Value into) {
  return createFill(builder, loc,
                    arith::ConstantOp::create(builder, loc, constant), into);
}

/// For how many sums of a contraction like `op` a block of threads has
/// registers: those of tensor cores, or of scalar code.
inline int64_t getMostSums(linalg::LinalgOp op) {
  bool isNarrow = llvm::all_of(op.getDpsInputs(), [](Value operand) {
    return getElementTypeOrSelf(operand).getIntOrFloatBitWidth() <= 16;
  });
  return isNarrow ? 128 * 256 : 128 * 128;
}

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_EPILOGUES_H
