//===- StreamKFixup.cpp - Tiles that blocks share -------------------------===//

#include "StreamKFixup.h"

#include "Codegen/GPU/Common/PartialSums.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Sums that a thread writes and reads at once.
static constexpr int64_t kSumsAtOnce = kChunkBytes / 4;
/// Parts whose sums it reads at once.
static constexpr int64_t kPartialsAtOnce = 2;
/// How often a warp looks for the others: each time takes half a microsecond.
static constexpr int64_t kPolls = 1000;
static constexpr int64_t kAllWarps = kConsumers * kWarps;
static constexpr int64_t kCounterBytes = 8;
/// The share of a tile that a warp stores.
enum { kNothing, kItsPieces, kAllPieces };

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The address of this thread's sums, of that part of the tile, from number
/// `sum` (i32) on.
Value StreamKFixup::firstOf(Value part, Value sum) {
  Value block = e.add(self.streamK.first, e.mul(part, self.streamK.distance));
  // Neighbouring threads are neighbours in memory.
  constexpr int64_t threads = kConsumers * kWarpgroup;
  Value thread = e.add(e.mul(self.consumer, kWarpgroup), self.thread);
  Value byte = e.add(e.mul(e.add(e.mul(block, sums()), sum), 4 * threads),
                     e.mul(thread, kChunkBytes));
  return e.globalPointer(self.streamK.partials, byte);
}

/// The sums a constant number later.
Value StreamKFixup::place(Value first, int64_t sum) {
  return addressAt(e.b, e.loc, first, 4 * sum * kConsumers * kWarpgroup);
}

void StreamKFixup::write(ArrayRef<Value> sums) {
  auto type = VectorType::get(kSumsAtOnce, e.b.getF32Type());
  Value own = firstOf(self.streamK.part, e.i32(0));
  for (int64_t i = 0; i < plan.wgmmas(); ++i) {
    auto writeRows = [&] {
      int64_t first = i * plan.accumulators();
      for (int64_t j = 0; j < plan.accumulators(); j += kSumsAtOnce) {
        Value chunk = LLVM::UndefOp::create(e.b, e.loc, type);
        for (int64_t n = 0; n < kSumsAtOnce; ++n)
          chunk = LLVM::InsertElementOp::create(e.b, e.loc, chunk,
                                                sums[first + j + n], e.i32(n));
        e.store(chunk, place(own, first + j), kChunkBytes);
      }
    };
    if (Value exists = store.exists(e.i32(i)))
      e.ifThen(exists, writeRows);
    else
      writeRows();
  }
}

//===----------------------------------------------------------------------===//
// The other splits
//===----------------------------------------------------------------------===//

/// Looks again until all have come or it has been long.
Value StreamKFixup::poll(Value counter, Value state) {
  auto isOpen = [&](ValueRange values) {
    Value missing = e.lessThan(arrivals(values[0]), self.streamK.count);
    return e.logicalAnd(missing, e.lessThan(e.i32(0), values[1]));
  };
  auto look = [&](ValueRange values) -> SmallVector<Value> {
    Value now = e.load(e.b.getI32Type(), counter, 4, /*isVolatile=*/true);
    return {now, e.sub(values[1], e.i32(1))};
  };
  return e.loopWhile({state, e.i32(kPolls)}, isOpen, look).front();
}

/// Says that this warp does not wait longer, unless all have come meanwhile:
/// from then on the counter stays as it is. Gives what it was.
Value StreamKFixup::abandonWait(Value counter, Value state) {
  auto loop = scf::WhileOp::create(
      e.b, e.loc, TypeRange{e.b.getI32Type()}, ValueRange{state},
      [&](OpBuilder &b, Location loc, ValueRange values) {
        Value old = values[0];
        Value missing = e.lessThan(arrivals(old), self.streamK.count);
        SmallVector<Value> next = e.choose(
            missing,
            [&]() -> SmallVector<Value> {
              Value swapped = LLVM::AtomicCmpXchgOp::create(
                  b, loc, counter, old, e.add(old, kArrivals + 1),
                  LLVM::AtomicOrdering::monotonic,
                  LLVM::AtomicOrdering::monotonic, "device");
              Value seen = LLVM::ExtractValueOp::create(b, loc, swapped, 0);
              Value done = LLVM::ExtractValueOp::create(b, loc, swapped, 1);
              return {seen, e.logicalNot(done)};
            },
            [&]() -> SmallVector<Value> {
              return {old, e.constant(b.getBoolAttr(false))};
            });
        scf::ConditionOp::create(b, loc, next[1], next[0]);
      },
      [&](OpBuilder &b, Location loc, ValueRange values) {
        scf::YieldOp::create(b, loc, values);
      });
  return loop.getResult(0);
}

/// Counts a warp out. The last one makes both words 0 again: nobody reads the
/// first one after it.
void StreamKFixup::leave(Value counter) {
  Value last = e.sub(self.streamK.count, e.i32(1));
  Value second =
      LLVM::GEPOp::create(e.b, e.loc, counter.getType(), e.b.getI32Type(),
                          counter, ArrayRef<LLVM::GEPArg>{1});
  Value before = e.atomic(LLVM::AtomicBinOp::uinc_wrap, second, last);
  e.ifThen(e.equal(before, last),
           [&] { LLVM::StoreOp::create(e.b, e.loc, e.i32(0), counter); });
}

/// In a thread of the warp: counts it in, and says what it is to do.
Value StreamKFixup::outcome(Value counter) {
  Value before = e.atomic(LLVM::AtomicBinOp::add, counter, e.i32(1));
  Value state = e.add(before, 1);
  Value isLast = e.equal(arrivals(state), self.streamK.count);
  state = abandonWait(counter, poll(counter, state));
  e.deviceFence();
  leave(counter);
  Value all = e.equal(arrivals(state), self.streamK.count);
  Value none = e.lessThan(state, e.i32(kArrivals + 1)); // gave up
  Value alone = e.select(isLast, e.i32(kAllPieces), e.i32(kNothing));
  return e.select(all, e.select(none, e.i32(kItsPieces), alone),
                  e.i32(kNothing));
}

StreamKFixup::Share StreamKFixup::awaitPeers() {
  Value number = e.add(e.mul(self.consumer, kWarpgroup / 32), self.warp);
  number = e.add(e.mul(self.streamK.first, kAllWarps), number);
  Value counter =
      e.globalPointer(self.streamK.counters, e.mul(number, kCounterBytes));
  syncWarp(e);
  e.deviceFence();
  Value isFirst = e.equal(e.rem(self.thread, 32), e.i32(0));
  Value ofFirst = e.choose(
      isFirst, [&] { return outcome(counter); },
      [&] { return e.i32(kNothing); });
  syncWarp(e);
  Value what = e.fromLane(ofFirst, e.i32(0));
  int64_t all = plan.wgmmas() * (plan.perN() / store.pieceColumns());
  Value isShared = e.equal(what, e.i32(kItsPieces));
  Value isAlone = e.equal(what, e.i32(kAllPieces));
  return {e.select(isShared, self.streamK.part,
                   e.select(isAlone, e.i32(0), e.i32(all))),
          e.select(isShared, self.streamK.count, e.i32(1))};
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The sums of a piece.
SmallVector<Value> StreamKFixup::add(Value piece) {
  int64_t count = store.pieceColumns() / 2;
  Value first = e.mul(piece, count);
  auto type = VectorType::get(kSumsAtOnce, e.b.getF32Type());
  // Volatile: what this multiprocessor may have in its cache is old.
  auto load = [&](Value part, int64_t, int64_t) {
    Value from = firstOf(part, first);
    SmallVector<Value> sums;
    for (int64_t i = 0; i < count; i += kSumsAtOnce) {
      Value chunk =
          e.load(type, place(from, i), kChunkBytes, /*isVolatile=*/true);
      for (int64_t n = 0; n < kSumsAtOnce; ++n)
        sums.push_back(e.extract(chunk, n));
    }
    return sums;
  };
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(e.b, e.loc, x, y);
  };
  SmallVector<Value> zeros(count, e.constant(e.b.getF32FloatAttr(0)));
  scf::ForOp loop = addPartials(e, self.streamK.count, {kPartialsAtOnce, count},
                                zeros, load, add);
  e.keepLoop(loop);
  return SmallVector<Value>(loop.getResults());
}

void StreamKFixup::addPieces() {
  int64_t columns = store.pieceColumns(), inWgmma = plan.perN() / columns;
  auto run = [&] {
    Share share = awaitPeers();
    auto addPieceIfAny = [&](Value piece) {
      Value wgmma = e.div(piece, inWgmma);
      auto addPiece = [&] {
        HopperRows rows = store.locateRows(wgmma);
        store.store(rows, add(piece), e.mul(e.rem(piece, inWgmma), columns),
                    columns);
      };
      Value exists = store.exists(wgmma);
      if (exists && plan.wgmmas() > 1)
        e.ifThen(exists, addPiece);
      else
        addPiece();
    };
    e.keepLoop(e.forEach(share.first, e.i32(plan.wgmmas() * inWgmma),
                         share.step, addPieceIfAny));
  };
  // A warp without rows has nothing to share.
  if (Value exists = store.exists(e.i32(0)))
    e.ifThen(exists, run);
  else
    run();
}
