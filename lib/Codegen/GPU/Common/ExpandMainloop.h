//===- ExpandMainloop.h - A mainloop as loops over tiles --------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_EXPANDMAINLOOP_H
#define PIT_LIB_CODEGEN_GPU_COMMON_EXPANDMAINLOOP_H

#include "pit/Dialect/Pit/IR/Pit.h"

namespace mlir::pit::cuda {

/// Replaces a mainloop of contractions on memrefs by the level-3 loop that it
/// stands for: tiles in buffers, linalg ops on them. Any GPU runs that, if
/// slowly, so it is what is left where a mainloop has no portable schedule.
void expandMainloop(RewriterBase &rewriter, MainloopOp mainloop);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_EXPANDMAINLOOP_H
