//===- HopperPlan.cpp - A mainloop on Hopper's tensor cores ---------------===//

#include "HopperNest.h"

#include "Codegen/GPU/Common/Scales.h"
#include "Codegen/GPU/Common/TensorCores.h"

#include "pit/Analysis/Refusal.h"
#include "pit/Codegen/Common/MathExpansions.h"

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
// Facts before decisions
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
static Refused describeRows(ViewOp view, bool takesElements,
                            HopperOperand &operand) {
  auto type = cast<MemRefType>(view.getSrc().getType());
  int outerDim = operand.outerDim(), kDim = operand.kDim();
  if (!isa<BlockArgument>(view.getSrc()) || !type.isLastDimUnitStride() ||
      type.getRank() > 5) {
    return refuse(
        "an operand is no tensor of at most 5 dimensions whose rows are in "
        "one piece");
  }
  int lastDim = operand.isTransposed ? operand.rowDim : operand.colDim;
  if (lastDim != type.getRank() - 1)
    return refuse("an operand's last dimension is of one element");
  for (auto [d, subscript] : llvm::enumerate(view.getSubscripts())) {
    if (!isa<IdsType>(subscript.getType()))
      continue;
    bool isOuter = static_cast<int>(d) == outerDim;
    bool isK = static_cast<int>(d) == kDim;
    if (isPositions(subscript)) {
      if (isOuter && !operand.kIsCol)
        return refuse("an operand is packed along its last dimension");
      if (isOuter)
        continue;
      if (!isK || operand.kIsCol)
        return refuse("an operand is packed along k, within rows");
      // The rows after a group's last one are the next group's, and may be no
      // numbers: they are not to be loaded, as others that do not exist.
      operand.isGathered = operand.kIsPacked = true;
      continue;
    }
    if (!(isOuter && operand.kIsCol) && !(isK && !operand.kIsCol) &&
        !(isK && takesElements))
      return refuse("ids select elements of a row");
    operand.isGathered = true;
    operand.kIsGathered = isK;
  }
  return {};
}

/// The same of all views of an operand, which have to be alike.
static Refused describeRows(MainloopOp mainloop, bool takesElements,
                            HopperOperand &operand) {
  HopperOperand undescribed = operand;
  for (unsigned view : operand.views) {
    HopperOperand other = undescribed;
    if (Refused refused =
            describeRows(mainloop.getLoaded(view), takesElements, other))
      return *refused;
    if (view == operand.views.front())
      operand = other;
    else if (other.isGathered != operand.isGathered ||
             other.kIsGathered != operand.kIsGathered ||
             other.kIsPacked != operand.kIsPacked)
      return refuse("ids select rows of some of an operand's tiles");
  }
  return {};
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
static bool isSkinnyTile(int64_t rows, int64_t columns) {
  return columns <= kWgmmaRows && rows >= kConsumers * kWgmmaRows;
}

/// The facts before any decision but whether the result's tile is
/// computed transposed.
static OrRefusal<HopperPlan>
describe(const MainloopNest &nest, const GpuTarget &target, bool transposed) {
  MainloopOp mainloop = nest.mainloop;
  OrRefusal<ContractionInfo> info = describeContraction(mainloop);
  if (!info)
    return info.refusal();
  bool isSmall = isF8(info->a.element) && isF8(info->b.element) &&
                 info->accumulator.isF32() && info->isMultiplyAdd &&
                 info->padsZero;
  if (!isSmall && !fitsTensorCores(*info, mainloop.getTf32()))
    return refuse("tensor cores do not take these operands");
  Type element = info->a.element;
  if (!isSmall && !element.isF16() && !element.isBF16() && !element.isF32())
    return refuse("wgmma is used for f16, bf16, tf32 and f8");
  HopperPlan plan(target);
  plan.multiply = Multiply::Wgmma;
  plan.producers = kWarps;
  if (Refused refused = checkScales(mainloop, info->mDim, info->nDim))
    return *refused;
  plan.addsStages = isSmall || mainloop.getNumScales() > 0;
  plan.take(*info);
  plan.a = HopperOperand(info->a, 0);
  plan.b = HopperOperand(info->b, 1);
  for (const HopperOperand *operand : {&plan.a, &plan.b})
    if (operand->rowDim < 0 || operand->colDim < 0)
      return refuse("an operand is a vector");
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
  if (Refused refused = describeRows(mainloop, /*takesElements=*/false, plan.a))
    return *refused;
  plan.isSkinny = transposed || (plan.a.kIsGathered && !nest.chunks &&
                                 isSkinnyTile(plan.tileM, plan.tileN));
  // Elements of n rows are few enough.
  bool takesElements = plan.isSkinny && plan.b.elementBytes == 2;
  if (Refused refused = describeRows(mainloop, takesElements, plan.b))
    return *refused;
  auto isByStep = [](const HopperOperand &operand) {
    return operand.kIsGathered || operand.kIsPacked;
  };
  if (mainloop.getIndex() && isByStep(plan.a) != isByStep(plan.b))
    return refuse("ids of the steps select rows of one operand only");
  return plan;
}

//===----------------------------------------------------------------------===//
// Which plans fit
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
  return (plan.isSkinny ? kShortestLine : kLineBytes) / plan.b.elementBytes;
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
  return !plan.isSkinny && !MainloopNest(nest).mainloop.getIndex() &&
         !loadsDependOn(nest, b, tileDim(nest, plan.a)) &&
         b.loader == Loader::TmaTile &&
         (b.kIsCol ? b.rows % (cluster * kSwizzleLines) == 0
                   : b.blocks % cluster == 0);
}

/// Do stages make up the steps, and the consumers' wgmmas the tile?
static Refused checkTile(const HopperPlan &plan, MainloopOp mainloop) {
  // A skinny tile may have shorter lines along n.
  int64_t line = kLineBytes / plan.a.elementBytes, k = plan.tileK;
  bool isLine = plan.a.kIsCol || (plan.b.kIsCol && !plan.isSkinny);
  int64_t unit = isLine ? line : plan.wgmmaDepth();
  if (plan.depth % unit || plan.depth > line)
    return refuse("its depth has to be a multiple of ", unit, " up to ", line);
  if (!llvm::isPowerOf2_64(plan.depth))
    return refuse("its depth has to be a power of two");
  if (k % plan.depth != 0 &&
      !(coversK(mainloop, plan.a, k) && coversK(mainloop, plan.b, k)))
    return refuse("steps of ", k, " along k are no multiple of ", plan.depth);
  if (plan.m < plan.tileM || plan.n < plan.tileN)
    return refuse("its tile is ", plan.m, " x ", plan.n, ", and has to be ",
                  plan.tileM, " x ", plan.tileN, " or larger");
  if (plan.perN() % unitN(plan) != 0)
    return refuse("each consumer has to compute a multiple of ", unitN(plan),
                  " columns, not ", plan.perN());
  if (plan.elements() > kMaxAccumulators || plan.perN() > 256) {
    std::string tiles = plan.pairs.size() == 1
                            ? "a tile of "
                            : std::to_string(plan.pairs.size()) + " tiles of ";
    return refuse(tiles + Twine(plan.tileM) + " x " + Twine(plan.tileN) +
                  (plan.pairs.size() == 1 ? " has" : " have") +
                  " more accumulators than two warpgroups hold");
  }
  if (plan.addsStages &&
      plan.elements() + plan.accumulators() > kMaxAddedAccumulators)
    return refuse("its ", plan.perN(),
                  " columns that one wgmma multiplies leave "
                  "no registers to add the sums of each stage");
  return {};
}

static Refused checkLoader(const HopperOperand &operand, MainloopOp mainloop) {
  if (operand.isGathered == (operand.loader == Loader::TmaTile))
    return refuse(
        stringifyLoader(operand.loader), " does not load ",
        (operand.isGathered ? "rows that ids select" : "consecutive rows"),
        ", those of operand ", operand.number);
  if (operand.loader == Loader::TmaRowGather && !takesRowGather(operand))
    return refuse("tma_row_gather loads a multiple of ", kRowWarps,
                  " rows up to ", kRowWarps * kRowsOfWarp,
                  ", the same in all steps, not the ", operand.rows,
                  " of operand ", operand.number);
  if (operand.loader != Loader::TmaTile && operand.views.size() > 1)
    return refuse(stringifyLoader(operand.loader),
                  " loads one tile of an operand, not the ",
                  operand.views.size(), " of operand ", operand.number);
  if (operand.loader == Loader::CpAsync && operand.isTransposed)
    return refuse("cp_async loads rows that lie along k, as "
                  "those of operand ",
                  operand.number, " do not");
  ViewOp view = mainloop.getLoaded(operand.views.front());
  if (operand.loader == Loader::CpAsync && !operand.isGatheredByElement() &&
      !isMultiple(view.getSubscripts()[operand.colDim],
                  kChunkBytes / operand.elementBytes))
    return refuse("gathered rows are not read from multiples of 16 bytes on");
  return {};
}

/// Ids that are loaded ahead are those of one tile after another.
static Refused checkStream(const HopperPlan &plan, const MainloopNest &nest) {
  if (plan.streamsIds() && nest.chunks)
    return refuse("ids select its tiles and its steps, too");
  return {};
}

/// Checks the common work of blocks.
static Refused checkBlocks(const HopperPlan &plan, const MainloopNest &nest) {
  if (plan.cluster > 1 && (!canShareLoads(nest, plan, plan.cluster) ||
                           tileDim(nest, plan.a) == kNoDim))
    return refuse("clusters of ", plan.cluster,
                  " blocks have no tiles along m for which each "
                  "loads a part of the other operand");
  if (plan.splits > 1 && !canShareTiles(nest, plan))
    return refuse("blocks share tiles in splits only if the number of "
                  "steps is known or tiles of few rows or columns say "
                  "which ids there are, no index gives chunks, no sum "
                  "is atomic and there is one accumulator");
  int64_t steps = stagesOfTile(nest.mainloop, plan.subSteps());
  if (plan.splits > 1 && steps >= 0 && plan.splits > steps)
    return refuse("a tile of ", steps, " steps has no ", plan.splits,
                  " splits");
  if (plan.columnBlocks > 1 && !canHaveColumnBlocks(nest, plan))
    return refuse("column blocks are of results that groups of an index add to "
                  "atomically, in tiles along n");
  return {};
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

/// Derives the layout from the tile's extents and the depth.
static void layOut(HopperPlan &plan, MainloopOp mainloop) {
  plan.scales = listScales(mainloop, plan);
  plan.a.outer = plan.m;
  plan.b.outer = plan.n;
  for (HopperOperand *operand : {&plan.a, &plan.b}) {
    // The longest lines that make up the rows.
    int64_t bytes =
        (operand->kIsCol ? plan.depth : operand->outer) * operand->elementBytes;
    operand->lineBytes = kLineBytes;
    if (operand == &plan.b && plan.isSkinny)
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

/// A skinny tile: what lies along m fills wgmma's 64 rows, and what lies along
/// n is as wide as it is.
static void chooseSkinnyTile(HopperPlan &plan, MainloopOp mainloop,
                             const GpuTarget &target) {
  plan.setSplitN(false);
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
  plan.setSplitN(plan.m % (kConsumers * kWgmmaRows) != 0);
  plan.n = llvm::alignTo(plan.tileN, plan.splitN() ? kConsumers * unitN(plan)
                                                   : unitN(plan));
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
                                             : Loader::CpAsync;
}

/// As many stages as shared memory has room for, and then as many bytes to fill
/// rows with.
static Refused chooseStages(HopperPlan &plan, const GpuTarget &target) {
  plan.fillBytes = plan.rows ? kLeastFill : 0;
  if (!fitStages(plan, kMaxStages, target.blockSharedBytes))
    return refuse("two stages of the tile do not fit into shared memory");
  while (plan.rows && plan.fillBytes < kMostFill &&
         plan.sharedBytes() + plan.fillBytes + kLineBytes <=
             target.blockSharedBytes)
    plan.fillBytes *= 2;
  return {};
}

static OrRefusal<HopperPlan> planTile(const MainloopNest &nest, int64_t rows,
                                      const GpuTarget &target,
                                      bool transposed) {
  OrRefusal<HopperPlan> plan = describe(nest, target, transposed);
  if (!plan)
    return plan.refusal();
  if (plan->isSkinny)
    chooseSkinnyTile(*plan, nest.mainloop, target);
  else
    chooseTile(*plan, nest.mainloop);
  if (Refused refused = checkTile(*plan, nest.mainloop))
    return *refused;
  if (Refused refused = checkStream(*plan, nest))
    return *refused;
  for (HopperOperand *operand : {&plan->a, &plan->b}) {
    operand->loader = chooseLoader(*plan, *operand);
    if (Refused refused = checkLoader(*operand, nest.mainloop))
      return *refused;
  }
  int64_t cluster = chooseCluster(nest, plan->a);
  plan->cluster = canShareLoads(nest, *plan, cluster) ? cluster : 1;
  plan->rows = plan->isSkinny ? 0 : rows;
  if (Refused refused = chooseStages(*plan, target))
    return *refused;
  plan->splits = chooseSplits(nest, *plan, target);
  plan->columnBlocks = chooseColumnBlocks(nest, *plan);
  return plan;
}

/// In which orders a mainloop's tile may be computed: as it is or transposed,
/// what is better first. With fewer rows than wgmma has, but enough columns for
/// both consumers' 64, it is the latter, and also possible with as many. Tiles
/// that no group of an index makes few rows of were not measured, and are left
/// as they are.
static SmallVector<bool> ordersOf(const MainloopNest &nest) {
  MainloopOp mainloop = MainloopNest(nest).mainloop;
  if (!mainloop.getIndex() && !nest.chunks)
    return {false};
  OrRefusal<ContractionInfo> info = describeContraction(mainloop);
  if (!info)
    return {false};
  int64_t rows = info->mDim < info->nDim ? info->m : info->n;
  int64_t cols = info->mDim < info->nDim ? info->n : info->m;
  if (!isSkinnyTile(cols, rows))
    return {false};
  return {rows < kWgmmaRows, rows == kWgmmaRows};
}

OrRefusal<HopperPlan> cuda::planHopper(const MainloopNest &nest, int64_t rows,
                                       const GpuTarget &target) {
  SmallVector<bool> orders = ordersOf(nest);
  OrRefusal<HopperPlan> better = planTile(nest, rows, target, orders.front());
  for (bool transposed :
       ArrayRef(orders).drop_front(better ? orders.size() : 1))
    if (OrRefusal<HopperPlan> plan = planTile(nest, rows, target, transposed))
      return plan;
  // The refusal of the better one is returned.
  return better;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

GpuScheduleAttr HopperPlan::toAttribute(MLIRContext *context) const {
  return KernelPlan::toAttribute(
      context, sharedBytes(), {1, 1},
      {a.number, a.loader, b.loader, cluster, columnBlocks, rows, fillBytes});
}

OrRefusal<HopperPlan> HopperPlan::from(GpuScheduleAttr schedule,
                                       const MainloopNest &nest,
                                       const GpuTarget &target) {
  OrRefusal<ContractionInfo> info = describeContraction(nest.mainloop);
  if (!info)
    return info.refusal();
  // Naturally a is along the result's earlier dimension.
  bool transposed = (schedule.getA() == 0) != (info->mDim < info->nDim);
  OrRefusal<HopperPlan> plan = describe(nest, target, transposed);
  if (!plan)
    return plan.refusal();
  plan->take(schedule);
  if (plan->workers() != kConsumers * kWarps || plan->workersN > kConsumers)
    return refuse("two warpgroups multiply a product that producers load: its "
                  "workers have to be [8, 1] or [4, 2]");
  if (plan->blocks > 1 || schedule.getSwizzles())
    return refuse("a product that producers load has one block on a "
                  "multiprocessor, and no swizzles");
  plan->a.loader = schedule.getLoadA();
  plan->b.loader = schedule.getLoadB();
  plan->cluster = schedule.getCluster();
  plan->columnBlocks = schedule.getColumnBlocks();
  plan->rows = schedule.getFillRows();
  plan->fillBytes = schedule.getFillBytes();
  layOut(*plan, nest.mainloop);
  if (Refused refused = checkTile(*plan, nest.mainloop))
    return *refused;
  if (Refused refused = checkStream(*plan, nest))
    return *refused;
  for (const HopperOperand *operand : {&plan->a, &plan->b})
    if (Refused refused = checkLoader(*operand, nest.mainloop))
      return *refused;
  if (Refused refused = checkBlocks(*plan, nest))
    return *refused;
  if (Refused refused = checkSharedBytes(schedule, plan->sharedBytes(),
                                         target.blockSharedBytes, target))
    return *refused;
  return plan;
}
