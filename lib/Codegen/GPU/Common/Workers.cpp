//===- Workers.cpp - Sharing out elements over threads --------------------===//

#include "Emitter.h"
#include "Lowering.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

bool cuda::hasVectors(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0 &&
         llvm::isPowerOf2_64(elementBytes(element));
}

Value Workers::id(OpBuilder &builder, Location loc) const {
  if (!isGrid())
    return thread;
  Emitter e(builder, loc);
  return e.add(e.mul(block, threads), thread);
}

Value Workers::count(OpBuilder &builder, Location loc) const {
  Emitter e(builder, loc);
  Value own = e.index(threads);
  return isGrid() ? e.mul(blocks, own) : own;
}

void Workers::share(OpBuilder &builder, Location loc, Value total,
                    function_ref<void(Value)> body) const {
  auto loop = scf::ForOp::create(builder, loc, id(builder, loc), total,
                                 count(builder, loc));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

OpFoldResult cuda::volume(OpBuilder &builder, Location loc,
                          ArrayRef<OpFoldResult> extents) {
  Emitter e(builder, loc);
  int64_t known = 1;
  Value product;
  for (OpFoldResult extent : extents) {
    if (std::optional<int64_t> value = getConstantIntValue(extent))
      known *= *value;
    else if (product)
      product = e.mul(product, cast<Value>(extent));
    else
      product = cast<Value>(extent);
  }
  if (!product)
    return builder.getIndexAttr(known);
  if (known == 1)
    return product;
  return e.mul(product, known);
}

SmallVector<Value> cuda::delinearize(OpBuilder &builder, Location loc,
                                     Value number,
                                     ArrayRef<OpFoldResult> extents) {
  Emitter e(builder, loc);
  SmallVector<Value> coordinates;
  // The first dimension longer than 1 takes what the others leave.
  int64_t first = llvm::find_if(extents,
                                [](OpFoldResult extent) {
                                  return getConstantIntValue(extent) != 1;
                                }) -
                  extents.begin();
  for (int64_t d = extents.size() - 1; d >= 0; --d) {
    Value extent = getValueOrCreateConstantIndexOp(builder, loc, extents[d]);
    if (getConstantIntValue(extents[d]) == 1) {
      coordinates.push_back(e.index(0));
    } else if (d == first) {
      coordinates.push_back(number);
    } else {
      coordinates.push_back(e.rem(number, extent));
      number = e.div(number, extent);
    }
  }
  std::reverse(coordinates.begin(), coordinates.end());
  return coordinates;
}
