//===- FindRules.cpp - The rules of an op, the best first -----------------===//

#include "pit/Choice/FindRules.h"

#include "CompareRules.h"

using namespace mlir;
using namespace mlir::pit;

KnownZeros::KnownZeros(std::unique_ptr<ZeroFacts> facts)
    : facts(std::move(facts)) {}
KnownZeros::KnownZeros(KnownZeros &&) = default;
KnownZeros &KnownZeros::operator=(KnownZeros &&) = default;
KnownZeros::~KnownZeros() = default;

FailureOr<KnownZeros> KnownZeros::load(Operation *function,
                                       ArrayRef<std::string> samples,
                                       StringRef profile) {
  FailureOr<std::unique_ptr<ZeroFacts>> facts =
      ZeroFacts::load(function, samples, profile);
  if (failed(facts))
    return failure();
  return KnownZeros(std::move(*facts));
}

/// The rules of one mark by what is known of its zeros, in the place of those
/// that were found without. Nothing changes if nothing is known.
static LogicalResult compare(MarkedOperand marked, const PlanTarget &target,
                             const CostTable &costs, ZeroFacts &facts,
                             SmallVectorImpl<Candidate> &legal) {
  SparseOp mark = marked.mark;
  MarkFacts *known =
      mark.getSource() == Source::Index ? nullptr : facts.find(mark);
  if (!known)
    return success();
  std::string error;
  FailureOr<std::optional<RuleComparison>> compared =
      compareRules(marked, legal, target, costs, *known, error);
  if (failed(compared))
    return mark.emitError()
           << "mark '" << mark.getLabel().value_or("") << "': " << error;
  if (!*compared)
    return success();
  llvm::erase_if(legal, [&](const Candidate &candidate) {
    return candidate.rule.getOperand() == marked.number;
  });
  for (const ComparedRule &rule : (*compared)->rules) {
    legal.push_back(rule.candidate);
    legal.back().expected = {rule.liveFraction, rule.time, (*compared)->dense};
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
  FailureOr<CostTable> costs =
      loadCostTable(op, search.tileTable, *machine, search.tf32);
  if (failed(costs))
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
      if (failed(compare({op, operand, mark}, target, *costs,
                         search.zeros->get(), found.legal)))
        return failure();
  if (refused)
    llvm::append_range(*refused, found.refused);
  // The first one of equal rules comes first, as pit-plan takes it.
  SmallVector<const Candidate *> sorted =
      llvm::map_to_vector(found.legal, [](const Candidate &c) { return &c; });
  llvm::sort(sorted, [](const Candidate *a, const Candidate *b) {
    return comesFirst(*a, *b) || (!comesFirst(*b, *a) && a < b);
  });
  return llvm::map_to_vector(
      sorted, [](const Candidate *c) { return static_cast<LegalRule>(*c); });
}
