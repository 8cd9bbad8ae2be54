//===- pit-opt.cpp - Runs the passes of pit and of MLIR -------------------===//

#include "pit/ABI/Passes.h"
#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Common/Passes.h"
#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Codegen/GPU/Passes.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/BufferizableOpInterfaceImpl.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Dialect/Pit/Transforms/TilingInterfaceImpl.h"
#include "pit/Frontend/Passes.h"
#include "pit/Pipelines/Pipelines.h"
#include "pit/Pipelines/PitToCuda.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  // To emit PTX.
  mlir::registerAllGPUToLLVMIRTranslations(registry);
  mlir::registerAllPasses();
  mlir::pit::registerPitABIPasses();
  registry.insert<mlir::pit::PitDialect>();
  mlir::pit::registerBufferizableOpInterfaceExternalModels(registry);
  mlir::pit::registerTilingInterfaceExternalModels(registry);
  mlir::pit::registerPitCodegenCommonPasses();
  mlir::pit::registerPitCodegenCPUPasses();
  mlir::pit::registerPitCodegenGPUHostPasses();
  mlir::pit::registerPitCodegenGPUPasses();
  mlir::pit::registerPitCodegenMainloopPasses();
  mlir::pit::registerPitFrontendPasses();
  mlir::pit::registerPitTransformsPasses();
  mlir::pit::registerPitKernelsPipelines();
  mlir::pit::registerPitToCpuPipeline();
  mlir::pit::registerPitToCudaPipeline();
  mlir::pit::registerPitToLLVMPipeline();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "pit optimizer driver\n", registry));
}
