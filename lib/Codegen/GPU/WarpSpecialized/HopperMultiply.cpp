//===- HopperMultiply.cpp - A consumer of a mainloop of wgmma -------------===//
//
// For each step: wait until its stage is full, start its wgmmas, wait for those
// of the step before and hand back that stage. Then the results are stored, or
// shared with other blocks.
//
//===----------------------------------------------------------------------===//

#include "HopperScales.h"
#include "HopperStore.h"

#include "Codegen/GPU/Common/Fragments.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Partial sums that a thread writes at once, and splits that it reads at once.
static constexpr int64_t kSumsAtOnce = kChunkBytes / 4, kSplitsAtOnce = 2;
/// How often a warp looks for those of other blocks: each time takes half a
/// microsecond.
static constexpr int64_t kPolls = 1000;

namespace {

class Consumer {
public:
  Consumer(Emitter &e, const HopperTile &tile)
      : e(e), mainloop(tile.mainloop), plan(tile.plan), self(tile.self),
        done(tile.done),
        steps(e, mainloop, plan.subSteps(), tile.values, tile.now),
        store(e, mainloop, plan, self, tile.values.chunks) {
    std::tie(begin, end) = stepsOfSplit(e, self.streamK, steps.total());
  }

  Value run() {
    // Values that depend on rows alone are loaded while the first stages come.
    locateRows();
    for (HopperRows &located : rows)
      store.prefetchExtras(located);
    SmallVector<Value> sums = initial();
    Value end = skipSteps();
    sums = plan.addsStages ? addStages(end, sums) : multiplySteps(end, sums);
    // Kept so long, columns of the thread would be spilled. Elsewhere they are
    // not, and to find them again costs 3 %.
    if (!store.isStaged() && !self.streamK.count)
      self.thread = e.hideFromOptimizer(self.thread);
    if (self.streamK.count)
      shareTile(sums);
    else
      storeTile(sums);
    return e.add(done, e.sub(this->end, begin));
  }

private:
  //===--- Multiplication -------------------------------------------------===//

  template <typename SumsType> SumsType sumsOf(int64_t rows) {
    return SumsType::get(e.b.getContext(), rows, plan.perN(), e.b.getF32Type());
  }

  /// A thread's elements of fragments, and back.
  SmallVector<Value> elementsOf(ValueRange fragments) {
    SmallVector<Value> elements;
    for (Value fragment : fragments)
      llvm::append_range(elements, ThreadElements(e, fragment).values);
    return elements;
  }
  Value toAccumulator(ArrayRef<Value> elements) {
    ThreadElements own(sumsOf<pitgpu::FragmentType>(plan.perM()));
    own.values.assign(elements.begin(), elements.end());
    return pitgpu::AccumulateOp::create(
        e.b, e.loc, sumsOf<pitgpu::AccumulatorType>(plan.perM()),
        own.toFragment(e));
  }

  /// A part of a view's tile, `extent` along m or n from `first` (i32) on.
  Value partOf(Value stage, const HopperOperand &operand, unsigned view,
               Value first, int64_t extent) {
    unsigned number = view + (&operand == &plan.b ? plan.a.views.size() : 0);
    Value tile = pitgpu::TileOp::create(e.b, e.loc, stage, number);
    if (extent == operand.outer)
      return tile;
    auto type = cast<pitgpu::TileType>(tile.getType());
    Value zero = e.i32(0);
    auto part = pitgpu::TileType::get(
        e.b.getContext(), operand.kIsCol ? extent : type.getRows(),
        operand.kIsCol ? type.getCols() : extent, type.getElementType(),
        type.getSwizzle(), type.getPitch());
    return pitgpu::SubtileOp::create(e.b, e.loc, part, tile,
                                     operand.kIsCol ? first : zero,
                                     operand.kIsCol ? zero : first);
  }

  /// Starts the product of a stage for one of the accumulators: of this
  /// consumer's rows from `row` on, so many.
  Value multiply(Value stage, std::array<unsigned, 2> views, int64_t row,
                 int64_t rows, Value sums) {
    Value m = e.i32(row), n = e.i32(0);
    if (plan.splitN())
      n = e.mul(self.consumer, plan.perN());
    else
      m = e.add(e.mul(self.consumer, plan.perM()), row);
    return pitgpu::MmaOp::create(
        e.b, e.loc, partOf(stage, plan.a, views[0], m, rows),
        partOf(stage, plan.b, views[1], n, plan.perN()), sums,
        /*transposeA=*/!plan.a.kIsCol, /*transposeB=*/plan.b.kIsCol);
  }

  pitgpu::MmaWaitOp await(ValueRange sums, int64_t pending) {
    SmallVector<Type> types;
    for (Value sum : sums) {
      auto type = cast<pitgpu::AccumulatorType>(sum.getType());
      types.push_back(sumsOf<pitgpu::FragmentType>(type.getRows()));
    }
    return pitgpu::MmaWaitOp::create(
        e.b, e.loc, types, e.b.getI64IntegerAttr(pending), sums, ValueRange());
  }

  /// The scales of a step for the elements of each wgmma.
  SmallVector<Scales> scalesOf(LoadScale load) {
    SmallVector<Scales> scales;
    for (size_t accumulator = 0; accumulator < plan.pairs.size(); ++accumulator)
      for (int64_t i = 0; i < plan.wgmmas(); ++i)
        scales.emplace_back(
            e, scaleViews(mainloop, accumulator, plan.mDim, plan.nDim),
            Fragment{store.rowsOf(e.i32(i)),
                     store.colsOf(e.i32(0), plan.perN())},
            load);
    return scales;
  }

  /// The scales of step `s`, from memory: they are on their way while the stage
  /// is awaited.
  SmallVector<Scales> loadScales(Value s) {
    if (mainloop.getNumScales() == 0 || !plan.scales.empty())
      return {};
    steps.enter(s);
    return scalesOf([&](const ScaleView &scale, Value position) {
      return loadScale(e, steps, scale, position);
    });
  }

  /// The scales that came with a stage.
  SmallVector<Scales> readScales(Value stage) {
    return scalesOf([&](const ScaleView &scale, Value position) {
      return readScale(e, plan, self.shared.scales, stage, scale, position);
    });
  }

  /// Multiplies a stage and adds its sums, times the scales, to registers: one
  /// accumulator after the other, as there are no registers for those of all.
  /// Meanwhile the tensor cores have the other consumer's.
  SmallVector<Value> addProducts(Value stage, MutableArrayRef<Scales> scales,
                                 ValueRange registers) {
    SmallVector<Value> sums(registers);
    for (int64_t i = 0, n = plan.pairs.size() * plan.wgmmas(); i < n; ++i) {
      Value none = pitgpu::SplatOp::create(
          e.b, e.loc, sumsOf<pitgpu::FragmentType>(kWgmmaRows),
          e.constant(e.b.getF32FloatAttr(0)));
      none = pitgpu::AccumulateOp::create(
          e.b, e.loc, sumsOf<pitgpu::AccumulatorType>(kWgmmaRows), none);
      Value product =
          multiply(stage, plan.pairs[i / plan.wgmmas()],
                   i % plan.wgmmas() * kWgmmaRows, kWgmmaRows, none);
      auto values = elementsOf(await(product, 0).getFragments());
      for (auto [j, value] : llvm::enumerate(values)) {
        Value &sum = sums[i * plan.accumulators() + j];
        auto [row, col] = HopperStore::placeOf(j);
        sum = scales.empty()
                  ? arith::AddFOp::create(e.b, e.loc, sum, value).getResult()
                  : LLVM::FMAOp::create(e.b, e.loc, value,
                                        scales[i].product(e, row, col), sum)
                        .getResult();
      }
    }
    return sums;
  }

  Value awaitStage(Value number) {
    return pitgpu::WaitOp::create(e.b, e.loc, self.shared.stages, number);
  }

  /// Hands a stage back, in all blocks of the cluster: what they load of b goes
  /// to this block, too. Scales each warp reads by itself.
  void release(Value stage, Value condition = {}) {
    pitgpu::ReleaseOp::create(e.b, e.loc, stage,
                              /*byWarpgroups=*/plan.scales.empty(),
                              plan.cluster, condition);
  }

  /// Only hands the stages back, if none of the rows exist. Gives the end of
  /// the steps that are to be multiplied. One warp does so and the others wait
  /// for it: no wgmma keeps them together here, and a barrier tells apart this
  /// round and the next only.
  Value skipSteps() {
    Value exists = store.existsAny();
    if (!exists)
      return end;
    e.ifThen(e.logicalNot(exists), [&] {
      if (!plan.scales.empty())
        return releaseSteps(); // each warp hands stages back by itself
      e.ifThen(e.lessThan(self.warp, e.i32(1)), [&] { releaseSteps(); });
      pitgpu::SyncOp::create(e.b, e.loc, pitgpu::SyncScope::Warpgroup);
    });
    return e.select(exists, end, begin);
  }

  void releaseSteps() {
    forSteps(end, {}, [&](Value s, ValueRange) {
      release(awaitStage(numberOf(s)));
      return SmallVector<Value>();
    });
  }

  /// Goes through the steps; `body` takes a step and what the one before
  /// carries, and gives what it carries.
  scf::ForOp
  forSteps(Value end, ArrayRef<Value> carried,
           function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    scf::ForOp loop = e.loop(begin, end, e.i32(1), carried, body);
    e.keepLoop(loop);
    return loop;
  }
  /// The use of the ring that a step has.
  Value numberOf(Value s) { return e.add(done, e.sub(s, begin)); }

  /// Sums of stages are added to those before them in registers.
  SmallVector<Value> addStages(Value end, ArrayRef<Value> initial) {
    auto loop = forSteps(end, initial, [&](Value s, ValueRange sums) {
      SmallVector<Scales> scales = loadScales(s);
      Value stage = awaitStage(numberOf(s));
      if (!plan.scales.empty())
        scales = readScales(e.rem(numberOf(s), plan.stages));
      SmallVector<Value> next = addProducts(stage, scales, sums);
      release(stage);
      return next;
    });
    return SmallVector<Value>(loop.getResults());
  }

  /// Sums stay in the accumulators. A step starts its products, waits for those
  /// of the step before and hands back that one's stage.
  SmallVector<Value> multiplySteps(Value end, ArrayRef<Value> initial) {
    size_t count = plan.pairs.size(), perPair = initial.size() / count;
    SmallVector<Value> carried;
    for (size_t i = 0; i < count; ++i)
      carried.push_back(toAccumulator(initial.slice(i * perPair, perPair)));
    auto ring = cast<pitgpu::RingType>(self.shared.stages.getType());
    carried.push_back(ub::PoisonOp::create(
        e.b, e.loc, pitgpu::StageType::get(e.b.getContext(), ring.getTiles())));
    auto loop = forSteps(end, carried, [&](Value s, ValueRange before) {
      Value stage = awaitStage(numberOf(s));
      SmallVector<Value> next;
      for (size_t i = 0; i < count; ++i)
        next.push_back(
            multiply(stage, plan.pairs[i], 0, plan.perM(), before[i]));
      await({}, count);
      release(before.back(), e.lessThan(begin, s));
      next.push_back(stage);
      return next;
    });
    auto wait = await(loop.getResults().drop_back(), 0);
    release(loop.getResults().back(), e.lessThan(begin, end));
    return elementsOf(wait.getFragments());
  }

  //===--- Results --------------------------------------------------------===//

  /// Calls `body` for pieces of up to kStoreColumns columns: the wgmma, the
  /// first column, how many there are.
  void forPieces(function_ref<void(int64_t, int64_t, int64_t)> body) {
    for (int64_t i = 0; i < plan.wgmmas(); ++i)
      for (int64_t column = 0; column < plan.perN(); column += kStoreColumns)
        body(i, column, std::min(kStoreColumns, plan.perN() - column));
  }

  void locateRows() {
    rows.clear();
    for (int64_t i = 0; i < plan.wgmmas(); ++i)
      rows.push_back(store.locateRows(e.i32(i)));
  }

  SmallVector<Value> initial() {
    SmallVector<SmallVector<Value>> registers(plan.pairs.size() *
                                              plan.wgmmas());
    forPieces([&](int64_t i, int64_t column, int64_t count) {
      SmallVector<Value> values = store.initial(rows[i], e.i32(column), count);
      // One of the splits has the first values.
      if (self.streamK.count)
        for (Value &value : values)
          value = e.select(e.lessThan(self.streamK.part, e.i32(1)), value,
                           e.constant(e.b.getF32FloatAttr(0)));
      for (size_t j = 0; j < plan.pairs.size(); ++j)
        llvm::append_range(registers[j * plan.wgmmas() + i],
                           ArrayRef(values).slice(j * count / 2, count / 2));
    });
    SmallVector<Value> sums;
    for (ArrayRef<Value> values : registers)
      llvm::append_range(sums, values);
    return sums;
  }

  void storeTile(ArrayRef<Value> elements) {
    for (HopperRows &located : rows)
      store.loadForColumns(located);
    forPieces([&](int64_t i, int64_t column, int64_t count) {
      SmallVector<Value> piece;
      for (size_t j = 0; j < plan.pairs.size(); ++j)
        llvm::append_range(piece, elements.slice((j * plan.wgmmas() + i) *
                                                         plan.accumulators() +
                                                     column / 2,
                                                 count / 2));
      store.store(rows[i], piece, e.i32(column), count, column);
    });
  }

  //===--- Tiles that blocks share ----------------------------------------===//

  /// If the tile is this block's alone, stores it. Otherwise each block writes
  /// the sums of its part, and adds up and stores some pieces of the tile.
  void shareTile(ArrayRef<Value> sums) {
    e.ifThen(
        e.lessThan(e.i32(1), self.streamK.count),
        [&] {
          storePartials(sums);
          // A warp without rows has nothing to share.
          ifExists(store.exists(e.i32(0)), [&] { addPieces(); });
        },
        [&] {
          locateRows();
          storeTile(sums);
        });
  }

  /// Runs `body` where rows exist; null: they do.
  void ifExists(Value exists, function_ref<void()> body) {
    exists ? e.ifThen(exists, body) : body();
  }

  /// The thread's number among those that have slots, and what it has in one.
  Value threadOfConsumers() {
    return e.add(e.mul(self.consumer, kWarpgroup), self.thread);
  }
  IntegerAttr sumsOfThread() {
    return e.b.getI64IntegerAttr(plan.wgmmas() * plan.accumulators());
  }

  /// Writes the sums of this block's part.
  void storePartials(ArrayRef<Value> sums) {
    const StreamKWork &streamK = self.streamK;
    Value slot = e.add(streamK.first, e.mul(streamK.part, streamK.distance));
    Value thread = threadOfConsumers();
    for (int64_t i = 0; i < plan.wgmmas(); ++i)
      ifExists(store.exists(e.i32(i)), [&] {
        int64_t first = i * plan.accumulators();
        pitgpu::StorePartialsOp::create(
            e.b, e.loc, sums.slice(first, plan.accumulators()),
            streamK.partials, slot, e.i32(first), sumsOfThread(), thread,
            kConsumers * kWarpgroup, kSumsAtOnce);
      });
  }

  /// Waits for the other splits, then adds up and stores this block's pieces of
  /// the tile: no block alone can read that much quickly. A warp needs what the
  /// same warps of the other blocks wrote, and waits for these only.
  void addPieces() {
    const StreamKWork &streamK = self.streamK;
    int64_t columns = store.pieceColumns(), inWgmma = plan.perN() / columns;
    int64_t pieces = plan.wgmmas() * inWgmma;
    Value warp = e.add(e.mul(self.consumer, kWarps), self.warp);
    warp = e.add(e.mul(streamK.first, kConsumers * kWarps), warp);
    auto own =
        pitgpu::AwaitSplitsOp::create(e.b, e.loc, streamK.part, streamK.count,
                                      streamK.counters, warp, pieces, kPolls);
    auto addPiece = [&](Value piece) {
      Value wgmma = e.div(piece, inWgmma);
      // The first rows exist.
      Value exists = plan.wgmmas() > 1 ? store.exists(wgmma) : Value();
      ifExists(exists, [&] {
        HopperRows located = store.locateRows(wgmma);
        int64_t count = columns / 2;
        auto sums = pitgpu::AddPartialsOp::create(
            e.b, e.loc, SmallVector<Type>(count, e.b.getF32Type()),
            streamK.count, streamK.partials, streamK.first, streamK.distance,
            e.mul(piece, count), sumsOfThread(), threadOfConsumers(),
            kConsumers * kWarpgroup, kSumsAtOnce,
            e.b.getI64IntegerAttr(kSplitsAtOnce), e.b.getI64IntegerAttr(count),
            /*start=*/TypedAttr());
        store.store(located, SmallVector<Value>(sums.getSums()),
                    e.mul(e.rem(piece, inWgmma), columns), columns);
      });
    };
    e.keepLoop(
        e.forEach(own.getFirst(), e.i32(pieces), own.getStep(), addPiece));
  }

  Emitter &e;
  MainloopOp mainloop;
  const HopperPlan &plan;
  HopperThread self;
  Value done;
  MainloopSteps steps;
  Value begin, end; ///< steps that this block multiplies (i32)
  HopperStore store;
  SmallVector<HopperRows, 2> rows; ///< by wgmma
};

} // namespace

Value cuda::consumeTile(Emitter &e, const HopperTile &tile) {
  return Consumer(e, tile).run();
}
