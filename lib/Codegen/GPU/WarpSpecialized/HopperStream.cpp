//===- HopperStream.cpp - Ids and elements, some steps ahead --------------===//

#include "HopperStream.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr int64_t kIdBytes = 4;
/// A word is what cp.async copies at least.
static constexpr int64_t kWordBytes = 4;

HopperThreadPlace::HopperThreadPlace(Emitter &e, const HopperOperand &operand,
                                     Value thread) {
  // Chunks; or pairs of elements, which are neighbours in shared memory only.
  int64_t bytes =
      operand.isGatheredByElement() ? 2 * operand.elementBytes : kChunkBytes;
  int64_t perLine = operand.lineBytes / bytes;
  rowsAtOnce = kWarpgroup / perLine;
  Value piece = e.rem(thread, perLine);
  row = e.div(thread, perLine);
  col = e.mul(piece, bytes / operand.elementBytes);
}

HopperStream::HopperStream(Emitter &e, const HopperTile &tile,
                           MainloopSteps &steps)
    : e(e), tile(tile), plan(tile.plan), self(tile.self), steps(steps),
      wave(tile.wave) {
  if (hasElements())
    place = HopperThreadPlace(e, plan.b, self.thread);
}

/// Ids of first steps have places of their own.
Value HopperStream::idPlace(Value s, Value number, Value wave) {
  Value later = e.bitAnd(s, plan.idSlots() - 1);
  Value first = e.add(e.mul(e.rem(wave, 2), plan.firstIdSlots()), s);
  Value slot = e.select(e.lessThan(s, e.i32(plan.firstIdSlots())),
                        e.add(first, plan.idSlots()), later);
  Value byte = e.add(e.mul(slot, plan.idSlotBytes()), e.mul(number, kIdBytes));
  return e.add(self.shared.ids, byte);
}

Value HopperStream::id(Value s, Value number) {
  return e.load(e.b.getI32Type(), e.sharedPointer(idPlace(s, number, wave)),
                kIdBytes, /*isVolatile=*/true);
}

/// Copies an id of step `s` of the block's tile number `wave`: 0 if there is no
/// such id in the step, which exists.
void HopperStream::copyId(MainloopSteps &steps, Value s, Value number,
                          Value wave) {
  steps.enter(s);
  TileDim dim = steps.access(plan.a.views.front()).dims[plan.a.rowDim];
  Value at = e.toIndex(e.add(number, firstOf(s)));
  Value start = e.addressOf(dim.ids);
  Value from = e.add(start, e.mul(e.add(dim.start, at), kIdBytes));
  pitgpu::CopyOp::create(e.b, e.loc, e.globalPointer(e.toI64(from)),
                         e.lessThan(at, dim.limit), idPlace(s, number, wave),
                         kWordBytes);
}

/// Copies the ids of a tile's first steps, and has its barrier say when they
/// have come.
void HopperStream::copyFirstIds(MainloopSteps &steps, Value wave) {
  int64_t ids = plan.firstIdSlots() * plan.depth;
  for (int64_t i = 0; i < ids; i += kWarpgroup) {
    Value number = e.add(self.thread, i);
    Value s = e.div(number, plan.depth);
    Value exists = e.lessThan(s, steps.total());
    if (i + kWarpgroup > ids)
      exists = e.logicalAnd(exists, e.lessThan(number, e.i32(ids)));
    e.ifThen(exists,
             [&] { copyId(steps, s, e.rem(number, plan.depth), wave); });
  }
  Value stage =
      pitgpu::AcquireOp::create(e.b, e.loc, self.shared.firstIds, wave);
  pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Copies);
}

/// The place of this thread's first word of step `s` (i32).
Value HopperStream::elementPlace(Value s) {
  Value slot = e.rem(s, plan.elementSlots());
  Value byte = e.add(e.mul(slot, plan.elementSlotBytes()),
                     e.mul(self.thread, 2 * kWordBytes));
  return e.add(self.shared.elements, byte);
}

/// The nearest number from 0 on, and below `size`.
static Value clamp(Emitter &e, Value number, Value size) {
  return e.max(e.min(number, e.sub(size, e.index(1))), e.index(0));
}

/// Copies the words of this thread's elements of step `s`, which exists.
void HopperStream::copyElements(Value s) {
  steps.enter(s);
  TileAccess access = steps.access(plan.b.views.front());
  const TileDim &k = access.dims[plan.b.colDim];
  Value fixed = e.index(0), columns[2], exist[2];
  for (auto [d, dim] : llvm::enumerate(access.dims))
    if (static_cast<int>(d) != plan.b.rowDim &&
        static_cast<int>(d) != plan.b.colDim)
      fixed = e.add(fixed, e.mul(dim.start, dim.stride));
  for (int64_t j = 0; j < 2; ++j) {
    Value at = e.toIndex(id(s, e.add(place.col, j)));
    exist[j] = e.inRange(at, k.size);
    // The word that the element is in: where TMA can describe a tensor, rows
    // are multiples of it.
    columns[j] = e.add(fixed, e.bitAnd(at, -2));
  }
  Value to = elementPlace(s);
  for (auto [n, row] : llvm::enumerate(rows))
    for (int64_t j = 0; j < 2; ++j) {
      Value offset =
          e.add(e.mul(row, access.dims[plan.b.rowDim].stride), columns[j]);
      int64_t word = 2 * n * kWarpgroup + j;
      pitgpu::CopyOp::create(e.b, e.loc, elementAddress(e, access, offset),
                             exist[j], e.add(to, word * kWordBytes),
                             kWordBytes);
    }
}

void HopperStream::start() {
  // The ids of the tile before have been read.
  pitgpu::SyncOp::create(e.b, e.loc, pitgpu::SyncScope::Role);
  auto copyOwn = [&] { copyFirstIds(steps, wave); };
  if (tile.next.first) {
    e.ifThen(e.lessThan(wave, e.i32(1)), copyOwn);
    MainloopSteps following(e, tile.mainloop, plan.subSteps(), tile.values,
                            tile.next);
    copyFirstIds(following, e.add(wave, 1));
  } else {
    copyOwn();
  }
  pitgpu::WaitOp::create(e.b, e.loc, self.shared.firstIds, wave);
  if (!hasElements())
    return;
  // Rows are the same in all steps; of one that does not exist, another is
  // loaded, and what comes of it is not stored.
  steps.enter(e.i32(0));
  TileDim dim = steps.access(plan.b.views.front()).dims[plan.b.rowDim];
  for (int64_t r = 0; r < plan.b.rows; r += place.rowsAtOnce) {
    Value number = e.toIndex(e.add(place.row, r));
    Value at = locate(e, dim, clamp(e, number, dim.limit)).first;
    rows.push_back(dim.ids ? clamp(e, at, dim.size) : at);
  }
  for (int64_t s = 0; s < plan.stepsAhead(); ++s) {
    e.ifThen(e.lessThan(e.i32(s), steps.total()),
             [&] { copyElements(e.i32(s)); });
    endStep();
  }
}

void HopperStream::endStep() {
  if (hasElements())
    pitgpu::CopyGroupOp::create(e.b, e.loc);
}

void HopperStream::copyAhead(Value s) {
  Value total = steps.total();
  if (hasElements()) {
    Value later = e.add(s, plan.stepsAhead());
    e.ifThen(e.lessThan(later, total), [&] { copyElements(later); });
  }
  Value later = e.add(s, 2 * plan.stepsAhead());
  Value copies = e.logicalAnd(e.lessThan(later, total),
                              e.lessThan(self.thread, e.i32(plan.depth)));
  e.ifThen(copies, [&] { copyId(steps, later, self.thread, wave); });
}

void HopperStream::storeElements(Value s, Value tile) {
  const HopperOperand &op = plan.b;
  // They came with a step so many before the one that ended last.
  pitgpu::CopyWaitOp::create(e.b, e.loc,
                             plan.stepsAhead() + plan.stepsBehind());
  steps.enter(s);
  TileDim k = steps.access(op.views.front()).dims[op.colDim];
  // Which bytes of two words are the elements, and which of those exist.
  Value mask = e.i32(0), bytes = e.i32(0x5410);
  for (int64_t j = 0; j < 2; ++j) {
    Value number = e.add(place.col, j);
    Value found = id(s, number);
    Value exists =
        e.logicalAnd(e.lessThan(e.toIndex(e.add(number, firstOf(s))), k.limit),
                     e.inRange(e.toIndex(found), k.size));
    mask =
        e.add(mask, e.select(exists, e.i32(j ? -0x10000 : 0xFFFF), e.i32(0)));
    bytes = e.add(bytes, e.mul(e.bitAnd(found, 1), j ? 0x2200 : 0x22));
  }
  Value from = elementPlace(s);
  Value own = pitgpu::AddressOp::create(e.b, e.loc, e.b.getI32Type(), tile,
                                        place.row, place.col);
  auto type = VectorType::get(2, e.b.getI32Type());
  // Loaded all at once: none is moved before a store.
  SmallVector<Value> words;
  for (int64_t i = 0; i * place.rowsAtOnce < op.rows; ++i)
    words.push_back(e.load(
        type, e.sharedPointer(e.add(from, i * kWarpgroup * 2 * kWordBytes)),
        2 * kWordBytes, /*isVolatile=*/true));
  for (auto [i, both] : llvm::enumerate(words)) {
    int64_t r = i * place.rowsAtOnce;
    Value word[2];
    for (int64_t j = 0; j < 2; ++j)
      word[j] = e.extract(both, j);
    Value pair =
        LLVM::CallIntrinsicOp::create(e.b, e.loc, e.b.getI32Type(),
                                      e.b.getStringAttr("llvm.nvvm.prmt"),
                                      ValueRange{word[0], word[1], bytes})
            .getResult(0);
    pair = arith::AndIOp::create(e.b, e.loc, pair, mask);
    // The swizzle of a later row: that of the difference, since a thread's
    // first row has the lower bits of its number alone.
    int64_t swizzle = op.swizzleOf(r) * kChunkBytes;
    Value to = e.add(e.bitXor(own, e.i32(swizzle)), r * op.lineBytes);
    auto store = [&] { e.store(pair, e.sharedPointer(to), kWordBytes); };
    if (r + place.rowsAtOnce > op.rows)
      e.ifThen(e.lessThan(e.add(place.row, r), e.i32(op.rows)), store);
    else
      store();
  }
}
