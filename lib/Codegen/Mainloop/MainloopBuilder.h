//===- MainloopBuilder.h - The mainloop of one tile -------------*- C++ -*-===//
//
// Mainloops of contractions and those with a tile body share this: the op, its
// steps, and the scalar code before and after them.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_MAINLOOP_MAINLOOPBUILDER_H
#define PIT_LIB_CODEGEN_MAINLOOP_MAINLOOPBUILDER_H

#include "BuildMainloop.h"

namespace mlir::pit {

/// Builds one mainloop beside the ops that it stands for.
class MainloopBuilder {
public:
  virtual ~MainloopBuilder() = default;

  OrRefusal<MainloopOp> build();

protected:
  /// An element that `init` or `finish` reads: of the tile of an SRead, at
  /// `map` of the dimensions of the tile that is written.
  using Extra = std::pair<SReadOp, AffineMap>;

  /// The results of a loop over steps, or of the contractions without one.
  struct Sums {
    SWriteOp write;           ///< what writes the tile
    SmallVector<ForOp> loops; ///< from the outermost on; the last may have ids
    SmallVector<Value> values, initial; ///< the last ones, and the first ones
  };

  MainloopBuilder(OpBuilder &builder, Sums sums, const MainloopOutput &output,
                  IRMapping &mapping)
      : builder(builder), loc(sums.write.getLoc()), sums(std::move(sums)),
        output(output), mapping(mapping) {}

  /// Finds the SReads of what is computed before and after the steps.
  virtual Refused findExtras() = 0;
  /// The tiles that all steps read, once they are known.
  virtual OrRefusal<SmallVector<Value>> createOnce() {
    return SmallVector<Value>();
  }
  virtual Refused fillLoad() = 0;
  virtual Refused fillCompute() = 0;
  /// The region's first values, from those of the loop.
  virtual Refused fillInit() = 0;
  /// Called for a sum whose elements are taken by `map`. False: not so.
  virtual bool takeSum(Value sum, AffineMap map) = 0;
  /// Called when all regions are there.
  virtual Refused finish() { return {}; }

  Refused createOp();
  Refused fillGroups();
  Refused fillFinish() {
    return fillScalars(mainloop.getEpilogue(), sums.values,
                       sums.write.getTile());
  }
  /// Fills a region that begins with these elements of sums, and yields those
  /// of `tiles`, each by the map of its own rank.
  Refused fillScalars(Region &region, ValueRange from, ValueRange tiles);
  /// Finds the SReads from which a tile is computed, as element() will meet
  /// them.
  LogicalResult collectExtras(Value tile, ValueRange sums, AffineMap map);

  SmallVector<Value> mapAll(ValueRange values);
  /// The view of an SRead, or the coordinates of ids.
  OrRefusal<Value> createSource(Operation *read);
  /// A block that knows the variables of all steps, and the scalars and numbers
  /// of tiles of `around`.
  Refused createSteps(Region &region, ArrayRef<ForOp> around, ValueRange ids);
  /// The scalar value of element `map` of a tile, `map` in terms of the
  /// dimensions of the tile that is written, at the end of `block`, whose last
  /// arguments are the extras.
  FailureOr<Value> element(Value tile, AffineMap map, Block *block);
  FailureOr<Value> inlineBody(linalg::LinalgOp op, AffineMap map, Block *block);
  /// Clones the scalar ops of a body; `scalars` has what stands for its
  /// arguments. Gives what it yields.
  OrRefusal<Value> cloneScalars(OpBuilder &inside, linalg::LinalgOp op,
                                IRMapping &scalars);

  /// The region of a contraction, as the body of `op`, of which it multiplies
  /// `inputs`.
  Refused fillContraction(linalg::LinalgOp op, ArrayRef<unsigned> inputs,
                          ContractOp contract);

  /// The innermost loop over steps, if there is one.
  ForOp innermost() { return sums.loops.empty() ? ForOp() : sums.loops.back(); }
  /// The index that has the ids of the steps, if they are gathered.
  Value list() { return innermost() ? innermost().getIndex() : Value(); }
  /// Is the group of the list another one for each step?
  bool groupsVary();
  bool isOnTensors() { return isa<RankedTensorType>(output.dest.getType()); }
  /// Is a value one of the steps' own?
  bool isOfSteps(Value value) {
    return !sums.loops.empty() &&
           sums.loops.front().getRegion().isAncestor(value.getParentRegion());
  }

  OpBuilder &builder;
  Location loc;
  Sums sums;
  const MainloopOutput &output;
  IRMapping &mapping; ///< old values to new ones

  MainloopOp mainloop;
  SmallVector<Extra> extras;
  /// The values that stand for elements of the sums; none before they are
  /// there.
  DenseMap<Value, Value> sumElements;
};

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_MAINLOOP_MAINLOOPBUILDER_H
