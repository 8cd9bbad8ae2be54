//===- Tiler.h - Tiles one linalg op by its rule ----------------*- C++ -*-===//
//
// One lowering for all rules. The dims of the op fall into
//
//   parallel dims      those of the results, except the axis: one pit.forall
//   conflicting dims   reduced dims that number the index's groups, if the axis
//                      is parallel: groups write the same outputs, so they run
//                      one after another outside of the accumulator. If the
//                      rule says atomic or two_phase, they are dims of the
//                      pit.forall; what each sums is combined with the outputs
//                      when it is written, or written packed, by positions, and
//                      added up in a second loop
//   reduced dims       all others: pit.for around the tile op
//
// and the axis, if the rule has one, whose loop runs over the ids of the group:
// inside of the reduced dims if it is reduced itself, around the accumulator if
// it is parallel.
//
// The loops are in Tiler.cpp, what they read and write in TilerOperands.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_TILER_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_TILER_H

#include "Dialect/Pit/IR/Arithmetic.h"
#include "Epilogues.h"
#include "Selection/TileGeometry.h"
#include "TileBody.h"
#include "pit/Analysis/Skipping.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// Does the op reduce what it computes from two inputs or more, each indexed by
/// plain dims, and is it to be tiled by no rule? In a loop over tiles it is the
/// tile's.
bool isDenseContraction(linalg::LinalgOp op);

/// Does the op, which is to be tiled by no rule, combine the rows of its only
/// input, whose columns are the last dim of the result, too?
bool isRowSum(linalg::LinalgOp op);

/// Tiles one op.
class Tiler {
public:
  /// By a rule that gives nothing but a tile, and no mark, all dims are dense.
  /// For kernels a single tile is computed in a pit.forall, too. With `whole` a
  /// tile may be larger than a dim.
  Tiler(RewriterBase &rewriter, linalg::LinalgOp op, RuleAttr rule,
        SparseOp mark, bool kernels, bool whole = false)
      : rewriter(rewriter), op(op), loc(op.getLoc()), rule(rule), mark(mark),
        axis(getAxisDim(op, rule)), tile(rule.getTile()), kernels(kernels),
        whole(whole) {
    if (!mark)
      return;
    index = mark.getSelector();
    indexType = cast<SparsityIndexType>(index.getType());
    OpOperand &operand = op->getOpOperand(rule.getOperand());
    markedResult = op.isDpsInit(&operand);
    markedMap = op.getMatchingIndexingMap(&operand);
  }
  void run();

private:
  enum class Kind { Parallel, Conflicting, Reduced, Axis };
  void classify();

  /// The ops after this one that the loop computes.
  void findEpilogues();

  bool isAxisParallel() { return axis && !isReducedDim(op, *axis); }
  bool isAxisReduced() { return axis && isReducedDim(op, *axis); }

  /// Is the sum over d complete before the accumulator is written?
  bool isInner(unsigned d);

  //===--------------------------------------------------------------------===//
  // Padding
  //===--------------------------------------------------------------------===//

  /// The dims of the inner template are those of the op that its operands use.
  SmallVector<unsigned> innerDims(ArrayRef<unsigned> dims);

  void choosePads();

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  void ranges();

  /// The tensors that the tiles are read from: behind the mark of the marked
  /// operand, and the packed tensor of an operand that was unpacked by the same
  /// index.
  void resolveOperands();

  /// Are elements of the input with this map read by several tiles, or by
  /// several steps of a kernel? Then what a mask selects of it is written out
  /// before, because mainloops copy tiles as they are.
  bool isReadOften(AffineMap map);

  /// Can tiles of an operand with this map be taken from a tensor packed along
  /// `dims`? They have to be indexed as the marked operand is, and the axis to
  /// come before all dimensions that are kept.
  bool isPackedLike(AffineMap map, ArrayRef<int64_t> dims);

  bool isMarkedInput(unsigned number) {
    return mark && !markedResult && number == rule.getOperand();
  }

  /// The start of a tile along one dimension of an operand.
  Value subscript(AffineExpr expr);

  /// Is input `number` 1 wherever the loops read it?
  bool isOne(unsigned number);

  SmallVector<Value> subscripts(AffineMap map);

  /// The same with positions in the place of ids.
  SmallVector<Value> positionSubscripts(AffineMap map);

  SmallVector<int64_t> tileShape(AffineMap map);

  Value read(Value source, AffineMap map, Type element, TypedAttr pad = {});

  /// Reassociation between a tile and its packed form, in which the group
  /// dimensions, 1 long in the tile and before the axis, or after it, are gone.
  SmallVector<ReassociationIndices> packing(ArrayRef<bool> dropped);

  SmallVector<bool> groupDimsOf(AffineMap map);

  SmallVector<Value> packedSubscripts(AffineMap map);

  RankedTensorType packedTileType(AffineMap map, Type element);

  /// If not `slim`, with the dims of groups.
  Value readPacked(Value source, AffineMap map, Type element, TypedAttr pad,
                   bool slim);

  Value readInput(unsigned number);

  /// Does the tile op take an input, or give a result, as it is packed: without
  /// the dims of groups? Reshaped, it would form no mainloop.
  bool isInputSlim(unsigned number);
  bool isResultSlim(unsigned r);

  /// The tile's shape of result r.
  SmallVector<int64_t> resultShape(unsigned r);

  /// The tile of the marked operand with its background where the mask does not
  /// select.
  Value select(Value values, AffineMap map);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  AffineMap initMap(unsigned r);

  /// The constant that an init is filled with, if it is.
  Value fillOf(Value init);

  Value emptyLike(Value tensor, Type element);

  /// The value of each result before the loops: skipped iterations leave it.
  void start();

  /// `tensor` with elements of a wider float type: a fill is one of them.
  Value widen(Value tensor, Type element);
  /// `tensor` with elements of another float type.
  Value convert(Value tensor, Type element);

  /// The value that others see of result r.
  Value outcome(unsigned r);

  /// True if result r is only packed, by this index: then it never exists
  /// unpacked.
  bool findPackedReads(unsigned r);

  Value emptyPacked(unsigned r);

  /// A tile of result r's accumulators that holds `constant`, null for the
  /// identity of the combiner.
  Value filled(unsigned r, TypedAttr constant = {});
  /// A tile of a number, which is made as wide as `element`.
  Value refill(Value number, ArrayRef<int64_t> shape, Type element);

  /// The accumulator's tile before anything is added.
  Value accumulator(unsigned r, Value carried);

  /// Is every tile of the results written, live or not?
  bool writesAllTiles() { return !isAxisParallel(); }
  /// Does a group write to tiles that others have written to?
  bool writesAgain();
  bool getAccumulatorUsed(unsigned r);
  bool writesInPlace(unsigned r);

  Value write(unsigned r, Value value, Value carried);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  SmallVector<unsigned> loopsOf(Kind kind);

  /// Dims that conflict and yet run in parallel, as the rule has a way to keep
  /// their groups' writes apart. Peeled dims do not, and none does if groups
  /// would be written twice.
  SmallVector<unsigned> concurrentDims();

  SmallVector<Value> groupSubscripts();

  using Body = function_ref<SmallVector<Value>(ValueRange)>;
  /// A loop over `dims` and, if `overIds`, over the ids of the current group.
  template <typename LoopTy>
  SmallVector<Value> loop(ArrayRef<unsigned> dims, bool overIds,
                          ValueRange lower, ValueRange upper, ValueRange args,
                          Body body);

  template <typename LoopTy>
  SmallVector<Value> loop(ArrayRef<unsigned> dims, bool overIds,
                          ValueRange args, Body body);

  /// A pit.forall over `dims` or, if a single tile needs none, just its body.
  SmallVector<Value> forall(ArrayRef<unsigned> dims, bool overIds,
                            ValueRange args, Body body);

  SmallVector<Value> parallelLoop();

  /// The parallel loop into tensors of what each group sums, and a second one
  /// that adds up, for each id, what groups have at its positions.
  SmallVector<Value> twoPhases();
  bool hasTwoPhases() {
    return conflicts == Conflicts::TwoPhase ||
           conflicts == Conflicts::TwoPhaseRounded;
  }
  /// The type of what groups write in the first of two phases.
  Type partElement(unsigned r);

  /// Sets the tile of that second loop; its parallel dims.
  SmallVector<unsigned> widenParts();

  /// A tensor with room for what all groups sum of result r, by positions.
  Value emptyParts(unsigned r);

  /// The tile of result r: what was there before, and its parts, at the
  /// positions that the transpose lists.
  Value addPartials(unsigned r, Value parts, Value transpose);

  SmallVector<Value> conflictLoops(ValueRange args);

  /// One tile of each result: read, computed, written.
  SmallVector<Value> tileResults(ValueRange carried);

  SmallVector<Value> reducedLoops(ArrayRef<unsigned> dims, ValueRange args);

  /// Sequential loops over `dims`, of which some may be peeled.
  SmallVector<Value> nest(ArrayRef<unsigned> dims, ValueRange args, Body body);

  SmallVector<Value> compute(ValueRange accumulators);

  /// Clones a template onto tiles, of which some may be slim.
  SmallVector<Value> cloneTile(const TileTemplate &from, ValueRange inputs,
                               ValueRange inits);

  void finish(ArrayRef<Value> results);

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  Location loc;
  RuleAttr rule;
  SparseOp mark;
  Value index;
  SparsityIndexType indexType;
  std::optional<unsigned> axis;
  SmallVector<int64_t> tile;
  bool kernels, whole;
  bool markedResult = false;
  AffineMap markedMap;
  SmallVector<Kind> kinds;
  SmallVector<bool> single, peeled;
  bool groups = false;
  /// How groups are kept apart in the loops: what the rule says, unless there
  /// are no concurrent dims.
  Conflicts conflicts = Conflicts::Sequential;
  TileBody body;
  std::optional<SelectedEpilogues> epilogues;
  SmallVector<TypedAttr> pads;
  SmallVector<Value> extents, starts, sources, initial;
  SmallVector<ResultEffect, 1> skipped; ///< of each result, at skipped points
  /// The start of the group of a dim whose peeled tail is looped over.
  SmallVector<Value> lastGroup;
  SmallVector<bool> packed, packedResults;
  Value zero, mask, ids, positions;
};

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_TILER_H
