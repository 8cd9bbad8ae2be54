//===- TileModel.cpp - What an op takes in tiles --------------------------===//

#include "TileChoice.h"

#include "Candidates.h"
#include "TileGeometry.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

std::optional<double> mlir::pit::modelCycles(linalg::LinalgOp op,
                                             ArrayRef<int64_t> extents,
                                             ArrayRef<int64_t> tile,
                                             const TileSizes &sizes,
                                             const TileTable &table) {
  double tiles = 1, steps = 1;
  for (auto [d, size] : llvm::enumerate(extents)) {
    bool isReduced = isReducedDim(op, d);
    // How long sums are makes hardly a difference to which tile is best.
    int64_t extent = ShapedType::isDynamic(size) && isReduced
                         ? static_cast<int64_t>(kAssumedExtent)
                         : size;
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    (isReduced ? steps : tiles) *= llvm::divideCeil(extent, tile[d]);
  }
  return std::ceil(tiles / table.processors) *
         (steps * sizes.step + sizes.fixed);
}

/// Cycles of an op whose blocks may share the tiles of the last wave along the
/// reduced dims, as those of wgmma do.
std::optional<double> mlir::pit::modelSharedCycles(linalg::LinalgOp op,
                                                   ArrayRef<int64_t> extents,
                                                   ArrayRef<int64_t> tile,
                                                   const TileSizes &sizes,
                                                   const TileTable &table) {
  const TileSharing &sharing = table.sharing;
  int64_t processors = table.processors;
  double tiles = 1, steps = 1, sums = 1, bytes = 0;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    (isReducedDim(op, d) ? steps : tiles) *= llvm::divideCeil(extent, tile[d]);
    if (!isReducedDim(op, d))
      sums *= std::min(extent, tile[d]);
  }
  if (tiles == 0)
    return 0;
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = getElementTypeOrSelf(operand.get());
    if (element.isIntOrFloat())
      bytes += tileElements(op.getMatchingIndexingMap(&operand), extents) *
               llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  }
  double memory = bytes / sharing.memoryBytes / processors;
  double turns = std::floor(tiles / processors);
  double left = tiles - turns * processors;
  // If tiles are not shared, only the blocks that have one read.
  double idle =
      turns == 0 ? std::max(1.0, sharing.reading * processors / left) : 1.0;
  double allWaves = std::ceil(tiles / processors);
  double alone = std::max(allWaves * steps * sizes.step, memory * idle) +
                 allWaves * sizes.fixed;
  if (left == 0)
    return alone;
  double ownSteps = turns * steps + std::ceil(left * steps / processors);
  double shared = std::max(ownSteps * sizes.step, memory) +
                  (turns + 1) * sizes.fixed + sharing.await +
                  sums * 2 * sizeof(float) / sharing.sumBytes;
  return std::min(alone, shared);
}
