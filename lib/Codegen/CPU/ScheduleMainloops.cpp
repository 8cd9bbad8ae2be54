//===- ScheduleMainloops.cpp - Plans of mainloops as attributes -----------===//

#include "MainloopPlan.h"

#include "Codegen/Common/RuntimeCalls.h"

#include "pit/Codegen/CPU/Passes.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSCHEDULEMAINLOOPS
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Null for false: what is not the case is not printed.
static BoolAttr toFlag(MLIRContext *context, bool value) {
  return value ? BoolAttr::get(context, true) : BoolAttr();
}
static bool isSet(BoolAttr flag) { return flag && flag.getValue(); }

static DenseI64ArrayAttr toList(MLIRContext *context, ArrayRef<unsigned> dims) {
  if (dims.empty())
    return {};
  return DenseI64ArrayAttr::get(context,
                                SmallVector<int64_t>(dims.begin(), dims.end()));
}
static SmallVector<unsigned> fromList(DenseI64ArrayAttr dims) {
  if (!dims)
    return {};
  return SmallVector<unsigned>(dims.asArrayRef().begin(),
                               dims.asArrayRef().end());
}

CpuScheduleAttr cpu::toAttribute(MLIRContext *context,
                                 const MainloopPlan &plan) {
  // The dims of the block's rows come last.
  SmallVector<unsigned> batch(plan.batchDims);
  llvm::append_range(batch, plan.wide);
  DotScheduleAttr dots;
  if (plan.dots)
    dots = DotScheduleAttr::get(
        context, plan.dots->group, plan.dots->step, plan.dots->tileRows,
        plan.dots->tiles, plan.dots->element, toFlag(context, plan.dots->amx),
        toFlag(context, plan.dots->zextA), toFlag(context, plan.dots->zextB));
  return CpuScheduleAttr::get(
      context, plan.a, plan.m ? int64_t(*plan.m) : -1, plan.n, plan.lane,
      toList(context, batch), toList(context, plan.k), plan.lanes, plan.rows,
      plan.vectors, toFlag(context, plan.packA), toFlag(context, plan.packB),
      toFlag(context, plan.transposeB), toFlag(context, plan.transposeC), dots);
}

MainloopPlan cpu::getPlan(MainloopOp mainloop) {
  auto schedule = mainloop.findSchedule<CpuScheduleAttr>();
  assert(schedule && "convert-pit-to-scf checks that each mainloop has one");
  MainloopPlan plan;
  plan.a = schedule.getA();
  plan.b = 1 - plan.a;
  if (schedule.getM() >= 0)
    plan.m = schedule.getM();
  plan.n = schedule.getN();
  plan.lane = schedule.getLane();
  plan.batchDims = fromList(schedule.getBatch());
  plan.k = fromList(schedule.getK());
  plan.lanes = schedule.getLanes();
  plan.rows = schedule.getRows();
  plan.vectors = schedule.getVectors();
  if (!plan.m && plan.rows > 1) {
    ArrayRef<unsigned> wide = takeRows(mainloop, plan.batchDims, plan.rows);
    assert(!wide.empty() && "convert-pit-to-scf checks whose rows they are");
    plan.wide.assign(wide.begin(), wide.end());
    plan.batchDims.truncate(plan.batchDims.size() - wide.size());
  }
  plan.packA = isSet(schedule.getPackA());
  plan.packB = isSet(schedule.getPackB());
  plan.transposeB = isSet(schedule.getTransposeB());
  plan.transposeC = isSet(schedule.getTransposeC());
  if (DotScheduleAttr dots = schedule.getDots())
    plan.dots = DotPlan{isSet(dots.getAmx()),   dots.getGroup(),
                        dots.getStep(),         dots.getTileRows(),
                        dots.getTiles(),        dots.getElement(),
                        isSet(dots.getZextA()), isSet(dots.getZextB())};
  return plan;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ScheduleMainloopsPass
    : pit::impl::PitScheduleMainloopsBase<ScheduleMainloopsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // The system has to be asked for tile registers, which only a frame's
    // function can report.
    bool hasFrame = static_cast<bool>(getFrame(function));
    FailureOr<CpuTarget> target =
        getCpuTarget(function.getLoc(), vectorWidth, amx && hasFrame);
    if (failed(target))
      return signalPassFailure();
    WalkResult walk = function.walk([&](MainloopOp mainloop) -> WalkResult {
      if (mainloop.findSchedule<CpuScheduleAttr>())
        return success();
      OrRefusal<MainloopPlan> plan = planMainloop(mainloop, *target);
      if (!plan)
        return mainloop.emitOpError()
               << "cannot be computed by vectors of " << target->vectorBits
               << " bits: " << plan.refusal().why;
      mainloop.addSchedule(toAttribute(&getContext(), *plan));
      return success();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
