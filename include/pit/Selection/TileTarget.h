//===- TileTarget.h - Machines that tiles are chosen for --------*- C++ -*-===//

#ifndef PIT_SELECTION_TILETARGET_H
#define PIT_SELECTION_TILETARGET_H

namespace mlir::pit {

/// The machine that tiles are chosen for: which built-in table counts.
enum class TileTarget { Cpu, Gpu, Hopper };

} // namespace mlir::pit

#endif // PIT_SELECTION_TILETARGET_H
