//===- BranchedOps.cpp - Ops that branches compute in several ways --------===//

#include "BranchedOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

void BranchedOps::createMemory(Location loc, ValueRange like) {
  if (isa<bufferization::MaterializeInDestinationOp>(last()))
    return;
  for (auto [value, result] : llvm::zip(like, last()->getResultTypes()))
    memory.push_back(
        tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, value),
                                getElementTypeOrSelf(result)));
}

void BranchedOps::cloneInit(Value init, IRMapping &mapping) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (fill && !mapping.contains(init))
    b.clone(*fill, mapping);
}

void BranchedOps::clone(IRMapping &mapping) {
  for (Operation *op : ops) {
    if (auto computed = dyn_cast<linalg::LinalgOp>(op))
      for (OpOperand &init : computed.getDpsInitsMutable())
        cloneInit(init.get(), mapping);
    b.clone(*op, mapping);
  }
}

void BranchedOps::yield(Location loc, const IRMapping &mapping) {
  SmallVector<Value> results;
  for (Value result : last()->getResults())
    results.push_back(mapping.lookup(result));
  for (auto [result, place] : llvm::zip(results, memory))
    result =
        bufferization::MaterializeInDestinationOp::create(b, loc, result, place)
            .getResult();
  scf::YieldOp::create(b, loc, results);
}

/// Erases a fill of which at most the sizes are used. Else the branches' own
/// fills would be found to be the same as this one.
void BranchedOps::eraseFill(Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill || !llvm::all_of(fill->getUsers(), llvm::IsaPred<tensor::DimOp>))
    return;
  b.replaceOp(fill, fill.getOutputs());
}

void BranchedOps::replace(Location loc, size_t count,
                          function_ref<Value(size_t)> createCondition,
                          function_ref<void(std::optional<size_t>)> fill) {
  scf::IfOp outermost;
  for (size_t i = 0; i < count; ++i) {
    // Not scf.index_switch, of whose results bufferization does not know that
    // they lie where the branches' do.
    auto branch = scf::IfOp::create(b, loc, last()->getResultTypes(),
                                    createCondition(i), /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    if (outermost)
      scf::YieldOp::create(b, loc, branch.getResults());
    else
      outermost = branch;
    b.setInsertionPointToStart(branch.thenBlock());
    fill(i);
    b.setInsertionPointToStart(branch.elseBlock());
  }
  fill(std::nullopt);
  b.replaceAllUsesWith(last()->getResults(), outermost.getResults());
  for (Operation *op : llvm::reverse(ops)) {
    SetVector<Value> inits; // several results may start from one fill
    if (auto computed = dyn_cast<linalg::LinalgOp>(op))
      inits.insert_range(computed.getDpsInits());
    b.eraseOp(op);
    for (Value init : inits)
      eraseFill(init);
  }
}
