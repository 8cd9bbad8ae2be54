//===- PortablePlan.cpp - How a mainloop is computed ----------------------===//

#include "PortablePlan.h"

#include "Codegen/Common/Index.h"
#include "Codegen/GPU/Common/Lowering.h"
#include "Codegen/GPU/Common/MainloopNest.h"
#include "Codegen/GPU/Common/Scales.h"
#include "Codegen/GPU/Common/TensorCores.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr int64_t kMostStages = 4;
/// The fewest stages of a split that are worth it to share a tile; what ids
/// select takes longer to load.
static constexpr int64_t kLeastStages = 8, kLeastStagesOfList = 2;
/// The most splits: the last block reads the sums of all.
static constexpr int64_t kMostSplits = 32;
/// Blocks of two warps of scalar code that a multiprocessor is to run: their
/// threads have 168 registers each, enough for 64 sums. Without this, adding up
/// the splits would decide how many they have.
static constexpr int64_t kBlocksOfTwoWarps = 6;
/// So few rows take no longer to multiply than the other operand to read.
static constexpr int64_t kFewRows = 16;

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
  if (hasLines) {
    int64_t chunk =
        byte % lineBytes / kChunkBytes ^ row / rowsOfSwizzle() % chunksInLine();
    return byte / lineBytes * blockBytes() + row * lineBytes +
           chunk * kChunkBytes + byte % kChunkBytes;
  }
  int64_t chunk = (byte / kChunkBytes) ^
                  ((row / rowsPerLine() * swizzleStep) & swizzleMask());
  return row * pitch() + chunk * kChunkBytes + byte % kChunkBytes;
}

int64_t PortablePlan::neighbours() const {
  if (tensorCores())
    return b.alternates() ? 4 : 2;
  return b.runsAlongK() ? 1 : b.tile.chunkElements();
}

//===----------------------------------------------------------------------===//
// Sharing the work
//===----------------------------------------------------------------------===//

/// Elements of accumulators that a warp has room for: each takes a register,
/// and 128 of 255 leave room for the rest.
static int64_t mostOfWarp(const PortablePlan &plan) {
  return 64 * 64 / plan.pairs.size();
}
/// Elements of accumulators that a thread of scalar code has room for: half of
/// its registers. 512 threads have 128 each, fewer have 255.
static int64_t mostOfThread(const PortablePlan &plan, int64_t threads) {
  int64_t bytes = plan.accumulatorBytes * plan.pairs.size();
  return (threads > 256 ? 256 : 512) / bytes;
}

/// A thread of scalar code that reads along m or n reads whole chunks.
static int64_t unitM(const PortablePlan &plan) {
  return plan.a.runsAlongK() ? 1 : plan.a.tile.chunkElements();
}
static int64_t unitN(const PortablePlan &plan) {
  return plan.b.runsAlongK() ? 1 : plan.b.tile.chunkElements();
}

/// Splits the tile among warps of tensor cores.
static bool splitAmongWarps(PortablePlan &plan) {
  int64_t best = 0;
  for (int64_t warps : {1, 2, 4, 8})
    for (int64_t warpsM = 1; warpsM <= warps; warpsM *= 2) {
      int64_t warpsN = warps / warpsM;
      int64_t perM = llvm::alignTo(llvm::divideCeil(plan.tileM, warpsM), 16);
      int64_t perN = llvm::alignTo(llvm::divideCeil(plan.tileN, warpsN), 16);
      if (perM * perN > mostOfWarp(plan))
        continue;
      // Products of padding count most, then the reads of each warp, then
      // few warps (more blocks on a multiprocessor), but at least four.
      int64_t padded = warpsM * perM * warpsN * perN;
      int64_t reads = padded / perM + padded / perN;
      int64_t cost = padded * 64 + reads * 256 + (warps < 4 ? padded * 16 : 0);
      if (!best || cost < best) {
        best = cost;
        plan.share(warpsM, perM, warpsN, perN);
      }
    }
  return best != 0;
}

/// Splits the tile among threads of scalar code, each with `most` elements of
/// accumulators. A warp is 4 x 8 threads.
static bool splitAmongThreads(PortablePlan &plan,
                              function_ref<int64_t(int64_t)> most) {
  for (int64_t threads : {64, 128, 256, 512}) {
    int64_t best = 0;
    for (int64_t threadsM = 4; threadsM <= threads / 8; threadsM *= 2) {
      int64_t threadsN = threads / threadsM;
      int64_t perM =
          llvm::alignTo(llvm::divideCeil(plan.tileM, threadsM), unitM(plan));
      int64_t perN =
          llvm::alignTo(llvm::divideCeil(plan.tileN, threadsN), unitN(plan));
      if (perM * perN > most(threads))
        continue;
      int64_t cost = perM * perN * 16 + perM + perN;
      if (!best || cost < best) {
        best = cost;
        plan.share(threadsM, perM, threadsN, perN);
      }
    }
    if (best)
      return true;
  }
  return false;
}

static bool splitAmongThreads(PortablePlan &plan) {
  // A short side leaves little to reuse: more threads with fewer registers each
  // hide more of what they wait for.
  int64_t wanted =
      plan.accumulatorBytes > 4 || std::min(plan.tileM, plan.tileN) <= 32 ? 32
                                                                          : 64;
  auto all = [&](int64_t threads) { return mostOfThread(plan, threads); };
  auto few = [&](int64_t threads) {
    return std::min(wanted, all(threads) / 2);
  };
  // Tiles that are made for another schedule may need more.
  return splitAmongThreads(plan, few) || splitAmongThreads(plan, all);
}

void cuda::layOutTiles(PortablePlan &plan) {
  auto layOut = [&](PortableOperand &operand, int64_t outer) {
    SharedTile &tile = operand.tile;
    tile.rows = operand.runsAlongK() ? outer : plan.depth;
    tile.cols = llvm::alignTo(operand.runsAlongK() ? plan.depth : outer,
                              tile.chunkElements());
    // Half a warp loads pairs of words from two chunks of each of four rows.
    bool words =
        plan.tensorCores() && operand.alternates() && tile.elementBytes == 4;
    tile.swizzleStep = words ? 2 : 1;
  };
  layOut(plan.a, plan.m);
  layOut(plan.b, plan.n);
}

static std::string tooLarge(const PortablePlan &plan, StringRef workers) {
  return "a tile of " + std::to_string(plan.tileM) + " x " +
         std::to_string(plan.tileN) + " has more accumulators than " +
         workers.str() + " hold";
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Is the view padded with zeros?
static bool isPaddedWithZeros(ViewOp view) {
  TypedAttr pad = view.getPadAttr();
  if (auto value = dyn_cast_or_null<FloatAttr>(pad))
    return value.getValue().isPosZero();
  if (auto value = dyn_cast_or_null<IntegerAttr>(pad))
    return value.getValue().isZero();
  return !pad;
}

/// Can an operand, whose rows run along k, be turned on its way to shared
/// memory? Its elements are copied one by one then.
static bool canTranspose(MainloopOp mainloop, const PortablePlan &plan,
                         const PortableOperand &operand) {
  int64_t bytes = operand.tile.elementBytes;
  return !plan.tensorCores() && !plan.hasScales && operand.kIsCol &&
         operand.colDim >= 0 && operand.rowDim >= 0 &&
         (bytes == 4 || bytes == 8) &&
         llvm::all_of(operand.views, [&](unsigned number) {
           return isPaddedWithZeros(mainloop.getLoaded(number));
         });
}

/// Do ids select all that is along k, so that elements are copied one by one in
/// any case?
static bool isGathered(MainloopOp mainloop, const PortableOperand &operand) {
  return llvm::all_of(operand.views, [&](unsigned number) {
    ViewOp view = mainloop.getLoaded(number);
    return isa<IdsType>(view.getSubscripts()[operand.colDim].getType());
  });
}

/// Copies of single elements pay if each comes with so many products. Measured
/// with f32 tiles of 128 x 128 and 128 x 256 on an H200.
static constexpr int64_t kProductsOfCopy = 200;

/// Operands are turned, so that a thread holds its elements of one step along k
/// in registers, and not those of a chunk of steps; unless copies take too
/// long.
static void transposeOperands(MainloopOp mainloop, PortablePlan &plan) {
  int64_t copied = 0;
  for (auto [operand, outer] :
       {std::pair(&plan.a, plan.tileM), {&plan.b, plan.tileN}}) {
    operand->isTransposed = canTranspose(mainloop, plan, *operand);
    if (operand->isTransposed && !isGathered(mainloop, *operand))
      copied += outer;
  }
  if (copied * kProductsOfCopy <= plan.tileM * plan.tileN)
    return;
  for (PortableOperand *operand : {&plan.a, &plan.b})
    operand->isTransposed &= isGathered(mainloop, *operand);
}

/// The facts before any decision.
static OrRefusal<PortablePlan> describe(MainloopOp mainloop,
                                        const GpuTarget &target) {
  PortablePlan plan(target);
  OrRefusal<ContractionInfo> info = describeContraction(mainloop);
  if (!info)
    return info.refusal();
  plan.take(*info);
  plan.a = PortableOperand(info->a), plan.b = PortableOperand(info->b);
  plan.accumulatorBytes = elementBytes(info->accumulator);
  plan.hasScales = mainloop.getNumScales() > 0;
  plan.scalesOperands =
      plan.hasScales && info->isMultiplyAdd && info->accumulator.isF32();
  if (!plan.hasScales && fitsTensorCores(*info, mainloop.getTf32()))
    plan.multiply = Multiply::MmaSync;
  if (Refused refused = checkScales(mainloop, plan.mDim, plan.nDim))
    return *refused;
  transposeOperands(mainloop, plan);
  return plan;
}

/// A stage has a multiple of so many elements along k.
static int64_t unitK(const PortablePlan &plan) {
  if (plan.tensorCores())
    return 2 * plan.a.tile.chunkElements();
  return std::max(plan.a.runsAlongK() ? plan.a.tile.chunkElements() : 1,
                  plan.b.runsAlongK() ? plan.b.tile.chunkElements() : 1);
}

/// All of the plan but how many stages and blocks there are.
static OrRefusal<PortablePlan> divideWork(MainloopOp mainloop,
                                          const GpuTarget &target) {
  OrRefusal<PortablePlan> described = describe(mainloop, target);
  if (!described)
    return described.refusal();
  PortablePlan &plan = *described;
  if (plan.tensorCores() ? !splitAmongWarps(plan) : !splitAmongThreads(plan))
    return refuse(
        tooLarge(plan, plan.tensorCores() ? "8 warps" : "512 threads"));

  // Stages of 64 bytes along k, as long as whole ones make up a step. Where few
  // rows are multiplied with what lies along k, reading whole lines is all that
  // counts.
  int64_t bytes = std::max(plan.a.tile.elementBytes, plan.b.tile.elementBytes);
  const PortableOperand &wider = plan.tileM < plan.tileN ? plan.b : plan.a;
  bool readsLines = !plan.tensorCores() && wider.kIsCol &&
                    std::min(plan.tileM, plan.tileN) <= kFewRows;
  plan.depth = std::max(unitK(plan), (readsLines ? kLineBytes : 64) / bytes);
  if (plan.tileK % plan.depth != 0)
    plan.depth = llvm::alignTo(plan.tileK, unitK(plan));
  layOutTiles(plan);
  // Shorter ones, if no two of these fit.
  while (2 * plan.stageBytes() > target.mainloopSharedBytes &&
         plan.depth % (2 * unitK(plan)) == 0 &&
         plan.tileK % (plan.depth / 2) == 0) {
    plan.depth /= 2;
    layOutTiles(plan);
  }
  if (2 * plan.stageBytes() > target.mainloopSharedBytes)
    return refuse("a stage of ", plan.stageBytes(),
                  " bytes fits only once into the ", target.mainloopSharedBytes,
                  " bytes of shared memory");
  return plan;
}

/// Blocks that a multiprocessor is to run at once.
static int64_t chooseBlocks(const PortablePlan &plan, const GpuTarget &target) {
  // Scalar code with few accumulators leaves registers for a second block,
  // which works while the first one waits.
  int64_t accumulators =
      plan.perWorkerM() * plan.perWorkerN() * plan.pairs.size();
  bool two = !plan.tensorCores() && plan.threads() <= 256 &&
             accumulators * plan.a.tile.elementBytes <= 128 &&
             plan.sharedBytes() <= target.pairedSharedBytes;
  return two ? 2 : 1;
}

OrRefusal<PortablePlan> cuda::planPortable(MainloopOp mainloop,
                                           const GpuTarget &target) {
  OrRefusal<PortablePlan> plan = divideWork(mainloop, target);
  if (!plan)
    return plan.refusal();
  fitStages(*plan, kMostStages, target.mainloopSharedBytes);
  plan->blocks = chooseBlocks(*plan, target);
  return plan;
}

//===----------------------------------------------------------------------===//
// Split-K
//===----------------------------------------------------------------------===//

Refused cuda::checkSplit(func::FuncOp function, MainloopOp mainloop) {
  std::optional<MainloopNest> nest = matchMainloopNest(function);
  if (!nest)
    return refuse(kNoNest);
  if (nest->chunks || nest->forall.getIndex())
    return refuse("tiles of an index's chunks are not shared in splits");
  if (mainloop.getAtomic())
    return refuse("tiles that are added atomically are not shared in splits");
  if (!mainloop.isProduct() || !isMultiplyAdd(mainloop))
    return refuse("only sums of products are shared in splits");
  return {};
}

int64_t cuda::leastStagesOfSplit(MainloopOp mainloop) {
  return mainloop.getIndex() ? kLeastStagesOfList : kLeastStages;
}

void cuda::chooseSplitK(func::FuncOp function, MainloopOp mainloop,
                        const GpuTarget &target, PortablePlan &plan) {
  if (checkSplit(function, mainloop))
    return;
  int64_t tiles = 1; // that there are, whatever the sizes
  ForallOp forall = matchMainloopNest(function)->forall;
  for (auto [lower, upper, step] :
       llvm::zip(forall.getLower(), forall.getUpper(), forall.getSteps()))
    tiles *= std::max<int64_t>(1, tripsOf(lower, upper, step));
  int64_t stages = stagesOfTile(mainloop, plan.subSteps());
  bool areFew =
      2 * tiles <= target.multiprocessors * blocksThatShare(plan.threads());
  if (!areFew || (stages >= 0 && stages < 2 * kLeastStages))
    return;
  plan.splits =
      stages < 0 ? kMostSplits : std::min(stages / kLeastStages, kMostSplits);
  if (!plan.tensorCores() && plan.threads() == 2 * kWarp)
    plan.blocks = std::max(plan.blocks, kBlocksOfTwoWarps);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

GpuScheduleAttr PortablePlan::toAttribute(MLIRContext *context) const {
  return KernelPlan::toAttribute(context, sharedBytes(),
                                 {a.tile.swizzleStep, b.tile.swizzleStep}, {});
}

/// Do the workers compute the tile, within the registers that they have?
static Refused checkWorkers(const PortablePlan &plan) {
  if (plan.m < plan.tileM || plan.n < plan.tileN)
    return refuse("its workers compute ", plan.m, " x ", plan.n,
                  " elements of a tile of ", plan.tileM, " x ", plan.tileN);
  if (plan.tensorCores()) {
    if (plan.perWorkerM() * plan.perWorkerN() > mostOfWarp(plan))
      return refuse(tooLarge(plan, "its warps"));
    return {};
  }
  if (plan.perWorkerM() % unitM(plan) || plan.perWorkerN() % unitN(plan))
    return refuse("its threads have to compute multiples of ", unitM(plan),
                  " x ", unitN(plan));
  if (plan.perWorkerM() * plan.perWorkerN() >
      mostOfThread(plan, plan.threads()))
    return refuse(tooLarge(plan, "its threads"));
  return {};
}

static Refused checkDepth(const PortablePlan &plan) {
  if (plan.depth % unitK(plan))
    return refuse("its depth has to be a multiple of ", unitK(plan));
  if (plan.tileK % plan.depth && plan.depth < plan.tileK)
    return refuse("its depth has to divide the tile's ", plan.tileK,
                  " along k, or cover them");
  return {};
}

OrRefusal<PortablePlan> PortablePlan::from(GpuScheduleAttr schedule,
                                           MainloopOp mainloop,
                                           const GpuTarget &target) {
  OrRefusal<PortablePlan> plan = describe(mainloop, target);
  if (!plan)
    return plan.refusal();
  if (schedule.getMultiply() == Multiply::MmaSync && !plan->tensorCores())
    return refuse("tensor cores do not take these operands");
  plan->take(schedule);
  layOutTiles(*plan);
  if (DenseI64ArrayAttr swizzles = schedule.getSwizzles()) {
    plan->a.tile.swizzleStep = swizzles[0];
    plan->b.tile.swizzleStep = swizzles[1];
  } else {
    plan->a.tile.swizzleStep = plan->b.tile.swizzleStep = 1;
  }
  if (Refused refused = checkWorkers(*plan))
    return *refused;
  if (Refused refused = checkDepth(*plan))
    return *refused;
  if (Refused refused = checkSharedBytes(schedule, plan->sharedBytes(),
                                         target.mainloopSharedBytes, target))
    return *refused;
  return plan;
}
