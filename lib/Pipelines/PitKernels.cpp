//===- PitKernels.cpp - From kernels to nvvm and PTX ----------------------===//

#include "Steps.h"

#include "pit/Codegen/Common/Passes.h"
#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Codegen/GPU/Passes.h"
#include "pit/Codegen/GPU/Pipeline/Passes.h"
#include "pit/Pipelines/Pipelines.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void pit::addKernelsToNVVM(OpPassManager &device) {
  device.addPass(createConvertPitGPUToNVVM());
  device.addPass(memref::createFoldMemRefAliasOpsPass());
  addCleanUp(device);
  PitLowerMathOptions math;
  math.device = true;
  device.addPass(createPitLowerMath(math));
  // Functions of narrow floats are computed in f32, and so is all of f8.
  device.addPass(math::createMathExtendToSupportedTypes());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"f8E4M3FN", "f8E5M2"};
  device.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  device.addPass(createPitLowerF8());
  device.addPass(createPitLowerDeviceMath());
  device.addPass(arith::createArithExpandOpsPass());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createLoopInvariantCodeMotionPass());
  // This pass needs functions of one block: it converts the types of all.
  device.addPass(createPitGPUToNVVM());
  device.addPass(createPitPredicateKernels());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertToLLVMPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  device.addPass(createPitVerifyStage());
}

void pit::buildPitKernelsToNVVM(OpPassManager &pm) {
  addKernelsToNVVM(pm.nest<gpu::GPUModuleOp>());
}

void pit::buildPitKernelsToPTX(OpPassManager &pm) {
  buildPitKernelsToNVVM(pm);
  pm.addPass(createPitTranslateKernels());
}
