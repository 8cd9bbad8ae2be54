//===- MainloopNest.h - The loops of a kernel around a mainloop -*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_MAINLOOPNEST_H
#define PIT_LIB_CODEGEN_GPU_COMMON_MAINLOOPNEST_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit::cuda {

/// The loops of a kernel that is one mainloop in a loop over tiles.
struct MainloopNest {
  ForallOp forall;
  ForOp chunks; ///< of a group's ids, around the mainloop; may be missing
  MainloopOp mainloop;
};

/// Finds them; none if the kernel has others, for this reason.
inline constexpr StringLiteral kNoNest =
    "the kernel is no loop over tiles with one mainloop";
std::optional<MainloopNest> matchMainloopNest(func::FuncOp function);
std::optional<MainloopNest> matchMainloopNest(ForallOp forall);

/// How often a loop runs; -1 if that is not known.
int64_t tripsOf(Value lower, Value upper, int64_t step);

/// Stages that a tile takes, so many for each step; -1 if that is not known.
int64_t stagesOfTile(MainloopOp mainloop, int64_t perStep);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_MAINLOOPNEST_H
