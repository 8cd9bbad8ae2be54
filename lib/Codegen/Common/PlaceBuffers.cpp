//===- PlaceBuffers.cpp - Buffers from the memory of the call -------------===//

#include "RuntimeCalls.h"

#include "pit/Codegen/Common/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Target/Target.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "pit/Codegen/Common/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Every buffer starts on a cache line of its own, as wide as a vector.
static constexpr int64_t alignment = CpuTarget::lineBytes;

static int64_t staticBytes(MemRefType type) {
  return llvm::alignTo(
      type.getNumElements() * elementBytes(type.getElementType()), alignment);
}

static bool isParallel(Operation *op) {
  return isa<ForallOp, scf::ForallOp, scf::ParallelOp>(op);
}

/// The outermost loop around `op` whose iterations run at the same time, if
/// any.
static Operation *enclosingParallel(Operation *op) {
  Operation *outermost = nullptr;
  while ((op = op->getParentOp()))
    if (isParallel(op))
      outermost = op;
  return outermost;
}

/// The outermost loop around `op`, if any.
static Operation *enclosingLoop(Operation *op) {
  Operation *outermost = nullptr;
  while ((op = op->getParentOp()))
    if (isa<LoopLikeOpInterface>(op))
      outermost = op;
  return outermost;
}

/// Is `value`, which a loop was handed, in what it hands on?
static bool isHandedOn(Value value, LoopLikeOpInterface loop,
                       const BufferViewFlowAnalysis &aliases) {
  Operation *end = nullptr;
  if (auto op = dyn_cast<scf::WhileOp>(*loop))
    end = op.getYieldOp();
  else
    end = loop.getLoopRegions().front()->back().getTerminator();
  return llvm::any_of(aliases.resolve(value), [&](Value alias) {
    return llvm::is_contained(end->getOperands(), alias);
  });
}

/// The reuse of a buffer of a loop: another iteration may have it if it ends
/// with its own, the one after the next if that one is handed it.
static Reuse reuseOf(memref::AllocOp alloc,
                     const BufferViewFlowAnalysis &aliases) {
  Reuse reuse = Reuse::Next;
  for (Value alias : aliases.resolve(alloc)) {
    auto arg = dyn_cast<BlockArgument>(alias);
    Operation *owner =
        arg ? arg.getOwner()->getParentOp() : alias.getDefiningOp();
    // Nothing is known of branches between blocks.
    if (isa<FunctionOpInterface>(owner))
      return Reuse::Never;
    auto loop = dyn_cast<LoopLikeOpInterface>(owner);
    if (!loop || !loop->isAncestor(alloc))
      continue;
    if (arg && isHandedOn(arg, loop, aliases))
      return Reuse::Never;
    reuse = Reuse::AfterNext;
  }
  return reuse;
}

/// Bytes between the scratch areas of two workers. A prefetcher fetches lines
/// beside those that a worker uses; if they were another worker's, they would
/// go to and fro.
static constexpr int64_t kWorkerGap = 1024;

/// Does the function hand the buffer to its caller? Entry points do not.
static bool isReturned(memref::AllocOp alloc,
                       const BufferViewFlowAnalysis &aliases) {
  return llvm::any_of(aliases.resolve(alloc), [](Value alias) {
    return llvm::any_of(alias.getUsers(), llvm::IsaPred<func::ReturnOp>);
  });
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
    FailureOr<SmallVector<memref::AllocOp>> taken = takeBuffers(function);
    if (failed(taken))
      return failure();
    SmallVector<memref::AllocOp> allocs = std::move(*taken);
    IRRewriter builder(function.getContext());
    sequence(builder, allocs);
    BufferViewFlowAnalysis aliases(function);
    llvm::MapVector<Operation *, SmallVector<memref::AllocOp>> tiles;
    for (memref::AllocOp alloc : allocs) {
      if (Operation *loop = enclosingParallel(alloc)) {
        if (!alloc.getType().hasStaticShape())
          return alloc.emitError("buffer of dynamic size inside of pit.forall; "
                                 "only static tiles can be placed in a "
                                 "worker's scratch");
        tiles[loop].push_back(alloc);
        continue;
      }
      placeInFrame(builder, function, alloc, reuseOf(alloc, aliases));
    }

    int64_t workspace = 0;
    for (auto &[loop, buffers] : tiles) {
      int64_t bytes = 0;
      for (memref::AllocOp alloc : buffers)
        bytes += staticBytes(alloc.getType());
      workspace = std::max(workspace, bytes);
    }
    if (workspace)
      placeInScratch(builder, function, tiles, workspace);
    return success();
  }

  /// The buffers that the frame is to hold. They are not given back one by one.
  static FailureOr<SmallVector<memref::AllocOp>>
  takeBuffers(func::FuncOp function) {
    SmallVector<memref::AllocOp> allocs;
    function.walk([&](memref::AllocOp op) { allocs.push_back(op); });
    BufferViewFlowAnalysis aliases(function);
    if (llvm::any_of(function.getResultTypes(), llvm::IsaPred<BaseMemRefType>))
      llvm::erase_if(allocs, [&](memref::AllocOp alloc) {
        return isReturned(alloc, aliases);
      });
    llvm::SmallPtrSet<Operation *, 8> taken(allocs.begin(), allocs.end());
    // Whether `memref` is given back by the frame; nothing if that differs from
    // run to run.
    auto isTaken = [&](Value memref) -> std::optional<bool> {
      bool any = false, all = true;
      for (Value source : aliases.resolveReverse(memref)) {
        // Views and what loops carry are other names of where they are from.
        if (aliases.resolveReverse(source).size() > 1)
          continue;
        bool is = taken.contains(source.getDefiningOp());
        any |= is;
        all &= is;
      }
      return any == all ? std::optional<bool>(any) : std::nullopt;
    };
    WalkResult walk = function.walk([&](Operation *op) {
      if (!isa<memref::DeallocOp, bufferization::DeallocOp>(op))
        return WalkResult::advance();
      auto many = dyn_cast<bufferization::DeallocOp>(op);
      ValueRange memrefs = many ? many.getMemrefs() : op->getOperands();
      for (int64_t i = memrefs.size() - 1; i >= 0; --i) {
        std::optional<bool> frees = isTaken(memrefs[i]);
        if (!frees) {
          op->emitOpError("frees a buffer of the frame in some calls, and one "
                          "that is not in others; buffers are freed after "
                          "pit-functions-to-loops");
          return WalkResult::interrupt();
        }
        if (!*frees)
          continue;
        if (!many) {
          op->erase();
          break;
        }
        many.getMemrefsMutable().erase(i);
        many.getConditionsMutable().erase(i);
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
    return allocs;
  }

  /// Loops of scf with buffers that no worker's scratch can have, because their
  /// sizes are not known, run one iteration after another.
  void sequence(RewriterBase &rewriter, ArrayRef<memref::AllocOp> allocs) {
    SetVector<Operation *> loops;
    for (memref::AllocOp alloc : allocs)
      for (Operation *op = alloc->getParentOp(); op; op = op->getParentOp())
        if (isa<scf::ForallOp, scf::ParallelOp>(op) &&
            (!openmp || !alloc.getType().hasStaticShape()))
          loops.insert(op);
    for (Operation *op : loops) {
      if (openmp)
        op->emitRemark() << op->getName()
                         << " runs one iteration after another: it has a "
                            "buffer whose size is not known before it runs";
      rewriter.setInsertionPoint(op);
      if (auto loop = dyn_cast<scf::ForallOp>(op))
        (void)scf::forallToForLoop(rewriter, loop);
      else
        (void)scf::parallelForToNestedFors(rewriter, cast<scf::ParallelOp>(op));
    }
  }

  void placeInFrame(OpBuilder &builder, func::FuncOp function,
                    memref::AllocOp alloc, Reuse reuse) {
    MemRefType type = alloc.getType();
    Location loc = alloc.getLoc();
    builder.setInsertionPoint(alloc);
    // One place for all iterations.
    Operation *loop = enclosingLoop(alloc);
    if (loop && type.hasStaticShape() && reuse == Reuse::Next)
      builder.setInsertionPoint(loop);
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
    Value pointer = allocateBytes(builder, loc, function, bytes, reuse);
    alloc.replaceAllUsesWith(
        memrefAt(builder, loc, pointer, type, alloc.getDynamicSizes()));
    alloc.erase();
  }

  /// One scratch area for the whole function: its loops run one after another.
  void placeInScratch(
      OpBuilder &builder, func::FuncOp function,
      const llvm::MapVector<Operation *, SmallVector<memref::AllocOp>> &tiles,
      int64_t workspace) {
    Location loc = function.getLoc();
    builder.setInsertionPointToStart(&function.front());
    int64_t stride = openmp ? workspace + kWorkerGap : workspace;
    Value perWorker = arith::ConstantIndexOp::create(builder, loc, stride);
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

    for (auto &[loop, buffers] : tiles) {
      builder.setInsertionPointToStart(&loop->getRegion(0).front());
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
  }
};
} // namespace
