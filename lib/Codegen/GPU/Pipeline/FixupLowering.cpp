//===- FixupLowering.cpp - Sums of tiles with k-splits --------------------===//

#include "PipelineLowering.h"

#include "Codegen/GPU/Common/Fragments.h"

#include "Codegen/Common/Index.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::elementsOf;
using cuda::Emitter;
using cuda::valuesOf;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// The places of a thread's sums in slots.
template <typename OpT> struct SlotMemory {
  SlotMemory(Emitter &e, OpT op, TypeRange types)
      : e(e), op(op), element(elementOfSums(types.front())),
        bytes(elementBytes(element)), vector(op.getVector()),
        all(op.getOf().value_or(countSums(types))) {
    // A constant number of sums costs no arithmetic.
    APInt number;
    if (!op.getFrom() || !matchPattern(op.getFrom(), m_ConstantInt(&number)))
      from = op.getFrom();
    else
      before = number.getSExtValue();
  }

  /// The address of the thread's first sums in a slot.
  Value firstOf(Value slot) {
    int64_t row = bytes * static_cast<int64_t>(op.getThreads());
    Value at = from ? e.mul(e.add(e.mul(slot, all), from), row)
                    : e.mul(slot, all * row);
    return e.globalPointer(op.getMemory(),
                           e.add(at, e.mul(op.getThread(), vector * bytes)));
  }
  /// A vector of sums, number `sum` of the op and the next ones.
  Value place(Value first, int64_t sum) {
    int64_t threads = op.getThreads();
    return addressAt(e.b, e.loc, first, (before + sum) * bytes * threads);
  }
  void store(ArrayRef<Value> sums, Value to) {
    if (vector == 1)
      return e.store(sums.front(), to, bytes);
    Value chunk =
        LLVM::UndefOp::create(e.b, e.loc, Emitter::storedType(vectorType()));
    for (auto [i, sum] : llvm::enumerate(sums))
      chunk = LLVM::InsertElementOp::create(e.b, e.loc, chunk, e.toStored(sum),
                                            e.i32(i));
    e.store(chunk, to, vector * bytes);
  }
  /// Volatile: what this multiprocessor may have in its cache is old.
  void load(Value from, SmallVector<Value> &sums) {
    Type type = Emitter::storedType(vector == 1 ? element : vectorType());
    Value chunk = e.load(type, from, vector * bytes, /*isVolatile=*/true);
    for (int64_t n = 0; n < vector; ++n)
      sums.push_back(
          e.fromStored(vector == 1 ? chunk : e.extract(chunk, n), element));
  }
  Type vectorType() const { return VectorType::get(vector, element); }

  Emitter &e;
  OpT op;
  Type element;
  int64_t bytes, vector;
  int64_t all;        ///< sums of a thread in a slot
  int64_t before = 0; ///< those before the op's first one, if a constant
  Value from;         ///< or else (i32); null: none
};
} // namespace

static Lowered lowerStorePartials(Emitter &e, StorePartialsOp op,
                                  Operands<StorePartialsOp> in) {
  SmallVector<Value> sums;
  for (auto [sum, values] : llvm::zip(op.getSums(), in.getSums())) {
    auto fragment = dyn_cast<FragmentType>(sum.getType());
    llvm::append_range(sums, fragment ? elementsOf(e, fragment, values)
                                      : SmallVector<Value>(values));
  }
  SlotMemory<StorePartialsOp> memory(e, op, op.getSums().getTypes());
  Value first = memory.firstOf(op.getSlot());
  for (int64_t i = 0, n = sums.size(); i < n; i += memory.vector)
    memory.store(ArrayRef(sums).slice(i, memory.vector),
                 memory.place(first, i));
  return {};
}

/// A loop over the splits, so many at once; the last ones are loaded once more
/// in the place of those that are not there.
static Lowered lowerAddPartials(Emitter &e, AddPartialsOp op,
                                Operands<AddPartialsOp> in) {
  SlotMemory<AddPartialsOp> memory(e, op, op.getSums().getTypes());
  int64_t splitsAtOnce = op.getSplitsAtOnce().value_or(1);
  int64_t sumsAtOnce = op.getSumsAtOnce().value_or(memory.vector);
  auto combine = [&](Value x, Value y) -> Value {
    if (!op.getCombine().empty())
      return e.clone(op.getCombine().front(), {x, y}).front();
    if (isa<FloatType>(x.getType()))
      return arith::AddFOp::create(e.b, e.loc, x, y);
    return arith::AddIOp::create(e.b, e.loc, x, y);
  };
  auto addSome = [&](Value first, ValueRange before) {
    Value last = e.sub(op.getSplits(), e.i32(1));
    SmallVector<Value> slots, exist;
    for (int64_t i = 0; i < splitsAtOnce; ++i) {
      Value split = e.add(first, i);
      exist.push_back(e.lessThan(split, op.getSplits()));
      split = e.min(split, last);
      if (op.getStep())
        split = e.mul(split, op.getStep());
      slots.push_back(e.add(op.getSlot(), split));
    }
    SmallVector<Value> sums(before);
    for (int64_t from = 0, all = sums.size(); from < all; from += sumsAtOnce) {
      auto some =
          MutableArrayRef(sums).slice(from, std::min(sumsAtOnce, all - from));
      SmallVector<SmallVector<Value>> loaded(splitsAtOnce);
      for (auto [values, slot] : llvm::zip_equal(loaded, slots)) {
        Value place = memory.firstOf(slot);
        while (values.size() < some.size())
          memory.load(memory.place(place, from + values.size()), values);
      }
      for (auto [i, values] : llvm::enumerate(loaded))
        for (auto [sum, value] : llvm::zip_equal(some, values)) {
          Value more = combine(sum, value);
          sum = i == 0 ? more : e.select(exist[i], more, sum);
        }
    }
    return sums;
  };
  TypedAttr start =
      op.getStart().value_or(cast<TypedAttr>(e.b.getZeroAttr(memory.element)));
  SmallVector<Value> starts(countSums(op.getSums().getTypes()),
                            e.constant(start));
  scf::ForOp loop =
      e.loop(e.i32(0), op.getSplits(), e.i32(splitsAtOnce), starts, addSome);
  e.keepLoop(loop);
  Lowered results;
  SmallVector<Value> sums(loop.getResults());
  ArrayRef<Value> left = sums;
  for (Value sum : op.getSums()) {
    ArrayRef<Value> own = left.take_front(countSums(sum.getType()));
    left = left.drop_front(own.size());
    auto fragment = dyn_cast<FragmentType>(sum.getType());
    results.push_back(fragment ? valuesOf(e, fragment, own)
                               : SmallVector<Value>(own));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Blocks, where none waits for another one
//===----------------------------------------------------------------------===//

static Lowered lowerLastSplit(Emitter &e, LastSplitOp op,
                              Operands<LastSplitOp> in) {
  Value last = e.sub(op.getSplits(), e.i32(1));
  Value word = e.sharedPointer(op.getWord());
  e.deviceFence();
  e.barrier();
  e.ifThen(e.lessThan(op.getThread(), e.i32(1)), [&] {
    Value counter = e.globalPointer(op.getCounters(), e.mul(op.getTile(), 4));
    // The last one makes it 0 again.
    Value before = e.atomic(LLVM::AtomicBinOp::uinc_wrap, counter, last);
    e.deviceFence();
    e.store(before, word, 4);
  });
  e.barrier();
  Value before = e.load(e.b.getI32Type(), word, 4);
  e.barrier();
  return {{e.equal(before, last)}};
}

//===----------------------------------------------------------------------===//
// Warps that wait for those of other blocks
//===----------------------------------------------------------------------===//

/// The bits of a counter's first word with the number of warps that arrived.
static constexpr int64_t kArrivals = 0xFFFF;
static constexpr int64_t kCounterBytes = 8;
/// The pieces that a warp adds up.
enum { kNothing, kItsPieces, kAllPieces };

static Value arrivals(Emitter &e, Value state) {
  return e.bitAnd(state, kArrivals);
}

/// Looks again until all have come or it has been long.
static Value poll(Emitter &e, AwaitSplitsOp op, Value counter, Value state) {
  auto isOpen = [&](ValueRange values) {
    Value missing = e.lessThan(arrivals(e, values[0]), op.getSplits());
    return e.logicalAnd(missing, e.lessThan(e.i32(0), values[1]));
  };
  auto look = [&](ValueRange values) -> SmallVector<Value> {
    Value now = e.load(e.b.getI32Type(), counter, 4, /*isVolatile=*/true);
    return {now, e.sub(values[1], e.i32(1))};
  };
  return e.loopWhile({state, e.i32(op.getPolls())}, isOpen, look).front();
}

/// Says that this warp does not wait longer, unless all have come meanwhile:
/// from then on the counter stays as it is. Gives what it was.
static Value abandonWait(Emitter &e, AwaitSplitsOp op, Value counter,
                         Value state) {
  auto loop = scf::WhileOp::create(
      e.b, e.loc, TypeRange{e.b.getI32Type()}, ValueRange{state},
      [&](OpBuilder &b, Location loc, ValueRange values) {
        Value old = values[0];
        Value missing = e.lessThan(arrivals(e, old), op.getSplits());
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
static void leave(Emitter &e, AwaitSplitsOp op, Value counter) {
  Value last = e.sub(op.getSplits(), e.i32(1));
  Value second =
      LLVM::GEPOp::create(e.b, e.loc, counter.getType(), e.b.getI32Type(),
                          counter, ArrayRef<LLVM::GEPArg>{1});
  Value before = e.atomic(LLVM::AtomicBinOp::uinc_wrap, second, last);
  e.ifThen(e.equal(before, last),
           [&] { LLVM::StoreOp::create(e.b, e.loc, e.i32(0), counter); });
}

/// In a thread of the warp: counts it in, and says what it is to do.
static Value outcome(Emitter &e, AwaitSplitsOp op, Value counter) {
  Value before = e.atomic(LLVM::AtomicBinOp::add, counter, e.i32(1));
  Value state = e.add(before, 1);
  Value isLast = e.equal(arrivals(e, state), op.getSplits());
  state = abandonWait(e, op, counter, poll(e, op, counter, state));
  e.deviceFence();
  leave(e, op, counter);
  Value all = e.equal(arrivals(e, state), op.getSplits());
  Value none = e.lessThan(state, e.i32(kArrivals + 1)); // gave up
  Value alone = e.select(isLast, e.i32(kAllPieces), e.i32(kNothing));
  return e.select(all, e.select(none, e.i32(kItsPieces), alone),
                  e.i32(kNothing));
}

static Lowered lowerAwaitSplits(Emitter &e, AwaitSplitsOp op,
                                Operands<AwaitSplitsOp> in) {
  Value counter =
      e.globalPointer(op.getCounters(), e.mul(op.getNumber(), kCounterBytes));
  NVVM::SyncWarpOp::create(e.b, e.loc, e.i32(-1));
  e.deviceFence();
  Value ofFirst = e.choose(
      e.equal(e.rem(in.self(op).thread, 32), e.i32(0)),
      [&] { return outcome(e, op, counter); }, [&] { return e.i32(kNothing); });
  NVVM::SyncWarpOp::create(e.b, e.loc, e.i32(-1));
  Value what = e.fromLane(ofFirst, e.i32(0));
  Value isShared = e.equal(what, e.i32(kItsPieces));
  Value isAlone = e.equal(what, e.i32(kAllPieces));
  Value others = e.select(isAlone, e.i32(0), e.i32(op.getPieces()));
  return {{e.select(isShared, op.getSplit(), others)},
          {e.select(isShared, op.getSplits(), e.i32(1))}};
}

void pitgpu::populateFixupPatterns(PipelinePatterns &patterns) {
  patterns.add(lowerStorePartials, lowerAddPartials, lowerLastSplit,
               lowerAwaitSplits);
}
