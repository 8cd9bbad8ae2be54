//===- JoinMarks.cpp - Marks that branches and loops hand on --------------===//

#include "pit/Analysis/BodyEvaluator.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITJOINMARKS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
class Joiner {
public:
  explicit Joiner(MLIRContext *context) : builder(context) {}

  void join(scf::IfOp branch);
  void join(scf::ForOp loop);
  void join(scf::WhileOp loop);

private:
  /// A mark that `joined` may have, which is one of `values` each time; null if
  /// there is none. A value that the loop which carries `joined` hands on
  /// unchanged is as the rest.
  SparseOp findCommon(Value joined, ValueRange values);

  /// Marks `value`, at the insertion point, as `mark` does.
  void mark(Value value, SparseOp mark);

  OpBuilder builder;
};
} // namespace

SparseOp Joiner::findCommon(Value joined, ValueRange values) {
  if (!isa<RankedTensorType>(joined.getType()))
    return {};
  SparseOp first;
  for (Value value : values)
    if (auto mark = value.getDefiningOp<SparseOp>(); mark && !first)
      first = mark;
  if (!first)
    return {};
  TypedAttr background = first.getBackgroundOrZero();
  bool common = llvm::all_of(values, [&](Value value) {
    if (value == joined)
      return true;
    auto mark = value.getDefiningOp<SparseOp>();
    return mark ? mark.getBackgroundOrZero() == background
                : getUniformConstant(value) == background;
  });
  return common ? first : SparseOp();
}

void Joiner::mark(Value value, SparseOp mark) {
  // Nobody would use a second one.
  if (llvm::all_of(value.getUsers(),
                   [](Operation *user) { return isa<SparseOp>(user); }))
    return;
  auto joined = SparseOp::create(builder, mark.getLoc(), value, Source::Values,
                                 /*selector=*/Value(), mark.getBackgroundAttr(),
                                 /*assume=*/false,
                                 /*rule=*/RuleAttr());
  value.replaceAllUsesExcept(joined, joined);
}

void Joiner::join(scf::IfOp branch) {
  if (branch.getNumResults() == 0)
    return;
  builder.setInsertionPointAfter(branch);
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    if (SparseOp common =
            findCommon(result, {branch.thenYield().getOperand(i),
                                branch.elseYield().getOperand(i)}))
      mark(result, common);
}

void Joiner::join(scf::ForOp loop) {
  for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    SparseOp common =
        findCommon(arg, {loop.getInitArgs()[i], loop.getYieldedValues()[i]});
    if (!common)
      continue;
    builder.setInsertionPointToStart(loop.getBody());
    mark(arg, common);
    builder.setInsertionPointAfter(loop);
    mark(loop.getResult(i), common);
  }
}

void Joiner::join(scf::WhileOp loop) {
  builder.setInsertionPointToStart(loop.getBeforeBody());
  for (auto [i, arg] : llvm::enumerate(loop.getBeforeArguments()))
    if (SparseOp common = findCommon(
            arg, {loop.getInits()[i], loop.getYieldOp().getOperand(i)}))
      mark(arg, common);
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    Value passed = loop.getConditionOp().getArgs()[i];
    SparseOp common = findCommon(result, passed);
    if (!common)
      continue;
    builder.setInsertionPointToStart(loop.getAfterBody());
    mark(loop.getAfterArguments()[i], common);
    builder.setInsertionPointAfter(loop);
    mark(result, common);
  }
}

namespace {
struct JoinMarksPass : pit::impl::PitJoinMarksBase<JoinMarksPass> {
  void runOnOperation() override {
    Joiner joiner(&getContext());
    // A value that an inner op hands on, an outer one may, too.
    getOperation().walk([&](Operation *op) {
      if (auto branch = dyn_cast<scf::IfOp>(op))
        joiner.join(branch);
      else if (auto loop = dyn_cast<scf::ForOp>(op))
        joiner.join(loop);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        joiner.join(loop);
    });
  }
};
} // namespace
