//===- CostTable.h - What choosing among micro-tiles weighs -----*- C++ -*-===//
//
// The table that rules are compared by: `costs` of a JSON file, in picoseconds
// on one thread of a CPU, or on a whole GPU.
//
//   "costs": [{"element": "f32", "dense": 18, "scan": 170, "group": 10000,
//              "micro": [{"rows": 1, "multiply": 40},
//                        {"rows": 4, "multiply": 20},
//                        {"rows": 0, "multiply": 20}]}]
//
// `element` is an element type or a list of several. It may name a kind of CPU,
// as `avx2 f32` does, also in a table of the user's. `dense` is one
// multiplication and addition of the dense program, whose columns are rounded
// up to vectors, `scan` one element that is scanned, `group` the list of a
// group for each `list_columns`, and `multiply` one multiplication and addition
// of micro-tiles of so many `rows`; 0 rows are whole rows, columns or windows.
// A height that is not listed is not chosen at run time. At compile time it is
// modelled: between two that are listed, and by `shapes`. Optional are
//
//   lines   the entry is for marked operands of at most so many rows (any)
//   bytes   the entry is for other operands of at most so many bytes (any)
//   layout  the entry is for ops that read their operands like this:
//           `left` (default), `left-bt`, `right` or `result` (CostLayout)
//   read    an element of the other operand that is read for the first time:
//           all by the dense program, those with an id in any list by
//           micro-tiles; on a GPU, as far as products do not hide it (0)
//   step    what a micro-tile takes for each `list_columns` beside these, as so
//           many columns (0)
//   column  an element along the last dim of the result that is read or written
//           by itself, once for all rows (40 times `dense`)
//   partial a multiplication and addition of a live part of `measured_partial`
//           sums, of which several write the same results (modelled). The part
//           of it above one of a row is the time of adding to the result, once
//           a part
//   partials of a GPU: parts of so many sums are variants at run time (0: none)
//   wanted  of a GPU: one of a wanted part of a row (0: no variant at run time)
//   ask     of a GPU: a choice that ends dense and does not scan, beside what
//           its variants take to leave (0)
//   pack    of a micro-tile: an element of the other operand, whatever is live,
//           if all of it is packed or widened first, for several groups (0)
//   group   of a micro-tile: in place of the element type's
//   fixed   of a micro-tile: what it takes beside, however small the op is (0)
//   leave   of a micro-tile on a GPU: its kernels where it is not chosen (0)
//   compile_time_only
//           of a micro-tile: no variant at run time, only where the zeros are
//           known when the program is compiled (false)
//
// The first entry that fits counts. A kind of CPU without an entry takes that
// of the kind whose vectors are nearest to its own, with products that are as
// many times slower as its vectors are narrower. On a CPU element types that
// have no entry take the time of f32, wider ones as many times of it as they
// are wider.
//
// Beside the costs the table has what they are used with: the sizes of
// micro-tiles (`micro_tiles`, MicroTileSizes), when a variant is worth its code
// (`variants`, VariantLimits), and how costs of other shapes follow from those
// that were measured (`shapes`, ShapeFactors).
//
// Numbers that a table of the user's leaves out are as in the built-in one. One
// without costs has the built-in costs. One without entries of tiles, as
// pit-tune writes, has the built-in costs behind its own.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CHOICE_COSTTABLE_H
#define PIT_LIB_CHOICE_COSTTABLE_H

#include "pit/Target/Target.h"

#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir::pit {

/// The marked operand of a product A B, and how the other one lies.
enum class CostLayout {
  Left,   ///< A, the rows of B are contiguous
  LeftBT, ///< A, the columns of B are contiguous, as in a product by weights of
          ///< (n, k): a row of B along a list of ids is a column of memory
  Right, ///< B: the last dim of the result is one of the marked operand; `rows`
         ///< of micro-tiles are columns then
  Result ///< the result; `rows` of micro-tiles are those of wanted columns
};

/// The costs of an element type and a layout, in picoseconds.
struct ChoiceCosts {
  std::string element;
  int64_t lines = 0; ///< if not 0: of the marked operand, at most
  int64_t bytes = 0; ///< if not 0: of the other operand, at most
  CostLayout layout = CostLayout::Left; ///< of ops that read like this
  double dense = 0;  ///< a multiplication and addition of the dense program
  double scan = 0;   ///< an element that is scanned
  double group = 0;  ///< the list of a group, where a micro-tile has no other
  double column = 0; ///< an element that is gathered among a row's
  double read = 0;   ///< an element of the other operand, the first time
  double step = 0;   ///< of a micro-tile for `list_columns`: as so many columns
  double partial = 0; ///< a multiplication of a live part of sums; 0: not known
  int64_t partials =
      0;             ///< if not 0: those of so many sums are variants of a GPU
  double wanted = 0; ///< the same of a wanted part of a row, on a GPU
  double ask = 0;    ///< a choice that ends dense without a scan, on a GPU
  struct MicroTile {
    int64_t rows = 0;    ///< 0: whole rows
    double multiply = 0; ///< a multiplication and addition of a live one
    double fixed = 0;    ///< whatever the size
    double pack = 0;     ///< an element of the other operand, whatever is live
    double group = 0;    ///< the list of a group, for each `list_columns`
    double leave = 0;    ///< its kernels where it is not chosen, on a GPU
    bool compileTimeOnly = false; ///< no variant at run time
  };
  SmallVector<MicroTile> micro;
};

/// The sizes of micro-tiles that are compared. Heights at run time are those
/// that costs list, since each variant costs code.
struct MicroTileSizes {
  /// Widths at run time, of an operand and of a wanted result: the narrowest
  /// one that fills a vector, as others cost nearly the same.
  SmallVector<int64_t> columns, wantedColumns;
  /// Columns of a wanted result are computed one by one: at run time for so
  /// many rows at once, or more.
  int64_t leastWantedRows = 0;
  /// Heights, widths, and parts of sums at compile time, besides heights that
  /// costs list.
  SmallVector<int64_t> allRows, allColumns, allPartials;
};

/// When a program that chooses at run time has a variant.
struct VariantLimits {
  /// By how many times what may be saved has to be more than scanning takes.
  /// Looks that end dense are 7 in the first hundred calls, and cost 3 % then.
  /// Nothing on a device waits for the host's scan, so a GPU's is less.
  double leastScanGain = 0;
  /// By how many times what a variant may save has to be more than what its
  /// kernels take in calls that end with another one.
  double leastSaving = 0;
  /// The same of one beside that which saves most: it wins in fewer calls.
  double leastSavingBeside = 0;
  /// How often an element has to be used for a tile of windows, which copies
  /// it, to take less time than the dense op.
  double leastWindowUses = 0;
  /// Ids along an axis from which on it is worth a variant, if there is
  /// another.
  double leastIds = 0;
};

/// How the costs of a shape follow from those that were measured.
struct ShapeFactors {
  /// Columns whose lists are read at once.
  int64_t listColumns = 0;
  /// The columns that a step counts as beside its own: micro-tiles of few
  /// columns leave lanes idle, and gather the other operand for each.
  double stepColumns = 0;
  /// The time of columns of the result that are gathered for a vector of rows
  /// or more, as a part of that of rows: the vectors are transposed.
  double transposed = 0;
  /// The factor of a multiplication and addition of one row if the other
  /// operand's rows along the list are its columns: each step reads elements
  /// that lie apart. `packingRows` and more pack them first. Measured: 6 to 10
  /// on AVX-512, f32.
  double strided = 0, packingRows = 0;
  /// For so few rows the other operand is not packed, and what one list has
  /// read is hardly in a cache when the next one comes by (kRowsToPack and
  /// kRowsToWiden of PackPanels.cpp).
  int64_t inPlaceRows = 0;
  /// A row of the result is read and written again for each part of a sum: as
  /// much as so many multiplications and additions.
  double addPartial = 0;
  /// How many sums a part has of which the costs say what they take.
  double measuredPartial = 0;
  /// The time of a list that adds to the sums of the list before it, as a part
  /// of one that has sums of its own: each tap of a convolution reads the lists
  /// of other pixels.
  double nextList = 0;
  /// The live fraction that tells how much of the other operand all
  /// groups read: about that from which on the dense program is as fast.
  double assumedLive = 0;
  /// The lists of wanted parts of rows that multiprocessors share where these
  /// were measured. With fewer, fewer of them have work.
  double wantedLists = 0;
  /// A GPU reads 32 bytes of memory at once. Half of the columns that are live
  /// are taken to lie in what others have read (docs/performance/few-rows.md).
  double readBytes = 0;
};

struct CostTable {
  /// The CPU that the table is for: some entries are for one kind only.
  std::optional<CpuTarget> cpu;
  bool isForGpu = false;
  bool tf32 = false; ///< f32 may be multiplied as tf32
  MicroTileSizes microTiles;
  VariantLimits variants;
  ShapeFactors shapes;
  SmallVector<ChoiceCosts> costs;

  /// The costs for such elements, a marked operand of so many lines, and
  /// another operand of so many bytes; nothing if the table does not tell, and
  /// there is no choice. The costs of `left` stand for layouts that are not
  /// told.
  std::optional<ChoiceCosts> findCosts(Type element, double lines, double bytes,
                                       CostLayout layout) const;
};

/// The table of a file or, if the path is empty, the one for `target` that is
/// built into the compiler. Reports what is wrong on `op`. The tiles of the
/// same file are those of loadTileTable, which comes first.
FailureOr<CostTable> loadCostTable(Operation *op, StringRef path,
                                   const Target &target, bool tf32);

} // namespace mlir::pit

#endif // PIT_LIB_CHOICE_COSTTABLE_H
