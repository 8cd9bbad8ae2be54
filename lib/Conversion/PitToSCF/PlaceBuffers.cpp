//===- PlaceBuffers.cpp - Buffers from the memory of the call -------------===//

#include "RuntimeCalls.h"

#include "pit/Conversion/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "pit/Conversion/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Every buffer starts on a cache line of its own, as wide as a vector.
static constexpr int64_t alignment = 64;

static int64_t staticBytes(MemRefType type) {
  return llvm::alignTo(
      type.getNumElements() * elementBytes(type.getElementType()), alignment);
}

/// The outermost pit.forall around `op`, if any.
static ForallOp enclosingForall(Operation *op) {
  ForallOp outermost;
  for (auto loop = op->getParentOfType<ForallOp>(); loop;
       loop = loop->getParentOfType<ForallOp>())
    outermost = loop;
  return outermost;
}

/// Before which op a static buffer can be placed once instead of in every
/// iteration: pit.for carries no buffers, so nothing lives on in one.
static Operation *hoistPoint(Operation *op) {
  while (auto loop = dyn_cast<ForOp>(op->getParentOp()))
    op = loop;
  return op;
}

namespace {
struct PlaceBuffersPass : pit::impl::PlaceBuffersBase<PlaceBuffersPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (getFrame(function) && failed(place(function)))
        return signalPassFailure();
  }

  LogicalResult place(func::FuncOp function) {
    SmallVector<memref::AllocOp> allocs;
    function.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        allocs.push_back(alloc);
      else if (isa<memref::DeallocOp>(op))
        op->erase(); // the frame's memory goes back as a whole
    });

    OpBuilder builder(function.getContext());
    llvm::MapVector<ForallOp, SmallVector<memref::AllocOp>> tiles;
    for (memref::AllocOp alloc : allocs) {
      if (ForallOp forall = enclosingForall(alloc)) {
        if (!alloc.getType().hasStaticShape())
          return alloc.emitError("buffer of dynamic size inside of pit.forall; "
                                 "only static tiles can be placed in a "
                                 "worker's scratch");
        tiles[forall].push_back(alloc);
        continue;
      }
      if (alloc->getParentOfType<scf::ParallelOp>() ||
          alloc->getParentOfType<scf::ForallOp>())
        return alloc.emitError("buffer inside of a parallel loop that is not "
                               "pit.forall cannot be placed");
      placeInFrame(builder, function, alloc);
    }

    int64_t workspace = 0;
    for (auto &[forall, buffers] : tiles) {
      int64_t bytes = 0;
      for (memref::AllocOp alloc : buffers)
        bytes += staticBytes(alloc.getType());
      workspace = std::max(workspace, bytes);
    }
    if (workspace)
      placeInScratch(builder, function, tiles, workspace);
    return success();
  }

  void placeInFrame(OpBuilder &builder, func::FuncOp function,
                    memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    Location loc = alloc.getLoc();
    builder.setInsertionPoint(type.hasStaticShape() ? hoistPoint(alloc)
                                                    : alloc.getOperation());
    Value bytes = arith::ConstantIndexOp::create(
        builder, loc, elementBytes(type.getElementType()));
    auto dynamic = alloc.getDynamicSizes().begin();
    for (int64_t extent : type.getShape()) {
      Value size = ShapedType::isDynamic(extent)
                       ? *dynamic++
                       : arith::ConstantIndexOp::create(builder, loc, extent)
                             .getResult();
      bytes = arith::MulIOp::create(builder, loc, bytes, size);
    }
    Value pointer = allocateBytes(builder, loc, function, bytes);
    alloc.replaceAllUsesWith(
        memrefAt(builder, loc, pointer, type, alloc.getDynamicSizes()));
    alloc.erase();
  }

  /// One scratch area for the whole function: its loops run one after another.
  void placeInScratch(
      OpBuilder &builder, func::FuncOp function,
      const llvm::MapVector<ForallOp, SmallVector<memref::AllocOp>> &tiles,
      int64_t workspace) {
    Location loc = function.getLoc();
    builder.setInsertionPointToStart(&function.front());
    Value perWorker = arith::ConstantIndexOp::create(builder, loc, workspace);
    Value total = perWorker;
    if (openmp) {
      Value workers = callRuntime(builder, loc, "pit_rt_workers",
                                  builder.getI32Type(), getFrame(function))
                          .getResult(0);
      workers = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           workers);
      total = arith::MulIOp::create(builder, loc, perWorker, workers);
    }
    Value pointer = allocateBytes(builder, loc, function, total);
    Value scratch = memrefAt(
        builder, loc, pointer,
        MemRefType::get(ShapedType::kDynamic, builder.getI8Type()), total);

    for (auto &[forall, buffers] : tiles) {
      ForallOp loop = forall;
      builder.setInsertionPointToStart(loop.getBody());
      Value base = arith::ConstantIndexOp::create(builder, loc, 0);
      if (openmp) {
        Value worker = callRuntime(builder, loc, "omp_get_thread_num",
                                   builder.getI32Type(), {})
                           .getResult(0);
        worker = arith::IndexCastOp::create(builder, loc,
                                            builder.getIndexType(), worker);
        base = arith::MulIOp::create(builder, loc, worker, perWorker);
      }
      int64_t offset = 0;
      for (memref::AllocOp alloc : buffers) {
        Value start = arith::AddIOp::create(
            builder, loc, base,
            arith::ConstantIndexOp::create(builder, loc, offset));
        Value view = memref::ViewOp::create(builder, alloc.getLoc(),
                                            alloc.getType(), scratch, start,
                                            /*sizes=*/ValueRange());
        offset += staticBytes(alloc.getType());
        alloc.replaceAllUsesWith(view);
      }
      for (memref::AllocOp alloc : buffers)
        alloc.erase();
    }
    function->setAttr("pit.workspace", builder.getI64IntegerAttr(workspace));
  }
};
} // namespace
