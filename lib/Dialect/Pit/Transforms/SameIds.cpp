//===- SameIds.cpp - Do two indices list the same micro-tiles? ------------===//

#include "Folder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::pit;

static bool areSameSize(Value a, Value b) {
  auto dimA = a.getDefiningOp<tensor::DimOp>();
  auto dimB = b.getDefiningOp<tensor::DimOp>();
  std::optional<int64_t> constant = getConstantIntValue(a);
  return a == b || (constant && constant == getConstantIntValue(b)) ||
         (dimA && dimB && dimA.getSource() == dimB.getSource() &&
          dimA.getConstantIndex() &&
          dimA.getConstantIndex() == dimB.getConstantIndex());
}

/// The mask that `mask` repeats along whole dimensions of the index.
static Value getRepeated(Value mask, SparsityIndexType index) {
  auto broadcast = mask.getDefiningOp<linalg::BroadcastOp>();
  if (!broadcast || !broadcast.hasPureTensorSemantics())
    return {};
  auto type = cast<RankedTensorType>(mask.getType());
  for (int64_t d : broadcast.getDimensions())
    if (!index.isWhole(d) || type.isDynamicDim(d) || type.getDimSize(d) == 0)
      return {};
  return broadcast.getInput();
}

bool pit::listSameIds(IndexOp a, IndexOp b) {
  SparsityIndexType type = a.getType();
  if (type != b.getType() || a.getSource() != b.getSource() ||
      a.getBackgroundAttr() != b.getBackgroundAttr() ||
      a.getUnordered() != b.getUnordered())
    return false;
  if (a.getInput() != b.getInput()) {
    Value repeated = a.getSource() == Source::Mask
                         ? getRepeated(a.getInput(), type)
                         : Value();
    return repeated && repeated == getRepeated(b.getInput(), type);
  }
  if (a.getShape().size() != b.getShape().size())
    return false;
  // How long whole dimensions are does not matter. The dims of rows of a batch
  // are the first two of the shape.
  int64_t more = a.hasRowsOfBatch();
  for (auto [d, sizes] :
       llvm::enumerate(llvm::zip_equal(a.getShape(), b.getShape())))
    if (!type.isWhole(std::max<int64_t>(d - more, 0)) &&
        !areSameSize(std::get<0>(sizes), std::get<1>(sizes)))
      return false;
  return true;
}
