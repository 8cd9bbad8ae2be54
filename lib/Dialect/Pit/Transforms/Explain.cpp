//===- Explain.cpp - Why a sparse op is, or is not, made faster -----------===//

#include "Epilogues.h"

#include "pit/Analysis/PitAxis.h"
#include "pit/Analysis/Skipping.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Transforms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITEXPLAIN
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {

/// One operand or result of a linalg op that is marked.
struct MarkedOperand {
  OpOperand *operand;
  Mark mark;
};

/// Writes remarks on one linalg op.
class Explanation {
public:
  /// The loop of the op `before`, if there is one, computes `op` as well.
  Explanation(linalg::LinalgOp op, linalg::LinalgOp before)
      : op(op), before(before), axes(analyzeAxes(op)) {}

  /// Explains all that is marked.
  void run();

private:
  InFlightDiagnostic remark() {
    return emitRemark(op.getLoc()) << op->getName() << ": ";
  }
  void explain(const MarkedOperand &marked);
  void explainRule(RuleAttr rule);

  linalg::LinalgOp op, before;
  SmallVector<AxisVerdict> axes;
};

struct ExplainPass : pit::impl::PitExplainBase<ExplainPass> {
  void runOnOperation() override;
};

} // namespace

/// `operand 0`, or `result 0` for an init.
static std::string nameOf(linalg::LinalgOp op, OpOperand *operand) {
  unsigned number = operand->getOperandNumber();
  if (op.isDpsInit(operand))
    return "result " + std::to_string(number - op.getNumDpsInputs());
  return "operand " + std::to_string(number);
}

/// The dimension of `operand` that `dim` indexes by itself, or -1.
static int64_t dimOf(linalg::LinalgOp op, unsigned dim, OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  for (auto [position, expr] : llvm::enumerate(map.getResults()))
    if (expr == getAffineDimExpr(dim, op.getContext()))
      return position;
  return -1;
}

/// The effect on the results of the op if unselected elements are skipped.
static SkippingVerdict checkSkippingOf(linalg::LinalgOp op, OpOperand &operand,
                                       Attribute background) {
  unsigned number = operand.getOperandNumber();
  return op.isDpsInit(&operand)
             ? analyzeResultSkipping(op, number - op.getNumDpsInputs())
             : analyzeSkipping(op, number, background);
}

OrRefusal<SmallVector<int64_t>> pit::inferPackedDims(linalg::LinalgOp op,
                                                     unsigned number) {
  OpOperand &operand = op->getOpOperand(number);
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!op.hasPureTensorSemantics() || !type)
    return refuse("operand " + Twine(number) + " is no tensor [C8]");
  std::optional<Mark> mark = op.isDpsInit(&operand)
                                 ? traceResultMark(op.getTiedOpResult(&operand))
                                 : traceOperandMark(operand.get());
  Attribute background =
      mark ? Attribute(mark->sparse.getBackgroundOrZero())
           : Builder(op.getContext()).getZeroAttr(type.getElementType());
  SkippingVerdict skipping = checkSkippingOf(op, operand, background);
  if (!skipping.isLegal)
    return refuse(skipping.reason);
  SmallVector<int64_t> dims;
  std::string reasons;
  for (const AxisVerdict &axis : analyzeAxes(op)) {
    int64_t dim = dimOf(op, axis.dim, &operand);
    if (axis.isAxis && dim != -1)
      dims.push_back(dim);
    else if (!axis.isAxis)
      reasons += (reasons.empty() ? "" : "; ") + axis.reason;
  }
  if (dims.empty())
    return refuse("no PIT axis indexes operand " + Twine(number) + " [S9]" +
                  (reasons.empty() ? "" : ": ") + reasons);
  llvm::sort(dims);
  return dims;
}

void Explanation::explain(const MarkedOperand &marked) {
  OpOperand *operand = marked.operand;
  SparseOp sparse = marked.mark.sparse;
  std::string name = nameOf(op, operand);
  {
    InFlightDiagnostic diag = remark();
    diag << name << " is sparse, by its " << stringifySource(sparse.getSource())
         << ", background " << sparse.getBackgroundOrZero();
    StringRef separator = ", through ";
    for (Operation *between : marked.mark.path) {
      diag << separator << between->getName();
      separator = ", ";
    }
    if (RuleAttr rule = sparse.getRuleAttr())
      diag << ", and is to use " << rule;
  }

  SkippingVerdict skipping =
      checkSkippingOf(op, *operand, sparse.getBackgroundOrZero());
  remark() << skipping.reason;

  SmallVector<std::string> choices;
  for (const AxisVerdict &axis : axes) {
    int64_t dim = dimOf(op, axis.dim, operand);
    if (axis.isAxis && dim != -1)
      choices.push_back("d" + std::to_string(axis.dim) + " (dimension " +
                        std::to_string(dim) + " of " + name + ")");
  }
  InFlightDiagnostic diag = remark();
  if (!skipping.isLegal)
    diag << name << " stays dense: nothing of it may be skipped";
  else if (choices.empty())
    diag << name << " stays dense: no PIT axis indexes it [S9]";
  else
    diag << name << " may be packed along " << llvm::join(choices, ", ");
}

void Explanation::explainRule(RuleAttr rule) {
  InFlightDiagnostic diag = remark();
  diag << "chosen: " << rule;
  if (rule.getOperand() < 0 || rule.getOperand() >= op->getNumOperands() ||
      rule.getAxis() < 0)
    return;
  OpOperand &operand = op->getOpOperand(rule.getOperand());
  for (const AxisVerdict &axis : axes)
    if (dimOf(op, axis.dim, &operand) == rule.getAxis())
      diag << ", packs " << nameOf(op, &operand) << " along d" << axis.dim;
}

void Explanation::run() {
  SmallVector<MarkedOperand> marked;
  for (OpOperand *input : op.getDpsInputOperands())
    if (std::optional<Mark> mark = traceOperandMark(input->get()))
      marked.push_back({input, *mark});
  for (OpResult result : op->getResults())
    if (std::optional<Mark> mark = traceResultMark(result))
      marked.push_back({op.getDpsInitOperand(result.getResultNumber()), *mark});
  if (marked.empty())
    return;

  for (const AxisVerdict &axis : axes)
    remark() << axis.reason;
  for (const MarkedOperand &one : marked)
    explain(one);
  if (auto rule = op->getAttrOfType<RuleAttr>(kRuleAttrName))
    explainRule(rule);
  else if (before)
    remark() << "is computed on the tiles of the " << before->getName()
             << " before it";
  else
    remark() << "carries no rule, so it is computed dense";
}

namespace {
/// The ops that the uses of a marked value lead to.
struct Ends {
  bool reachesLinalg = false;
  SetVector<OpOperand *> inits;  ///< of linalg ops
  SetVector<OperationName> lost; ///< ops that hand on something else
};
} // namespace

static void findEnds(Value value, Ends &ends) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isTracedThrough(user) && use.getOperandNumber() == 0) {
      findEnds(user->getResult(0), ends);
      continue;
    }
    if (auto op = dyn_cast<linalg::LinalgOp>(user)) {
      ends.reachesLinalg = true;
      if (op.isDpsInit(&use))
        ends.inits.insert(&use);
      continue;
    }
    // A function's result is what it is, and sizes say nothing of elements.
    if (!isa<PitDialect>(user->getDialect()) &&
        !isa<func::ReturnOp, tensor::DimOp>(user))
      ends.lost.insert(user->getName());
  }
}

/// Says where a mark is of no use.
static void explainEnds(SparseOp sparse) {
  Ends ends;
  findEnds(sparse.getResult(), ends);
  auto remark = [&]() {
    return emitRemark(sparse.getLoc()) << sparse->getName() << ": ";
  };
  if (!ends.reachesLinalg)
    remark() << "the mark reaches no structured linalg op [M1]";
  for (OperationName name : ends.lost)
    remark() << "the mark ends at " << name
             << " [M1]: what comes after it is dense unless it is marked anew";
  for (OpOperand *init : ends.inits) {
    auto op = cast<linalg::LinalgOp>(init->getOwner());
    emitRemark(op.getLoc())
        << op->getName() << ": " << nameOf(op, init)
        << " starts from a marked tensor, which skips nothing [S1]: operands "
           "are marked, or the result itself";
  }
}

/// The ops that planned ops compute along with themselves, and which of them
/// does it.
static DenseMap<Operation *, linalg::LinalgOp>
findEpilogues(func::FuncOp function) {
  DenseMap<Operation *, linalg::LinalgOp> before;
  function.walk([&](linalg::LinalgOp op) {
    std::optional<Packing> packing = getWrittenPacking(op);
    std::optional<SelectedEpilogues> found =
        packing ? findSelectedEpilogues(getOutcome(op), *packing)
                : std::optional<SelectedEpilogues>();
    if (!found)
      return;
    for (OpOperand *operand : found->operands)
      before[operand->getOwner()] = op;
    if (linalg::LinalgOp skipped = findSkippedEpilogue(found->marks.front()))
      before[skipped] = op;
  });
  return before;
}

void ExplainPass::runOnOperation() {
  DenseMap<Operation *, linalg::LinalgOp> before =
      findEpilogues(getOperation());
  llvm::SmallPtrSet<Operation *, 4> explained;
  getOperation().walk([&](linalg::LinalgOp op) {
    bool marksResult = false;
    for (OpResult result : op->getResults())
      if (std::optional<Mark> mark = traceResultMark(result)) {
        explained.insert(mark->sparse);
        marksResult = true;
      }
    // A transpose between a mark and its user is part of the way.
    if (marksResult || !isTracedThrough(op) || op->hasAttr(kRuleAttrName))
      Explanation(op, before.lookup(op)).run();
  });
  getOperation().walk([&](SparseOp sparse) {
    if (!explained.contains(sparse))
      explainEnds(sparse);
  });
  markAllAnalysesPreserved();
}
