//===- PitFunctions.h - Pipelines for a part of a module --------*- C++ -*-===//
//
// For compilers that lower a module themselves, and leave to pit what has
// marks: functions keep their signature, and there are no entry points. In
// between the module is bufferized, by whatever pass (docs/Composition.md).
//
//===----------------------------------------------------------------------===//

#ifndef PIT_PIPELINES_PITFUNCTIONS_H
#define PIT_PIPELINES_PITFUNCTIONS_H

#include "pit/Pipelines/PitToCuda.h"

namespace mlir::pit {

/// Options of `pit-functions-to-tiles` and `pit-functions-to-loops`.
struct PitFunctionsOptions : public TilingOptions<PitFunctionsOptions> {
  PassOptions::Option<unsigned> vectorWidth{
      *this, "vector-width",
      llvm::cl::desc("Width of a vector register in bits."),
      llvm::cl::init(256)};
  PassOptions::Option<bool> openmp{
      *this, "openmp",
      llvm::cl::desc("Leave parallel loops as scf.parallel, for "
                     "convert-scf-to-openmp. Otherwise they are scf.for: no "
                     "other threads may run them."),
      llvm::cl::init(false)};
};

/// Appends `pit-functions-to-tiles`: what is marked in functions on tensors, to
/// level 3.
void buildPitFunctionsToTiles(OpPassManager &pm,
                              const PitFunctionsOptions &options);

/// Appends `pit-functions-to-loops`: what is left of pit in bufferized
/// functions, to scf, vector, memref and calls of the runtime.
void buildPitFunctionsToLoops(OpPassManager &pm,
                              const PitFunctionsOptions &options);

/// Appends `pit-functions-to-kernels`: functions on tensors with marks become
/// launches of kernels, which are bufferized in a module of their own.
/// Functions keep their signature.
void buildPitFunctionsToKernels(OpPassManager &pm,
                                const PitToCudaOptions &options);

/// Appends `pit-functions-to-cuda`: launches in bufferized functions become
/// host code, in scf, memref, gpu, llvm and calls of the runtime, with PTX or a
/// cubin as a constant.
void buildPitFunctionsToCuda(OpPassManager &pm,
                             const PitToCudaOptions &options);

} // namespace mlir::pit

#endif // PIT_PIPELINES_PITFUNCTIONS_H
