//===- BodyPipeline.h - What roles do of a tile body ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_BODYPIPELINE_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_BODYPIPELINE_H

#include "Codegen/GPU/Portable/PortableBody.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

namespace mlir::pit::cuda {

/// A staged tile's place in the pipeline.
struct StagedRing {
  pitgpu::TileType tile;
  Value ring;
  Value map; ///< null: threads copy it
};

/// The values that roles share.
struct RolesContext {
  const BodyPlan &plan;
  ArrayRef<StagedRing> rings; ///< as plan.staged
  /// Of what is added: the first factor, where sums are staged (i32) and the
  /// tensor that they are added to; null: nothing is.
  Value addedRing, addedSums, addedMap;

  const StagedRing &ringOf(const StagedTile &staged) const {
    return rings[&staged - plan.staged.data()];
  }
};

/// A thread and its block's tile (i32).
struct RoleTile {
  Value number; ///< of the thread in its role
  Value tile;   ///< tiles that the block had before
  Value used;   ///< steps of these
};

/// Loads the tiles of all steps.
void produceBody(const RolesContext &roles, const BodyContext &body,
                 const RoleTile &place);
/// Computes all steps, and stores the result.
void computeBody(const RolesContext &roles, const BodyContext &body,
                 const RoleTile &place);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_BODYPIPELINE_H
