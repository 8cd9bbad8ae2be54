//===- Passes.h - Passes and pipelines in MLIR's C API ------------*- C -*-===//
//
// Dialects, passes and pipelines for programs that use MLIR's C API (mlir-c).
// Each pass is also a function, mlirCreatePitTransformsPitPlan and the like,
// for mlirPassManagerAddOwnedPass; docs/Passes.md describes them. Passes and
// pipelines with options are made from text, once they are registered:
//
//   pitRegisterAllDialects(registry);
//   pitRegisterAllPasses();
//   MlirPassManager passes = mlirPassManagerCreate(context);
//   mlirOpPassManagerAddPipeline(
//       mlirPassManagerGetAsOpPassManager(passes),
//       mlirStringRefCreateFromCString("pit-to-cpu{vector-width=256}"),
//       print, NULL);
//
// Link with libPITCompiler, which holds MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_C_PASSES_H
#define PIT_C_PASSES_H

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#include "pit/ABI/Passes.capi.h.inc"
#include "pit/Codegen/CPU/Passes.capi.h.inc"
#include "pit/Codegen/Common/Passes.capi.h.inc"
#include "pit/Codegen/GPU/Host/Passes.capi.h.inc"
#include "pit/Codegen/GPU/Passes.capi.h.inc"
#include "pit/Codegen/GPU/Pipeline/Passes.capi.h.inc"
#include "pit/Codegen/Mainloop/Passes.capi.h.inc"
#include "pit/Dialect/Pit/Transforms/Passes.capi.h.inc"
#include "pit/Frontend/Passes.capi.h.inc"

#ifdef __cplusplus
extern "C" {
#endif

/// Adds to `registry` all that pit's pipelines take and make: the pit dialect,
/// MLIR's dialects and extensions, and the translations to LLVM IR.
MLIR_CAPI_EXPORTED void pitRegisterAllDialects(MlirDialectRegistry registry);

/// Makes the passes and pipelines of pit and of MLIR known by their names, for
/// textual pass pipelines. Only the first call of a process does something.
MLIR_CAPI_EXPORTED void pitRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif // PIT_C_PASSES_H
