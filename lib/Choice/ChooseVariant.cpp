//===- ChooseVariant.cpp - An op that chooses its rule at run time --------===//

#include "RunTimeVariants.h"

#include "BranchedOps.h"
#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

namespace {
class VariantSwitch : ElementEmitter {
public:
  VariantSwitch(RewriterBase &rewriter, linalg::LinalgOp op, SparseOp mark,
                const VariantSet &set)
      : ElementEmitter(rewriter, op.getLoc()), rewriter(rewriter), op(op),
        mark(mark), set(set), chain(rewriter, findChain(op)) {}

  void create(bool deterministic, const VariantPlanner &planner) {
    b.setInsertionPoint(chain.last());
    ChooseOp choose = createChoice(deterministic);
    // The memory has the shapes of the op's inits; also if one starts from
    // another tensor, as from what is added to it.
    chain.createMemory(loc, op.getDpsInits());
    linalg::LinalgOp dense;
    chain.replace(
        loc, set.variants.size(),
        [&](size_t i) { return equal(choose.getVariant(), index(i + 1)); },
        [&](std::optional<size_t> i) {
          if (i)
            fill(&set.variants[*i].candidate, choose.getBitmap(), planner);
          else
            dense = fill(nullptr, Value(), planner);
        });
    planner.planDense(dense);
  }

private:
  /// `op` and what stays with it: the mark of its result, or ops that can
  /// become epilogues.
  static SmallVector<Operation *> findChain(linalg::LinalgOp op) {
    SmallVector<Operation *> chain = {op};
    if (SparseOp wanted = op->getNumResults() == 1
                              ? getMark(op, *op.getDpsInitOperand(0))
                              : SparseOp()) {
      chain.push_back(wanted);
      return chain;
    }
    while (chain.back()->getNumResults() == 1 &&
           chain.back()->getResult(0).hasOneUse()) {
      OpOperand &use = *chain.back()->getResult(0).use_begin();
      auto next = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!next || next->getBlock() != op->getBlock() ||
          !next.hasPureTensorSemantics() || next.getNumDpsInits() != 1 ||
          next.getNumParallelLoops() != next.getNumLoops())
        return chain;
      AffineMap result = next.getMatchingIndexingMap(next.getDpsInitOperand(0));
      if (!result.isIdentity() || next.getMatchingIndexingMap(&use) != result)
        return chain;
      // It is planned itself, if it has a mark.
      auto isMark = [](Operation *op) { return isa_and_nonnull<SparseOp>(op); };
      if (llvm::any_of(
              next->getOperands(),
              [&](Value operand) { return isMark(operand.getDefiningOp()); }) ||
          llvm::any_of(next->getUsers(), [](Operation *user) {
            auto wanted = dyn_cast<SparseOp>(user);
            return wanted && wanted.getSource() != Source::Values;
          }))
        return chain;
      chain.push_back(next);
    }
    return chain;
  }

  ChooseOp createChoice(bool deterministic) {
    SmallVector<OpFoldResult> sizes;
    for (Range range : op.createLoopRanges(b, loc))
      sizes.push_back(range.size);
    SmallVector<Attribute> candidates;
    SmallVector<Value> fixed, live;
    bool isMask = mark.getSource() == Source::Mask && !scansNumbers();
    Value input = mark.getSource() == Source::Mask ? Value(mark.getSelector())
                                                   : Value(mark.getInput());
    for (const Variant &variant : set.variants) {
      candidates.push_back(TypeAttr::get(variant.candidate.index));
      fixed.push_back(evaluate(variant.fixed, sizes));
      live.push_back(evaluate(variant.live, sizes));
    }
    Value dense = evaluate(set.dense, sizes);
    if (set.leastSaving > 0)
      dropUnlessSaving(fixed, dense);
    return ChooseOp::create(
        b, loc, b.getIndexType(), BitmapType::get(b.getContext()), input,
        /*bitmap=*/Value(), isMask, b.getArrayAttr(candidates), dense, fixed,
        live,
        /*after=*/Value(), /*seen=*/Value(),
        mark.getSource() == Source::Mask ? TypedAttr()
                                         : mark.getBackgroundAttr(),
        deterministic);
  }

  /// Is the mask one of numbers? Numbers that are not 0 are live, as values
  /// are, so that marks by both share a scan.
  bool scansNumbers() {
    return mark.getSource() == Source::Mask &&
           isa<FloatType>(getElementTypeOrSelf(mark.getSelector()));
  }

  /// Makes all variants take longer than the dense one, if the best of them
  /// cannot save what their kernels take in calls that end dense.
  void dropUnlessSaving(SmallVectorImpl<Value> &fixed, Value dense) {
    Value least = fixed.front();
    for (Value other : ArrayRef(fixed).drop_front())
      least = make<arith::MinimumFOp>(least, other);
    Value saved = make<arith::SubFOp>(dense, least);
    Value isWorthIt = make<arith::CmpFOp>(arith::CmpFPredicate::OGE, saved,
                                          createF64(set.leastSaving));
    for (Value &value : fixed)
      value = select(isWorthIt, value, createF64(HUGE_VAL));
  }

  /// The term's value for these sizes of the iteration dims, an f64.
  Value evaluate(const CostTerm &cost, ArrayRef<OpFoldResult> sizes) {
    double known = 0;
    Value all;
    for (const CostTerm::Product &term : cost.products) {
      double factor = term.factor;
      SmallVector<Value> counts;
      for (auto [dim, block] : term.dims) {
        if (std::optional<int64_t> size = getConstantIntValue(sizes[dim]))
          factor *= llvm::divideCeil(std::max<int64_t>(*size, 0), block);
        else
          counts.push_back(countBlocks(sizes[dim], block));
      }
      int64_t points = 1;
      SmallVector<Value> unknown;
      for (unsigned dim : term.points) {
        if (std::optional<int64_t> size = getConstantIntValue(sizes[dim]))
          points *= *size;
        else
          unknown.push_back(countBlocks(sizes[dim], 1));
      }
      bool isConditional = !term.points.empty() && points <= term.least;
      if (isConditional && unknown.empty())
        continue;
      if (counts.empty() && !isConditional) {
        known += factor;
        continue;
      }
      Value value = createF64(factor);
      for (Value count : counts)
        value = product(value, count);
      if (isConditional)
        value = dropUpTo(value, unknown, points, term.least);
      all = all ? sum(all, value) : value;
    }
    if (!all)
      return createF64(known);
    return known ? sum(all, createF64(known)) : all;
  }

  /// `value`, or 0 where the product of counts and `known` is `least` at most.
  Value dropUpTo(Value value, ValueRange counts, double known, double least) {
    Value points = createF64(known);
    for (Value count : counts)
      points = product(points, count);
    Value isMore = make<arith::CmpFOp>(arith::CmpFPredicate::OGT, points,
                                       createF64(least));
    return select(isMore, value, createF64(0));
  }

  Value createF64(double value) { return real(b.getF64Type(), value); }

  /// How many blocks a dim of a size that is not known has, an f64.
  Value countBlocks(OpFoldResult size, int64_t block) {
    Value count = getValueOrCreateConstantIndexOp(b, loc, size);
    if (block != 1)
      count = ceilDiv(count, index(block));
    return make<arith::UIToFPOp>(b.getF64Type(), toI64(count));
  }

  /// Computes a variant, or without a candidate the dense one, and yields it.
  /// Returns its `op`.
  linalg::LinalgOp fill(const Candidate *candidate, Value bitmap,
                        const VariantPlanner &planner) {
    IRMapping mapping;
    // The elements that a mask does not select become the background in the
    // dense op, too.
    bool selects = mark.getSource() != Source::Values && !mark.getAssume();
    bool isWritten = selects && planner.writesOutMasked;
    if (llvm::is_contained(chain.getOps(), mark)) {
      // it comes after the op
    } else if (isWritten && candidate) {
      auto promise = cast<SparseOp>(b.clone(*mark, mapping));
      promise.getInputMutable().assign(mark.getResult());
      promise.setAssume(true);
    } else if (candidate || (selects && !isWritten)) {
      b.clone(*mark, mapping);
    } else if (!selects) {
      mapping.map(mark.getResult(), mark.getInput());
    }
    chain.clone(mapping);
    chain.yield(loc, mapping);
    auto variant = cast<linalg::LinalgOp>(
        mapping.lookup(op->getResult(0)).getDefiningOp());
    if (!candidate)
      return variant;
    Candidate taken = *candidate;
    taken.mark = mapping.lookup(mark.getResult()).getDefiningOp<SparseOp>();
    IndexOp index = planner.apply(variant, taken);
    rewriter.modifyOpInPlace(index, [&] {
      index.getSeenMutable().assign(bitmap);
      if (scansNumbers())
        index.setSource(Source::Values);
    });
    return variant;
  }

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  SparseOp mark;
  const VariantSet &set;
  BranchedOps chain;
};
} // namespace

void mlir::pit::chooseVariant(RewriterBase &rewriter, MarkedOperand marked,
                              const VariantSet &set, bool deterministic,
                              const VariantPlanner &planner) {
  VariantSwitch(rewriter, marked.op, marked.mark, set)
      .create(deterministic, planner);
}
