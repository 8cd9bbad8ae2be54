//===- OnlineOps.cpp - The ops of a chain, one by one ---------------------===//

#include "OnlineDependences.h"

#include "pit/Analysis/BodyEvaluator.h"
#include "pit/Analysis/PitAxis.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

SmallVector<int64_t> ChainOp::dimsOf(AffineMap map) const {
  SmallVector<int64_t> found;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    found.push_back(dim ? int64_t(dims[dim.getPosition()]) : -1);
  }
  return found;
}

const ChainOp *OnlineChain::find(Value value) const {
  auto it = value.getDefiningOp() ? numbers.find(value.getDefiningOp())
                                  : numbers.end();
  return it == numbers.end() ? nullptr : &ops[it->second];
}

bool OnlineChain::hasDim(Value value, int64_t dim) const {
  auto it = dims.find(value);
  return it != dims.end() && llvm::is_contained(it->second, dim);
}

bool OnlineChain::runsAlongAxis(Value value) const {
  return hasDim(value, axis);
}

bool OnlineChain::isUsedOutside(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (numbers.contains(user) || isa<tensor::DimOp>(user))
      return false;
    // An op that only moves elements is read through.
    auto moved = dyn_cast<linalg::LinalgOp>(user);
    bool moves =
        isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
            user) ||
        (moved && isElementwiseOp(moved) &&
         isa<BlockArgument>(getYielded(moved, 0)));
    return !moves || user->use_empty() || isUsedOutside(user->getResult(0));
  });
}

//===----------------------------------------------------------------------===//
// Single ops
//===----------------------------------------------------------------------===//

bool mlir::pit::takesPlainDims(AffineMap map) {
  llvm::SmallBitVector seen(map.getNumDims());
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (seen.test(dim.getPosition()))
        return false;
      seen.set(dim.getPosition());
      continue;
    }
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant || constant.getValue() != 0)
      return false;
  }
  return true;
}

static bool hasPlainMaps(linalg::LinalgOp op) {
  return op && op->getNumResults() == 1 && op.hasPureTensorSemantics() &&
         !checkBody(op) &&
         llvm::all_of(op.getIndexingMapsArray(), takesPlainDims);
}

bool mlir::pit::isElementwiseOp(linalg::LinalgOp op) {
  return hasPlainMaps(op) && op.getNumParallelLoops() == op.getNumLoops() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

bool mlir::pit::isReduction(linalg::LinalgOp op) {
  if (!hasPlainMaps(op) || op.getNumReductionLoops() == 0 ||
      failed(matchCombiner(op, 0)) || !getUniformConstant(op.getDpsInits()[0]))
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (map.isFunctionOfDim(d) != (kind == utils::IteratorType::parallel))
      return false;
  return true;
}

bool mlir::pit::isInnerContraction(const ChainOp &op) {
  linalg::LinalgOp computed = op.linalgOp();
  return op.role == ChainRole::Elements && computed &&
         computed.getNumReductionLoops() > 0;
}

/// Do all operands that a scalar of an op's body depends on have fewer dims
/// than the op?
static bool isOfVectors(linalg::LinalgOp op, Value scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (argument && argument.getOwner() == op.getBlock()) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    unsigned dims = op.getMatchingIndexingMap(&operand).getNumResults();
    return dims > 0 && dims < op.getNumLoops();
  }
  Operation *defined = scalar.getDefiningOp();
  return !defined || defined->getBlock() != op.getBlock() ||
         llvm::all_of(defined->getOperands(),
                      [&](Value operand) { return isOfVectors(op, operand); });
}

arith::SubFOp mlir::pit::findRelativeExponent(linalg::LinalgOp op,
                                              Operation *scalar) {
  auto power = dyn_cast<math::ExpOp>(scalar);
  auto difference = power ? power.getOperand().getDefiningOp<arith::SubFOp>()
                          : arith::SubFOp();
  bool isRelative = difference &&
                    !matchPattern(difference.getRhs(), m_Constant()) &&
                    isOfVectors(op, difference.getRhs());
  return isRelative ? difference : arith::SubFOp();
}

bool mlir::pit::hasRelativePowers(const ChainOp &op) {
  linalg::LinalgOp computed = op.linalgOp();
  return computed && llvm::any_of(*computed.getBlock(), [&](Operation &scalar) {
           return findRelativeExponent(computed, &scalar) != nullptr;
         });
}
