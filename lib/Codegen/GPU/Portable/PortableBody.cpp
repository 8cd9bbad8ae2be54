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
      if (auto pointwise = dyn_cast<PointwiseOp>(op)) {
        tiles.compute(pointwise);
        continue;
      }
      multiply(cast<ContractOp>(op), stage);
    }
    return tiles.next();
  }

  void multiply(ContractOp op, Value stage) {
    RegisterTile sums = tiles.of(op.getAcc());
    RegisterTile *computed =
        isa<BlockArgument>(op.getLhs()) ? nullptr : &tiles.of(op.getLhs());
    if (plan.wgmma()) {
      Value group, lhs;
      if (!computed)
        group = e.div(e.fromLane(e.div(self.number, 32), e.i32(0)),
                      kWarpgroup / 32);
      auto tileOf = [&](const StagedTile &staged) -> Value {
        Value at =
            e.add(staged.isInvariant ? self.shared : stage, staged.offset);
        return pitgpu::TileAtOp::create(e.b, e.loc,
                                        BodyProducts::typeOf(staged), at);
      };
      BodyProducts products(e, plan, group, tileOf);
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
