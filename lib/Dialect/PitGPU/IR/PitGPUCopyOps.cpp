//===- PitGPUCopyOps.cpp - Copies of the pit_gpu dialect ------------------===//

#include "Verify.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;

/// The tile of a stage into which copies go; null, and an error, if it is none
/// in lines.
static TileType matrixOf(Operation *op, StringRef constraint, StageType stage,
                         int64_t number) {
  Type tile = tileOf(op, constraint, stage, number);
  if (!tile || isa<TileType>(tile))
    return cast_or_null<TileType>(tile);
  violates(op, constraint) << "tile " << number << " is a " << tile
                           << "; copies go to matrices in lines";
  return {};
}

/// Do boxes make up a tile?
static bool makeUp(TensorMapType map, TileType tile) {
  ArrayRef<int64_t> box = map.getBox();
  int64_t rows = map.getRowDim(), boxRows = rows < 0 ? 1 : box[rows];
  bool isFlat = true;
  for (auto [d, extent] : llvm::enumerate(box.drop_back()))
    isFlat &= extent == 1 || static_cast<int64_t>(d) == rows;
  return tile.getElementType() == map.getElementType() &&
         tile.getSwizzle() == map.getSwizzle() &&
         tile.getRows() % boxRows == 0 && boxRows % 8 == 0 &&
         tile.getCols() % tile.getLineElements() == 0 && isFlat;
}

/// Can TMA add boxes that make up a tile?
static bool areAddable(TensorMapType map, TileType tile) {
  Type element = tile.getElementType();
  return makeUp(map, tile) && isa<FloatType>(element) &&
         element.getIntOrFloatBitWidth() >= 16;
}

/// Has the place of a box a coordinate for each dimension of the tensor?
template <typename Op>
static LogicalResult checkCoords(Op op, StringRef constraint) {
  size_t rank = op.getMap().getType().getBox().size();
  if (op.getCoords().size() != rank)
    return violates(op, constraint)
           << op.getCoords().size() << " coordinates in a tensor of " << rank
           << " dimensions";
  return success();
}

LogicalResult LoadOp::verify() {
  TensorMapType map = getMap().getType();
  ArrayRef<int64_t> box = map.getBox();
  if (failed(checkCoords(*this, "load 1")))
    return failure();
  TileType tile = matrixOf(*this, "load 2", getStage().getType(), getNumber());
  if (!tile)
    return failure();
  if (!makeUp(map, tile))
    return violates(*this, "load 3")
           << "boxes of " << map << " do not make up a " << tile;
  int64_t boxRows = box[map.getRowDim()];
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

LogicalResult AddOp::verify() {
  TensorMapType map = getMap().getType();
  if (failed(checkCoords(*this, "add 1")))
    return failure();
  TileType tile = matrixOf(*this, "add 2", getStage().getType(), getNumber());
  if (!tile)
    return failure();
  if (!areAddable(map, tile))
    return violates(*this, "add 3")
           << "boxes of " << map << " do not make up a " << tile
           << " of f16, bf16 or f32";
  if ((*this)->getParentOfType<LeaderOp>())
    return violates(*this, "add 4") << "all warps of a role add";
  return verifyInRole(*this);
}

LogicalResult AddRowsOp::verify() {
  TensorMapType map = getMap().getType();
  if (failed(checkCoords(*this, "add_rows 1")))
    return failure();
  TileType tile = getTile().getType();
  if (!areAddable(map, tile) || tile.getRows() != 64 ||
      map.getBox()[map.getRowDim()] != 16)
    return violates(*this, "add_rows 2")
           << "boxes of " << map << " and a " << tile
           << "; 64 rows of f16, bf16 or f32 in boxes of 16 are right";
  if ((*this)->getParentOfType<LeaderOp>())
    return violates(*this, "add_rows 3") << "all warps add their own rows";
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

TileType CopyOp::getTile() {
  if (auto stage = dyn_cast<StageType>(getInto().getType()))
    return stage.getTile(*getNumber());
  return dyn_cast<TileType>(getInto().getType());
}

LogicalResult CopyOp::verify() {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(getFrom().getType());
  int64_t bytes = getBytes();
  if (!pointer || pointer.getAddressSpace() != 1 ||
      (bytes != 4 && bytes != 8 && bytes != 16))
    return violates(*this, "copy 1")
           << bytes << " bytes from a " << getFrom().getType()
           << "; 4, 8 or 16 from an !llvm.ptr<1> are right";
  auto stage = dyn_cast<StageType>(getInto().getType());
  if (static_cast<bool>(stage) != getNumber().has_value())
    return violates(*this, "copy 2")
           << (stage ? "the tile of a stage has a number"
                     : "a number is that of a stage's tile")
           << "; it copies into a " << getInto().getType();
  if (stage && !matrixOf(*this, "copy 2", stage, *getNumber()))
    return failure();
  TileType tile = getTile();
  if (std::optional<ArrayRef<int64_t>> plus = getPlus(); tile && plus)
    if (plus->size() != 2 || (*plus)[0] % 8 ||
        (*plus)[1] % tile.getLineElements())
      return violates(*this, "copy 3")
             << "further rows and columns are [" << *plus
             << "]; multiples of 8 and of " << tile.getLineElements()
             << ", a line's elements, are right";
  bool hasPlace = getRow() && getCol();
  if (tile ? !hasPlace : getRow() || getCol() || getPlus())
    return violates(*this, "copy 4")
           << (tile ? "a piece of a tile has a row and a column"
                    : "an address has no rows and columns")
           << "; it copies into a " << getInto().getType();
  if (getExists() && getLimit())
    return violates(*this, "copy 5")
           << "it has a condition and a limit; a limit of 0 bytes is right "
              "where nothing is read";
  // Threads of a kernel without roles copy, too.
  return stage ? verifyInRole(*this) : success();
}

LogicalResult CopyWaitOp::verify() {
  if (int64_t pending = getPending(); pending < 0 || pending > 64)
    return violates(*this, "copy_wait 1")
           << pending << " groups pending; 0 to 64 is right";
  return success();
}

/// Has each warp 16 rows of a fragment, and more than a column?
static bool isMatrix(FragmentType fragment) {
  return fragment.isOfWarpgroup() && fragment.getCols() > 1;
}
static bool isNarrow(FragmentType fragment) {
  return fragment.getElementType().getIntOrFloatBitWidth() == 16;
}

LogicalResult LocalStoreOp::verify() {
  FragmentType fragment = getFragment().getType();
  TileType tile = getTile().getType();
  if (fragment.getElementType() != tile.getElementType() ||
      !isMatrix(fragment) || (getTransposed() && !isNarrow(fragment)))
    return violates(*this, "local_store 1")
           << fragment << (getTransposed() ? " transposed" : "") << " into "
           << tile
           << "; the same elements, 16 rows in a warp, several columns, and 16 "
              "bits if transposed are right";
  auto [rows, cols] = getTransposed()
                          ? std::pair(tile.getCols(), tile.getRows())
                          : std::pair(tile.getRows(), tile.getCols());
  int64_t first = getCols();
  if (rows != fragment.getRows() || first < 0 || first % 16 ||
      first + fragment.getCols() > cols)
    return violates(*this, "local_store 2")
           << fragment.getRows() << "x" << fragment.getCols()
           << " elements from column " << first << " on, of " << rows << "x"
           << cols << "; the same rows, and columns from a multiple of 16 on "
           << "are right";
  return verifyInRole(*this);
}

LogicalResult LocalLoadOp::verify() {
  FragmentType fragment = getType();
  TileType tile = getTile().getType();
  if (fragment.getRows() != tile.getRows() ||
      fragment.getCols() != tile.getCols() ||
      fragment.getElementType() != tile.getElementType() ||
      !isMatrix(fragment) || !isNarrow(fragment) || fragment.getCols() % 16)
    return violates(*this, "local_load 1")
           << tile << " as " << fragment
           << "; the same extents and elements of 16 bits, 16 rows in a warp "
              "and a multiple of 16 columns are right";
  return verifyInRole(*this);
}

LogicalResult StoreOp::verify() {
  auto dest = cast<MemRefType>(getDest().getType());
  if (FragmentType fragment = getFragment().getType();
      dest.getRank() != 2 || !hasUnitRows(dest) ||
      dest.getElementType() != fragment.getElementType() ||
      fragment.getRows() % 64 || fragment.getWarpRows() > 32)
    return violates(*this, "store 1")
           << fragment << " to " << dest
           << "; a matrix of the same elements, without gaps in its rows, and "
              "rows of a warpgroup are right";
  return verifyInRole(*this);
}
