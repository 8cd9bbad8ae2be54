//===- HopperLoad.cpp - The producer of a mainloop of wgmma ---------------===//
//
// For each step: wait until a stage is empty, say how many bytes will come, and
// start the copies. They fill the stage without further instructions. Why its
// gathers have loops of their own is said in PortableLoad.cpp.
//
//===----------------------------------------------------------------------===//

#include "HopperScales.h"
#include "HopperStream.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

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
  inLeader(e, /*ofWarps=*/false, body);
}

std::pair<Value, Value>
cuda::stepsOfSplit(Emitter &e, const StreamKWork &splits, Value steps) {
  if (!splits.count || splits.ofList)
    return {e.i32(0), steps};
  auto own = pitgpu::StepsOfSplitOp::create(e.b, e.loc, splits.part,
                                            splits.count, steps,
                                            /*least=*/IntegerAttr());
  return {own.getBegin(), own.getEnd()};
}

namespace {

class Producer {
public:
  Producer(Emitter &e, const HopperTile &tile, BetweenSteps between)
      : e(e), plan(tile.plan), self(tile.self), done(tile.done),
        between(between),
        steps(e, tile.mainloop, plan.subSteps(), tile.values, tile.now) {
    std::tie(begin, end) = stepsOfSplit(e, self.streamK, steps.total());
    for (unsigned i = 0; i < 2; ++i)
      if (operand(i).loader == Loader::CpAsync)
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
      if (operand(i).loader == Loader::CpAsync && !operand(i).kIsGathered &&
          !operand(i).kIsPacked)
        locateRows(i);
    if (stream)
      streamSteps();
    else if (isStepGathered())
      gatherSteps();
    else if (plan.copiesByLanes() || !(haveWarpsWork(plan) || self.warps))
      copySteps();
    else
      inLeader(e, plan.has(Loader::TmaRowGather), [&] { copySteps(); });
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
    e.keepLoop(e.forEach(begin, end, e.i32(1),
                         [&](Value s) { issueStep(prepareStep(s, {})); }));
  }

  struct Copy {
    unsigned operand;
    Value from;
    Value exists;       ///< otherwise the chunk is zero
    int64_t rows, cols; ///< after the operand's first chunk of this thread
    Value isMine;       ///< whether this thread copies it; null: it does
  };
  /// The work of a step.
  struct Step {
    Value number;
    SmallVector<Copy> copies;
    SmallVector<HopperScaleCopy> scales;
  };

  /// Finds out what stage `s` of the tile takes; `ids` are those of its step,
  /// if it has any.
  Step prepareStep(Value s, ValueRange ids) {
    steps.enter(s);
    first = e.mul(e.rem(s, plan.subSteps()), plan.depth);
    Step step;
    step.number = e.add(done, e.sub(s, begin));
    for (unsigned i = 0; i < 2; ++i) {
      if (operand(i).loader != Loader::CpAsync ||
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
    stage =
        pitgpu::AcquireOp::create(e.b, e.loc, self.shared.stages, step.number);
    issueBoxes();
    issueCopies(step, ahead);
    if (between)
      between(step.number);
  }

  /// The number of one of operand i's views among a stage's tiles.
  unsigned numberOf(unsigned i, unsigned view) {
    return i * plan.a.views.size() + view;
  }

  void issueCopies(const Step &step, function_ref<void()> ahead) {
    if (step.copies.empty() && step.scales.empty())
      return;
    for (const Copy &copy : step.copies) {
      const HopperThreadPlace &place = threads[copy.operand];
      auto start = [&] {
        pitgpu::CopyOp::create(e.b, e.loc, copy.from, copy.exists,
                               /*limit=*/Value(), stage,
                               e.b.getI64IntegerAttr(numberOf(copy.operand, 0)),
                               place.row, place.col,
                               e.b.getDenseI64ArrayAttr({copy.rows, copy.cols}),
                               e.b.getI64IntegerAttr(kChunkBytes));
      };
      if (copy.isMine)
        e.ifThen(copy.isMine, start);
      else
        start();
    }
    if (scales)
      scales->issue(step.scales, e.rem(step.number, plan.stages));
    if (ahead)
      ahead();
    pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Copies);
  }

  //===--- Boxes ----------------------------------------------------------===//

  void issueBoxes() {
    int64_t boxBytes = 0;
    for (unsigned i = 0; i < 2; ++i)
      if (operand(i).loader == Loader::TmaTile)
        boxBytes += operand(i).views.size() * operand(i).blocks *
                    operand(i).blockBytes();
    if (!plan.has(Loader::TmaRowGather)) {
      auto lead = [&] {
        pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Tma,
                                 boxBytes);
        issueTiles();
      };
      // Without chunks and scales, only the leader is here.
      if (boxBytes && plan.copiesByLanes())
        inLeader(e, /*ofWarps=*/false, lead);
      else if (boxBytes)
        lead();
      return;
    }
    // Each warp announces what it loads, if only that it is nothing: none is to
    // be a round behind the others. Bytes may come before they are announced:
    // until then the stage counts as being filled.
    auto rows = [&] {
      Value leads = e.lessThan(self.warp, e.i32(1));
      Value bytes = e.add(rowBytes, e.select(leads, e.i32(boxBytes), e.i32(0)));
      pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Tma,
                               IntegerAttr(), bytes, /*condition=*/Value());
      issueTiles();
      for (unsigned i = 0; i < 2; ++i)
        if (operand(i).loader == Loader::TmaRowGather)
          e.ifThen(hasRows[i], [&] { issueRows(i); });
    };
    if (plan.copiesByLanes())
      inLeader(e, /*ofWarps=*/true, rows);
    else
      rows();
  }

  /// The tiles of a stage that boxes make up; of b, which a cluster shares,
  /// this block's part.
  void issueTiles() {
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned view = 0; view < operand(i).views.size(); ++view)
        if (operand(i).loader == Loader::TmaTile)
          pitgpu::LoadOp::create(
              e.b, e.loc, self.maps[numberOf(i, view)], coordinates(i, view),
              stage, numberOf(i, view), /*multicast=*/i ? plan.cluster : 1,
              /*alone=*/i && plan.cluster > 1 ? self.alongN : Value());
  }

  /// Coordinates (index), as the descriptor has them, of the tile that one of
  /// operand i's views has in this stage.
  SmallVector<Value> coordinates(unsigned i, unsigned view) {
    TileAccess access = steps.access(operand(i).views[view]);
    SmallVector<Value> at = llvm::map_to_vector(
        access.dims, [](const TileDim &dim) { return dim.start; });
    Value &k = at[operand(i).kDim()];
    if (plan.subSteps() > 1)
      k = e.add(k, e.toIndex(first));
    return operand(i).inOrder<Value>(at);
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
      // Results of rows that do not exist are not stored. Some row is
      // read for each of them: reading beyond the end is slow, and so is one
      // row for all.
      Value row = e.toI32(e.select(exists, at, e.toIndex(mine)));
      for (int64_t r = 0; r < count; ++r)
        rowGather[i].push_back(e.fromLane(row, e.i32(r)));
    }
  }

  void issueRows(unsigned i) {
    const HopperOperand &op = operand(i);
    SmallVector<Value> at = coordinates(i, /*view=*/0);
    int64_t dim =
        op.isTransposed ? static_cast<int64_t>(at.size()) - 2 : op.rowDim;
    Value from = e.mul(self.warp, static_cast<int64_t>(rowGather[i].size()));
    pitgpu::LoadRowsOp::create(e.b, e.loc, self.maps[numberOf(i, 0)], at, dim,
                               rowGather[i], stage, numberOf(i, 0), from);
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
    if (op.kIsCol && plan.subSteps() > 1)
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
        copies.push_back({i, from, e.logicalAnd(exists, inRow[block]), r,
                          block * op.lineElements(), isMine});
      }
    }
  }

  //===--- Rows that each step's ids select -------------------------------===//

  /// The place along k that `id` selects, which has `number` in the stage, and
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
    Value firstOfStage = e.mul(e.rem(s, plan.subSteps()), plan.depth);
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
        ids.push_back(e.loadAt(dim.ids, e.add(dim.start, at)));
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
    // Stages whose elements are to be stored, the last one first.
    SmallVector<Value> open;
    if (stream->hasElements()) {
      Type type = pitgpu::StageType::get(
          e.b.getContext(),
          cast<pitgpu::RingType>(self.shared.stages.getType()).getTiles());
      for (int64_t n = 0; n < plan.stepsBehind(); ++n)
        open.push_back(ub::PoisonOp::create(e.b, e.loc, type));
    }
    // The consumers make elements visible to wgmma, with what cp.async wrote:
    // here the fence would wait for the copies that are on their way.
    auto store = [&](Value s, Value stage) {
      Value exists = e.lessThan(e.i32(-1), s);
      Value tile = pitgpu::TileOp::create(e.b, e.loc, stage, numberOf(1, 0));
      e.ifThen(exists, [&] { stream->storeElements(s, tile); });
      pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Writes,
                               /*bytes=*/0, exists);
    };
    auto streamStep = [&](Value s, ValueRange before) {
      SmallVector<Value> ids;
      for (unsigned i = 0; i < 2; ++i)
        for (int64_t n = 0; n < idsOf(i); ++n) {
          // A thread may have no row among the last ones.
          Value row = e.add(threads[i].row, n * threads[i].rowsAtOnce);
          ids.push_back(stream->id(s, e.min(row, e.i32(plan.depth - 1))));
        }
      issueStep(prepareStep(s, ids), [&] { stream->copyAhead(s); });
      stream->endStep();
      SmallVector<Value> next;
      if (stream->hasElements()) {
        next.push_back(stage);
        llvm::append_range(next, before);
        store(e.sub(s, e.i32(plan.stepsBehind())), next.pop_back_val());
      }
      return next;
    };
    scf::ForOp loop = e.loop(e.i32(0), total, e.i32(1), open, streamStep);
    e.keepLoop(loop);
    for (size_t behind = open.size(); behind > 0; --behind) {
      stream->endStep();
      store(e.sub(total, e.i32(behind)), loop.getResult(behind - 1));
    }
  }

  /// Ids are loaded two steps ahead, into registers of their own for odd and
  /// even steps: handed on from one step to the next, they would be waited for.
  /// No branch is around the odd one, into which what uses its ids would move,
  /// behind the load of the next ones.
  void gatherSteps() {
    Value total = steps.total(), last = e.sub(total, e.i32(1));
    e.ifThen(e.lessThan(e.i32(0), total), [&] {
      SmallVector<Value> ids = loadIds(e.i32(0));
      size_t count = ids.size();
      llvm::append_range(ids, loadIds(e.i32(1)));
      auto gatherTwo = [&](Value even, ValueRange carried) {
        SmallVector<Value> following;
        for (int64_t odd = 0; odd < 2; ++odd) {
          Value s = e.add(even, odd);
          Step step = prepareStep(s, carried.slice(odd * count, count));
          // Before the copies: the loads would wait behind them.
          llvm::append_range(following, loadIds(e.add(s, 2)));
          issueStep(step);
        }
        return following;
      };
      scf::ForOp loop = e.loop(e.i32(0), last, e.i32(2), ids, gatherTwo);
      e.keepLoop(loop);
      Value isOdd = e.lessThan(e.rem(last, 2), e.i32(1));
      e.ifThen(isOdd, [&] {
        issueStep(prepareStep(last, loop.getResults().take_front(count)));
      });
    });
  }

  Emitter &e;
  const HopperPlan &plan;
  const HopperThread &self;
  Value done;
  BetweenSteps between;
  MainloopSteps steps;
  Value begin, end;             ///< steps that this block copies (i32)
  HopperThreadPlace threads[2]; ///< of a and of b, if threads copy them
  std::optional<HopperStream> stream;
  std::optional<HopperScaleLoader> scales;
  Value first; ///< along k, of the stage in its step (i32)
  Value stage; ///< that is being filled
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
