//===- TransposedReads.cpp - Tiles that are read the other way ------------===//

#include "TransposedReads.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::pit;

bool mlir::pit::isOfReductions(SReadOp read) {
  return llvm::all_of(read->getUsers(), [](Operation *user) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    return op && op.getNumReductionLoops() > 0;
  });
}

void mlir::pit::replaceTransposed(RewriterBase &rewriter, SReadOp read,
                                  Value tile, ArrayRef<int64_t> permutation) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (OpOperand &use :
       llvm::make_early_inc_range(read.getResult().getUses())) {
    auto op = cast<linalg::LinalgOp>(use.getOwner());
    unsigned number = use.getOperandNumber();
    rewriter.setInsertionPoint(op);
    if (!isa<linalg::GenericOp>(op))
      op = *linalg::generalizeNamedOp(rewriter, op);
    auto generic = cast<linalg::GenericOp>(op.getOperation());
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    SmallVector<AffineExpr> results;
    for (int64_t dim : permutation)
      results.push_back(maps[number].getResult(dim));
    maps[number] = AffineMap::get(maps[number].getNumDims(), 0, results,
                                  rewriter.getContext());
    rewriter.modifyOpInPlace(generic, [&] {
      generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      generic->setOperand(number, tile);
    });
  }
  rewriter.eraseOp(read);
}
