//===- HopperLoad.cpp - The producer of a mainloop of wgmma ---------------===//
//
// For each step: wait until a stage is empty, say how many bytes will come, and
// start the copies. They fill the stage without further instructions. Why its
// gathers have loops of their own is said in AmpereLoad.cpp.
//
//===----------------------------------------------------------------------===//

#include "HopperScales.h"
#include "HopperStream.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr int64_t kWarps = kWarpgroup / kLanes;

/// The elected thread of the first warp: a condition on the thread's number
/// would have ptxas issue each copy in a loop over lanes.
static void inLeader(Emitter &e, Value warp, function_ref<void()> body) {
  e.ifThen(e.lessThan(warp, e.i32(1)), [&] { e.ifThen(isLeader(e), body); });
}

/// Does each of the producers' warps copy something?
static bool haveWarpsWork(const HopperPlan &plan) {
  return plan.copiesByLanes() || plan.has(Loader::TmaRowGather);
}

void cuda::inProducers(Emitter &e, const HopperPlan &plan,
                       const HopperThread &self, function_ref<void()> body) {
  if (haveWarpsWork(plan))
    return body();
  if (self.warps)
    return e.ifThen(e.lessThan(self.warp, e.i32(1)), body);
  inLeader(e, self.warp, body);
}

std::pair<Value, Value> cuda::stepsOfPart(Emitter &e, const StreamKWork &parts,
                                          Value steps) {
  if (!parts.count || parts.ofList)
    return {e.i32(0), steps};
  auto upTo = [&](Value part) -> Value {
    return e.b.createOrFold<arith::DivUIOp>(e.loc, e.mul(steps, part),
                                            parts.count);
  };
  return {upTo(parts.part), upTo(e.add(parts.part, 1))};
}

/// Rows of a box: within what a block of the cluster loads.
static int64_t hopperBoxRows(const HopperPlan &plan,
                             const HopperOperand &operand) {
  bool isShared = operand.number == plan.b.number && operand.kIsCol;
  return std::min(operand.boxRows(),
                  operand.rows / (isShared ? plan.cluster : 1));
}

SmallVector<HopperMap> cuda::hopperMaps(MainloopOp mainloop,
                                        const HopperPlan &plan) {
  SmallVector<HopperMap> maps;
  for (const HopperOperand *operand : {&plan.a, &plan.b})
    for (unsigned view : operand->views) {
      HopperMap map;
      map.source = mainloop.getLoaded(view).getSrc();
      int64_t rank = cast<MemRefType>(map.source.getType()).getRank();
      SmallVector<int64_t> box(rank, 1);
      box[operand->rowDim] = hopperBoxRows(plan, *operand);
      box[operand->colDim] = operand->lineElements();
      map.box = operand->inOrder<int64_t>(box);
      map.swizzle = operand->lineBytes;
      // Chunks are copied from the memref itself.
      if (operand->loader != Loader::CpAsyncGather)
        map.alongK = operand->kDim();
      if (operand->isTransposed)
        map.order = operand->inOrder<int64_t>(llvm::to_vector(llvm::seq(rank)));
      maps.push_back(map);
    }
  return maps;
}

namespace {

class Producer {
public:
  Producer(Emitter &e, const HopperTile &tile, BetweenSteps between)
      : e(e), plan(tile.plan), self(tile.self), done(tile.done),
        between(between),
        steps(e, tile.mainloop, plan.subSteps, tile.values, tile.now),
        stages(e, plan, self.shared) {
    std::tie(begin, end) = stepsOfPart(e, self.streamK, steps.total());
    for (unsigned i = 0; i < 2; ++i)
      if (operand(i).loader == Loader::CpAsyncGather)
        threads[i] = HopperThreadPlace(e, operand(i), self.thread);
    if (plan.streamsIds())
      stream.emplace(e, tile, steps);
    if (!plan.scales.empty())
      scales.emplace(e, tile, steps);
  }

  Value run() {
    // Boxes of rows are issued by a thread in each warp.
    if (plan.has(Loader::TmaRowGather))
      locateRowGather();
    for (unsigned i = 0; i < 2; ++i)
      if (operand(i).loader == Loader::CpAsyncGather &&
          !operand(i).kIsGathered && !operand(i).kIsPacked)
        locateRows(i);
    if (stream)
      streamSteps();
    else if (isStepGathered())
      gatherSteps();
    else if (plan.copiesByLanes() || !(haveWarpsWork(plan) || self.warps))
      copySteps();
    else
      e.ifThen(isLeader(e), [&] { copySteps(); });
    if (plan.has(Loader::TmaRowGather) || self.warps)
      syncWarp(e);
    return e.add(done, e.sub(end, begin));
  }

private:
  const HopperOperand &operand(unsigned i) const { return i ? plan.b : plan.a; }
  bool isStepGathered() const {
    return plan.a.kIsGathered || plan.b.kIsGathered;
  }

  void copySteps() {
    auto loop = scf::ForOp::create(e.b, e.loc, begin, end, e.i32(1));
    e.keepLoop(loop);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    issueStep(prepareStep(loop.getInductionVar(), {}));
  }

  struct Copy {
    unsigned operand;
    Value from;
    Value exists; ///< otherwise the chunk is zero
    int64_t to;   ///< bytes after the operand's first chunk of this thread
    Value isMine; ///< whether this thread copies it; null: it does
  };
  /// What there is to do for a step.
  struct Step {
    Value number, stage;
    SmallVector<Copy> copies;
    SmallVector<HopperScaleCopy> scales;
  };

  /// Finds out what stage `s` of the tile takes; `ids` are those of its step,
  /// if it has any.
  Step prepareStep(Value s, ValueRange ids) {
    steps.enter(s);
    first = e.mul(e.rem(s, plan.subSteps), plan.depth);
    Step step;
    step.number = e.add(done, e.sub(s, begin));
    step.stage = stages.stage(step.number);
    for (unsigned i = 0; i < 2; ++i) {
      if (operand(i).loader != Loader::CpAsyncGather ||
          operand(i).isGatheredByElement())
        continue;
      ValueRange own = ids.take_front(idsOf(i));
      ids = ids.drop_front(own.size());
      listChunks(i, own, step.copies);
    }
    if (scales)
      step.scales = scales->prepareStep();
    return step;
  }

  /// Ids that a thread needs of a stage, to copy chunks of operand i.
  int64_t idsOf(unsigned i) {
    return operand(i).kIsGathered && !operand(i).isGatheredByElement()
               ? llvm::divideCeil(operand(i).rows, threads[i].rowsAtOnce)
               : 0;
  }

  /// Starts the copies as soon as the stage is empty. `ahead` starts others,
  /// for later steps.
  void issueStep(const Step &step, function_ref<void()> ahead = nullptr) {
    stages.waitEmpty(step.number, step.stage);
    full = e.sharedPointer(stages.full(step.stage));
    Value at = stages.address(step.stage);
    Value places[2] = {at, e.add(at, plan.a.bytes())};
    issueBoxes(places);
    issueCopies(step, at, ahead);
    if (between)
      between(step.number);
  }

  void issueCopies(const Step &step, Value at, function_ref<void()> ahead) {
    if (step.copies.empty() && step.scales.empty())
      return;
    // One address for all chunks: the rest is part of the instructions.
    Value firsts[2];
    for (const Copy &copy : step.copies) {
      Value &first = firsts[copy.operand];
      if (!first)
        first = e.add(e.add(at, threads[copy.operand].byte),
                      copy.operand ? plan.a.bytes() : 0);
      auto start = [&] {
        NVVM::CpAsyncOp::create(
            e.b, e.loc, e.sharedPointer(e.add(first, copy.to)), copy.from,
            kChunkBytes, NVVM::LoadCacheModifierKind::CG,
            e.select(copy.exists, e.i32(kChunkBytes), e.i32(0)));
      };
      if (copy.isMine)
        e.ifThen(copy.isMine, start);
      else
        start();
    }
    if (scales)
      scales->issue(step.scales, step.stage);
    if (ahead)
      ahead();
    NVVM::CpAsyncMBarrierArriveOp::create(e.b, e.loc, full, /*noinc=*/true);
  }

  //===--- Boxes ----------------------------------------------------------===//

  void announce(Value bytes) {
    NVVM::MBarrierArriveExpectTxOp::create(e.b, e.loc, Type(), full, bytes,
                                           NVVM::MemScopeKind::CTA,
                                           /*relaxed=*/false, Value());
  }

  void issueBoxes(ArrayRef<Value> places) {
    if (!plan.has(Loader::TmaTile) && !plan.has(Loader::TmaRowGather))
      return;
    Value boxBytes = e.i32(0);
    for (unsigned i = 0; i < 2; ++i)
      if (operand(i).loader == Loader::TmaTile)
        boxBytes = e.add(boxBytes, operand(i).bytes());
    auto issueTiles = [&] {
      for (unsigned i = 0; i < 2; ++i)
        if (operand(i).loader == Loader::TmaTile)
          for (unsigned view = 0; view < operand(i).views.size(); ++view)
            issueTile(i, view, e.add(places[i], view * operand(i).tileBytes()));
    };
    if (!plan.has(Loader::TmaRowGather)) {
      auto lead = [&] {
        announce(boxBytes);
        issueTiles();
      };
      // Without chunks and scales, only the leader is here.
      if (plan.copiesByLanes())
        inLeader(e, self.warp, lead);
      else
        lead();
      return;
    }
    // Each warp announces what it loads, if only that it is nothing: none is to
    // be a round behind the others. Bytes may come before they are announced:
    // until then the stage counts as being filled.
    auto rows = [&] {
      Value leads = e.lessThan(self.warp, e.i32(1));
      announce(e.add(rowBytes, e.select(leads, boxBytes, e.i32(0))));
      e.ifThen(leads, issueTiles);
      for (unsigned i = 0; i < 2; ++i)
        if (operand(i).loader == Loader::TmaRowGather)
          e.ifThen(hasRows[i], [&] { issueRows(i, places[i]); });
    };
    if (plan.copiesByLanes())
      e.ifThen(isLeader(e), rows);
    else
      rows();
  }

  /// Coordinates, by dimension, of the tile that one of operand i's views has
  /// in this stage.
  SmallVector<Value> coordinates(unsigned i, unsigned view) {
    TileAccess access = steps.access(operand(i).views[view]);
    SmallVector<Value> at;
    for (const TileDim &dim : access.dims)
      at.push_back(e.toI32(dim.start));
    Value &k = at[operand(i).kDim()];
    if (plan.subSteps > 1)
      k = e.add(k, first);
    return at;
  }

  /// The descriptor of one of operand i's views.
  Value mapOf(unsigned i, unsigned view) {
    return self.maps[i * plan.a.views.size() + view];
  }

  void issueBox(unsigned i, unsigned view, Value to, ArrayRef<Value> at,
                bool shared) {
    auto cluster = LLVM::LLVMPointerType::get(e.b.getContext(), 7);
    Value target =
        LLVM::AddrSpaceCastOp::create(e.b, e.loc, cluster, e.sharedPointer(to));
    SmallVector<Value> outermostFirst = operand(i).inOrder(at);
    SmallVector<Value> innermostFirst(llvm::reverse(outermostFirst));
    Value mask;
    if (shared)
      mask = e.constant(e.b.getI16IntegerAttr((1 << plan.cluster) - 1));
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        e.b, e.loc, target, mapOf(i, view), innermostFirst, full, ValueRange(),
        mask, Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        NVVM::CTAGroupKindAttr(), Value());
  }

  /// All boxes of a view; of b, which a cluster shares, this block's part.
  void issueTile(unsigned i, unsigned view, Value to) {
    if (i == 0 || plan.cluster == 1)
      return issueTile(i, view, to, /*parts=*/1);
    if (!self.alongN)
      return issueTile(i, view, to, plan.cluster);
    auto branch =
        scf::IfOp::create(e.b, e.loc, self.alongN, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    issueTile(i, view, to, /*parts=*/1);
    e.b.setInsertionPointToStart(branch.elseBlock());
    issueTile(i, view, to, plan.cluster);
  }

  /// The boxes of one of so many parts of a view: this block's, for all of
  /// them.
  void issueTile(unsigned i, unsigned view, Value to, int64_t parts) {
    const HopperOperand &op = operand(i);
    SmallVector<Value> at = coordinates(i, view);
    int64_t rows = op.kIsCol ? op.rows / parts : op.rows;
    int64_t blocks = op.kIsCol ? op.blocks : op.blocks / parts;
    if (parts > 1) {
      to = e.add(to, e.mul(self.rank, op.tileBytes() / parts));
      Value &outer = at[op.kIsCol ? op.rowDim : op.colDim];
      outer = e.add(outer, e.mul(self.rank, op.outer / parts));
    }
    int64_t boxRows = hopperBoxRows(plan, op);
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t r = 0; r < rows; r += boxRows) {
        SmallVector<Value> box(at);
        box[op.rowDim] = e.add(box[op.rowDim], r);
        box[op.colDim] = e.add(box[op.colDim], block * op.lineElements());
        issueBox(i, view, e.add(to, block * op.blockBytes() + r * kLineBytes),
                 box, parts > 1);
      }
  }

  /// The rows that this thread's warp loads: each lane finds one, and all get
  /// them, so that the elected one has them.
  void locateRowGather() {
    steps.enter(e.i32(0));
    rowBytes = e.i32(0);
    for (unsigned i = 0; i < 2; ++i) {
      const HopperOperand &op = operand(i);
      if (op.loader != Loader::TmaRowGather)
        continue;
      int64_t count = op.rows / kWarps;
      Value lane = e.rem(self.thread, kLanes);
      Value mine =
          e.add(e.mul(self.warp, count), e.min(lane, e.i32(count - 1)));
      TileDim dim = steps.access(op.views.front()).dims[op.rowDim];
      auto [at, exists] = locate(e, dim, e.toIndex(mine));
      // A warp whose rows do not exist loads none.
      hasRows[i] = e.lessThan(e.toIndex(e.mul(self.warp, count)), dim.limit);
      rowBytes = e.add(
          rowBytes, e.select(hasRows[i], e.i32(op.bytes() / kWarps), e.i32(0)));
      // What is computed of rows that do not exist is not stored. Some row is
      // read for each of them: reading beyond the end is slow, and so is one
      // row for all.
      Value row = e.toI32(e.select(exists, at, e.toIndex(mine)));
      for (int64_t r = 0; r < count; ++r)
        rowGather[i].push_back(fromLane(e, row, e.i32(r)));
    }
  }

  void issueRows(unsigned i, Value to) {
    const HopperOperand &op = operand(i);
    SmallVector<Value> at = coordinates(i, /*view=*/0);
    int64_t count = rowGather[i].size();
    to = e.add(to, e.mul(self.warp, count * kLineBytes));
    for (auto [r, row] : llvm::enumerate(rowGather[i])) {
      at[op.rowDim] = row;
      issueBox(i, /*view=*/0, e.add(to, r * kLineBytes), at, /*shared=*/false);
    }
  }

  //===--- Chunks ---------------------------------------------------------===//

  /// Rows that ids of the loops around select: the same in all steps.
  void locateRows(unsigned i) {
    steps.enter(e.i32(0));
    TileDim dim =
        steps.access(operand(i).views.front()).dims[operand(i).rowDim];
    for (int64_t r = 0; r < operand(i).rows; r += threads[i].rowsAtOnce)
      rows[i].push_back(locate(e, dim, e.toIndex(e.add(threads[i].row, r))));
  }

  /// Lists the chunks that this thread copies of operand i.
  void listChunks(unsigned i, ValueRange ids, SmallVectorImpl<Copy> &copies) {
    const HopperOperand &op = operand(i);
    TileAccess access = steps.access(op.views.front());
    const TileDim &rowDim = access.dims[op.rowDim];
    const TileDim &colDim = access.dims[op.colDim];
    Value col = threads[i].col;
    if (op.kIsCol && plan.subSteps > 1)
      col = e.add(col, first);
    Value fixed = e.index(0);
    for (auto [d, dim] : llvm::enumerate(access.dims))
      if (static_cast<int>(d) != op.rowDim && static_cast<int>(d) != op.colDim)
        fixed = e.add(fixed, e.mul(dim.start, dim.stride));
    fixed = e.add(fixed, e.add(colDim.start, e.toIndex(col)));
    Value limit = e.toI32(colDim.limit);
    // A chunk exists or does not: where TMA can describe a tensor, its rows are
    // multiples of 16 bytes.
    SmallVector<Value> inRow;
    for (int64_t block = 0; block < op.blocks; ++block)
      inRow.push_back(e.lessThan(e.add(col, block * op.lineElements()), limit));
    int64_t atOnce = threads[i].rowsAtOnce;
    for (int64_t r = 0; r < op.rows; r += atOnce) {
      Value number = e.add(threads[i].row, r);
      auto [at, exists] =
          op.kIsGathered ? placeOfId(rowDim, ids[r / atOnce], number)
          : op.kIsPacked ? locate(e, rowDim, e.toIndex(e.add(number, first)))
                         : rows[i][r / atOnce];
      Value start = e.add(fixed, e.mul(at, rowDim.stride));
      // The last rows may be fewer.
      Value isMine =
          r + atOnce > op.rows ? e.lessThan(number, e.i32(op.rows)) : Value();
      for (int64_t block = 0; block < op.blocks; ++block) {
        Value from = elementAddress(
            e, access, e.add(start, e.index(block * op.lineElements())));
        copies.push_back({i, from, e.logicalAnd(exists, inRow[block]),
                          block * op.blockBytes() + r * op.lineBytes, isMine});
      }
    }
  }

  //===--- Rows that each step's ids select -------------------------------===//

  /// What `id` selects along k, whose number in the stage is `number`, and
  /// whether it exists.
  std::pair<Value, Value> placeOfId(const TileDim &dim, Value id,
                                    Value number) {
    Value at = e.toIndex(id);
    return {at,
            e.logicalAnd(e.lessThan(e.toIndex(e.add(number, first)), dim.limit),
                         e.inRange(at, dim.size))};
  }

  /// The ids of stage `s`, of a and then of b; of those that do not exist, the
  /// last one that does.
  SmallVector<Value> loadIds(Value s) {
    Value last = e.sub(steps.total(), e.i32(1));
    s = e.min(s, last);
    steps.enter(s);
    Value firstOfStage = e.mul(e.rem(s, plan.subSteps), plan.depth);
    SmallVector<Value> ids;
    for (unsigned i = 0; i < 2; ++i) {
      if (!operand(i).kIsGathered)
        continue;
      TileDim dim =
          steps.access(operand(i).views.front()).dims[operand(i).rowDim];
      Value start = e.toIndex(e.add(threads[i].row, firstOfStage));
      for (int64_t n = 0; n < idsOf(i); ++n) {
        Value at = e.add(start, e.index(n * threads[i].rowsAtOnce));
        at = e.min(at, e.sub(dim.limit, e.index(1)));
        ids.push_back(
            memref::LoadOp::create(e.b, e.loc, dim.ids, e.add(dim.start, at)));
      }
    }
    return ids;
  }

  /// Ids, and elements that they select, come from rings in shared memory.
  /// Elements are stored some steps after the chunks of their step have been
  /// started: so they need not have come when a tile begins.
  void streamSteps() {
    Value total = steps.total();
    stream->start();
    auto store = [&](Value s) {
      Value stage = stages.stage(e.add(done, s));
      stream->storeElements(s, e.add(stages.address(stage), plan.a.bytes()),
                            stages.full(stage));
    };
    auto loop = scf::ForOp::create(e.b, e.loc, e.i32(0), total, e.i32(1));
    e.keepLoop(loop);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(loop.getBody());
      Value s = loop.getInductionVar();
      SmallVector<Value> ids;
      for (unsigned i = 0; i < 2; ++i)
        for (int64_t n = 0; n < idsOf(i); ++n) {
          // A thread may have no row among the last ones.
          Value row = e.add(threads[i].row, n * threads[i].rowsAtOnce);
          ids.push_back(stream->id(s, e.min(row, e.i32(plan.depth - 1))));
        }
      issueStep(prepareStep(s, ids), [&] { stream->copyAhead(s); });
      stream->endStep();
      Value earlier = e.sub(s, e.i32(plan.stepsBehind()));
      if (stream->hasElements())
        e.ifThen(e.lessThan(e.i32(-1), earlier), [&] { store(earlier); });
    }
    if (!stream->hasElements())
      return;
    for (int64_t behind = plan.stepsBehind(); behind > 0; --behind) {
      stream->endStep();
      Value s = e.sub(total, e.i32(behind));
      e.ifThen(e.lessThan(e.i32(-1), s), [&] { store(s); });
    }
  }

  /// Ids are loaded two steps ahead, into registers of their own for odd and
  /// even steps: handed on from one step to the next, they would be waited for.
  /// No branch is around the odd one, into which what uses its ids would move,
  /// behind the load of the next ones.
  void gatherSteps() {
    Value total = steps.total(), last = e.sub(total, e.i32(1));
    auto any = scf::IfOp::create(e.b, e.loc, e.lessThan(e.i32(0), total),
                                 /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(any.thenBlock());
    SmallVector<Value> ids = loadIds(e.i32(0));
    size_t count = ids.size();
    llvm::append_range(ids, loadIds(e.i32(1)));
    auto loop = scf::ForOp::create(e.b, e.loc, e.i32(0), last, e.i32(2), ids);
    e.keepLoop(loop);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> following;
      for (int64_t odd = 0; odd < 2; ++odd) {
        Value s = e.add(loop.getInductionVar(), odd);
        Step step = prepareStep(
            s, ValueRange(loop.getRegionIterArgs()).slice(odd * count, count));
        // Before the copies: the loads would wait behind them.
        llvm::append_range(following, loadIds(e.add(s, 2)));
        issueStep(step);
      }
      scf::YieldOp::create(e.b, e.loc, following);
    }
    Value isOdd = e.lessThan(e.rem(last, 2), e.i32(1));
    e.ifThen(isOdd, [&] {
      issueStep(prepareStep(last, loop.getResults().take_front(count)));
    });
  }

  Emitter &e;
  const HopperPlan &plan;
  const HopperThread &self;
  Value done;
  BetweenSteps between;
  MainloopSteps steps;
  HopperStages stages;
  Value begin, end;             ///< steps that this block copies (i32)
  HopperThreadPlace threads[2]; ///< of a and of b, if threads copy them
  std::optional<HopperStream> stream;
  std::optional<HopperScaleLoader> scales;
  Value first; ///< along k, of the stage in its step (i32)
  Value full;  ///< barrier of the stage
  SmallVector<Value> rowGather[2];
  Value hasRows[2]; ///< whether this warp loads any of them
  Value rowBytes;   ///< that it loads of both operands in a step (i32)
  LocatedRows rows[2];
};

} // namespace

Value cuda::produceTile(Emitter &e, const HopperTile &tile,
                        BetweenSteps between) {
  return Producer(e, tile, between).run();
}
