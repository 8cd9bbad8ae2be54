//===- PitFunctionsToCuda.cpp - Functions of which a GPU does pit's part --===//

#include "CudaKernels.h"
#include "Planning.h"
#include "Steps.h"

#include "pit/ABI/Passes.h"
#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Common/Passes.h"
#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Codegen/GPU/Passes.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Frontend/Passes.h"
#include "pit/Pipelines/PitFunctions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// The passes that `fill` appends run on the functions that pit has a device
/// compute.
static void onFunctions(OpPassManager &pm,
                        function_ref<void(OpPassManager &)> fill) {
  OpPassManager functions(func::FuncOp::getOperationName());
  fill(functions);
  pm.addNestedPass<func::FuncOp>(
      pit::createPitRunWhere(pit::kDeviceAttrName, functions));
}

/// The passes that `fill` appends run on the module of pit's kernels.
static void onKernels(OpPassManager &pm,
                      function_ref<void(OpPassManager &)> fill) {
  OpPassManager kernels(ModuleOp::getOperationName());
  fill(kernels);
  pm.addNestedPass<ModuleOp>(
      pit::createPitRunWhere(pit::kKernelsAttrName, kernels));
}

void pit::buildPitFunctionsToKernels(OpPassManager &pm,
                                     const PitToCudaOptions &options) {
  addLabels(pm, options);
  pm.addPass(createPitAbiClaimFunctions());
  onFunctions(pm, [&](OpPassManager &functions) {
    functions.addPass(createPitReadResources());
    PitAbiHoistAssertsOptions asserts;
    asserts.drop = true;
    functions.addPass(createPitAbiHoistAsserts(asserts));
    functions.addPass(createPitDecompose());
    functions.addPass(createConvertElementwiseToLinalgPass());
    addGpuTiling(functions, options, options.tf32 && options.mainloops);
    // This pass comes before fills become kernels.
    functions.addPass(createPitSeparateInits());
  });
  PitOutlineKernelsOptions outline;
  outline.claimed = true;
  pm.addPass(createPitOutlineKernels(outline));
  onFunctions(pm, [](OpPassManager &functions) {
    addCleanUp(functions);
    // For any bufferization, as addBufferization has it.
    functions.addPass(createPitSeparateInits());
    functions.addPass(createPitCarryTensors());
  });
  onKernels(pm, [&](OpPassManager &kernels) {
    addCleanUp(kernels);
    addMainloops(kernels, options);
    addBufferization(kernels);
  });
}

void pit::buildPitFunctionsToCuda(OpPassManager &pm,
                                  const PitToCudaOptions &options) {
  // Copies of memory to itself are none.
  onFunctions(pm, [](OpPassManager &functions) {
    addCleanUp(functions);
    functions.addPass(createPitForwardCopies());
  });
  pm.addPass(createPitKernelLayouts());
  // The copies that bufferization made.
  PitOutlineKernelsOptions outline;
  outline.claimed = true;
  pm.addPass(createPitOutlineKernels(outline));
  onFunctions(pm, [](OpPassManager &functions) {
    addCleanUp(functions);
    functions.addPass(createPitPredicateVariants());
  });
  onKernels(pm, addCleanUp);
  PitAbiOpenFramesOptions frames;
  frames.device = "cuda";
  pm.addPass(createPitAbiOpenFrames(frames));
  pm.addPass(createPitAwaitLaunches());

  addSchedules(pm, options);
  PlaceBuffersOptions place;
  place.openmp = false;
  pm.addPass(createPlaceBuffers(place));
  pm.addPass(createPitPlaceResults());
  pm.addPass(createConvertPitToSCF());
  ConvertPitLaunchOptions launch;
  // Kernels that are assembled for a chip have fallbacks apart, since
  // assembling takes long.
  launch.separateFallbacks = options.deviceCode == DeviceCode::Auto;
  pm.addPass(createConvertPitLaunch(launch));

  // The pass skips gpu.modules that the caller made.
  OpPassManager kernels(gpu::GPUModuleOp::getOperationName());
  addKernelsToNVVM(kernels);
  pm.addNestedPass<gpu::GPUModuleOp>(
      createPitRunWhere(kKernelsAttrName, kernels));
  PitTranslateKernelsOptions translate;
  translate.own = true;
  pm.addPass(createPitTranslateKernels(translate));
  PitAssembleKernelsOptions assemble;
  assemble.deviceCode = options.deviceCode;
  assemble.own = true;
  pm.addPass(createPitAssembleKernels(assemble));
  pm.addPass(createPitEmbedKernels());
  pm.addPass(createPitAbiExpectStatus());
}
