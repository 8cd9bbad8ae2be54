//===- PackOperands.h - Operands packed for all tiles -----------*- C++ -*-===//
//
// Rows of B that lie a power of two bytes apart fall into the same sets of a
// cache, and each into a page of its own. Packed, the columns of one register
// block lie together: B[.., K, N] becomes [.., N / S][K][S] for panels of S
// columns, once for all tiles of a loop. Whether that pays depends on how often
// each element is read, which the index says at run time, and on how rows lie;
// then only the strides of what mainloops read differ.
//
// Tiles of A that have to be gathered or extended are packed once if several
// tiles of C read them. If each chooses other elements along A's last
// dimension, A is transposed once, so that tiles choose rows: along k, or, if
// it is k that they choose from, along m.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_CPU_PACKOPERANDS_H
#define PIT_LIB_CODEGEN_CPU_PACKOPERANDS_H

#include "Codegen/Common/Index.h"
#include "MainloopPlan.h"
#include "PackTile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit::cpu {

/// The reads, or writes, of a tensor by a mainloop.
struct TensorReads {
  ForallOp loop; ///< a tile loop around the mainloop
  MainloopOp mainloop;
  ValueRange subscripts; ///< of the tensor, where a tile begins
  const IndexMap &indices;
};

/// Does the mainloop, all over the loop, come by an element of the tensor more
/// than `times` times, or `in` elements together (an index; null is 1), on
/// average? An i1, before the loop.
Value isReadMoreThan(OpBuilder &b, const TensorReads &reads, int64_t times,
                     Value in = {});

/// Operand B of a mainloop in panels, packed or not.
struct PackedPanels {
  /// [dimensions of B but k and n][panels][k][columns of a panel], with
  /// strides known at run time; null if B is read as it is.
  Value memref;
  bool extended = false; ///< elements have the type to compute in
  bool grouped = false;  ///< as MainloopPlan::dots asks for
  /// i1: else each tile is packed where it is read, or B is read in place.
  /// Null: it is true, or B is read in place.
  Value isPacked = {};
  bool inPlace = false; ///< B is read in place if it is not packed
};

/// Tiles of operand A.
struct PackedTiles {
  /// A dense loop that A's tiles depend on.
  struct Dim {
    unsigned subscript; ///< of A, which is the loop's induction variable
    Value lower;
    int64_t step;
    Value trips;
  };
  Value buffer; ///< memref<tiles x shape of a tile>; null if A is not packed
  SmallVector<Dim> dims;
  int64_t chunk = 0; ///< ids of a chunk, if tiles depend on ids
  Value chunks;      ///< at most so many in a group

  /// The tile that `tile` is of A; its ids begin with number `first` of their
  /// group.
  Value find(OpBuilder &b, Location loc, const TileAccess &tile,
             Value first) const;
};

/// Operand A with k or m last: rows that ids choose are in one piece.
struct TransposedRows {
  Value memref;       ///< null if A is read as it is
  unsigned last;      ///< which dimension of A became the last one
  Value isProfitable; ///< i1: has it been transposed?
};

/// The operands of one accumulator.
struct PackedFactors {
  PackedPanels panels;
  PackedTiles tiles;
  TransposedRows rows; ///< for tiles that are packed one by one
};

struct PackedOperands {
  SmallVector<PackedFactors, 0>
      factors; ///< by accumulator; none: nothing is packed
  /// C transposed, a matrix [columns][lanes of the tile]
  /// (TransposeResults.cpp); null if the mainloop writes C itself.
  Value results;
};

/// Columns of C that loops in a tile loop come by several times.
struct TransposedResults {
  MainloopOp mainloop;
  ForOp loops;              ///< those loops, the outermost one
  unsigned lanes;           ///< dimension of C; the last one is of ids
  Value isProfitable;       ///< i1: do they come by often enough?
  Value memory;             ///< memref<tiles x columns x lanes of a tile>
  SmallVector<Value> trips; ///< of the tile loop
};

/// Finds them and allocates memory before the loop.
std::optional<TransposedResults> findResults(OpBuilder &b, ForallOp loop,
                                             func::FuncOp function,
                                             const IndexMap &indices);

/// Transposes what `results.loops`, in the lowered tile loop, write, if that is
/// worth it: another version of them gets `matrix` for C, and its mainloop is
/// returned.
MainloopOp keepResults(RewriterBase &b, const TransposedResults &results,
                       ValueRange lower, ValueRange ivs,
                       ArrayRef<int64_t> steps, Value &matrix);

/// Does a mainloop read, as `extra`, what it writes?
bool readsResult(MainloopOp mainloop, ViewOp extra);

/// A mainloop whose operands are packed before a tile loop around it.
struct PackedMainloop {
  func::FuncOp function;
  ForallOp loop;
  MainloopOp mainloop;
  const MainloopPlan &plan; ///< of the accumulator whose operands are packed
  const IndexMap &indices;
};

/// The packing or transposition of an operand of such a mainloop.
class OperandPacker : protected ArithEmitter {
protected:
  OperandPacker(OpBuilder &b, const PackedMainloop &of, unsigned operand)
      : ArithEmitter(b, MainloopOp(of.mainloop).getLoc()), loop(of.loop),
        function(of.function), mainloop(of.mainloop), plan(of.plan),
        indices(of.indices),
        view(mainloop.getOperandView(operand, of.plan.accumulator)) {}

  /// The mainloop's reads of the operand.
  TensorReads reads() {
    return {loop, mainloop, view.getSubscripts(), indices};
  }

  bool isInside(Value value) {
    return loop.getRegion().isAncestor(value.getParentRegion());
  }
  /// Does some loop come by the same elements of the operand again?
  bool isReused();

  ForallOp loop;
  func::FuncOp function;
  MainloopOp mainloop;
  const MainloopPlan &plan;
  const IndexMap &indices;
  ViewOp view; ///< of the operand
};

/// Tile `number` of a memref whose first dimension numbers tiles.
Value tileAt(OpBuilder &b, Location loc, Value tiles, Value number);

/// How the mainloop's tiles of operand `operand` are packed, dimension `last`
/// last.
TileForm describeTile(MainloopOp mainloop, const MainloopPlan &plan,
                      unsigned operand, unsigned last);
/// The type of a packed tile.
MemRefType getPackedTileType(MainloopOp mainloop, const MainloopPlan &plan,
                             unsigned operand, unsigned last);

/// The first accumulator before `accumulator` that has the same operand.
std::optional<unsigned> findSameView(MainloopOp mainloop, unsigned operand,
                                     unsigned accumulator);

/// Emits, at the builder's insertion point before `loop`, the packing of the
/// operands of mainloops in it that many tiles read. `loop` is a tile loop on
/// memrefs that is not inside of any other, but maybe a variant.
void packOperandsOf(OpBuilder &builder, ForallOp loop, func::FuncOp function,
                    const IndexMap &indices,
                    DenseMap<Operation *, PackedOperands> &packed);

/// The parts of it, for one mainloop.
PackedPanels packPanels(OpBuilder &builder, const PackedMainloop &of);
PackedTiles packTiles(OpBuilder &builder, const PackedMainloop &of);
TransposedRows transposeRows(OpBuilder &builder, const PackedMainloop &of);

/// Lowers a mainloop on memrefs at the builder's insertion point; the op itself
/// stays. `operands` are those that were packed before.
void lowerMainloop(OpBuilder &builder, MainloopOp mainloop,
                   const PackedOperands &operands, const IndexMap &indices,
                   ChunkMap &chunks);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_PACKOPERANDS_H
