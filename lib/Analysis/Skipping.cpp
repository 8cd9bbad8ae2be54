//===- Skipping.cpp - May points of the background be left out ------------===//

#include "pit/Analysis/Skipping.h"

#include "OnlineDependences.h"

#include "pit/Analysis/Combiner.h"
#include "pit/Analysis/PitAxis.h"
#include "pit/Analysis/Refusal.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::pit;

/// The type of a constant, null for attributes that have none.
static Type typeOf(Attribute constant) {
  auto typed = dyn_cast_or_null<TypedAttr>(constant);
  return typed ? typed.getType() : Type();
}

/// Text for a value of the body: `its prior value`, `input 1`, a constant, or
/// the operation that computes it.
static std::string describe(linalg::LinalgOp op, Known known) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (Attribute constant = known.getConstant()) {
    os << constant;
    return text;
  }
  auto argument = dyn_cast<BlockArgument>(known.getValue());
  if (argument && argument.getOwner() == op.getBlock()) {
    unsigned operand = argument.getArgNumber();
    if (operand < op.getNumDpsInputs())
      os << "operand " << operand;
    else
      os << "the prior value of result " << operand - op.getNumDpsInputs();
  } else if (Operation *definition = known.getValue().getDefiningOp()) {
    os << "a value of " << definition->getName();
  } else {
    os << "a captured value";
  }
  return text;
}

/// [S4] True if the op writes every element of result number `result` exactly
/// once, and no element is left out.
static bool isWrittenOnce(linalg::LinalgOp op, unsigned result) {
  OpOperand *init = op.getDpsInitOperand(result);
  AffineMap map = op.getMatchingIndexingMap(init);
  auto type = dyn_cast<ShapedType>(init->get().getType());
  unsigned dims = 0;
  for (auto [position, expr] : llvm::enumerate(map.getResults())) {
    if (isa<AffineDimExpr>(expr))
      ++dims;
    else if (!type || type.getDimSize(position) != 1)
      return false;
  }
  return takesPlainDims(map) && dims == op.getNumLoops();
}

namespace {
/// S3 to S6 for one result.
struct ResultVerdict {
  SkipCondition condition = SkipCondition::None;
  std::string text; ///< what happens, or what is wrong
  ResultEffect effect = {};
};
} // namespace

/// Judges one result that is `known` at the skipped points.
static ResultVerdict checkResult(linalg::LinalgOp op, unsigned result,
                                 Known known) {
  BlockArgument accumulator = getAccumulator(op, result);
  // [S3a] Nothing is contributed.
  if (known == Known(accumulator))
    return {
        SkipCondition::None, "is kept", {ResultEffect::Kind::Identity, {}, 0}};
  // [S3b] A constant, or [S3c] a copy of another input.
  auto argument = dyn_cast_or_null<BlockArgument>(known.getValue());
  bool isInput = argument && argument.getOwner() == op.getBlock() &&
                 argument.getArgNumber() < op.getNumDpsInputs();
  Type elementType = accumulator.getType();
  bool isConstant = typeOf(known.getConstant()) == elementType;
  if (!isConstant && !isInput)
    return {SkipCondition::NothingContributed, "yields " + describe(op, known)};
  // [S4] Without a reduction.
  if (!isWrittenOnce(op, result)) {
    FailureOr<Combiner> combiner = matchCombiner(op, result);
    std::string why = "yields " + describe(op, known) +
                      " where it is not written exactly once per element";
    if (succeeded(combiner))
      why += " (" + combiner->ops.front()->getName().getStringRef().str() +
             " combines it)";
    return {SkipCondition::WrittenOnce, why};
  }
  // [S5] The fill or the copy would destroy what live points still read.
  if (!accumulator.use_empty())
    return {SkipCondition::PriorUnread,
            "yields " + describe(op, known) +
                ", yet the body reads its prior value"};
  if (isConstant)
    return {SkipCondition::None,
            "becomes " + describe(op, known),
            {ResultEffect::Kind::Constant, known.getConstant(), 0}};
  // [S6] Copying takes the same place in both tensors.
  unsigned input = argument.getArgNumber();
  OpOperand *init = op.getDpsInitOperand(result);
  if (op.getMatchingIndexingMap(&op->getOpOperand(input)) !=
          op.getMatchingIndexingMap(init) ||
      op->getOperand(input).getType() != init->get().getType())
    return {SkipCondition::CopyMatches,
            "yields operand " + std::to_string(input) +
                ", whose map or type is not its own"};
  return {SkipCondition::None,
          "becomes operand " + std::to_string(input),
          {ResultEffect::Kind::Copy, {}, input}};
}

static std::string code(SkipCondition condition) {
  return "[S" + std::to_string(static_cast<unsigned>(condition)) + "]";
}

/// S1: what may be marked, with which background.
static Refused checkBackground(linalg::LinalgOp op, unsigned operand,
                               Attribute background) {
  if (operand >= op.getNumDpsInputs())
    return refuse("it is no input; the op has " + Twine(op.getNumDpsInputs()));
  auto type = dyn_cast<RankedTensorType>(op->getOperand(operand).getType());
  if (!type)
    return refuse("its type ", op->getOperand(operand).getType(),
                  " is no ranked tensor");
  if (!background)
    return refuse("its elements are ", type.getElementType(),
                  ", the background is missing");
  if (typeOf(background) != type.getElementType())
    return refuse("its elements are ", type.getElementType(),
                  ", the background is ", background);
  return std::nullopt;
}

SkippingVerdict pit::analyzeSkipping(linalg::LinalgOp op, unsigned operand,
                                     Attribute background, bool strict) {
  SkippingVerdict verdict;
  std::string skipping = "skipping operand " + std::to_string(operand);
  auto refuse = [&](SkipCondition condition, const std::string &why) {
    verdict.condition = condition;
    verdict.reason = skipping + " is not legal " + code(condition) + ": " + why;
    return verdict;
  };

  // [S1] A tensor input and a background of its element type.
  if (Refused refused = checkBackground(op, operand, background))
    return refuse(SkipCondition::Background, refused->why);
  // [S2] C5, C6 and C8.
  if (std::optional<BrokenCondition> broken = checkBody(op))
    return refuse(SkipCondition::Body, broken->why);

  BodyEvaluator body(op, strict ? Arithmetic::Strict : Arithmetic::Skipped);
  OpOperand &marked = op->getOpOperand(operand);
  for (OpOperand *input : op.getDpsInputOperands())
    // The same element of the same tensor is the background too.
    if (input->get() == marked.get() &&
        op.getMatchingIndexingMap(input) == op.getMatchingIndexingMap(&marked))
      body.assume(input->getOperandNumber(), background);
  body.run();

  std::string effects;
  for (unsigned result = 0, e = op.getNumDpsInits(); result != e; ++result) {
    ResultVerdict judged =
        checkResult(op, result, body.lookup(getYielded(op, result)));
    verdict.results.push_back(judged.effect);
    std::string text = "result " + std::to_string(result) + " " + judged.text;
    if (judged.condition != SkipCondition::None) {
      if (verdict.condition == SkipCondition::None)
        refuse(judged.condition, text);
      continue;
    }
    effects += (effects.empty() ? "" : ", ") + text;
  }
  verdict.isLegal = verdict.condition == SkipCondition::None;
  if (verdict.isLegal)
    verdict.reason = skipping + " is legal: " + effects;
  return verdict;
}

SkippingVerdict pit::analyzeResultSkipping(linalg::LinalgOp op,
                                           unsigned result) {
  SkippingVerdict verdict;
  std::string skipping = "skipping in result " + std::to_string(result);
  auto refuse = [&](SkipCondition condition, const std::string &why) {
    verdict.condition = condition;
    verdict.reason = skipping + " is not legal " + code(condition) + ": " + why;
    return verdict;
  };

  // [S2] C5, C6 and C8.
  if (std::optional<BrokenCondition> broken = checkBody(op))
    return refuse(SkipCondition::Body, broken->why);
  // [S7] What is not computed for one result is not there for another.
  if (op.getNumDpsInits() != 1)
    return refuse(SkipCondition::SingleResult,
                  "the op has " + std::to_string(op.getNumDpsInits()) +
                      " results");
  // [S8] Each element has iterations of its own.
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  if (!map.isProjectedPermutation()) {
    std::string why = "its map ";
    llvm::raw_string_ostream(why) << map << " is no projected permutation";
    return refuse(SkipCondition::ProjectedResult, why);
  }
  verdict.isLegal = true;
  verdict.results.push_back({ResultEffect::Kind::Identity, {}, 0});
  verdict.reason = skipping + " is legal: each element has iterations of its "
                              "own";
  return verdict;
}
