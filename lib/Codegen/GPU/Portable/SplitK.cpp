//===- SplitK.cpp - Tiles whose steps blocks share ------------------------===//

#include "SplitK.h"

#include "Codegen/Common/ContractionInfo.h"
#include "Codegen/GPU/Common/Lowering.h"
#include "Codegen/GPU/Common/MainloopNest.h"
#include "Codegen/GPU/Common/PartialSums.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// The fewest stages of a part that are worth it to share a tile; what ids
/// select takes longer to load.
static constexpr int64_t kLeastStages = 8, kLeastStagesOfList = 2;
/// The most splits: the last block reads the sums of all.
static constexpr int64_t kMostSplits = 32;
/// Blocks of two warps of scalar code that a multiprocessor is to run: their
/// threads have 168 registers each, enough for 64 sums. Without this, adding up
/// the splits would decide how many they have.
static constexpr int64_t kBlocksOfTwoWarps = 6;
/// Sums that a thread reads at once.
static constexpr int64_t kSumsAtOnce = 16;

Refused cuda::checkSplit(func::FuncOp function, MainloopOp mainloop) {
  std::optional<MainloopNest> nest = matchMainloopNest(function);
  if (!nest)
    return refuse(kNoNest);
  if (nest->chunks || nest->forall.getIndex())
    return refuse("tiles of an index's chunks are not shared in splits");
  if (mainloop.getAtomic())
    return refuse("tiles that are added atomically are not shared in splits");
  if (!mainloop.isProduct() || !isMultiplyAdd(mainloop))
    return refuse("only sums of products are shared in splits");
  return {};
}

void cuda::chooseSplitK(func::FuncOp function, MainloopOp mainloop,
                        const GpuTarget &target, PortablePlan &plan) {
  if (checkSplit(function, mainloop))
    return;
  int64_t tiles = 1; // that there are, whatever the sizes
  ForallOp forall = matchMainloopNest(function)->forall;
  for (auto [lower, upper, step] :
       llvm::zip(forall.getLower(), forall.getUpper(), forall.getSteps()))
    tiles *= std::max<int64_t>(1, tripsOf(lower, upper, step));
  int64_t stages = stagesOfTile(mainloop, plan.subSteps());
  bool areFew =
      2 * tiles <= target.multiprocessors * blocksThatShare(plan.threads());
  if (!areFew || (stages >= 0 && stages < 2 * kLeastStages))
    return;
  plan.splits =
      stages < 0 ? kMostSplits : std::min(stages / kLeastStages, kMostSplits);
  if (!plan.tensorCores() && plan.threads() == 2 * kWarp)
    plan.blocks = std::max(plan.blocks, kBlocksOfTwoWarps);
}

SplitK::SplitK(const ProductThread &self, MainloopOp mainloop, Value steps)
    : self(self), e(self.e) {
  auto y = gpu::Dimension::y;
  part = e.blockId(y);
  splits = e.gridDim(y);
  int64_t least = mainloop.getIndex() ? kLeastStagesOfList : kLeastStages;
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
