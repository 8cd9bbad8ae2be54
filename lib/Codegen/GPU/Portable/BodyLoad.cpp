//===- BodyLoad.cpp - A tile body's loads to shared memory ----------------===//

#include "Codegen/GPU/Common/Lowering.h"
#include "PortableBody.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

void BodyLoader::loadInvariants() {
  Emitter &e = body.e;
  for (const StagedTile &staged : body.plan.staged)
    if (staged.isInvariant)
      loadInvariant(staged, e.add(self.shared, staged.offset));
}

void BodyLoader::loadInvariant(const StagedTile &staged, Value to) {
  loadStage(self, staged.operand, accessView(body.e, staged.view, body.chunks),
            {}, to);
}

void BodyLoader::loadTile(const StagedTile &staged, Value s, Value to) {
  Emitter &e = body.e;
  enter(s);
  TileAccess access = body.steps.access(staged.tile.getArgNumber());
  LocatedRows located;
  if (body.plan.takesIdsAhead(staged, body.mainloop)) {
    Value size = access.dims[staged.operand.rowDim].size;
    for (Value id : idsOfThread(staged.operand.tile))
      located.push_back({id, e.inRange(id, size)});
  }
  loadStage(self, staged.operand, access, located, to);
}

int64_t BodyLoader::countIds() {
  const StagedTile *staged = body.plan.tileOfIds(body.mainloop).first;
  return staged ? body.plan.idRegistersOf(staged->operand.tile) : 0;
}

BodyLoader::LanesRows BodyLoader::rowsOfLanes(const SharedTile &tile) {
  Emitter &e = body.e;
  Value lane = e.rem(self.number, kWarp);
  return {lane, e.sub(self.number, lane), tile.chunks(),
          body.plan.rowsOfWarp(tile)};
}

SmallVector<Value> BodyLoader::idsOfThread(const SharedTile &tile) {
  Emitter &e = body.e;
  auto [lane, warp, chunks, rows] = rowsOfLanes(tile);
  SmallVector<Value> found;
  for (int64_t i = 0, n = body.plan.piecesOf(tile); i < n; ++i) {
    Value piece = e.add(warp, e.i32(i * body.plan.loaders()));
    Value row = e.sub(e.div(e.add(piece, lane), chunks), e.div(piece, chunks));
    int64_t slot = i * rows;
    Value id = e.fromLane(ids[slot / kWarp], e.add(row, e.i32(slot % kWarp)));
    found.push_back(e.toIndex(id));
  }
  return found;
}

void BodyLoader::takeAhead(ValueRange values) {
  ids = llvm::to_vector(values.take_front(countIds()));
  numbers = llvm::to_vector(values.drop_front(countIds()));
}

SmallVector<Value> BodyLoader::readAhead(Value s) {
  Emitter &e = body.e;
  MainloopOp mainloop = body.mainloop;
  SmallVector<Value> read;
  SmallVector<Value> later = body.steps.readNumbers(s);
  int64_t count = countIds();
  if (count)
    body.steps.enter(s, later);
  for (int64_t i = 0; i < count; ++i) {
    auto [staged, listed] = body.plan.tileOfIds(mainloop);
    const ChunkView &chunk = body.chunks.at(listed);
    auto [lane, warp, chunks, rows] = rowsOfLanes(staged->operand.tile);
    Value slot = e.add(lane, e.i32(i * kWarp));
    Value piece = e.add(warp, e.mul(e.div(slot, rows), body.plan.loaders()));
    Value row = e.toIndex(e.add(e.div(piece, chunks), e.rem(slot, rows)));
    read.push_back(e.choose(
        e.lessThan(row, chunk.live),
        [&]() -> Value {
          Value at = e.add(chunk.start, row);
          return e.loadAt(chunk.ids, at);
        },
        [&] { return e.i32(-1); }));
  }
  llvm::append_range(read, later);
  return read;
}
