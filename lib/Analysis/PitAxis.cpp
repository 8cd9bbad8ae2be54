//===- PitAxis.cpp - Which iteration dims may be permuted -----------------===//

#include "pit/Analysis/PitAxis.h"
#include "pit/Analysis/Combiner.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

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
AxisCondition checkMaps(linalg::LinalgOp op, unsigned dim, std::string &why) {
  for (auto [number, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    unsigned occurrences = 0;
    for (AffineExpr expr : map.getResults()) {
      if (!expr.isFunctionOfDim(dim))
        continue;
      // [C1] A result that contains d is exactly d.
      if (!isa<AffineDimExpr>(expr)) {
        why = nameOfMap(op, number) + " contains it as " + str(expr);
        return AxisCondition::ExactDim;
      }
      ++occurrences;
    }
    // [C2] At most once per map.
    if (occurrences > 1) {
      why = nameOfMap(op, number) + " contains it " +
            std::to_string(occurrences) + " times";
      return AxisCondition::OncePerMap;
    }
  }
  return AxisCondition::None;
}

/// C3 and C4: the results whose map lacks a dim. Fills in the verdict's
/// reducedResults and isExact.
AxisCondition checkResults(linalg::LinalgOp op, AxisVerdict &verdict,
                           std::string &why, std::string &combiners) {
  bool isParallel =
      op.getIteratorTypesArray()[verdict.dim] == utils::IteratorType::parallel;
  for (unsigned result = 0, e = op.getNumDpsInits(); result != e; ++result) {
    OpOperand *init = op.getDpsInitOperand(result);
    if (op.getMatchingIndexingMap(init).isFunctionOfDim(verdict.dim))
      continue;
    // [C3] A parallel d is in every result's map.
    if (isParallel) {
      why = nameOfMap(op, init->getOperandNumber()) +
            " lacks it, yet its iterator is parallel";
      return AxisCondition::ParallelInResults;
    }
    // [C4] An absent d is combined commutatively and associatively.
    FailureOr<Combiner> combiner = matchCombiner(op, result, &why);
    if (failed(combiner))
      return AxisCondition::Combiner;
    verdict.isExact &= combiner->isExact();
    verdict.reducedResults.push_back(result);
    combiners += (combiners.empty() ? "" : ", ") +
                 combiner->ops.front()->getName().getStringRef().str() +
                 " combines result " + std::to_string(result);
  }
  return AxisCondition::None;
}

} // namespace

AxisCondition pit::checkBody(linalg::LinalgOp op, std::string &why) {
  // [C8] Tensors, and maps that do not depend on attributes still to be set.
  if (!op.hasPureTensorSemantics()) {
    why = "the op does not work on tensors alone";
    return AxisCondition::TensorOp;
  }
  if (op.hasDynamicIndexingMaps() &&
      failed(op.verifyIndexingMapRequiredAttributes())) {
    why = "the op's indexing maps are not known";
    return AxisCondition::TensorOp;
  }
  // [C5] No side effects, nested regions included.
  WalkResult pure = op.getBlock()->walk([&](Operation *inner) {
    if (isMemoryEffectFree(inner))
      return WalkResult::advance();
    why = "the body contains " + inner->getName().getStringRef().str() +
          ", which may have side effects";
    return WalkResult::interrupt();
  });
  if (pure.wasInterrupted())
    return AxisCondition::PureBody;
  // [C6] A captured scalar is the same in every iteration; what is read from a
  // captured tensor need not be.
  for (Region &region : op->getRegions()) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, captured);
    for (Value value : captured) {
      if (value.getType().isIntOrIndexOrFloat() ||
          isa<ComplexType>(value.getType()))
        continue;
      why = "the body captures a value of type " + str(value.getType());
      for (Operation *user : value.getUsers())
        if (region.isAncestor(user->getParentRegion()))
          why += ", used by " + user->getName().getStringRef().str();
      return AxisCondition::ScalarCaptures;
    }
  }
  return AxisCondition::None;
}

AxisVerdict pit::analyzeAxis(linalg::LinalgOp op, unsigned dim) {
  AxisVerdict verdict;
  verdict.dim = dim;
  std::string why, combiners;
  verdict.condition = checkBody(op, why);
  if (verdict.condition == AxisCondition::None)
    verdict.condition = checkMaps(op, dim, why);
  if (verdict.condition == AxisCondition::None)
    verdict.condition = checkResults(op, verdict, why, combiners);
  if (verdict.condition == AxisCondition::None) {
    // [C7] The body does not ask where along d it is.
    op.getBlock()->walk([&](linalg::IndexOp index) {
      if (index.getDim() == dim)
        verdict.condition = AxisCondition::NoIndex;
    });
    why = "the body reads linalg.index " + std::to_string(dim);
  }

  verdict.isAxis = verdict.condition == AxisCondition::None;
  std::string name = "d" + std::to_string(dim);
  if (verdict.isAxis) {
    verdict.reason =
        name + " is a PIT axis: " +
        (combiners.empty() ? "it indexes every result" : combiners);
  } else {
    verdict.isExact = false;
    verdict.reason = name + " is no PIT axis [C" +
                     std::to_string(static_cast<unsigned>(verdict.condition)) +
                     "]: " + why;
  }
  return verdict;
}

SmallVector<AxisVerdict> pit::analyzeAxes(linalg::LinalgOp op) {
  SmallVector<AxisVerdict> verdicts;
  for (unsigned dim = 0, e = op.getNumLoops(); dim != e; ++dim)
    verdicts.push_back(analyzeAxis(op, dim));
  return verdicts;
}
