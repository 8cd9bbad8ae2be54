//===- TileTable.h - Tile sizes by element type -----------------*- C++ -*-===//
//
// The table that pit-plan and pit-tile-dense choose tiles from: a JSON file
//
//   {"target": "hopper", "live_fraction": 0.1, "elements": 32768, "by":
//   "inputs",
//    "entries": [{"element": "f16", "form": "reduced", "vector": 256,
//                 "rows": 256, "chunk": 64, "reduced": 64, "window": 8,
//                 "group": 128, "part": 64, "step": 1140, "fixed": 3500},
//                ...]}
//
// `element` is the element type of the marked operand, or a list of several,
// `tf32` for f32 if that may be multiplied as tf32, or `any`. In the built-in
// table of CPUs alone there are entries for kinds of them, too: `amx bf16` or
// `amx i8` for products that tile registers add up, `avx2 f32`, say, where
// vectors have 256 bits. `form` says what the axis is: `reduced`, `parallel`,
// or there is none, `dense`. Form `parts` is for ops whose axis is parallel and
// whose groups are parts of sums; entries of form `parallel` fit them, too. The
// first entry that fits counts; without `form` it fits all. The numbers are
// extents of a tile along a dim by its role. `liveFraction` is the fraction of
// live elements that plans are made for.
//
// Optional are `elements`, the most elements that a tile of an operand is given
// (65536, of a result never more), which an entry may say for itself, and `by`:
// with `inputs` the element type is that of the input of the highest rank,
// whichever is marked. If a dim numbers groups, then `group`, or `part` for a
// reduced dim, counts in place of its role's extent, and `group_rows` in place
// of `rows` alone. The last dim of the result along which windows move is
// divided into equal parts of up to `row` instead of `window`, or is a `vector`
// if it is the innermost one. An entry with `by_rows` is for products that f32
// adds up, and that have contiguous rows along the innermost dim of the result,
// such as B [k, n].
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
// `sharing` has the times of blocks of a GPU that share tiles (TileSharing),
// `versions` the limits of TileVersionLimits.
//
// A table may be a file of the user's. Without `entries` it has the built-in
// ones. Its other half, the costs that rules are compared by, is read by
// Choice/CostTable.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_TILETABLE_H
#define PIT_LIB_SELECTION_TILETABLE_H

#include "pit/Target/Target.h"

#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir::pit {

/// The form of an op: no axis, or one of either kind; a parallel one whose
/// groups are parts of sums.
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

/// The times of blocks of a GPU that share tiles of the last wave, as measured
/// on an H100 (docs/performance/few-rows.md).
struct TileSharing {
  double memoryBytes = 0; ///< that a multiprocessor reads of memory in a cycle
  double sumBytes = 0;    ///< that it writes and reads of shared sums
  double await = 0;       ///< cycles of waiting for the other blocks
  /// So large a part of the multiprocessors reads as fast as memory is.
  double reading = 0;
  /// How many times as long the tile that is chosen without sharing has to
  /// take, for one that is shared to be chosen in its place.
  double leastGain = 0;
};

/// When an op whose rows a call alone knows has several tiles
/// (TileVersions.cpp). A gain says how many times as long another tile takes.
struct TileVersionLimits {
  double leastGain = 0; ///< of a version over the next one, at some extent
  /// Of a tile for all large extents over the usual one, at each of them.
  double leastGainOfLarge = 0;
  double alike = 0; ///< the model does not tell tiles of a smaller gain apart
  /// Products of fewer elements of weights take a few microseconds in any tile.
  double leastWeights = 0;
};

struct TileTable {
  double liveFraction = 0;
  int64_t elements = 0;
  bool byInputs = false;
  bool tf32 = false; ///< f32 may be multiplied as tf32
  /// The CPU that a built-in table is for: some entries are for one kind only.
  std::optional<CpuTarget> cpu;
  bool isForGpu = false;
  int64_t processors = 0; ///< if entries are timed
  TileSharing sharing;
  TileVersionLimits versions;
  SmallVector<TileSizes> entries;

  /// The entries for such elements and an op of this form, in order; there is
  /// one that is not timed. Entries of tf32 count if the op `multiplies`, those
  /// of tile registers if it sums up `dots`, products of two narrow elements,
  /// and those of 256 bits if it takes no dims as single `points`, whose blocks
  /// have one row.
  SmallVector<const TileSizes *> lookup(Type element, TileForm form,
                                        bool multiplies, bool dots,
                                        bool points) const;
};

/// The table of a file or, if the path is empty, the one for `target` that is
/// built into the compiler. Reports what is wrong on `op`.
FailureOr<TileTable> loadTileTable(Operation *op, StringRef path,
                                   const Target &target, bool tf32);

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_TILETABLE_H
