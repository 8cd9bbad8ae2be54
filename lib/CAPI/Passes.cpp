//===- Passes.cpp - pit's passes and pipelines in MLIR's C API ------------===//

#include "pit-c/Passes.h"

#include "Compiler.h"
#include "pit/ABI/Passes.h"
#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Common/Passes.h"
#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Codegen/GPU/Passes.h"
#include "pit/Codegen/GPU/Pipeline/Passes.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Frontend/Passes.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"

using namespace mlir;
using namespace mlir::pit;

#include "pit/ABI/Passes.capi.cpp.inc"
#include "pit/Codegen/CPU/Passes.capi.cpp.inc"
#include "pit/Codegen/Common/Passes.capi.cpp.inc"
#include "pit/Codegen/GPU/Host/Passes.capi.cpp.inc"
#include "pit/Codegen/GPU/Passes.capi.cpp.inc"
#include "pit/Codegen/GPU/Pipeline/Passes.capi.cpp.inc"
#include "pit/Codegen/Mainloop/Passes.capi.cpp.inc"
#include "pit/Dialect/Pit/Transforms/Passes.capi.cpp.inc"
#include "pit/Frontend/Passes.capi.cpp.inc"

void pitRegisterAllDialects(MlirDialectRegistry registry) {
  addCompilerDialects(*unwrap(registry));
}

void pitRegisterAllPasses() { registerCompilerPasses(); }
