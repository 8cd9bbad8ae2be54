//===- KernelMainloops.cpp - The plans of a kernel's mainloops ------------===//

#include "KernelMainloops.h"

#include "Codegen/GPU/Portable/SplitK.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

int64_t KernelMainloops::alignment() const {
  bool usesWgmma = llvm::any_of(
      bodies, [](const auto &entry) { return entry.second.wgmma(); });
  return usesWgmma ? kSwizzleBytes : kLineBytes;
}

/// The plan that a mainloop has as an attribute: a PortablePlan, or a BodyPlan.
template <typename Plan>
static FailureOr<Plan> readPlan(MainloopOp mainloop, const GpuTarget &target) {
  GpuScheduleAttr schedule =
      findSchedule(mainloop, target, /*hasProducers=*/false);
  if (!schedule)
    return mainloop.emitOpError()
           << "has no #pit.gpu_schedule without producers that " << target.chip
           << " can run: run pit-schedule-kernels first";
  OrRefusal<Plan> plan = Plan::from(schedule, mainloop, target);
  if (!plan)
    return mainloop.emitOpError()
           << "has the schedule " << schedule << "; " << plan.refusal().why;
  return *plan;
}

/// Takes the needs of one more mainloop.
static LogicalResult take(MainloopOp mainloop, const KernelPlan &plan,
                          int64_t sharedBytes, KernelMainloops &all) {
  if (all.threads && plan.threads() != all.threads)
    return mainloop.emitOpError()
           << "takes " << plan.threads()
           << " threads, another mainloop of the kernel " << all.threads;
  all.threads = plan.threads();
  all.blocks = plan.blocks;
  all.sharedBytes = std::max(all.sharedBytes, sharedBytes);
  return success();
}

static LogicalResult readBody(MainloopOp mainloop, const GpuTarget &target,
                              KernelMainloops &all) {
  FailureOr<BodyPlan> plan = readPlan<BodyPlan>(mainloop, target);
  if (failed(plan))
    return failure();
  all.bodies[mainloop] = *plan;
  return take(mainloop, *plan, plan->sharedBytes(), all);
}

static LogicalResult readProduct(func::FuncOp function, MainloopOp mainloop,
                                 const GpuTarget &target,
                                 KernelMainloops &all) {
  FailureOr<PortablePlan> plan = readPlan<PortablePlan>(mainloop, target);
  if (failed(plan))
    return failure();
  all.products[mainloop] = *plan;
  if (plan->splits > 1) {
    if (Refused refused = checkSplit(function, mainloop))
      return mainloop.emitOpError()
             << "has the schedule " << plan->toAttribute(function.getContext())
             << "; " << refused->why;
    all.shared = *plan;
  }
  return take(mainloop, *plan, plan->sharedBytes(), all);
}

FailureOr<KernelMainloops> cuda::readMainloops(func::FuncOp function,
                                               const GpuTarget &target) {
  KernelMainloops all;
  WalkResult walk = function.walk([&](MainloopOp mainloop) -> WalkResult {
    return mainloop.isProduct() ? readProduct(function, mainloop, target, all)
                                : readBody(mainloop, target, all);
  });
  if (walk.wasInterrupted())
    return failure();
  return all;
}
