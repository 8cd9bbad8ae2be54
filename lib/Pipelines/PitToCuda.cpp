//===- PitToCuda.cpp - From a marked program to host code and PTX ---------===//

#include "CudaKernels.h"
#include "FrontendPasses.h"
#include "Planning.h"
#include "Steps.h"

#include "pit/Pipelines/PitToCuda.h"

#include "pit/ABI/Passes.h"
#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Common/Passes.h"
#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Codegen/GPU/Passes.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void pit::buildPitToCudaTiles(OpPassManager &pm,
                              const PitToCudaOptions &options) {
  addFrontend(pm, options, /*kernels=*/true);
  addGpuTiling(pm.nest<func::FuncOp>(), options,
               options.tf32 && options.mainloops);
  pm.addPass(createPitVerifyStage());
}

void pit::buildTilesToKernels(OpPassManager &pm,
                              const PitToCudaOptions &options) {
  // This pass comes before fills become kernels.
  pm.addNestedPass<func::FuncOp>(createPitSeparateInits());
  pm.addPass(createPitOutlineKernels());
  addCleanUp(pm);
  OpPassManager &kernels = pm.nest<ModuleOp>();
  addMainloops(kernels, options);
  addBufferization(kernels);
  PitAbiPrepareOptions prepare;
  prepare.device = "cuda";
  pm.addPass(createPitAbiPrepare(prepare));
  addBufferization(pm);
  pm.addNestedPass<func::FuncOp>(createPitForwardCopies());
  pm.addPass(createPitKernelLayouts());
  // The copies that bufferization made.
  pm.addPass(createPitOutlineKernels());
  addCleanUp(pm);
  pm.addNestedPass<func::FuncOp>(createPitPredicateVariants());
}

void pit::buildPitToCuda(OpPassManager &pm, const PitToCudaOptions &options) {
  buildPitToCudaTiles(pm, options);
  buildTilesToKernels(pm, options);
  pm.addPass(createPitVerifyStage());

  addSchedules(pm, options);
  // The host.
  PlaceBuffersOptions place;
  place.openmp = false;
  pm.addPass(createPlaceBuffers(place));
  pm.addPass(createConvertPitToSCF());
  ConvertPitLaunchOptions launch;
  // Kernels that are assembled for a chip have fallbacks apart, since
  // assembling takes long.
  launch.separateFallbacks = options.deviceCode == DeviceCode::Auto;
  pm.addPass(createConvertPitLaunch(launch));
  pm.addPass(createPitVerifyStage());
  buildPitKernelsToPTX(pm);
  PitAssembleKernelsOptions assemble;
  assemble.deviceCode = options.deviceCode;
  pm.addPass(createPitAssembleKernels(assemble));
  pm.addPass(createPitEmbedKernels());
  PitToLLVMOptions host;
  host.openmp = false;
  pm.addPass(createPitAbiNameBodies());
  buildPitToControlFlow(pm, host);
  pm.addPass(createPitAbiLowerAsserts());
  pm.addNestedPass<func::FuncOp>(createPitAbiReturnStatus());
  buildControlFlowToLLVM(pm, host);
  pm.addPass(createPitAbiEmitWrapper());
  pm.addPass(createPitVerifyStage());
}
