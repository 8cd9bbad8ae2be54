//===- RingSteps.cpp - The steps of a ring --------------------------------===//

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::pit;

RingSteps::RingSteps(Emitter &e, RingOp ring, int64_t stagesPerStep,
                     ChunkMap &chunks,
                     const DenseMap<Value, IndexView> &indices)
    : e(e), ring(ring), stagesPerStep(stagesPerStep), chunks(chunks) {
  Value total = e.index(stagesPerStep);
  for (auto [lower, upper, step] :
       llvm::zip(ring.getLower(), ring.getUpper(), ring.getSteps())) {
    Value span = e.max(e.sub(upper, lower), e.index(0));
    trips.push_back(e.div(e.add(span, step - 1), step));
    total = e.mul(total, trips.back());
  }
  if (ring.getIndex()) {
    index = indices.at(ring.getIndex());
    std::tie(count, offset) = index.countAndOffset(e.b, e.loc, ring.getGroup());
    trips.push_back(e.div(e.add(count, ring.getChunk() - 1), ring.getChunk()));
    total = e.mul(total, trips.back());
  }
  stages = e.toI32(total);
}

void RingSteps::enter(Value s) {
  mapping = IRMapping();
  Value number = e.toIndex(e.div(s, stagesPerStep));
  SmallVector<Value> ivs(trips.size());
  for (size_t i = trips.size(); i-- > 0;) {
    if (i == 0) {
      ivs[i] = number;
      continue;
    }
    Value quotient = arith::DivUIOp::create(e.b, e.loc, number, trips[i]);
    ivs[i] = e.sub(number, e.mul(quotient, trips[i]));
    number = quotient;
  }
  Block &load = ring.getLoad().front();
  size_t dense = ring.getSteps().size();
  for (size_t i = 0; i < dense; ++i)
    mapping.map(load.getArgument(i),
                e.add(ring.getLower()[i], e.mul(ivs[i], ring.getSteps()[i])));
  if (ring.getIndex()) {
    Value first = e.mul(ivs[dense], ring.getChunk());
    Value start = e.add(offset, first);
    Value live = e.min(e.sub(count, first), e.index(ring.getChunk()));
    // Ids are known by the values that stand for them.
    chunks[load.getArgument(dense)] = {index.ids, start, live, Value()};
    chunks[load.getArgument(dense + 1)] = {Value(), start, live, Value()};
  }
  for (Operation &op : load.without_terminator())
    if (!isa<ViewOp>(op))
      e.b.clone(op, mapping);
}

TileAccess RingSteps::access(unsigned i) {
  ViewOp view = ring.getLoaded(i);
  SmallVector<Value> subscripts = llvm::map_to_vector(
      view.getSubscripts(), [&](Value v) { return lookup(v); });
  return accessTile(e, lookup(view.getSrc()), subscripts,
                    cast<VectorType>(view.getResult().getType()).getShape(),
                    view.getPadAttr(), chunks);
}
