//===- Steps.h - Steps that pipelines share ---------------------*- C++ -*-===//

#ifndef PIT_LIB_PIPELINES_STEPS_H
#define PIT_LIB_PIPELINES_STEPS_H

#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::pit {

/// Appends canonicalization and the removal of equal ops. Blocks are neither
/// merged nor searched for dead arguments: structured control flow has one
/// block in a region, and LLVM merges the blocks of branches itself. The search
/// took three quarters of canonicalization's time in a function of 20,000 ops.
inline void addCleanUp(OpPassManager &pm) {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  pm.addPass(createCanonicalizerPass(config));
  pm.addPass(createCSEPass());
}

/// Appends what labels marks, as functions have them now.
template <typename OptionsT>
void addLabels(OpPassManager &pm, const OptionsT &options) {
  if (options.dense)
    return;
  PitLabelMarksOptions label;
  label.samples = llvm::to_vector_of<std::string>(options.samples);
  label.profile = options.profile;
  pm.addPass(createPitLabelMarks(label));
}

/// Appends one-shot bufferization of functions and calls, whose buffers are
/// without gaps. Unless `inPlace`, each op writes to a copy: nothing is decided
/// that could be wrong.
void addBufferization(OpPassManager &pm, bool inPlace = true);

/// Appends the passes of one gpu.module, to nvvm.
void addKernelsToNVVM(OpPassManager &device);

} // namespace mlir::pit

#endif // PIT_LIB_PIPELINES_STEPS_H
