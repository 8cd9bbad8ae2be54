//===- ExpandVectors.cpp - A vector is a matrix of one row ----------------===//
//
// Matrix times vector has one factor without a dim of its own in the result.
// With one of extent 1 it is a product of matrices, which tensor cores take.
// Element-wise ops that its loop would take in get the dim as well.
//
//===----------------------------------------------------------------------===//

#include "Reshapes.h"
#include "Tiler.h"

#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITEXPANDVECTORS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// By operand, before which of its dimensions the new one comes, if it has it.
using Places = SmallVector<std::optional<unsigned>>;

/// The first of a map's results that is a dim for which `isWanted` holds.
static std::optional<unsigned>
findResult(AffineMap map, function_ref<bool(unsigned)> isWanted) {
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (isWanted(map.getDimPosition(i)))
      return i;
  return std::nullopt;
}

/// The place of the row of a product's vector: before its reduced dims, and
/// before the other factor's own in the result. Empty if it has no vector, or
/// tensor cores would not take it.
static Places findRow(linalg::LinalgOp op) {
  SmallVector<OpOperand *> factors;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getRank(input) > 0)
      factors.push_back(input);
  if (factors.size() != 2 || op.getNumDpsInits() != 1)
    return {};
  for (OpOperand *factor : factors) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(factor->get()));
    if (!type || type.getWidth() > 16)
      return {};
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned vector : {0, 1}) {
    AffineMap map = op.getMatchingIndexingMap(factors[vector]);
    AffineMap other = op.getMatchingIndexingMap(factors[1 - vector]);
    auto isReduced = [&](unsigned d) {
      return linalg::isReductionIterator(kinds[d]);
    };
    auto isOwn = [&](unsigned d) {
      return !isReduced(d) && !other.isFunctionOfDim(d);
    };
    auto isOthers = [&](unsigned d) {
      return !isReduced(d) && other.isFunctionOfDim(d) &&
             !map.isFunctionOfDim(d);
    };
    OpOperand *init = op.getDpsInitOperand(0);
    std::optional<unsigned> row = findResult(map, isReduced),
                            column = findResult(op.getMatchingIndexingMap(init),
                                                isOthers);
    if (!row || !column || findResult(map, isOwn))
      continue;
    Places places(op->getNumOperands());
    places[factors[vector]->getOperandNumber()] = row;
    places[init->getOperandNumber()] = column;
    return places;
  }
  return {};
}

/// The same of an op after it, whose operand number `operand` has the row at
/// `place`, and so has its result. Other operands are the same for all rows.
static Places followRow(linalg::LinalgOp op, unsigned operand, unsigned place) {
  Places places(op->getNumOperands());
  places[operand] = place;
  OpOperand *init = op.getDpsInitOperand(0);
  unsigned d = op.getMatchingIndexingMap(&op->getOpOperand(operand))
                   .getDimPosition(place);
  places[init->getOperandNumber()] = findResult(
      op.getMatchingIndexingMap(init), [&](unsigned e) { return e == d; });
  return places;
}

/// Each dimension by itself, but for that at `place`, before which one of
/// extent 1 comes.
static SmallVector<ReassociationIndices> reassociate(int64_t rank,
                                                     unsigned place) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0, next = 0; d < rank; ++d) {
    groups.emplace_back(1, next++);
    if (d == place)
      groups.back().push_back(next++);
  }
  return groups;
}

static Value expandAt(RewriterBase &rewriter, Location loc, Value value,
                      unsigned place) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, value);
  shape.insert(shape.begin() + place, 1);
  sizes.insert(sizes.begin() + place, rewriter.getIndexAttr(1));
  return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), value,
                                       reassociate(type.getRank(), place),
                                       sizes);
}

/// Gives `op` a loop for the row. Reshapes come before it and after it.
static Value expand(RewriterBase &rewriter, linalg::LinalgOp op,
                    const Places &places) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (auto [i, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    SmallVector<AffineExpr> results(map.shiftDims(1).getResults());
    Value value = op->getOperand(i);
    if (places[i]) {
      results.insert(results.begin() + *places[i],
                     rewriter.getAffineDimExpr(0));
      value = expandAt(rewriter, loc, value, *places[i]);
    }
    operands.push_back(value);
    maps.push_back(AffineMap::get(op.getNumLoops() + 1, 0, results,
                                  rewriter.getContext()));
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.insert(kinds.begin(), utils::IteratorType::parallel);
  ArrayRef<Value> all(operands);
  ArrayRef<Value> inputs = all.drop_back(), inits = all.take_back();
  auto wide = linalg::GenericOp::create(rewriter, loc, inits.front().getType(),
                                        inputs, inits, maps, kinds);
  rewriter.inlineRegionBefore(op->getRegion(0), wide.getRegion(),
                              wide.getRegion().end());
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto narrow = tensor::CollapseShapeOp::create(
      rewriter, loc, type, wide.getResult(0),
      reassociate(type.getRank(), *places.back()));
  rewriter.replaceOp(op, narrow);
  return narrow;
}

namespace {
struct ExpandVectorsPass : pit::impl::PitExpandVectorsBase<ExpandVectorsPass> {
  void runOnOperation() override {
    SmallVector<std::pair<linalg::LinalgOp, Places>> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isDenseContraction(op) || op->getNumResults() != 1 ||
          op.hasIndexSemantics())
        return;
      if (Places places = findRow(op); !places.empty())
        products.push_back({op, places});
    });
    if (products.empty())
      return;
    IRRewriter rewriter(&getContext());
    for (auto &[op, places] : products) {
      Value value = expand(rewriter, op, places);
      unsigned place = *places.back();
      while (linalg::LinalgOp next = findFollower(value)) {
        Places of =
            followRow(next, value.use_begin()->getOperandNumber(), place);
        place = *of.back();
        value = expand(rewriter, next, of);
      }
    }
    if (failed(mergeReshapes(getOperation())))
      signalPassFailure();
  }
};
} // namespace
