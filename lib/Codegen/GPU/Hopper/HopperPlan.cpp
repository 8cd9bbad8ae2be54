//===- HopperPlan.cpp - A mainloop on Hopper's tensor cores ---------------===//

#include "HopperPlan.h"

#include "Codegen/GPU/Common/TensorCores.h"

#include "pit/Dialect/Pit/IR/NotTaken.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr int64_t kMaxStages = 8;
/// Cycles of a multiprocessor that one box takes to issue (measured), and
/// elements m * n * k that its tensor cores multiply in one cycle, of 16 bits.
static constexpr double kBoxCycles = 5.5;
static constexpr int64_t kMultipliedPerCycle = 2048;
/// Rows that a box may cover.
static constexpr int64_t kMaxBoxRows = 256;
/// Warps that issue boxes of rows, and rows that each keeps in registers.
static constexpr int64_t kRowWarps = 4;
static constexpr int64_t kRowsOfWarp = 32;
/// Bytes that are copied at once to rows that no tile writes: more, if stages
/// leave them.
static constexpr int64_t kLeastFill = 1024;
static constexpr int64_t kMostFill = 8192;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

int64_t HopperOperand::offsetOf(int64_t row, int64_t col) const {
  int64_t byte = col % lineElements() * elementBytes;
  int64_t chunk = (byte / kChunkBytes) ^ (row % kSwizzleLines);
  return col / lineElements() * blockBytes() + row * kLineBytes +
         chunk * kChunkBytes + byte % kChunkBytes;
}

int64_t HopperOperand::outerOffset(int64_t at) const {
  return kIsCol ? at * kLineBytes : at / lineElements() * blockBytes();
}

int64_t HopperOperand::kStepBytes() const {
  // 32 bytes of a line, or as many lines as that has elements.
  return kIsCol ? 32 : 32 / elementBytes * kLineBytes;
}

int64_t HopperOperand::descriptor() const {
  // PTX, "Matrix descriptor": in units of 16 bytes, the distance of blocks
  // (without meaning where k runs along lines: there is one block) and of
  // groups of 8 lines; then the kind of swizzle, 1 for 128 bytes.
  int64_t leading = (kIsCol ? 16 : blockBytes()) >> 4;
  int64_t stride = kSwizzleBytes >> 4;
  return leading << 16 | stride << 32 | int64_t(1) << 62;
}

int64_t HopperOperand::boxRows() const {
  if (loader != Loader::TmaTile)
    return 1;
  // Boxes do not overlap.
  int64_t boxes = llvm::divideCeil(rows, kMaxBoxRows);
  while (rows % boxes != 0)
    ++boxes;
  return rows / boxes;
}

int64_t HopperPlan::producerRegisters() const {
  // The ids of the next steps, or rows that are known for all steps.
  // What fills rows comes on top of these.
  if (a.kIsGathered || b.kIsGathered || rows)
    return 88;
  if (has(Loader::TmaRowGather))
    return 72;
  return has(Loader::CpAsyncGather) ? 56 : 40;
}

int64_t HopperPlan::consumerRegisters() const {
  // Of each thread when the kernel starts. Roles share these: a consumer that
  // waits for more than the producers give back waits forever.
  int64_t entry = registers / kHopperThreads / 8 * 8;
  int64_t all = entry * (1 + kConsumers);
  return (all - producerRegisters()) / kConsumers / 8 * 8;
}

int64_t HopperPlan::rowsOffset() const {
  return storeOffset() + kConsumers * (kWarpgroup / 32) * kStoreBytes;
}

int64_t HopperPlan::fillOffset() const {
  return rowsOffset() + llvm::alignTo(llvm::divideCeil(rows, 8), kLineBytes);
}

int64_t HopperPlan::sharedBytes() const { return fillOffset() + fillBytes; }

int64_t HopperPlan::fullCount() const {
  int64_t threads = has(Loader::CpAsyncGather) ? kWarpgroup : 0;
  if (has(Loader::TmaRowGather))
    return threads + kRowWarps; // a leader of each
  return threads + (has(Loader::TmaTile) ? 1 : 0);
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Is the ids value one of consecutive positions?
static bool isPositions(Value ids) {
  auto argument = cast<BlockArgument>(ids);
  Operation *owner = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<ForallOp>(owner))
    return ids == loop.getPositions();
  if (auto loop = dyn_cast<ForOp>(owner))
    return ids == loop.getPositions();
  return argument.getArgNumber() + 1 == argument.getOwner()->getNumArguments();
}

/// Is `subscript` a multiple of `unit`, as far as can be seen: a loop's
/// variable from 0 on?
static bool isMultiple(Value subscript, int64_t unit) {
  auto argument = dyn_cast<BlockArgument>(subscript);
  if (!argument)
    return matchPattern(subscript, m_Zero());
  Operation *owner = argument.getOwner()->getParentOp();
  auto check = [&](OperandRange lower, ArrayRef<int64_t> steps) {
    unsigned i = argument.getArgNumber();
    return i < steps.size() && steps[i] % unit == 0 &&
           matchPattern(lower[i], m_Zero());
  };
  if (auto loop = dyn_cast<ForallOp>(owner))
    return check(loop.getLower(), loop.getSteps());
  if (auto mainloop = dyn_cast<MainloopOp>(owner))
    return check(mainloop.getLower(), mainloop.getSteps());
  return false;
}

/// Decides how an operand is loaded; fails if it cannot be.
static LogicalResult chooseLoader(MainloopOp mainloop, HopperOperand &operand,
                                  bool fewBoxes, std::string &why) {
  ViewOp view = mainloop.getLoaded(operand.number);
  auto type = cast<MemRefType>(view.getSrc().getType());
  int outerDim = operand.kIsCol ? operand.rowDim : operand.colDim;
  int kDim = operand.kIsCol ? operand.colDim : operand.rowDim;
  if (!isa<BlockArgument>(view.getSrc()) || !type.isLastDimUnitStride() ||
      type.getRank() > 5) {
    return notTaken(
        why,
        "an operand is no tensor of at most 5 dimensions whose rows are in "
        "one piece");
  }
  if (operand.colDim != type.getRank() - 1)
    return notTaken(why, "an operand's last dimension is of one element");
  for (auto [d, subscript] : llvm::enumerate(view.getSubscripts())) {
    if (!isa<IdsType>(subscript.getType()))
      continue;
    bool isOuter = static_cast<int>(d) == outerDim;
    bool isK = static_cast<int>(d) == kDim;
    if (isPositions(subscript)) {
      if (isOuter && !operand.kIsCol)
        return notTaken(why, "an operand is packed along its last dimension");
      if (isOuter)
        continue;
      return notTaken(why, "an operand is packed along k");
    }
    if (!(isOuter && operand.kIsCol) && !(isK && !operand.kIsCol))
      return notTaken(why, "ids select elements of a row");
    operand.kIsGathered = isK;
    bool rowGather = isOuter && fewBoxes &&
                     operand.outer <= kRowWarps * kRowsOfWarp &&
                     operand.outer % kRowWarps == 0;
    operand.loader = rowGather ? Loader::TmaRowGather : Loader::CpAsyncGather;
  }
  if (operand.loader == Loader::CpAsyncGather &&
      !isMultiple(view.getSubscripts()[operand.colDim],
                  kChunkBytes / operand.elementBytes)) {
    return notTaken(why,
                    "gathered rows are not read from multiples of 16 bytes on");
  }
  return success();
}

/// Does the k dimension of the operands end where the tile does?
static bool coversK(MainloopOp mainloop, const HopperOperand &operand,
                    int64_t k) {
  ViewOp view = mainloop.getLoaded(operand.number);
  int kDim = operand.kIsCol ? operand.colDim : operand.rowDim;
  return cast<MemRefType>(view.getSrc().getType()).getDimSize(kDim) == k &&
         !mainloop.getIndex();
}

static HopperOperand takeOver(const ContractionOperand &operand,
                              unsigned number) {
  HopperOperand taken;
  taken.number = number;
  taken.rowDim = operand.rowDim;
  taken.colDim = operand.colDim;
  taken.kIsCol = operand.kIsCol;
  taken.elementBytes = operand.elementBytes;
  return taken;
}

std::optional<HopperPlan> cuda::planHopper(MainloopOp mainloop,
                                           const GpuTarget &target,
                                           int64_t cluster, int64_t rows,
                                           std::string &why) {
  std::optional<ContractionInfo> info = describeContraction(mainloop, why);
  if (!info)
    return std::nullopt;
  if (!fitsTensorCores(*info, mainloop.getTf32()))
    return notTaken(why, "tensor cores do not take these operands");
  Type element = info->a.element;
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return notTaken(why, "wgmma is used for f16, bf16 and tf32");
  HopperPlan plan;
  plan.cluster = cluster;
  plan.rows = rows;
  plan.registers = target.multiprocessorRegisters;
  plan.vectorAtomics = target.vectorAtomics;
  plan.mDim = info->mDim;
  plan.nDim = info->nDim;
  plan.a = takeOver(info->a, 0);
  plan.b = takeOver(info->b, 1);
  for (const HopperOperand *operand : {&plan.a, &plan.b})
    if (operand->rowDim < 0 || operand->colDim < 0)
      return notTaken(why, "an operand is a vector");
  int64_t m = info->m, n = info->n, k = info->k;
  // A thread's accumulators lie along n; so should the result.
  if (plan.mDim > plan.nDim) {
    std::swap(plan.a, plan.b);
    std::swap(plan.mDim, plan.nDim);
    std::swap(m, n);
  }

  if (element.isF32() && !(plan.a.kIsCol && plan.b.kIsCol))
    return notTaken(why, "wgmma takes tf32 operands along k only");

  // A stage is a line deep, where k runs along lines.
  int64_t line = plan.a.lineElements();
  plan.depth = line;
  if (!plan.a.kIsCol && !plan.b.kIsCol)
    while (k % plan.depth != 0 && plan.depth > plan.wgmmaDepth())
      plan.depth /= 2;
  plan.subSteps = llvm::divideCeil(k, plan.depth);
  if (k % plan.depth != 0 &&
      !(coversK(mainloop, plan.a, k) && coversK(mainloop, plan.b, k))) {
    return notTaken(why, "steps of " + std::to_string(k) +
                             " along k are no multiple of " +
                             std::to_string(plan.depth));
  }

  // Both consumers take whole wgmmas.
  int64_t unitN = plan.b.kIsCol ? 8 : line;
  plan.m = llvm::alignTo(m, kWgmmaRows);
  plan.splitN = plan.m % (kConsumers * kWgmmaRows) != 0;
  plan.n = llvm::alignTo(n, plan.splitN ? kConsumers * unitN : unitN);
  if (plan.wgmmas() * plan.accumulators() > kMaxAccumulators ||
      plan.perN() > 256) {
    return notTaken(why, "a tile of " + std::to_string(m) + " x " +
                             std::to_string(n) +
                             " has more accumulators than two warpgroups hold");
  }
  plan.a.outer = plan.m;
  plan.b.outer = plan.n;
  for (HopperOperand *operand : {&plan.a, &plan.b}) {
    operand->rows = operand->kIsCol ? operand->outer : plan.depth;
    operand->blocks =
        llvm::divideCeil(operand->kIsCol ? plan.depth : operand->outer, line);
  }
  double cycles = double(plan.m * plan.n * plan.depth) *
                  (plan.a.elementBytes / 2) / kMultipliedPerCycle;
  for (HopperOperand *operand : {&plan.a, &plan.b}) {
    bool fewBoxes = operand->rows * kBoxCycles <= cycles;
    if (failed(chooseLoader(mainloop, *operand, fewBoxes, why)))
      return std::nullopt;
  }
  if (mainloop.getIndex() && plan.a.kIsGathered != plan.b.kIsGathered)
    return notTaken(why, "ids of the steps select rows of one operand only");
  // The blocks of a cluster go through the same steps, and each loads a part
  // of b.
  if (plan.cluster > 1 &&
      (mainloop.getIndex() || plan.b.loader != Loader::TmaTile ||
       (plan.b.kIsCol ? plan.b.rows % (plan.cluster * kSwizzleLines) != 0
                      : plan.b.blocks % plan.cluster != 0)))
    plan.cluster = 1;

  plan.fillBytes = rows ? kLeastFill : 0;
  int64_t fixed = plan.sharedBytes(); // of no stages
  plan.stages =
      std::min(kMaxStages, (target.blockSharedBytes - fixed - kLineBytes) /
                               (plan.stageBytes() + 16));
  if (plan.stages < 2) {
    return notTaken(why,
                    "two stages of the tile do not fit into shared memory");
  }
  while (rows && plan.fillBytes < kMostFill &&
         plan.sharedBytes() + plan.fillBytes + kLineBytes <=
             target.blockSharedBytes)
    plan.fillBytes *= 2;
  return plan;
}
