//===- PitToCuda.h - Pipelines for NVIDIA GPUs ------------------*- C++ -*-===//

#ifndef PIT_PIPELINES_PITTOCUDA_H
#define PIT_PIPELINES_PITTOCUDA_H

#include "pit/Codegen/GPU/Host/DeviceCode.h"
#include "pit/Pipelines/Pipelines.h"

namespace mlir::pit {

/// Options of `pit-to-cuda` and its parts.
struct PitToCudaOptions : public GpuTilingOptions<PitToCudaOptions> {
  PassOptions::Option<bool> mainloops{
      *this, "mainloops",
      llvm::cl::desc("Pipeline contractions of tiles (pit-form-mainloops). "
                     "Otherwise tiles are computed one op after another."),
      llvm::cl::init(true)};
  PassOptions::Option<int64_t> optLevel{
      *this, "opt-level",
      llvm::cl::desc("How far LLVM optimizes the kernels, 0 to 3."),
      llvm::cl::init(3)};
  PassOptions::Option<DeviceCode> deviceCode{
      *this, "device-code", llvm::cl::desc("What a program holds of kernels."),
      llvm::cl::init(DeviceCode::PTX), getDeviceCodeValues()};
};

/// Appends `pit-to-cuda`: from levels 1 to 3 to the llvm dialect for the host
/// and PTX or a cubin for the device, with one entry point `pit_f` per public
/// function.
void buildPitToCuda(OpPassManager &pm, const PitToCudaOptions &options);

/// The first part, to level 3.
void buildPitToCudaTiles(OpPassManager &pm, const PitToCudaOptions &options);

/// The second part, to kernels on memrefs in a module of their own, and the
/// host's launches of them.
void buildTilesToKernels(OpPassManager &pm, const PitToCudaOptions &options);

} // namespace mlir::pit

#endif // PIT_PIPELINES_PITTOCUDA_H
