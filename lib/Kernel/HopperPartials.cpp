//===- HopperPartials.cpp - Tiles that blocks share -----------------------===//

#include "HopperPartials.h"
#include "Ring.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;

/// Sums that a thread writes and reads at once.
static constexpr int64_t kSumsAtOnce = kChunkBytes / 4;

/// A place so many bytes after the counters' start.
Value HopperPartials::pointer(Value byte) {
  byte = arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), byte);
  return LLVM::IntToPtrOp::create(
      e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext(), 1),
      e.add(self.parts.partials, byte));
}

/// Where the sums of this thread from `j` on lie, of that part of the tile.
Value HopperPartials::place(Value part, int64_t j) {
  Value block = e.add(self.parts.first, e.mul(part, self.parts.distance));
  int64_t chunks = plan.wgmmas() * plan.accumulators() / kSumsAtOnce;
  // Neighbouring threads are neighbours in memory.
  Value thread = e.add(e.mul(self.consumer, kWarpgroup), self.thread);
  Value chunk = e.add(e.mul(block, chunks), j / kSumsAtOnce);
  Value at = e.add(e.mul(chunk, kConsumers * kWarpgroup), thread);
  return pointer(e.add(e.mul(at, kChunkBytes), kPartialCounterBytes));
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
  for (int64_t i = 0; i < plan.wgmmas(); ++i) {
    auto writeRows = [&] {
      int64_t first = i * plan.accumulators();
      for (int64_t j = 0; j < plan.accumulators(); j += kSumsAtOnce) {
        Value chunk = LLVM::UndefOp::create(e.b, e.loc, type);
        for (int64_t n = 0; n < kSumsAtOnce; ++n)
          chunk = LLVM::InsertElementOp::create(e.b, e.loc, chunk,
                                                sums[first + j + n], e.i32(n));
        LLVM::StoreOp::create(e.b, e.loc, chunk,
                              place(self.parts.part, first + j), kChunkBytes);
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
  fence();
  syncWarpgroup();
  e.ifThen(first, [&] {
    Value counter = e.add(e.mul(self.parts.first, kConsumers), self.consumer);
    Value before = LLVM::AtomicRMWOp::create(
        e.b, e.loc, LLVM::AtomicBinOp::add, pointer(e.mul(counter, 4)),
        e.i32(1), LLVM::AtomicOrdering::acq_rel, "device");
    LLVM::StoreOp::create(e.b, e.loc, before, slot);
  });
  syncWarpgroup();
  fence();
  Value before = LLVM::LoadOp::create(e.b, e.loc, e.b.getI32Type(), slot);
  return e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::eq,
                                         before,
                                         e.sub(self.parts.count, e.i32(1)));
}

/// The sums of one wgmma.
SmallVector<Value> HopperPartials::addRows(int64_t wgmma) {
  SmallVector<Value> zeros(plan.accumulators(), zero());
  auto loop = scf::ForOp::create(e.b, e.loc, e.i32(0), self.parts.count,
                                 e.i32(1), zeros);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  auto type = VectorType::get(kSumsAtOnce, e.b.getF32Type());
  SmallVector<Value> sums;
  for (int64_t j = 0; j < plan.accumulators(); j += kSumsAtOnce) {
    // Volatile: what this multiprocessor may have in its cache is old.
    Value chunk = LLVM::LoadOp::create(
        e.b, e.loc, type,
        place(loop.getInductionVar(), wgmma * plan.accumulators() + j),
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
