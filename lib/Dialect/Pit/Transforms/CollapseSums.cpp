//===- CollapseSums.cpp - Marked operands that are summed over dims -------===//
//
// A sum may go over several dims of a marked operand, as over a batch and its
// rows: then a rule has an axis along one of them. The others are groups, whose
// lists end with each group, or micro-tiles that span several groups. If all
// operands have these dims together, they are one, of which one list has the
// positions. Lengths, routings and indices say which dims they are about:
// collapseRows does it for the former, once a rule is chosen.
//
//===----------------------------------------------------------------------===//

#include "Reshapes.h"

#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCOLLAPSESUMS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

using Run = ReassociationIndices;

/// Does what an operand is marked by have its dims, and nothing to say of one?
/// None: it has no mark.
static std::optional<bool> hasPlainMark(Value operand) {
  std::optional<Mark> mark = traceOperandMark(operand);
  if (!mark)
    return std::nullopt;
  SparseOp sparse = mark->sparse;
  return !sparse.getRuleAttr() &&
         llvm::is_contained({Source::Values, Source::Mask}, sparse.getSource());
}

/// The longest runs of loops over which a marked operand is summed, and which
/// go together in all operands.
static SmallVector<Run> findSums(linalg::LinalgOp op) {
  AffineMap marked;
  for (OpOperand *input : op.getDpsInputOperands())
    if (std::optional<bool> plain = hasPlainMark(input->get())) {
      if (!*plain)
        return {};
      marked = op.getMatchingIndexingMap(input);
    }
  if (!marked || !marked.isProjectedPermutation())
    return {};
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<Run> runs;
  for (AffineExpr result : marked.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || !linalg::isReductionIterator(kinds[dim.getPosition()])) {
      runs.emplace_back();
      continue;
    }
    Run longer = runs.empty() ? Run() : runs.back();
    longer.push_back(dim.getPosition());
    if (!runs.empty() && isCollapsible(op, longer))
      runs.back() = longer;
    else
      runs.push_back({dim.getPosition()});
  }
  llvm::erase_if(runs, [](const Run &run) { return run.size() < 2; });
  return runs;
}

namespace {
struct CollapseSumsPass : pit::impl::PitCollapseSumsBase<CollapseSumsPass> {
  using Base::Base;

  /// Is each list along one of these dims short, as far as is known?
  bool hasShortLists(linalg::LinalgOp op, const Run &run) {
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    return llvm::all_of(run, [&](int64_t d) {
      return !ShapedType::isDynamic(extents[d]) && extents[d] <= longest;
    });
  }

  void runOnOperation() override {
    SmallVector<std::pair<linalg::LinalgOp, SmallVector<Run>>> found;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!op.hasPureTensorSemantics() || op->getNumResults() == 0 ||
          op.hasIndexSemantics())
        return;
      SmallVector<Run> runs = findSums(op);
      if (longest >= 0)
        llvm::erase_if(runs,
                       [&](const Run &run) { return !hasShortLists(op, run); });
      if (!runs.empty())
        found.push_back({op, std::move(runs)});
    });
    IRRewriter rewriter(&getContext());
    for (auto &[op, runs] : found)
      collapseLoops(rewriter, op, runs);
  }
};
} // namespace
