//===- BodyProducer.cpp - Warps that load a tile body ---------------------===//

#include "BodyPipeline.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

class BodyProducer {
public:
  BodyProducer(const RolesContext &roles, const BodyContext &body, Value number)
      : roles(roles), e(body.e), plan(roles.plan), body(body),
        self{e, plan, number, e.i32(0)}, loader(body, self) {}

  /// Loads the tiles of all steps. `tile` is how many tiles the block had
  /// before, `used` how many steps (i32).
  void run(Value tile, Value used) {
    for (const StagedTile &staged : plan.staged)
      if (staged.once)
        load(staged, tile, accessView(e, staged.view, body.chunks),
             [&](Value to) { loader.loadTileOnce(staged, to); });
    auto loadStep = [&](Value s, ValueRange ahead) {
      loader.takeAhead(ahead);
      SmallVector<Value> later = loader.readAhead(e.add(s, 1));
      for (const StagedTile &staged : plan.staged) {
        if (staged.once)
          continue;
        loader.enter(s);
        load(staged, e.add(used, s),
             body.steps.access(staged.tile.getArgNumber()),
             [&](Value to) { loader.loadTile(staged, s, to); });
      }
      return later;
    };
    e.keepLoop(e.loop(e.i32(0), body.steps.total(), e.i32(1),
                      loader.readAhead(e.i32(0)), loadStep));
  }

private:
  void load(const StagedTile &staged, Value number, const TileAccess &access,
            function_ref<void(Value)> copy) {
    const StagedRing &ring = roles.ringOf(staged);
    Value stage = pitgpu::AcquireOp::create(e.b, e.loc, ring.ring, number);
    if (ring.map) {
      pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Tma,
                               ring.tile.getCopiedBytes());
      SmallVector<Value> coords = llvm::map_to_vector(
          access.dims, [](const TileDim &dim) { return dim.start; });
      pitgpu::LoadOp::create(e.b, e.loc, ring.map, coords, stage, /*number=*/0,
                             /*multicast=*/1, /*alone=*/Value());
      return;
    }
    Value tile = pitgpu::TileOp::create(e.b, e.loc, stage, /*number=*/0);
    copy(pitgpu::AddressOp::create(e.b, e.loc, e.b.getI32Type(), tile,
                                   /*row=*/Value(), /*col=*/Value()));
    // Threads arrive twice: with what they copied, and with what they wrote.
    pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Copies);
    pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Writes);
  }

  const RolesContext &roles;
  Emitter &e;
  const BodyPlan &plan;
  BodyContext body;
  PortableThread self;
  BodyLoader loader;
};

} // namespace

void cuda::produceBody(const RolesContext &roles, const BodyContext &body,
                       const RoleTile &place) {
  BodyProducer(roles, body, place.number).run(place.tile, place.used);
}
