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
    this->used = used;
    bool areBoxes = llvm::all_of(
        roles.rings, [](const StagedRing &ring) { return Value(ring.map); });
    // Ids of two steps would take too many registers.
    if (plan.late && areBoxes)
      return loadAsNeeded(tile);
    loadInvariants(tile);
    auto loadStep = [&](Value s, ValueRange ahead) {
      SmallVector<Value> later = loader.readAhead(e.add(s, 1));
      loadTiles(s, ahead, [](const StagedTile &) { return true; });
      return later;
    };
    e.keepLoop(e.loop(e.i32(0), body.steps.total(), e.i32(1),
                      loader.readAhead(e.i32(0)), loadStep));
  }

private:
  /// Loads in the order in which workers need it: what the late contraction
  /// reads comes behind the other tiles of the next step, and what is loaded
  /// once behind those of the first one, which may have a stage before the
  /// workers have done the tile before.
  void loadAsNeeded(Value tile) {
    Value total = body.steps.total(), one = e.i32(1);
    auto isLate = [&](const StagedTile &staged) {
      return staged.tile == ContractOp(plan.late).getRhs();
    };
    auto isEarly = [&](const StagedTile &staged) { return !isLate(staged); };
    Value hasSteps = e.lessThan(e.i32(0), total);
    SmallVector<Value> first = loader.readAhead(e.i32(0));
    e.ifThen(hasSteps, [&] { loadTiles(e.i32(0), first, isEarly); });
    loadInvariants(tile);
    size_t count = first.size();
    SmallVector<Value> carried = first;
    llvm::append_range(carried, loader.readAhead(one));
    auto loadStep = [&](Value s, ValueRange values) {
      SmallVector<Value> next(values.drop_front(count));
      llvm::append_range(next, loader.readAhead(e.add(s, 1)));
      loadTiles(s, values.drop_front(count), isEarly);
      loadTiles(e.sub(s, one), values.take_front(count), isLate);
      return next;
    };
    scf::ForOp loop = e.loop(one, total, one, carried, loadStep);
    e.keepLoop(loop);
    e.ifThen(hasSteps, [&] {
      loadTiles(e.sub(total, one), loop.getResults().take_front(count), isLate);
    });
  }

  void loadInvariants(Value tile) {
    for (const StagedTile &staged : plan.staged)
      if (staged.isInvariant)
        load(staged, tile, accessView(e, staged.view, body.chunks),
             [&](Value to) { loader.loadInvariant(staged, to); });
  }

  /// Loads those tiles of step `s` that `isWanted`; `ahead` was read for it.
  void loadTiles(Value s, ValueRange ahead,
                 function_ref<bool(const StagedTile &)> isWanted) {
    loader.takeAhead(ahead);
    for (const StagedTile &staged : plan.staged) {
      if (staged.isInvariant || !isWanted(staged))
        continue;
      loader.enter(s);
      load(staged, e.add(used, s),
           body.steps.access(staged.tile.getArgNumber()),
           [&](Value to) { loader.loadTile(staged, s, to); });
    }
  }

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
    copy(pitgpu::AddressOp::create(e.b, e.loc, tile));
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
  Value used; ///< steps of the block's tiles before (i32)
};

} // namespace

void cuda::produceBody(const RolesContext &roles, const BodyContext &body,
                       const RoleTile &place) {
  BodyProducer(roles, body, place.number).run(place.tile, place.used);
}
