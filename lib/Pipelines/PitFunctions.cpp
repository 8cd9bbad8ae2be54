//===- PitFunctions.cpp - Functions of which pit lowers its part ----------===//

#include "CpuLoops.h"
#include "Planning.h"
#include "Steps.h"

#include "pit/ABI/Passes.h"
#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Frontend/Passes.h"
#include "pit/Pipelines/Pipelines.h"
#include "pit/Pipelines/PitFunctions.h"
#include "pit/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// The passes that `fill` appends run on the functions that still have ops of
/// pit.
static void onFunctions(OpPassManager &pm,
                        function_ref<void(OpPassManager &)> fill) {
  OpPassManager functions(func::FuncOp::getOperationName());
  fill(functions);
  pm.addNestedPass<func::FuncOp>(pit::createPitRunWhereUsed(
      pit::PitDialect::getDialectNamespace(), functions));
}

void pit::buildPitFunctionsToTiles(OpPassManager &pm,
                                   const PitFunctionsOptions &options) {
  addLabels(pm, options);
  // As programs are prepared (pit-to-cpu).
  onFunctions(pm, [](OpPassManager &functions) {
    functions.addPass(createPitReadResources());
    functions.addPass(createPitDecompose());
    functions.addPass(createConvertElementwiseToLinalgPass());
  });
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
  // For any bufferization, as addBufferization has it.
  onFunctions(pm, [](OpPassManager &functions) {
    functions.addPass(createPitSeparateInits());
    functions.addPass(createPitCarryTensors());
  });
}

void pit::buildPitFunctionsToLoops(OpPassManager &pm,
                                   const PitFunctionsOptions &options) {
  // Copies of memory to itself are none, and each buffer has one name.
  onFunctions(pm, addCleanUp);
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
