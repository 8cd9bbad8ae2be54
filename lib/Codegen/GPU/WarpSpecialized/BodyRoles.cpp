//===- BodyRoles.cpp - A tile body by warps of two roles ------------------===//
//
// A kernel of sm_90a for a loop over tiles with one mainloop that has a tile
// body, in ops of the pipeline level. Four warps load the tiles of the steps,
// each kind into a ring of its own; dense ones as boxes by TMA. The others, the
// workers, compute:
//
//   producers                       workers
//     for each tile of the block:     for each tile of the block:
//       load what is loaded once        wait for it
//       for each step s:                for each step s:
//         for each tile of s:             for each op:
//           acquire a stage                 wait for its tiles' stages
//           start its copies                compute
//           commit it                       release them
//                                       store
//
//===----------------------------------------------------------------------===//

#include "BodyRoles.h"
#include "BodyPipeline.h"

#include "RoleKernel.h"
#include "TakenTiles.h"

#include "Codegen/GPU/Common/TileLoop.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

class RolesKernel : RoleKernel {
public:
  RolesKernel(func::FuncOp function, gpu::GPUModuleOp device,
              const BodyPlan &plan, function_ref<BodyPlan(MainloopOp)> planOf)
      : RoleKernel(function, device), plan(plan), planOf(planOf) {}

  gpu::GPUFuncOp run() {
    LaunchInfo info;
    info.threads = plan.threads();
    // If later tiles have fewer steps, tiles that run at once would read other
    // rows.
    ForallOp tiles = matchMainloopNest(function)->forall;
    bool areTaken = plan.blocks == 1 && stepsDiffer(tiles) &&
                    compareLaterSteps(tiles) != LaterSteps::Fewer;
    info.grid = areTaken           ? LaunchGrid::Taken
                : plan.blocks == 1 ? LaunchGrid::Tiles
                                   : LaunchGrid::Iterations;
    info.pdl = true;
    SmallVector<Type> counters(areTaken, rewriter.getI64Type());
    createKernel(info, counters);
    createRings();
    if (areTaken) {
      Emitter e(rewriter, loc);
      taken.emplace(e, kernel.getArguments().back(), plan.producers,
                    plan.producers + plan.workers());
    }
    createRoles(plan.blocks,
                {{"workers", plan.workers(), plan.workerRegisters(),
                  [&] { lowerRole(/*isProducer=*/false); }},
                 {"producers", plan.producers, plan.producerRegisters(),
                  [&] { lowerRole(/*isProducer=*/true); }}});
    return kernel;
  }

private:
  void createRings() {
    MLIRContext *context = rewriter.getContext();
    for (const StagedTile &staged : plan.staged) {
      const SharedTile &tile = staged.operand.tile;
      Type element = staged.operand.element;
      StagedRing ring;
      ring.tile = BodyProducts::typeOf(staged);
      if (staged.isBox()) {
        ViewOp view = staged.view;
        auto source = mlir::cast<BlockArgument>(view.getSrc());
        SmallVector<int64_t> box(
            mlir::cast<MemRefType>(source.getType()).getRank(), 1);
        box[staged.operand.rowDim] = tile.rows;
        box.back() = tile.lineBytes / tile.elementBytes;
        auto type =
            pitgpu::TensorMapType::get(context, box, element, tile.lineBytes);
        ring.map = pitgpu::TensorMapOp::create(
            rewriter, loc, type, kernel.getArgument(source.getArgNumber()),
            IntegerAttr(), DenseI64ArrayAttr());
      }
      int64_t stages = staged.isInvariant ? plan.invariantStages : plan.stages;
      auto type = pitgpu::RingType::get(context, stages, ring.tile);
      int64_t full = ring.map ? 1 : 2 * plan.loaders();
      ring.ring =
          pitgpu::RingOp::create(rewriter, loc, type, full, plan.workers(),
                                 /*cluster=*/1, IntegerAttr(), IntegerAttr());
      rings.push_back(ring);
    }
    if (!plan.added)
      return;
    // Workers write and read it.
    auto type = pitgpu::RingType::get(context, plan.addedStages(),
                                      BodyProducts::typeOfFactor(plan));
    addedRing = pitgpu::RingOp::create(
        rewriter, loc, type, 32 * plan.workers(), plan.workers(),
        /*cluster=*/1, IntegerAttr(), IntegerAttr());
    // The swizzle begins anew at each multiple of kSwizzleBytes.
    Emitter e(rewriter, loc);
    Value place = pitgpu::SharedOp::create(rewriter, loc, rewriter.getI32Type(),
                                           plan.addedSumBytes() + kSwizzleBytes,
                                           IntegerAttr());
    addedSums = e.bitAnd(e.add(place, kSwizzleBytes - 1), -kSwizzleBytes);
    // A warp adds its own rows.
    StoreOp store = storeOf(plan.added);
    auto dest = mlir::cast<BlockArgument>(store.getDest());
    pitgpu::TileType tile = BodyProducts::typeOfSums(plan);
    SmallVector<int64_t> box(store.getDest().getType().getRank(), 1);
    box[plan.addedRowDim()] = 16;
    box.back() = tile.getLineElements();
    auto map = pitgpu::TensorMapType::get(context, box, tile.getElementType(),
                                          tile.getSwizzle());
    addedMap = pitgpu::TensorMapOp::create(
        rewriter, loc, map, kernel.getArgument(dest.getArgNumber()),
        IntegerAttr(), DenseI64ArrayAttr());
  }

  void lowerRole(bool isProducer) {
    lowerCopy([&](MainloopNest nest, const IndexMap &indices) {
      lowerTiles(nest, indices, isProducer);
    });
  }

  void lowerTiles(MainloopNest nest, const IndexMap &indices, bool isProducer) {
    ChunkMap chunks;
    rewriter.setInsertionPoint(nest.forall);
    auto x = gpu::Dimension::x;
    Value number =
        pitgpu::ThreadOp::create(rewriter, loc, rewriter.getI32Type());
    Emitter outer(rewriter, loc);
    Value zero = outer.i32(0);
    scf::ForOp rounds;
    ValueRange carried;
    if (taken) {
      auto begin = [&](Value total) {
        return taken->begin(outer, total, {zero, zero}, number, isProducer);
      };
      loopOverTakenTiles(rewriter, nest.forall, begin, indices, chunks);
      carried = taken->carried();
    } else {
      rounds = loopOverTiles(rewriter, nest.forall,
                             gpu::BlockIdOp::create(rewriter, loc, x),
                             gpu::GridDimOp::create(rewriter, loc, x),
                             {zero, zero}, indices, chunks);
      carried = rounds.getRegionIterArgs();
    }
    Block *loop = nest.mainloop->getBlock();
    SmallVector<IdsOp> lists;
    for (Operation &op : llvm::make_early_inc_range(*nest.mainloop->getBlock()))
      if (isNumberOfTile(&op)) {
        lowerNumber(rewriter, mlir::cast<vector::ExtractOp>(op), chunks);
      } else if (auto ids = dyn_cast<IdsOp>(op)) {
        rewriter.setInsertionPoint(ids);
        chunks[ids.getIds()] =
            chunkOf(rewriter, ids, ids.getList(), ids.getSubscripts());
        lists.push_back(ids);
      }
    rewriter.setInsertionPoint(nest.mainloop);
    Emitter e(rewriter, nest.mainloop.getLoc());
    // Out of the loop over tiles, what depends on it would take up registers.
    number = e.hideFromOptimizer(number);
    MainloopSteps steps(e, nest.mainloop, /*stagesPerStep=*/1,
                        {chunks, indices});
    BodyPlan own = planOf(nest.mainloop);
    RolesContext context{own, rings, addedRing, addedSums, addedMap};
    BodyContext bodyContext{e, own, nest.mainloop, chunks, steps};
    Value tile = carried[0], used = carried[1];
    if (isProducer)
      produceBody(context, bodyContext, {number, tile, used});
    else
      computeBody(context, bodyContext, {number, tile, used});
    SmallVector<Value> next = {e.add(tile, 1), e.add(used, steps.total())};
    eraseMainloop(rewriter, nest.mainloop);
    for (IdsOp ids : lists)
      rewriter.eraseOp(ids);
    rewriter.setInsertionPointToEnd(loop);
    if (taken)
      taken->end(outer, next);
    else
      scf::YieldOp::create(rewriter, loc, next);
    rewriter.eraseOp(nest.forall);
  }

  const BodyPlan &plan;
  /// That of a copy of the mainloop: plans name ops.
  function_ref<BodyPlan(MainloopOp)> planOf;
  SmallVector<StagedRing> rings;        ///< as plan.staged
  Value addedRing, addedSums, addedMap; ///< see RolesContext
  std::optional<TakenTiles> taken; ///< where blocks take tiles as they come
};

} // namespace

FailureOr<gpu::GPUFuncOp> cuda::lowerBodyByRoles(MainloopOp mainloop,
                                                 gpu::GPUModuleOp device,
                                                 const GpuTarget &target) {
  GpuScheduleAttr schedule =
      findSchedule(mainloop, target, /*hasProducers=*/true);
  auto planOf = [&](MainloopOp op) {
    return BodyPlan::from(schedule, op, target);
  };
  auto function = mainloop->getParentOfType<func::FuncOp>();
  OrRefusal<BodyPlan> plan = planOf(mainloop);
  if (!matchMainloopNest(function))
    plan = refuse(kNoNest);
  if (!plan)
    return mainloop.emitOpError()
           << "has the schedule " << schedule << "; " << plan.refusal().why;
  return RolesKernel(function, device, *plan,
                     [&](MainloopOp op) { return *planOf(op); })
      .run();
}
