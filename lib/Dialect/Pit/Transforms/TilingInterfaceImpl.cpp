//===- TilingInterfaceImpl.cpp - Tiling of marks --------------------------===//

#include "pit/Dialect/Pit/Transforms/TilingInterfaceImpl.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::pit;

using Extents = ArrayRef<OpFoldResult>;

/// Has a tile all of dimension `dim` of the mark?
static bool isWhole(SparseOp mark, int64_t dim, OpFoldResult offset,
                    OpFoldResult size) {
  if (!isZeroInteger(offset))
    return false;
  FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(
      ValueBoundsConstraintSet::Variable(size),
      ValueBoundsConstraintSet::Variable(mark.getInput(), dim));
  return succeeded(equal) && *equal;
}

/// The rank of the slice of the mark's selector that a tile needs, which its
/// first offsets and sizes tell; nothing if no slice will do.
static std::optional<int64_t> getSelectorDims(SparseOp mark, Extents offsets,
                                              Extents sizes) {
  int64_t rank = mark.getType().getRank();
  switch (mark.getSource()) {
  case Source::Values:
    return 0;
  case Source::Mask:
    return rank;
  case Source::Lengths:
  case Source::Routing: {
    // The dim that it counts along must not be cut.
    int64_t dims =
        mark.getSource() == Source::Routing
            ? 1
            : cast<RankedTensorType>(mark.getSelector().getType()).getRank();
    if (!isWhole(mark, dims, offsets[dims], sizes[dims]))
      return std::nullopt;
    return dims;
  }
  case Source::Index:
    // The values have the selection in them.
    if (!mark.getAssume())
      return std::nullopt;
    return 0;
  }
  llvm_unreachable("unknown source");
}

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
    std::optional<int64_t> dims = getSelectorDims(mark, offsets, sizes);
    if (!dims) {
      op->emitRemark() << op->getName() << " is not tiled: of what its "
                       << stringifySource(mark.getSource())
                       << " select a tile is no slice";
      return failure();
    }
    TilingResult result;
    auto slice = [&](Value value, int64_t dims) -> Value {
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<OpFoldResult> first(offsets.take_front(dims)),
          extents(sizes.take_front(dims));
      for (int64_t d = dims; d < type.getRank(); ++d) {
        first.push_back(builder.getIndexAttr(0));
        extents.push_back(
            tensor::getMixedSize(builder, op->getLoc(), value, d));
      }
      SmallVector<OpFoldResult> strides(first.size(), builder.getIndexAttr(1));
      auto tile = tensor::ExtractSliceOp::create(builder, op->getLoc(), value,
                                                 first, extents, strides);
      result.generatedSlices.push_back(tile);
      return tile;
    };
    bool byValues = *dims == 0;
    Value input = slice(mark.getInput(), offsets.size());
    Value selector = byValues ? Value() : slice(mark.getSelector(), *dims);
    auto tile =
        SparseOp::create(builder, mark.getLoc(), input,
                         byValues ? Source::Values : mark.getSource(), selector,
                         mark.getBackgroundAttr(),
                         !byValues && mark.getAssume(), mark.getRuleAttr());
    tile.setLabelAttr(mark.getLabelAttr());
    tile.setLiveFractionAttr(mark.getLiveFractionAttr());
    tile.setLiveFractionTileAttr(mark.getLiveFractionTileAttr());
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
