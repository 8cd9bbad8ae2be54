//===- Bufferize.cpp - How pipelines bufferize ----------------------------===//

#include "Steps.h"

#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void pit::addBufferization(OpPassManager &pm, bool inPlace) {
  PitSeparateInitsOptions separate;
  separate.copyAll = !inPlace;
  pm.addNestedPass<func::FuncOp>(createPitSeparateInits(separate));
  pm.addNestedPass<func::FuncOp>(createPitCarryTensors());
  if (inPlace) {
    pm.addNestedPass<func::FuncOp>(createPitCutChains());
    pm.addPass(createPitEliminateEmpties());
  }
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  // A loop may hand on new memory every time: see pit-place-buffers.
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  addCleanUp(pm);
}
