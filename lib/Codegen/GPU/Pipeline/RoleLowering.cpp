//===- RoleLowering.cpp - Roles to branches -------------------------------===//

#include "PipelineLowering.h"

#include "Codegen/GPU/Common/WgmmaLayout.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

// A condition on the thread's number would have ptxas issue each copy in a
// loop over lanes.
void pitgpu::inOneThreadOfEachWarp(Emitter &e, function_ref<void()> body) {
  Value elected =
      NVVM::ElectSyncOp::create(e.b, e.loc, e.b.getI1Type(), Value());
  e.ifThen(elected, body);
}

/// Runs `body` in one thread of the first warp.
static void inOneThreadOfFirstWarp(Emitter &e, Value warp,
                                   function_ref<void()> body) {
  e.ifThen(e.lessThan(warp, e.i32(1)), [&] { inOneThreadOfEachWarp(e, body); });
}

void pitgpu::inOneThread(Emitter &e, const ThreadInRole &self,
                         function_ref<void()> body) {
  switch (self.speakers) {
  case Speakers::All:
    return inOneThreadOfFirstWarp(e, self.warp, body);
  case Speakers::LeaderOfEachWarp:
    return e.ifThen(e.lessThan(self.warp, e.i32(1)), body);
  case Speakers::Leader:
    return body();
  }
}

/// Moves a block's ops but the last one before `terminator`.
static void moveOps(RewriterBase &rewriter, Block *from, Operation *terminator,
                    bool hasTerminator) {
  auto end = hasTerminator ? std::prev(from->end()) : from->end();
  terminator->getBlock()->getOperations().splice(
      terminator->getIterator(), from->getOperations(), from->begin(), end);
}

/// Registers that all threads have before roles exchange them.
static int64_t registersAtEntry(RolesOp roles) {
  return 65536 / static_cast<int64_t>(roles.getBlocks()) / roles.getThreads() /
         8 * 8;
}

namespace {
/// The turns of a role's warpgroups: a named barrier for each, at which it and
/// the one before it meet. Barrier 0 is that of all threads.
struct HandOvers {
  int64_t first; ///< barrier
  int64_t groups;
  Value group; ///< of this thread

  Value isGroup(Emitter &e, int64_t number) const {
    return e.equal(group, e.i32(number));
  }
  void take(Emitter &e) const {
    if (groups > 1)
      NVVM::BarrierOp::create(e.b, e.loc, Type(), e.add(group, first),
                              e.i32(2 * cuda::kWarpgroup),
                              NVVM::BarrierReductionAttr(), Value());
  }
  void pass(Emitter &e) const {
    if (groups == 1)
      return;
    Value next =
        e.select(isGroup(e, groups - 1), e.i32(0), e.add(group, e.i32(1)));
    NVVM::BarrierArriveOp::create(e.b, e.loc, e.add(next, first),
                                  e.i32(2 * cuda::kWarpgroup));
  }
};
} // namespace

/// Lowers what the warpgroups of a role do in turn. The last one gives the
/// first one its first turn, and the turn after the last is nobody's.
static void lowerHandOvers(RewriterBase &rewriter, Region &body,
                           const HandOvers &handOvers) {
  SmallVector<HandOverOp> ops;
  body.walk([&](HandOverOp op) { ops.push_back(op); });
  if (ops.empty())
    return;
  for (HandOverOp op : ops) {
    rewriter.setInsertionPoint(op);
    Emitter e(rewriter, op.getLoc());
    handOvers.take(e);
    Block *block = &op.getBody().front();
    Operation *yield = block->getTerminator();
    SmallVector<Value> values(yield->getOperands());
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(block, op);
    handOvers.pass(e);
    rewriter.replaceOp(op, values);
  }
  if (handOvers.groups == 1)
    return;
  Emitter e(rewriter, body.getLoc());
  rewriter.setInsertionPointToStart(&body.front());
  e.ifThen(handOvers.isGroup(e, handOvers.groups - 1),
           [&] { handOvers.pass(e); });
  rewriter.setInsertionPointToEnd(&body.front());
  e.ifThen(handOvers.isGroup(e, 0), [&] { handOvers.take(e); });
}

/// Named barriers of those that wait for each other.
static void lowerSyncs(RewriterBase &rewriter, Region &body,
                       const RolesOp::Barriers &barriers,
                       const ThreadInRole &self) {
  body.walk([&](SyncOp op) {
    rewriter.setInsertionPoint(op);
    Emitter e(rewriter, op.getLoc());
    if (op.getScope() == SyncScope::Warp) {
      rewriter.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, e.i32(-1));
      return;
    }
    bool ofGroup = op.getScope() == SyncScope::Warpgroup || self.warps == 4;
    Value barrier = e.i32(ofGroup ? barriers.ofWarpgroups : barriers.own);
    if (ofGroup && self.warps > 4)
      barrier = e.add(self.warpgroup, barrier);
    int64_t threads = ofGroup ? cuda::kWarpgroup : 32 * self.warps;
    rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(
        op, Type(), barrier, e.i32(threads), NVVM::BarrierReductionAttr(),
        Value());
  });
}

/// A thread's numbers are known where its role begins.
static void lowerNumbers(RewriterBase &rewriter, Region &body,
                         const ThreadInRole &self) {
  body.walk([&](Operation *op) {
    Value number = isa<ThreadOp>(op)      ? self.thread
                   : isa<WarpOp>(op)      ? self.warp
                   : isa<WarpgroupOp>(op) ? self.warpgroup
                                          : Value();
    if (number)
      rewriter.replaceOp(op, number);
  });
}

/// Has the threads that lead run what they do.
static void lowerLeaders(RewriterBase &rewriter, Region &body, Value warp) {
  SmallVector<LeaderOp> ops;
  body.walk([&](LeaderOp op) { ops.push_back(op); });
  for (LeaderOp op : ops) {
    rewriter.setInsertionPoint(op);
    Emitter e(rewriter, op.getLoc());
    auto run = [&] {
      Block *block = &op.getBody().front();
      moveOps(rewriter, block, &*rewriter.getInsertionPoint(),
              /*hasTerminator=*/true);
    };
    if (op.getOfWarps())
      inOneThreadOfEachWarp(e, run);
    else
      inOneThreadOfFirstWarp(e, warp, run);
    rewriter.eraseOp(op);
  }
}

namespace {
/// One of the roles of a block.
struct Role {
  unsigned number;
  int64_t first; ///< its first warp
  RolesOp::Barriers barriers;
};
} // namespace

/// Moves the ops of a role to where the rewriter is, before a terminator.
/// `self` are a thread's numbers in the block.
static void lowerRole(RewriterBase &rewriter, RolesOp roles, const Role &role,
                      ThreadInRole self, PipelineContext &context) {
  Location loc = roles.getLoc();
  Operation *terminator = &*rewriter.getInsertionPoint();
  Emitter e(rewriter, loc);
  int64_t registers = roles.getRegisters()[role.number];
  int64_t entry = registersAtEntry(roles);
  if (registers != entry)
    NVVM::SetMaxRegisterOp::create(rewriter, loc, registers,
                                   registers > entry
                                       ? NVVM::SetMaxRegisterAction::increase
                                       : NVVM::SetMaxRegisterAction::decrease);
  self.warps = roles.getWarps()[role.number];
  self.thread = e.sub(self.thread, e.i32(32 * role.first));
  self.warp = e.sub(self.warp, e.i32(role.first));
  self.warpgroup = e.sub(self.warpgroup, e.i32(role.first / 4));
  Region &body = roles.getBodies()[role.number];
  lowerNumbers(rewriter, body, self);
  lowerHandOvers(rewriter, body,
                 {role.barriers.handOvers, self.warps / 4, self.warpgroup});
  lowerSyncs(rewriter, body, role.barriers, self);
  body.walk([&](Operation *op) {
    auto leader = op->getParentOfType<LeaderOp>();
    self.speakers = !leader               ? Speakers::All
                    : leader.getOfWarps() ? Speakers::LeaderOfEachWarp
                                          : Speakers::Leader;
    context.threads[op] = self;
  });
  lowerLeaders(rewriter, body, self.warp);
  moveOps(rewriter, &body.front(), terminator, /*hasTerminator=*/false);
}

/// The numbers of a thread in the block.
static ThreadInRole numbersInBlock(Emitter &e) {
  ThreadInRole self;
  self.thread = e.threadId();
  self.lane = e.rem(self.thread, 32);
  // From one lane to all: what depends on it is the same in a warp, and ptxas
  // knows it.
  self.warp = e.fromLane(e.div(self.thread, 32), e.i32(0));
  self.warpgroup = e.div(self.warp, 4);
  return self;
}

/// One branch within the other: the first warps have the first role.
static void lower(RewriterBase &rewriter, RolesOp roles,
                  PipelineContext &context) {
  Location loc = roles.getLoc();
  rewriter.setInsertionPoint(roles);
  Emitter e(rewriter, loc);
  ThreadInRole self = numbersInBlock(e);
  int64_t first = 0;
  // The numbers follow from the roles' ops, which are lowered below.
  SmallVector<RolesOp::Barriers> barriers = roles.getBarriers().first;
  Operation *terminator = roles;
  for (unsigned i = 0, n = roles.getBodies().size(); i < n; ++i) {
    int64_t next = first + roles.getWarps()[i];
    // The last one has a condition, too, though it holds: between two branches
    // alone LLVM would hoist what both compute, before roles exchange
    // registers.
    rewriter.setInsertionPoint(terminator);
    bool isLast = i + 1 == n;
    auto branch = scf::IfOp::create(rewriter, loc,
                                    e.lessThan(self.warpgroup, e.i32(next / 4)),
                                    /*withElseRegion=*/!isLast);
    rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
    lowerRole(rewriter, roles, {i, first, barriers[i]}, self, context);
    if (!isLast)
      terminator = branch.elseBlock()->getTerminator();
    first = next;
  }
  if (clusterOf(roles->getParentOfType<gpu::GPUFuncOp>()) > 1) {
    // A block stays until nobody uses its barriers.
    rewriter.setInsertionPoint(roles);
    syncCluster(e);
  }
  rewriter.eraseOp(roles);
}

LogicalResult pitgpu::lowerRoles(RewriterBase &rewriter, gpu::GPUFuncOp kernel,
                                 PipelineContext &context) {
  SmallVector<RolesOp> roles;
  kernel.walk([&](RolesOp op) { roles.push_back(op); });
  if (roles.size() > 1)
    return roles[1].emitOpError()
           << "is the second one of a kernel; a block's warps have one role "
              "each";
  for (RolesOp op : roles) {
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    rewriter.getI32IntegerAttr(op.getBlocks()));
    int32_t threads = op.getThreads();
    kernel.setKnownBlockSizeAttr(
        rewriter.getDenseI32ArrayAttr({threads, 1, 1}));
    lower(rewriter, op, context);
  }
  // Without roles the block's threads compute elements.
  std::optional<ThreadInRole> self;
  kernel.walk([&](MapOp map) {
    if (context.threads.count(map))
      return;
    if (!self) {
      rewriter.setInsertionPointToStart(&kernel.getBody().front());
      Emitter e(rewriter, kernel.getLoc());
      self = numbersInBlock(e);
    }
    context.threads[map] = *self;
  });
  return success();
}

int64_t pitgpu::clusterOf(gpu::GPUFuncOp kernel) {
  int64_t cluster = 1;
  kernel.walk([&](RingOp ring) {
    cluster = std::max(cluster, static_cast<int64_t>(ring.getCluster()));
  });
  return cluster;
}

void pitgpu::syncCluster(Emitter &e) {
  NVVM::ClusterArriveOp::create(e.b, e.loc, UnitAttr());
  NVVM::ClusterWaitOp::create(e.b, e.loc, UnitAttr());
}

/// A ring's barriers, full ones and then, if stages are released, empty ones.
static int64_t barrierBytes(RingOp ring) {
  return 8 * ring.getType().getStages() * (ring.getEmpty() ? 2 : 1);
}

int64_t pitgpu::placeShared(gpu::GPUFuncOp kernel) {
  int64_t end = 0, columns = 0;
  SmallVector<RingOp> open;
  kernel.walk([&](RingOp ring) {
    if (!ring.getOffset())
      return open.push_back(ring);
    RingType type = ring.getType();
    int64_t stages = *ring.getOffset(), barriers = *ring.getBarriers();
    int64_t &endOfStages = type.isInTensorMemory() ? columns : end;
    endOfStages =
        std::max(endOfStages, stages + type.getStages() * type.getStageSize());
    end = std::max(end, barriers + barrierBytes(ring));
  });
  SmallVector<SharedOp> others;
  kernel.walk([&](SharedOp op) {
    if (!op.getOffset())
      return others.push_back(op);
    end = std::max(end, static_cast<int64_t>(*op.getOffset() + op.getBytes()));
  });
  // Barriers behind all stages, which start where the swizzle does.
  Builder builder(kernel.getContext());
  for (RingOp ring : open) {
    RingType type = ring.getType();
    int64_t &place = type.isInTensorMemory() ? columns : end;
    if (!type.isInTensorMemory())
      place = llvm::alignTo(place, kSwizzleRepeat);
    ring.setOffsetAttr(builder.getI64IntegerAttr(place));
    place += type.getStages() * type.getStageSize();
  }
  for (RingOp ring : open) {
    ring.setBarriersAttr(builder.getI64IntegerAttr(end));
    end += barrierBytes(ring);
  }
  for (SharedOp op : others) {
    end = llvm::alignTo(end, 128);
    op.setOffsetAttr(builder.getI64IntegerAttr(end));
    end += static_cast<int64_t>(op.getBytes());
  }
  return end;
}
