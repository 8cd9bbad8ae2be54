//===- MainloopPlan.h - How the CPU computes a mainloop ---------*- C++ -*-===//
//
// A mainloop is computed as C[m, n] += A[m, k] * B[k, n] is by a BLAS: vectors
// run along n, a block of rows and vectors stays in registers while k is run
// through, elements of A are broadcast. A and B are whichever operands have m
// and n; ids may stand for rows of A, for k, and for dimensions around.
//
// Lanes that are no neighbours in B, which has n where others have k, or in C,
// whose columns ids stand for, are transposed: B while it is packed, and C from
// a tile of sums.
//
// Products of few rows or columns, as those of a matrix and a vector, have no
// lanes (they are vectors of one) if ids stand for k: elements are read in
// place by ids that exist.
//
// Several accumulators are computed in the same way, one after another in each
// chunk of steps. Each has operands of its own: an A that they share is packed
// once.
//
// If A has one row and ids stand for k, a block's rows are those of B: small
// dimensions that B and C have and A lacks, as the points of a filter. Each id
// is read once for all of them.
//
// An operand that is read by windows (h * 2 + kh) is packed with its padding,
// and all windows of a tile read what was packed.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_CPU_MAINLOOPPLAN_H
#define PIT_LIB_CODEGEN_CPU_MAINLOOPPLAN_H

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Target/Target.h"

#include <optional>

namespace mlir::pit::cpu {

/// Products of narrow elements whose sums are wide are computed by instructions
/// that take several neighbours along k at once. Both operands are packed so
/// that these lie together, with zeros from where k ends to the end of a step.
struct DotPlan {
  bool amx;          ///< in tile registers; else in vectors
  int64_t group;     ///< neighbours along k
  int64_t step;      ///< elements along k: a row of a tile register
  int64_t tileRows;  ///< of a tile register of A and of sums
  int64_t tiles;     ///< of them in a register block, along m
  Type element;      ///< of packed operands
  bool zextA, zextB; ///< integers are unsigned
};

/// The dimension that lanes of vectors run along. Dimensions are numbered as in
/// the mainloop's `tile`.
struct LanePlan {
  unsigned a, b; ///< operands: read by rows, read by lanes
  unsigned n;    ///< along lanes
  unsigned lane; ///< dimension of B that n is
  int64_t lanes; ///< elements of a vector, 1 if there are none
  /// Lanes are no neighbours in B, or in C.
  bool transposeB = false, transposeC = false;
};

struct MainloopPlan : LanePlan {
  unsigned accumulator = 0;  ///< whose operands are meant
  std::optional<unsigned> m; ///< rows of the register block
  /// Rows of the register block where there is no m: dimensions that B has and
  /// A lacks, each as long as C's. The last one runs fastest.
  SmallVector<unsigned> wide;
  SmallVector<unsigned> batchDims; ///< other dimensions of the accumulator
  SmallVector<unsigned> k;         ///< of sums; the innermost loop is last
  int64_t rows, vectors;           ///< of a register block
  /// Elements of A are copied before they are used: those of a row do not
  /// follow each other, or have to be extended.
  bool packA;
  /// Lanes run along windows of B, which are copied, too.
  bool packB;
  std::optional<DotPlan> dots; ///< null: elements are multiplied one by one

  /// Columns of a register block, and of a panel of packed B.
  int64_t panel() const { return lanes * vectors; }
  /// Rows of a register block of dot instructions.
  int64_t dotRows() const {
    return dots->amx ? dots->tileRows * dots->tiles : rows;
  }
};

/// Decides how `target` computes a mainloop, if it has a way.
OrRefusal<MainloopPlan> planMainloop(MainloopOp mainloop,
                                     const CpuTarget &target);

/// Can a CPU run a mainloop as its #pit.cpu_schedule says? Which of its parts
/// are free, the attribute tells.
Refused checkSchedule(MainloopOp mainloop, CpuTarget target);

/// The plan as an attribute, and the plan of a mainloop that has it.
CpuScheduleAttr toAttribute(MLIRContext *context, const MainloopPlan &plan);
MainloopPlan getPlan(MainloopOp mainloop);

/// The last of `dims` whose extents in the mainloop's tile multiply to `rows`;
/// none if no such are.
ArrayRef<unsigned> takeRows(MainloopOp mainloop, ArrayRef<unsigned> dims,
                            int64_t rows);

/// Which dimension of an operand or tile with this map is iteration dimension
/// `dim`, if one is; windows along it are not.
std::optional<unsigned> findDim(AffineMap map, unsigned dim);

/// Are the elements along dimension `d` of a tile neighbours in memory?
bool isContiguous(Type type, OperandRange subscripts, unsigned d);

/// Bits of an element that vectors hold, 0 for other types.
int64_t laneBits(Type type);

/// The widest element of a region of element-wise ops; 0 if it is not so.
int64_t regionBits(Region &region);

/// Can extra number `extra` be read by vectors along dimension `d` of the
/// accumulator? It has `d` last and in one piece, or lacks it: then all lanes
/// get one element. If C is transposed, extras are read by elements; everywhere
/// else each of them has to have vectors.
bool hasVectors(MainloopOp mainloop, unsigned extra, unsigned d);

/// The accumulator's map, lanes last: how sums lie in a tile.
AffineMap getSumsMap(MainloopOp mainloop, const MainloopPlan &plan);

/// Is a dimension not just one of the iteration's, but a window over several?
bool hasWindows(AffineMap map);

/// The extension that is all the mainloop does with an operand, if it is one.
Operation *getExtension(MainloopOp mainloop, unsigned operand);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_MAINLOOPPLAN_H
