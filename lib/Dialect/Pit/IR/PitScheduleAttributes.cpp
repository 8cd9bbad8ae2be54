//===- PitScheduleAttributes.cpp - How mainloops are run ------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

using namespace mlir;
using namespace mlir::pit;

using EmitError = function_ref<InFlightDiagnostic()>;

/// Reports the first of some numbers that is not positive.
static LogicalResult
checkPositive(EmitError emitError,
              ArrayRef<std::pair<StringRef, int64_t>> numbers) {
  for (auto [name, number] : numbers)
    if (number <= 0)
      return emitError() << name << " is " << number
                         << "; it has to be 1 or more";
  return success();
}

LogicalResult DotScheduleAttr::verify(EmitError emitError, int64_t group,
                                      int64_t step, int64_t tileRows,
                                      int64_t tiles, Type element, BoolAttr,
                                      BoolAttr, BoolAttr) {
  if (failed(checkPositive(emitError, {{"group", group},
                                       {"step", step},
                                       {"tile_rows", tileRows},
                                       {"tiles", tiles}})))
    return failure();
  if (step % group)
    return emitError() << "step is " << step
                       << "; it has to be a multiple of group, " << group;
  if (!element.isIntOrFloat() || group * element.getIntOrFloatBitWidth() != 32)
    return emitError() << "element is " << element << "; " << group
                       << " of them have to be as wide as a sum, 32 bits";
  return success();
}

LogicalResult CpuScheduleAttr::verify(EmitError emitError, int64_t a, int64_t m,
                                      int64_t n, int64_t lane,
                                      DenseI64ArrayAttr batch,
                                      DenseI64ArrayAttr k, int64_t lanes,
                                      int64_t rows, int64_t vectors, BoolAttr,
                                      BoolAttr, BoolAttr, BoolAttr,
                                      DotScheduleAttr dots) {
  if (a != 0 && a != 1)
    return emitError() << "a is " << a << "; it has to be operand 0 or 1";
  if (lane < 0)
    return emitError() << "lane is " << lane
                       << "; it has to be a dimension of operand " << 1 - a;
  if (failed(checkPositive(
          emitError, {{"lanes", lanes}, {"rows", rows}, {"vectors", vectors}})))
    return failure();
  if (!llvm::isPowerOf2_64(lanes))
    return emitError() << "lanes is " << lanes
                       << "; it has to be a power of two";
  // Without m they may be dimensions of batch: which, checkSchedule asks.
  if (rows > 1 && m < 0 && (!batch || batch.empty()))
    return emitError() << "rows is " << rows
                       << "; without m, the dimension of rows, it has to be 1";
  if (dots && (m < 0 || !k || k.empty()))
    return emitError() << "dots need both m and k";
  return success();
}

SmallVector<int64_t> CpuScheduleAttr::getDims() const {
  SmallVector<int64_t> dims = {getN()};
  if (getM() >= 0)
    dims.push_back(getM());
  for (DenseI64ArrayAttr others : {getBatch(), getK()})
    if (others)
      llvm::append_range(dims, others.asArrayRef());
  return dims;
}

/// Reports a list that is no pair of numbers for m and n.
static LogicalResult checkPair(EmitError emitError, StringRef name,
                               DenseI64ArrayAttr pair) {
  /// Threads, and elements of a tile that a block computes.
  constexpr int64_t kMost = 1 << 16;
  if (pair.size() != 2)
    return emitError() << name << " has " << pair.size()
                       << " numbers; it has to have 2, for m and n";
  for (int64_t number : pair.asArrayRef())
    if (number <= 0 || number > kMost)
      return emitError() << name << " has " << number
                         << "; its numbers have to be 1 to " << kMost;
  return success();
}

static LogicalResult checkStages(EmitError emitError, int64_t depth,
                                 int64_t stages, int64_t sharedBytes) {
  if (failed(checkPositive(emitError, {{"depth", depth}})))
    return failure();
  if (stages < 2)
    return emitError() << "stages is " << stages
                       << "; it has to be 2 or more: one is loaded while "
                          "another one is multiplied";
  // Shared memory takes fewer than 16 bytes, the least that is loaded.
  constexpr int64_t kMost = 1 << 14;
  if (depth > kMost || stages > kMost)
    return emitError() << "depth is " << depth << " and stages is " << stages
                       << "; shared memory takes fewer than " << kMost;
  if (sharedBytes < 0)
    return emitError() << "shared_bytes is " << sharedBytes
                       << "; it has to be 0 or more";
  return success();
}

/// Has a block workers of whole warps, and each of them whole parts of the
/// tile?
static LogicalResult checkWorkers(EmitError emitError, Multiply multiply,
                                  ArrayRef<int64_t> tile,
                                  ArrayRef<int64_t> workers,
                                  int64_t producers) {
  bool isScalar = multiply == Multiply::Scalar;
  bool isWgmma = multiply == Multiply::Wgmma;
  if (isScalar && (workers[0] % 4 || workers[1] % 8))
    return emitError() << "workers is " << workers[0] << " x " << workers[1]
                       << " threads; it has to be a multiple of 4 x 8, a warp";
  if (isWgmma && workers[0] % 4)
    return emitError() << "workers is " << workers[0] << " x " << workers[1]
                       << "; wgmma takes warps in groups of four along m";
  if (producers && (producers != 4 || !isWgmma))
    return emitError() << "producers is " << producers
                       << "; a block has 4 warps that load or none, and 4 only "
                          "with wgmma";
  int64_t threads = workers[0] * workers[1] * (isScalar ? 1 : 32);
  if (threads + 32 * producers > 1024)
    return emitError() << "workers is " << workers[0] << " x " << workers[1]
                       << ", " << threads + 32 * producers
                       << " threads with producers; a block has up to 1024";
  const int64_t units[] = {isScalar ? 1 : 16, isScalar ? 1 : isWgmma ? 8 : 16};
  for (unsigned i : {0, 1})
    if (tile[i] % (workers[i] * units[i]))
      return emitError() << "tile has " << tile[i] << " along "
                         << (i ? "n" : "m") << "; it has to be a multiple of "
                         << workers[i] * units[i]
                         << ", for workers of multiples of " << units[i];
  return success();
}

/// Does a schedule with these say anything of products that producers load?
static bool isOfProduct(int64_t a, Loader loadA, Loader loadB, int64_t cluster,
                        int64_t columnBlocks, int64_t fillRows) {
  return a || loadA != Loader::CpAsync || loadB != Loader::CpAsync ||
         cluster > 1 || columnBlocks > 1 || fillRows;
}

bool GpuScheduleAttr::isOfProduct() const {
  return ::isOfProduct(getA(), getLoadA(), getLoadB(), getCluster(),
                       getColumnBlocks(), getFillRows());
}

LogicalResult GpuScheduleAttr::verify(
    EmitError emitError, Multiply multiply, DenseI64ArrayAttr tile,
    DenseI64ArrayAttr workers, int64_t producers, int64_t depth, int64_t stages,
    DenseI64ArrayAttr swizzles, int64_t a, Loader loadA, Loader loadB,
    int64_t blocks, int64_t cluster, int64_t splits, int64_t columnBlocks,
    int64_t fillRows, int64_t fillBytes, int64_t sharedBytes) {
  if (failed(checkPair(emitError, "tile", tile)) ||
      failed(checkPair(emitError, "workers", workers)) ||
      (swizzles && failed(checkPair(emitError, "swizzles", swizzles))) ||
      failed(checkStages(emitError, depth, stages, sharedBytes)) ||
      failed(checkPositive(emitError, {{"blocks", blocks},
                                       {"splits", splits},
                                       {"column_blocks", columnBlocks}})) ||
      failed(checkWorkers(emitError, multiply, tile, workers, producers)))
    return failure();
  if (swizzles)
    for (int64_t swizzle : swizzles.asArrayRef())
      if (!llvm::isPowerOf2_64(swizzle) || swizzle > 4)
        return emitError() << "swizzles has " << swizzle
                           << "; chunks are shifted by 1, 2 or 4 places";
  if (a != 0 && a != 1)
    return emitError() << "a is " << a << "; it has to be operand 0 or 1";
  // The most that every cluster may have.
  if (cluster < 1 || cluster > 8)
    return emitError() << "cluster is " << cluster
                       << "; it has to be 1 to 8 blocks";
  if (fillRows < 0)
    return emitError() << "fill_rows is " << fillRows
                       << "; it has to be 0 or more";
  if (fillBytes < 0 || fillBytes % 16 || (fillRows == 0) != (fillBytes == 0))
    return emitError() << "fill_bytes is " << fillBytes << " for " << fillRows
                       << " rows; it has to be a multiple of 16, and 0 if no "
                          "rows are filled";
  if (!producers &&
      ::isOfProduct(a, loadA, loadB, cluster, columnBlocks, fillRows))
    return emitError() << "a = 1, loaders by TMA, clusters, column_blocks and "
                          "fill_rows are of products that producers load, and "
                          "producers is 0";
  return success();
}
