//===- TileDense.cpp - Loops over tiles for ops without a mark ------------===//

#include "Selection/TileChoice.h"
#include "Selection/TileGeometry.h"
#include "Tiler.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITTILEDENSE
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Does the op reduce what it computes from two inputs or more, each indexed by
/// plain dims?
static bool isContraction(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
    return false;
  unsigned inputs =
      llvm::count_if(op.getDpsInputOperands(),
                     [&](OpOperand *input) { return op.getRank(input) > 0; });
  return inputs >= 2 &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// On a CPU lanes run along the last dim of the result. It takes so many
/// columns to fill them, and so many rows that meet each to have them turned,
/// if the input does not have them last (measured,
/// docs/performance/cpu-contractions.md).
static constexpr int64_t kLeastColumns = 16, kLeastRows = 32;

/// Will a CPU compute the op by register blocks, whose lanes hold one input?
static bool fillsLanes(linalg::LinalgOp op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op.getNumDpsInits() != 1 || op.hasIndexSemantics() ||
      result.getNumResults() == 0)
    return false;
  for (Type type : op.getBlock()->getArgumentTypes())
    if (!type.isIntOrFloat() || type.isInteger(1))
      return false;
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!inner.hasTrait<OpTrait::ConstantLike>() &&
        !OpTrait::hasElementwiseMappableTraits(&inner))
      return false;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto isAtLeast = [&](unsigned d, int64_t size) {
    return ShapedType::isDynamic(sizes[d]) || sizes[d] >= size;
  };
  unsigned n = result.getDimPosition(result.getNumResults() - 1);
  if (!isAtLeast(n, kLeastColumns))
    return false;
  SmallVector<AffineMap> with, without;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    (map.isFunctionOfDim(n) ? with : without).push_back(map);
  }
  if (with.size() != 1 || without.empty())
    return false;
  AffineMap columns = with.front();
  if (columns.getDimPosition(columns.getNumResults() - 1) == n)
    return true;
  return llvm::any_of(result.getResults(), [&](AffineExpr expr) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    return !columns.isFunctionOfDim(d) && isAtLeast(d, kLeastRows);
  });
}

namespace {
struct TileDensePass : pit::impl::PitTileDenseBase<TileDensePass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<Target> machine = getTarget(getOperation().getLoc(), target);
    if (failed(machine))
      return signalPassFailure();
    FailureOr<TileTable> table =
        loadTileTable(getOperation(), tileTable, *machine, tf32);
    if (failed(table))
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      // In a loop over tiles it is the tile's.
      if (isContraction(op) && !op->hasAttr(kRuleAttrName) &&
          !op->getParentOfType<ForallOp>() && !op->getParentOfType<ForOp>() &&
          (machine->gpu || fillsLanes(op)))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      TileChoice choice = chooseDenseTile(op, *table);
      std::string why;
      if (failed(checkDense(op, choice.getTile(), why)))
        continue;
      if (explain)
        choice.explain(op);
      Tiler(rewriter, op, getDenseRule(op, choice.getTile()), SparseOp(),
            /*kernels=*/machine->gpu.has_value())
          .run();
    }
  }
};
} // namespace
