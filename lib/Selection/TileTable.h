//===- TileTable.h - Tile sizes by element type -----------------*- C++ -*-===//
//
// The table that pit-plan and pit-tile-dense choose tiles from: a JSON file
//
//   {"target": "hopper", "density": 0.1, "elements": 32768, "by": "inputs",
//    "entries": [{"element": "f16", "form": "reduced", "vector": 256,
//                 "rows": 256, "chunk": 64, "reduced": 64, "window": 8,
//                 "group": 128, "part": 64, "step": 1140, "fixed": 3500},
//                ...]}
//
// `element` is the element type of the marked operand, `tf32` for f32 if that
// may be multiplied as tf32, or `any`. In the built-in table of CPUs alone
// there are entries for kinds of them, too: `amx bf16` or `amx i8` for products
// that tile registers add up, `avx2 f32`, say, where vectors have 256 bits.
// `form` says what the axis is: `reduced`, `parallel`, or there is none,
// `dense`. Of form `parts` are ops whose axis is parallel and whose groups are
// parts of sums; entries of form `parallel` fit them, too. The first entry
// that fits counts; without `form` it fits all. The
// numbers are extents of a tile along a dim by its role. `density` is the
// fraction of live elements that plans are made for.
//
// Optional are `elements`, the most elements that a tile of an operand is given
// (65536, of a result never more), which an entry may say for itself, and `by`:
// with `inputs` the element type is that of the input of the highest rank,
// whichever is marked. If a dim numbers groups, then `group`, or `part` for a
// reduced dim, counts in place of its role's extent, and `group_rows` in place
// of `rows` alone. Of the dims along which windows move, the last one of the
// result is divided into equal parts of up to `row` instead of `window`, or is
// a `vector` if it is the innermost one. An entry with `by_rows` is for
// products that f32 adds up, and that have contiguous rows along the innermost
// dim of the result, such as B [k, n].
//
// Entries may be timed: `step` is the cycles that a processor takes for a step
// along the reduced dims, of a tile of just these extents, and `fixed` those
// for what a tile needs beside its steps and does not overlap with another's.
// Then the first entry that fits competes with the timed ones that follow it up
// to one that is not, and the least modelled time counts: with `processors` of
// them (those of the target, if the table does not say),
// ceil(tiles / processors) * (steps * step + fixed). A timed entry does
// not fit if groups have another extent than it says, or none is given by the
// program: how high micro-tiles should be is no question of cycles a step.
//
// `costs` say what choosing at run time weighs, in picoseconds on one thread of
// a CPU, or on a whole GPU:
//
//   "costs": [{"element": "f32", "dense": 18, "scan": 170, "group": 10000,
//              "micro": [{"rows": 1, "multiply": 40},
//                        {"rows": 4, "multiply": 20},
//                        {"rows": 0, "multiply": 20}]}]
//
// `dense` is one multiplication and addition of the dense program, whose
// columns are rounded up to vectors, `scan` one element that is looked at,
// `group` the list of a group for each 128 columns, and `multiply` one
// multiplication and addition of micro-tiles of so many `rows`; 0 rows are
// whole rows, columns or windows. What is not listed is not chosen at run time.
// At compile time it is modelled: between two that are listed, and by what
// Costs.cpp says of tiles of other shapes. Optional are
//
//   read    an element of the other operand that is read for the first time:
//           all by the dense program, those with an id in any list by
//           micro-tiles; on a GPU, as far as products do not hide it (0)
//   step    what a micro-tile takes for each 128 columns beside these, as so
//   many
//           columns (0)
//   column  an element along the last dim of the result that is read or written
//           by itself, once for all rows (40 times `dense`)
//   part    a multiplication and addition of a live part of 64 sums, of which
//           several write the same results (modelled). What it takes more than
//           one of a row is what it takes to add to the result, once a part
//   parts   of a GPU: parts of so many sums are variants at run time (0: none)
//   wanted  of a GPU: one of a wanted part of a row (0: no variant at run time)
//   ask     of a GPU: a choice that ends dense and does not look, beside what
//           its variants take to leave (0)
//   pack    of a micro-tile: an element of the other operand, whatever is live,
//           if all of it is packed or widened first, for several groups (0)
//   group   of a micro-tile: in place of the element type's
//   fixed   of a micro-tile: what it takes beside, however small the op is (0)
//   leave   of a micro-tile on a GPU: its kernels where it is not chosen (0)
//
// The first entry that fits counts: an element type may name a kind of CPU, as
// those of entries do, also in a table of the user's; with `lines` an entry is
// for marked operands of at most so many rows, with `bytes` for products whose
// other operand has at most so many. A kind of CPU without an entry takes that
// of the kind whose vectors are nearest to its own, with products that are as
// many times slower as its vectors are narrower. On a CPU element types that
// have no entry take the time of f32, wider ones as many times of it as they
// are wider.
//
// A table of the user's without costs has the built-in ones. One of nothing but
// costs, as pit-tune writes, has the built-in entries, and behind its own costs
// the built-in ones.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_TILETABLE_H
#define PIT_LIB_SELECTION_TILETABLE_H

#include "pit/Target/Target.h"

#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir::pit {

/// What an op is tiled by: no axis, or one of either kind; a parallel one,
/// where groups are parts of sums.
enum class TileForm { Dense, Parallel, Reduced, Parts };

/// Extents of a tile by the role of a dim.
struct TileSizes {
  std::string element;
  std::optional<TileForm> form; ///< all forms, if not given
  int64_t vector = 0;           ///< the innermost dim of the result
  int64_t rows = 0;      ///< other dims of the result that an input lacks
  int64_t chunk = 0;     ///< the axis: micro-tiles computed at once
  int64_t reduced = 0;   ///< other reduced dims
  int64_t window = 0;    ///< dims along which windows move
  int64_t group = 0;     ///< if not 0: dims of the result that number groups
  int64_t groupRows = 0; ///< if not 0: those of them that are `rows`
  int64_t part = 0;      ///< if not 0: reduced dims that number groups
  int64_t row = 0;       ///< if not 0: the last dim along which windows move
  int64_t elements = 0;  ///< at most, of a tile of an operand
  int64_t step = 0;      ///< if not 0: cycles of a step
  int64_t fixed = 0;     ///< cycles of a tile, beside its steps
  bool byRows = false; ///< only for inputs that have contiguous rows along the
                       ///< innermost dim of the result
};

/// How an op reads its operands.
enum class CostLayout {
  Rows,  ///< a left operand is marked, the other's rows are contiguous
  Apart, ///< a row of the other along a list of ids is a column of memory, as
         ///< in a product by weights of (n, k)
  Right, ///< the last dim of the result is one of the marked operand; `rows` of
         ///< micro-tiles are columns then
  Wanted ///< the result is marked; `rows` of micro-tiles are those of wanted
         ///< columns
};

/// What choosing among micro-tiles weighs, in picoseconds.
struct ChoiceCosts {
  std::string element;
  int64_t lines = 0; ///< if not 0: of the marked operand, at most
  int64_t bytes = 0; ///< if not 0: of the other operand, at most
  CostLayout layout = CostLayout::Rows; ///< of ops that read like this
  double dense = 0;  ///< a multiplication and addition of the dense program
  double scan = 0;   ///< an element that is looked at
  double group = 0;  ///< the list of a group, where a micro-tile has no other
  double column = 0; ///< an element that is gathered among a row's
  double read = 0;   ///< an element of the other operand, the first time
  double step = 0;   ///< of a micro-tile for 128 columns: as so many columns
  double part = 0;   ///< a multiplication of a live part of sums; 0: not known
  int64_t parts = 0; ///< if not 0: those of so many sums are variants of a GPU
  double wanted = 0; ///< the same of a wanted part of a row, on a GPU
  double ask = 0;    ///< a choice that ends dense without a look, on a GPU
  struct MicroTile {
    int64_t rows;    ///< 0: whole rows
    double multiply; ///< a multiplication and addition of a live one
    double fixed;    ///< whatever the size
    double pack;     ///< an element of the other operand, whatever is live
    double group;    ///< the list of a group, for each 128 columns
    double leave;    ///< its kernels where it is not chosen, on a GPU
    bool known;      ///< no variant at run time: only where zeros are known
  };
  SmallVector<MicroTile> micro;
};

struct TileTable {
  double density = 0;
  int64_t elements = 0;
  bool byInputs = false;
  bool tf32 = false; ///< f32 may be multiplied as tf32
  /// The CPU that a built-in table is for: some entries are for one kind only.
  std::optional<CpuTarget> cpu;
  bool isForGpu = false;
  int64_t processors = 0; ///< if entries are timed
  SmallVector<TileSizes> entries;
  SmallVector<ChoiceCosts> costs;

  /// The costs for such elements, a marked operand of so many lines, and
  /// another operand of so many bytes; nothing if the table does not tell, and
  /// there is no choice. The costs of rows stand for layouts that are not told.
  std::optional<ChoiceCosts> findCosts(Type element, double lines, double bytes,
                                       CostLayout layout) const;

  /// The entries for such elements and an op of this form, in order; there is
  /// one that is not timed. Those of tf32 count if the op `multiplies`,
  /// those of tile registers if it sums up `dots`, products of two narrow
  /// elements, and those of 256 bits if it takes no dims as single `points`,
  /// whose blocks have one row.
  SmallVector<const TileSizes *> lookup(Type element, TileForm form,
                                        bool multiplies, bool dots,
                                        bool points) const;
};

/// Parses a table for `target`. On failure `error` says what is wrong with it.
FailureOr<TileTable> parseTileTable(StringRef json, const Target &target,
                                    std::string &error);

/// The table of a file or, if the path is empty, the one for `target` that is
/// built into the compiler. Reports what is wrong on `op`.
FailureOr<TileTable> loadTileTable(Operation *op, StringRef path,
                                   const Target &target, bool tf32);

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_TILETABLE_H
