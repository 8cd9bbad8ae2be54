//===- PitAxis.cpp - Which iteration dims may be permuted -----------------===//

#include "pit/Analysis/PitAxis.h"
#include "pit/Analysis/Combiner.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

BrokenCondition broken(AxisCondition condition, const Twine &why) {
  return {condition, why.str()};
}

std::string str(AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return text;
}

std::string str(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// `map 2`, or `map 2 of result 0` for that of an init.
std::string nameOfMap(linalg::LinalgOp op, unsigned map) {
  std::string text = "map " + std::to_string(map);
  if (map >= op.getNumDpsInputs())
    text += " of result " + std::to_string(map - op.getNumDpsInputs());
  return text;
}

/// C1 and C2: how the maps may use a dim.
std::optional<BrokenCondition> checkMaps(linalg::LinalgOp op, unsigned dim) {
  for (auto [number, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    unsigned occurrences = 0;
    for (AffineExpr expr : map.getResults()) {
      if (!expr.isFunctionOfDim(dim))
        continue;
      // [C1] A result that contains d is exactly d.
      if (!isa<AffineDimExpr>(expr))
        return broken(AxisCondition::ExactDim,
                      nameOfMap(op, number) + " contains it as " + str(expr));
      ++occurrences;
    }
    // [C2] At most once per map.
    if (occurrences > 1)
      return broken(AxisCondition::OncePerMap,
                    nameOfMap(op, number) + " contains it " +
                        Twine(occurrences) + " times");
  }
  return std::nullopt;
}

/// C3 and C4: the results whose map lacks a dim. Fills in the verdict's
/// reducedResults and isExact.
std::optional<BrokenCondition> checkResults(linalg::LinalgOp op,
                                            AxisVerdict &verdict,
                                            std::string &combiners) {
  bool isParallel =
      op.getIteratorTypesArray()[verdict.dim] == utils::IteratorType::parallel;
  for (unsigned result = 0, e = op.getNumDpsInits(); result != e; ++result) {
    OpOperand *init = op.getDpsInitOperand(result);
    if (op.getMatchingIndexingMap(init).isFunctionOfDim(verdict.dim))
      continue;
    // [C3] A parallel d is in every result's map.
    if (isParallel)
      return broken(AxisCondition::ParallelInResults,
                    nameOfMap(op, init->getOperandNumber()) +
                        " lacks it, yet its iterator is parallel");
    // [C4] An absent d is combined commutatively and associatively.
    OrRefusal<Combiner> combiner = matchCombiner(op, result);
    if (!combiner)
      return broken(AxisCondition::Combiner, combiner.refusal().why);
    verdict.isExact &= combiner->isExact();
    verdict.reducedResults.push_back(result);
    combiners += (combiners.empty() ? "" : ", ") +
                 combiner->ops.front()->getName().getStringRef().str() +
                 " combines result " + std::to_string(result);
  }
  return std::nullopt;
}

} // namespace

std::optional<BrokenCondition> pit::checkBody(linalg::LinalgOp op) {
  // [C8] Tensors, and maps that do not depend on attributes still to be set.
  if (!op.hasPureTensorSemantics())
    return broken(AxisCondition::TensorOp,
                  "the op does not work on tensors alone");
  if (op.hasDynamicIndexingMaps() &&
      failed(op.verifyIndexingMapRequiredAttributes()))
    return broken(AxisCondition::TensorOp,
                  "the op's indexing maps are not known");
  // [C5] No side effects, nested regions included.
  std::optional<BrokenCondition> impure;
  op.getBlock()->walk([&](Operation *inner) {
    if (isMemoryEffectFree(inner))
      return WalkResult::advance();
    impure = broken(AxisCondition::PureBody,
                    "the body contains " + inner->getName().getStringRef() +
                        ", which may have side effects");
    return WalkResult::interrupt();
  });
  if (impure)
    return impure;
  // [C6] A captured scalar is the same in every iteration; what is read from a
  // captured tensor need not be.
  for (Region &region : op->getRegions()) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, captured);
    for (Value value : captured) {
      if (value.getType().isIntOrIndexOrFloat() ||
          isa<ComplexType>(value.getType()))
        continue;
      std::string why =
          "the body captures a value of type " + str(value.getType());
      for (Operation *user : value.getUsers())
        if (region.isAncestor(user->getParentRegion()))
          why += ", used by " + user->getName().getStringRef().str();
      return broken(AxisCondition::ScalarCaptures, why);
    }
  }
  return std::nullopt;
}

AxisVerdict pit::analyzeAxis(linalg::LinalgOp op, unsigned dim) {
  AxisVerdict verdict;
  verdict.dim = dim;
  std::string combiners;
  std::optional<BrokenCondition> found = checkBody(op);
  if (!found)
    found = checkMaps(op, dim);
  if (!found)
    found = checkResults(op, verdict, combiners);
  if (!found)
    // [C7] The body does not ask where along d it is.
    op.getBlock()->walk([&](linalg::IndexOp index) {
      if (index.getDim() == dim)
        found = broken(AxisCondition::NoIndex,
                       "the body reads linalg.index " + Twine(dim));
    });

  verdict.isAxis = !found;
  std::string name = "d" + std::to_string(dim);
  if (verdict.isAxis) {
    verdict.reason =
        name + " is a PIT axis: " +
        (combiners.empty() ? "it indexes every result" : combiners);
  } else {
    verdict.isExact = false;
    verdict.condition = found->condition;
    verdict.reason = name + " is no PIT axis [C" +
                     std::to_string(static_cast<unsigned>(verdict.condition)) +
                     "]: " + found->why;
  }
  return verdict;
}

SmallVector<AxisVerdict> pit::analyzeAxes(linalg::LinalgOp op) {
  SmallVector<AxisVerdict> verdicts;
  for (unsigned dim = 0, e = op.getNumLoops(); dim != e; ++dim)
    verdicts.push_back(analyzeAxis(op, dim));
  return verdicts;
}
