//===- Plan.cpp - Level 1 to level 2 --------------------------------------===//

#include "Choice/CompareRules.h"
#include "Choice/RunTimeVariants.h"
#include "Reshapes.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Dialect/Pit/Transforms/Rules.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
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
    FailureOr<CostTable> weighed = failure();
    if (succeeded(table))
      weighed = loadCostTable(getOperation(), tileTable, *machine, tf32);
    if (failed(weighed))
      return signalPassFailure();
    costs = &*weighed;
    FailureOr<std::unique_ptr<ZeroFacts>> known = ZeroFacts::load(
        getOperation(), llvm::to_vector_of<std::string>(samples), profile);
    if (failed(known))
      return signalPassFailure();
    facts = known->get();
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      dropStaleRule(op);
      // An op without a mark may go into the variants of another op.
      if (op.hasPureTensorSemantics() && !op->hasAttr(kRuleAttrName) &&
          llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
            return getMark(op, operand);
          }))
        ops.push_back(op);
    });
    // Marks with a rule of the user's, and whether some op could take it.
    llvm::MapVector<SparseOp, std::pair<bool, std::string>> insisted;
    for (linalg::LinalgOp op : ops)
      if (failed(plan(op, *table, insisted)))
        return signalPassFailure();
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
  /// Passes of others tile and reshape planned ops without a look at their
  /// rule.
  static void dropStaleRule(linalg::LinalgOp op) {
    auto rule = op->getAttrOfType<RuleAttr>(kRuleAttrName);
    if (!rule || getIndexMark(op, rule))
      return;
    op->emitRemark() << "drops its " << kRuleAttrName << ": no index marks "
                     << "operand " << rule.getOperand() << " any more [M2]";
    op->removeAttr(kRuleAttrName);
  }

  LogicalResult
  plan(linalg::LinalgOp op, const TileTable &table,
       llvm::MapVector<SparseOp, std::pair<bool, std::string>> &insisted) {
    CandidateSet found;
    SmallVector<MarkedOperand> marks;
    for (OpOperand &operand : op->getOpOperands()) {
      SparseOp mark = getMark(op, operand);
      if (!mark)
        continue;
      marks.push_back({op, operand.getOperandNumber(), mark});
      findCandidates(marks.back(), getPlanTarget(table), found);
    }
    if (marks.empty())
      return success();
    const Candidate *best = findBest(found.legal);
    std::string why = llvm::join(found.refused, "; ");
    bool isInsisted = false;
    for (const MarkedOperand &marked : marks)
      if (SparseOp mark = marked.mark; mark.getRuleAttr()) {
        isInsisted = true;
        auto &outcome = insisted[mark];
        bool taken = best && best->mark == mark;
        outcome.first |= taken;
        if (!taken && outcome.second.empty())
          outcome.second = !best || !insists(*best)
                               ? why
                               : (op->getName().getStringRef() +
                                  " is tiled by the rule of its operand " +
                                  Twine(best->rule.getOperand()))
                                     .str();
      }
    if (!best) {
      op->emitRemark() << "stays dense: " << why;
      return success();
    }
    if (!isInsisted) {
      FailureOr<bool> done = planKnown(op, marks, found, table);
      if (failed(done) || *done)
        return done;
      best = findBest(found.legal);
      if (choice == Choice::AtRunTime &&
          chooseAtRunTime(op, marks, found.legal, table))
        return success();
    }
    if (explain)
      best->choice.explain(op);
    applyBest(op, *best, table);
    return success();
  }

  PlanTarget getPlanTarget(const TileTable &table) {
    return {table, strict, deterministic, conflicts};
  }

  /// The first one in order of what the user insists on, and then of cost; null
  /// if there is none.
  static const Candidate *findBest(ArrayRef<Candidate> legal) {
    const Candidate *best = llvm::min_element(legal, isBetter);
    return best == legal.end() ? nullptr : best;
  }

  /// Plans `op` by what is known of its marks' zeros. True if that decides;
  /// else the marks and rules are left of which nothing is known.
  FailureOr<bool> planKnown(linalg::LinalgOp op,
                            SmallVectorImpl<MarkedOperand> &marks,
                            CandidateSet &found, const TileTable &table) {
    SmallVector<RuleComparison> comparisons;
    SmallVector<MarkedOperand> unknown;
    for (const MarkedOperand &marked : marks) {
      SparseOp mark = marked.mark;
      MarkFacts *known =
          mark.getSource() == Source::Index ? nullptr : facts->find(mark);
      if (!known) {
        if (StringRef file = facts->getSilentProfile(mark); !file.empty())
          mark.emitWarning()
              << "profile '" << file << "' has nothing of mark '"
              << *mark.getLabel() << "': no call reached it, or it is new";
        unknown.push_back(marked);
        continue;
      }
      std::string error;
      FailureOr<std::optional<RuleComparison>> compared = compareRules(
          marked, found.legal, getPlanTarget(table), *costs, *known, error);
      if (failed(compared))
        return mark.emitError()
               << "mark '" << mark.getLabel().value_or("") << "': " << error;
      if (*compared)
        comparisons.push_back(std::move(**compared));
      else
        unknown.push_back(marked);
    }
    auto best = llvm::min_element(
        comparisons, [](const RuleComparison &a, const RuleComparison &b) {
          return a.getGain() < b.getGain();
        });
    bool pays = best != comparisons.end() && best->pays();
    if (explain)
      for (const RuleComparison &one : comparisons)
        one.explain(op, pays ? &one == best : unknown.empty());
    if (pays) {
      applyBest(op, best->rules.front().candidate, table);
      return true;
    }
    for (const RuleComparison &one : comparisons)
      skipNothing(op, one.mark);
    llvm::erase_if(found.legal, [&](const Candidate &candidate) {
      return llvm::none_of(unknown, [&](const MarkedOperand &marked) {
        return marked.mark == candidate.mark;
      });
    });
    marks = std::move(unknown);
    return found.legal.empty();
  }

  /// Makes the dense op of `op`, as far as a mark is concerned.
  static void skipNothing(linalg::LinalgOp op, SparseOp mark) {
    if (mark.getSource() != Source::Values && !mark.getAssume())
      return; // what is not selected still has to become the background
    for (OpOperand &any : op->getOpOperands())
      if (any.get() == mark.getResult())
        any.set(mark.getInput());
  }

  /// Leaves it to the program which rule `op` is computed by, if it can look at
  /// all of the marks, and the table says what that takes. The ops that choose
  /// stay dense or have all variants.
  bool chooseAtRunTime(linalg::LinalgOp op, ArrayRef<MarkedOperand> marks,
                       ArrayRef<Candidate> legal, const TileTable &table) {
    SmallVector<std::pair<MarkedOperand, VariantSet>, 1> sets;
    for (const MarkedOperand &marked : marks) {
      // If nothing of a value is skipped as one operand, it has no mark as the
      // other.
      if (llvm::any_of(sets, [&](const auto &other) {
            return other.first.mark == marked.mark;
          }))
        continue;
      std::optional<VariantSet> set =
          findRunTimeVariants(marked, legal, getPlanTarget(table), *costs);
      if (!set)
        return false;
      sets.push_back({marked, std::move(*set)});
    }
    chooseAmong(op, sets, table.isForGpu);
    return true;
  }

  /// Puts the variants for the first mark around those for the others.
  void chooseAmong(linalg::LinalgOp op,
                   MutableArrayRef<std::pair<MarkedOperand, VariantSet>> sets,
                   bool isForGpu) {
    while (!sets.empty()) {
      auto &[first, set] = sets.front();
      sets = sets.drop_front();
      // In the variants for an earlier mark another op stands for the one that
      // was marked, and another mark for that of its result.
      MarkedOperand marked = {op, first.number,
                              getMark(op, op->getOpOperand(first.number))};
      if (explain)
        set.explain(op);
      if (set.neverPays || set.variants.empty()) {
        op->emitRemark() << "stays dense: "
                         << (set.neverPays ? "each element of operand "
                                           : "no rule for operand ")
                         << marked.number
                         << (set.neverPays
                                 ? " is used so rarely that scanning for zeros "
                                   "takes longer"
                                 : " is worth a choice");
        skipNothing(op, marked.mark);
        continue;
      }
      IRRewriter rewriter(&getContext());
      chooseVariant(
          rewriter, marked, set, deterministic,
          {[&](linalg::LinalgOp planned, const Candidate &candidate) {
             return apply(planned, candidate);
           },
           [&](linalg::LinalgOp dense) { chooseAmong(dense, sets, isForGpu); },
           /*writesOutMasked=*/isForGpu});
      return;
    }
  }

  /// Carries out the rule that an op gets. On a CPU a product is as fast by a
  /// nest of loops, which may read packed values.
  void applyBest(linalg::LinalgOp op, const Candidate &candidate,
                 const TileTable &table) {
    IRRewriter rewriter(&getContext());
    std::optional<RuledOp> rows;
    if (table.isForGpu || op.getNumDpsInputs() == 1)
      rows = collapseRows(rewriter, op, candidate, unordered);
    if (rows)
      planByRule(rewriter, rows->op, rows->legal, unordered);
    else
      apply(op, candidate);
  }

  /// Carries a rule out; returns the index, null if it is the mark's.
  IndexOp apply(linalg::LinalgOp op, const Candidate &candidate) {
    bool isMarks = SparseOp(candidate.mark).getSource() == Source::Index;
    IRRewriter rewriter(&getContext());
    Value index = planByRule(rewriter, op, candidate, unordered);
    return isMarks ? IndexOp() : index.getDefiningOp<IndexOp>();
  }

  // State of the run:
  const CostTable *costs = nullptr;
  ZeroFacts *facts = nullptr;
};
} // namespace
