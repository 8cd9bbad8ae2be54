//===- RegisterAll.cpp - All of pit, for a tool of one's own --------------===//

#include "pit/Pipelines/RegisterAll.h"

#include "pit/ABI/Passes.h"
#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Common/MemoryEffects.h"
#include "pit/Codegen/Common/Passes.h"
#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Codegen/GPU/Passes.h"
#include "pit/Codegen/GPU/Pipeline/Passes.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/TransformOps/PitTransformOps.h"
#include "pit/Dialect/Pit/Transforms/BufferizableOpInterfaceImpl.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Dialect/Pit/Transforms/TilingInterfaceImpl.h"
#include "pit/Dialect/PitGPU/IR/PitGPU.h"
#include "pit/Frontend/Passes.h"
#include "pit/Pipelines/Pipelines.h"
#include "pit/Pipelines/PitFunctions.h"
#include "pit/Pipelines/PitToCuda.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace {
/// A pipeline by its name in textual pass pipelines.
struct NamedPipeline {
  StringLiteral name;
  StringLiteral description;
  void (*add)(StringRef name, StringRef description);
};
} // namespace

template <typename OptionsT, void (*build)(OpPassManager &, const OptionsT &)>
static void add(StringRef name, StringRef description) {
  PassPipelineRegistration<OptionsT>(name, description, build);
}

template <void (*build)(OpPassManager &)>
static void add(StringRef name, StringRef description) {
  PassPipelineRegistration<>(name, description, build);
}

/// From the whole way of a program to parts of it.
static constexpr NamedPipeline kPipelines[] = {
    {"pit-to-cpu", "marked linalg programs to the llvm dialect, for the CPU",
     add<pit::PitToCpuOptions, pit::buildPitToCpu>},
    {"pit-to-cuda", "marked linalg programs to host code and PTX",
     add<pit::PitToCudaOptions, pit::buildPitToCuda>},
    {"pit-to-tiles", "marked linalg programs to tiles (level 3)",
     add<pit::PitToCpuOptions, pit::buildPitToTiles>},
    {"pit-to-gpu-tiles", "marked linalg programs to tiles for an NVIDIA GPU",
     add<pit::PitToGpuTilesOptions, pit::buildPitToGpuTiles>},
    {"pit-tiles-to-loops", "tiles (level 3) to loops over packed memory",
     add<pit::PitToCpuOptions, pit::buildTilesToLoops>},
    {"pit-tiles-to-kernels", "tiles (level 3) to kernels and their launches",
     add<pit::PitToCudaOptions, pit::buildTilesToKernels>},
    {"pit-functions-to-tiles",
     "marks in functions to tiles (level 3); signatures stay",
     add<pit::PitFunctionsOptions, pit::buildPitFunctionsToTiles>},
    {"pit-functions-to-loops",
     "bufferized tiles in functions to scf, vector and memref",
     add<pit::PitFunctionsOptions, pit::buildPitFunctionsToLoops>},
    {"pit-functions-to-kernels",
     "functions with marks to kernels and launches; signatures stay",
     add<pit::PitToCudaOptions, pit::buildPitFunctionsToKernels>},
    {"pit-functions-to-cuda",
     "bufferized launches in functions to host code and PTX",
     add<pit::PitToCudaOptions, pit::buildPitFunctionsToCuda>},
    {"pit-to-llvm",
     "func, scf, memref, linalg on memrefs and vector to llvm and OpenMP",
     add<pit::PitToLLVMOptions, pit::buildPitToLLVM>},
    {"pit-kernels-to-nvvm", "kernels in gpu.modules to the nvvm dialect",
     add<pit::buildPitKernelsToNVVM>},
    {"pit-kernels-to-ptx", "kernels in gpu.modules to PTX",
     add<pit::buildPitKernelsToPTX>},
};

void pit::registerAllDialects(DialectRegistry &registry) {
  registry.insert<PitDialect, pitgpu::PitGPUDialect>();
}

void pit::registerAllExtensions(DialectRegistry &registry) {
  registerBufferizableOpInterfaceExternalModels(registry);
  registerTilingInterfaceExternalModels(registry);
  registerMemoryEffectsExternalModels(registry);
  registerTransformDialectExtension(registry);
}

void pit::registerAllPasses() {
  registerPitABIPasses();
  registerPitCodegenCommonPasses();
  registerPitCodegenCPUPasses();
  registerPitCodegenGPUHostPasses();
  registerPitCodegenGPUPipelinePasses();
  registerPitCodegenGPUPasses();
  registerPitCodegenMainloopPasses();
  registerPitFrontendPasses();
  registerPitTransformsPasses();
  for (const NamedPipeline &pipeline : kPipelines)
    pipeline.add(pipeline.name, pipeline.description);
}

void pit::printAllPipelines() {
  // The column at which descriptions begin.
  constexpr size_t column = 34;
  for (const NamedPipeline &pipeline : kPipelines)
    PassPipelineInfo::lookup(pipeline.name)->printHelpStr(0, column);
}
