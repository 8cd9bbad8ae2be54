//===- BodyLoad.cpp - A tile body's loads to shared memory ----------------===//

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
  if (body.plan.takesIdsAhead(staged, body.mainloop))
    for (Value id : ids)
      located.push_back(
          {e.toIndex(id),
           e.inRange(e.toIndex(id), access.dims[staged.operand.rowDim].size)});
  loadStage(self, staged.operand, access, located, e.add(to, staged.offset));
}

int64_t BodyLoader::countIds() {
  const StagedTile *staged = body.plan.tileOfIds(body.mainloop).first;
  return staged ? body.plan.piecesOf(staged->operand.tile) : 0;
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
    const SharedTile &tile = staged->operand.tile;
    Value piece = e.add(self.number, i * body.plan.loaders());
    Value row = e.toIndex(e.div(piece, tile.chunks()));
    read.push_back(e.choose(
        e.lessThan(row, chunk.live),
        [&]() -> Value {
          Value at = e.add(chunk.start, row);
          return memref::LoadOp::create(e.b, e.loc, chunk.ids, at);
        },
        [&] { return e.i32(-1); }));
  }
  llvm::append_range(read, later);
  return read;
}
