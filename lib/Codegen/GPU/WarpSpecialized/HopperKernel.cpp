//===- HopperKernel.cpp - A kernel of one mainloop by specialised warps ---===//
//
// The kernel of sm_90a. Its blocks stay, and take the tiles of the outermost
// loop in turn; a warpgroup of each loads tiles while two others multiply:
//
//   initialize barriers
//   if producer: for each tile of this block: load all steps
//   else:        for each tile of this block: multiply all steps, store
//
// Both branches are made from a copy of the function, so that whatever scalar
// code a tile needs is there in each of them.
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
  auto schedule = cast<HopperScheduleAttr>(mainloop.getHopperScheduleAttr());
  auto refuse = [&](const Twine &why) {
    return mainloop.emitOpError()
           << "has hopper_schedule = " << schedule << "; " << why;
  };
  if (!target.wgmma)
    return refuse(target.chip + " has no wgmma, sm_90a has");
  std::optional<MainloopNest> nest = matchMainloopNest(function);
  std::string why;
  if (!nest)
    return refuse(kNoNest);
  std::optional<HopperPlan> planned =
      HopperPlan::from(schedule, *nest, target, why);
  if (!planned)
    return refuse(why);
  hopper = *planned;
  loc = mainloop.getLoc();
  int64_t rows = rowsToFill(before, *nest, why);
  if (!hopper.rows)
    before.reset();
  else if (hopper.rows != rows)
    return refuse("its fill_rows have to be " + Twine(rows) +
                  (rows ? "" : ": " + Twine(why)));
  mDim = tileDim(*nest, hopper.a);
  nDim = tileDim(*nest, hopper.b);
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void HopperLowering::createKernel() {
  SmallVector<Type> more;
  if (hopper.parts > 1)
    more.append(2, rewriter.getI64Type());
  kernel = createGpuFunc(
      rewriter, function, device,
      {(function.getName() + "_hopper").str(), kHopperThreads, more});
  describeLaunch().setOn(kernel);
}

/// What lowers the pipeline knows the rest.
LaunchInfo HopperLowering::describeLaunch() {
  MainloopNest nest = *matchMainloopNest(function);
  LaunchInfo info;
  info.threads = kHopperThreads;
  info.sharedBytes = hopper.sharedBytes();
  info.grid =
      nest.chunks || hopper.parts > 1 ? LaunchGrid::Machine : LaunchGrid::Tiles;
  if (hopper.parts > 1)
    info.streamBytes = hopper.m * hopper.n * 4;
  info.earlyStart = true;
  if (before) {
    info.fills = before->argument;
    info.fillsAtMost = elementsToFill(nest, hopper.rows);
  }
  return info;
}

/// What all threads of the block know before they come to a role.
void HopperLowering::describeBlock(Emitter &e) {
  auto x = gpu::Dimension::x;
  worker = e.toI32(gpu::BlockIdOp::create(rewriter, loc, x));
  workers = e.toI32(gpu::GridDimOp::create(rewriter, loc, x));
  self.rank = e.i32(0);
  if (hopper.cluster > 1) {
    std::tie(worker, self.rank) = e.divRem(worker, e.i32(hopper.cluster));
    workers = e.div(workers, hopper.cluster);
  }
  if (hopper.parts > 1) {
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
  createKernel();
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  Emitter e(rewriter, loc);
  describeBlock(e);
  // The next kernel may come to where blocks of this one have ended; this one
  // has, and now waits for the one before.
  using Control = NVVM::GridDepActionKind;
  NVVM::GriddepcontrolOp::create(rewriter, loc, Control::launch_dependents);
  NVVM::GriddepcontrolOp::create(rewriter, loc, Control::wait);
  auto roles = pitgpu::RolesOp::create(
      rewriter, loc, rewriter.getStrArrayAttr({"producers", "consumers"}),
      rewriter.getDenseI64ArrayAttr({kWarps, kConsumers * kWarps}),
      rewriter.getDenseI64ArrayAttr(
          {hopper.producerRegisters(), hopper.consumerRegisters()}),
      rewriter.getI64IntegerAttr(1), /*bodiesCount=*/2);
  gpu::ReturnOp::create(rewriter, loc);
  // Each role has the loops and scalar code of its own.
  func::FuncOp loading = function.clone(), computing = function.clone();
  rewriter.createBlock(&roles.getBodies()[0]);
  produce(e, loading);
  rewriter.createBlock(&roles.getBodies()[1]);
  consume(e, computing);
  loading.erase();
  computing.erase();
  return kernel;
}

void HopperLowering::produce(Emitter &e, func::FuncOp body) {
  self.thread = pitgpu::ThreadOp::create(rewriter, loc, rewriter.getI32Type());
  self.warp = pitgpu::WarpOp::create(rewriter, loc, rewriter.getI32Type());
  MainloopNest nest = *matchMainloopNest(function);
  self.warps = static_cast<bool>(nest.chunks);
  inProducers(e, hopper, self, [&] { lowerRole(body, Role::Producer); });
  if (before && !hopper.fillsBetweenSteps())
    fillOf(e, nest).fillAlone();
}

void HopperLowering::consume(Emitter &e, func::FuncOp body) {
  Type i32 = rewriter.getI32Type();
  self.thread = e.rem(pitgpu::ThreadOp::create(rewriter, loc, i32), kWarpgroup);
  self.warp = e.rem(pitgpu::WarpOp::create(rewriter, loc, i32), kWarps);
  self.consumer = pitgpu::WarpgroupOp::create(rewriter, loc, i32);
  lowerRole(body, Role::Consumer);
}

/// Moves the function's body to the builder's place, and lowers it.
void HopperLowering::lowerRole(func::FuncOp body, Role role) {
  indices = bindArguments(rewriter, body, kernel);
  MainloopNest nest = *matchMainloopNest(body);
  Block *old = &body.front();
  rewriter.eraseOp(old->getTerminator());
  rewriter.getInsertionBlock()->getOperations().splice(
      rewriter.getInsertionPoint(), old->getOperations());
  OpBuilder::InsertionGuard guard(rewriter);
  lowerTiles(nest, role);
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
