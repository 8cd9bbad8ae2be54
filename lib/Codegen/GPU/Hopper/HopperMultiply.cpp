//===- HopperMultiply.cpp - A consumer of a mainloop of wgmma -------------===//
//
// For each step: wait until its stage is full, start its wgmmas, wait for those
// of the step before and hand back that stage. Then the results are stored, or
// shared with other blocks.
//
//===----------------------------------------------------------------------===//

#include "HopperScales.h"
#include "HopperStore.h"
#include "StreamKFixup.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// The first consumer's named barrier; the whole block has number 0.
static constexpr int64_t kConsumerBarrier = 1;

namespace {

class Consumer {
public:
  Consumer(Emitter &e, const HopperTile &tile)
      : e(e), mainloop(tile.mainloop), plan(tile.plan), self(tile.self),
        done(tile.done),
        steps(e, mainloop, plan.subSteps, tile.values, tile.now),
        stages(e, plan, self.shared),
        store(e, mainloop, plan, self, tile.values.chunks) {
    std::tie(begin, end) = stepsOfPart(e, self.streamK, steps.total());
  }

  Value run() {
    describeOperands();
    // What depends on rows alone is loaded while the first stages come.
    locateRows();
    for (HopperRows &located : rows)
      store.prefetchExtras(located);
    SmallVector<Value> accumulators = initial();
    accumulators = multiplySteps(accumulators);
    // Kept so long, columns of the thread would be spilled. Elsewhere they are
    // not, and to find them again costs 3 %.
    if (!store.isStaged() && !self.streamK.count)
      self.thread = e.hideFromOptimizer(self.thread);
    if (self.streamK.count)
      shareTile(accumulators);
    else
      storeTile(accumulators);
    return e.add(done, e.sub(end, begin));
  }

private:
  //===--- Multiplication -------------------------------------------------===//

  Type accumulatorType() {
    return LLVM::LLVMStructType::getLiteral(
        e.b.getContext(),
        SmallVector<Type>(plan.accumulators(), e.b.getF32Type()));
  }

  /// The descriptor of an operand's part in the first stage, `offset` bytes
  /// into it. The same for all steps: descriptors of stages differ by a
  /// constant, and so they stay in uniform registers, from where wgmma takes
  /// them.
  Value descriptor(const HopperOperand &operand, Value offset) {
    return describeInShared(e, e.add(self.shared, offset),
                            operand.descriptor());
  }
  /// This consumer's parts of the tiles of both operands.
  void describeOperands() {
    Value a = e.i32(0), b = e.i32(plan.a.bytes());
    if (plan.splitN)
      b = e.add(b, e.mul(self.consumer, plan.b.outerOffset(plan.perN())));
    else
      a = e.add(a, e.mul(self.consumer, plan.a.outerOffset(plan.perM())));
    for (size_t view = 0; view < plan.a.views.size(); ++view)
      descriptors[0].push_back(
          descriptor(plan.a, e.add(a, view * plan.a.tileBytes())));
    for (size_t view = 0; view < plan.b.views.size(); ++view)
      descriptors[1].push_back(
          descriptor(plan.b, e.add(b, view * plan.b.tileBytes())));
  }
  /// What wgmma calls the elements of an operand of the contractions.
  NVVM::WGMMATypes wgmmaType(const HopperOperand &operand) {
    Type element = getElementTypeOrSelf(
        mainloop.getOperandView(operand.number).getResult().getType());
    return element.isF32()                  ? NVVM::WGMMATypes::tf32
           : element.isF16()                ? NVVM::WGMMATypes::f16
           : element.isBF16()               ? NVVM::WGMMATypes::bf16
           : isa<Float8E4M3FNType>(element) ? NVVM::WGMMATypes::e4m3
                                            : NVVM::WGMMATypes::e5m2;
  }

  /// Descriptors of this consumer's parts of a stage: of the tiles of a and b.
  std::array<SmallVector<Value>, 2> describeStage(Value stage) {
    Value offset =
        e.mul(arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), stage),
              plan.stageBytes() >> 4);
    std::array<SmallVector<Value>, 2> found;
    for (int operand = 0; operand < 2; ++operand)
      for (Value descriptor : descriptors[operand])
        found[operand].push_back(e.add(descriptor, offset));
    return found;
  }

  /// Starts a wgmma of accumulator `i` and part `k` of a stage. Without
  /// `adds` it replaces what `sum` has.
  Value startPart(const std::array<SmallVector<Value>, 2> &at, size_t i,
                  int64_t k, Value sum, bool adds = true) {
    auto [viewOfA, viewOfB] = plan.pairs[i / plan.wgmmas()];
    int64_t row = i % plan.wgmmas() * kWgmmaRows;
    Wgmma wgmma{
        wgmmaType(plan.a), wgmmaType(plan.b), plan.perN(), plan.wgmmaDepth(),
        plan.a.kIsCol,     plan.b.kIsCol,     adds};
    return startWgmma(
        e, wgmma,
        advanceDescriptor(e, at[0][viewOfA],
                          k * plan.a.kStepBytes() + plan.a.outerOffset(row)),
        advanceDescriptor(e, at[1][viewOfB], k * plan.b.kStepBytes()), sum);
  }

  int64_t wgmmasOfStage() { return plan.depth / plan.wgmmaDepth(); }

  /// Starts the wgmmas of a stage.
  SmallVector<Value> multiply(Value stage, ValueRange accumulators) {
    auto at = describeStage(stage);
    SmallVector<Value> sums(accumulators);
    NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
    for (int64_t k = 0; k < wgmmasOfStage(); ++k)
      for (auto [i, sum] : llvm::enumerate(sums))
        sum = startPart(at, i, k, sum);
    NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
    return sums;
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

  /// Those of step `s`, from memory: they are on their way while the stage is
  /// awaited.
  SmallVector<Scales> loadScales(Value s) {
    if (mainloop.getNumScales() == 0 || !plan.scales.empty())
      return {};
    steps.enter(s);
    return scalesOf([&](const ScaleView &scale, Value position) {
      return loadScale(e, steps, scale, position);
    });
  }

  /// Those that came with a stage.
  SmallVector<Scales> readScales(Value stage) {
    return scalesOf([&](const ScaleView &scale, Value position) {
      return readScale(e, plan, self.shared, stage, scale, position);
    });
  }

  /// Multiplies a stage and adds its sums, times the scales, to registers: one
  /// accumulator after the other, as there are no registers for those of all.
  /// Meanwhile the tensor cores have the other consumer's.
  SmallVector<Value> addProducts(Value stage, MutableArrayRef<Scales> scales,
                                 ValueRange registers) {
    auto at = describeStage(stage);
    SmallVector<Value> sums(registers);
    for (size_t i = 0; i < plan.pairs.size() * plan.wgmmas(); ++i) {
      Value part = LLVM::UndefOp::create(e.b, e.loc, accumulatorType());
      NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
      for (int64_t k = 0; k < wgmmasOfStage(); ++k)
        part = startPart(at, i, k, part, /*adds=*/k > 0);
      NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
      for (auto [j, value] : llvm::enumerate(waitForAll(part))) {
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

  /// Hands a stage back, in all blocks of the cluster: what they load of b goes
  /// to this block, too. A thread of each warpgroup speaks for all, or one of
  /// each warp (emptyCount).
  void release(Value stage, Value condition) {
    Value number =
        plan.scales.empty() ? self.thread : e.rem(self.thread, kLanes);
    Value mine = e.lessThan(number, e.i32(plan.cluster));
    auto branch = scf::IfOp::create(e.b, e.loc, e.logicalAnd(mine, condition),
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    if (plan.cluster == 1)
      return arriveAtMBarrier(e, stages.empty(stage));
    Value barrier = e.sharedPointer(stages.empty(stage));
    auto remote = LLVM::LLVMPointerType::get(e.b.getContext(), 7);
    // LLVM takes mapa for an op that may run before the branch, where the
    // thread is the number of no block.
    Value block = e.hideFromOptimizer(number);
    barrier = NVVM::MapaOp::create(e.b, e.loc, remote, barrier, block);
    // What was read is not written before the wait for it: a release would
    // only put a fence into every step.
    NVVM::MBarrierArriveOp::create(e.b, e.loc, Type(), barrier, Value(),
                                   NVVM::MemScopeKind::CLUSTER,
                                   /*relaxed=*/true);
  }

  /// Only hands the stages back, if none of the rows exist. Gives the end of
  /// the steps that are to be multiplied. One warp does so and the others wait
  /// for it: no wgmma keeps them together here, and a barrier tells apart this
  /// round and the next only.
  Value skipSteps() {
    Value exists = store.existsAny();
    if (!exists)
      return end;
    Value none = arith::XOrIOp::create(e.b, e.loc, exists,
                                       e.constant(e.b.getBoolAttr(true)));
    e.ifThen(none, [&] {
      if (!plan.scales.empty())
        return releaseSteps(); // each warp hands stages back by itself
      e.ifThen(e.lessThan(self.warp, e.i32(1)), [&] { releaseSteps(); });
      Value id = e.add(self.consumer, kConsumerBarrier);
      NVVM::BarrierOp::create(e.b, e.loc, Type(), id, e.i32(kWarpgroup),
                              NVVM::BarrierReductionAttr(), Value());
    });
    return e.select(exists, end, begin);
  }

  void releaseSteps() {
    auto loop = scf::ForOp::create(e.b, e.loc, begin, end, e.i32(1));
    e.keepLoop(loop);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value number = e.add(done, e.sub(loop.getInductionVar(), begin));
    Value stage = stages.stage(number);
    stages.waitFull(number, stage);
    release(stage, e.constant(e.b.getBoolAttr(true)));
  }

  /// Goes through the steps, if there are any. The wait for the last of them is
  /// within the branch: where it ends, ptxas may have to move registers.
  SmallVector<Value> multiplySteps(ArrayRef<Value> initial) {
    SmallVector<Type> types(plan.elements(), e.b.getF32Type());
    Value end = skipSteps();
    auto branch = scf::IfOp::create(e.b, e.loc, types, e.lessThan(begin, end),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(e.b, e.loc, registersOf(initial));
    e.b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> carried(initial);
    if (plan.addsStages)
      carried = registersOf(initial);
    Value always = e.constant(e.b.getBoolAttr(true));
    auto loop = scf::ForOp::create(e.b, e.loc, begin, end, e.i32(1), carried);
    e.keepLoop(loop);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(loop.getBody());
      Value s = loop.getInductionVar();
      Value number = e.add(done, e.sub(s, begin));
      Value stage = stages.stage(number);
      SmallVector<Scales> scales = loadScales(s);
      stages.waitFull(number, stage);
      if (!plan.scales.empty())
        scales = readScales(stage);
      if (plan.has(Loader::CpAsyncGather))
        fenceAsyncProxy(e); // what cp.async wrote
      SmallVector<Value> sums;
      if (plan.addsStages) {
        sums = addProducts(stage, scales, loop.getRegionIterArgs());
        release(stage, always);
      } else {
        sums = multiply(stage, loop.getRegionIterArgs());
        NVVM::WgmmaWaitGroupSyncOp::create(e.b, e.loc, 1);
        release(stages.stage(e.sub(number, e.i32(1))), e.lessThan(begin, s));
      }
      scf::YieldOp::create(e.b, e.loc, sums);
    }
    SmallVector<Value> sums(loop.getResults());
    if (!plan.addsStages) {
      sums = waitForAll(sums);
      Value last = e.sub(e.add(done, e.sub(end, begin)), e.i32(1));
      release(stages.stage(last), always);
    }
    scf::YieldOp::create(e.b, e.loc, sums);
    return SmallVector<Value>(branch.getResults());
  }

  SmallVector<Value> registersOf(ValueRange sums) {
    SmallVector<Value> registers;
    for (Value sum : sums)
      for (int64_t i = 0; i < plan.accumulators(); ++i)
        registers.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, sum, i));
    return registers;
  }

  /// Waits for all wgmmas. The registers go through the wait, so that nothing
  /// reads them before it.
  SmallVector<Value> waitForAll(ValueRange sums) {
    return waitForWgmmas(e, registersOf(sums));
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
      // One of the parts has the first values.
      if (self.streamK.count)
        for (Value &value : values)
          value = e.select(e.lessThan(self.streamK.part, e.i32(1)), value,
                           e.constant(e.b.getF32FloatAttr(0)));
      for (size_t j = 0; j < plan.pairs.size(); ++j)
        llvm::append_range(registers[j * plan.wgmmas() + i],
                           ArrayRef(values).slice(j * count / 2, count / 2));
    });
    SmallVector<Value> sums;
    for (ArrayRef<Value> values : registers) {
      Value sum = LLVM::UndefOp::create(e.b, e.loc, accumulatorType());
      for (auto [j, value] : llvm::enumerate(values))
        sum = LLVM::InsertValueOp::create(e.b, e.loc, sum, value,
                                          static_cast<int64_t>(j));
      sums.push_back(sum);
    }
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

  /// If the tile is this block's alone, stores it. Otherwise each block writes
  /// the sums of its part, and adds up and stores some pieces of the tile.
  void shareTile(ArrayRef<Value> sums) {
    e.ifThen(
        e.lessThan(e.i32(1), self.streamK.count),
        [&] {
          StreamKFixup partials(e, plan, self, store);
          partials.write(sums);
          partials.addPieces();
        },
        [&] {
          locateRows();
          storeTile(sums);
        });
  }

  Emitter &e;
  MainloopOp mainloop;
  const HopperPlan &plan;
  HopperThread self;
  Value done;
  MainloopSteps steps;
  HopperStages stages;
  Value begin, end; ///< steps that this block multiplies (i32)
  /// Of the tiles of a and of b in the first stage (i64).
  SmallVector<Value> descriptors[2];
  HopperStore store;
  SmallVector<HopperRows, 2> rows; ///< by wgmma
};

} // namespace

Value cuda::consumeTile(Emitter &e, const HopperTile &tile) {
  return Consumer(e, tile).run();
}
