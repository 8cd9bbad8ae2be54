//===- OnlineTiler.h - One loop for a chain of reductions -------*- C++ -*-===//
//
// Tiles a chain (Analysis/OnlineReductions.h):
//
//   pit.forall over rows
//     states = pit.for over tiles of the axis, or ids, carrying all reductions
//       tiles along the axis, as ops of the chain compute them
//       each reduction: what it was, rescaled, and the tile's part
//     factors that left the loop; ops on rows; SWrite of what others use
//
// The plan is in OnlineTilerPlan.cpp, loops in OnlineTiler.cpp, where they
// begin and end in OnlineTilerRanges.cpp, what a mark selects in
// OnlineTilerSelection.cpp, what is computed along the axis in
// OnlineTilerOps.cpp, of results of reductions in OnlineTilerRows.cpp, and
// factors that are left to users of tiles in OnlineTilerScales.cpp. Operands
// that are stored another way before the loop are in OnlineTilerCopies.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_ONLINETILER_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_ONLINETILER_H

#include "OnlineTilerScalars.h"
#include "TileBody.h"
#include "pit/Analysis/OnlineReductions.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Target/Target.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#include <map>

namespace mlir::pit {

/// The selection of a mark, for `findOnlineChain`.
std::optional<Selection> findMarkSelection(Operation *op);

class OnlineTiler : ArithEmitter {
public:
  OnlineTiler(RewriterBase &rewriter, OnlineChain &chain, const Target &target)
      : ArithEmitter(rewriter, chain.ops.back().op->getLoc()),
        rewriter(rewriter), chain(chain), target(target),
        last(chain.ops.back().op) {}

  /// Chooses tiles, unless the chain cannot be tiled.
  Refused plan();
  void run();
  /// In words: the tile, and what is gathered.
  std::string describe() const;

private:
  enum class Kind { Axis, Outer, Row, Whole };
  /// The moment that a state belongs to.
  enum class Epoch { Before, Now, End };
  using Dims = SmallVector<int64_t>;
  /// Positive numbers that the body of an op multiplies by and that are the
  /// same along the axis: their product, of scalars of that body.
  struct RowScale {
    const ChainOp *op;
    SmallVector<Value> scalars;
  };
  /// A value stands as this tile, which `scale` and `rowScale` multiply.
  struct Tile {
    Value tensor;
    double scale = 1;
    const RowScale *rowScale = nullptr;
    bool isScaled() const { return scale != 1 || rowScale; }
  };

  //===--------------------------------------------------------------------===//
  // Plan
  //===--------------------------------------------------------------------===//

  Refused classify();
  Refused chooseTile();
  int64_t columnsOfStep() const;
  Refused planSelection();
  bool takeBlocks(std::optional<unsigned> row, int64_t &rowTile,
                  int64_t &axisTile);
  Refused checkBodies();
  /// Can each step add to sums over rows?
  Refused checkAdded() const;
  int64_t staticExtent(int64_t dim) const;
  std::optional<unsigned> findTiledRow() const;
  SmallVector<Operation *> findEarlyUsers() const;
  SparseOp mark() const;
  bool isNarrow() const;

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  bool multipliesSmall(const ChainOp &op) const;
  /// Stores factors that have to lie along the axis.
  void copyAlongAxis();
  /// Dims of such a copy, from those of what is copied.
  Dims alongAxis(Dims dims) const;
  Value copyOf(Value source, ArrayRef<int64_t> dims);
  Value extentOf(unsigned dim);
  Dims shapeOf(ArrayRef<int64_t> dims) const;
  SmallVector<Value> subscripts(ArrayRef<int64_t> dims);
  void prepareSelection();
  /// The subscripts of a tile's group of ids.
  SmallVector<Value> groupOfTile();
  /// Takes the ids of a step.
  void enterIds(Value chunk);
  /// Takes the ids that orders list for a tile along a dim.
  void enterOrder(int64_t dim);
  /// The block that a tile of rows lies in.
  Value blockOf(int64_t dim, int64_t size);
  /// A step's tile of the mask, and its dims.
  std::pair<Value, Dims> readSelector();
  SmallVector<Value> tileOfRows(ValueRange outputs);
  SmallVector<Value> step(ValueRange before);
  /// Adds a step's part of sums over rows to those.
  Value addTo(const ChainOp &op, Value sums);
  /// The begin and end of a tile's loop. If there is a gap, steps up to
  /// `first` are at `before`, others at `after`, plus the step.
  struct Range {
    Value lower, upper, first, before, after;
  };
  Range axisRange();
  void prepareRanges();
  Range rangeOfTile();
  Value placeOf(Value step);
  bool hasGap() const;
  /// Is a condition on rows true of one of a tile?
  Value holdsSomewhere(const AxisBound &bound);
  Value boundOf(const AxisBound &bound);
  /// The largest or the least integer that a tile of rows has, as an index.
  Value extremeOf(const AxisBound::Read &read, bool isLargest);
  bool needsMask() const;
  void replaceUses(ValueRange results);

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  const Dims &dimsOf(Value value) const;
  Value emptyTile(ArrayRef<int64_t> dims, Type element);
  Value filledTile(ArrayRef<int64_t> dims, TypedAttr constant);
  Value read(Value value, ArrayRef<int64_t> dims);
  /// The coordinates of the ids along a dim.
  Value coords(int64_t dim);
  /// An element-wise op on tiles with such dims of the chain, to a tile with
  /// `dims`.
  Value elementwise(ArrayRef<std::pair<Value, Dims>> inputs,
                    ArrayRef<int64_t> dims, Type element,
                    function_ref<Value(ElementEmitter &, ValueRange)> body);
  /// Along the axis, in this step.
  Tile elements(Value value, ArrayRef<int64_t> dims);
  Tile computeElements(const ChainOp &op);
  Tile computeSelection(const ChainOp &op);
  Tile computeContraction(const ChainOp &op);
  /// The product of a step's tiles.
  Value multiplyTiles(const ChainOp &op);
  bool isPositiveRow(const ChainOp &op, Value scalar) const;
  SmallVector<const Power *> powersOf(const ChainOp &op) const;
  /// The tile of a scalar of a body, which runs along the axis.
  Tile computeScalar(const ChainOp &op, Value yielded, TypedAttr mask);
  Tile masked(Tile tile, ArrayRef<int64_t> dims, TypedAttr mask);
  /// The dims of rows that are summed up of what an op computes, and that end
  /// within a tile.
  SmallVector<int64_t> endsOfRows(const ChainOp &op) const;
  /// Is there an element at the place along a dim? In a body.
  Value isInside(ElementEmitter &e, int64_t dim, Value place,
                 bool isCoordinate);

  /// The rows of a reduction's result.
  Tile rows(Value value, Epoch epoch);
  Value materialize(Tile tile, ArrayRef<int64_t> dims);
  Tile withoutRowScale(Tile tile, ArrayRef<int64_t> dims);
  Dims dimsOf(const RowScale &scale) const;
  /// The tile of a row scale times a number, and its dims.
  std::pair<Value, Dims> rowScaleTile(const RowScale &scale, double factor);
  Value computeRows(const ChainOp &op, Epoch epoch);
  /// -coefficient times what is subtracted in exponents of 2, finite.
  Value shiftOf(const Power &power);
  bool isPlain(const Power &power) const;
  /// A product of a power and a positive constant, if that alone uses it.
  std::pair<Operation *, double> scaledPower(const Power &power) const;
  double unitOf(const Power &power) const;
  Value rescale(const ChainOp &op);
  Value factorOf(const RowFactor &factor);
  Value finish(const ChainOp &op, Tile state);
  Value accumulate(const ChainOp &op, unsigned number, Tile before);

  Type accumulatorOf(const ChainOp &op) const;
  /// Maps arguments of a body that are numbers, or elements of tensors of one.
  void mapNumbers(ElementEmitter &e, linalg::LinalgOp op, IRMapping &mapping);
  bool isSumOfExponentials(Value value) const;
  bool isContractionBody(const ChainOp &op) const;
  bool startsFromNothing(const ChainOp &op) const;

  RewriterBase &rewriter;
  OnlineChain &chain;
  const Target &target;
  Operation *last;

  SmallVector<Kind> kinds;   ///< of the chain's dims
  SmallVector<int64_t> tile; ///< their extents
  SmallVector<unsigned> rowDims;
  SmallVector<unsigned> reductions, added, outputs; ///< ops
  SmallVector<Tile> scales; ///< of the reductions' states, without tensors
  std::map<Operation *, RowScale> rowScales; ///< by the op that multiplies
  llvm::DenseMap<Operation *, TileBody> templates;

  /// A mask that is repeated to one of elements, its dims, and of how many
  /// elements it has one.
  struct BlocksOfMask {
    Value mask;
    Dims dims, sizes;
  };
  std::optional<BlocksOfMask> blocksOfMask;
  /// Lists of places along a dim, in whose order the mask has it, and the dims
  /// that number the lists.
  struct Order {
    int64_t dim;
    Value lists;
    Dims dims;
  };
  SmallVector<Order> orders;

  // The selection.
  SmallVector<Value> ids;   ///< of the tile, by dims of the chain; or null
  Value sparsity;           ///< the index
  SparsityIndexType listed; ///< null where nothing is gathered
  Value selector;           ///< of the mark, behind broadcasts
  Dims selectorDims;
  Dims selectorBlocks;    ///< of how many elements it has one, by its dims
  bool byBlocks = false;  ///< are ids numbers of blocks, a step for each?
  int64_t blockParts = 1; ///< steps of a block of the mask
  Value blockNumber;      ///< of the step
  SmallVector<unsigned> groups; ///< dims that number groups of an index
  Value length;                 ///< of a tile's rows, if it is one

  llvm::DenseMap<Value, Value> copies; ///< of what is read, along the axis
  SmallVector<Value> extents, starts;
  Range range;               ///< of the tile
  SmallVector<Value> ranges; ///< where loops of tiles begin and end, by number
  SmallVector<unsigned> rangeDims; ///< that number these
  SmallVector<Value> coordinates;  ///< of ids, as these
  llvm::DenseMap<Value, Tile> stepTiles;
  llvm::DenseMap<Value, Tile> rowTiles[3];
  llvm::DenseMap<Operation *, Value> shifts, scaled; ///< by exponentials
  std::map<std::pair<const RowScale *, double>, std::pair<Value, Dims>>
      rowScaleTiles;
  Dims scaledDims, factorDims; ///< of what was computed last
};

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_ONLINETILER_H
