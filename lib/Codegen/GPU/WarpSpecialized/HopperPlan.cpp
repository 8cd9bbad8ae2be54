//===- HopperPlan.cpp - A mainloop on Hopper's tensor cores ---------------===//

#include "HopperNest.h"

#include "Codegen/GPU/Common/Scales.h"
#include "Codegen/GPU/Common/TensorCores.h"

#include "pit/Codegen/Common/MathExpansions.h"
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
/// Rows that each warp that issues boxes of rows keeps in registers.
static constexpr int64_t kRowsOfWarp = 32;
/// Bytes that are copied at once to rows that no tile writes: more, if stages
/// leave them.
static constexpr int64_t kLeastFill = 1024;
static constexpr int64_t kMostFill = 8192;

//===----------------------------------------------------------------------===//
// What is known
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

/// Finds out how the rows of an operand are selected; fails if no loader takes
/// them. `takesElements`: ids of the steps may select elements of rows.
static LogicalResult describeRows(ViewOp view, bool takesElements,
                                  HopperOperand &operand, std::string &why) {
  auto type = cast<MemRefType>(view.getSrc().getType());
  int outerDim = operand.outerDim(), kDim = operand.kDim();
  if (!isa<BlockArgument>(view.getSrc()) || !type.isLastDimUnitStride() ||
      type.getRank() > 5) {
    return notTaken(
        why,
        "an operand is no tensor of at most 5 dimensions whose rows are in "
        "one piece");
  }
  int lastDim = operand.isTransposed ? operand.rowDim : operand.colDim;
  if (lastDim != type.getRank() - 1)
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
      if (!isK || operand.kIsCol)
        return notTaken(why, "an operand is packed along k, within rows");
      // The rows after a group's last one are the next group's, and may be no
      // numbers: they are not to be loaded, as others that do not exist.
      operand.isGathered = operand.kIsPacked = true;
      continue;
    }
    if (!(isOuter && operand.kIsCol) && !(isK && !operand.kIsCol) &&
        !(isK && takesElements))
      return notTaken(why, "ids select elements of a row");
    operand.isGathered = true;
    operand.kIsGathered = isK;
  }
  return success();
}

/// The same of all views of an operand, which have to be alike.
static LogicalResult describeRows(MainloopOp mainloop, bool takesElements,
                                  HopperOperand &operand, std::string &why) {
  HopperOperand undescribed = operand;
  for (unsigned view : operand.views) {
    HopperOperand other = undescribed;
    if (failed(
            describeRows(mainloop.getLoaded(view), takesElements, other, why)))
      return failure();
    if (view == operand.views.front())
      operand = other;
    else if (other.isGathered != operand.isGathered ||
             other.kIsGathered != operand.kIsGathered ||
             other.kIsPacked != operand.kIsPacked)
      return notTaken(why, "ids select rows of some of an operand's tiles");
  }
  return success();
}

static void swapOperands(HopperPlan &plan) {
  std::swap(plan.a, plan.b);
  std::swap(plan.mDim, plan.nDim);
  std::swap(plan.tileM, plan.tileN);
  for (std::array<unsigned, 2> &pair : plan.pairs)
    std::swap(pair[0], pair[1]);
}

/// Has a tile fewer columns than wgmma has rows, or as many, and enough rows
/// for both consumers?
static bool isNarrowTile(int64_t rows, int64_t columns) {
  return columns <= kWgmmaRows && rows >= kConsumers * kWgmmaRows;
}

/// What is known before anything is decided but whether the result's tile is
/// computed transposed.
static std::optional<HopperPlan> describe(const MainloopNest &nest,
                                          const GpuTarget &target,
                                          bool transposed, std::string &why) {
  MainloopOp mainloop = nest.mainloop;
  std::optional<ContractionInfo> info = describeContraction(mainloop, why);
  if (!info)
    return std::nullopt;
  bool isSmall = isF8(info->a.element) && isF8(info->b.element) &&
                 info->accumulator.isF32() && info->isMultiplyAdd &&
                 info->padsZero;
  if (!isSmall && !fitsTensorCores(*info, mainloop.getTf32()))
    return notTaken(why, "tensor cores do not take these operands");
  Type element = info->a.element;
  if (!isSmall && !element.isF16() && !element.isBF16() && !element.isF32())
    return notTaken(why, "wgmma is used for f16, bf16, tf32 and f8");
  HopperPlan plan(target);
  plan.threads = kHopperThreads;
  plan.producers = kWarps;
  if (failed(checkScales(mainloop, info->mDim, info->nDim, why)))
    return std::nullopt;
  plan.addsStages = isSmall || mainloop.getNumScales() > 0;
  plan.mDim = info->mDim;
  plan.nDim = info->nDim;
  plan.tileM = info->m;
  plan.tileN = info->n;
  plan.tileK = info->k;
  plan.a = HopperOperand(info->a, 0);
  plan.b = HopperOperand(info->b, 1);
  plan.pairs = info->pairs;
  for (const HopperOperand *operand : {&plan.a, &plan.b})
    if (operand->rowDim < 0 || operand->colDim < 0)
      return notTaken(why, "an operand is a vector");
  // A thread's accumulators lie along n; so should the result, if it has
  // enough rows.
  if (plan.isTransposed() != transposed)
    swapOperands(plan);
  // wgmma takes f8 and tf32 along k only: of others it reads a copy.
  for (HopperOperand *operand : {&plan.a, &plan.b})
    if (operand->elementBytes != 2 && !operand->kIsCol) {
      operand->isTransposed = operand->kIsCol = true;
      std::swap(operand->rowDim, operand->colDim);
    }
  if (failed(describeRows(mainloop, /*takesElements=*/false, plan.a, why)))
    return std::nullopt;
  plan.isNarrow = transposed || (plan.a.kIsGathered && !nest.chunks &&
                                 isNarrowTile(plan.tileM, plan.tileN));
  // Elements of n rows are few enough.
  bool takesElements = plan.isNarrow && plan.b.elementBytes == 2;
  if (failed(describeRows(mainloop, takesElements, plan.b, why)))
    return std::nullopt;
  auto isByStep = [](const HopperOperand &operand) {
    return operand.kIsGathered || operand.kIsPacked;
  };
  if (mainloop.getIndex() && isByStep(plan.a) != isByStep(plan.b))
    return notTaken(why, "ids of the steps select rows of one operand only");
  return plan;
}

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

/// Does the k dimension of the operands end where the tile does?
static bool coversK(MainloopOp mainloop, const HopperOperand &operand,
                    int64_t k) {
  int kDim = operand.kDim();
  return !mainloop.getIndex() &&
         llvm::all_of(operand.views, [&](unsigned view) {
           Type source = mainloop.getLoaded(view).getSrc().getType();
           return cast<MemRefType>(source).getDimSize(kDim) == k;
         });
}

/// A consumer computes a multiple of so many columns.
static int64_t unitN(const HopperPlan &plan) {
  if (plan.b.kIsCol)
    return 8;
  return (plan.isNarrow ? kShortestLine : kLineBytes) / plan.b.elementBytes;
}

/// May rows that ids select be loaded one by one?
static bool takesRowGather(const HopperOperand &operand) {
  return !operand.kIsGathered && !operand.kIsPacked &&
         operand.outer <= kRowWarps * kRowsOfWarp &&
         operand.outer % kRowWarps == 0;
}

/// The blocks of a cluster, neighbours along m, go through the same steps, and
/// each loads a part of b. Can so many blocks do that?
static bool canShareLoads(const MainloopNest &nest, const HopperPlan &plan,
                          int64_t cluster) {
  const HopperOperand &b = plan.b;
  return !plan.isNarrow && !MainloopNest(nest).mainloop.getIndex() &&
         !loadsDependOn(nest, b, tileDim(nest, plan.a)) &&
         b.loader == Loader::TmaTile &&
         (b.kIsCol ? b.rows % (cluster * kSwizzleLines) == 0
                   : b.blocks % cluster == 0);
}

/// Do stages make up the steps, and the consumers' wgmmas the tile?
static LogicalResult checkTile(const HopperPlan &plan, MainloopOp mainloop,
                               std::string &why) {
  // Of a narrow tile, lines along n may be shorter.
  int64_t line = kLineBytes / plan.a.elementBytes, k = plan.tileK;
  bool isLine = plan.a.kIsCol || (plan.b.kIsCol && !plan.isNarrow);
  int64_t unit = isLine ? line : plan.wgmmaDepth();
  if (plan.depth % unit || plan.depth > line)
    return notTaken(why, "its depth has to be a multiple of " + Twine(unit) +
                             " up to " + Twine(line));
  if (!llvm::isPowerOf2_64(plan.depth))
    return notTaken(why, "its depth has to be a power of two");
  if (k % plan.depth != 0 &&
      !(coversK(mainloop, plan.a, k) && coversK(mainloop, plan.b, k)))
    return notTaken(why, "steps of " + Twine(k) +
                             " along k are no multiple of " +
                             Twine(plan.depth));
  if (plan.m < plan.tileM || plan.n < plan.tileN)
    return notTaken(why, "its m and n are less than the tile's " +
                             Twine(plan.tileM) + " x " + Twine(plan.tileN));
  if (plan.perN() % unitN(plan) != 0)
    return notTaken(why, "each consumer has to compute a multiple of " +
                             Twine(unitN(plan)) + " columns, not " +
                             Twine(plan.perN()));
  if (plan.elements() > kMaxAccumulators || plan.perN() > 256) {
    std::string tiles = plan.pairs.size() == 1
                            ? "a tile of "
                            : std::to_string(plan.pairs.size()) + " tiles of ";
    return notTaken(why, tiles + Twine(plan.tileM) + " x " + Twine(plan.tileN) +
                             (plan.pairs.size() == 1 ? " has" : " have") +
                             " more accumulators than two warpgroups hold");
  }
  if (plan.addsStages &&
      plan.elements() + plan.accumulators() > kMaxAddedAccumulators)
    return notTaken(why, "its " + Twine(plan.perN()) +
                             " columns that one wgmma multiplies leave "
                             "no registers to add the sums of each stage");
  return success();
}

static LogicalResult checkLoader(const HopperOperand &operand,
                                 MainloopOp mainloop, std::string &why) {
  if (operand.isGathered == (operand.loader == Loader::TmaTile))
    return notTaken(why, stringifyLoader(operand.loader) + " does not load " +
                             (operand.isGathered ? "rows that ids select"
                                                 : "consecutive rows") +
                             ", those of operand " + Twine(operand.number));
  if (operand.loader == Loader::TmaRowGather && !takesRowGather(operand))
    return notTaken(
        why, "tma_row_gather loads a multiple of " + Twine(kRowWarps) +
                 " rows up to " + Twine(kRowWarps * kRowsOfWarp) +
                 ", the same in all steps, not the " + Twine(operand.rows) +
                 " of operand " + Twine(operand.number));
  if (operand.loader != Loader::TmaTile && operand.views.size() > 1)
    return notTaken(why, stringifyLoader(operand.loader) +
                             " loads one tile of an operand, not the " +
                             Twine(operand.views.size()) + " of operand " +
                             Twine(operand.number));
  if (operand.loader == Loader::CpAsyncGather && operand.isTransposed)
    return notTaken(why, "cp_async_gather loads rows that lie along k, as "
                         "those of operand " +
                             Twine(operand.number) + " do not");
  ViewOp view = mainloop.getLoaded(operand.views.front());
  if (operand.loader == Loader::CpAsyncGather &&
      !operand.isGatheredByElement() &&
      !isMultiple(view.getSubscripts()[operand.colDim],
                  kChunkBytes / operand.elementBytes))
    return notTaken(why,
                    "gathered rows are not read from multiples of 16 bytes on");
  return success();
}

/// Ids that are loaded ahead are those of one tile after another.
static LogicalResult checkStream(const HopperPlan &plan,
                                 const MainloopNest &nest, std::string &why) {
  if (plan.streamsIds() && nest.chunks)
    return notTaken(why, "ids select its tiles and its steps, too");
  return success();
}

/// What blocks do together, and what they have shared memory for.
static LogicalResult checkBlocks(const HopperPlan &plan,
                                 const MainloopNest &nest,
                                 const GpuTarget &target, std::string &why) {
  if (plan.cluster > 1 && (!canShareLoads(nest, plan, plan.cluster) ||
                           tileDim(nest, plan.a) == kNoDim))
    return notTaken(why, "clusters of " + Twine(plan.cluster) +
                             " blocks have no tiles along m for which each "
                             "loads a part of the other operand");
  if (plan.parts > 1 && !canShareTiles(nest, plan))
    return notTaken(why, "blocks share tiles in parts only if the number of "
                         "steps is known or tiles of few rows or columns say "
                         "which ids there are, no index gives chunks, no sum "
                         "is atomic and there is one accumulator");
  int64_t steps = stagesOfTile(nest.mainloop, plan.subSteps);
  if (plan.parts > 1 && steps >= 0 && plan.parts > steps)
    return notTaken(why, "a tile of " + Twine(steps) + " steps has no " +
                             Twine(plan.parts) + " parts");
  if (plan.strips > 1 && !canHaveStrips(nest, plan))
    return notTaken(why, "strips are of results that groups of an index add to "
                         "atomically, in tiles along n");
  if (plan.sharedBytes() > target.blockSharedBytes)
    return notTaken(why, "it takes " + Twine(plan.sharedBytes()) +
                             " bytes of shared memory; a block of " +
                             target.chip + " has " +
                             Twine(target.blockSharedBytes));
  return success();
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Which scales are copied with each stage: all, or none.
static SmallVector<HopperScales> listScales(MainloopOp mainloop,
                                            const HopperPlan &plan) {
  SmallVector<HopperScales> found;
  int64_t offset = 0;
  for (unsigned i = 0; i < plan.pairs.size(); ++i)
    for (const ScaleView &scale :
         scaleViews(mainloop, i, plan.mDim, plan.nDim)) {
      if (llvm::any_of(found, [&](const HopperScales &other) {
            return other.view == scale.view;
          }))
        continue;
      ViewOp view = mainloop.getLoaded(scale.view);
      if (elementBytes(getElementTypeOrSelf(view.getSrc().getType())) !=
          kScaleBytes)
        return {};
      int64_t count = scale.alongM ? plan.m : scale.alongN ? plan.n : 1;
      found.push_back({scale.view, count, offset});
      offset += llvm::alignTo(count * kScaleBytes, kChunkBytes);
    }
  return found;
}

/// What follows from the tile's extents and the depth.
static void layOut(HopperPlan &plan, MainloopOp mainloop) {
  plan.scales = listScales(mainloop, plan);
  plan.subSteps = llvm::divideCeil(plan.tileK, plan.depth);
  plan.a.outer = plan.m;
  plan.b.outer = plan.n;
  for (HopperOperand *operand : {&plan.a, &plan.b}) {
    // The longest lines that make up the rows.
    int64_t bytes =
        (operand->kIsCol ? plan.depth : operand->outer) * operand->elementBytes;
    operand->lineBytes = kLineBytes;
    if (operand == &plan.b && plan.isNarrow)
      while (operand->lineBytes > kShortestLine &&
             bytes % operand->lineBytes != 0)
        operand->lineBytes /= 2;
    operand->rows = operand->kIsCol ? operand->outer : plan.depth;
    operand->blocks = llvm::divideCeil(
        operand->kIsCol ? plan.depth : operand->outer, operand->lineElements());
  }
}

/// The fewest stages that keep as many bytes on their way as memory wants.
static constexpr int64_t kWantedStages = 4;

/// A narrow tile: what lies along m fills wgmma's 64 rows, and what lies along
/// n is as wide as it is.
static void chooseNarrowTile(HopperPlan &plan, MainloopOp mainloop,
                             const GpuTarget &target) {
  plan.m = llvm::alignTo(plan.tileM, kConsumers * kWgmmaRows);
  plan.n = llvm::alignTo(plan.tileN, unitN(plan));
  plan.depth = plan.a.lineElements();
  layOut(plan, mainloop);
  plan.stages = kWantedStages;
  auto isTooDeep = [&] {
    return plan.tileK % plan.depth != 0 ||
           plan.sharedBytes() > target.blockSharedBytes;
  };
  while (!plan.a.kIsCol && plan.depth > plan.wgmmaDepth() && isTooDeep()) {
    plan.depth /= 2;
    layOut(plan, mainloop);
  }
}

static void chooseTile(HopperPlan &plan, MainloopOp mainloop) {
  // A stage is a line deep, where k runs along lines.
  plan.depth = plan.a.lineElements();
  if (!plan.a.kIsCol && !plan.b.kIsCol)
    while (plan.tileK % plan.depth != 0 && plan.depth > plan.wgmmaDepth())
      plan.depth /= 2;
  // Both consumers take whole wgmmas.
  plan.m = llvm::alignTo(plan.tileM, kWgmmaRows);
  plan.splitN = plan.m % (kConsumers * kWgmmaRows) != 0;
  plan.n = llvm::alignTo(plan.tileN,
                         plan.splitN ? kConsumers * unitN(plan) : unitN(plan));
  layOut(plan, mainloop);
}

static Loader chooseLoader(const HopperPlan &plan,
                           const HopperOperand &operand) {
  if (!operand.isGathered)
    return Loader::TmaTile;
  double cycles = double(plan.m * plan.n * plan.depth * plan.pairs.size()) *
                  plan.a.elementBytes / 2 / kMultipliedPerCycle;
  // Chunks are read from the source, boxes from a copy, too.
  bool fewBoxes = operand.isTransposed || operand.rows * kBoxCycles <= cycles;
  return fewBoxes && takesRowGather(operand) ? Loader::TmaRowGather
                                             : Loader::CpAsyncGather;
}

/// As many stages as shared memory has room for, and then as many bytes to fill
/// rows with.
static LogicalResult chooseStages(HopperPlan &plan, const GpuTarget &target,
                                  std::string &why) {
  plan.fillBytes = plan.rows ? kLeastFill : 0;
  plan.stages = kMaxStages;
  while (plan.stages > 1 && plan.sharedBytes() > target.blockSharedBytes)
    --plan.stages;
  if (plan.stages < 2)
    return notTaken(why,
                    "two stages of the tile do not fit into shared memory");
  while (plan.rows && plan.fillBytes < kMostFill &&
         plan.sharedBytes() + plan.fillBytes + kLineBytes <=
             target.blockSharedBytes)
    plan.fillBytes *= 2;
  return success();
}

static std::optional<HopperPlan> planTile(const MainloopNest &nest,
                                          int64_t rows, const GpuTarget &target,
                                          bool transposed, std::string &why) {
  std::optional<HopperPlan> plan = describe(nest, target, transposed, why);
  if (!plan)
    return std::nullopt;
  if (plan->isNarrow)
    chooseNarrowTile(*plan, nest.mainloop, target);
  else
    chooseTile(*plan, nest.mainloop);
  if (failed(checkTile(*plan, nest.mainloop, why)) ||
      failed(checkStream(*plan, nest, why)))
    return std::nullopt;
  for (HopperOperand *operand : {&plan->a, &plan->b}) {
    operand->loader = chooseLoader(*plan, *operand);
    if (failed(checkLoader(*operand, nest.mainloop, why)))
      return std::nullopt;
  }
  int64_t cluster = chooseCluster(nest, plan->a);
  plan->cluster = canShareLoads(nest, *plan, cluster) ? cluster : 1;
  plan->rows = plan->isNarrow ? 0 : rows;
  if (failed(chooseStages(*plan, target, why)))
    return std::nullopt;
  plan->parts = chooseParts(nest, *plan, target);
  plan->strips = chooseStrips(nest, *plan);
  return plan;
}

/// In which orders a mainloop's tile may be computed: as it is or transposed,
/// what is better first. With fewer rows than wgmma has, but enough columns for
/// both consumers' 64, it is the latter, and also possible with as many. What
/// was not measured is left as it is: tiles that no group of an index makes few
/// rows of.
static SmallVector<bool> ordersOf(const MainloopNest &nest) {
  MainloopOp mainloop = MainloopNest(nest).mainloop;
  if (!mainloop.getIndex() && !nest.chunks)
    return {false};
  std::string why;
  std::optional<ContractionInfo> info = describeContraction(mainloop, why);
  if (!info)
    return {false};
  int64_t rows = info->mDim < info->nDim ? info->m : info->n;
  int64_t cols = info->mDim < info->nDim ? info->n : info->m;
  if (!isNarrowTile(cols, rows))
    return {false};
  return {rows < kWgmmaRows, rows == kWgmmaRows};
}

std::optional<HopperPlan> cuda::planHopper(const MainloopNest &nest,
                                           int64_t rows,
                                           const GpuTarget &target,
                                           std::string &why) {
  for (auto [i, transposed] : llvm::enumerate(ordersOf(nest))) {
    std::string whyNot;
    if (auto plan = planTile(nest, rows, target, transposed, whyNot))
      return plan;
    // What is wrong with the better one is to be said.
    if (i == 0)
      why = whyNot;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

HopperScheduleAttr HopperPlan::toAttribute(MLIRContext *context) const {
  return HopperScheduleAttr::get(context, a.number, m, n,
                                 splitN ? BoolAttr::get(context, true)
                                        : BoolAttr(),
                                 depth, stages, a.loader, b.loader, cluster,
                                 parts, strips, rows, fillBytes, sharedBytes());
}

std::optional<HopperPlan> HopperPlan::from(HopperScheduleAttr schedule,
                                           const MainloopNest &nest,
                                           const GpuTarget &target,
                                           std::string &why) {
  std::optional<ContractionInfo> info = describeContraction(nest.mainloop, why);
  if (!info)
    return std::nullopt;
  // Naturally a is along the result's earlier dimension.
  bool transposed = (schedule.getA() == 0) != (info->mDim < info->nDim);
  std::optional<HopperPlan> plan = describe(nest, target, transposed, why);
  if (!plan)
    return std::nullopt;
  plan->m = schedule.getM();
  plan->n = schedule.getN();
  plan->splitN = schedule.getSplitN() && schedule.getSplitN().getValue();
  plan->depth = schedule.getDepth();
  plan->stages = schedule.getStages();
  plan->a.loader = schedule.getLoadA();
  plan->b.loader = schedule.getLoadB();
  plan->cluster = schedule.getCluster();
  plan->parts = schedule.getParts();
  plan->strips = schedule.getStrips();
  plan->rows = schedule.getFillRows();
  plan->fillBytes = schedule.getFillBytes();
  layOut(*plan, nest.mainloop);
  if (failed(checkTile(*plan, nest.mainloop, why)) ||
      failed(checkStream(*plan, nest, why)) ||
      failed(checkLoader(plan->a, nest.mainloop, why)) ||
      failed(checkLoader(plan->b, nest.mainloop, why)) ||
      failed(checkBlocks(*plan, nest, target, why)))
    return std::nullopt;
  if (failed(checkSharedBytes(schedule, plan->sharedBytes(), why)))
    return std::nullopt;
  return plan;
}
