//===- PitToCuda.h - Pipelines for NVIDIA GPUs ------------------*- C++ -*-===//

#ifndef PIT_PIPELINES_PITTOCUDA_H
#define PIT_PIPELINES_PITTOCUDA_H

#include "pit/Codegen/GPU/Host/DeviceCode.h"
#include "pit/Pipelines/Pipelines.h"

namespace mlir::pit {

/// Options of `pit-to-cuda` and its parts.
struct PitToCudaOptions : public TilingOptions<PitToCudaOptions> {
  PassOptions::Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("The oldest GPU the kernels run on: sm_80 or newer."),
      llvm::cl::init("sm_80")};
  PassOptions::Option<bool> deterministic{
      *this, "deterministic",
      llvm::cl::desc("Only rules that give the same bits every time."),
      llvm::cl::init(false)};
  PassOptions::Option<bool> tileVersions{
      *this, "tile-versions",
      llvm::cl::desc("A contraction of which a call alone knows an extent, as "
                     "how many rows a batch has, gets up to three kernels, for "
                     "few and for many of them (pit-version-tiles), which "
                     "takes longer to compile. Not with strict."),
      llvm::cl::init(true)};
  PassOptions::Option<bool> roundParts{
      *this, "round-parts",
      llvm::cl::desc("What groups add to a result, as experts do, may be "
                     "rounded to its type first, and is then added in f32."),
      llvm::cl::init(false)};
  PassOptions::Option<bool> tf32{
      *this, "tf32",
      llvm::cl::desc("Contractions may round f32 operands to tf32, for tensor "
                     "cores; sums stay f32."),
      llvm::cl::init(false)};
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
