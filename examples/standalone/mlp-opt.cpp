//===- mlp-opt.cpp - mlp, pit and MLIR in one tool ------------------------===//

#include "Mlp.h"

#include "pit/Pipelines/Pipelines.h"
#include "pit/Pipelines/RegisterAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {
struct MlpToLLVMOptions : PassPipelineOptions<MlpToLLVMOptions> {
  Option<bool> strict{*this, "strict",
                      llvm::cl::desc("Only the dense program's bits"),
                      llvm::cl::init(false)};
};
} // namespace

/// pit's pipeline in the middle of one's own.
static void buildMlpToLLVM(OpPassManager &pm, const MlpToLLVMOptions &options) {
  pm.addNestedPass<func::FuncOp>(mlp::createLowerMlpPass());
  pm.addPass(createCanonicalizerPass());
  pit::PitToCpuOptions cpu;
  cpu.vectorWidth = 256;
  cpu.strict = options.strict;
  pit::buildPitToCpu(pm, cpu);
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  pit::registerAllDialects(registry);
  pit::registerAllExtensions(registry);
  pit::registerAllPasses();
  registry.insert<mlp::MlpDialect>();
  registerPass(mlp::createLowerMlpPass);
  PassPipelineRegistration<MlpToLLVMOptions>(
      "mlp-to-llvm", "mlp to the llvm dialect, by way of pit", buildMlpToLLVM);
  return asMainReturnCode(
      MlirOptMain(argc, argv, "mlp optimizer driver\n", registry));
}
