//===- TileVersions.cpp - Tiles by an extent that is not known ------------===//

#include "TileChoice.h"

#include "TileGeometry.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

/// Versions besides that of all other extents.
static constexpr unsigned kMostLimits = 2;
/// Limits are powers of two from here to there.
static constexpr int64_t kLeastLimit = 16, kMostLimit = 1024;
/// The tile of all other extents is another than the usual one if it is better
/// at all of these.
static constexpr int64_t kLargeExtents[] = {2048, 4096, 8192};
/// A tensor core's rows: the least that a tile of the portable schedule has.
static constexpr int64_t kFewRows = 16;

namespace {
class VersionSearch {
public:
  VersionSearch(linalg::LinalgOp op, const TileTable &table)
      : op(op), table(table), extents(op.getStaticLoopRanges()) {}

  std::optional<TileVersions> run() {
    if (!table.isForGpu || !findDim())
      return std::nullopt;
    SmallVector<int64_t> usual(chooseDenseTile(op, table).getTile());
    SmallVector<TileVersion> versions =
        isTimed() ? findByTime(usual) : findByRows(usual);
    if (versions.size() < 2)
      return std::nullopt;
    return TileVersions{dim, std::move(versions)};
  }

private:
  /// Are tiles of few rows timed? Tiles of f32 that no tensor core multiplies
  /// are not: there, times are about large products, which have a version.
  bool isTimed() {
    bool isPortable = !table.tf32 && getTableElement(op, table, Type()).isF32();
    return !isPortable && !getTimes(kLeastLimit).empty();
  }

  /// The one dim whose extent is not known; the others make a large operand.
  bool findDim() {
    std::optional<unsigned> found;
    for (auto [d, extent] : llvm::enumerate(extents)) {
      if (extent == 0 || (ShapedType::isDynamic(extent) && found))
        return false;
      if (ShapedType::isDynamic(extent))
        found = d;
    }
    if (!found || isReducedDim(op, *found))
      return false;
    dim = *found;
    int64_t weights = 0;
    bool isInAll = true;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (map.isFunctionOfDim(dim))
        continue;
      isInAll &= map.getNumResults() == 0;
      weights = std::max(weights, tileElements(map, extents));
    }
    return !isInAll && weights >= table.versions.leastWeights;
  }

  SmallVector<ModelledTile> getTimes(int64_t extent) {
    auto model = [&](linalg::LinalgOp, ArrayRef<int64_t>,
                     ArrayRef<int64_t> tile, const TileSizes &sizes,
                     const TileTable &table) -> std::optional<double> {
      SmallVector<int64_t> known(extents);
      known[dim] = extent;
      return modelSharedCycles(op, known, tile, sizes, table);
    };
    TileChoice choice =
        chooseDenseTile(op, table, /*assumed=*/std::nullopt, model);
    if (!choice.tiles.front().cycles)
      return {};
    return std::move(choice.tiles);
  }

  /// The choice among tiles that are about as good as the best, which the model
  /// does not tell apart: that of large extents, or the smallest.
  ArrayRef<int64_t> findBest(ArrayRef<ModelledTile> times,
                             ArrayRef<int64_t> large) {
    if (compare(times, large) < table.versions.alike)
      return large;
    const ModelledTile *best = &times.front();
    for (const ModelledTile &one : times)
      if (*one.cycles < table.versions.alike * *times.front().cycles &&
          ShapedType::getNumElements(one.tile) <
              ShapedType::getNumElements(best->tile))
        best = &one;
    return best->tile;
  }

  /// How many times as long as the best one this tile takes.
  static double compare(ArrayRef<ModelledTile> times, ArrayRef<int64_t> tile) {
    const auto *found = llvm::find_if(
        times, [&](const ModelledTile &one) { return one.tile == tile; });
    return found == times.end() ? HUGE_VAL
                                : *found->cycles / *times.front().cycles;
  }

  SmallVector<TileVersion> findByTime(ArrayRef<int64_t> usual) {
    // The best tile at each extent, and what it saves beside that of the next
    // version.
    struct Best {
      TileVersion version;
      SmallVector<SmallVector<ModelledTile>> times;
      double gain;
    };
    SmallVector<Best> all;
    SmallVector<int64_t> large = findLarge(usual);
    for (int64_t extent = kLeastLimit; extent <= kMostLimit; extent *= 2) {
      SmallVector<ModelledTile> times = getTimes(extent);
      ArrayRef<int64_t> tile = findBest(times, large);
      if (all.empty() || ArrayRef(all.back().version.tile) != tile)
        all.push_back({{extent, SmallVector<int64_t>(tile)}, {}, 0});
      all.back().version.most = extent;
      all.back().times.push_back(times);
    }
    all.push_back({{std::nullopt, large}, {}, HUGE_VAL});
    while (all.size() > 1) {
      for (unsigned i = 0; i + 1 < all.size(); ++i) {
        all[i].gain = 0;
        for (ArrayRef<ModelledTile> times : all[i].times)
          all[i].gain =
              std::max(all[i].gain, compare(times, all[i + 1].version.tile) /
                                        compare(times, all[i].version.tile));
      }
      auto *least = std::min_element(
          all.begin(), all.end(),
          [](const Best &a, const Best &b) { return a.gain < b.gain; });
      if (least->gain >= table.versions.leastGain &&
          all.size() <= kMostLimits + 1)
        break;
      llvm::append_range((least + 1)->times, least->times);
      all.erase(least);
    }
    SmallVector<TileVersion> versions;
    for (Best &best : all)
      versions.push_back(std::move(best.version));
    return versions;
  }

  SmallVector<int64_t> findLarge(ArrayRef<int64_t> usual) {
    SmallVector<int64_t> tile(getTimes(kLargeExtents[0]).front().tile);
    for (int64_t extent : kLargeExtents) {
      SmallVector<ModelledTile> times = getTimes(extent);
      if (compare(times, usual) <
          table.versions.leastGainOfLarge * compare(times, tile))
        return SmallVector<int64_t>(usual);
    }
    return tile;
  }

  /// The largest extent of those that are compared at which the usual tile is
  /// about as good as that of large ones; the least one if it never is.
  int64_t findLimit(ArrayRef<int64_t> usual, ArrayRef<int64_t> large) {
    int64_t extent = kMostLimit;
    for (; extent > kLeastLimit; extent /= 2) {
      SmallVector<ModelledTile> times = getTimes(extent);
      if (compare(times, usual) < table.versions.alike * compare(times, large))
        break;
    }
    return extent;
  }

  SmallVector<TileVersion> findByRows(ArrayRef<int64_t> usual) {
    SmallVector<TileVersion> versions;
    SmallVector<int64_t> few(
        chooseDenseTile(op, table, std::pair(dim, kFewRows)).getTile());
    if (usual[dim] > kFewRows && few[dim] <= kFewRows)
      versions.push_back({kFewRows, few});
    SmallVector<int64_t> large(usual);
    if (!getTimes(kMostLimit).empty())
      large = findLarge(usual);
    if (ArrayRef(large) != usual)
      if (int64_t limit = findLimit(usual, large);
          versions.empty() || limit > kFewRows)
        versions.push_back({limit, SmallVector<int64_t>(usual)});
    versions.push_back({std::nullopt, large});
    return versions;
  }

  linalg::LinalgOp op;
  const TileTable &table;
  SmallVector<int64_t> extents; ///< the unknown one is kDynamic
  unsigned dim = 0;
};
} // namespace

std::optional<TileVersions>
mlir::pit::findTileVersions(linalg::LinalgOp op, const TileTable &table) {
  return VersionSearch(op, table).run();
}
