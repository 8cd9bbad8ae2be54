//===- Planning.h - From marks to tiles, within functions -------*- C++ -*-===//

#ifndef PIT_LIB_PIPELINES_PLANNING_H
#define PIT_LIB_PIPELINES_PLANNING_H

#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::pit {

/// Appends what brings marks of functions to tiles, and lowers those that
/// nobody used, as far as it is the same for all machines. With `record` calls
/// record what marks select, with `siblings` tiles are such that contractions
/// which meet can share a loop.
template <typename OptionsT>
void addPlanning(OpPassManager &func, const OptionsT &options,
                 PitPlanOptions plan, PitTileOptions tile, bool record,
                 bool siblings = false) {
  func.addPass(createPitNameGenerics());
  if (!options.dense && !options.strict) {
    PitTileOnlineReductionsOptions online;
    online.target = plan.target;
    online.explain = options.explain;
    func.addPass(createPitTileOnlineReductions(online));
  }
  if (!options.dense) {
    func.addPass(createPitDropUnitResults());
    PitCollapseSumsOptions sums;
    if (!tile.kernels)
      sums.longest = 127;
    func.addPass(createPitCollapseSums(sums));
    func.addPass(createPitSinkMarks());
  }
  func.addPass(createPitSequenceForalls());
  if (!options.dense) {
    plan.tileTable = options.tileTable;
    plan.strict = options.strict;
    plan.unordered = options.unordered;
    plan.explain = options.explain;
    plan.choice = options.choice;
    plan.samples = llvm::to_vector_of<std::string>(options.samples);
    plan.profile = options.profile;
    if (record)
      func.addPass(createPitRecordLiveFractions());
    func.addPass(createPitPlan(plan));
    // Marks of one value by one micro-tile share an index.
    func.addPass(createCSEPass());
    func.addPass(createPitFold());
    if (options.explain)
      func.addPass(createPitExplain());
    func.addPass(createPitFold());
    func.addPass(createCSEPass());
    if (siblings)
      func.addPass(createPitNarrowSiblings());
    func.addPass(createPitTile(tile));
  }
  func.addPass(createPitLowerMarks());
}

/// Appends what brings functions to tiles of an NVIDIA GPU: marks as above,
/// with groups that write the same outputs at once, and contractions that
/// gather nothing as well.
template <typename OptionsT>
void addGpuTiling(OpPassManager &func, const OptionsT &options, bool tf32) {
  PitPlanOptions plan;
  plan.target = options.chip;
  plan.tf32 = tf32;
  plan.conflicts =
      options.roundPartials ? Conflicts::TwoPhaseRounded : Conflicts::Atomic;
  plan.deterministic = options.deterministic;
  PitTileOptions tile;
  tile.kernels = true;
  addPlanning(func, options, plan, tile, /*record=*/false,
              options.fuseSiblings);
  func.addPass(createCanonicalizerPass());
  func.addPass(createCSEPass());
  PitComputeOperandsOptions operands;
  operands.explain = options.explain;
  if (!options.strict)
    func.addPass(createPitComputeOperands(operands));
  func.addPass(createPitFormMatrices());
  // Reshapes of one operand of several contractions.
  func.addPass(createCSEPass());
  PitTileDenseOptions dense;
  dense.target = plan.target;
  dense.tf32 = tf32;
  dense.tileTable = options.tileTable;
  dense.explain = options.explain;
  // Kernels share no tiles in strict programs.
  dense.shared = !options.strict;
  PitVersionTilesOptions versions;
  versions.target = plan.target;
  versions.tf32 = tf32;
  versions.tileTable = options.tileTable;
  versions.explain = options.explain;
  if (options.tileVersions && !options.strict)
    func.addPass(createPitVersionTiles(versions));
  func.addPass(createPitTileDense(dense));
  PitFuseEpiloguesOptions epilogues;
  epilogues.separateFunctions = true;
  func.addPass(createPitFuseEpilogues(epilogues));
  if (options.fuseSiblings)
    func.addPass(createPitFuseSiblings());
  func.addPass(createPitFuseRowSums());
  func.addPass(createPitWriteUnpacked());
  func.addPass(createPitComputeLiveRows());
  func.addPass(createCanonicalizerPass());
  func.addPass(createCSEPass());
  // Indices that are built from bits are not packed as they are built.
  func.addPass(createPitShareScans());
  PitPackColumnsOptions pack;
  pack.target = plan.target;
  func.addPass(createPitPackColumns(pack));
  PitTransposeGatheredOptions transpose;
  transpose.target = plan.target;
  func.addPass(createPitTransposeGathered(transpose));
  func.addPass(createCanonicalizerPass());
  func.addPass(createCSEPass());
}

} // namespace mlir::pit

#endif // PIT_LIB_PIPELINES_PLANNING_H
