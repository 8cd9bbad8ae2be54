//===- Padding.h - What may stand beyond the end of a dim -------*- C++ -*-===//
//
// Tiles are of static size. If one reaches past the end of an iteration dim (an
// overhang, or the absent ids in the tail of a chunk), its operands read a pad
// constant, and the points there are computed all the same. docs/Legality.md
// lists the conditions under the numbers used here. Knows upstream dialects
// only.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ANALYSIS_PADDING_H
#define PIT_ANALYSIS_PADDING_H

#include "pit/Analysis/Refusal.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

#include <optional>

namespace mlir::pit {

/// True if an op may trap, depending on its operands. Upstream takes remainders
/// and rounded quotients for ops that cannot.
bool mayTrap(Operation *op);

/// Passes if computing the points beyond the ends of iteration dims `dims` is
/// harmless when operand number i reads `pads[i]` there: every result that is
/// reduced over one of the dims yields its accumulator [P1], and no integer
/// division traps [P2]. Points of results that contain the dim are dropped on
/// the way out. `pads` has one entry per input of `op`; those of inputs that
/// none of the dims indexes by itself are not looked at.
Refused checkPadding(linalg::LinalgOp op, ArrayRef<unsigned> dims,
                     ArrayRef<TypedAttr> pads);

/// Searches pad constants that make padding harmless along each of `dims` at
/// once: for each input zero, then the combiners' identities, one, -inf and
/// +inf; for the input `marked`, if any, its background before all. Returns one
/// constant per input; if there are none, the tails along `dims` have to be
/// peeled.
OrRefusal<SmallVector<TypedAttr>>
findPadding(linalg::LinalgOp op, ArrayRef<unsigned> dims,
            std::optional<unsigned> marked = std::nullopt,
            TypedAttr background = {});

} // namespace mlir::pit

#endif // PIT_ANALYSIS_PADDING_H
