//===- PitToCpu.cpp - From a marked program to the llvm dialect -----------===//

#include "pit/ABI/Passes.h"
#include "pit/Conversion/Passes.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Pipelines/Pipelines.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void pit::buildPitToTiles(OpPassManager &pm, const PitToCpuOptions &options) {
  // Calls would have to hand on the frame; programs are small.
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  OpPassManager &func = pm.nest<func::FuncOp>();
  // While ops still work on whole tensors.
  func.addPass(createPitAbiRequireShapes());
  func.addPass(createPitDecompose());
  // arith and math on tensors are structured ops too.
  func.addPass(createConvertElementwiseToLinalgPass());
  if (!options.dense) {
    func.addPass(createPitSinkMarks());
    PitPlanOptions plan;
    plan.tileTable = options.tileTable;
    plan.strict = options.strict;
    plan.unordered = options.unordered;
    func.addPass(createPitPlan(plan));
    // Marks of one value by one micro-tile share an index.
    func.addPass(createCSEPass());
    func.addPass(createPitFold());
    if (options.explain)
      func.addPass(createPitExplain());
    func.addPass(createPitFold());
    func.addPass(createCSEPass());
    func.addPass(createPitTile());
  }
  func.addPass(createPitLowerMarks());
  func.addPass(createCanonicalizerPass());
  func.addPass(createCSEPass());
}

void pit::buildTilesToLoops(OpPassManager &pm, const PitToCpuOptions &options) {
  pm.addPass(createPitAbiPrepare());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  PlaceBuffersOptions place;
  place.openmp = options.openmp;
  pm.addPass(createPlaceBuffers(place));
  ConvertPitToSCFOptions convert;
  convert.vectorWidth = options.vectorWidth;
  pm.addPass(createConvertPitToSCF(convert));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void pit::buildPitToCpu(OpPassManager &pm, const PitToCpuOptions &options) {
  buildPitToTiles(pm, options);
  buildTilesToLoops(pm, options);
  PitToLLVMOptions lower;
  lower.vectorWidth = options.vectorWidth;
  lower.openmp = options.openmp;
  buildPitToControlFlow(pm, lower);
  pm.addNestedPass<func::FuncOp>(createPitAbiReturnStatus());
  buildControlFlowToLLVM(pm, lower);
  pm.addPass(createPitAbiEmitWrapper());
}

void pit::registerPitToCpuPipeline() {
  PassPipelineRegistration<PitToCpuOptions>(
      "pit-to-cpu", "marked linalg programs to the llvm dialect, for the CPU",
      buildPitToCpu);
  PassPipelineRegistration<PitToCpuOptions>(
      "pit-to-tiles", "marked linalg programs to tiles (level 3)",
      buildPitToTiles);
  PassPipelineRegistration<PitToCpuOptions>(
      "pit-tiles-to-loops", "tiles (level 3) to loops over packed memory",
      buildTilesToLoops);
}
