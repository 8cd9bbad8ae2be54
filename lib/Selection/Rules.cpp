//===- Rules.cpp - The rules that an op may have --------------------------===//

#include "pit/Selection/Rules.h"

#include "JudgeRules.h"
#include "TileGeometry.h"

#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace mlir::pit;

/// The mark of a result that says which of its elements are wanted.
static SparseOp getResultMark(linalg::LinalgOp op, OpOperand &init) {
  Value result = op.getTiedOpResult(&init);
  if (!result.hasOneUse())
    return {};
  auto mark = dyn_cast<SparseOp>(*result.getUsers().begin());
  if (!mark || mark.getSource() == Source::Values)
    return {};
  // The index is built before the op.
  if (!DominanceInfo().properlyDominates(mark.getSelector(), op.getOperation()))
    return {};
  return mark;
}

SparseOp mlir::pit::getMark(linalg::LinalgOp op, OpOperand &operand) {
  return op.isDpsInit(&operand) ? getResultMark(op, operand)
                                : operand.get().getDefiningOp<SparseOp>();
}

KnownZeros::KnownZeros(std::unique_ptr<Knowledge> knowledge)
    : knowledge(std::move(knowledge)) {}
KnownZeros::KnownZeros(KnownZeros &&) = default;
KnownZeros &KnownZeros::operator=(KnownZeros &&) = default;
KnownZeros::~KnownZeros() = default;

FailureOr<KnownZeros> KnownZeros::load(Operation *function,
                                       ArrayRef<std::string> samples,
                                       StringRef profile) {
  FailureOr<std::unique_ptr<Knowledge>> knowledge =
      Knowledge::load(function, samples, profile);
  if (failed(knowledge))
    return failure();
  return KnownZeros(std::move(*knowledge));
}

/// The rules of one mark by what is known of its zeros, in the place of those
/// that were found without. Nothing changes if nothing is known.
static LogicalResult judge(MarkedOperand marked, const PlanTarget &target,
                           Knowledge &knowledge,
                           SmallVectorImpl<Candidate> &legal) {
  SparseOp mark = marked.mark;
  MarkKnowledge *known =
      mark.getSource() == Source::Index ? nullptr : knowledge.find(mark);
  if (!known)
    return success();
  std::string error;
  FailureOr<std::optional<Judgement>> judged =
      judgeRules(marked, legal, target, *known, error);
  if (failed(judged))
    return mark.emitError()
           << "mark '" << mark.getLabel().value_or("") << "': " << error;
  if (!*judged)
    return success();
  llvm::erase_if(legal, [&](const Candidate &candidate) {
    return candidate.rule.getOperand() == marked.number;
  });
  for (const JudgedRule &rule : (*judged)->rules) {
    legal.push_back(rule.candidate);
    legal.back().expected = {rule.coverage, rule.time, (*judged)->dense};
  }
  return success();
}

/// Is `a` to be taken before `b`?
static bool comesFirst(const Candidate &a, const Candidate &b) {
  auto rank = [](const Candidate &c) {
    if (insists(c))
      return 0;
    return !c.expected ? 2 : c.expected->time < c.expected->dense ? 1 : 3;
  };
  if (rank(a) != rank(b))
    return rank(a) < rank(b);
  if (!a.expected || !b.expected)
    return isBetter(a, b);
  auto time = [](const Candidate &c) {
    return std::tuple(c.expected->time / c.expected->dense, c.elements);
  };
  return time(a) < time(b);
}

FailureOr<SmallVector<LegalRule>>
mlir::pit::findRules(linalg::LinalgOp op, const RuleSearch &search,
                     SmallVectorImpl<std::string> *refused) {
  FailureOr<Target> machine = getTarget(op.getLoc(), search.target);
  if (failed(machine))
    return failure();
  FailureOr<TileTable> table =
      loadTileTable(op, search.tileTable, *machine, search.tf32);
  if (failed(table))
    return failure();
  PlanTarget target{*table, search.strict, search.deterministic,
                    search.conflicts};
  CandidateSet found;
  SmallVector<std::pair<unsigned, SparseOp>> marks;
  for (OpOperand &operand : op->getOpOperands())
    if (SparseOp mark = getMark(op, operand)) {
      marks.push_back({operand.getOperandNumber(), mark});
      findCandidates({op, operand.getOperandNumber(), mark}, target, found);
    }
  // A rule that the user insists on is taken whatever the zeros are.
  if (search.zeros && llvm::none_of(found.legal, insists))
    for (auto [operand, mark] : marks)
      if (failed(judge({op, operand, mark}, target, search.zeros->get(),
                       found.legal)))
        return failure();
  if (refused)
    llvm::append_range(*refused, found.refused);
  // Of equal ones the first comes first, as pit-plan takes it.
  SmallVector<const Candidate *> sorted =
      llvm::map_to_vector(found.legal, [](const Candidate &c) { return &c; });
  llvm::sort(sorted, [](const Candidate *a, const Candidate *b) {
    return comesFirst(*a, *b) || (!comesFirst(*b, *a) && a < b);
  });
  return llvm::map_to_vector(
      sorted, [](const Candidate *c) { return static_cast<LegalRule>(*c); });
}

/// What is wrong with the parts of a rule, before it is looked at as a whole.
static LogicalResult checkParts(linalg::LinalgOp op, RuleAttr rule,
                                std::string &why) {
  auto fail = [&](const Twine &what) {
    why = what.str();
    return failure();
  };
  int64_t number = rule.getOperand(), operands = op->getNumOperands();
  if (number < 0 || number >= operands)
    return fail("the rule is of operand " + Twine(number) + "; the op has " +
                Twine(operands));
  OpOperand &operand = op->getOpOperand(number);
  if (!getMark(op, operand))
    return fail("operand " + Twine(number) + " has no mark");
  int64_t rank = op.getMatchingIndexingMap(&operand).getNumResults();
  if (rule.getAxis() < 0 || rule.getAxis() >= rank)
    return fail("the rule is of axis " + Twine(rule.getAxis()) +
                "; the operand has rank " + Twine(rank));
  int64_t extents = rule.getMicroTile().size();
  if (extents && extents != rank)
    return fail("the micro-tile has " + Twine(extents) +
                " dimensions; the operand has rank " + Twine(rank));
  if (rule.getTile().size() != op.getNumLoops())
    return fail("the tile has " + Twine(rule.getTile().size()) +
                " dimensions; the op has " + Twine(op.getNumLoops()) +
                " loops");
  return success();
}

FailureOr<LegalRule> mlir::pit::checkRule(linalg::LinalgOp op, RuleAttr rule,
                                          std::string &why) {
  if (failed(checkParts(op, rule, why)))
    return failure();
  OpOperand &operand = op->getOpOperand(rule.getOperand());
  SparseOp mark = getMark(op, operand);
  FailureOr<SparsityIndexType> index;
  if (mark.getSource() == Source::Index) {
    index = cast<SparsityIndexType>(mark.getSelector().getType());
  } else {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<bool> whole(map.getNumResults(), false);
    for (auto [d, extent] : llvm::enumerate(rule.getMicroTile()))
      whole[d] = ShapedType::isDynamic(extent);
    index = getIndexType(op, map, rule.getAxis(), rule.getTile(), whole);
    if (failed(index)) {
      why = "its groups cannot be cut out by tiles";
      return failure();
    }
  }
  if (failed(checkTileable(op, rule, *index, mark.getBackgroundOrZero(), why)))
    return failure();
  return LegalRule{rule, mark, *index};
}
