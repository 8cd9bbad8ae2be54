//===- RunSchedule.cpp - Transform schedules that a module holds ----------===//

#include "pit/Analysis/Upstream.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITRUNSCHEDULE
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using transform::TransformDialect;

/// Ops of the transform dialect that no other such op holds.
static SmallVector<Operation *> findSchedules(ModuleOp module) {
  SmallVector<Operation *> schedules;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa_and_present<TransformDialect>(op->getDialect()))
      return WalkResult::advance();
    schedules.push_back(op);
    return WalkResult::skip();
  });
  return schedules;
}

/// Does a schedule hold an op that tiles others, or moves them into tiles?
static bool tilesOps(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        StringRef name = op->getName().getStringRef();
        bool tiles = name.consume_front("transform.structured.") &&
                     (name.starts_with("tile") || name.starts_with("fuse"));
        return tiles ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A schedule may decompose and tile any op, and MLIR does not look first.
static LogicalResult checkOps(ModuleOp module) {
  bool tiles = tilesOps(module);
  WalkResult checked = module.walk([&](Operation *op) {
    if (failed(pit::checkDecomposable(op)) ||
        (tiles && failed(pit::checkTilable(op))))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(checked.wasInterrupted());
}

/// Takes the mark of modules that hold schedules off, and modules that held
/// nothing else away.
static void cleanUp(ModuleOp module) {
  SmallVector<ModuleOp> empty;
  module.walk([&](ModuleOp inner) {
    bool isLibrary =
        inner->removeAttr(TransformDialect::kWithNamedSequenceAttrName) !=
        nullptr;
    if (isLibrary && inner != module && inner.getBody()->empty())
      empty.push_back(inner);
  });
  for (ModuleOp inner : empty)
    inner.erase();
}

namespace {
struct RunSchedulePass : pit::impl::PitRunScheduleBase<RunSchedulePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> schedules = findSchedules(module);
    if (schedules.empty()) {
      markAllAnalysesPreserved();
      return;
    }
    StringRef entry = TransformDialect::kTransformEntryPointSymbolName;
    bool hasEntry = llvm::any_of(schedules, [&](Operation *op) {
      auto sequence = dyn_cast<transform::NamedSequenceOp>(op);
      return sequence && sequence.getSymName() == entry;
    });
    if (hasEntry) {
      if (failed(checkOps(module)))
        return signalPassFailure();
      OpPassManager passes(ModuleOp::getOperationName());
      passes.addPass(transform::createInterpreterPass());
      if (failed(runPipeline(passes, module)))
        return signalPassFailure();
    }
    for (Operation *op : findSchedules(module)) {
      if (!hasEntry)
        op->emitRemark() << op->getName() << " is removed: the module has no "
                         << "transform.named_sequence @" << entry
                         << ", which alone is run";
      op->erase();
    }
    cleanUp(module);
  }
};
} // namespace
