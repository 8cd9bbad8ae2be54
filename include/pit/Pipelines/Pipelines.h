//===- Pipelines.h - Pipelines of pit ---------------------------*- C++ -*-===//
//
// Each pipeline is an options struct, a function that appends the passes, and a
// registration, so that the command line and C++ programs share one entry.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_PIPELINES_PIPELINES_H
#define PIT_PIPELINES_PIPELINES_H

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

/// Makes `pit-to-llvm` available to pass pipeline descriptions.
void registerPitToLLVMPipeline();

} // namespace mlir::pit

#endif // PIT_PIPELINES_PIPELINES_H
