//===- HopperPartials.cpp - Tiles that blocks share -----------------------===//

#include "HopperPartials.h"
#include "Ring.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;

/// Sums that a thread writes and reads at once.
static constexpr int64_t kSumsAtOnce = kChunkBytes / 4;

/// The address so many bytes (i32) after `start` (i64).
Value HopperPartials::address(Value start, Value byte) {
  return e.add(start,
               arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), byte));
}

Value HopperPartials::pointer(Value address) {
  return LLVM::IntToPtrOp::create(
      e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext(), 1), address);
}

/// Where the first sums of this thread lie, of that part of the tile (i64).
Value HopperPartials::firstOf(Value part) {
  Value block = e.add(self.parts.first, e.mul(part, self.parts.distance));
  // Neighbouring threads are neighbours in memory.
  Value thread = e.add(e.mul(self.consumer, kWarpgroup), self.thread);
  int64_t sums = plan.wgmmas() * plan.accumulators();
  Value byte = e.add(e.mul(block, 4 * sums * kConsumers * kWarpgroup),
                     e.mul(thread, kChunkBytes));
  return address(self.parts.partials, byte);
}

/// Those from `j` on, a constant number of bytes later.
Value HopperPartials::place(Value first, int64_t j) {
  Value bytes =
      e.constant(e.b.getI64IntegerAttr(4 * j * kConsumers * kWarpgroup));
  return pointer(e.add(first, bytes));
}

void HopperPartials::syncWarpgroup() {
  // Barrier 0 is the block's.
  NVVM::BarrierOp::create(e.b, e.loc, TypeRange(), e.add(self.consumer, 1),
                          e.i32(kWarpgroup), NVVM::BarrierReductionAttr(),
                          Value());
}

void HopperPartials::fence() {
  LLVM::FenceOp::create(e.b, e.loc, LLVM::AtomicOrdering::acq_rel, "device");
}

void HopperPartials::write(ArrayRef<Value> sums) {
  auto type = VectorType::get(kSumsAtOnce, e.b.getF32Type());
  Value own = firstOf(self.parts.part);
  for (int64_t i = 0; i < plan.wgmmas(); ++i) {
    auto writeRows = [&] {
      int64_t first = i * plan.accumulators();
      for (int64_t j = 0; j < plan.accumulators(); j += kSumsAtOnce) {
        Value chunk = LLVM::UndefOp::create(e.b, e.loc, type);
        for (int64_t n = 0; n < kSumsAtOnce; ++n)
          chunk = LLVM::InsertElementOp::create(e.b, e.loc, chunk,
                                                sums[first + j + n], e.i32(n));
        LLVM::StoreOp::create(e.b, e.loc, chunk, place(own, first + j),
                              kChunkBytes);
      }
    };
    if (exist[i])
      e.ifThen(exist[i], writeRows);
    else
      writeRows();
  }
}

Value HopperPartials::countIn() {
  Value first = e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::eq,
                                                self.thread, e.i32(0));
  Value slot = e.sharedPointer(
      e.add(e.add(self.shared, plan.countOffset()), e.mul(self.consumer, 4)));
  Value last = e.sub(self.parts.count, e.i32(1));
  fence();
  syncWarpgroup();
  e.ifThen(first, [&] {
    Value counter = e.add(e.mul(self.parts.first, kConsumers), self.consumer);
    // The last one makes it 0 again.
    Value before = LLVM::AtomicRMWOp::create(
        e.b, e.loc, LLVM::AtomicBinOp::uinc_wrap,
        pointer(address(self.parts.counters, e.mul(counter, 4))), last,
        LLVM::AtomicOrdering::monotonic, "device");
    LLVM::StoreOp::create(e.b, e.loc, before, slot);
  });
  syncWarpgroup();
  Value before = LLVM::LoadOp::create(e.b, e.loc, e.b.getI32Type(), slot);
  return e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::eq,
                                         before, last);
}

/// The sums of one wgmma.
SmallVector<Value> HopperPartials::addRows(int64_t wgmma) {
  SmallVector<Value> zeros(plan.accumulators(), zero());
  auto loop = scf::ForOp::create(e.b, e.loc, e.i32(0), self.parts.count,
                                 e.i32(1), zeros);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  auto type = VectorType::get(kSumsAtOnce, e.b.getF32Type());
  Value part = firstOf(loop.getInductionVar());
  SmallVector<Value> sums;
  for (int64_t j = 0; j < plan.accumulators(); j += kSumsAtOnce) {
    // Volatile: what this multiprocessor may have in its cache is old.
    Value chunk = LLVM::LoadOp::create(
        e.b, e.loc, type, place(part, wgmma * plan.accumulators() + j),
        kChunkBytes, /*isVolatile=*/true);
    for (int64_t n = 0; n < kSumsAtOnce; ++n)
      sums.push_back(arith::AddFOp::create(
          e.b, e.loc, loop.getRegionIterArg(j + n),
          LLVM::ExtractElementOp::create(e.b, e.loc, chunk, e.i32(n))));
  }
  scf::YieldOp::create(e.b, e.loc, sums);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> HopperPartials::add() {
  fence();
  SmallVector<Value> sums;
  for (int64_t i = 0; i < plan.wgmmas(); ++i) {
    if (!exist[i]) {
      llvm::append_range(sums, addRows(i));
      continue;
    }
    SmallVector<Type> types(plan.accumulators(), e.b.getF32Type());
    auto branch = scf::IfOp::create(e.b, e.loc, types, exist[i],
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(e.b, e.loc, addRows(i));
    e.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(e.b, e.loc, SmallVector<Value>(types.size(), zero()));
    llvm::append_range(sums, branch.getResults());
  }
  return sums;
}
