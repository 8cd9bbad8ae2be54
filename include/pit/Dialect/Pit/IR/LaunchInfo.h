//===- LaunchInfo.h - How a kernel is launched ------------------*- C++ -*-===//
//
// #pit.launch_info as a struct, to write it and to change it. Its description
// says what the fields mean.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PIT_IR_LAUNCHINFO_H
#define PIT_DIALECT_PIT_IR_LAUNCHINFO_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include <optional>

namespace mlir::pit {

struct LaunchInfo {
  int64_t threads = 0;      ///< of a block
  int64_t sharedBytes = 0;  ///< of a block
  int64_t scratchBytes = 0; ///< of a block
  LaunchGrid grid = LaunchGrid::Iterations;
  int64_t splits = 1;       ///< of a tile, at most
  int64_t partialBytes = 0; ///< of partial results of a part of a tile
  int64_t streamBytes = 0;  ///< of partial results of a block
  int64_t cluster = 1;      ///< blocks
  bool pdl = false, predicated = false;
  std::optional<int64_t> fills = {}; ///< number of an argument
  int64_t fillsAtMost = 0;           ///< elements of a block; 0: any number
  FlatSymbolRefAttr preferred = {};
  SmallVector<TensorMapAttr> tensorMaps = {};

  /// The attribute of a kernel; nothing if it has none.
  static std::optional<LaunchInfo> of(Operation *kernel);
  void setOn(Operation *kernel) const;

  /// Do blocks stay, and take one tile after another?
  bool isPersistent() const {
    return grid == LaunchGrid::Tiles || grid == LaunchGrid::Taken ||
           grid == LaunchGrid::Machine;
  }
  /// Do blocks along y share a tile, and add up what they have of it?
  bool hasSplits() const {
    return grid == LaunchGrid::Steps || grid == LaunchGrid::Rows;
  }
};

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_IR_LAUNCHINFO_H
