//===- TileDense.cpp - Loops over tiles for ops without a mark ------------===//

#include "Selection/TileChoice.h"
#include "Selection/TileGeometry.h"
#include "Tiler.h"
#include "pit/Analysis/Combiner.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITTILEDENSE
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

bool pit::isDenseContraction(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
      op->hasAttr(kRuleAttrName) || op->getParentOfType<ForallOp>() ||
      op->getParentOfType<ForOp>())
    return false;
  unsigned inputs =
      llvm::count_if(op.getDpsInputOperands(),
                     [&](OpOperand *input) { return op.getRank(input) > 0; });
  return inputs >= 2 &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// Do outputs share elements of an input? A tile is for these. Without them a
/// thread, or a warp, computes an output as fast as memory is read.
static bool sharesInputs(linalg::LinalgOp op) {
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  return parallel.empty() ||
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           AffineMap map = op.getMatchingIndexingMap(input);
           return op.getRank(input) > 0 &&
                  llvm::any_of(parallel, [&](unsigned d) {
                    return !map.isFunctionOfDim(d);
                  });
         });
}

/// So many columns are worth a loop over tiles of them, and so many rows: fewer
/// are added by the thread that has the column.
static constexpr int64_t kLeastSummedColumns = 8, kLeastSummedRows = 256;
/// A tile of what is summed up: blocks of a GPU share the rows of so many
/// columns.
static constexpr int64_t kSummedColumns = 256, kSummedRows = 64;

/// May a thread have several of these elements in a vector?
static bool hasVectors(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() >= 8 &&
         type.getIntOrFloatBitWidth() <= 64 &&
         llvm::isPowerOf2_32(type.getIntOrFloatBitWidth());
}

bool pit::isRowSum(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
      op->hasAttr(kRuleAttrName) || op->getParentOfType<ForallOp>() ||
      op->getParentOfType<ForOp>() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.hasIndexSemantics())
    return false;
  OpOperand *input = op.getDpsInputOperand(0), *init = op.getDpsInitOperand(0);
  AffineMap from = op.getMatchingIndexingMap(input);
  AffineMap to = op.getMatchingIndexingMap(init);
  if (op.getRank(input) == 0 || !from.isPermutation() ||
      !to.isProjectedPermutation() || to.getNumResults() == 0)
    return false;
  FailureOr<Combiner> combiner = matchCombiner(op, 0);
  Type element = getElementTypeOrSelf(init->get());
  return from.getResults().back() == to.getResults().back() &&
         succeeded(combiner) && hasVectors(element) &&
         hasVectors(getElementTypeOrSelf(input->get())) &&
         identityOf(combiner->ops.front(), element);
}

/// The tile of a sum of rows, if a GPU has a loop for it.
static OrRefusal<SmallVector<int64_t>> findSumTile(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() != 1)
    return refuse("it reduces dims that are not next to each other");
  unsigned columns =
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getNumResults() - 1;
  columns = op.getMatchingIndexingMap(op.getDpsInitOperand(0))
                .getDimPosition(columns);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges(), tile;
  for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isRows = kind == utils::IteratorType::reduction;
    bool isColumns = d == columns;
    int64_t least = isRows      ? kLeastSummedRows
                    : isColumns ? kLeastSummedColumns
                                : 1;
    if (!ShapedType::isDynamic(sizes[d]) && sizes[d] < least)
      return refuse("it reduces few rows, or rows of few columns");
    tile.push_back(isRows ? kSummedRows : isColumns ? kSummedColumns : 1);
  }
  return tile;
}

/// On a CPU lanes run along the last dim of the result. So many columns fill
/// them. An input that does not have them last is transposed, which pays if so
/// many rows of the other one are multiplied by it (measured,
/// docs/performance/cpu-contractions.md).
static constexpr int64_t kLeastColumns = 16, kLeastRows = 32;

/// Will a CPU compute the op by register blocks, whose lanes hold one input?
static Refused checkLanes(linalg::LinalgOp op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op.getNumDpsInits() != 1 || op.hasIndexSemantics() ||
      result.getNumResults() == 0)
    return refuse("it has several results, one element, or asks for "
                  "the numbers of its iterations");
  for (Type type : op.getBlock()->getArgumentTypes())
    if (!type.isIntOrFloat() || type.isInteger(1))
      return refuse("elements are no numbers of 1 byte or more");
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!inner.hasTrait<OpTrait::ConstantLike>() &&
        !OpTrait::hasElementwiseMappableTraits(&inner))
      return refuse(inner.getName().getStringRef() + " in it takes no vectors");
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto isAtLeast = [&](unsigned d, int64_t size) {
    return ShapedType::isDynamic(sizes[d]) || sizes[d] >= size;
  };
  unsigned n = result.getDimPosition(result.getNumResults() - 1);
  if (!isAtLeast(n, kLeastColumns))
    return refuse("the " + Twine(sizes[n]) +
                  " columns of its result fill no vectors; it takes "
                  "at least " +
                  Twine(kLeastColumns));
  SmallVector<AffineMap> with, without;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    (map.isFunctionOfDim(n) ? with : without).push_back(map);
  }
  if (with.size() != 1 || without.empty())
    return refuse(Twine(with.size()) +
                  " of its operands have the columns of its result, "
                  "not one of several");
  AffineMap columns = with.front();
  if (columns.getDimPosition(columns.getNumResults() - 1) == n)
    return std::nullopt;
  bool hasRows = llvm::any_of(result.getResults(), [&](AffineExpr expr) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    return !columns.isFunctionOfDim(d) && isAtLeast(d, kLeastRows);
  });
  if (hasRows)
    return std::nullopt;
  return refuse("fewer than " + Twine(kLeastRows) +
                " rows meet each of its columns, which would have "
                "to be transposed");
}

/// The tile of a rule that gathers nothing, as pit-version-tiles gives.
static std::optional<ArrayRef<int64_t>> getGivenTile(linalg::LinalgOp op) {
  auto rule = op->getAttrOfType<RuleAttr>(kRuleAttrName);
  if (!rule || rule.getOperand() >= 0 ||
      rule.getTile().size() != op.getNumLoops())
    return std::nullopt;
  return rule.getTile();
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
      // Rows that blocks share are added in another order.
      bool isSum = machine->gpu && shared && isRowSum(op);
      if ((isDenseContraction(op) && sharesInputs(op)) || getGivenTile(op) ||
          isSum)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      TileChoice choice;
      auto check = [&]() -> Refused {
        if (machine->cpu)
          if (Refused refused = checkLanes(op))
            return refused;
        if (std::optional<ArrayRef<int64_t>> given = getGivenTile(op))
          choice.tiles.push_back({llvm::to_vector(*given), std::nullopt});
        else if (isRowSum(op)) {
          OrRefusal<SmallVector<int64_t>> tile = findSumTile(op);
          if (!tile)
            return tile.refusal();
          choice.tiles.push_back({*tile, std::nullopt});
        } else
          choice =
              chooseDenseTile(op, *table, /*assumed=*/std::nullopt,
                              shared ? TileModel() : TileModel(modelCycles));
        return checkDense(op, choice.getTile());
      };
      if (Refused refused = check()) {
        if (explain)
          explainRefusal(op, "is not tiled", *refused);
        continue;
      }
      if (explain)
        choice.explain(op);
      Tiler(rewriter, op, getDenseRule(op, choice.getTile()), SparseOp(),
            /*kernels=*/machine->gpu.has_value())
          .run();
    }
  }
};
} // namespace
