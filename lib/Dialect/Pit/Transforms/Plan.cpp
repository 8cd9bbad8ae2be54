//===- Plan.cpp - Level 1 to level 2 --------------------------------------===//

#include "ChooseVariant.h"
#include "Selection/JudgeRules.h"
#include "Selection/TileTable.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/FormatVariadic.h"

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
    FailureOr<std::unique_ptr<Knowledge>> known = Knowledge::load(
        getOperation(), llvm::to_vector_of<std::string>(samples), profile);
    if (failed(known))
      return signalPassFailure();
    knowledge = known->get();
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      dropStaleRule(op);
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
  /// An operand of an op and its mark.
  struct Marked {
    SparseOp mark;
    unsigned operand;
  };

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
    SmallVector<Marked> marks;
    for (OpOperand &operand : op->getOpOperands()) {
      SparseOp mark = findMark(op, operand);
      if (!mark)
        continue;
      marks.push_back({mark, operand.getOperandNumber()});
      findCandidates(op, operand.getOperandNumber(), mark, table,
                     getPlanTarget(), found);
    }
    if (marks.empty())
      return success();
    const Candidate *best = findBest(found.legal);
    std::string why = llvm::join(found.refused, "; ");
    bool isInsisted = false;
    for (auto [mark, operand] : marks)
      if (mark.getRuleAttr()) {
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
    apply(op, *best);
    return success();
  }

  PlanTarget getPlanTarget() { return {strict, deterministic, conflicts}; }

  /// The first one in order of what the user insists on, and then of cost; null
  /// if there is none.
  static const Candidate *findBest(ArrayRef<Candidate> legal) {
    const Candidate *best =
        llvm::min_element(legal, [](const Candidate &a, const Candidate &b) {
          bool insistsA = insists(a);
          bool insistsB = insists(b);
          if (insistsA != insistsB)
            return insistsA;
          return std::tie(a.cost, a.elements) < std::tie(b.cost, b.elements);
        });
    return best == legal.end() ? nullptr : best;
  }

  /// Plans `op` by what is known of its marks' zeros. True if that decides;
  /// else the marks and rules are left of which nothing is known.
  FailureOr<bool> planKnown(linalg::LinalgOp op, SmallVectorImpl<Marked> &marks,
                            CandidateSet &found, const TileTable &table) {
    SmallVector<Judgement> judgements;
    SmallVector<Marked> unknown;
    for (auto [mark, operand] : marks) {
      MarkKnowledge *known =
          mark.getSource() == Source::Index ? nullptr : knowledge->find(mark);
      if (!known) {
        if (StringRef file = knowledge->getSilentProfile(mark); !file.empty())
          mark.emitWarning()
              << "profile '" << file << "' has nothing of mark '"
              << *mark.getLabel() << "': no call reached it, or it is new";
        unknown.push_back({mark, operand});
        continue;
      }
      std::string error;
      FailureOr<std::optional<Judgement>> judged =
          judgeRules(op, operand, mark, found.legal, table, getPlanTarget(),
                     *known, error);
      if (failed(judged))
        return mark.emitError()
               << "mark '" << mark.getLabel().value_or("") << "': " << error;
      if (*judged)
        judgements.push_back(std::move(**judged));
      else
        unknown.push_back({mark, operand});
    }
    auto best = llvm::min_element(judgements,
                                  [](const Judgement &a, const Judgement &b) {
                                    return a.getGain() < b.getGain();
                                  });
    bool pays = best != judgements.end() && best->pays();
    if (explain)
      for (const Judgement &one : judgements)
        one.explain(op, pays ? &one == best : unknown.empty());
    if (pays) {
      apply(op, best->rules.front().candidate);
      return true;
    }
    for (const Judgement &one : judgements)
      skipNothing(op, one.mark);
    llvm::erase_if(found.legal, [&](const Candidate &candidate) {
      return llvm::none_of(unknown, [&](const Marked &marked) {
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
  bool chooseAtRunTime(linalg::LinalgOp op, ArrayRef<Marked> marks,
                       ArrayRef<Candidate> legal, const TileTable &table) {
    // A kernel asks for the variant of one choice.
    if (table.isForGpu && marks.size() != 1)
      return false;
    SmallVector<std::pair<Marked, VariantSet>> sets;
    for (auto [mark, operand] : marks) {
      // Where nothing of a value is skipped as one operand, it has no mark as
      // the other.
      if (llvm::any_of(sets, [&, mark = mark](const auto &other) {
            return other.first.mark == mark;
          }))
        continue;
      std::optional<VariantSet> set =
          findRunTimeVariants(op, operand, mark, legal, table, getPlanTarget());
      if (!set)
        return false;
      sets.push_back({{mark, operand}, std::move(*set)});
    }
    chooseAmong(op, sets);
    return true;
  }

  /// Puts the variants for the first mark around those for the others.
  void chooseAmong(linalg::LinalgOp op,
                   MutableArrayRef<std::pair<Marked, VariantSet>> sets) {
    while (!sets.empty()) {
      auto &[marked, set] = sets.front();
      sets = sets.drop_front();
      if (explain)
        explainVariants(op, marked, set);
      if (set.neverPays || set.variants.empty()) {
        op->emitRemark() << "stays dense: "
                         << (set.neverPays ? "each element of operand "
                                           : "no rule for operand ")
                         << marked.operand
                         << (set.neverPays
                                 ? " is used so rarely that looking for zeros "
                                   "takes longer"
                                 : " can be faster");
        skipNothing(op, marked.mark);
        continue;
      }
      IRRewriter rewriter(&getContext());
      chooseVariant(
          rewriter, op, marked.mark, set, deterministic,
          [&](linalg::LinalgOp planned, const Candidate &candidate) {
            return apply(planned, candidate);
          },
          [&](linalg::LinalgOp dense) { chooseAmong(dense, sets); });
      return;
    }
  }

  /// Says which variants the program has, and which not.
  static void explainVariants(linalg::LinalgOp op, const Marked &marked,
                              const VariantSet &set) {
    auto say = [&]() { return op->emitRemark() << op->getName() << ": "; };
    if (!set.variants.empty()) {
      InFlightDiagnostic remark = say() << "chooses at run time: dense";
      for (const Variant &variant : set.variants)
        remark << ", " << variant.candidate.index;
    }
    for (const Variant &variant : set.variants)
      explainVariant(op, set, variant);
    for (const std::string &dropped : set.dropped)
      say() << "no variant " << dropped;
  }

  /// Says up to which coverage a variant is faster than the dense one.
  static void explainVariant(linalg::LinalgOp op, const VariantSet &set,
                             const Variant &variant) {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if (llvm::any_of(ranges, ShapedType::isDynamic))
      return;
    SmallVector<double> extents(ranges.begin(), ranges.end());
    double all = countMicroTiles(op, variant.candidate, extents) *
                 variant.live.evaluate(extents);
    double left = set.dense.evaluate(extents) - variant.fixed.evaluate(extents);
    op->emitRemark() << op->getName() << ": variant "
                     << describeRule(variant.candidate)
                     << llvm::formatv(
                            ": faster than dense below a coverage of {0:F3}",
                            all > 0 ? std::clamp(left / all, 0.0, 1.0) : 1)
                            .str();
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

  Knowledge *knowledge = nullptr; ///< of the run
};
} // namespace
