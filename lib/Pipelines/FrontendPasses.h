//===- FrontendPasses.h - From a given program to marks ---------*- C++ -*-===//

#ifndef PIT_LIB_PIPELINES_FRONTENDPASSES_H
#define PIT_LIB_PIPELINES_FRONTENDPASSES_H

#include "Steps.h"

#include "pit/ABI/Passes.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::pit {

/// Appends what comes before marks become tiles, for all machines: the program
/// becomes functions that pit takes. With `kernels` asserts are dropped, since
/// a kernel cannot report them.
template <typename OptionsT>
void addFrontend(OpPassManager &pm, const OptionsT &options, bool kernels) {
  pm.addPass(createPitRunSchedule());
  pm.addPass(createPitFlattenModules());
  // The frontend accepts functions of any kind that nobody calls, as torch's
  // seed of random numbers.
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createPitCheckOps());
  pm.addPass(createPitDropSigns());
  pm.addPass(createPitCheckShapes());
  pm.addNestedPass<func::FuncOp>(createPitReadResources());
  addLabels(pm, options);
  // Calls would have to hand on the frame; programs are small.
  pm.addPass(createPitPrepareCalls());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  // More is known now that calls hand on what they are given.
  pm.addPass(createPitCheckShapes());
  OpPassManager &func = pm.nest<func::FuncOp>();
  // These passes need ops that work on whole tensors.
  PitAbiHoistAssertsOptions asserts;
  asserts.drop = kernels;
  func.addPass(createPitAbiHoistAsserts(asserts));
  func.addPass(createPitAbiRequireShapes());
  func.addPass(createPitDecompose());
  // arith and math on tensors are structured ops too.
  func.addPass(createConvertElementwiseToLinalgPass());
}

} // namespace mlir::pit

#endif // PIT_LIB_PIPELINES_FRONTENDPASSES_H
