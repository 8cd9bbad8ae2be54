//===- SinkMarks.cpp - Marks move down to the ops that can use them -------===//

#include "Selection.h"
#include "pit/Analysis/BodyEvaluator.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSINKMARKS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Branches and loops that hand marked values on
//===----------------------------------------------------------------------===//

namespace {
class Joiner {
public:
  explicit Joiner(MLIRContext *context) : builder(context) {}

  void join(scf::IfOp branch);
  void join(scf::ForOp loop);
  void join(scf::WhileOp loop);

private:
  /// A mark that `joined` may have, which is one of `values` each time; null if
  /// there is none. A value that the loop which carries `joined` hands on
  /// unchanged is as the rest.
  SparseOp findCommon(Value joined, ValueRange values);

  /// Marks `value`, at the insertion point, as `mark` does.
  void mark(Value value, SparseOp mark);

  OpBuilder builder;
};
} // namespace

SparseOp Joiner::findCommon(Value joined, ValueRange values) {
  if (!isa<RankedTensorType>(joined.getType()))
    return {};
  SparseOp first;
  for (Value value : values)
    if (auto mark = value.getDefiningOp<SparseOp>(); mark && !first)
      first = mark;
  if (!first)
    return {};
  TypedAttr background = first.getBackgroundOrZero();
  bool common = llvm::all_of(values, [&](Value value) {
    if (value == joined)
      return true;
    auto mark = value.getDefiningOp<SparseOp>();
    return mark ? mark.getBackgroundOrZero() == background
                : getUniformConstant(value) == background;
  });
  return common ? first : SparseOp();
}

void Joiner::mark(Value value, SparseOp mark) {
  // Nobody would use a second one.
  if (llvm::all_of(value.getUsers(),
                   [](Operation *user) { return isa<SparseOp>(user); }))
    return;
  auto joined = SparseOp::create(builder, mark.getLoc(), value, Source::Values,
                                 /*selector=*/Value(), mark.getBackgroundAttr(),
                                 /*assume=*/false,
                                 /*rule=*/RuleAttr());
  value.replaceAllUsesExcept(joined, joined);
}

void Joiner::join(scf::IfOp branch) {
  if (branch.getNumResults() == 0)
    return;
  builder.setInsertionPointAfter(branch);
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    if (SparseOp common =
            findCommon(result, {branch.thenYield().getOperand(i),
                                branch.elseYield().getOperand(i)}))
      mark(result, common);
}

void Joiner::join(scf::ForOp loop) {
  for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    SparseOp common =
        findCommon(arg, {loop.getInitArgs()[i], loop.getYieldedValues()[i]});
    if (!common)
      continue;
    builder.setInsertionPointToStart(loop.getBody());
    mark(arg, common);
    builder.setInsertionPointAfter(loop);
    mark(loop.getResult(i), common);
  }
}

void Joiner::join(scf::WhileOp loop) {
  builder.setInsertionPointToStart(loop.getBeforeBody());
  for (auto [i, arg] : llvm::enumerate(loop.getBeforeArguments()))
    if (SparseOp common = findCommon(
            arg, {loop.getInits()[i], loop.getYieldOp().getOperand(i)}))
      mark(arg, common);
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    Value passed = loop.getConditionOp().getArgs()[i];
    SparseOp common = findCommon(result, passed);
    if (!common)
      continue;
    builder.setInsertionPointToStart(loop.getAfterBody());
    mark(loop.getAfterArguments()[i], common);
    builder.setInsertionPointAfter(loop);
    mark(result, common);
  }
}

//===----------------------------------------------------------------------===//
// Ops that only move elements
//===----------------------------------------------------------------------===//

/// Can a mark move through `op`?
static bool isReshape(Operation *op) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp>(op) ||
      isElementCast(op))
    return true;
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op))
    return isa<RankedTensorType>(reshape.getSource().getType()) &&
           isa<RankedTensorType>(reshape.getType());
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return pad.getConstantPaddingValue() != nullptr;
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getType());
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return transpose.hasPureTensorSemantics();
  return false;
}

/// Number of leading dimensions of which a slice has all.
static int64_t countWholeDims(tensor::ExtractSliceOp slice) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  int64_t dim = 0;
  for (int64_t rank = slice.getSourceType().getRank(); dim < rank; ++dim)
    if (dropped[dim] || !isZeroInteger(slice.getMixedOffsets()[dim]) ||
        !isOneInteger(slice.getMixedStrides()[dim]) ||
        slice.getSourceType().isDynamicDim(dim) ||
        getConstantIntValue(slice.getMixedSizes()[dim]) !=
            slice.getSourceType().getDimSize(dim))
      break;
  return dim;
}

/// Number of leading dimensions that `op` leaves in place.
static int64_t countFixedDims(Operation *op) {
  auto countSingle = [](ArrayRef<ReassociationIndices> groups) {
    return llvm::find_if(groups, [](auto &g) { return g.size() != 1; }) -
           groups.begin();
  };
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([&](tensor::ExpandShapeOp expand) {
        return countSingle(expand.getReassociationIndices());
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        return countSingle(collapse.getReassociationIndices());
      })
      .Case([](tensor::ExtractSliceOp slice) { return countWholeDims(slice); })
      .Case([](tensor::ReshapeOp) { return 0; })
      .Case([](tensor::PadOp pad) {
        llvm::SmallBitVector padded = pad.getPaddedDims();
        int first = padded.find_first();
        return first == -1 ? pad.getResultType().getRank() : first;
      })
      .Case([](linalg::TransposeOp transpose) {
        int64_t fixed = 0;
        for (int64_t from : transpose.getPermutation()) {
          if (from != fixed)
            break;
          ++fixed;
        }
        return fixed;
      })
      .Default([](Operation *op) {
        return cast<RankedTensorType>(op->getResult(0).getType()).getRank();
      });
}

/// The result of `op` for a mask of its own input.
static Value reshapeLike(OpBuilder &builder, Operation *op, Value input) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = getElementTypeOrSelf(input);
  bool own = element == type.getElementType();
  auto result = RankedTensorType::get(type.getShape(), element,
                                      own ? type.getEncoding() : Attribute());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            tensor::ExtractSliceOp, tensor::ReshapeOp>([&](Operation *moved) {
        SmallVector<Value> operands(moved->getOperands());
        operands.front() = input;
        return mlir::clone(builder, moved, result, operands)->getResult(0);
      })
      .Case([&](tensor::PadOp pad) {
        // Added elements are selected.
        Value value = arith::ConstantOp::create(builder, loc,
                                                builder.getOneAttr(element));
        return tensor::PadOp::create(builder, loc, result, input,
                                     pad.getMixedLowPad(),
                                     pad.getMixedHighPad(), value);
      })
      .Case([&](linalg::TransposeOp transpose) {
        Value init = transpose.getInit();
        if (!own)
          init = tensor::EmptyOp::create(
              builder, loc, tensor::getMixedSizes(builder, loc, init), element);
        return linalg::TransposeOp::create(builder, loc, input, init,
                                           transpose.getPermutation())
            ->getResult(0);
      })
      .Default([&](Operation *) {
        return tensor::CastOp::create(builder, loc, result, input);
      });
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {
/// A rule's part that speaks about dimensions of the marked tensor. Extents are
/// empty if the rule has no micro-tile.
struct RuleDims {
  int64_t axis = -1;
  SmallVector<int64_t> microTile;
};
} // namespace

/// The member of a group of dimensions that has all of its elements: the others
/// are 1 wide. Nothing if there are several.
static std::optional<int64_t> onlyWideDim(ArrayRef<int64_t> group,
                                          ArrayRef<int64_t> shape) {
  std::optional<int64_t> wide;
  for (int64_t d : group) {
    if (shape[d] == 1)
      continue;
    if (wide)
      return std::nullopt;
    wide = d;
  }
  return wide ? wide : group.front();
}

/// Dimension d of the input becomes the dimensions `groups[d]` of `shape`.
/// Returns the dimension at which the rule breaks, or nothing.
static std::optional<int64_t> expandRule(const RuleDims &from, RuleDims &to,
                                         ArrayRef<ReassociationIndices> groups,
                                         ArrayRef<int64_t> shape) {
  if (!from.microTile.empty())
    to.microTile.assign(shape.size(), 1);
  for (auto [d, group] : llvm::enumerate(groups)) {
    bool isAxis = static_cast<int64_t>(d) == from.axis;
    std::optional<int64_t> wide = onlyWideDim(group, shape);
    if (isAxis) {
      if (!wide)
        return d;
      to.axis = *wide;
    }
    if (from.microTile.empty())
      continue;
    int64_t extent = from.microTile[d];
    if (wide) {
      to.microTile[*wide] = extent;
      continue;
    }
    if (extent != 1 && !ShapedType::isDynamic(extent))
      return d;
    for (int64_t r : group)
      to.microTile[r] = extent;
  }
  return std::nullopt;
}

/// The dimensions `groups[d]` of the input, of extents `shape`, become
/// dimension d. Returns the dimension of the input at which the rule breaks, or
/// nothing.
static std::optional<int64_t>
collapseRule(const RuleDims &from, RuleDims &to,
             ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> shape) {
  for (auto [d, group] : llvm::enumerate(groups)) {
    bool hasAxis = llvm::is_contained(group, from.axis);
    std::optional<int64_t> wide = onlyWideDim(group, shape);
    int64_t first = group.front();
    bool single =
        !from.microTile.empty() && llvm::all_of(group, [&](int64_t s) {
          return from.microTile[s] == from.microTile[first];
        });
    // Micro-tiles one wide stay so, whichever of the dimensions is the axis.
    bool ones = single && from.microTile[first] == 1;
    if (hasAxis) {
      if (wide != from.axis && !ones)
        return from.axis;
      to.axis = d;
    }
    if (from.microTile.empty())
      continue;
    int64_t extent = from.microTile[wide.value_or(first)];
    if (!wide && !ones && !(single && ShapedType::isDynamic(extent)))
      return first;
    to.microTile.push_back(extent);
  }
  return std::nullopt;
}

/// The dimensions that a slice drops have one element. Returns the dimension at
/// which the rule breaks, or nothing.
static std::optional<int64_t> sliceRule(const RuleDims &from, RuleDims &to,
                                        const llvm::SmallBitVector &dropped) {
  int64_t kept = 0;
  for (int64_t d = 0, rank = dropped.size(); d < rank; ++d) {
    if (dropped[d]) {
      if (d == from.axis)
        return d;
      continue;
    }
    if (d == from.axis)
      to.axis = kept;
    if (!from.microTile.empty())
      to.microTile.push_back(from.microTile[d]);
    ++kept;
  }
  return std::nullopt;
}

/// The dimensions of `from` after `op`. Returns the dimension at which they
/// break, or nothing.
static std::optional<int64_t> reshapeDims(Operation *op, const RuleDims &from,
                                          RuleDims &to) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([&](tensor::ExpandShapeOp expand) {
        return expandRule(from, to, expand.getReassociationIndices(),
                          result.getShape());
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        return collapseRule(from, to, collapse.getReassociationIndices(),
                            input.getShape());
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        return sliceRule(from, to, slice.getDroppedDims());
      })
      .Case([&](tensor::ReshapeOp) { return std::max<int64_t>(from.axis, 0); })
      .Case([&](linalg::TransposeOp transpose) {
        for (auto [d, s] : llvm::enumerate(transpose.getPermutation())) {
          if (s == from.axis)
            to.axis = d;
          if (!from.microTile.empty())
            to.microTile.push_back(from.microTile[s]);
        }
        return std::nullopt;
      })
      .Default([&](Operation *) {
        to = from;
        return std::nullopt;
      });
}

/// The rule of a mark after `op`, or null, with a remark, if the op does not
/// leave the dimensions that it is about in one piece.
static RuleAttr reshapeRule(Operation *op, RuleAttr rule) {
  if (!rule)
    return {};
  RuleDims from{rule.getAxis(), llvm::to_vector(rule.getMicroTile())}, to;
  if (std::optional<int64_t> broken = reshapeDims(op, from, to)) {
    op->emitRemark() << "drops the rule " << rule << " of the mark before it: "
                     << "dimension " << *broken
                     << " does not stay in one piece";
    return {};
  }
  return RuleAttr::get(rule.getContext(), rule.getOperand(), to.axis,
                       to.microTile, rule.getTile(), rule.getConflicts());
}

/// Gives `sunk`, which `mark` becomes after `op`, what is known of its zeros.
static void reshapeLiveFraction(Operation *op, SparseOp mark, SparseOp sunk) {
  // Samples are of what moves no element but by whole.
  if (StringAttr label = mark.getLabelAttr()) {
    std::string moved = label.getValue().str();
    llvm::raw_string_ostream os(moved);
    if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
      os << "[";
      llvm::interleave(transpose.getPermutation(), os, "-");
      os << "]";
    } else if (isa<tensor::ExtractSliceOp>(op)) {
      os << "[slice]";
    } else if (isa<tensor::PadOp>(op)) {
      os << "[pad]";
    } else if (isElementCast(op) && mark.getSource() == Source::Values) {
      os << "[" << sunk.getType().getElementType() << "]";
    }
    sunk.setLabel(moved);
  }
  if (!mark.getLiveFractionAttr())
    return;
  RuleDims from, to;
  if (DenseI64ArrayAttr tile = mark.getLiveFractionTileAttr())
    from.microTile.append(tile.asArrayRef().begin(), tile.asArrayRef().end());
  if (std::optional<int64_t> broken = reshapeDims(op, from, to)) {
    op->emitRemark()
        << "drops the live fraction of the mark before it: dimension "
        << *broken << " of its micro-tile does not stay in one "
        << "piece";
    return;
  }
  sunk.setLiveFractionAttr(mark.getLiveFractionAttr());
  if (!to.microTile.empty())
    sunk.setLiveFractionTile(to.microTile);
}

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

/// The mark's selector behind `op`, and in `source` what kind it is there.
/// Nothing if the selection cannot be expressed there.
static FailureOr<Value> reshapeSelector(OpBuilder &builder, Operation *op,
                                        SparseOp mark, Source &source) {
  source = mark.getSource();
  Value selector = mark.getSelector();
  if (source == Source::Values || isElementCast(op))
    return selector;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<tensor::CastOp>(op)) {
    // Selectors match any more or less static type, unless the program is
    // wrong: then it stays as it is.
    if (source == Source::Index)
      return selector;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(selector.getType()).getShape();
    size_t rank = source == Source::Routing ? 1 : shape.size();
    if (failed(verifyCompatibleShape(shape.take_front(rank),
                                     result.getShape().take_front(rank))))
      return failure();
    return selector;
  }
  if (source == Source::Index) {
    source = Source::Values; // of a value that has the selection in it
    return Value();
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op);
      pad && getUniformConstant(pad.getConstantPaddingValue()) !=
                 mark.getBackgroundOrZero())
    return failure();
  int64_t named = 0; // Leading dimensions that the selector is about.
  if (source == Source::Lengths)
    named = cast<RankedTensorType>(selector.getType()).getRank() + 1;
  if (source == Source::Routing)
    named = 2;
  if (named && named <= countFixedDims(op)) {
    // A routing selects from matrices only.
    if (source == Source::Lengths || result.getRank() == 2)
      return selector;
  }
  Value mask = createMask(builder, mark);
  source = Source::Mask;
  auto maskType = cast<RankedTensorType>(mask.getType());
  auto fullType = RankedTensorType::get(mark.getType().getShape(),
                                        maskType.getElementType());
  if (maskType != fullType)
    mask = tensor::CastOp::create(builder, op->getLoc(), fullType, mask);
  return reshapeLike(builder, op, mask);
}

/// The result of `op` for a mark's background, in `background`; null for 0.
/// Fails if that is not known.
static LogicalResult reshapeBackground(Operation *op, SparseOp mark,
                                       TypedAttr &background) {
  background = mark.getBackgroundAttr();
  if (!background || !isElementCast(op))
    return success();
  auto cast = cast_if_present<linalg::LinalgOp>(op);
  BodyEvaluator body(cast, Arithmetic::Computed);
  body.assume(0, background);
  body.run();
  Value yielded = cast.getBlock()->getTerminator()->getOperand(0);
  background =
      dyn_cast_if_present<TypedAttr>(body.lookup(yielded).getConstant());
  return success(background != nullptr);
}

/// Moves the mark that `op` reads behind it.
static void sinkThrough(RewriterBase &rewriter, Operation *op) {
  auto mark = op->getOperand(0).getDefiningOp<SparseOp>();
  if (!mark)
    return;
  rewriter.setInsertionPointAfter(op);
  Source source;
  TypedAttr background;
  FailureOr<Value> selector = reshapeSelector(rewriter, op, mark, source);
  if (failed(selector) || failed(reshapeBackground(op, mark, background)))
    return;
  // On the result of an op the mark also says what that op has to compute. It
  // stays, and what comes after it relies on it. So does what selects something
  // that cannot be said of the values behind `op`.
  Operation *definition = mark.getInput().getDefiningOp();
  bool selects = mark.getSource() != Source::Values && !mark.getAssume();
  bool ofResult =
      isa_and_present<linalg::LinalgOp>(definition) && !isReshape(definition);
  bool stays = selects && (ofResult || source == Source::Values);
  Value moved = op->getResult(0);
  if (!stays) {
    IRMapping mapping;
    mapping.map(mark.getResult(), mark.getInput());
    moved = rewriter.clone(*op, mapping)->getResult(0);
  }
  auto sunk = SparseOp::create(
      rewriter, mark.getLoc(), moved, source, *selector, background,
      source != Source::Values && (stays || mark.getAssume()),
      reshapeRule(op, mark.getRuleAttr()));
  reshapeLiveFraction(op, mark, sunk);
  if (stays) {
    rewriter.replaceAllUsesExcept(moved, sunk, sunk);
    return;
  }
  rewriter.replaceOp(op, sunk);
  if (mark->use_empty())
    rewriter.eraseOp(mark);
}

/// Is `value`, as it is or moved, a result of the function and nothing else?
static bool isOnlyReturned(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isReshape(user) || isa<SparseOp>(user))
      return isOnlyReturned(user->getResult(0));
    return isa<func::ReturnOp>(user);
  });
}

namespace {
struct SinkMarksPass : pit::impl::PitSinkMarksBase<SinkMarksPass> {
  void runOnOperation() override {
    Joiner joiner(&getContext());
    // A value that an inner op hands on, an outer one may, too.
    getOperation().walk([&](Operation *op) {
      if (auto branch = dyn_cast<scf::IfOp>(op))
        joiner.join(branch);
      else if (auto loop = dyn_cast<scf::ForOp>(op))
        joiner.join(loop);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        joiner.join(loop);
    });
    // Producers first, so that a mark falls through a chain in one go.
    SmallVector<Operation *> reshapes;
    getOperation()->walk<WalkOrder::PreOrder, ForwardDominanceIterator<>>(
        [&](Operation *op) {
          // Behind a cast that is the last op nothing could use the mark: the
          // cast itself skips.
          if (isReshape(op) &&
              !(isElementCast(op) && isOnlyReturned(op->getResult(0))))
            reshapes.push_back(op);
        });
    IRRewriter rewriter(&getContext());
    for (Operation *op : reshapes)
      sinkThrough(rewriter, op);
  }
};
} // namespace
