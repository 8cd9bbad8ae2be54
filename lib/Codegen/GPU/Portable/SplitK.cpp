//===- SplitK.cpp - Tiles whose steps blocks share ------------------------===//

#include "SplitK.h"

#include "Codegen/GPU/Common/Lowering.h"
#include "Codegen/GPU/Common/PartialSums.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Sums that a thread reads at once.
static constexpr int64_t kSumsAtOnce = 16;

SplitK::SplitK(const ProductThread &self, MainloopOp mainloop, Value steps)
    : self(self), e(self.e) {
  auto y = gpu::Dimension::y;
  part = e.blockId(y);
  splits = e.gridDim(y);
  int64_t least = leastStagesOfSplit(mainloop);
  splits = e.min(splits, e.max(e.div(steps, least), e.i32(1)));
  auto own = pitgpu::StepsOfSplitOp::create(e.b, e.loc, part, splits, steps);
  begin = own.getBegin();
  end = own.getEnd();
}

Value SplitK::stepOfTile(Value s, Value total) const {
  // Nothing else tells LLVM that there is such a step.
  return e.b.createOrFold<arith::MinUIOp>(e.loc, e.add(begin, s),
                                          e.sub(total, e.i32(1)));
}

Value SplitK::hasSplit() { return e.lessThan(part, splits); }

SmallVector<Value> SplitK::startOf(ArrayRef<Value> initial) {
  Value isFirst = e.lessThan(part, e.i32(1));
  return llvm::map_to_vector(initial, [&](Value value) {
    return e.select(
        isFirst, value,
        e.constant(cast<TypedAttr>(e.b.getZeroAttr(value.getType()))));
  });
}

//===----------------------------------------------------------------------===//
// Sums in memory
//===----------------------------------------------------------------------===//

/// The address of the thread's first sum of this part (i32) of the tile.
/// Neighbouring threads are neighbours in memory.
Value SplitK::firstOf(Value part) {
  Value tile = e.blockId();
  Value splits = e.gridDim(gpu::Dimension::y);
  Value block = e.add(e.mul(tile, splits), part);
  Value byte = e.add(e.mul(block, self.plan.partialBytes()),
                     e.mul(self.number, self.plan.accumulatorBytes));
  return e.globalPointer(self.partials, byte);
}

Value SplitK::place(Value first, int64_t number) {
  int64_t byte = number * self.plan.accumulatorBytes * self.plan.threads();
  return addressAt(e.b, e.loc, first, byte);
}

void SplitK::write(ArrayRef<Value> sums) {
  Value own = firstOf(part);
  for (auto [i, sum] : llvm::enumerate(sums))
    e.store(sum, place(own, i), self.plan.accumulatorBytes);
}

/// Is this block the last one of the tile? (i1, in all threads)
Value SplitK::isLast() {
  Value shared = e.sharedPointer(self.shared);
  return isLastSplit(
      e, self.counters, splits, self.number,
      [&](Value before) { e.store(before, shared, 4); },
      [&] {
        Value before = e.load(e.b.getI32Type(), shared, 4);
        e.barrier(); // then shared memory is free again
        return before;
      });
}

/// Volatile: what this multiprocessor may have in its cache is old.
Value SplitK::load(Value from, Type type) {
  Value stored = e.load(Emitter::storedType(type), from,
                        self.plan.accumulatorBytes, /*isVolatile=*/true);
  return e.fromStored(stored, type);
}

Value SplitK::add(Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::AddFOp::create(e.b, e.loc, x, y);
  return arith::AddIOp::create(e.b, e.loc, x, y);
}

/// The sums of all splits.
SmallVector<Value> SplitK::addPartials(ArrayRef<Type> types) {
  int64_t count = types.size();
  int64_t atOnce = std::max<int64_t>(1, kSumsAtOnce / count);
  SmallVector<Value> zeros;
  for (Type type : types)
    zeros.push_back(e.constant(cast<TypedAttr>(e.b.getZeroAttr(type))));
  scf::ForOp loop = cuda::addPartials(
      e, splits, {atOnce, kSumsAtOnce}, zeros,
      [&](Value part, int64_t first, int64_t count) {
        Value from = firstOf(part);
        SmallVector<Value> sums;
        for (int64_t i = first; i < first + count; ++i)
          sums.push_back(load(place(from, i), types[i]));
        return sums;
      },
      [&](Value x, Value y) { return add(x, y); });
  e.keepLoop(loop);
  return SmallVector<Value>(loop.getResults());
}

void SplitK::finish(ArrayRef<Value> sums,
                    function_ref<void(ArrayRef<Value>)> finish) {
  SmallVector<Type> types =
      llvm::map_to_vector(sums, [](Value sum) { return sum.getType(); });
  auto share = [&] {
    write(sums);
    Value last = isLast();
    SmallVector<Value> values = e.choose(
        last, [&] { return addPartials(types); },
        [&] { return SmallVector<Value>(sums); });
    values.push_back(last);
    return values;
  };
  auto keep = [&] {
    SmallVector<Value> values(sums);
    values.push_back(e.constant(e.b.getBoolAttr(true)));
    return values;
  };
  SmallVector<Value> all = e.choose(e.lessThan(e.i32(1), splits), share, keep);
  Value finishes = all.pop_back_val();
  e.ifThen(finishes, [&] { finish(all); });
}
