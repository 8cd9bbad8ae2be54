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

/// Dynamic shared memory. Stages begin where the swizzle does.
static constexpr StringLiteral kShared = "pit_hopper_shared";

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
  MLIRContext *context = rewriter.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> more;
  if (hopper.parts > 1)
    more.append(2, rewriter.getI64Type());
  more.append(hopper.a.views.size() + hopper.b.views.size(), pointer);
  kernel = createGpuFunc(
      rewriter, function, device,
      {(function.getName() + "_hopper").str(), kHopperThreads, more});
  // Roles exchange registers: how many there are has to be known.
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  rewriter.getI32IntegerAttr(1));
  if (hopper.cluster > 1) {
    int32_t cluster = hopper.cluster;
    kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    rewriter.getDenseI32ArrayAttr({cluster, 1, 1}));
  }
  describeLaunch().setOn(kernel);
}

LaunchInfo HopperLowering::describeLaunch() {
  MainloopNest nest = *matchMainloopNest(function);
  LaunchInfo info;
  info.threads = kHopperThreads;
  info.sharedBytes = hopper.sharedBytes();
  info.grid =
      nest.chunks || hopper.parts > 1 ? LaunchGrid::Machine : LaunchGrid::Tiles;
  if (hopper.parts > 1)
    info.streamBytes = hopper.m * hopper.n * 4;
  info.cluster = hopper.cluster;
  info.earlyStart = true;
  if (before) {
    info.fills = before->argument;
    info.fillsAtMost = elementsToFill(nest, hopper.rows);
  }
  MainloopOp mainloop = nest.mainloop;
  for (const HopperMap &map : hopperMaps(mainloop, hopper))
    info.tensorMaps.push_back(TensorMapAttr::get(
        rewriter.getContext(), cast<BlockArgument>(map.source).getArgNumber(),
        rewriter.getDenseI64ArrayAttr(map.box), map.swizzle, map.alongK,
        map.order.empty() ? DenseI64ArrayAttr()
                          : rewriter.getDenseI64ArrayAttr(map.order)));
  return info;
}

/// What a thread knows before it comes to a role; gives its number in the
/// block.
Value HopperLowering::describeThread(Emitter &e) {
  auto global = getDynamicShared(rewriter, device, kShared, kSwizzleBytes);
  Value base = LLVM::AddressOfOp::create(rewriter, loc, global);
  self.shared =
      LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), base);
  auto x = gpu::Dimension::x;
  Value thread = e.toI32(gpu::ThreadIdOp::create(rewriter, loc, x));
  self.thread = e.rem(thread, kWarpgroup);
  // From one lane to all: what depends on it is the same in a warp, and ptxas
  // knows it.
  Value warp = fromLane(e, e.div(thread, kLanes), e.i32(0));
  self.warp = e.rem(warp, kWarpgroup / 32);
  warpgroup = e.div(warp, kWarpgroup / 32);
  worker = e.toI32(gpu::BlockIdOp::create(rewriter, loc, x));
  workers = e.toI32(gpu::GridDimOp::create(rewriter, loc, x));
  self.rank = e.i32(0);
  if (hopper.cluster > 1) {
    std::tie(worker, self.rank) = e.divRem(worker, e.i32(hopper.cluster));
    workers = e.div(workers, hopper.cluster);
  }
  unsigned count = kernel.getNumArguments();
  unsigned maps = hopper.a.views.size() + hopper.b.views.size();
  llvm::append_range(self.maps, kernel.getArguments().take_back(maps));
  if (hopper.parts > 1) {
    self.streamK.partials = kernel.getArgument(count - maps - 2);
    self.streamK.counters = kernel.getArgument(count - maps - 1);
  }
  return thread;
}

gpu::GPUFuncOp HopperLowering::lower() {
  createKernel();
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  Emitter e(rewriter, loc);
  Value thread = describeThread(e);
  if (before)
    prepareFill(e, hopper, thread, self.shared, before->value);
  initHopperBarriers(e, hopper, thread, self.shared);
  // The next kernel may come to where blocks of this one have ended; this one
  // has, and now waits for the one before.
  using Control = NVVM::GridDepActionKind;
  NVVM::GriddepcontrolOp::create(rewriter, loc, Control::launch_dependents);
  NVVM::GriddepcontrolOp::create(rewriter, loc, Control::wait);
  lowerRoles(e);
  // A block stays until nobody uses its barriers.
  syncCluster(e, hopper);
  gpu::ReturnOp::create(rewriter, loc);
  return kernel;
}

/// Each role has the loops and scalar code of its own.
void HopperLowering::lowerRoles(Emitter &e) {
  func::FuncOp loading = function.clone(), computing = function.clone();
  Value isProducer = e.lessThan(warpgroup, e.i32(1));
  auto branch = scf::IfOp::create(rewriter, loc, isProducer,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  NVVM::SetMaxRegisterOp::create(rewriter, loc, hopper.producerRegisters(),
                                 NVVM::SetMaxRegisterAction::decrease);
  self.warps = static_cast<bool>(matchMainloopNest(function)->chunks);
  inProducers(e, hopper, self, [&] {
    lowerRole(rewriter.getInsertionBlock(), loading, Role::Producer);
  });
  if (before && !hopper.fillsBetweenSteps())
    fillOf(e, *matchMainloopNest(function)).fillAlone();
  rewriter.setInsertionPointToStart(branch.elseBlock());
  NVVM::SetMaxRegisterOp::create(rewriter, loc, hopper.consumerRegisters(),
                                 NVVM::SetMaxRegisterAction::increase);
  self.consumer = e.sub(warpgroup, e.i32(1));
  lowerRole(branch.elseBlock(), computing, Role::Consumer);
  rewriter.setInsertionPointAfter(branch);
  loading.erase();
  computing.erase();
}

/// Moves the function's body to the end of `block`, and lowers it.
void HopperLowering::lowerRole(Block *block, func::FuncOp body, Role role) {
  rewriter.setInsertionPoint(block->getTerminator());
  indices = bindArguments(rewriter, body, kernel);
  MainloopNest nest = *matchMainloopNest(body);
  Block *old = &body.front();
  rewriter.eraseOp(old->getTerminator());
  block->getOperations().splice(block->getTerminator()->getIterator(),
                                old->getOperations());
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
