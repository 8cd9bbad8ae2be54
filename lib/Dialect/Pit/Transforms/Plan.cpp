//===- Plan.cpp - Level 1 to level 2 --------------------------------------===//

#include "ChooseVariant.h"
#include "Selection/Candidates.h"
#include "Selection/TileTable.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITPLAN
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
struct PlanPass : pit::impl::PitPlanBase<PlanPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<Target> machine = getTarget(getOperation().getLoc(), target);
    if (failed(machine))
      return signalPassFailure();
    FailureOr<TileTable> table =
        loadTileTable(getOperation(), tileTable, *machine, tf32);
    if (failed(table))
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      // What has no mark may go into the variants of another op.
      if (op.hasPureTensorSemantics() && !op->hasAttr(kRuleAttrName) &&
          llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
            return findMark(op, operand);
          }))
        ops.push_back(op);
    });
    // Marks with a rule of the user's, and whether some op could take it.
    llvm::MapVector<SparseOp, std::pair<bool, std::string>> insisted;
    for (linalg::LinalgOp op : ops)
      plan(op, *table, insisted);
    getOperation().walk([&](SparseOp mark) {
      if (mark.getRuleAttr() && !mark.use_empty() && !insisted.contains(mark))
        insisted[mark] = {false, "no linalg op on tensors uses the mark"};
    });
    bool refused = false;
    for (auto &[mark, outcome] : insisted) {
      if (outcome.first) {
        // So that planning once more leaves it alone.
        SparseOp(mark).removeRuleAttr();
        continue;
      }
      SparseOp(mark).emitError()
          << "the rule cannot be carried out: " << outcome.second;
      refused = true;
    }
    if (refused)
      signalPassFailure();
  }

private:
  void plan(linalg::LinalgOp op, const TileTable &table,
            llvm::MapVector<SparseOp, std::pair<bool, std::string>> &insisted) {
    CandidateSet found;
    SmallVector<SparseOp> marks;
    for (OpOperand &operand : op->getOpOperands()) {
      SparseOp mark = findMark(op, operand);
      if (!mark)
        continue;
      marks.push_back(mark);
      findCandidates(op, operand.getOperandNumber(), mark, table,
                     {strict, deterministic, conflicts}, found);
    }
    if (marks.empty())
      return;
    auto best = llvm::min_element(
        found.legal, [](const Candidate &a, const Candidate &b) {
          // What the user insists on goes first.
          bool insistsA = insists(a);
          bool insistsB = insists(b);
          if (insistsA != insistsB)
            return insistsA;
          return std::tie(a.cost, a.elements) < std::tie(b.cost, b.elements);
        });
    std::string why = llvm::join(found.refused, "; ");
    for (SparseOp mark : marks)
      if (mark.getRuleAttr()) {
        auto &outcome = insisted[mark];
        bool taken = best != found.legal.end() && best->mark == mark;
        outcome.first |= taken;
        if (!taken && outcome.second.empty())
          outcome.second = best == found.legal.end() || !insists(*best)
                               ? why
                               : (op->getName().getStringRef() +
                                  " is tiled by the rule of its operand " +
                                  Twine(best->rule.getOperand()))
                                     .str();
      }
    if (best == found.legal.end()) {
      op->emitRemark() << "stays dense: " << why;
      return;
    }
    if (choice == Choice::AtRunTime && marks.size() == 1 &&
        chooseAtRunTime(op, best->mark, best->rule.getOperand(), found, table))
      return;
    if (explain)
      best->choice.explain(op);
    apply(op, *best);
  }

  /// Leaves it to the program which rule `op` is computed by, if the table says
  /// what that takes. The ops that choose stay dense or have all variants.
  bool chooseAtRunTime(linalg::LinalgOp op, SparseOp mark, unsigned operand,
                       const CandidateSet &found, const TileTable &table) {
    std::optional<VariantSet> set =
        findVariants(op, operand, mark, found.legal, table,
                     {strict, deterministic, conflicts});
    if (!set)
      return false;
    IRRewriter rewriter(&getContext());
    if (set->neverPays) {
      op->emitRemark() << "stays dense: each element of operand " << operand
                       << " is used so rarely that looking for zeros takes "
                          "longer";
      for (OpOperand &any : op->getOpOperands())
        if (any.get() == mark.getResult())
          any.set(mark.getInput());
      return true;
    }
    if (explain) {
      InFlightDiagnostic remark = op->emitRemark()
                                  << "chooses at run time: dense";
      for (const Variant &variant : set->variants)
        remark << ", " << variant.candidate.index;
    }
    chooseVariant(rewriter, op, mark, *set, deterministic,
                  [&](linalg::LinalgOp planned, const Candidate &candidate) {
                    return apply(planned, candidate);
                  });
    return true;
  }

  static bool insists(const Candidate &candidate) {
    return SparseOp(candidate.mark).getRuleAttr() != nullptr;
  }

  /// The mark of an input, or of the result that an init becomes.
  SparseOp findMark(linalg::LinalgOp op, OpOperand &operand) {
    return op.isDpsInit(&operand) ? resultMark(op, operand)
                                  : operand.get().getDefiningOp<SparseOp>();
  }

  /// The mark of a result that says which of its elements are wanted.
  SparseOp resultMark(linalg::LinalgOp op, OpOperand &init) {
    Value result = op.getTiedOpResult(&init);
    if (!result.hasOneUse())
      return {};
    auto mark = dyn_cast<SparseOp>(*result.getUsers().begin());
    if (!mark || mark.getSource() == Source::Values)
      return {};
    // The index is built before the op.
    if (!DominanceInfo().properlyDominates(mark.getSelector(),
                                           op.getOperation()))
      return {};
    return mark;
  }

  /// Is an element selected just if its micro-tile is live?
  static bool isExact(SparseOp mark, SparsityIndexType index) {
    ArrayRef<int64_t> microTile = index.getMicroTile();
    switch (mark.getSource()) {
    case Source::Values:
    case Source::Index:
      return false;
    case Source::Mask:
    case Source::Assignment:
      return llvm::all_of(microTile, [](int64_t e) { return e == 1; }) &&
             !index.hasWindows();
    case Source::Lengths: {
      int64_t ragged =
          cast<RankedTensorType>(mark.getSelector().getType()).getRank();
      if (index.getAxis() != ragged)
        return false;
      return llvm::all_of(microTile.take_front(ragged),
                          [](int64_t e) { return e == 1; });
    }
    }
    llvm_unreachable("unknown source");
  }

  IndexOp buildIndex(IRRewriter &rewriter, SparseOp mark, Value like,
                     SparsityIndexType type) {
    Location loc = mark.getLoc();
    Value input = mark.getSelector() ? mark.getSelector() : mark.getInput();
    SmallVector<Value> shape;
    if (mark.getSource() == Source::Lengths ||
        mark.getSource() == Source::Assignment)
      for (OpFoldResult size : tensor::getMixedSizes(rewriter, loc, like))
        shape.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, size));
    bool values = mark.getSource() == Source::Values;
    return IndexOp::create(rewriter, loc, type, mark.getSource(), input, shape,
                           /*seen=*/Value(),
                           values ? mark.getBackgroundAttr() : TypedAttr(),
                           unordered);
  }

  /// Carries a rule out; returns the index, null if it is the mark's.
  IndexOp apply(linalg::LinalgOp op, const Candidate &candidate) {
    IRRewriter rewriter(&getContext());
    SparseOp mark = candidate.mark;
    OpOperand &operand = op->getOpOperand(candidate.rule.getOperand());
    bool isResult = op.isDpsInit(&operand);
    op->setAttr(kRuleAttrName, candidate.rule);
    if (mark.getSource() == Source::Index)
      return {};

    if (isResult)
      rewriter.setInsertionPoint(op);
    else
      rewriter.setInsertionPointAfter(mark);
    IndexOp index =
        buildIndex(rewriter, mark, isResult ? operand.get() : mark.getInput(),
                   candidate.index);
    bool exact = isExact(mark, candidate.index);
    TypedAttr background = mark.getBackgroundAttr();
    if (!isResult) {
      // The new mark selects by the index; where that selects more than the
      // mark does, it comes after it.
      bool direct =
          exact || mark.getAssume() || mark.getSource() == Source::Values;
      Value input = direct ? mark.getInput() : mark.getResult();
      auto chosen = SparseOp::create(
          rewriter, mark.getLoc(), input, Source::Index, index, background,
          /*assume=*/!exact || mark.getAssume(), RuleAttr());
      // An input that reads the same elements stays known to do so.
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (OpOperand *input : op.getDpsInputOperands())
        if (input->get() == mark.getResult() &&
            op.getMatchingIndexingMap(input) == map)
          input->set(chosen);
      return index;
    }
    rewriter.setInsertionPoint(mark);
    auto chosen = SparseOp::create(rewriter, mark.getLoc(), mark.getInput(),
                                   Source::Index, index, background,
                                   /*assume=*/false, RuleAttr());
    if (exact)
      rewriter.replaceOp(mark, chosen.getResult());
    else
      rewriter.modifyOpInPlace(mark,
                               [&] { mark.getInputMutable().assign(chosen); });
    return index;
  }
};
} // namespace
