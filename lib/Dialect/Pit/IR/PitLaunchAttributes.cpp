//===- PitLaunchAttributes.cpp - How kernels are launched -----------------===//

#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::pit;

using EmitError = function_ref<InFlightDiagnostic()>;

/// TMA copies boxes of at most so many dimensions and elements along each.
static constexpr int64_t kMaxRank = 5, kMaxBox = 256;
static constexpr int64_t kMaxThreads = 1024, kWarp = 32, kMaxCluster = 16;

LogicalResult TensorMapAttr::verify(EmitError emitError, int64_t argument,
                                    DenseI64ArrayAttr box, int64_t swizzle,
                                    int64_t alongK, DenseI64ArrayAttr order) {
  if (argument < 0)
    return emitError() << "argument is " << argument
                       << "; it has to be 0 or more, the number of a kernel's "
                          "argument";
  int64_t rank = box.size();
  if (rank < 1 || rank > kMaxRank)
    return emitError() << "box has " << rank << " extents; it has to have 1 to "
                       << kMaxRank;
  for (int64_t extent : box.asArrayRef())
    if (extent < 1 || extent > kMaxBox)
      return emitError() << "box has an extent of " << extent
                         << " elements; it has to be 1 to " << kMaxBox;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "swizzle is " << swizzle
                       << " bytes; it has to be 0, 32, 64 or 128";
  if (alongK < -1 || alongK >= rank)
    return emitError() << "along_k is " << alongK
                       << "; it has to be one of the " << rank
                       << " dimensions of box";
  if (!order)
    return success();
  if (alongK < 0)
    return emitError() << "order stands beside along_k alone, the dimension of "
                          "sums";
  if (order.size() != rank || !isPermutationVector(order.asArrayRef()))
    return emitError() << "order is [" << order.asArrayRef()
                       << "]; it has to list each of the " << rank
                       << " dimensions of box once";
  return success();
}

LogicalResult LaunchInfoAttr::verify(
    EmitError emitError, int64_t threads, int64_t sharedBytes,
    int64_t scratchBytes, LaunchGrid grid, int64_t splits, int64_t partialBytes,
    int64_t streamBytes, int64_t cluster, BoolAttr, BoolAttr, int64_t fills,
    int64_t fillsAtMost, FlatSymbolRefAttr, ArrayRef<TensorMapAttr>) {
  if (threads < kWarp || threads > kMaxThreads || threads % kWarp)
    return emitError() << "threads is " << threads
                       << "; it has to be a multiple of " << kWarp << " up to "
                       << kMaxThreads;
  std::pair<StringRef, int64_t> sizes[] = {{"shared_bytes", sharedBytes},
                                           {"scratch_bytes", scratchBytes},
                                           {"partial_bytes", partialBytes},
                                           {"stream_bytes", streamBytes}};
  for (auto [name, bytes] : sizes)
    if (bytes < 0)
      return emitError() << name << " is " << bytes
                         << "; it has to be 0 or more bytes";
  bool hasSplits = grid == LaunchGrid::Steps || grid == LaunchGrid::Rows;
  if (hasSplits ? splits < 2 : splits != 1)
    return emitError() << "splits is " << splits << " and grid is "
                       << stringifyLaunchGrid(grid)
                       << (hasSplits ? "; it has to be 2 or more"
                                     : "; tiles of steps or rows alone have "
                                       "splits");
  if (partialBytes && !hasSplits)
    return emitError() << "partial_bytes is " << partialBytes << " and grid is "
                       << stringifyLaunchGrid(grid)
                       << "; tiles of steps or rows alone have splits";
  if (streamBytes && grid != LaunchGrid::Machine)
    return emitError() << "stream_bytes is " << streamBytes << " and grid is "
                       << stringifyLaunchGrid(grid)
                       << "; blocks of machine alone share tiles so";
  if (cluster < 1 || cluster > kMaxCluster)
    return emitError() << "cluster is " << cluster << "; it has to be 1 to "
                       << kMaxCluster << " blocks";
  if (cluster > 1 && grid != LaunchGrid::Iterations &&
      grid != LaunchGrid::Tiles && grid != LaunchGrid::Machine)
    return emitError() << "cluster is " << cluster << " and grid is "
                       << stringifyLaunchGrid(grid)
                       << "; clusters are of iterations, tiles or machine";
  if (fills < -1)
    return emitError() << "fills is " << fills
                       << "; it has to be 0 or more, the number of an argument";
  if (fillsAtMost < 0)
    return emitError() << "fills_at_most is " << fillsAtMost
                       << "; it has to be 0 or more elements";
  if (fillsAtMost && fills < 0)
    return emitError() << "fills_at_most is " << fillsAtMost
                       << ", and nothing says which argument the kernel fills";
  return success();
}

std::optional<LaunchInfo> LaunchInfo::of(Operation *kernel) {
  auto attr = kernel->getAttrOfType<LaunchInfoAttr>(kLaunchInfoAttrName);
  if (!attr)
    return std::nullopt;
  auto isTrue = [](BoolAttr flag) { return flag && flag.getValue(); };
  LaunchInfo info;
  info.threads = attr.getThreads();
  info.sharedBytes = attr.getSharedBytes();
  info.scratchBytes = attr.getScratchBytes();
  info.grid = attr.getGrid();
  info.splits = attr.getSplits();
  info.partialBytes = attr.getPartialBytes();
  info.streamBytes = attr.getStreamBytes();
  info.cluster = attr.getCluster();
  info.pdl = isTrue(attr.getPdl());
  info.predicated = isTrue(attr.getPredicated());
  if (attr.getFills() >= 0)
    info.fills = attr.getFills();
  info.fillsAtMost = attr.getFillsAtMost();
  info.preferred = attr.getPreferred();
  info.tensorMaps = llvm::to_vector(attr.getTensorMaps());
  return info;
}

void LaunchInfo::setOn(Operation *kernel) const {
  MLIRContext *context = kernel->getContext();
  auto flag = [&](bool value) {
    return value ? BoolAttr::get(context, true) : BoolAttr();
  };
  kernel->setAttr(kLaunchInfoAttrName,
                  LaunchInfoAttr::get(context, threads, sharedBytes,
                                      scratchBytes, grid, splits, partialBytes,
                                      streamBytes, cluster, flag(pdl),
                                      flag(predicated), fills.value_or(-1),
                                      fillsAtMost, preferred, tensorMaps));
}
