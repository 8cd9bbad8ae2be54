//===- PitToGpuTiles.cpp - From a marked program to tiles of a GPU --------===//

#include "FrontendPasses.h"
#include "Planning.h"

#include "pit/Codegen/Common/Passes.h"
#include "pit/Pipelines/Pipelines.h"

using namespace mlir;

void pit::buildPitToGpuTiles(OpPassManager &pm,
                             const PitToGpuTilesOptions &options) {
  addFrontend(pm, options, /*kernels=*/true);
  addGpuTiling(pm.nest<func::FuncOp>(), options, options.tf32);
  pm.addPass(createPitVerifyStage());
}
