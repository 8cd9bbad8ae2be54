//===- PitTransformOps.cpp - Ops of transform scripts ---------------------===//

#include "pit/Dialect/Pit/TransformOps/PitTransformOps.h"

#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Rules.h"
#include "pit/Dialect/Pit/Transforms/Transforms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;
using transform::ApplyToEachResultList;
using transform::TransformResults;
using transform::TransformRewriter;
using transform::TransformState;

#define GET_OP_CLASSES
#include "pit/Dialect/Pit/TransformOps/PitTransformOps.cpp.inc"

/// A failure after which another way can be tried.
static DiagnosedSilenceableFailure failAt(Operation *transform,
                                          Operation *target, StringRef what,
                                          const Refusal &refusal) {
  DiagnosedSilenceableFailure failure =
      emitSilenceableFailure(transform->getLoc())
      << target->getName() << " " << what << ": " << refusal.why;
  failure.attachNote(target->getLoc()) << "the op";
  return failure;
}

/// The linalg op that a transform is applied to, or null, with the failure.
static linalg::LinalgOp getLinalgOp(Operation *transform, Operation *target,
                                    DiagnosedSilenceableFailure &failure) {
  auto op = dyn_cast<linalg::LinalgOp>(target);
  if (!op)
    failure = failAt(transform, target, "cannot be looked at",
                     {"it is no structured linalg op"});
  return op;
}

/// Erases a mark that nobody uses, and those that it marks again.
static void eraseUnused(RewriterBase &rewriter, SparseOp mark) {
  while (mark && mark.getResult().use_empty()) {
    auto before = mark.getInput().getDefiningOp<SparseOp>();
    rewriter.eraseOp(mark);
    mark = before;
  }
}

//===----------------------------------------------------------------------===//
// Level 1
//===----------------------------------------------------------------------===//

/// The first operand with a mark, or whose result has one.
static std::optional<unsigned> findMarkedOperand(linalg::LinalgOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    bool isMarked =
        op.isDpsInit(&operand)
            ? op.hasPureTensorSemantics() &&
                  traceResultMark(op.getTiedOpResult(&operand)).has_value()
            : traceOperandMark(operand.get()).has_value();
    if (isMarked)
      return operand.getOperandNumber();
  }
  return std::nullopt;
}

DiagnosedSilenceableFailure
transform::PitInferOp::apply(TransformRewriter &, TransformResults &results,
                             TransformState &state) {
  auto failure = DiagnosedSilenceableFailure::success();
  SmallVector<Attribute> params;
  Builder builder(getContext());
  for (Operation *target : state.getPayloadOps(getTarget())) {
    linalg::LinalgOp op = getLinalgOp(*this, target, failure);
    if (!op)
      return failure;
    std::optional<int64_t> operand = getOperand();
    if (!operand)
      operand = findMarkedOperand(op);
    if (!operand)
      return failAt(*this, op, "cannot be packed",
                    {"no operand is marked [M1]"});
    if (*operand < 0 || *operand >= op->getNumOperands())
      return emitDefiniteFailure()
             << "there is no operand " << *operand << ": " << op->getName()
             << " has " << op->getNumOperands();
    OrRefusal<SmallVector<int64_t>> dims = inferPackedDims(op, *operand);
    if (!dims)
      return failAt(*this, op, "cannot be packed", dims.refusal());
    for (int64_t dim : *dims)
      params.push_back(builder.getI64IntegerAttr(dim));
  }
  results.setParams(cast<OpResult>(getDims()), params);
  return DiagnosedSilenceableFailure::success();
}

/// The marks of `op` that `rule` may be for, one or more.
static OrRefusal<SmallVector<SparseOp>> findMarks(linalg::LinalgOp op,
                                                  RuleAttr rule) {
  SmallVector<SparseOp> marks;
  int64_t axes = rule.getAxis() + 1, rank = rule.getMicroTile().size();
  Refusal refusal = refuse("no operand is marked [M1]");
  for (OpOperand &operand : op->getOpOperands()) {
    SparseOp mark = getMark(op, operand);
    int64_t number = operand.getOperandNumber();
    if (rule.getOperand() != -1 && rule.getOperand() != number)
      continue;
    if (!mark) {
      if (rule.getOperand() == number)
        refusal = refuse("operand ", number, " is not marked [M1]");
      continue;
    }
    int64_t dims = mark.getType().getRank();
    if (axes <= dims && (!rank || rank == dims))
      marks.push_back(mark);
    else
      refusal = refuse("the rule is for ", std::max(axes, rank),
                       " dims, its operand ", number, " has ", dims);
  }
  if (marks.empty())
    return refusal;
  return marks;
}

/// The best rule for `op`; if `rule` is not null, the best that has its parts.
static OrRefusal<LegalRule> chooseRule(linalg::LinalgOp op, RuleAttr rule,
                                       StringRef machine) {
  SmallVector<SparseOp> insisted;
  SmallVector<RuleAttr> before;
  if (rule) {
    OrRefusal<SmallVector<SparseOp>> marks = findMarks(op, rule);
    if (!marks)
      return marks.refusal();
    insisted = *marks;
    // A mark names no operand.
    auto onMark =
        RuleAttr::get(rule.getContext(), /*operand=*/-1, rule.getAxis(),
                      rule.getMicroTile(), rule.getTile(), rule.getConflicts());
    for (SparseOp mark : insisted) {
      before.push_back(mark.getRuleAttr());
      mark.setRuleAttr(onMark);
    }
  }
  RuleSearch search;
  search.target = machine.str();
  SmallVector<std::string> refused;
  FailureOr<SmallVector<LegalRule>> rules = findRules(op, search, &refused);
  for (auto [mark, old] : llvm::zip(insisted, before))
    old ? (void)mark.setRuleAttr(old) : (void)mark.removeRuleAttr();
  if (failed(rules))
    return refuse("there is no table of tiles for '", machine, "'");
  for (const LegalRule &legal : *rules)
    if (!rule || llvm::is_contained(insisted, legal.mark))
      return legal;
  return refuse(refused.empty() ? "no operand is marked [M1]"
                                : llvm::join(refused, "; "));
}

DiagnosedSilenceableFailure
transform::PitPlanOp::applyToOne(TransformRewriter &rewriter,
                                 linalg::LinalgOp target,
                                 ApplyToEachResultList &, TransformState &) {
  if (target->hasAttr(kRuleAttrName))
    return failAt(*this, target, "is not planned", {"it has a rule already"});
  OrRefusal<LegalRule> legal = chooseRule(target, getRuleAttr(), getMachine());
  if (!legal)
    return failAt(*this, target, "is not planned", legal.refusal());
  bool isInput =
      target.isDpsInput(&target->getOpOperand(legal->rule.getOperand()));
  planByRule(rewriter, target, *legal);
  // The operand is marked by the index now; of a result the mark was replaced.
  if (isInput)
    eraseUnused(rewriter, legal->mark);
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// Level 2
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::PitFoldOp::applyToOne(TransformRewriter &rewriter,
                                 func::FuncOp target, ApplyToEachResultList &,
                                 TransformState &) {
  foldPacked(rewriter, target);
  return DiagnosedSilenceableFailure::success();
}

/// Has the function an op that waits to be tiled?
static bool hasPlannedOp(func::FuncOp function) {
  return function
      .walk([](linalg::LinalgOp op) {
        return op->hasAttr(kRuleAttrName) ? WalkResult::interrupt()
                                          : WalkResult::advance();
      })
      .wasInterrupted();
}

DiagnosedSilenceableFailure
transform::PitTileOp::apply(TransformRewriter &rewriter,
                            TransformResults &results, TransformState &state) {
  auto failure = DiagnosedSilenceableFailure::success();
  SmallVector<linalg::LinalgOp> ops;
  SetVector<func::FuncOp> functions;
  for (Operation *target : state.getPayloadOps(getTarget())) {
    linalg::LinalgOp op = getLinalgOp(*this, target, failure);
    if (!op)
      return failure;
    ops.push_back(op);
    if (auto function = op->getParentOfType<func::FuncOp>())
      functions.insert(function);
  }
  SmallVector<Operation *> loops;
  DenseSet<Operation *> before;
  auto forEachLoop = [&](function_ref<void(ForallOp)> visit) {
    for (func::FuncOp function : functions)
      function.walk([&](ForallOp loop) { visit(loop); });
  };
  forEachLoop([&](ForallOp loop) { before.insert(loop); });
  for (linalg::LinalgOp op : ops) {
    auto rule = op->getAttrOfType<RuleAttr>(kRuleAttrName);
    if (!rule)
      return failAt(*this, op, "is not tiled", {"it has no pit.rule"});
    if (OrRefusal<LegalRule> legal = checkRule(op, rule); !legal)
      return failAt(*this, op, "is not tiled", legal.refusal());
    SetVector<SparseOp> marks;
    for (OpOperand *input : op.getDpsInputOperands())
      if (SparseOp mark = getMark(op, *input))
        marks.insert(mark);
    if (failed(tileByRule(rewriter, op, getKernels())))
      return DiagnosedSilenceableFailure::definiteFailure();
    // The loops read by the index, not by the mark.
    for (SparseOp mark : marks)
      eraseUnused(rewriter, mark);
    forEachLoop([&](ForallOp loop) {
      if (before.insert(loop).second)
        loops.push_back(loop);
    });
  }
  for (func::FuncOp function : functions)
    if (!hasPlannedOp(function))
      expandWholeTensorOps(rewriter, function);
  results.set(cast<OpResult>(getLoops()), loops);
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// Level 3
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::PitFuseOp::applyToOne(TransformRewriter &rewriter, ForallOp target,
                                 ApplyToEachResultList &, TransformState &) {
  if (fuseEpilogues(rewriter, target) == 0)
    return failAt(*this, target, "has no epilogue",
                  {"no element-wise op after it fulfils E1 to E5 of "
                   "docs/Legality.md"});
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure
transform::PitLowerOp::applyToOne(TransformRewriter &rewriter,
                                  Operation *target, ApplyToEachResultList &,
                                  TransformState &) {
  lowerMarks(rewriter, target);
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#ifndef NDEBUG
// The header calls it in a build with assertions, but an MLIR that was built
// without them lacks it. One that has it wins.
LLVM_ATTRIBUTE_WEAK void
transform::detail::checkImplementsTransformOpInterface(StringRef,
                                                       MLIRContext *) {}
#endif

namespace {
class PitTransformExtension
    : public transform::TransformDialectExtension<PitTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PitTransformExtension)

  void init() {
    declareDependentDialect<PitDialect>();
    declareGeneratedDialect<affine::AffineDialect>();
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<bufferization::BufferizationDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    declareGeneratedDialect<PitDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "pit/Dialect/Pit/TransformOps/PitTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void pit::registerTransformDialectExtension(DialectRegistry &registry) {
  registry.addExtensions<PitTransformExtension>();
}
