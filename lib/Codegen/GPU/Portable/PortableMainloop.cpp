//===- PortableMainloop.cpp - Expansion of pit.mainloop -------------------===//
//
// All threads load the tiles of steps into a ring of the block (StageRing.h),
// and multiply them from there.
//
//===----------------------------------------------------------------------===//

#include "PortableMainloop.h"

#include "PortableLowering.h"
#include "SplitK.h"
#include "StageRing.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

class MainloopExpander {
public:
  MainloopExpander(const ProductThread &self, MainloopOp mainloop,
                   KernelValues values, function_ref<void()> afterStore)
      : self(self), e(self.e), plan(self.plan), mainloop(mainloop),
        chunks(values.chunks), steps(e, mainloop, plan.subSteps(), values),
        splitK(splitSteps(self, mainloop, steps)),
        ring(e, plan.stages, tilesOfStage(plan), self.shared,
             splitK ? splitK->steps() : steps.total()),
        load([this](Value s, Value stage) { loadStep(s, stage); }),
        afterStore(afterStore) {}

  void run() {
    if (splitK)
      e.ifThen(splitK->hasSplit(), [&] { runSteps(); });
    else
      runSteps();
  }

private:
  static std::optional<SplitK> splitSteps(const ProductThread &self,
                                          MainloopOp mainloop,
                                          MainloopSteps &steps) {
    if (self.plan.splits == 1)
      return std::nullopt;
    return SplitK(self, mainloop, steps.total());
  }

  /// The tiles of the views of a, then of b.
  static SmallVector<Type> tilesOfStage(const PortablePlan &plan) {
    SmallVector<Type> tiles(plan.a.views.size(), tileType(plan.a));
    tiles.append(plan.b.views.size(), tileType(plan.b));
    return tiles;
  }

  void runSteps() {
    // Nothing that is known of a thread is kept from tile to tile.
    self.number = e.hideFromOptimizer(self.number);
    locateOperandRows();
    // The tiles of the first steps are on their way while accumulators start.
    ring.start(load);
    MainloopEpilogue epilogue(e, mainloop,
                              {plan.mDim, plan.nDim, plan.neighbours()},
                              plan.vectorAtomics, chunks);
    locate(epilogue, /*withDest=*/false);
    SmallVector<Value> accumulators = epilogue.initial();
    if (splitK)
      accumulators = splitK->startOf(accumulators);
    accumulators = plan.tensorCores() ? tensorCoreSteps(accumulators)
                                      : scalarSteps(accumulators);
    ring.drain();
    // Once more: kept over the steps, places would take the registers that
    // accumulators need.
    self.number = e.hideFromOptimizer(self.number);
    auto finish = [&](ArrayRef<Value> sums) {
      locate(epilogue, /*withDest=*/true);
      epilogue.finish(sums);
      afterStore();
    };
    if (splitK)
      splitK->finish(accumulators, finish);
    else
      finish(accumulators);
  }

  void locate(MainloopEpilogue &epilogue, bool withDest) {
    Fragment fragment =
        plan.tensorCores() ? tensorCoreFragment(self) : scalarFragment(self);
    epilogue.setRows(fragment.rows, withDest);
    epilogue.setCols(fragment.cols);
  }

  //===--- Steps ----------------------------------------------------------===//

  /// Comes to step `s` of the block's; gives its number among the tile's.
  Value enterStep(Value s) {
    if (splitK)
      s = splitK->stepOfTile(s, steps.total());
    steps.enter(s);
    return s;
  }

  /// Loads step `s` into a stage.
  void loadStep(Value s, Value stage) {
    s = enterStep(s);
    Value first = e.mul(e.rem(s, plan.subSteps()), plan.depth);
    for (bool isB : {false, true}) {
      const PortableOperand &operand = isB ? plan.b : plan.a;
      for (auto [i, view] : llvm::enumerate(operand.views))
        loadStage(self, operand,
                  accessStage(self, operand, steps.access(view), first),
                  rows[isB][i], tileIn(stage, isB, i));
    }
  }

  /// Where the tile of an operand's view lies (i32, bytes).
  Value tileIn(Value stage, bool isB, unsigned view) {
    return ring.address(stage, isB ? plan.a.views.size() + view : view);
  }

  /// Rows of a tile that are gathered by ids of the loop around are the same in
  /// all steps: their ids are loaded once.
  void locateOperandRows() {
    for (bool isB : {false, true}) {
      const PortableOperand &operand = isB ? plan.b : plan.a;
      for (unsigned view : operand.views)
        rows[isB].push_back(locateRowsOf(mainloop.getLoaded(view), operand));
    }
  }

  LocatedRows locateRowsOf(ViewOp view, const PortableOperand &operand) {
    if (operand.rowDim < 0 || !operand.kIsCol)
      return {};
    Value subscript = view.getSubscripts()[operand.rowDim];
    if (!isa<IdsType>(subscript.getType()) ||
        mainloop.getLoad().isAncestor(subscript.getParentRegion()))
      return {};
    TileDim row =
        tileDim(e,
                {view.getSrc(), view.getSubscripts(),
                 cast<VectorType>(view.getResult().getType()).getShape()},
                operand.rowDim, chunks);
    return locateRows(self, operand, row);
  }

  SmallVector<Value> scalarSteps(ArrayRef<Value> initial) {
    return ring.loop(initial, [&](Value s, Value number, ValueRange carried) {
      Value stage = ring.wait(number);
      ring.loadAhead(s, number, load);
      if (mainloop.getNumScales() > 0)
        enterStep(s);
      SmallVector<Value> sums;
      for (auto [accumulator, pair] : llvm::enumerate(plan.pairs)) {
        Scales scales(
            e, scaleViews(mainloop, accumulator, plan.mDim, plan.nDim),
            scalarFragment(self), [&](const ScaleView &scale, Value position) {
              return loadScale(e, steps, scale, position);
            });
        llvm::append_range(
            sums, multiplyScalar(self, mainloop, tileIn(stage, false, pair[0]),
                                 tileIn(stage, true, pair[1]), scales,
                                 elementsOf(carried, accumulator)));
      }
      ring.release(stage);
      return sums;
    });
  }

  /// The elements of one accumulator, of those of all.
  SmallVector<Value> elementsOf(ValueRange all, size_t accumulator) {
    size_t count = all.size() / plan.pairs.size();
    return SmallVector<Value>(all.slice(accumulator * count, count));
  }

  /// Registers are loaded one block along k ahead, over the end of a stage, so
  /// that tensor cores need not wait for shared memory after each barrier.
  SmallVector<Value> tensorCoreSteps(ArrayRef<Value> initial) {
    size_t count = initial.size();
    // Blocks of the tiles of a, then of b.
    auto loadBlocks = [&](Value stage, int64_t k) {
      SmallVector<Value> blocks;
      for (bool isB : {false, true})
        for (unsigned i = 0; i < (isB ? plan.b : plan.a).views.size(); ++i)
          llvm::append_range(blocks, loadTensorCoreBlocks(
                                         self, isB, tileIn(stage, isB, i), k));
      return blocks;
    };
    size_t countA = plan.perWorkerM() / 4, countB = plan.perWorkerN() / 4,
           allOfA = countA * plan.a.views.size();
    Value first = ring.wait(e.i32(0));
    SmallVector<Value> carried(initial);
    llvm::append_range(carried, loadBlocks(first, 0));
    carried.push_back(first);
    carried = ring.loop(carried, [&](Value s, Value number, ValueRange values) {
      SmallVector<Value> accumulators(values.take_front(count));
      SmallVector<Value> blocks(values.drop_front(count).drop_back());
      Value stage = values.back();
      int64_t last = plan.depth / (2 * plan.a.tile.chunkElements()) - 1;
      for (int64_t k = 0; k <= last; ++k) {
        if (k == 0)
          ring.loadAhead(s, number, load);
        if (k == last) {
          ring.release(stage);
          stage = ring.wait(ring.next(number, 1));
        }
        SmallVector<Value> next = loadBlocks(stage, k == last ? 0 : k + 1);
        SmallVector<Value> sums;
        for (auto [accumulator, pair] : llvm::enumerate(plan.pairs))
          llvm::append_range(
              sums,
              multiplyTensorCores(
                  self, ArrayRef(blocks).slice(countA * pair[0], countA),
                  ArrayRef(blocks).slice(allOfA + countB * pair[1], countB),
                  elementsOf(accumulators, accumulator)));
        accumulators = sums;
        blocks = next;
      }
      llvm::append_range(accumulators, blocks);
      accumulators.push_back(stage);
      return accumulators;
    });
    ring.release(carried.back());
    carried.resize(count);
    return carried;
  }

  ProductThread self;
  Emitter &e;
  const PortablePlan &plan;
  MainloopOp mainloop;
  ChunkMap &chunks;
  MainloopSteps steps;
  std::optional<SplitK> splitK; ///< where blocks share the steps
  StageRing ring;
  std::function<void(Value, Value)> load;
  function_ref<void()> afterStore;
  /// The rows of the operands' views, if steps share them.
  SmallVector<LocatedRows> rows[2];
};

} // namespace

void cuda::lowerMainloop(const ProductThread &self, MainloopOp mainloop,
                         KernelValues values, function_ref<void()> afterStore) {
  // Ids of steps are of no use after it.
  ChunkMap chunks = values.chunks;
  MainloopExpander(self, mainloop, {chunks, values.indices}, afterStore).run();
}
