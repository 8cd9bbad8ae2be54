//===- Pipelines.h - Pipelines of pit ---------------------------*- C++ -*-===//
//
// Each pipeline is an options struct and a function that appends the passes:
//
//   mlir::pit::PitToCpuOptions options;
//   options.vectorWidth = 256;
//   mlir::pit::buildPitToCpu(passManager, options);
//
// pit/Pipelines/RegisterAll.h gives them their names in textual pass pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_PIPELINES_PIPELINES_H
#define PIT_PIPELINES_PIPELINES_H

#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
}

namespace mlir::pit {

/// Options of `pit-to-llvm`.
struct PitToLLVMOptions : public PassPipelineOptions<PitToLLVMOptions> {
  PassOptions::Option<unsigned> vectorWidth{
      *this, "vector-width",
      llvm::cl::desc("Width of a vector register in bits: 512 for AVX-512, 256 "
                     "for AVX2, 128 for SSE and NEON."),
      llvm::cl::init(512)};
  PassOptions::Option<bool> openmp{
      *this, "openmp",
      llvm::cl::desc(
          "Run scf.parallel on OpenMP threads (libomp). Otherwise it "
          "is a sequential loop."),
      llvm::cl::init(true)};
  PassOptions::Option<bool> amx{
      *this, "amx", llvm::cl::desc("Take ops of AMX's tile registers, too."),
      llvm::cl::init(false)};
  PassOptions::Option<bool> checkBounds{
      *this, "check-bounds",
      llvm::cl::desc("Check each access of functions with a frame "
                     "(pit-check-bounds)."),
      llvm::cl::init(false)};
};

/// Appends `pit-to-llvm`: from func, scf, memref, linalg on memrefs and vector
/// to the llvm and omp dialects, ready for translation to LLVM IR. It is the
/// two halves below, one after the other.
void buildPitToLLVM(OpPassManager &pm, const PitToLLVMOptions &options);

/// The first half: vector code for linalg, then structured loops become OpenMP
/// regions and blocks. Afterwards a function is func, cf, omp, arith, math,
/// memref and vector ops; passes that need blocks and func.call go here.
void buildPitToControlFlow(OpPassManager &pm, const PitToLLVMOptions &options);

/// The second half: everything that is left becomes the llvm dialect.
void buildControlFlowToLLVM(OpPassManager &pm, const PitToLLVMOptions &options);

/// The options that decide on the tiles of a program, whichever machine it is
/// for.
template <typename T> struct TilingOptions : public PassPipelineOptions<T> {
  using PassOptions = ::mlir::detail::PassOptions;

  PassOptions::Option<bool> dense{
      *this, "dense",
      llvm::cl::desc("Skip nothing: marks become selects and every op computes "
                     "all of its points. The reference for --check."),
      llvm::cl::init(false)};
  PassOptions::Option<std::string> tileTable{
      *this, "tile-table",
      llvm::cl::desc("Tile table to plan from (a JSON file) in place of the "
                     "built-in one.")};
  PassOptions::ListOption<std::string> samples{
      *this, "samples",
      llvm::cl::desc("Arrays as the values of marks will be: the label of a "
                     "mark and a .npy file, as f:0=a.npy (pit-label-marks).")};
  PassOptions::Option<std::string> profile{
      *this, "profile",
      llvm::cl::desc("What a run recorded of the zeros of marks (JSON).")};
  PassOptions::Option<bool> strict{
      *this, "strict",
      llvm::cl::desc("Only rules that give the dense program's bits."),
      llvm::cl::init(false)};
  PassOptions::Option<bool> unordered{
      *this, "unordered",
      llvm::cl::desc("Indices may list the ids of a group in any order."),
      llvm::cl::init(false)};
  PassOptions::Option<bool> explain{
      *this, "explain",
      llvm::cl::desc("Run pit-explain on the planned ops, and say what tiles "
                     "and kernels were chosen, and why."),
      llvm::cl::init(false)};
  PassOptions::Option<Choice> choice{
      *this, "choice",
      llvm::cl::desc("When an op's rule is chosen, where the mark gives none."),
      llvm::cl::values(clEnumValN(Choice::Now, "now", "now, blind to the data"),
                       clEnumValN(Choice::AtRunTime, "run-time",
                                  "at each call, by the zeros that there are")),
      llvm::cl::init(Choice::AtRunTime)};
  PassOptions::Option<bool> fuseSiblings{
      *this, "fuse-siblings",
      llvm::cl::desc("Contractions that meet in an element-wise op, as the two "
                     "projections of a gated layer, share a loop and its loads "
                     "(pit-fuse-siblings)."),
      llvm::cl::init(true)};
};

/// Options of `pit-to-cpu` and its parts.
struct PitToCpuOptions : public TilingOptions<PitToCpuOptions> {
  PassOptions::Option<unsigned> vectorWidth{
      *this, "vector-width",
      llvm::cl::desc("Width of a vector register in bits."),
      llvm::cl::init(512)};
  PassOptions::Option<bool> amx{
      *this, "amx",
      llvm::cl::desc("Multiply bf16 and i8 in AMX's tile registers, unless "
                     "strict."),
      llvm::cl::init(false)};
  PassOptions::Option<bool> openmp{
      *this, "openmp",
      llvm::cl::desc("Run pit.forall on OpenMP threads (libomp)."),
      llvm::cl::init(true)};
  PassOptions::Option<bool> checkBounds{
      *this, "check-bounds",
      llvm::cl::desc("For finding errors: check the bounds of each access of "
                     "the program, and let calls fail that would leave them."),
      llvm::cl::init(false)};
  PassOptions::Option<std::string> sanitize{
      *this, "sanitize",
      llvm::cl::desc("For finding errors: `address` makes the program one for "
                     "processes with AddressSanitizer (pit-sanitize).")};
  PassOptions::Option<bool> record{
      *this, "record",
      llvm::cl::desc(
          "Let calls record the zeros of each mark in their context, "
          "for a profile (pit-record-live-fractions)."),
      llvm::cl::init(false)};
  PassOptions::Option<bool> tileDense{
      *this, "tile-dense",
      llvm::cl::desc("Tile contractions that gather nothing, too, as others "
                     "are; else they are vectorized as they are."),
      llvm::cl::init(true)};
  PassOptions::Option<bool> inPlace{
      *this, "in-place",
      llvm::cl::desc("Let ops write over tensors that nothing reads any more, "
                     "and into the caller's results. Otherwise each op writes "
                     "to a copy: slow, but no analysis can make it wrong."),
      llvm::cl::init(true)};
};

/// The options that decide on the tiles of a program for an NVIDIA GPU.
template <typename T> struct GpuTilingOptions : public TilingOptions<T> {
  using PassOptions = ::mlir::detail::PassOptions;

  PassOptions::Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("The oldest GPU the program is for, sm_80 or newer. Those "
                     "with wgmma have a table of tiles of their own."),
      llvm::cl::init("sm_80")};
  PassOptions::Option<bool> tileVersions{
      *this, "tile-versions",
      llvm::cl::desc("A contraction of which a call alone knows an extent, as "
                     "how many rows a batch has, gets up to three kernels, for "
                     "few and for many of them (pit-version-tiles), which "
                     "takes longer to compile. Not with strict."),
      llvm::cl::init(true)};
  PassOptions::Option<bool> roundPartials{
      *this, "round-partials",
      llvm::cl::desc("What groups add to a result, as experts do, may be "
                     "rounded to its type first, and is then added in f32."),
      llvm::cl::init(false)};
  PassOptions::Option<bool> tf32{
      *this, "tf32",
      llvm::cl::desc("Contractions may round f32 operands to tf32, for tensor "
                     "cores; sums stay f32."),
      llvm::cl::init(false)};
  PassOptions::Option<bool> deterministic{
      *this, "deterministic",
      llvm::cl::desc("Only rules that give the same bits every time: groups "
                     "that add floats to the same outputs do so one after "
                     "another, where memory allows in a loop of its own."),
      llvm::cl::init(false)};
};

/// Options of `pit-to-gpu-tiles`.
struct PitToGpuTilesOptions : public GpuTilingOptions<PitToGpuTilesOptions> {};

/// Appends `pit-to-cpu`: from func and linalg on tensors with marks (level 1),
/// planned ops (level 2), tile programs (level 3), or any mix of them, to the
/// llvm dialect with one entry point `pit_f` per public function.
void buildPitToCpu(OpPassManager &pm, const PitToCpuOptions &options);

/// The first part, to level 3.
void buildPitToTiles(OpPassManager &pm, const PitToCpuOptions &options);

/// The same for an NVIDIA GPU: with tiles of its size, contractions that gather
/// nothing in tiles as well, and groups that write the same outputs at once.
void buildPitToGpuTiles(OpPassManager &pm, const PitToGpuTilesOptions &options);

/// The second part: the calling convention, bufferization, memory, and loops.
void buildTilesToLoops(OpPassManager &pm, const PitToCpuOptions &options);

/// Appends `pit-kernels-to-nvvm`: what is in gpu.modules
/// (`convert-pit-to-gpu`), from scf, memref, linalg-free arith and math to the
/// nvvm and llvm dialects. The rest of the module stays as it is.
void buildPitKernelsToNVVM(OpPassManager &pm);

/// Appends `pit-kernels-to-ptx`: the same, and then each gpu.module becomes a
/// gpu.binary with the PTX of its targets.
void buildPitKernelsToPTX(OpPassManager &pm);

} // namespace mlir::pit

#endif // PIT_PIPELINES_PIPELINES_H
