//===- Factors.cpp - The factors of a sum of products ---------------------===//

#include "pit/Analysis/Factors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pit;

/// Appends the leaves of the product tree under `value`. [F2] A product that
/// something else uses too is a leaf: it has to be computed anyway.
static void collectFactors(Value value, SmallVectorImpl<Value> &leaves) {
  Operation *definition = value.getDefiningOp();
  if (!definition || !value.hasOneUse()) {
    leaves.push_back(value);
    return;
  }
  if (isa<arith::MulFOp, arith::MulIOp, complex::MulOp>(definition)) {
    collectFactors(definition->getOperand(0), leaves);
    collectFactors(definition->getOperand(1), leaves);
    return;
  }
  // [F3] A product widened after the fact: its factors are widened instead.
  if (isa<arith::ExtFOp>(definition)) {
    Value narrow = definition->getOperand(0);
    if (narrow.hasOneUse() && narrow.getDefiningOp<arith::MulFOp>()) {
      collectFactors(narrow, leaves);
      return;
    }
  }
  leaves.push_back(value);
}

/// The values that `value` is computed from, as far as they lie in the body of
/// `op`.
static Factor traceFactor(linalg::LinalgOp op, Value value) {
  Factor factor;
  factor.value = value;
  llvm::SetVector<Value> slice;
  slice.insert(value);
  for (size_t i = 0; i != slice.size(); ++i) {
    Value current = slice[i];
    auto argument = dyn_cast<BlockArgument>(current);
    if (argument && argument.getOwner() == op.getBlock()) {
      factor.operands.push_back(argument.getArgNumber());
      continue;
    }
    Operation *definition = current.getDefiningOp();
    if (!definition || !op->isProperAncestor(definition))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(definition))
      factor.indexDims.push_back(index.getDim());
    definition->walk([&](Operation *nested) {
      slice.insert(nested->operand_begin(), nested->operand_end());
    });
  }
  llvm::sort(factor.operands);
  llvm::sort(factor.indexDims);
  return factor;
}

FailureOr<SumOfProducts> pit::matchSumOfProducts(linalg::LinalgOp op,
                                                 unsigned result) {
  // [F1] One addition uses the accumulator.
  FailureOr<Combiner> combiner = matchCombiner(op, result);
  if (failed(combiner) || combiner->ops.size() != 1 ||
      !isa<arith::AddFOp, arith::AddIOp, complex::AddOp>(combiner->ops.front()))
    return failure();
  SumOfProducts sum;
  sum.add = combiner->ops.front();
  SmallVector<Value> leaves;
  collectFactors(combiner->contributions.front(), leaves);
  for (Value leaf : leaves)
    sum.factors.push_back(traceFactor(op, leaf));
  return sum;
}

bool pit::variesAlong(linalg::LinalgOp op, const Factor &factor, unsigned dim) {
  if (llvm::is_contained(factor.indexDims, dim))
    return true;
  return llvm::any_of(factor.operands, [&](unsigned operand) {
    return op.getMatchingIndexingMap(&op->getOpOperand(operand))
        .isFunctionOfDim(dim);
  });
}
