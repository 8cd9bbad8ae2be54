//===- Folder.h - Moves SReads up and SWrites down --------------*- C++ -*-===//
//
// Values stay packed between ops that share an index. Whole-tensor SReads move
// up, SWrites move down, until they meet:
//
//   1. Planned ops that the loop before them can compute lose their rule
//      (FoldEpilogues.cpp).
//   2. The operands of planned ops that could be read packed are packed and
//      unpacked again, tentatively: there SReads start (FoldOffers.cpp).
//   3. Downwards: an op on an unpacked value runs on the packed one, if it
//      makes a constant of what lies outside, or leaves its init there
//      (FoldDown.cpp).
//   4. Upwards: an op whose result is only packed runs on packed operands
//      (FoldUp.cpp).
//   5. A tentative step that met nothing is taken back (FoldOffers.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_FOLDER_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_FOLDER_H

#include "Packing.h"

#include "pit/Analysis/Skipping.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

namespace mlir::pit {

/// Is the mark's result its input?
bool isIdentity(SparseOp mark);

/// Does the mark say which results of a planned op are wanted? Then the two
/// belong together.
bool isResultMark(SparseOp mark);

/// The whole-tensor SWrite that `value` is, if it keeps every bit of its tile.
SWriteOp getUnpack(Value value);

/// How `value` is packed if nothing but one kind of SRead uses it.
std::optional<Packing> getOnlyPacking(Value value);

/// The packing by the index of `mark` of what it marks.
Packing wholePacking(SparseOp mark);

/// Does every element that `packing` packs belong to what `mark` selects?
bool isAllSelected(SparseOp mark, const Packing &packing);

/// The rewriting of one function.
class Folder {
public:
  Folder(RewriterBase &rewriter, func::FuncOp function)
      : function(function), rewriter(rewriter) {}

  void run();

private:
  /// `value` packed, as cheaply as it can be had.
  Value pack(Location loc, Value value, const Packing &packing);

  /// A tensor that is the same everywhere, or nowhere anything, is made anew.
  /// Null if `value` is none.
  Value packUniform(Location loc, Value value, const Packing &packing);

  Value fill(Location loc, Value constant, Value into);

  /// `op` on packed operands, at the insertion point.
  linalg::LinalgOp packOp(linalg::LinalgOp op, ArrayRef<unsigned> loops,
                          Value index);

  /// Replaces an SRead by what it would read.
  void replaceRead(SReadOp read, Value packed);

  /// A user that only asks for the shape of a value does not need it unpacked.
  void resolveDims();

  /// Indices that list the same ids become one, so that what they pack is
  /// packed alike.
  void shareIndices();

  /// Part 1.
  void leaveEpilogues();
  /// Takes the rules of the ops behind the outcome of a planned op.
  void leaveEpilogues(Value outcome, Packing packing);
  void leaveEpilogue(OpOperand &operand, const Packing &packing);
  /// Takes the rule of the op that alone uses `mark`, if it is an epilogue
  /// because it can be skipped [E4].
  void leaveSkipped(SparseOp mark);

  /// Part 2.
  void offerPackedOperands();
  void offerPackedOperands(linalg::LinalgOp op, RuleAttr rule, SparseOp mark,
                           ArrayRef<unsigned> loops);

  /// Erases those of `ops` that nothing uses, and what only they used.
  void eraseDead(SetVector<Operation *> ops);

  /// Has the operand of a planned op read swrite(sread(value)). Places outside
  /// of the index are not read.
  void offer(linalg::LinalgOp op, OpOperand &operand, bool marked,
             const Packing &packing);

  /// Part 3.
  void pushDown();

  /// op(swrite(p into fill)) -> swrite(op(p) into what op makes of the fill).
  bool pushDownThrough(linalg::LinalgOp op, OpOperand &operand);

  /// The values of the results of `op` outside of the index, if skipping has
  /// these effects. Nothing if one of them has another type than its init.
  std::optional<SmallVector<Value>> makeOutside(linalg::LinalgOp op,
                                                ArrayRef<ResultEffect> effects);

  /// Part 4. Users come before what they use, so that each op is looked at when
  /// all of its users that could be packed are.
  void pushUp();

  void setSource(SReadOp read, Value source);
  void replaceUniform(Value value);

  /// sread(swrite(p)) -> p.
  void forwardTile(SWriteOp write);

  void pushUpThrough(tensor::CastOp cast);
  void pushUpThrough(SparseOp mark);

  /// sread(op(x)) -> op(sread(x)), if no one needs the unpacked result.
  void pushUpThrough(linalg::LinalgOp op);

  /// The place at which `op` may run on packed operands: in its place, or after
  /// the index.
  bool setInsertionPoint(Operation *op, Value index);

  /// An operand of a planned op that was unpacked tentatively.
  struct Offer {
    SWriteOp write;
    Value value;
  };

  bool isOffer(Operation *op);

  /// Part 5.
  void takeBackOffers();

  func::FuncOp function;
  RewriterBase &rewriter;
  DominanceInfo dominance;
  SmallVector<Offer> offers;
};

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_FOLDER_H
