//===- PITPlugin.cpp - pit inside of mlir-opt -----------------------------===//
//
//   mlir-opt --load-dialect-plugin=PITPlugin.so --load-pass-plugin=PITPlugin.so
//   \
//     --pass-pipeline='builtin.module(pit-to-cpu)' program.mlir
//
//===----------------------------------------------------------------------===//

#include "pit/Pipelines/RegisterAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "pit", PIT_VERSION,
          [](mlir::DialectRegistry *registry) {
            mlir::pit::registerAllDialects(*registry);
            mlir::pit::registerAllExtensions(*registry);
          }};
}

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "pit", PIT_VERSION,
          mlir::pit::registerAllPasses};
}
