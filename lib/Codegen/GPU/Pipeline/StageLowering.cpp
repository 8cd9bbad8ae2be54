//===- StageLowering.cpp - Rings and their protocol -----------------------===//
//
// Roles hand stages over by mbarriers. The block's threads fill them by groups
// of cp.async, and meet at its barrier.
//
//===----------------------------------------------------------------------===//

#include "PipelineLowering.h"

#include "Codegen/GPU/Common/WgmmaLayout.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

/// The start of the kernel's shared memory (i32).
static Value sharedStart(Emitter &e) {
  auto pointer = LLVM::LLVMPointerType::get(
      e.b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  Value shared = LLVM::AddressOfOp::create(e.b, e.loc, pointer, kSharedName);
  return LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI32Type(), shared);
}

static void initBarrier(Emitter &e, Value barrier, int64_t arrivals) {
  NVVM::MBarrierInitOp::create(e.b, e.loc, e.sharedPointer(barrier),
                               e.i32(arrivals), Value());
}

static void makeBarriers(Emitter &e, Value start, ArrayRef<RingOp> rings) {
  Value thread = e.threadId();
  Value isFirst = e.equal(thread, e.i32(0));
  e.ifThen(isFirst, [&] {
    for (RingOp ring : rings) {
      Value barriers = e.add(start, *ring.getBarriers());
      int64_t count = ring.getType().getStages();
      for (int64_t s = 0; s < count; ++s) {
        initBarrier(e, e.add(barriers, 8 * s), ring.getFull());
        if (ring.getEmpty())
          initBarrier(e, e.add(barriers, 8 * (count + s)), ring.getEmpty());
      }
    }
    NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
  });
  e.barrier();
  if (llvm::any_of(rings, [](RingOp ring) { return ring.getCluster() > 1; }))
    syncCluster(e);
}

/// The last ring of a kernel makes the barriers of all.
static Lowered lowerRing(Emitter &e, RingOp op, Operands<RingOp> in) {
  Value start = sharedStart(e);
  auto rings = in.pipeline.ringsUpTo.find(op);
  if (rings != in.pipeline.ringsUpTo.end())
    makeBarriers(e, start, rings->second);
  Value memory =
      op.getType().isInTensorMemory()
          ? in.pipeline.tensorMemory.at(op->getParentOfType<gpu::GPUFuncOp>())
          : start;
  return {{e.add(memory, *op.getOffset()), e.add(start, *op.getBarriers())}};
}

static Lowered lowerBlockRing(Emitter &, BlockRingOp op,
                              Operands<BlockRingOp>) {
  return {{op.getPlace()}};
}

static Lowered lowerShared(Emitter &e, SharedOp op, Operands<SharedOp>) {
  return {{e.add(sharedStart(e), *op.getOffset())}};
}

namespace {
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
} // namespace

/// Waits for the end of a phase: of the even ones, if `parity` (i32) is 0.
static void awaitPhase(Emitter &e, Value barrier, Value parity) {
  /// Nanoseconds that one try takes at most.
  constexpr int64_t kPatience = 10000000;
  NVVM::MBarrierTryWaitParityOp::create(e.b, e.loc, e.sharedPointer(barrier),
                                        parity, e.i32(kPatience));
}

/// Has the warps wait that give the stage on.
static void await(Emitter &e, Operation *op, const PipelineContext &pipeline,
                  Value barrier, Value parity) {
  const ThreadInRole &self = pipeline.threads.at(op);
  if (!pipeline.takesOfOneWarp.contains(op) || self.speakers != Speakers::All)
    return awaitPhase(e, barrier, parity);
  e.ifThen(e.lessThan(self.warp, e.i32(1)),
           [&] { awaitPhase(e, barrier, parity); });
}

/// Orders what tensor cores do with barriers of threads.
static void fenceTensorMemory(Emitter &e, NVVM::Tcgen05FenceKind kind) {
  NVVM::Tcgen05FenceOp::create(e.b, e.loc, kind);
}

/// Has the tensor cores arrive at a barrier when they have done what the role
/// has started. The thread that is elected is the one that has started it.
static void arriveAfterProducts(Emitter &e, const ThreadInRole &self,
                                Value barrier) {
  inOneThread(e, self, [&] {
    NVVM::Tcgen05CommitOp::create(e.b, e.loc, barrier, Value());
  });
}

/// A stage of the block's ring. Where it lies is computed where a tile is
/// wanted: a loop that carries it, and the number, carries one register.
template <typename Take>
static Lowered stageOfBlock(Take op, Operands<Take> in) {
  return {{in.getRing().front(), op.getNumber()}};
}

static Lowered lowerAcquire(Emitter &e, AcquireOp op, Operands<AcquireOp> in) {
  if (op.getRing().getType().getOfBlock())
    return stageOfBlock(op, in);
  Use use(e, op.getRing().getType(), in.getRing(), op.getNumber());
  // In the first round all are empty.
  if (!in.pipeline.neverReleased.contains(op))
    await(e, op, in.pipeline, use.empty, e.bitXor(use.round, e.i32(1)));
  if (op.getRing().getType().isInTensorMemory())
    fenceTensorMemory(e, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  return {use.values()};
}

static Lowered lowerWait(Emitter &e, WaitOp op, Operands<WaitOp> in) {
  RingType ring = op.getRing().getType();
  if (ring.getOfBlock()) {
    // The copies of each thread, and then all threads.
    NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, ring.getStages() - 2);
    if (in.pipeline.waitsForWrites.contains(op))
      e.asyncProxyFence();
    e.barrier();
    return stageOfBlock(op, in);
  }
  Use use(e, ring, in.getRing(), op.getNumber());
  await(e, op, in.pipeline, use.full, use.round);
  if (ring.isInTensorMemory())
    fenceTensorMemory(e, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  if (in.pipeline.waitsForWrites.contains(op))
    e.asyncProxyFence();
  return {use.values()};
}

static void arrive(Emitter &e, CommitOp op, const ThreadInRole &self,
                   Value full) {
  switch (op.getKind()) {
  case CommitKind::Tma: {
    auto announce = [&] {
      Value bytes =
          op.getAnnounced() ? Value(op.getAnnounced()) : e.i32(*op.getBytes());
      NVVM::MBarrierArriveExpectTxOp::create(e.b, e.loc, Type(), full, bytes,
                                             NVVM::MemScopeKind::CTA,
                                             /*relaxed=*/false, Value());
    };
    if (self.speakers == Speakers::LeaderOfEachWarp)
      return announce();
    return inOneThread(e, self, announce);
  }
  case CommitKind::Copies:
    NVVM::CpAsyncMBarrierArriveOp::create(e.b, e.loc, full, /*noinc=*/true);
    return;
  case CommitKind::Writes:
    NVVM::MBarrierArriveOp::create(e.b, e.loc, Type(), full, Value(),
                                   NVVM::MemScopeKind::CTA);
    return;
  case CommitKind::Products:
    arriveAfterProducts(e, self, full);
    return;
  }
}

static Lowered lowerCommit(Emitter &e, CommitOp op, Operands<CommitOp> in) {
  if (op.getStage().getType().getOfBlock()) {
    NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
    return {};
  }
  Value full = in.getStage()[1];
  auto run = [&] { arrive(e, op, in.self(op), e.sharedPointer(full)); };
  if (Value condition = op.getCondition())
    e.ifThen(condition, run);
  else
    run();
  return {};
}

static Lowered lowerRelease(Emitter &e, ReleaseOp op, Operands<ReleaseOp> in) {
  // All threads meet in the next wait.
  if (op.getStage().getType().getOfBlock())
    return {};
  const ThreadInRole &self = in.self(op);
  if (op.getAfterProducts()) {
    arriveAfterProducts(e, self, e.sharedPointer(in.getStage()[2]));
    return {};
  }
  if (op.getStage().getType().isInTensorMemory())
    fenceTensorMemory(e, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  int64_t cluster = op.getCluster();
  // In a cluster each of the first lanes speaks to one block.
  Value number =
      op.getByWarpgroups() ? e.rem(self.thread, cuda::kWarpgroup) : self.lane;
  Value speaks = e.lessThan(number, e.i32(cluster));
  if (op.getCondition())
    speaks = e.logicalAnd(speaks, op.getCondition());
  e.ifThen(speaks, [&] {
    Value empty = e.sharedPointer(in.getStage()[2]);
    if (cluster == 1) {
      NVVM::MBarrierArriveOp::create(e.b, e.loc, Type(), empty, Value(),
                                     NVVM::MemScopeKind::CTA);
      return;
    }
    auto remote = LLVM::LLVMPointerType::get(
        op.getContext(),
        static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
    // LLVM takes mapa for an op that may run before the branch, where the
    // thread is the number of no block.
    Value block = e.hideFromOptimizer(number);
    empty = NVVM::MapaOp::create(e.b, e.loc, remote, empty, block);
    // The memory that was read is not written before the wait: a release
    // would only put a fence into every step.
    NVVM::MBarrierArriveOp::create(e.b, e.loc, Type(), empty, Value(),
                                   NVVM::MemScopeKind::CLUSTER,
                                   /*relaxed=*/true);
  });
  return {};
}

static Lowered lowerTile(Emitter &e, TileOp op, Operands<TileOp> in) {
  StageType stage = op.getStage().getType();
  Value place = in.getStage()[0];
  if (stage.getOfBlock())
    place = e.add(place, e.mul(in.getStage()[1], stage.getSize()));
  return {{e.add(place, stage.getTileOffset(op.getNumber()))}};
}

static Lowered lowerSubtile(Emitter &e, SubtileOp op, Operands<SubtileOp> in) {
  TileType tile = op.getSource().getType();
  Value rows = e.mul(op.getRow(), tile.getSwizzle());
  Value blocks =
      e.mul(e.div(op.getCol(), tile.getLineElements()), tile.getPitch());
  Value place = in.getSource().front();
  return {{e.add(place, e.add(rows, blocks))}};
}

static Lowered lowerTileAt(Emitter &e, TileAtOp op, Operands<TileAtOp>) {
  return {{op.getAddress()}};
}

static Lowered lowerAddress(Emitter &e, AddressOp op, Operands<AddressOp> in) {
  Value place = in.getTile().front();
  if (op.getRow())
    place = e.add(place, offsetOf(e, cast<TileType>(op.getTile().getType()),
                                  op.getRow(), op.getCol()));
  return {{place}};
}

Value pitgpu::offsetOf(Emitter &e, TileType tile, Value row, Value col) {
  int64_t line = tile.getSwizzle(), chunk = 16;
  Value byte = e.mul(col, tile.getElementType().getIntOrFloatBitWidth() / 8);
  Value block = e.mul(e.div(byte, line), tile.getPitch());
  // 128 bytes, of however many lines, have a number of their own.
  Value number = e.rem(e.div(e.mul(row, line), 128), line / chunk);
  Value inLine = e.bitXor(e.rem(byte, line), e.mul(number, chunk));
  return e.add(block, e.add(e.mul(row, line), inLine));
}

void pitgpu::populateStagePatterns(PipelinePatterns &patterns) {
  patterns.add(lowerRing, lowerBlockRing, lowerShared, lowerAcquire, lowerWait,
               lowerCommit, lowerRelease, lowerTile, lowerSubtile, lowerTileAt,
               lowerAddress);
}
