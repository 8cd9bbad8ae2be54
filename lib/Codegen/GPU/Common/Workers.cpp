//===- Workers.cpp - Sharing out elements over threads --------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

Value Workers::id(OpBuilder &builder, Location loc) const {
  if (!isGrid())
    return thread;
  Value first = arith::MulIOp::create(builder, loc, block,
                                      constantIndex(builder, loc, threads));
  return arith::AddIOp::create(builder, loc, first, thread);
}

Value Workers::count(OpBuilder &builder, Location loc) const {
  Value own = constantIndex(builder, loc, threads);
  return isGrid() ? arith::MulIOp::create(builder, loc, blocks, own) : own;
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
  int64_t known = 1;
  Value product;
  for (OpFoldResult extent : extents) {
    if (std::optional<int64_t> value = getConstantIntValue(extent))
      known *= *value;
    else if (product)
      product =
          arith::MulIOp::create(builder, loc, product, cast<Value>(extent));
    else
      product = cast<Value>(extent);
  }
  if (!product)
    return builder.getIndexAttr(known);
  if (known == 1)
    return product;
  return arith::MulIOp::create(builder, loc, product,
                               constantIndex(builder, loc, known))
      .getResult();
}

SmallVector<Value> cuda::delinearize(OpBuilder &builder, Location loc,
                                     Value number,
                                     ArrayRef<OpFoldResult> extents) {
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
      coordinates.push_back(constantIndex(builder, loc, 0));
    } else if (d == first) {
      coordinates.push_back(number);
    } else {
      coordinates.push_back(
          arith::RemUIOp::create(builder, loc, number, extent));
      number = arith::DivUIOp::create(builder, loc, number, extent);
    }
  }
  std::reverse(coordinates.begin(), coordinates.end());
  return coordinates;
}
