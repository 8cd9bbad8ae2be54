//===- DotOperands.h - Operands of dot instructions -------------*- C++ -*-===//
//
// A dot instruction adds g products to each lane of a sum: A[m, k..k+g] times
// B[k..k+g, n]. The elements that it reads of A lie together in a row; those of
// B have to be interleaved, g elements of a column after g of the one before:
//
//   A: [m / rows][k / block][rows][block]          B: [k / g][n][g]
//
// with zeros from the end of k to the end of a step. A block is a step, a row
// of a tile register, or all of k where vectors are used. Rows and columns
// beyond the last ones are anything: their sums are not stored.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_CPU_DOTOPERANDS_H
#define PIT_LIB_CODEGEN_CPU_DOTOPERANDS_H

#include "MainloopPlan.h"
#include "PackTile.h"

namespace mlir::pit::cpu {

/// How a mainloop's products are computed by dot instructions, if they can be.
/// The plan's operands, lanes and dimensions are known.
std::optional<DotPlan> planDots(MainloopOp mainloop, const MainloopPlan &plan,
                                CpuTarget target);

/// Are there tile registers for a block of so many vectors of sums?
bool fitsDotTiles(const DotPlan &dots, int64_t vectors);

/// The type of a packed tile of A: as the tile is or, for dot instructions,
/// [dimensions but m and k][m / rows][k / block][rows][block]. Else dimension
/// `last` is the last one.
MemRefType getPackedRowsType(MainloopOp mainloop, const MainloopPlan &plan,
                             unsigned last);

/// A tile of A.
struct RowsTile {
  const TileAccess &access;
  AffineMap map; ///< what its dimensions are
  unsigned last; ///< which of them becomes the last one
};

/// Packs what exists of a tile of A to a memref of that type.
void packRows(OpBuilder &b, MainloopOp mainloop, const MainloopPlan &plan,
              const RowsTile &tile, Value packed);

/// May B's panels be packed once for all tiles of a mainloop? Parts of k that
/// end within a block would meet what follows them there.
bool canGroupPanels(MainloopOp mainloop, const MainloopPlan &plan);

/// Part of a panel of B.
struct ColumnsPart {
  VectorType type; ///< of a row
  Value width;     ///< columns that exist, perhaps more than the row has
  Value length;    ///< rows that exist
  Value padded;    ///< rows that are written, whole groups
};

/// Interleaves the rows of a part. `load` gives row `row`, which exists; lanes
/// that a mask, unless null, leaves out are 0. `store` takes a group's number
/// and elements.
void packGroups(OpBuilder &b, Location loc, const DotPlan &dots,
                const ColumnsPart &part,
                function_ref<Value(Value row, Value mask)> load,
                function_ref<void(Value number, Value elements)> store);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_DOTOPERANDS_H
