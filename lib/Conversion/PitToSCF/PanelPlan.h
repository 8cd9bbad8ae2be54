//===- PanelPlan.h - How the CPU computes a ring ----------------*- C++ -*-===//
//
// A ring is computed as C[m, n] += A[m, k] * B[k, n] is by a BLAS: vectors run
// along n, a block of rows and vectors stays in registers while k is run
// through, elements of A are broadcast. A and B are whichever operands have m
// and n; ids may stand for rows of A, for k, and for dimensions around.
//
// An operand that is read by windows (h * 2 + kh) is packed with its padding,
// and all windows of a tile read what was packed.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CONVERSION_PITTOSCF_PANELPLAN_H
#define PIT_LIB_CONVERSION_PITTOSCF_PANELPLAN_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include <optional>

namespace mlir::pit {

/// Iteration dimensions are numbered as in the ring's `tile`.
struct PanelPlan {
  unsigned a, b;                ///< operands: read by rows, read by lanes
  std::optional<unsigned> m;    ///< rows of the register block
  unsigned n;                   ///< along lanes
  SmallVector<unsigned> around; ///< other dimensions of the accumulator
  SmallVector<unsigned> k;      ///< of sums; the innermost loop is last
  int64_t lanes;                ///< elements of a vector
  int64_t rows, vectors;        ///< of a register block
  /// Elements of A are copied before they are used: those of a row do not
  /// follow each other, or have to be extended.
  bool packA;
  /// Lanes run along windows of B, which are copied, too.
  bool packB;

  /// Columns of a register block, and of a strip of packed B.
  int64_t strip() const { return lanes * vectors; }
};

/// None if lanes fit no dimension of the ring. `vectorBits` is the width of a
/// register.
std::optional<PanelPlan> planPanels(RingOp ring, int64_t vectorBits);

/// The map of operand 0 or 1, or of the accumulator (2).
AffineMap getRingMap(RingOp ring, unsigned number);

/// Which dimension of an operand or tile with this map is iteration dimension
/// `dim`, if one is; windows along it are not.
std::optional<unsigned> findDim(AffineMap map, unsigned dim);

/// Is a dimension not just one of the iteration's, but a window over several?
bool hasWindows(AffineMap map);

/// The extension that is all the ring does with an operand, if it is one.
Operation *getExtension(RingOp ring, unsigned operand);

} // namespace mlir::pit

#endif // PIT_LIB_CONVERSION_PITTOSCF_PANELPLAN_H
