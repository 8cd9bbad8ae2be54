//===- PitGPUCopyOps.cpp - Copies of the pit_gpu dialect ------------------===//

#include "Verify.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;

/// The tile of a stage into which copies go; null, and an error, if it is none.
static TileType matrixOf(Operation *op, StringRef constraint, StageType stage,
                         int64_t number) {
  Type tile = tileOf(op, constraint, stage, number);
  if (!tile || isa<TileType>(tile))
    return cast_or_null<TileType>(tile);
  violates(op, constraint) << "tile " << number << " is a " << tile
                           << "; copies go to matrices in shared memory";
  return {};
}

LogicalResult LoadOp::verify() {
  TensorMapType map = getMap().getType();
  ArrayRef<int64_t> box = map.getBox();
  if (getCoords().size() != box.size())
    return violates(*this, "load 1")
           << getCoords().size() << " coordinates in a tensor of " << box.size()
           << " dimensions";
  TileType tile = matrixOf(*this, "load 2", getStage().getType(), getNumber());
  if (!tile)
    return failure();
  int64_t rows = map.getRowDim(), boxRows = rows < 0 ? 1 : box[rows];
  bool isFlat = true;
  for (auto [d, extent] : llvm::enumerate(box.drop_back()))
    isFlat &= extent == 1 || static_cast<int64_t>(d) == rows;
  if (tile.getElementType() != map.getElementType() ||
      tile.getSwizzle() != map.getSwizzle() || tile.getRows() % boxRows ||
      boxRows % 8 || tile.getCols() % tile.getLineElements() || !isFlat)
    return violates(*this, "load 3")
           << "boxes of " << map << " do not make up a " << tile;
  int64_t blocks = getMulticast();
  if (!isCluster(blocks) || (blocks == 1 && getAlone()) ||
      (!splitsLines() && tile.getRows() % (blocks * boxRows)))
    return violates(*this, "load 4")
           << "a multicast of " << tile << " to " << blocks << " blocks"
           << (getAlone() ? " unless they are alone" : "") << " in boxes of "
           << boxRows << " rows; whole boxes for each of 2, 4 or 8 are right";
  return verifyInRole(*this);
}

LogicalResult LoadRowsOp::verify() {
  TensorMapType map = getMap().getType();
  ArrayRef<int64_t> box = map.getBox();
  int64_t dim = getDim(), rank = box.size();
  if (static_cast<int64_t>(getCoords().size()) != rank || dim < 0 ||
      dim >= rank - 1)
    return violates(*this, "load_rows 1")
           << getCoords().size() << " coordinates, and rows along dimension "
           << dim << ", in a tensor of " << rank << " dimensions";
  TileType tile =
      matrixOf(*this, "load_rows 2", getStage().getType(), getNumber());
  if (!tile)
    return failure();
  bool isRow = llvm::all_of(box.drop_back(), [](int64_t n) { return n == 1; });
  if (!isRow || tile.getBlocks() != 1 ||
      tile.getElementType() != map.getElementType() ||
      tile.getSwizzle() != map.getSwizzle())
    return violates(*this, "load_rows 2")
           << "boxes of " << map << " are no rows of a " << tile;
  auto leader = (*this)->getParentOfType<LeaderOp>();
  if (!leader || !leader.getOfWarps())
    return violates(*this, "load_rows 3")
           << "there is no pit_gpu.leader of warps around it";
  return verifyInRole(*this);
}

LogicalResult GatherOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto ids = cast<MemRefType>(getIds().getType());
  if (source.getRank() != 2 || !hasUnitRows(source) || ids.getRank() != 1 ||
      !ids.getElementType().isInteger(32))
    return violates(*this, "gather 1")
           << "rows of " << source << " by ids of " << ids
           << "; a matrix without gaps in its rows, and a list of i32 are "
              "right";
  TileType tile =
      matrixOf(*this, "gather 2", getStage().getType(), getNumber());
  if (!tile)
    return failure();
  if (tile.getElementType() != source.getElementType())
    return violates(*this, "gather 2")
           << "elements of " << source << " into a " << tile;
  return verifyInRole(*this);
}

LogicalResult CopyOp::verify() {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(getFrom().getType());
  int64_t bytes = getBytes();
  if (!pointer || pointer.getAddressSpace() != 1 ||
      (bytes != 4 && bytes != 8 && bytes != 16))
    return violates(*this, "copy 1")
           << bytes << " bytes from a " << getFrom().getType()
           << "; 4, 8 or 16 from an !llvm.ptr<1> are right";
  TileType tile = matrixOf(*this, "copy 2", getStage().getType(), getNumber());
  if (!tile)
    return failure();
  if (std::optional<ArrayRef<int64_t>> plus = getPlus())
    if (plus->size() != 2 || (*plus)[0] % 8 ||
        (*plus)[1] % tile.getLineElements())
      return violates(*this, "copy 3")
             << "further rows and columns are [" << *plus
             << "]; multiples of 8 and of " << tile.getLineElements()
             << ", a line's elements, are right";
  return verifyInRole(*this);
}

LogicalResult StoreOp::verify() {
  auto dest = cast<MemRefType>(getDest().getType());
  if (dest.getRank() != 2 || !hasUnitRows(dest) ||
      dest.getElementType() != getFragment().getType().getElementType())
    return violates(*this, "store 1")
           << getFragment().getType() << " to " << dest
           << "; a matrix of the same elements, without gaps in its rows, is "
              "right";
  return verifyInRole(*this);
}
