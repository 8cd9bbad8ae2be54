//===- TilingInterfaceImpl.cpp - Tiling of marks --------------------------===//

#include "pit/Dialect/Pit/Transforms/TilingInterfaceImpl.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::pit;

using Extents = ArrayRef<OpFoldResult>;

namespace {
/// A mark is element-wise: its iteration space, its operands and its result
/// have the same coordinates.
struct SparseOpTiling
    : public TilingInterface::ExternalModel<SparseOpTiling, SparseOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    int64_t rank = cast<SparseOp>(op).getType().getRank();
    return SmallVector<utils::IteratorType>(rank,
                                            utils::IteratorType::parallel);
  }

  SmallVector<Range> getIterationDomain(Operation *op,
                                        OpBuilder &builder) const {
    SmallVector<Range> domain;
    for (OpFoldResult size : tensor::getMixedSizes(
             builder, op->getLoc(), cast<SparseOp>(op).getInput()))
      domain.push_back(
          {builder.getIndexAttr(0), size, builder.getIndexAttr(1)});
    return domain;
  }

  FailureOr<TilingResult> getTiledImplementation(Operation *op,
                                                 OpBuilder &builder,
                                                 Extents offsets,
                                                 Extents sizes) const {
    auto mark = cast<SparseOp>(op);
    if (mark.getSource() != Source::Values && mark.getSource() != Source::Mask)
      return op->emitOpError()
             << "can be tiled if it marks by values or a mask, not by "
             << stringifySource(mark.getSource());
    SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
    TilingResult result;
    SmallVector<Value> tiles;
    for (Value operand : op->getOperands()) {
      auto slice = tensor::ExtractSliceOp::create(
          builder, op->getLoc(), operand, offsets, sizes, strides);
      result.generatedSlices.push_back(slice);
      tiles.push_back(slice);
    }
    auto tile = cast<SparseOp>(
        clone(builder, op, TypeRange(ValueRange(tiles).take_front()), tiles));
    result.tiledOps.push_back(tile);
    result.tiledValues.push_back(tile);
    return result;
  }

  LogicalResult
  getResultTilePosition(Operation *, OpBuilder &, unsigned, Extents offsets,
                        Extents sizes, SmallVector<OpFoldResult> &resultOffsets,
                        SmallVector<OpFoldResult> &resultSizes) const {
    resultOffsets.assign(offsets.begin(), offsets.end());
    resultSizes.assign(sizes.begin(), sizes.end());
    return success();
  }

  FailureOr<TilingResult> generateResultTileValue(Operation *op,
                                                  OpBuilder &builder, unsigned,
                                                  Extents offsets,
                                                  Extents sizes) const {
    return getTiledImplementation(op, builder, offsets, sizes);
  }

  LogicalResult getIterationDomainTileFromResultTile(
      Operation *, OpBuilder &, unsigned, Extents offsets, Extents sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    domainOffsets.assign(offsets.begin(), offsets.end());
    domainSizes.assign(sizes.begin(), sizes.end());
    return success();
  }
};
} // namespace

void mlir::pit::registerTilingInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, PitDialect *) {
    SparseOp::attachInterface<SparseOpTiling>(*context);
  });
}
