//===- OnlineReductions.h - Reductions that use each other ------*- C++ -*-===//
//
// A chain is a set of structured ops that reduce one dimension, its axis,
// several times, where a later reduction uses the result of an earlier one:
// sum(exp(x - max(x))). One loop along the axis computes all of it if what was
// taken relative to an earlier result can be rescaled when that changes.
// docs/Legality.md lists the conditions under the numbers used here. Knows
// upstream dialects only.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ANALYSIS_ONLINEREDUCTIONS_H
#define PIT_ANALYSIS_ONLINEREDUCTIONS_H

#include "pit/Analysis/Combiner.h"

#include "llvm/ADT/MapVector.h"

#include <string>

namespace mlir::pit {

/// The conditions on a chain. The values are the numbers O1, O2, ... of
/// docs/Legality.md.
enum class OnlineCondition : unsigned {
  None = 0,
  /// An op is element-wise, or reduces the axis alone into one result by a
  /// combiner (C4), from a constant.
  Structured = 1,
  /// A later reduction has an earlier one's result in exponents or as a factor.
  Rescalable = 2,
  /// A value that is rescaled is a sum of floats.
  RescaledSum = 3,
  /// A value that runs along the axis is used in the chain alone.
  UsedInChain = 4,
  /// The factors within a step fit a tile.
  FitsTile = 5,
  /// Some constant beyond the end of the axis contributes nothing.
  Padding = 6,
  /// One mark at most, with a background that contributes nothing.
  Selection = 7,
  /// All dims have extents, and rows to share out.
  Rows = 8,
  /// What is added in each step takes tensor cores of sm_90a.
  Added = 9,
};

/// An input of an op, behind ops that only broadcast, transpose or reshape by
/// dims of one element.
struct ChainInput {
  unsigned number; ///< of the op's operand
  Value value;
  AffineMap map; ///< from the op's loops
  /// It is 0 where the value is infinite.
  bool isFinite = false;
};

/// The result of an earlier op, which does not run along the axis, in an
/// argument of an exponential: coefficient * result.
struct Shift {
  unsigned op;    ///< of the chain, that adds it
  unsigned input; ///< of that op, by its place in `inputs`
  double coefficient;
  bool operator==(const Shift &other) const {
    return op == other.op && input == other.input &&
           coefficient == other.coefficient;
  }
};

/// An exponential of what is shifted.
struct Power {
  unsigned op;
  Operation *scalar; ///< math.exp or math.exp2
  Shift shift;
  bool operator==(const Power &other) const { return scalar == other.scalar; }
};

/// A product with, or a quotient by, what does not run along the axis. It is
/// left out of the loop and applied to what the loop sums.
struct RowFactor {
  unsigned op;
  Operation *scalar; ///< the product or quotient
  Value row;         ///< its operand
  bool inverse;
  bool operator==(const RowFactor &other) const {
    return scalar == other.scalar;
  }
};

/// How a value uses results of earlier reductions.
struct Dependence {
  std::optional<Shift> shift;
  SmallVector<Power, 1> powers;
  SmallVector<RowFactor, 1> factors;
  bool isNone() const { return !shift && powers.empty() && factors.empty(); }
  bool operator==(const Dependence &other) const {
    return shift == other.shift && powers == other.powers &&
           factors == other.factors;
  }
};

enum class ChainRole {
  Elements,  ///< runs along the axis
  Reduction, ///< reduces the axis
  Added,     ///< runs along the axis, and sums up products over rows
  Rows       ///< element-wise, of results of reductions
};

struct ChainOp {
  Operation *op = nullptr; ///< a linalg op, or what selects
  ChainRole role = ChainRole::Elements;
  SmallVector<unsigned> dims; ///< the chain's dim of each loop
  SmallVector<ChainInput> inputs;
  AffineMap resultMap;
  Dependence dependence;

  linalg::LinalgOp linalgOp() const { return dyn_cast<linalg::LinalgOp>(op); }
  bool isSelection() const { return !isa<linalg::LinalgOp>(op); }
  Value result() const { return op->getResult(0); }
  /// The chain's dims of an operand with `map`, -1 where it has one element.
  SmallVector<int64_t> dimsOf(AffineMap map) const;
};

/// An op that selects elements of a value, and gives a constant elsewhere.
struct Selection {
  Value input;
  TypedAttr background;
};
using FindSelection = function_ref<std::optional<Selection>(Operation *)>;

/// A condition without which nothing is contributed at a position of the axis:
/// that it is less than a sum, or not, or that the sum itself is negative.
struct AxisBound {
  /// An element of a tensor of integers, times.
  struct Read {
    Value value;
    SmallVector<int64_t> dims; ///< the chain's, -1 where it has one element
    int64_t times;
  };
  bool isUpper = false;  ///< nothing at positions >= the sum, else < the sum
  bool isOfRows = false; ///< nothing at all where the sum is not negative
  int64_t constant = 0;
  SmallVector<std::pair<unsigned, int64_t>> dims;  ///< coordinates, times
  SmallVector<std::pair<Value, int64_t>> captured; ///< index values, times
  SmallVector<Read> reads;
};

struct OnlineChain {
  SmallVector<ChainOp, 0> ops; ///< in the block's order
  unsigned numDims = 0, axis = 0;
  /// Dims that all reductions sum up, too, around the axis.
  SmallVector<unsigned> outers;
  llvm::DenseMap<Operation *, unsigned> numbers;
  /// The dims of each value that is read or computed.
  llvm::MapVector<Value, SmallVector<int64_t>> dims;
  /// Constants for what is read beyond the axis' end, where they are not zero,
  /// and for what is computed there.
  llvm::MapVector<Value, TypedAttr> pads, masks;
  SmallVector<AxisBound> bounds;
  /// Nothing is contributed where neither of two holds.
  SmallVector<std::pair<AxisBound, AxisBound>, 0> eithers;
  /// The op that selects, if there is one.
  std::optional<unsigned> selection;
  TypedAttr background; ///< of the selection

  const ChainOp *find(Value value) const;
  bool runsAlongAxis(Value value) const;
  bool hasDim(Value value, int64_t dim) const;
  bool isOuter(int64_t dim) const {
    return dim >= 0 && llvm::is_contained(outers, unsigned(dim));
  }
  /// Does anything but the chain use what one of its ops computes?
  bool isUsedOutside(Value value) const;
};

/// Finds the chain whose last reduction may be `op`: none if it reduces nothing
/// that uses an earlier reduction. With `storesFactors` factors of products
/// that are computed of nothing but what is read, along the axis, are none of
/// its ops. With `adds` sums over rows, to which each step adds, are.
OrRefusal<std::optional<OnlineChain>>
findOnlineChain(linalg::LinalgOp op, FindSelection findSelection,
                bool storesFactors = false, bool adds = false);

/// Goes from a value, read by `map`, to what it is moved from by ops that only
/// broadcast, transpose or reshape by dims of one element.
void lookThroughMoves(Value &value, AffineMap &map);

/// The same, also behind ops that repeat each element of a dim, as a mask of
/// blocks is repeated to one of elements. Then a result of `map` may be a dim
/// divided by the size of a block.
void lookThroughRepeats(Value &value, AffineMap &map);

/// The size of the blocks that a result of such a map numbers: 1 where it is a
/// dim or a constant, 0 if it is something else.
int64_t getBlockSize(AffineExpr coordinate);

/// The constant that a scalar of a body is, by itself or as an element of a
/// tensor of one number. Null if it is none.
Attribute getScalarConstant(linalg::LinalgOp op, Value value);

/// The exponent of a power, if it is the difference of something and a number
/// of the row, as probabilities of an attention are powers of scores and the
/// logarithms of sums. Null if it is something else: the power of an
/// activation has no such number.
arith::SubFOp findRelativeExponent(linalg::LinalgOp op, Operation *scalar);

/// Is `op` a chain's contraction of something else than the axis?
bool isInnerContraction(const ChainOp &op);

} // namespace mlir::pit

#endif // PIT_ANALYSIS_ONLINEREDUCTIONS_H
