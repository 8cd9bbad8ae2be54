//===- StageLowering.cpp - Rings and their protocol to mbarriers ----------===//

#include "PipelineLowering.h"

#include "Codegen/GPU/Common/MBarrier.h"
#include "Codegen/GPU/Common/Wgmma.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

namespace {

struct RingPattern : PipelinePattern<RingOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(RingOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    auto pointer = LLVM::LLVMPointerType::get(
        op.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
    Value shared =
        LLVM::AddressOfOp::create(rewriter, loc, pointer, kSharedName);
    Value start =
        LLVM::PtrToIntOp::create(rewriter, loc, e.b.getI32Type(), shared);
    bool isInTensorMemory = op.getType().isInTensorMemory();
    Value memory =
        isInTensorMemory
            ? pipeline.tensorMemory.at(op->getParentOfType<gpu::GPUFuncOp>())
            : start;
    Value stages = e.add(memory, *op.getOffset());
    Value barriers = e.add(start, *op.getBarriers());
    Value thread =
        e.toI32(gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x));
    Value isFirst = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, thread, e.i32(0));
    e.ifThen(isFirst, [&] {
      int64_t count = op.getType().getStages();
      for (int64_t s = 0; s < count; ++s) {
        cuda::initMBarrier(e, e.add(barriers, 8 * s), op.getFull());
        cuda::initMBarrier(e, e.add(barriers, 8 * (count + s)), op.getEmpty());
      }
      NVVM::FenceMbarrierInitOp::create(rewriter, loc);
    });
    e.barrier();
    rewriter.replaceOpWithMultiple(op, {{stages, barriers}});
    return success();
  }
};

/// The stage of use `number`, and the parity of the phases of its barriers that
/// end before it.
struct Use {
  Use(Emitter &e, RingType type, ValueRange ring, Value number) {
    Value stage = e.rem(number, type.getStages());
    address = e.add(ring[0], e.mul(stage, type.getStageSize()));
    full = e.add(ring[1], e.mul(stage, 8));
    empty = e.add(full, 8 * type.getStages());
    round = e.bitAnd(e.div(number, type.getStages()), 1);
  }
  SmallVector<Value> values() const { return {address, full, empty}; }

  Value address, full, empty, round;
};

/// Orders what tensor cores do with barriers of threads.
void fenceTensorMemory(Emitter &e, NVVM::Tcgen05FenceKind kind) {
  NVVM::Tcgen05FenceOp::create(e.b, e.loc, kind);
}

/// Has the tensor cores arrive at a barrier when they have done what the role
/// has started. The thread that is elected is the one that has started it.
void arriveAfterProducts(Emitter &e, Operation *op, const ThreadInRole &self,
                         Value barrier) {
  inOneThread(e, op, self, [&] {
    NVVM::Tcgen05CommitOp::create(e.b, e.loc, e.sharedPointer(barrier),
                                  Value());
  });
}

/// Has the warps wait that give the stage on.
void wait(Emitter &e, Operation *op, const PipelineContext &pipeline,
          Value barrier, Value parity) {
  if (!pipeline.takesOfOneWarp.contains(op))
    return cuda::waitMBarrier(e, barrier, parity);
  e.ifThen(e.lessThan(pipeline.threads.at(op).warp, e.i32(1)),
           [&] { cuda::waitMBarrier(e, barrier, parity); });
}

struct AcquirePattern : PipelinePattern<AcquireOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(AcquireOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Use use(e, op.getRing().getType(), adaptor.getRing(), op.getNumber());
    // In the first round all are empty.
    wait(e, op, pipeline, use.empty, e.bitXor(use.round, e.i32(1)));
    if (op.getRing().getType().isInTensorMemory())
      fenceTensorMemory(e, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    rewriter.replaceOpWithMultiple(op, {use.values()});
    return success();
  }
};

struct WaitPattern : PipelinePattern<WaitOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(WaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Use use(e, op.getRing().getType(), adaptor.getRing(), op.getNumber());
    wait(e, op, pipeline, use.full, use.round);
    if (op.getRing().getType().isInTensorMemory())
      fenceTensorMemory(e, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    if (pipeline.waitsForWrites.contains(op))
      cuda::fenceAsyncProxy(e);
    rewriter.replaceOpWithMultiple(op, {use.values()});
    return success();
  }
};

struct CommitPattern : PipelinePattern<CommitOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(CommitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Value full = adaptor.getStage()[1];
    switch (op.getKind()) {
    case CommitKind::Tma:
      inOneThread(e, op, pipeline.threads.at(op), [&] {
        NVVM::MBarrierArriveExpectTxOp::create(
            e.b, e.loc, Type(), e.sharedPointer(full), e.i32(*op.getBytes()),
            NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
      });
      break;
    case CommitKind::Copies:
      cuda::arriveAfterCopies(e, full);
      break;
    case CommitKind::Writes:
      cuda::arriveAtMBarrier(e, full);
      break;
    case CommitKind::Products:
      arriveAfterProducts(e, op, pipeline.threads.at(op), full);
      break;
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReleasePattern : PipelinePattern<ReleaseOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(ReleaseOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    const ThreadInRole &self = pipeline.threads.at(op);
    Value empty = adaptor.getStage()[2];
    if (op.getAfterProducts()) {
      arriveAfterProducts(e, op, self, empty);
      rewriter.eraseOp(op);
      return success();
    }
    if (op.getStage().getType().isInTensorMemory())
      fenceTensorMemory(e, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
    Value speaks = e.lessThan(self.lane, e.i32(1));
    if (op.getCondition())
      speaks = e.logicalAnd(speaks, op.getCondition());
    e.ifThen(speaks, [&] { cuda::arriveAtMBarrier(e, empty); });
    rewriter.eraseOp(op);
    return success();
  }
};

struct TilePattern : PipelinePattern<TileOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(TileOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    int64_t offset = op.getStage().getType().getTileOffset(op.getNumber());
    rewriter.replaceOp(op, e.add(adaptor.getStage()[0], offset));
    return success();
  }
};

struct SubtilePattern : PipelinePattern<SubtileOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(SubtileOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    TileType tile = op.getSource().getType();
    Value rows = e.mul(op.getRow(), tile.getSwizzle());
    Value blocks =
        e.mul(e.div(op.getCol(), tile.getLineElements()), tile.getPitch());
    Value place = adaptor.getSource().front();
    rewriter.replaceOp(op, e.add(place, e.add(rows, blocks)));
    return success();
  }
};

} // namespace

void pitgpu::populateStagePatterns(const TypeConverter &converter,
                                   PipelineContext &pipeline,
                                   RewritePatternSet &patterns) {
  patterns.add<RingPattern, AcquirePattern, WaitPattern, CommitPattern,
               ReleasePattern, TilePattern, SubtilePattern>(
      converter, patterns.getContext(), pipeline);
}
