//===- Vectorize.cpp - Vector code for linalg ops on memrefs --------------===//

#include "VectorPlan.h"
#include "pit/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITVECTORIZE
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

// The op with other operands and maps, and the same body.
static linalg::GenericOp
createGeneric(RewriterBase &rewriter, linalg::LinalgOp op, ValueRange inputs,
              ValueRange outputs, ArrayRef<AffineMap> maps,
              ArrayRef<utils::IteratorType> iterators) {
  auto generic = linalg::GenericOp::create(rewriter, op.getLoc(), inputs,
                                           outputs, maps, iterators);
  rewriter.cloneRegionBefore(op->getRegion(0), generic.getRegion(),
                             generic.getRegion().end());
  return generic;
}

// An element-wise op on whole buffers has one loop as well: short rows then
// fill vectors, too.
static linalg::LinalgOp collapseLoops(RewriterBase &rewriter,
                                      linalg::LinalgOp op) {
  if (op.getNumLoops() < 2 || op.getNumParallelLoops() != op.getNumLoops() ||
      op.hasIndexSemantics())
    return op;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    bool whole = type && map.isIdentity() && type.getLayout().isIdentity();
    bool uniform = map.getNumResults() == 0 && op.isDpsInput(&operand);
    if (!whole && !uniform)
      return op;
  }
  ReassociationIndices all(llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(op.getNumLoops()))));
  MLIRContext *context = op.getContext();
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    unsigned results = 0;
    if (op.getMatchingIndexingMap(&operand).getNumResults() != 0) {
      value = memref::CollapseShapeOp::create(
          rewriter, op.getLoc(), value, ArrayRef<ReassociationIndices>(all));
      results = 1;
    }
    (op.isDpsInput(&operand) ? inputs : outputs).push_back(value);
    maps.push_back(
        results ? AffineMap::getMultiDimIdentityMap(1, context)
                : AffineMap::get(/*dimCount=*/1, /*symbolCount=*/0, context));
  }
  linalg::GenericOp flat = createGeneric(rewriter, op, inputs, outputs, maps,
                                         utils::IteratorType::parallel);
  rewriter.eraseOp(op);
  return cast<linalg::LinalgOp>(flat.getOperation());
}

// Copies between buffers that are both in one piece become memcpy later; others
// would become calls into a library of MLIR.
static void replaceStridedCopy(RewriterBase &rewriter, memref::CopyOp copy) {
  auto isWhole = [](Value value) {
    return cast<MemRefType>(value.getType()).getLayout().isIdentity();
  };
  if (isWhole(copy.getSource()) && isWhole(copy.getTarget()))
    return;
  rewriter.setInsertionPoint(copy);
  rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(),
                                              copy.getTarget());
}

namespace {

struct PitVectorize : pit::impl::PitVectorizeBase<PitVectorize> {
  using PitVectorizeBase::PitVectorizeBase;

  LogicalResult initialize(MLIRContext *context) override {
    FailureOr<CpuTarget> cpu =
        getCpuTarget(UnknownLoc::get(context), vectorWidth);
    if (failed(cpu))
      return failure();
    target = *cpu;
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp copy) {
      if (isa<MemRefType>(copy.getSource().getType()) &&
          isa<MemRefType>(copy.getTarget().getType()))
        copies.push_back(copy);
    });
    for (memref::CopyOp copy : copies)
      replaceStridedCopy(rewriter, copy);

    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      op = collapseLoops(rewriter, widenReduction(rewriter, op));
      for (linalg::LinalgOp tile :
           splitLargeOp(rewriter, op, *target, parallel)) {
        rewriter.setInsertionPoint(tile);
        for (linalg::LinalgOp part : packInputs(rewriter, tile)) {
          rewriter.setInsertionPoint(part);
          emitVectorCode(rewriter, part, planVectors(part, *target));
          rewriter.eraseOp(part);
        }
      }
    }
    if (failed(approximateFunctions(getOperation())))
      signalPassFailure();
  }

  std::optional<CpuTarget> target;
};

} // namespace
