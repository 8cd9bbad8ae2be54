//===- PitFunctions.cpp - Functions of which pit lowers its part ----------===//

#include "CpuLoops.h"
#include "Planning.h"

#include "pit/ABI/Passes.h"
#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Pipelines/Pipelines.h"
#include "pit/Pipelines/PitFunctions.h"
#include "pit/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void pit::buildPitFunctionsToTiles(OpPassManager &pm,
                                   const PitFunctionsOptions &options) {
  if (!options.dense) {
    PitLabelMarksOptions label;
    label.samples = llvm::to_vector_of<std::string>(options.samples);
    label.profile = options.profile;
    pm.addPass(createPitLabelMarks(label));
  }
  OpPassManager &func = pm.nest<func::FuncOp>();
  PitPlanOptions plan;
  plan.target = getCpuName(options.vectorWidth, /*amx=*/false);
  addPlanning(func, options, plan, PitTileOptions(), /*record=*/false);
  func.addPass(createPitFuseEpilogues());
  PitFormMainloopsOptions mainloops;
  mainloops.vectorWidth = options.vectorWidth;
  mainloops.explain = options.explain;
  func.addPass(createPitFormMainloops(mainloops));
  func.addPass(createCSEPass());
}

void pit::buildPitFunctionsToLoops(OpPassManager &pm,
                                   const PitFunctionsOptions &options) {
  pm.addPass(createPitAbiOpenFrames());
  addCpuLoops(pm, options, /*amx=*/false);
  // There is scratch for one worker only.
  if (!options.openmp) {
    PitSequenceNestedLoopsOptions sequence;
    sequence.all = true;
    pm.addNestedPass<func::FuncOp>(createPitSequenceNestedLoops(sequence));
  }
  pm.addPass(createPitAbiExpectStatus());
}
