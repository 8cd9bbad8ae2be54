//===- SplitK.cpp - Tiles whose steps blocks share ------------------------===//

#include "SplitK.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Sums that a thread reads at once.
static constexpr int64_t kSumsAtOnce = 16;

SplitK::SplitK(const ProductThread &self, MainloopOp mainloop, Value steps)
    : self(self), e(self.e) {
  auto y = gpu::Dimension::y;
  part = e.blockId(y);
  auto own = pitgpu::StepsOfSplitOp::create(
      e.b, e.loc, part, e.gridDim(y), steps,
      e.b.getI64IntegerAttr(leastStagesOfSplit(mainloop)));
  begin = own.getBegin();
  end = own.getEnd();
  splits = own.getCount();
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

/// Writes the block's sums; gives those of all splits, if it is the last one,
/// and whether it is.
SmallVector<Value> SplitK::addPartials(ArrayRef<Value> sums) {
  int64_t count = sums.size(), threads = self.plan.threads();
  // A tile has as many slots as the launch has splits.
  Value tile = e.blockId();
  Value first = e.mul(tile, e.gridDim(gpu::Dimension::y));
  pitgpu::StorePartialsOp::create(e.b, e.loc, sums, self.partials,
                                  e.add(first, part), /*from=*/Value(),
                                  /*of=*/IntegerAttr(), self.number, threads);
  Value last = pitgpu::LastSplitOp::create(e.b, e.loc, splits, self.counters,
                                           tile, self.number, self.shared);
  SmallVector<Value> all = e.choose(
      last,
      [&] {
        auto atOnce = e.b.getI64IntegerAttr(kSumsAtOnce);
        auto add = pitgpu::AddPartialsOp::create(
            e.b, e.loc, ValueRange(sums).getTypes(), splits, self.partials,
            first, /*step=*/Value(), /*from=*/Value(), /*of=*/IntegerAttr(),
            self.number, threads, /*vector=*/1,
            e.b.getI64IntegerAttr(std::max<int64_t>(1, kSumsAtOnce / count)),
            atOnce, /*start=*/TypedAttr());
        return SmallVector<Value>(add.getSums());
      },
      [&] { return SmallVector<Value>(sums); });
  all.push_back(last);
  return all;
}

void SplitK::finish(ArrayRef<Value> sums,
                    function_ref<void(ArrayRef<Value>)> finish) {
  auto keep = [&] {
    SmallVector<Value> values(sums);
    values.push_back(e.constant(e.b.getBoolAttr(true)));
    return values;
  };
  SmallVector<Value> all = e.choose(
      e.lessThan(e.i32(1), splits), [&] { return addPartials(sums); }, keep);
  Value finishes = all.pop_back_val();
  e.ifThen(finishes, [&] { finish(all); });
}
