//===- PitToCpu.cpp - From a marked program to the llvm dialect -----------===//

#include "CpuLoops.h"
#include "FrontendPasses.h"
#include "Planning.h"
#include "Steps.h"

#include "pit/ABI/Passes.h"
#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Pipelines/Pipelines.h"
#include "pit/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// Its sums have another order.
static bool usesAmx(const pit::PitToCpuOptions &options) {
  return options.amx && !options.strict;
}

void pit::buildPitToTiles(OpPassManager &pm, const PitToCpuOptions &options) {
  PitPlanOptions plan;
  plan.target = getCpuName(options.vectorWidth, usesAmx(options));
  addFrontend(pm, options, /*kernels=*/false);
  OpPassManager &tiling = pm.nest<func::FuncOp>();
  addPlanning(tiling, options, plan, PitTileOptions(), options.record,
              options.fuseSiblings);
  tiling.addPass(createCanonicalizerPass());
  tiling.addPass(createCSEPass());
  pm.addPass(createPitVerifyStage());
  OpPassManager &func = pm.nest<func::FuncOp>();
  if (options.tileDense) {
    PitTileDenseOptions dense;
    dense.target = plan.target;
    dense.tileTable = options.tileTable;
    dense.explain = options.explain;
    func.addPass(createPitTileDense(dense));
  }
  func.addPass(createPitFuseEpilogues());
  if (options.fuseSiblings)
    func.addPass(createPitFuseSiblings());
  func.addPass(createCanonicalizerPass());
  func.addPass(createCSEPass());
  func.addPass(createPitShareScans());
}

void pit::buildTilesToLoops(OpPassManager &pm, const PitToCpuOptions &options) {
  PitFormMainloopsOptions mainloops;
  mainloops.vectorWidth = options.vectorWidth;
  mainloops.explain = options.explain;
  pm.addNestedPass<func::FuncOp>(createPitFormMainloops(mainloops));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createPitAbiPrepare());
  addBufferization(pm, options.inPlace);
  pm.addPass(createPitVerifyStage());
  addCpuLoops(pm, options, usesAmx(options));
  // Bounds are checked in functions that can report an error.
  if (!options.checkBounds)
    pm.addPass(createPitShareLoops());
  addCleanUp(pm);
}

void pit::buildPitToCpu(OpPassManager &pm, const PitToCpuOptions &options) {
  buildPitToTiles(pm, options);
  buildTilesToLoops(pm, options);
  PitToLLVMOptions lower;
  lower.vectorWidth = options.vectorWidth;
  lower.openmp = options.openmp;
  lower.amx = usesAmx(options);
  lower.checkBounds = options.checkBounds;
  pm.addPass(createPitAbiNameBodies());
  buildPitToControlFlow(pm, lower);
  pm.addPass(createPitAbiLowerAsserts());
  pm.addPass(createPitVerifyStage());
  pm.addNestedPass<func::FuncOp>(createPitAbiReturnStatus());
  buildControlFlowToLLVM(pm, lower);
  pm.addPass(createPitAbiEmitWrapper());
  if (!options.sanitize.empty())
    pm.addPass(createPitSanitize(PitSanitizeOptions{options.sanitize}));
  pm.addPass(createPitVerifyStage());
}
