//===- PortableBody.cpp - Expansion of a mainloop with a tile body --------===//
//
// Tiles that contractions read from memory go through a ring of the block
// (StageRing.h), or are loaded once. All other tiles are registers
// (BodyTiles.cpp). All threads load and compute.
//
//===----------------------------------------------------------------------===//

#include "PortableBody.h"

#include "StageRing.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

class BodyExpander {
public:
  BodyExpander(const PortableThread &self, const BodyContext &body)
      : self(self), e(body.e), plan(body.plan), body(body),
        loader(body, this->self), tiles(body),
        ring(e, plan.stages, tilesOfStage(plan),
             e.add(self.shared, plan.invariantBytes), body.steps.total()) {}

  void run() {
    self.number = e.hideFromOptimizer(self.number);
    loader.loadInvariants();
    ring.start([&](Value s, Value stage) {
      loader.takeAhead(loader.readAhead(s));
      loadStep(s, stage);
    });
    tiles.locate(self.number);
    tiles.beginAt(plan.wgmma() ? e.mul(group(), kWgmmaRows)
                               : e.mul(warp(), plan.perWorkerM()));
    MainloopEpilogue epilogue(e, body.mainloop, {plan.mDim, plan.nDim, 2},
                              plan.vectorAtomics, body.chunks);
    SmallVector<Value> carried = tiles.initial();
    size_t elements = carried.size();
    llvm::append_range(carried, loader.readAhead(e.i32(plan.stages - 1)));
    tiles.readInvariants();
    carried = ring.loop(carried, [&](Value s, Value number, ValueRange values) {
      Value stage = ring.wait(number);
      loader.takeAhead(values.drop_front(elements));
      ring.loadAhead(s, number,
                     [&](Value s, Value stage) { loadStep(s, stage); });
      SmallVector<Value> later = loader.readAhead(e.add(s, plan.stages));
      SmallVector<Value> next = step(s, stage, values.take_front(elements));
      ring.release(stage);
      llvm::append_range(next, later);
      return next;
    });
    carried.resize(elements);
    ring.drain();
    tiles.finish(epilogue, self.number, carried);
  }

private:
  static SmallVector<Type> tilesOfStage(const BodyPlan &plan) {
    SmallVector<Type> tiles;
    for (const StagedTile &staged : plan.staged)
      if (!staged.isInvariant)
        tiles.push_back(tileType(staged.operand));
    return tiles;
  }

  void loadStep(Value s, Value stage) {
    for (const StagedTile &staged : plan.staged)
      if (!staged.isInvariant)
        loader.loadTile(staged, s, addressOf(staged, stage));
  }

  SmallVector<Value> step(Value s, Value stage, ValueRange carried) {
    tiles.enter(s, carried);
    Block &compute = body.mainloop.getCompute().front();
    for (Operation &op : compute.without_terminator()) {
      auto contract = dyn_cast<ContractOp>(op);
      if (contract && contract == plan.added)
        add(stage);
      else if (contract)
        multiply(contract, stage);
      else if (auto pointwise = dyn_cast<PointwiseOp>(op);
               pointwise && !isOfStore(pointwise))
        tiles.compute(pointwise);
    }
    return tiles.next();
  }

  /// The warp and the warpgroup of the thread, as ptxas knows them.
  Value warp() { return e.fromLane(e.div(self.number, 32), e.i32(0)); }
  Value group() { return e.div(warp(), kWarpgroup / 32); }
  /// A tile of a stage, or one that is loaded once.
  Value tileOf(const StagedTile &staged, Value stage) {
    if (staged.isInvariant)
      return pitgpu::TileAtOp::create(e.b, e.loc, tileType(staged.operand),
                                      e.add(self.shared, staged.offset));
    auto before = ArrayRef(plan.staged.data(), &staged);
    return ring.tile(stage, llvm::count_if(before, [](const StagedTile &tile) {
                       return !tile.isInvariant;
                     }));
  }
  Value addressOf(const StagedTile &staged, Value stage) {
    return pitgpu::AddressOp::create(e.b, e.loc, tileOf(staged, stage));
  }

  /// Adds a step's part of a sum over rows to memory. The threads met since
  /// that of the step before was multiplied.
  void add(Value stage) {
    ContractOp op = plan.added;
    BodyProducts products(e, plan, group(), [&](const StagedTile &staged) {
      return tileOf(staged, stage);
    });
    Value factor =
        pitgpu::TileAtOp::create(e.b, e.loc, BodyProducts::typeOfFactor(plan),
                                 e.add(self.shared, plan.addedOffset()));
    ThreadElements computed(e, tiles.of(op.getLhs()));
    Value row = e.add(tiles.warpOrigin(), e.div(e.rem(self.number, 32), 4));
    Value col = e.mul(e.rem(self.number, 4), 2);
    for (int64_t i = 0; i < computed.type.getThreadRows(); ++i)
      for (int64_t j = 0; j < computed.type.getThreadCols(); j += 2) {
        Value to =
            pitgpu::AddressOp::create(e.b, e.loc, e.b.getI32Type(), factor,
                                      e.add(row, 8 * i), e.add(col, 4 * j));
        e.store(e.pair(computed.at(i, j), computed.at(i, j + 1)),
                e.sharedPointer(to), /*bytes=*/4);
      }
    e.asyncProxyFence();
    e.barrier();
    Value sums = products.await(op, products.startAdded(factor), /*later=*/0,
                                /*before=*/Value());
    products.storeAdded(sums, tiles.numbersOf(storeOf(op).getSubscripts()),
                        self.number, body.chunks);
  }

  void multiply(ContractOp op, Value stage) {
    Value sums = tiles.of(op.getAcc());
    Value computed =
        isa<BlockArgument>(op.getLhs()) ? Value() : tiles.of(op.getLhs());
    if (plan.wgmma()) {
      BodyProducts products(
          e, plan, computed ? Value() : group(),
          [&](const StagedTile &staged) { return tileOf(staged, stage); });
      if (computed)
        computed = products.factor(op.getLhs(), computed);
      sums = products.await(op, products.start(op, sums, computed),
                            /*later=*/0, sums);
    } else {
      auto address = [&](const StagedTile &staged) {
        return addressOf(staged, stage);
      };
      sums = multiplyInBody({self, plan, tiles.warpOrigin(), address}, op, sums,
                            computed);
    }
    tiles.set(op.getResult(), sums);
  }

  PortableThread self;
  Emitter &e;
  const BodyPlan &plan;
  BodyContext body;
  BodyLoader loader;
  BodyTiles tiles;
  StageRing ring;
};

} // namespace

void cuda::lowerTileBody(const PortableThread &self, const BodyPlan &plan,
                         MainloopOp mainloop, KernelValues values) {
  // Ids of steps are of no use after it.
  ChunkMap chunks = values.chunks;
  MainloopSteps steps(self.e, mainloop, /*stagesPerStep=*/1,
                      {chunks, values.indices});
  BodyContext body{self.e, plan, mainloop, chunks, steps};
  BodyExpander(self, body).run();
}
