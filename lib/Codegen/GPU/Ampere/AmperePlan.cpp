//===- AmperePlan.cpp - How a mainloop is computed ------------------------===//

#include "AmperePlan.h"

#include "Codegen/Common/Index.h"
#include "Codegen/GPU/Common/TensorCores.h"

#include "pit/Dialect/Pit/IR/NotTaken.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// The largest power of two that divides n.
static int64_t powerIn(int64_t n) { return n & -n; }

int64_t SharedTile::swizzleMask() const {
  return std::min<int64_t>(8, powerIn(chunks())) - 1;
}

int64_t SharedTile::rowsPerLine() const {
  return std::max<int64_t>(1, 128 / pitch());
}

int64_t SharedTile::swizzlePeriod() const {
  return rowsPerLine() *
         std::max<int64_t>(1, (swizzleMask() + 1) / swizzleStep);
}

int64_t SharedTile::offsetOf(int64_t row, int64_t col) const {
  int64_t byte = col * elementBytes;
  int64_t chunk = (byte / kChunkBytes) ^
                  ((row / rowsPerLine() * swizzleStep) & swizzleMask());
  return row * pitch() + chunk * kChunkBytes + byte % kChunkBytes;
}

int64_t AmperePlan::neighbours() const {
  if (tensorCores)
    return b.alternates() ? 4 : 2;
  return b.kIsCol ? 1 : b.tile.chunkElements();
}

//===----------------------------------------------------------------------===//
// Sharing the work
//===----------------------------------------------------------------------===//

/// Splits the tile among warps of tensor cores.
static bool splitAmongWarps(AmperePlan &plan) {
  int64_t best = 0;
  for (int64_t warps : {1, 2, 4, 8})
    for (int64_t warpsM = 1; warpsM <= warps; warpsM *= 2) {
      int64_t warpsN = warps / warpsM;
      int64_t perM = llvm::alignTo(llvm::divideCeil(plan.m, warpsM), 16);
      int64_t perN = llvm::alignTo(llvm::divideCeil(plan.n, warpsN), 16);
      // Accumulators take a register each; 128 of 255 leave room for the rest.
      if (perM * perN > 64 * 64)
        continue;
      // What is computed in vain counts most, then what each warp reads, then
      // few warps (more blocks on a multiprocessor), but at least four.
      int64_t padded = warpsM * perM * warpsN * perN;
      int64_t reads = padded / perM + padded / perN;
      int64_t cost = padded * 64 + reads * 256 + (warps < 4 ? padded * 16 : 0);
      if (!best || cost < best) {
        best = cost;
        plan.warpsM = warpsM;
        plan.warpsN = warpsN;
        plan.perWarpM = perM;
        plan.perWarpN = perN;
        plan.threads = 32 * warps;
      }
    }
  return best != 0;
}

/// Splits the tile among threads of scalar code. A warp is 4 x 8 threads.
static bool splitAmongThreads(AmperePlan &plan, int64_t accumulatorBytes) {
  // A thread that reads along m or n reads whole chunks.
  int64_t unitM = plan.a.kIsCol ? 1 : plan.a.tile.chunkElements();
  int64_t unitN = plan.b.kIsCol ? 1 : plan.b.tile.chunkElements();
  // A short side leaves little to reuse: more threads with fewer registers each
  // hide more of what they wait for.
  int64_t most =
      accumulatorBytes > 4 || std::min(plan.m, plan.n) <= 32 ? 32 : 64;
  for (int64_t threads : {64, 128, 256, 512}) {
    int64_t best = 0;
    for (int64_t threadsM = 4; threadsM <= threads / 8; threadsM *= 2) {
      int64_t threadsN = threads / threadsM;
      int64_t perM = llvm::alignTo(llvm::divideCeil(plan.m, threadsM), unitM);
      int64_t perN = llvm::alignTo(llvm::divideCeil(plan.n, threadsN), unitN);
      // 512 threads have 128 registers each, fewer have 255.
      if (perM * perN > most ||
          perM * perN * accumulatorBytes > (threads > 256 ? 128 : 256))
        continue;
      int64_t cost = perM * perN * 16 + perM + perN;
      if (!best || cost < best) {
        best = cost;
        plan.threadsM = threadsM;
        plan.threadsN = threadsN;
        plan.perThreadM = perM;
        plan.perThreadN = perN;
        plan.threads = threads;
      }
    }
    if (best)
      return true;
  }
  return false;
}

void cuda::layOutTiles(AmperePlan &plan) {
  auto layOut = [&](AmpereOperand &operand, int64_t outer) {
    SharedTile &tile = operand.tile;
    tile.rows = operand.kIsCol ? outer : plan.depth;
    tile.cols = llvm::alignTo(operand.kIsCol ? plan.depth : outer,
                              tile.chunkElements());
    // Half a warp loads pairs of words from two chunks of each of four rows.
    bool words =
        plan.tensorCores && operand.alternates() && tile.elementBytes == 4;
    tile.swizzleStep = words ? 2 : 1;
  };
  layOut(plan.a, plan.coveredM());
  layOut(plan.b, plan.coveredN());
}

static std::string tooLarge(const AmperePlan &plan, StringRef workers) {
  return "a tile of " + std::to_string(plan.m) + " x " +
         std::to_string(plan.n) + " has more accumulators than " +
         workers.str() + " hold";
}

std::optional<AmperePlan> cuda::planAmpere(MainloopOp mainloop,
                                           const GpuTarget &target,
                                           std::string &why) {
  AmperePlan plan;
  plan.tf32Nearest = target.tf32Nearest;
  plan.vectorAtomics = target.vectorAtomics;
  std::optional<ContractionInfo> info = describeContraction(mainloop, why);
  if (!info)
    return std::nullopt;
  plan.m = info->m, plan.n = info->n, plan.k = info->k;
  plan.mDim = info->mDim, plan.nDim = info->nDim;
  plan.a = AmpereOperand(info->a), plan.b = AmpereOperand(info->b);
  plan.tensorCores = fitsTensorCores(*info, mainloop.getTf32());
  int64_t unitK;
  if (plan.tensorCores) {
    if (!splitAmongWarps(plan))
      return notTaken(why, tooLarge(plan, "8 warps"));
    unitK = 2 * plan.a.tile.chunkElements();
  } else {
    if (!splitAmongThreads(plan, elementBytes(info->accumulator)))
      return notTaken(why, tooLarge(plan, "512 threads"));
    unitK = std::max(plan.a.kIsCol ? plan.a.tile.chunkElements() : 1,
                     plan.b.kIsCol ? plan.b.tile.chunkElements() : 1);
  }

  // Stages of 64 bytes along k, as long as whole ones make up a step.
  int64_t bytes = std::max(plan.a.tile.elementBytes, plan.b.tile.elementBytes);
  plan.depth = std::max(unitK, 64 / bytes);
  if (plan.k % plan.depth != 0)
    plan.depth = llvm::alignTo(plan.k, unitK);
  plan.subSteps = llvm::divideCeil(plan.k, plan.depth);
  layOutTiles(plan);
  plan.stages =
      std::min<int64_t>(4, target.mainloopSharedBytes / plan.stageBytes());
  if (plan.stages < 2)
    return notTaken(why, "a stage of " + Twine(plan.stageBytes()) +
                             " bytes fits only once into the " +
                             Twine(target.mainloopSharedBytes) +
                             " bytes of shared memory");
  return plan;
}
