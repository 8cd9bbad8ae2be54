//===- MainloopSteps.cpp - The steps of a mainloop ------------------------===//

#include "MainloopSteps.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

MainloopSteps::MainloopSteps(Emitter &e, MainloopOp mainloop,
                             int64_t stagesPerStep, KernelValues values,
                             std::pair<Value, Value> group)
    : e(e), mainloop(mainloop), stagesPerStep(stagesPerStep),
      chunks(values.chunks) {
  Value total = e.index(stagesPerStep);
  for (auto [lower, upper, step] : llvm::zip(
           mainloop.getLower(), mainloop.getUpper(), mainloop.getSteps())) {
    Value span = e.max(e.sub(upper, lower), e.index(0));
    trips.push_back(e.div(e.add(span, step - 1), step));
    total = e.mul(total, trips.back());
  }
  if (mainloop.getIndex()) {
    index = values.indices.at(mainloop.getIndex());
    std::tie(count, offset) =
        group.first ? group
                    : index.countAndOffset(e.b, e.loc, mainloop.getGroup());
    trips.push_back(
        e.div(e.add(count, mainloop.getChunk() - 1), mainloop.getChunk()));
    total = e.mul(total, trips.back());
    // The last chunk has no stages without ids. With dense ranges around the
    // chunks it would be the last one of each of their points.
    int64_t chunk = mainloop.getChunk(), idsOfStage = chunk / stagesPerStep;
    if (trips.size() == 1 && idsOfStage * stagesPerStep == chunk)
      total = e.div(e.add(count, idsOfStage - 1), idsOfStage);
  }
  stages = e.toI32(total);
}

void MainloopSteps::enter(Value s, ValueRange numbers) {
  mapping = IRMapping();
  // Divisions of 32 bits: those of 64 are calls.
  Value number = e.div(s, stagesPerStep);
  SmallVector<Value> ivs(trips.size());
  for (size_t i = trips.size(); i-- > 0;) {
    if (i == 0) {
      ivs[i] = e.toIndex(number);
      continue;
    }
    Value trip = e.toI32(trips[i]);
    Value quotient = arith::DivUIOp::create(e.b, e.loc, number, trip);
    ivs[i] = e.toIndex(e.sub(number, e.mul(quotient, trip)));
    number = quotient;
  }
  Block &load = mainloop.getLoad().front();
  size_t dense = mainloop.getSteps().size();
  for (size_t i = 0; i < dense; ++i)
    mapping.map(
        load.getArgument(i),
        e.add(mainloop.getLower()[i], e.mul(ivs[i], mainloop.getSteps()[i])));
  if (mainloop.getIndex()) {
    Value first = e.mul(ivs[dense], mainloop.getChunk());
    Value start = e.add(offset, first);
    Value live = e.min(e.sub(count, first), e.index(mainloop.getChunk()));
    // Ids are known by the values that stand for them.
    chunks[load.getArgument(dense)] = {index.ids, start, live, Value()};
    chunks[load.getArgument(dense + 1)] = {Value(), start, live, Value()};
  }
  for (Operation &op : load.without_terminator())
    if (isNumberOfTile(&op)) {
      mapping.map(op.getResult(0), numbers.empty()
                                       ? numberOf(cast<vector::ExtractOp>(op))
                                       : numbers.front());
      numbers = numbers.empty() ? numbers : numbers.drop_front();
    } else if (auto ids = dyn_cast<IdsOp>(op)) {
      chunks[ids.getIds()] = chunkOf(
          e.b, ids, lookup(ids.getList()),
          llvm::map_to_vector(ids.getSubscripts(), [&](Value subscript) {
            return lookup(subscript);
          }));
    } else if (!isa<ViewOp, CoordsOp>(op)) {
      e.b.clone(op, mapping);
    }
}

SmallVector<Value> MainloopSteps::readNumbers(Value s) {
  SmallVector<Value> numbers;
  Block &load = mainloop.getLoad().front();
  if (llvm::none_of(load.without_terminator(),
                    [](Operation &op) { return isNumberOfTile(&op); }))
    return numbers;
  enter(s);
  for (Operation &op : load.without_terminator())
    if (isNumberOfTile(&op))
      numbers.push_back(lookup(op.getResult(0)));
  return numbers;
}

Value MainloopSteps::numberOf(vector::ExtractOp extract) {
  ArrayRef<int64_t> places = extract.getStaticPosition();
  if (auto coords = extract.getSource().getDefiningOp<CoordsOp>())
    return readCoordinate(e, chunks.at(coords.getIds()), places.front());
  return readNumber(
      e, accessLoaded(extract.getSource().getDefiningOp<ViewOp>()), places);
}

TileAccess MainloopSteps::access(unsigned number) {
  return accessLoaded(mainloop.getLoaded(number));
}

TileAccess MainloopSteps::accessLoaded(ViewOp view) {
  SmallVector<Value> subscripts = llvm::map_to_vector(
      view.getSubscripts(), [&](Value v) { return lookup(v); });
  return accessTile(e,
                    {lookup(view.getSrc()), subscripts,
                     cast<VectorType>(view.getResult().getType()).getShape()},
                    view.getPadAttr(), chunks);
}

void cuda::eraseMainloop(RewriterBase &rewriter, MainloopOp mainloop) {
  SmallVector<Operation *> views;
  for (ValueRange tiles : {mainloop.getExtras(), mainloop.getInvariants()})
    for (Value tile : tiles)
      views.push_back(tile.getDefiningOp());
  rewriter.eraseOp(mainloop);
  for (Operation *view : views)
    if (view->use_empty())
      rewriter.eraseOp(view);
}
