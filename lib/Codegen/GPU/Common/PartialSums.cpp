//===- PartialSums.cpp - Sums of blocks that share a tile -----------------===//

#include "PartialSums.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

scf::ForOp cuda::addPartials(
    Emitter &e, Value splits, SumsAtOnce atOnce, ValueRange zeros,
    function_ref<SmallVector<Value>(Value, int64_t, int64_t)> load,
    function_ref<Value(Value, Value)> add) {
  auto number = [&](int64_t value) {
    return splits.getType().isIndex() ? e.index(value) : e.i32(value);
  };
  auto addSome = [&](Value first, ValueRange before) {
    Value last = e.sub(splits, number(1));
    SmallVector<Value> numbers, exist;
    for (int64_t i = 0; i < atOnce.splits; ++i) {
      Value part = e.add(first, i);
      exist.push_back(e.lessThan(part, splits));
      numbers.push_back(e.min(part, last));
    }
    SmallVector<Value> sums(before);
    int64_t all = sums.size();
    for (int64_t from = 0; from < all; from += atOnce.sums) {
      auto some =
          MutableArrayRef(sums).slice(from, std::min(atOnce.sums, all - from));
      SmallVector<SmallVector<Value>> loaded;
      for (Value part : numbers)
        loaded.push_back(load(part, from, some.size()));
      for (auto [i, values] : llvm::enumerate(loaded))
        for (auto [sum, value] : llvm::zip_equal(some, values)) {
          Value more = add(sum, value);
          sum = i == 0 ? more : e.select(exist[i], more, sum);
        }
    }
    return sums;
  };
  return e.loop(number(0), splits, number(atOnce.splits), zeros, addSome);
}

Value cuda::isLastSplit(Emitter &e, Value counters, Value splits, Value thread,
                        function_ref<void(Value)> keep,
                        function_ref<Value()> kept) {
  Value last = e.sub(splits, e.i32(1));
  e.deviceFence();
  e.barrier();
  e.ifThen(e.lessThan(thread, e.i32(1)), [&] {
    Value tile = e.blockId();
    Value counter = e.globalPointer(counters, e.mul(tile, 4));
    // The last one makes it 0 again.
    Value before = e.atomic(LLVM::AtomicBinOp::uinc_wrap, counter, last);
    e.deviceFence();
    keep(before);
  });
  e.barrier();
  return e.equal(kept(), last);
}
