//===- HopperKernel.cpp - A kernel of one mainloop by specialised warps ---===//
//
// The kernel of sm_90a. Its blocks stay, and take the tiles of the outermost
// loop in turn; a warpgroup of each loads tiles while two others multiply:
//
//   initialize barriers
//   if producer: for each tile of this block: load all steps
//   else:        for each tile of this block: multiply all steps, store
//
//===----------------------------------------------------------------------===//

#include "HopperKernel.h"
#include "HopperTiles.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

LogicalResult HopperLowering::readPlan(MainloopOp mainloop) {
  GpuScheduleAttr schedule =
      findSchedule(mainloop, target, /*hasProducers=*/true);
  auto error = [&](const Twine &what) {
    return mainloop.emitOpError()
           << "has the schedule " << schedule << "; " << what;
  };
  std::optional<MainloopNest> nest = matchMainloopNest(function);
  if (!nest)
    return error(kNoNest);
  OrRefusal<HopperPlan> planned = HopperPlan::from(schedule, *nest, target);
  if (!planned)
    return error(planned.refusal().why);
  hopper = *planned;
  loc = mainloop.getLoc();
  OrRefusal<int64_t> rows = rowsToFill(before, *nest);
  if (!hopper.rows)
    before.reset();
  else if (!rows)
    return error("its fill_rows have to be 0: " + rows.refusal().why);
  else if (hopper.rows != *rows)
    return error("its fill_rows have to be " + Twine(*rows));
  mDim = tileDim(*nest, hopper.a);
  nDim = tileDim(*nest, hopper.b);
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LaunchInfo HopperLowering::describeLaunch() {
  MainloopNest nest = *matchMainloopNest(function);
  LaunchInfo info;
  info.threads = hopper.threads();
  info.sharedBytes = hopper.sharedBytes();
  info.grid = nest.chunks || hopper.splits > 1 ? LaunchGrid::Machine
                                               : LaunchGrid::Tiles;
  if (hopper.splits > 1)
    info.streamBytes = hopper.m * hopper.n * 4;
  info.pdl = true;
  if (before) {
    info.fills = before->argument;
    info.fillsAtMost = elementsToFill(nest, hopper.rows);
  }
  return info;
}

/// The values that all threads of the block have before they come to a role.
void HopperLowering::describeBlock(Emitter &e) {
  worker = e.blockId();
  workers = e.gridDim();
  self.rank = e.i32(0);
  if (hopper.cluster > 1) {
    std::tie(worker, self.rank) = e.divRem(worker, e.i32(hopper.cluster));
    workers = e.div(workers, hopper.cluster);
  }
  if (hopper.splits > 1) {
    unsigned count = kernel.getNumArguments();
    self.streamK.partials = kernel.getArgument(count - 2);
    self.streamK.counters = kernel.getArgument(count - 1);
  }
  MainloopOp mainloop = matchMainloopNest(function)->mainloop;
  self.maps = makeTensorMaps(e, mainloop, hopper, kernel.getArguments());
  self.shared.place(e, hopper);
  if (before)
    prepareFill(e, hopper, self.shared, before->value);
  self.shared.makeRings(e, mainloop, hopper);
}

gpu::GPUFuncOp HopperLowering::lower() {
  createKernel(describeLaunch(), SmallVector<Type>(hopper.splits > 1 ? 2 : 0,
                                                   rewriter.getI64Type()));
  Emitter e(rewriter, loc);
  describeBlock(e);
  createRoles(
      /*blocks=*/1, {{"producers", hopper.producers, hopper.producerRegisters(),
                      [&] { produce(e); }},
                     {"consumers", kConsumers * kWarps,
                      hopper.workerRegisters(), [&] { consume(e); }}});
  return kernel;
}

void HopperLowering::produce(Emitter &e) {
  self.thread = pitgpu::ThreadOp::create(rewriter, loc, rewriter.getI32Type());
  self.warp = pitgpu::WarpOp::create(rewriter, loc, rewriter.getI32Type());
  MainloopNest nest = *matchMainloopNest(function);
  self.warps = static_cast<bool>(nest.chunks);
  inProducers(e, hopper, self, [&] { lowerRole(Role::Producer); });
  if (before && !hopper.fillsBetweenSteps())
    fillOf(e, nest).fillAlone();
}

void HopperLowering::consume(Emitter &e) {
  Type i32 = rewriter.getI32Type();
  self.thread = e.rem(pitgpu::ThreadOp::create(rewriter, loc, i32), kWarpgroup);
  self.warp = e.rem(pitgpu::WarpOp::create(rewriter, loc, i32), kWarps);
  self.consumer = pitgpu::WarpgroupOp::create(rewriter, loc, i32);
  lowerRole(Role::Consumer);
}

void HopperLowering::lowerRole(Role role) {
  lowerCopy([&](MainloopNest nest, const IndexMap &ofCopy) {
    indices = ofCopy;
    lowerTiles(nest, role);
  });
}

Value HopperLowering::lowerMainloop(HopperTile tile, Role role,
                                    HopperFill *fill) {
  MainloopOp mainloop = tile.mainloop;
  rewriter.setInsertionPoint(mainloop);
  Emitter e(rewriter, mainloop.getLoc());
  auto afterStep = [&](Value number) { fill->afterStep(number); };
  Value done;
  if (role == Role::Consumer)
    done = consumeTile(e, tile);
  else
    done = produceTile(e, tile, fill ? BetweenSteps(afterStep) : nullptr);
  eraseMainloop(rewriter, mainloop);
  return done;
}

FailureOr<gpu::GPUFuncOp>
cuda::lowerHopperKernel(MainloopOp mainloop, gpu::GPUModuleOp device,
                        const GpuTarget &target,
                        const std::optional<LaunchedFill> &before) {
  HopperLowering lowering(mainloop->getParentOfType<func::FuncOp>(), device,
                          target, before);
  if (failed(lowering.readPlan(mainloop)))
    return failure();
  return lowering.lower();
}
