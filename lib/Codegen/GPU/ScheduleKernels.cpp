//===- ScheduleKernels.cpp - Plans of kernels' mainloops as attributes ----===//

#include "Common/ExpandMainloop.h"
#include "Kernel/RowSums.h"
#include "Plan/BodyPlan.h"
#include "WarpSpecialized/HopperFill.h"

#include "pit/Analysis/Refusal.h"
#include "pit/Codegen/GPU/Passes.h"
#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSCHEDULEKERNELS
#include "pit/Codegen/GPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Threads of a block that adds up rows.
static constexpr int64_t kThreads = 256;

namespace {
struct ScheduleKernelsPass
    : pit::impl::PitScheduleKernelsBase<ScheduleKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    // Without a chip kernels are for all GPUs.
    FailureOr<GpuTarget> target =
        chip.empty() ? FailureOr<GpuTarget>(getOldestGpuTarget())
                     : getGpuTarget(getOperation().getLoc(), chip);
    if (failed(target))
      return signalPassFailure();
    for (auto kernels : getOperation().getOps<ModuleOp>()) {
      if (!kernels->hasAttr(kKernelsAttrName))
        continue;
      for (auto function : kernels.getOps<func::FuncOp>()) {
        // Schedules that are there are obeyed: no better ones are added.
        bool isPlanned = isScheduled(function, *target);
        if (failed(schedule(function, *target)))
          return signalPassFailure();
        if (!strict)
          shareRows(function);
        if (target->wgmma && !function.isExternal() && !isPlanned)
          scheduleHopper(function, *target);
        expandUnscheduled(function, *target);
      }
    }
  }

  /// Has the kernel a mainloop with a schedule that the chip can run?
  static bool isScheduled(func::FuncOp function, const GpuTarget &target) {
    WalkResult walk = function.walk([&](MainloopOp mainloop) {
      for (bool hasProducers : {true, false})
        if (findSchedule(mainloop, target, hasProducers))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return walk.wasInterrupted();
  }

  LogicalResult schedule(func::FuncOp function, const GpuTarget &target) {
    WalkResult walk = function.walk([&](MainloopOp mainloop) -> WalkResult {
      if (findSchedule(mainloop, target, /*hasProducers=*/false))
        return success();
      if (!mainloop.isProduct()) {
        OrRefusal<BodyPlan> plan = planBody(mainloop, target);
        if (!plan)
          return mainloop.emitOpError("has a tile that no schedule takes: ")
                 << plan.refusal().why;
        mainloop.addSchedule(plan->toAttribute(&getContext()));
        return success();
      }
      OrRefusal<PortablePlan> plan = planPortable(mainloop, target);
      if (plan && !strict)
        chooseSplitK(function, mainloop, target, *plan);
      if (plan)
        mainloop.addSchedule(plan->toAttribute(&getContext()));
      else if (explain)
        mainloop->emitRemark()
            << "kernel " << function.getName()
            << " has no portable schedule: " << plan.refusal().why;
      return success();
    });
    return failure(walk.wasInterrupted());
  }

  /// A product that no schedule takes is computed tile by tile.
  void expandUnscheduled(func::FuncOp function, const GpuTarget &target) {
    IRRewriter rewriter(&getContext());
    function.walk([&](MainloopOp mainloop) {
      if (!findSchedule(mainloop, target, /*hasProducers=*/true) &&
          !findSchedule(mainloop, target, /*hasProducers=*/false))
        expandMainloop(rewriter, mainloop);
    });
  }

  /// Has blocks share the rows that a kernel adds up.
  void shareRows(func::FuncOp function) {
    std::optional<RowSums> sums = matchRowSums(function, kThreads);
    if (!sums || function->hasAttr(kLaunchInfoAttrName))
      return;
    LaunchInfo info;
    info.threads = kThreads;
    info.grid = LaunchGrid::Rows;
    info.splits = chooseSplitsOfRows(*sums);
    if (info.splits > 1)
      info.setOn(function);
  }

  /// A kernel that is one mainloop gets a second schedule, if that takes it.
  void scheduleHopper(func::FuncOp function, const GpuTarget &target) {
    std::optional<MainloopNest> nest = matchMainloopNest(function);
    OrRefusal<HopperPlan> plan = refuse(kNoNest);
    if (nest && !nest->mainloop.isProduct())
      return scheduleRoles(function, *nest, target);
    if (nest) {
      OrRefusal<int64_t> rows = rowsToFill(findFill(function), *nest);
      plan = planHopper(*nest, rows ? *rows : 0, target);
      if (plan && strict)
        plan->splits = 1;
    }
    if (plan)
      nest->mainloop.addSchedule(plan->toAttribute(&getContext()),
                                 /*isBetter=*/true);
    else if (explain)
      explainPortable(function, target, plan.refusal().why);
  }

  /// A tile body gets one with warps that only load.
  void scheduleRoles(func::FuncOp function, MainloopNest nest,
                     const GpuTarget &target) {
    OrRefusal<BodyPlan> plan = refuse(
        "its tiles are those of a list, or bits of its result are written");
    if (!nest.chunks && !nest.mainloop.getBitmap())
      plan = planBodyByRoles(nest.mainloop, target);
    if (plan)
      nest.mainloop.addSchedule(plan->toAttribute(&getContext()),
                                /*isBetter=*/true);
    else if (explain)
      nest.mainloop->emitRemark()
          << "kernel " << function.getName()
          << " has no warps that only load: " << plan.refusal().why;
  }

  /// Says why a kernel of a product has the portable schedule only, or none.
  void explainPortable(func::FuncOp function, const GpuTarget &target,
                       StringRef why) {
    function.walk([&](Operation *op) {
      auto mainloop = dyn_cast<MainloopOp>(op);
      auto product = dyn_cast<linalg::LinalgOp>(op);
      bool isPortable =
          !mainloop || findSchedule(mainloop, target, /*hasProducers=*/false);
      if (mainloop || (product && linalg::isaContractionOpInterface(product)))
        op->emitRemark() << "kernel " << function.getName()
                         << (isPortable
                                 ? " has the portable schedule only, not "
                                   "Hopper's: "
                                 : " computes tile by tile, as Hopper's "
                                   "schedule does not take it either: ")
                         << (mainloop ? why : "its product is no mainloop");
    });
  }
};
} // namespace
