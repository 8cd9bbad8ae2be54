//===- pit-opt.cpp - Runs the passes of pit and of MLIR -------------------===//

#include "pit/Pipelines/RegisterAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  llvm::cl::opt<bool> listPipelines(
      "pit-list-pipelines",
      llvm::cl::desc("Print pit's pipelines and their options, and exit"));
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  // To emit PTX.
  mlir::registerAllGPUToLLVMIRTranslations(registry);
  mlir::registerAllPasses();
  mlir::pit::registerAllDialects(registry);
  mlir::pit::registerAllExtensions(registry);
  mlir::pit::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "pit optimizer driver\n", registry);
  if (listPipelines) {
    mlir::pit::printAllPipelines();
    return 0;
  }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
