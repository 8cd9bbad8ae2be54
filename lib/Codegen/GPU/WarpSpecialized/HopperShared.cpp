//===- HopperShared.cpp - Shared memory and warps of a Hopper kernel ------===//

#include "HopperLowering.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

void HopperShared::place(Emitter &e, const HopperPlan &plan) {
  auto place = [&](int64_t bytes) -> Value {
    if (bytes == 0)
      return {};
    return pitgpu::SharedOp::create(e.b, e.loc, e.b.getI32Type(), bytes,
                                    IntegerAttr());
  };
  results = place(plan.resultBytes());
  ids = place(plan.idBytes());
  elements = place(plan.gatheredBytes());
  scales = place(plan.allScalesBytes());
  rows = place(plan.rowBytes());
  fill = place(plan.fillBytes);
}

void HopperShared::makeRings(Emitter &e, MainloopOp mainloop,
                             const HopperPlan &plan) {
  auto make = [&](int64_t count, ArrayRef<Type> tiles, int64_t full,
                  int64_t empty) -> Value {
    auto type = pitgpu::RingType::get(e.b.getContext(), count, tiles);
    return pitgpu::RingOp::create(e.b, e.loc, type, full, empty,
                                  empty ? plan.cluster : 1, IntegerAttr(),
                                  IntegerAttr());
  };
  SmallVector<Type> tiles;
  for (const HopperOperand *operand : {&plan.a, &plan.b})
    for (unsigned view : operand->views)
      tiles.push_back(pitgpu::TileType::get(
          operand->rows, operand->blocks * operand->lineElements(),
          getElementTypeOrSelf(mainloop.getLoaded(view).getSrc().getType()),
          operand->lineBytes));
  stages = make(plan.stages, tiles, plan.fullCount(), plan.emptyCount());
  if (plan.rows)
    listed = make(1, {}, kConsumers * kWarpgroup, 0);
  if (plan.streamsIds())
    firstIds = make(2, {}, kWarpgroup, 0);
}

SmallVector<Value> cuda::makeTensorMaps(Emitter &e, MainloopOp mainloop,
                                        const HopperPlan &plan,
                                        ValueRange arguments) {
  SmallVector<Value> maps;
  for (const HopperOperand *operand : {&plan.a, &plan.b})
    for (unsigned view : operand->views) {
      auto source = cast<BlockArgument>(mainloop.getLoaded(view).getSrc());
      auto memref = cast<MemRefType>(source.getType());
      SmallVector<int64_t> box(memref.getRank(), 1);
      // Within what a block of the cluster loads.
      bool isShared = operand == &plan.b && operand->kIsCol;
      box[operand->rowDim] = std::min(
          operand->boxRows(), operand->rows / (isShared ? plan.cluster : 1));
      box[operand->colDim] = operand->lineElements();
      DenseI64ArrayAttr order;
      if (operand->isTransposed)
        order = e.b.getDenseI64ArrayAttr(operand->inOrder<int64_t>(
            llvm::to_vector(llvm::seq(memref.getRank()))));
      // Chunks are copied from the memref itself.
      IntegerAttr alongK;
      if (operand->loader != Loader::CpAsync)
        alongK = e.b.getI64IntegerAttr(operand->kDim());
      auto type = pitgpu::TensorMapType::get(
          e.b.getContext(), operand->inOrder<int64_t>(box),
          memref.getElementType(), operand->lineBytes);
      maps.push_back(pitgpu::TensorMapOp::create(
          e.b, e.loc, type, arguments[source.getArgNumber()], alongK, order));
    }
  return maps;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

void cuda::inLeader(Emitter &e, bool ofWarps, function_ref<void()> body) {
  auto op = pitgpu::LeaderOp::create(e.b, e.loc, ofWarps);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.createBlock(&op.getBody());
  auto yield = pitgpu::YieldOp::create(e.b, e.loc);
  e.b.setInsertionPoint(yield);
  body();
}

void cuda::syncWarp(Emitter &e) {
  pitgpu::SyncOp::create(e.b, e.loc, pitgpu::SyncScope::Warp);
}
