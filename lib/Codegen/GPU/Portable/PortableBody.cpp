//===- PortableBody.cpp - Expansion of a mainloop with a tile body --------===//
//
// Tiles that contractions read from memory go through the ring of stages
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
        ring(e, plan.stages, plan.stageBytes,
             e.add(self.shared, plan.invariantBytes), body.steps.total(),
             plan.wgmma()) {}

  void run() {
    self.number = e.hideFromOptimizer(self.number);
    loader.loadInvariants();
    ring.start([&](Value s, Value to) {
      loader.takeAhead(loader.readAhead(s));
      loadStep(s, to);
    });
    tiles.locate(self.number);
    MainloopEpilogue epilogue(e, body.mainloop, {plan.mDim, plan.nDim, 2},
                              plan.vectorAtomics, body.chunks);
    SmallVector<Value> carried = tiles.initial();
    size_t elements = carried.size();
    llvm::append_range(carried, loader.readAhead(e.i32(plan.stages - 1)));
    tiles.readInvariants();
    carried = ring.loop(carried, [&](Value s, Value stage, ValueRange values) {
      ring.wait();
      loader.takeAhead(values.drop_front(elements));
      ring.loadAhead(s, stage, [&](Value s, Value to) { loadStep(s, to); });
      SmallVector<Value> later = loader.readAhead(e.add(s, plan.stages));
      SmallVector<Value> next =
          step(s, ring.address(stage), values.take_front(elements));
      llvm::append_range(next, later);
      return next;
    });
    carried.resize(elements);
    ring.drain();
    tiles.finish(epilogue, self.number, carried);
  }

private:
  void loadStep(Value s, Value to) {
    for (const StagedTile &staged : plan.staged)
      if (!staged.isInvariant)
        loader.loadTile(staged, s, to);
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

  /// The warpgroup of the thread.
  Value group() {
    return e.div(e.fromLane(e.div(self.number, 32), e.i32(0)), kWarpgroup / 32);
  }
  Value tileOf(const StagedTile &staged, Value stage) {
    Value at = e.add(staged.isInvariant ? self.shared : stage, staged.offset);
    return pitgpu::TileAtOp::create(e.b, e.loc, BodyProducts::typeOf(staged),
                                    at);
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
    RegisterTile &computed = tiles.of(op.getLhs());
    Value row = e.add(tiles.warpOrigin(), e.div(e.rem(self.number, 32), 4));
    Value col = e.mul(e.rem(self.number, 4), 2);
    for (size_t i = 0; i < computed.rows; ++i)
      for (size_t j = 0; j < computed.cols; j += 2) {
        Value to =
            pitgpu::AddressOp::create(e.b, e.loc, e.b.getI32Type(), factor,
                                      e.add(row, 8 * i), e.add(col, 4 * j));
        e.store(e.pair(computed.at(i, j), computed.at(i, j + 1)),
                e.sharedPointer(to), /*bytes=*/4);
      }
    e.asyncProxyFence();
    e.barrier();
    RegisterTile sums = products.shapeOfAdded();
    products.await(op, products.startAdded(factor), /*later=*/0, sums);
    products.storeAdded(sums, tiles.numbersOf(storeOf(op).getSubscripts()),
                        self.number, body.chunks);
  }

  void multiply(ContractOp op, Value stage) {
    RegisterTile sums = tiles.of(op.getAcc());
    RegisterTile *computed =
        isa<BlockArgument>(op.getLhs()) ? nullptr : &tiles.of(op.getLhs());
    if (plan.wgmma()) {
      Value lhs;
      BodyProducts products(
          e, plan, computed ? Value() : group(),
          [&](const StagedTile &staged) { return tileOf(staged, stage); });
      if (computed)
        lhs = products.factor(op.getLhs(), *computed);
      products.await(op, products.start(op, sums, lhs), /*later=*/0, sums);
    } else {
      sums = multiplyInBody({self, plan, tiles.warpOrigin(), stage}, op, sums,
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
