//===- PitGPUOrderOps.cpp - The order of tiles ----------------------------===//

#include "Verify.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;

/// Rows of a band, splits of a tile, and numbers of a list.
static constexpr int64_t kMostBand = 65536, kMostSplits = 1024,
                         kMostNumbers = 8;
/// Steps of a split and ids of a step; ids of a split of a list.
static constexpr int64_t kMostSteps = 65536, kMostIds = 1048576;

static bool isUpTo(int64_t number, int64_t most, int64_t least = 1) {
  return number >= least && number <= most;
}

static TypeRange yielded(Region &region) {
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  return yield ? TypeRange(yield.getValues().getTypes()) : TypeRange();
}

LogicalResult TileSpaceOp::verify() {
  int64_t rank = getExtents().size();
  if (rank < 1 || !llvm::all_equal(getExtents().getTypes()))
    return violates(*this, "tile_space 1")
           << rank << " extents; one at least, and one type, are right";
  SmallVector<int64_t> named;
  for (std::optional<int64_t> dim : {getRows(), getCols()})
    if (dim)
      named.push_back(*dim);
  if (std::optional<ArrayRef<int64_t>> alike = getAlike())
    llvm::append_range(named, *alike);
  for (auto [i, dim] : llvm::enumerate(named))
    if (dim < 0 || dim >= rank ||
        llvm::is_contained(ArrayRef(named).take_front(i), dim))
      return violates(*this, "tile_space 2")
             << "names dimension " << dim << " of " << rank << "; each of 0 to "
             << rank - 1 << ", once, is right";
  bool isByBands = getOrder() == TileOrder::Bands;
  int64_t band = getBand().value_or(1), cluster = getCluster();
  Type number = getExtents().front().getType();
  if (getBand().has_value() + static_cast<bool>(getHeight()) != isByBands ||
      (getHeight() && getHeight().getType() != number) || band < 1 ||
      band > kMostBand || (isByBands && getAlike()))
    return violates(*this, "tile_space 3")
           << "by " << stringifyTileOrder(getOrder()) << ", with bands of "
           << getBand().value_or(0) << " rows and "
           << (getAlike() ? getAlike()->size() : 0)
           << " dimensions that are alike; bands of 1 to " << kMostBand
           << " rows, or of a height of the extents' type, without any, or "
              "rows or cols without bands, are right";
  bool isRight =
      isCluster(cluster) &&
      (cluster == 1 ? !getPairs()
                    : getRows() && getBand() && (!getPairs() || getCols()));
  if (!isRight)
    return violates(*this, "tile_space 4")
           << "a cluster of " << cluster << " blocks"
           << (getPairs() ? ", in pairs along columns" : "")
           << "; 1, 2, 4 or 8 blocks with rows, by bands, are right, and pairs "
              "of several with columns";
  return success();
}

/// Is the space one with extents of this type?
static LogicalResult verifySpace(Operation *op, StringRef constraint,
                                 Value space, Type type) {
  auto found = space.getDefiningOp<TileSpaceOp>();
  if (found && found.getExtents().getTypes().front() == type)
    return success();
  InFlightDiagnostic error = violates(op, constraint);
  if (!found)
    return error << "a space that no pit_gpu.tile_space makes";
  return error << "numbers of type " << type << ", of a space with extents of "
               << found.getExtents().getTypes().front()
               << "; one type is right";
}

LogicalResult CountTilesOp::verify() {
  return verifySpace(*this, "count_tiles 1", getSpace(), getType());
}

LogicalResult TileOfOp::verify() {
  Type type = getNumber().getType();
  if (failed(verifySpace(*this, "tile_of 1", getSpace(), type)))
    return failure();
  auto space = getSpace().getDefiningOp<TileSpaceOp>();
  SmallVector<Type> right(space.getExtents().size(), type);
  if (space.getPairs())
    right.push_back(IntegerType::get(getContext(), 1));
  if (!llvm::equal(getResultTypes(), right))
    return violates(*this, "tile_of 2")
           << "gives " << getNumResults() << " values, of a space of "
           << space.getExtents().size() << " dimensions"
           << (space.getPairs() ? " with pairs" : "") << "; " << right.size()
           << " are right, the first ones of type " << type;
  bool isOfCluster = static_cast<int64_t>(space.getCluster()) > 1;
  if (static_cast<bool>(getRank()) != isOfCluster)
    return violates(*this, "tile_of 3")
           << (getRank() ? "a rank" : "no rank") << " in a cluster of "
           << static_cast<int64_t>(space.getCluster())
           << "; blocks of a cluster of several have one";
  return success();
}

LogicalResult ShareTilesOp::verify() {
  int64_t most = getMost();
  if (!isUpTo(most, kMostSplits, 2))
    return violates(*this, "share_tiles 1")
           << "tiles have " << most << " splits at most; 2 to " << kMostSplits
           << " are right";
  return success();
}

LogicalResult ShareListsOp::verifyRegions() {
  int64_t most = getMost(), enough = getEnough(), least = getLeast();
  if (!isUpTo(most, kMostSplits, 2) || !isUpTo(enough, kMostSplits) ||
      !isUpTo(least, kMostIds))
    return violates(*this, "share_lists 1")
           << most << " splits at most, enough " << enough << ", and " << least
           << " ids at least; 2 to " << kMostSplits << ", 1 to " << kMostSplits
           << " and 1 to " << kMostIds << " are right";
  TypeRange counted = yielded(getCount());
  if (getCount().getNumArguments() || counted.size() != 2 ||
      !llvm::all_of(counted, [](Type type) { return type.isInteger(32); }))
    return violates(*this, "share_lists 2")
           << "the region takes " << getCount().getNumArguments()
           << " values and gives " << counted.size()
           << "; none, and two i32, are right";
  return success();
}

LogicalResult StepsOfSplitOp::verify() {
  int64_t least = getLeast().value_or(1), by = getBy();
  if (isUpTo(least, kMostSteps) && isUpTo(by, kMostSteps))
    return success();
  return violates(*this, "steps_of_split 1")
         << least << " steps at least, by " << by << " ids; 1 to " << kMostSteps
         << " are right";
}

LogicalResult pitgpu::verifyInWarps(Operation *op, StringRef constraint) {
  bool inLeader = static_cast<bool>(op->getParentOfType<LeaderOp>());
  if (!RolesOp::of(op).first || inLeader)
    return violates(op, constraint)
           << "it is in " << (inLeader ? "a leader" : "no role")
           << "; all lanes of a role's warps run it";
  return success();
}

LogicalResult ListTilesOp::verifyRegions() {
  auto isNumber = [](Type type) { return type.isInteger(32); };
  auto lists = getCount().getArgumentTypes(),
       tiles = getBody().getArgumentTypes();
  TypeRange numbers = yielded(getCount()), carried = yielded(getBody());
  int64_t count = numbers.size(), inits = getInits().size();
  if (lists.size() != 1 || !llvm::all_of(lists, isNumber) || count < 1 ||
      count > kMostNumbers || !llvm::all_of(numbers, isNumber))
    return violates(*this, "list_tiles 1")
           << "the first region takes " << lists.size() << " values and gives "
           << count << "; one i32, and 1 to " << kMostNumbers
           << " of them, are right";
  if (static_cast<int64_t>(tiles.size()) != 1 + count + inits ||
      !llvm::all_of(tiles, isNumber) ||
      static_cast<int64_t>(carried.size()) != inits ||
      !llvm::all_of(carried, isNumber) ||
      static_cast<int64_t>(getEnds().size()) != inits)
    return violates(*this, "list_tiles 2")
           << "the second region takes " << tiles.size() << " values and gives "
           << carried.size() << ", with " << getEnds().size() << " results; "
           << 1 + count + inits << ", " << inits << " and " << inits
           << " i32 are right";
  return verifyInWarps(*this, "list_tiles 3");
}
