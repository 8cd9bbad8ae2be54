//===- BodyPlan.cpp - How a tile body is computed -------------------------===//

#include "BodyPlan.h"

#include "Codegen/GPU/Common/Lowering.h"

#include "pit/Analysis/Refusal.h"
#include "pit/Codegen/Common/MathExpansions.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Rows, columns and products of tensor cores' blocks, as they are loaded.
static constexpr int64_t kBlock = 16;
static constexpr int64_t kMostStages = 3;
/// Threads of a block, and columns of a wgmma.
static constexpr int64_t kMostThreads = 512, kMostColumns = 256;
/// Warps that load, beside workers of up to three warpgroups.
static constexpr int64_t kProducers = 4, kMostWorkers = 12;
/// Registers that a thread has for tiles, of 255.
static constexpr int64_t kMostRegisters = 160;
/// Registers that a worker has for what is no tile.
static constexpr int64_t kOtherRegisters = 24;
/// Registers that a worker has at least.
static constexpr int64_t kFewestRegisters = 64;
/// Chunks that a thread copies in a row, of rows whose ids come ahead, and
/// registers for these.
static constexpr int64_t kMostPieces = 32, kMostIdRegisters = 8;
/// Registers of producers that only issue boxes, and rows that a box may cover.
static constexpr int64_t kBoxRegisters = 24, kMaxBoxRows = 256;

const StagedTile &BodyPlan::stagedOf(Value tile) const {
  return *llvm::find_if(
      staged, [&](const StagedTile &staged) { return staged.tile == tile; });
}

bool cuda::isAlongK(ContractOp op, unsigned number, const StagedTile &staged) {
  AffineExpr along =
      op.getMap(number).getResult(static_cast<unsigned>(staged.operand.colDim));
  auto k = static_cast<unsigned>(findContractionDims(op)->k);
  return along == getAffineDimExpr(k, op.getContext()) ||
         matchFragmentOrder(along) == k;
}

bool cuda::isZeroTile(Value tile) {
  auto op = tile.getDefiningOp<PointwiseOp>();
  return op && op.getInputs().empty() && !op.getAcc() &&
         matchPattern(op.getBody().front().getTerminator()->getOperand(0),
                      m_PosZeroFloat());
}

bool cuda::addsInThreads(ContractOp op) {
  return !isa<BlockArgument>(op.getLhs()) && isF8(op.getLhs().getType());
}

/// The ids of a step that select the rows of a tile, or null.
static Value idsOf(const StagedTile &staged, MainloopOp mainloop) {
  if (staged.isInvariant)
    return {};
  ViewOp view = staged.view;
  Value ids = view.getSubscripts()[staged.operand.rowDim];
  if (auto list = ids.getDefiningOp<IdsOp>())
    return mainloop.getLoad().isAncestor(list->getParentRegion()) ? ids
                                                                  : Value();
  // The ids are the first argument behind the steps'; positions are no ids.
  bool isListed = mainloop.getIndex() && ids == mainloop.getLoad().getArgument(
                                                    mainloop.getSteps().size());
  return isListed ? ids : Value();
}

int64_t BodyPlan::rowsOfWarp(const SharedTile &tile) {
  int64_t chunks = tile.chunks();
  if (32 % chunks == 0)
    return 32 / chunks;
  return chunks % 32 ? llvm::PowerOf2Ceil((30 + chunks) / chunks + 1) : 1;
}

std::pair<const StagedTile *, Value>
BodyPlan::tileOfIds(MainloopOp mainloop) const {
  for (const StagedTile &tile : staged)
    if (Value ids = idsOf(tile, mainloop))
      return piecesOf(tile.operand.tile) <= kMostPieces &&
                     idRegistersOf(tile.operand.tile) <= kMostIdRegisters
                 ? std::pair(&tile, ids)
                 : std::pair<const StagedTile *, Value>();
  return {};
}

bool BodyPlan::takesIdsAhead(const StagedTile &tile,
                             MainloopOp mainloop) const {
  auto [first, ids] = tileOfIds(mainloop);
  return first && idsOf(tile, mainloop) == ids &&
         tile.operand.tile.rows == first->operand.tile.rows &&
         tile.operand.tile.chunks() == first->operand.tile.chunks();
}

bool StagedTile::isBox() const {
  ViewOp from = view;
  auto source = dyn_cast<BlockArgument>(from.getSrc());
  auto type = cast<MemRefType>(from.getSrc().getType());
  int64_t last = type.getRank() - 1;
  if (!source || !isa<func::FuncOp>(source.getOwner()->getParentOp()) ||
      last > 4 || operand.colDim != last || operand.tile.rows % 8 ||
      operand.tile.rows > kMaxBoxRows ||
      type.getStridesAndOffset().first.back() != 1)
    return false;
  return llvm::all_of(from.getSubscripts(), [](Value subscript) {
    return subscript.getType().isIndex();
  });
}

int64_t BodyPlan::producerRegisters() const {
  if (llvm::all_of(staged, [](const StagedTile &tile) { return tile.isBox(); }))
    return kBoxRegisters;
  // Values of producers that copy rows go to memory if they do not fit, and
  // come back behind all copies that are under way.
  switch (32 * workers() / kWarpgroup) {
  case 1:
    return 96;
  case 2:
    return 56;
  default:
    return 32;
  }
}

unsigned BodyPlan::addedRowDim() const {
  ContractOp op = added;
  auto rows = getAffineDimExpr(findContractionDims(op)->m, op.getContext());
  return *op.getMap(2).getResultPosition(rows);
}
/// The longest lines that wgmma may read a tile in: of elements of 8 bits, 64
/// or 32 bytes, too. 0 if there are none.
static int64_t longestLine(const StagedTile &tile) {
  bool isSmall = tile.operand.elementBytes == 1;
  for (int64_t bytes = kLineBytes; bytes >= (isSmall ? 32 : kLineBytes);
       bytes /= 2)
    if (tile.operand.tile.pitch() % bytes == 0)
      return bytes;
  return 0;
}

void BodyPlan::layOutTiles() {
  invariantBytes = stageBytes = 0;
  for (StagedTile &tile : staged) {
    tile.operand.tile.hasLines = wgmma();
    tile.operand.tile.lineBytes = longestLine(tile);
    tile.offset = invariantBytes;
    (tile.isInvariant ? invariantBytes : stageBytes) +=
        tile.operand.tile.bytes();
  }
}

/// Registers of a thread for 16 rows of all that is carried, and of the largest
/// tile that is multiplied.
static int64_t registersOfBlock(MainloopOp mainloop, const BodyPlan &plan) {
  // A thread has two rows, and a quarter of the columns.
  auto registers = [&](Value tile) {
    return std::max<int64_t>(2, plan.info.extent(tile, TileRole::Col) / 2);
  };
  int64_t carried = 0, most = 0;
  for (Value tile : mainloop.getCarriedTiles())
    carried += registers(tile);
  mainloop.getCompute().walk([&](ContractOp op) {
    if (op == plan.added) {
      carried += kAddedColumns / 2;
      return;
    }
    // wgmma adds to the registers of what is carried.
    bool addsToCarried = plan.wgmma() && isa<BlockArgument>(op.getAcc());
    if (op != plan.late && !addsToCarried)
      most = std::max(most, registers(op.getResult()));
    if (addsInThreads(op))
      carried += registers(op.getResult());
  });
  // A register has several elements of a late contraction's first factor.
  int64_t factor = 0;
  if (plan.late) {
    Value lhs = ContractOp(plan.late).getLhs();
    factor = registers(lhs) * elementBytes(getElementTypeOrSelf(lhs)) / 4;
  }
  return carried + most + factor;
}

/// Can wgmma multiply the tiles? It takes whole lines, and 64 rows.
static bool fitsWgmma(MainloopOp mainloop, const BodyPlan &plan) {
  bool fits = plan.info.rows % kWgmmaRows == 0 &&
              plan.info.rows / kWgmmaRows * kWarpgroup <= kMostThreads;
  for (const StagedTile &staged : plan.staged)
    fits &= longestLine(staged) != 0;
  mainloop.getCompute().walk([&](ContractOp op) {
    fits &= op == plan.added ||
            plan.info.extent(op.getResult(), TileRole::Col) <= kMostColumns;
    // Floats of 8 bits lie along what is summed up.
    if (isF8(getElementTypeOrSelf(op.getRhs())))
      for (unsigned number : {0, 1})
        fits &= !isa<BlockArgument>(op->getOperand(number)) ||
                isAlongK(op, number, plan.stagedOf(op->getOperand(number)));
  });
  return fits;
}

/// Does an op hand on the elements of a tile as they are?
static bool isCopy(PointwiseOp op) {
  Block &body = op.getBody().front();
  return op.getInputs().size() == 1 && !op.getAcc() &&
         llvm::hasSingleElement(body) &&
         body.getTerminator()->getOperand(0) == body.getArguments().back();
}

/// Finds the contraction that can run while the next step begins: it multiplies
/// what others have computed, and only the next step has its result.
static void findLate(MainloopOp mainloop, BodyPlan &plan) {
  Block &compute = mainloop.getCompute().front();
  ContractOp first, last;
  for (auto op : compute.getOps<ContractOp>()) {
    first = first ? first : op;
    last = op;
  }
  // Its second factor stays in shared memory for it alone.
  if (!last || first == last || isa<BlockArgument>(last.getLhs()) ||
      plan.stagedOf(last.getRhs()).isInvariant || !last.getRhs().hasOneUse())
    return;
  Value result = last.getResult();
  while (result.hasOneUse()) {
    OpOperand &use = *result.use_begin();
    auto copy = dyn_cast<PointwiseOp>(use.getOwner());
    if (use.getOwner() == compute.getTerminator()) {
      plan.late = last;
      plan.lateSums = mainloop.getCarriedTiles()[use.getOperandNumber()];
    }
    if (!copy || !isCopy(copy))
      return;
    result = copy.getResult();
  }
}

/// Gives the block warps that only load, and lets a contraction be late.
static void addProducers(MainloopOp mainloop, BodyPlan &plan,
                         int64_t producers) {
  plan.producers = producers;
  if (producers)
    findLate(mainloop, plan);
}

/// The shared memory that each of so many blocks may have for more stages than
/// two.
static int64_t bytesOfBlock(const GpuTarget &target, int64_t blocks) {
  return blocks == 1 ? target.mainloopSharedBytes : target.pairedSharedBytes;
}

/// That which two stages may take. Tiles that wgmma multiplies may have all
/// that a block has.
static int64_t mostBytes(const BodyPlan &plan, const GpuTarget &target,
                         int64_t blocks = 1) {
  return plan.wgmma() && blocks == 1 ? target.blockSharedBytes
                                     : bytesOfBlock(target, blocks);
}

/// Gives a block of workers producers, too, if there is shared memory for their
/// barriers, and registers for what the workers have: else wgmmas would wait
/// for each other. Workers of one block wait
/// while those of another multiply, if there is room for two.
static Refused findRoles(MainloopOp mainloop, const GpuTarget &target,
                         BodyPlan &plan) {
  if (plan.workers() > kMostWorkers)
    return refuse("its tiles have ", plan.info.rows,
                  " rows, more than workers of 192 rows beside "
                  "warps that only load");
  addProducers(mainloop, plan, kProducers);
  Refused refused;
  for (int64_t blocks : {2, 1}) {
    plan.blocks = blocks;
    if (blocks * plan.threads() > kMostThreads)
      continue;
    int64_t bytes = mostBytes(plan, target, blocks);
    int64_t registers = registersOfBlock(mainloop, plan) + kOtherRegisters;
    if (plan.sharedBytes() > bytes)
      refused =
          refuse("two stages, what is loaded once and barriers take ",
                 plan.sharedBytes(), " of ", bytes, " bytes of shared memory");
    else if (registers > plan.workerRegisters())
      refused = refuse("a worker takes ", registers, " registers, and has ",
                       plan.workerRegisters(), " beside warps that only load");
    else
      return {};
  }
  return refused;
}

/// Gives what is loaded once two places, if there is room beside two stages.
static void fitInvariants(MainloopOp mainloop, const GpuTarget &target,
                          BodyPlan &plan) {
  if (!mainloop.getIndex() || !plan.late)
    return;
  plan.invariantStages = 2;
  int64_t stages = plan.stages;
  plan.stages = 2;
  if (plan.sharedBytes() > bytesOfBlock(target, plan.blocks))
    plan.invariantStages = 1;
  plan.stages = stages;
}

/// Decides which rows a warp has.
static bool divideRows(MainloopOp mainloop, BodyPlan &plan) {
  plan.m = plan.info.rows;
  plan.workersM = plan.m / kBlock;
  if (plan.wgmma())
    return true;
  int64_t each = registersOfBlock(mainloop, plan);
  for (int64_t blocks : {4, 2, 1}) {
    int64_t rows = blocks * kBlock, warps = plan.info.rows / rows;
    if (plan.info.rows % rows || warps > 16 ||
        (blocks > 1 && (warps < 4 || blocks * each > kMostRegisters)))
      continue;
    plan.workersM = warps;
    return true;
  }
  return false;
}

static OrRefusal<BodyPlan> divideWork(MainloopOp mainloop,
                                      const GpuTarget &target) {
  OrRefusal<BodyPlan> plan = describeBody(mainloop, target);
  if (!plan)
    return plan;
  plan->multiply = target.wgmma && fitsWgmma(mainloop, *plan)
                       ? Multiply::Wgmma
                       : Multiply::MmaSync;
  if (plan->takesWgmma && !plan->wgmma())
    return refuse("wgmma alone multiplies floats of 8 bits, in tiles of 64 "
                  "rows with lines of 32 elements along what is summed up");
  if (plan->added && !plan->wgmma())
    return refuse("wgmma alone multiplies what its steps add");
  plan->layOutTiles();
  plan->stages = 2;
  if (!divideRows(mainloop, *plan))
    return refuse("its tiles have ", plan->info.rows,
                  " rows, more than 16 warps take");
  if (int64_t bytes = mostBytes(*plan, target); plan->sharedBytes() > bytes)
    return refuse("two stages and what is loaded once take ",
                  plan->sharedBytes(), " of ", bytes,
                  " bytes of shared memory");
  return plan;
}

Refused cuda::checkBody(MainloopOp mainloop, const GpuTarget &target) {
  return divideWork(mainloop, target);
}

OrRefusal<BodyPlan> cuda::planBody(MainloopOp mainloop,
                                   const GpuTarget &target) {
  OrRefusal<BodyPlan> plan = divideWork(mainloop, target);
  // Two blocks that wait in turn are better than a stage more.
  if (plan)
    fitStages(*plan, kMostStages, bytesOfBlock(target, 2));
  return plan;
}

/// Many warps hide what loads from computed places wait for, and all load.
static Refused checkRoles(MainloopOp mainloop) {
  WalkResult loads = mainloop.getCompute().walk(
      [](memref::LoadOp) { return WalkResult::interrupt(); });
  if (loads.wasInterrupted())
    return refuse("its steps load elements from places that they "
                  "compute, for which no warps are spared");
  return {};
}

OrRefusal<BodyPlan> cuda::planBodyByRoles(MainloopOp mainloop,
                                          const GpuTarget &target) {
  OrRefusal<BodyPlan> plan = divideWork(mainloop, target);
  if (!plan)
    return plan.refusal();
  if (Refused refused = checkRoles(mainloop))
    return *refused;
  if (!plan->wgmma())
    return refuse("its steps compute more than contractions of what "
                  "they load, in tiles that have no multiples of 64 "
                  "rows, or lines of 64 columns");
  if (Refused refused = findRoles(mainloop, target, *plan))
    return *refused;
  fitInvariants(mainloop, target, *plan);
  // There may be registers for one block only.
  fitStages(*plan, kMostStages, bytesOfBlock(target, plan->blocks));
  return plan;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

GpuScheduleAttr BodyPlan::toAttribute(MLIRContext *context) const {
  return KernelPlan::toAttribute(context, sharedBytes(), {1, 1}, {});
}

OrRefusal<BodyPlan> BodyPlan::from(GpuScheduleAttr schedule,
                                   MainloopOp mainloop,
                                   const GpuTarget &target) {
  OrRefusal<BodyPlan> plan = describeBody(mainloop, target);
  if (!plan)
    return plan;
  int64_t columns = plan->n;
  plan->take(schedule);
  if (plan->splits > 1)
    return refuse("the steps of a tile body are not shared in splits");
  if ((plan->takesWgmma || plan->added) && !plan->wgmma())
    return refuse(
        "wgmma alone multiplies floats of 8 bits, and what steps add");
  plan->layOutTiles();
  if (!plan->tensorCores() || plan->workersN != 1)
    return refuse("a tile body takes tensor cores, and warps along m "
                  "only");
  if (plan->wgmma() &&
      (!fitsWgmma(mainloop, *plan) || plan->perWorkerM() != kBlock))
    return refuse("wgmma takes tiles of 64 rows, and of multiples of 64 "
                  "columns; a warp has 16 rows");
  addProducers(mainloop, *plan, plan->producers);
  if (plan->producers) {
    if (Refused refused = checkRoles(mainloop))
      return *refused;
    fitInvariants(mainloop, target, *plan);
  }
  if (plan->producers && plan->workers() > kMostWorkers)
    return refuse("producers load for up to ", kMostWorkers,
                  " workers, and it has ", plan->workers());
  if (plan->producers && plan->workerRegisters() < kFewestRegisters)
    return refuse("its ", plan->blocks, " blocks on a multiprocessor leave ",
                  plan->workerRegisters(),
                  " registers for a worker, and it takes ", kFewestRegisters);
  if (plan->m != plan->tileM || plan->n != columns)
    return refuse("its tile is ", plan->m, " x ", plan->n, ", and has to be ",
                  plan->tileM, " x ", columns);
  if (plan->depth != 1 || schedule.getSwizzles())
    return refuse("a tile body has a depth of 1, and no swizzles");
  if (Refused refused = checkSharedBytes(schedule, plan->sharedBytes(),
                                         mostBytes(*plan, target), target))
    return *refused;
  return plan;
}
