//===- CompareRules.cpp - The best rule for known zeros -------------------===//

#include "CompareRules.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::pit;

/// Nanoseconds, for a reader.
static std::string formatTime(double time) {
  if (time < 1e3)
    return llvm::formatv("{0:F0} ns", time);
  if (time < 1e6)
    return llvm::formatv("{0:F1} us", time / 1e3);
  return llvm::formatv("{0:F2} ms", time / 1e6);
}

void RuleComparison::explain(Operation *op, bool chosen) const {
  std::string name = SparseOp(mark).getLabel()
                         ? " of mark '" + SparseOp(mark).getLabel()->str() + "'"
                         : "";
  auto say = [&]() { return op->emitRemark() << op->getName() << ": "; };
  say() << "rules compared by " << source << name << ": dense takes "
        << formatTime(dense)
        << (chosen && !pays() ? ", and is chosen: no rule is faster" : "");
  for (const ComparedRule &rule : rules) {
    bool isChosen = chosen && pays() && &rule == &rules.front();
    say() << "candidate " << describeRule(rule.candidate)
          << llvm::formatv(": live fraction {0:F4}, {1}, {2:F2} of dense",
                           rule.liveFraction, formatTime(rule.time),
                           dense > 0 ? rule.time / dense : 0)
                 .str()
          << (isChosen ? ", chosen: the least" : "");
  }
  for (const std::string &rule : unknown)
    say() << "candidate " << rule << ": " << source
          << " does not tell its live fraction";
}

FailureOr<std::optional<RuleComparison>>
mlir::pit::compareRules(MarkedOperand marked, ArrayRef<Candidate> legal,
                        const PlanTarget &target, const CostTable &costs,
                        MarkFacts &facts, std::string &error) {
  std::optional<CostModel> model = CostModel::get(marked, costs);
  if (!model)
    return std::optional<RuleComparison>();
  SmallVector<Variant, 0> variants =
      findAllVariants(marked, legal, target, *model);
  SmallVector<SparsityIndexType> indices;
  for (const Variant &variant : variants)
    indices.push_back(variant.candidate.index);
  FailureOr<SmallVector<Observation>> seen =
      facts.count(marked.mark, indices, error);
  if (failed(seen))
    return failure();
  RuleComparison comparison;
  comparison.mark = marked.mark;
  comparison.source = facts.describe();
  CostTerm dense = model->getDense();
  double weights = 0;
  for (const Observation &one : *seen) {
    weights += one.weight;
    comparison.dense +=
        one.weight * dense.evaluate(model->getExtents(one.shape));
  }
  if (weights <= 0)
    return std::optional<RuleComparison>();
  comparison.dense /= weights;
  for (auto [i, variant] : llvm::enumerate(variants)) {
    double time = 0, live = 0, all = 0;
    bool isKnown = true;
    for (const Observation &one : *seen) {
      isKnown &= one.counts[i].has_value();
      if (!isKnown)
        break;
      SmallVector<double> extents = model->getExtents(one.shape);
      time += one.weight *
              (model->getScan(one.shape) + variant.fixed.evaluate(extents) +
               variant.live.evaluate(extents) * one.counts[i]->live);
      live += one.weight * one.counts[i]->live;
      all += one.weight * one.counts[i]->all;
    }
    if (isKnown)
      comparison.rules.push_back(
          {variant.candidate, all > 0 ? live / all : 0, time / weights});
    else
      comparison.unknown.push_back(describeRule(variant.candidate));
  }
  llvm::sort(comparison.rules,
             [](const ComparedRule &a, const ComparedRule &b) {
               return std::tie(a.time, a.candidate.elements) <
                      std::tie(b.time, b.candidate.elements);
             });
  return std::optional(std::move(comparison));
}
