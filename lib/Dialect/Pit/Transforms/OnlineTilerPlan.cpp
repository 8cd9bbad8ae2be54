//===- OnlineTilerPlan.cpp - Tiles and ids of a chain ---------------------===//

#include "OnlineTiler.h"

using namespace mlir;
using namespace mlir::pit;

static std::string code(OnlineCondition condition) {
  return "[O" + std::to_string(static_cast<unsigned>(condition)) + "] ";
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Dims that a tile has as a whole are so long at most.
static constexpr int64_t kLongestWhole = 512;

SparseOp OnlineTiler::mark() const {
  return chain.selection ? cast<SparseOp>(chain.ops[*chain.selection].op)
                         : SparseOp();
}

int64_t OnlineTiler::staticExtent(int64_t dim) const {
  for (auto &[value, dims] : chain.dims)
    for (auto [position, of] : llvm::enumerate(dims)) {
      auto type = cast<RankedTensorType>(value.getType());
      if (of == dim && !type.isDynamicDim(position))
        return type.getDimSize(position);
    }
  return ShapedType::kDynamic;
}

Refused OnlineTiler::classify() {
  kinds.assign(chain.numDims, Kind::Whole);
  kinds[chain.axis] = Kind::Axis;
  for (unsigned dim : chain.outers)
    kinds[dim] = Kind::Outer;
  for (auto [number, op] : llvm::enumerate(chain.ops))
    if (op.role == ChainRole::Reduction)
      reductions.push_back(number);
    else if (op.role == ChainRole::Added)
      added.push_back(number);
  // Rows are in all results and along the axis; other dims of results, such as
  // the columns of what is weighted, are not computed along it.
  auto isRow = [&](int64_t dim) {
    return llvm::all_of(reductions,
                        [&](unsigned number) {
                          return chain.hasDim(chain.ops[number].result(), dim);
                        }) &&
           llvm::any_of(chain.ops, [&](const ChainOp &op) {
             return op.role == ChainRole::Elements &&
                    chain.hasDim(op.result(), dim);
           });
  };
  for (int64_t dim : dimsOf(chain.ops[reductions.front()].result()))
    if (dim >= 0 && isRow(dim)) {
      kinds[dim] = Kind::Row;
      rowDims.push_back(dim);
    }
  if (rowDims.empty())
    return refuse(code(OnlineCondition::Rows) +
                  "its results have no dim to share out");
  tile.assign(chain.numDims, 1);
  for (auto [dim, kind] : llvm::enumerate(kinds)) {
    if (kind != Kind::Whole)
      continue;
    int64_t extent = staticExtent(dim);
    if (ShapedType::isDynamic(extent) || extent < 1 || extent > kLongestWhole)
      return refuse(code(OnlineCondition::FitsTile) +
                    "a dim that tiles have as a whole has an extent "
                    "that is not known, or more than " +
                    Twine(kLongestWhole));
    tile[dim] = extent;
  }
  for (auto [number, op] : llvm::enumerate(chain.ops))
    if (op.role != ChainRole::Elements && chain.isUsedOutside(op.result()))
      outputs.push_back(number);
  if (outputs.empty())
    return refuse(code(OnlineCondition::UsedInChain) +
                  "nothing uses its results");
  return std::nullopt;
}

/// The last row dim that what is multiplied by the axis' side does not have:
/// its tile shares that side.
std::optional<unsigned> OnlineTiler::findTiledRow() const {
  for (const ChainOp &op : chain.ops) {
    if (!isInnerContraction(op))
      continue;
    llvm::SmallDenseSet<int64_t> beside;
    for (const ChainInput &input : op.inputs) {
      Dims dims = op.dimsOf(input.map);
      if (llvm::is_contained(dims, int64_t(chain.axis)))
        beside.insert(dims.begin(), dims.end());
    }
    for (int64_t dim : llvm::reverse(dimsOf(op.result())))
      if (dim >= 0 && kinds[dim] == Kind::Row && !beside.contains(dim))
        return dim;
    return std::nullopt;
  }
  return rowDims.back();
}

/// Are elements that are multiplied of 16 bits or fewer?
bool OnlineTiler::isNarrow() const {
  for (const ChainOp &op : chain.ops)
    if (isInnerContraction(op))
      return llvm::all_of(op.inputs, [](const ChainInput &input) {
        Type element = getElementTypeOrSelf(input.value.getType());
        return element.isIntOrFloat() && element.getIntOrFloatBitWidth() <= 16;
      });
  return false;
}

Refused OnlineTiler::planSelection() {
  SparseOp marked = mark();
  if (!marked)
    return std::nullopt;
  const ChainOp &op = chain.ops[*chain.selection];
  selector = marked.getSelector();
  if (marked.getSource() == Source::Index) {
    listed = cast<SparsityIndexType>(selector.getType());
    for (int64_t d = 0; d < listed.getRank(); ++d) {
      unsigned dim = op.dims[d];
      bool isAxis = d == listed.getAxis();
      if (isAxis != (kinds[dim] == Kind::Axis))
        return refuse(code(OnlineCondition::Selection) +
                      "an index lists places of another dim");
      if (isAxis || listed.isWhole(d))
        continue;
      if (kinds[dim] != Kind::Row ||
          listed.getStep()[d] != listed.getMicroTile()[d])
        return refuse(code(OnlineCondition::Selection) +
                      "groups of an index are no tiles of rows");
      groups.push_back(dim);
      tile[dim] = listed.getMicroTile()[d];
    }
    return std::nullopt;
  }
  auto type = cast<RankedTensorType>(selector.getType());
  // Lengths end the dim behind those that they have.
  if (marked.getSource() == Source::Lengths &&
      kinds[op.dims[type.getRank()]] != Kind::Axis)
    return refuse(code(OnlineCondition::Selection) + "lengths end another dim");
  AffineMap map =
      AffineMap::getMultiDimIdentityMap(op.dims.size(), rewriter.getContext())
          .getMajorSubMap(type.getRank());
  AffineMap blocks = map;
  Value ofBlocks = selector;
  if (marked.getSource() == Source::Mask) {
    while (auto reorder = ofBlocks.getDefiningOp<ReorderOp>()) {
      Dims of;
      for (int64_t dim : reorder.getDims())
        of.push_back(op.dims[dim]);
      orders.push_back({of.back(), reorder.getOrder(), of});
      ofBlocks = reorder.getSource();
    }
    lookThroughRepeats(ofBlocks, blocks);
  }
  lookThroughMoves(selector, map);
  selectorDims = op.dimsOf(map);
  selectorBlocks.assign(selectorDims.size(), 1);
  // Blocks of the axis, and then perhaps of rows.
  Dims dims, sizes;
  for (AffineExpr expr : blocks.getResults()) {
    sizes.push_back(getBlockSize(expr));
    if (auto quotient = dyn_cast<AffineBinaryOpExpr>(expr))
      expr = quotient.getLHS();
    auto dim = dyn_cast<AffineDimExpr>(expr);
    dims.push_back(dim ? int64_t(op.dims[dim.getPosition()]) : -1);
  }
  auto *axis = llvm::find(dims, int64_t(chain.axis));
  if (axis != dims.end() && sizes[axis - dims.begin()] > 1)
    blocksOfMask = {ofBlocks, dims, sizes};
  return std::nullopt;
}

/// The largest divisor of `size` that is a multiple of `unit` and no more than
/// `most`; 0 if there is none.
static int64_t largestDivisor(int64_t size, int64_t unit, int64_t most) {
  for (int64_t tile = most / unit * unit; tile > 0; tile -= unit)
    if (size % tile == 0)
      return tile;
  return 0;
}

/// Takes a mask of blocks as that, if tiles fit into blocks.
bool OnlineTiler::takeBlocks(std::optional<unsigned> row, int64_t &rowTile,
                             int64_t &axisTile) {
  if (!blocksOfMask)
    return false;
  const auto &[mask, dims, sizes] = *blocksOfMask;
  // Shorter runs give a step too little: elements are gathered one by one.
  bool multiplies = isNarrow() && target.gpu;
  int64_t unit = !multiplies ? 8 : target.gpu->wgmma ? 64 : 32;
  int64_t rowUnit = multiplies ? 16 : 1, newRow = rowTile, newAxis = axisTile;
  for (auto [dim, size] : llvm::zip(dims, sizes))
    if (dim == int64_t(chain.axis))
      newAxis = largestDivisor(size, unit, axisTile);
    else if (row && dim == int64_t(*row) && size > 1)
      newRow = largestDivisor(size, rowUnit, rowTile);
    else if (dim >= 0 && kinds[dim] != Kind::Row)
      return false;
  if (newRow == 0 || newAxis == 0)
    return false;
  // A tile has neighbours in one list.
  for (const Order &order : orders)
    if ((order.dim != int64_t(chain.axis) &&
         (!row || order.dim != int64_t(*row))) ||
        llvm::any_of(ArrayRef(order.dims).drop_back(), [&](int64_t dim) {
          return kinds[dim] != Kind::Row || (row && dim == int64_t(*row));
        }))
      return false;
  rowTile = newRow;
  axisTile = newAxis;
  selector = mask;
  selectorDims = dims;
  selectorBlocks = sizes;
  byBlocks = true;
  blockParts =
      sizes[llvm::find(dims, int64_t(chain.axis)) - dims.begin()] / axisTile;
  return true;
}

/// Registers that a thread of a warpgroup has for tiles, and its warpgroups'
/// rows.
static constexpr int64_t kTileRegisters = 208, kWarpgroupRows = 128;

/// The columns of a step that the registers of a warpgroup's threads and the
/// shared memory of a block leave, if wgmma multiplies tiles of 128 rows whose
/// sums are carried beside several matrices of a step; 0 if they leave none.
int64_t OnlineTiler::columnsOfStep() const {
  // A thread has two rows of the warpgroup's 64, and a quarter of the columns.
  int64_t carried = 0, matrices = 0, bytes = 0;
  auto columnsOf = [&](ArrayRef<int64_t> dims) {
    int64_t columns = 1;
    for (int64_t dim : dims)
      if (dim >= 0 && kinds[dim] == Kind::Whole)
        columns *= tile[dim];
    return columns;
  };
  for (const ChainOp &op : chain.ops) {
    if (op.role == ChainRole::Reduction)
      carried += columnsOf(dimsOf(op.result()));
    if (!isInnerContraction(op))
      continue;
    ++matrices;
    for (const ChainInput &input : op.inputs)
      if (llvm::is_contained(op.dimsOf(input.map), int64_t(chain.axis))) {
        int64_t columns = columnsOf(op.dimsOf(input.map));
        // Lines of wgmma have 128 bytes.
        if (columns % 64 != 0)
          return 0;
        bytes += 2 * columns;
      }
  }
  // A product of single rows reads no matrix along the axis.
  if (bytes == 0)
    return 0;
  // Matrices of f32, and a factor of 16 bits that one of them becomes.
  int64_t registers = kTileRegisters - carried / 2;
  int64_t columns = 4 * registers / (2 * matrices + 1);
  // Rows have as many bytes as columns, and these have two stages.
  int64_t shared = target.gpu->blockSharedBytes - 1024 - kWarpgroupRows * bytes;
  columns = std::min({columns, shared / (2 * bytes), kWarpgroupRows});
  return columns < 32 ? 0 : columns / 16 * 16;
}

Refused OnlineTiler::chooseTile() {
  std::optional<unsigned> row = findTiledRow();
  bool hasContraction = llvm::any_of(chain.ops, isInnerContraction);
  if (target.gpu && !hasContraction)
    return refuse(code(OnlineCondition::Rows) +
                  "it multiplies nothing: a GPU shares out each "
                  "reduction by itself");
  // Matrices of one row and one column each, for all of a step.
  for (const ChainOp &op : chain.ops)
    if (isInnerContraction(op) &&
        llvm::all_of(op.inputs, [&](const ChainInput &input) {
          return llvm::is_contained(op.dimsOf(input.map), int64_t(chain.axis));
        }))
      return refuse(code(OnlineCondition::Rows) +
                    "it reduces a dim that numbers products");
  int64_t whole = 0;
  for (auto [dim, kind] : llvm::enumerate(kinds))
    if (kind == Kind::Whole)
      whole = std::max(whole, tile[dim]);
  if (Refused refused = planSelection())
    return refused;
  bool gathers =
      listed || (mark() && mark().getSource() == Source::Mask &&
                 llvm::is_contained(selectorDims, int64_t(chain.axis)));
  int64_t rowTile = 64, axisTile = 64;
  if (target.gpu && !isNarrow()) {
    rowTile = axisTile = whole <= 64 ? 32 : 16;
  } else if (target.gpu && target.gpu->wgmma) {
    // If wgmma multiplies, which takes lines of 64 elements, tiles are as
    // large as registers and shared memory allow.
    bool hasLines = whole % 64 == 0;
    bool gathersRows = gathers && !blocksOfMask;
    rowTile = gathersRows ? 64 : whole == 64 ? 192 : 128;
    // Steps in which rows end along the axis compute half of a tile for
    // nothing.
    bool endsByRows = llvm::any_of(chain.bounds, [](const AxisBound &bound) {
      return !bound.dims.empty();
    });
    // Two blocks of a multiprocessor share its memory if they have 64 rows.
    bool isShort =
        gathersRows && !(listed && row && tile[*row] >= kWarpgroupRows);
    axisTile = whole <= 64                               ? 128
               : isShort || whole > 128                  ? 64
               : hasLines && !endsByRows && !gathersRows ? 176
                                                         : 128;
    // Floats of 8 bits are multiplied 32 at once, and threads have the sums of
    // a step beside those of all steps. Tensor cores add up 128 of them well.
    if (llvm::any_of(chain.ops,
                     [&](const ChainOp &op) { return multipliesSmall(op); }))
      axisTile = whole <= 64 ? 96 : 128;
  } else if (target.gpu && whole > 128) {
    rowTile = axisTile = 32;
  }
  // Gradients multiply more in a step, and carry more.
  int64_t products = llvm::count_if(chain.ops, [](const ChainOp &op) {
    return op.role != ChainRole::Rows && op.inputs.size() == 2 &&
           op.linalgOp() && op.linalgOp().getNumReductionLoops() > 0;
  });
  if (products > 2) {
    bool isWide = isNarrow() && target.gpu && target.gpu->wgmma &&
                  (!gathers || blocksOfMask);
    int64_t columns = isWide ? columnsOfStep() : 0;
    rowTile = columns ? kWarpgroupRows : std::min<int64_t>(rowTile, 64);
    axisTile = columns ? columns : std::min<int64_t>(axisTile, 64);
    // wgmma multiplies 64 rows, which those of the axis are of what is added.
    if (!added.empty())
      axisTile = std::min<int64_t>(axisTile, 64);
  }
  if (row && !listed) {
    int64_t extent = staticExtent(*row);
    // A GPU's tensor cores take 16 rows at once.
    if (target.cpu && !ShapedType::isDynamic(extent))
      rowTile = std::clamp<int64_t>(extent, 1, rowTile);
    else if (!ShapedType::isDynamic(extent))
      rowTile = std::min<int64_t>(
          rowTile, llvm::PowerOf2Ceil(std::max<int64_t>(extent, 16)));
  }
  bool hasBlocks = !listed && takeBlocks(row, rowTile, axisTile);
  if (!hasBlocks)
    orders.clear(); // the mask is moved before
  if (!hasBlocks && gathers && blocksOfMask && target.gpu && isNarrow() &&
      target.gpu->wgmma) {
    // Keys come one by one.
    rowTile = std::min<int64_t>(rowTile, 64);
    axisTile = std::min<int64_t>(axisTile, whole <= 64 ? 128 : 64);
  }
  if (row && !listed)
    tile[*row] = rowTile;
  int64_t extent = staticExtent(chain.axis);
  if (target.cpu && !hasBlocks && !ShapedType::isDynamic(extent))
    axisTile = std::clamp<int64_t>(extent, 1, axisTile);
  tile[chain.axis] = axisTile;
  if (gathers && !listed) {
    // The groups of an index that is built of the mask.
    SmallVector<int64_t> microTile;
    int64_t axis = -1;
    for (auto [d, dim] : llvm::enumerate(selectorDims)) {
      bool isAxis = dim == int64_t(chain.axis);
      if (isAxis)
        axis = d;
      bool isOne = isAxis || dim < 0 || selectorBlocks[d] > 1;
      microTile.push_back(isOne ? 1 : tile[dim]);
      if (!isAxis && dim >= 0 && kinds[dim] != Kind::Row)
        return refuse(code(OnlineCondition::Selection) +
                      "a mask has a dim that tiles do not share out");
    }
    listed = SparsityIndexType::get(rewriter.getContext(), microTile, axis,
                                    microTile);
  }
  return std::nullopt;
}

Refused OnlineTiler::checkBodies() {
  for (const ChainOp &op : chain.ops) {
    linalg::LinalgOp computed = op.linalgOp();
    if (!computed || op.role == ChainRole::Rows)
      continue;
    bool isProduct = isInnerContraction(op) || op.role == ChainRole::Added ||
                     (op.role == ChainRole::Reduction && op.inputs.size() > 1);
    auto isOwn = [&](const auto &used) {
      return used.op == chain.numbers.lookup(op.op);
    };
    if (isProduct && (computed.hasIndexSemantics() ||
                      llvm::any_of(op.dependence.powers, isOwn) ||
                      llvm::any_of(op.dependence.factors, isOwn)))
      return refuse(code(OnlineCondition::Structured) +
                    "a product computes its factors itself");
  }
  return std::nullopt;
}

Refused OnlineTiler::checkAdded() const {
  auto isSupported = [&](const ChainOp &op) {
    // Rows that are summed up, and the columns of the sums.
    return llvm::all_of(op.inputs, [&](const ChainInput &input) {
      const ChainOp *from = chain.find(input.value);
      for (int64_t dim : op.dimsOf(input.map))
        if (dim >= 0 && kinds[dim] == Kind::Row &&
            !chain.hasDim(op.result(), dim) && tile[dim] != kWarpgroupRows)
          return false;
      return from ? from->linalgOp() && !isInnerContraction(*from)
                  : llvm::all_of(op.dimsOf(input.map), [&](int64_t dim) {
                      return dim < 0 || kinds[dim] != Kind::Whole ||
                             tile[dim] == kWarpgroupRows;
                    });
    });
  };
  for (unsigned number : added)
    if (!target.gpu || !target.gpu->wgmma || !isNarrow() ||
        tile[chain.axis] != 64 || (listed && !byBlocks) || !orders.empty() ||
        !isSupported(chain.ops[number]))
      return refuse(
          code(OnlineCondition::Added) +
          "what each step adds takes wgmma, factors of 16 bits, steps "
          "of 64, and tiles of 128 rows of 128 elements");
  return std::nullopt;
}

Refused OnlineTiler::plan() {
  if (Refused refused = classify())
    return refused;
  if (Refused refused = chooseTile())
    return refused;
  if (Refused refused = checkAdded())
    return refused;
  if (Refused refused = checkBodies())
    return refused;
  for (Operation *user : findEarlyUsers())
    if (!isPure(user))
      return refuse(code(OnlineCondition::UsedInChain) +
                    user->getName().getStringRef().str() +
                    " stands before its last op and uses a result");
  scales.assign(chain.ops.size(), Tile());
  return std::nullopt;
}

std::string OnlineTiler::describe() const {
  std::string text = "tiled along the dim that it reduces, " +
                     std::to_string(reductions.size()) +
                     " reductions in one loop, tile = [";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(tile, os);
  os << "]";
  if (listed)
    os << ", by " << listed;
  if (byBlocks)
    os << " of blocks";
  if (!orders.empty())
    os << ", in an order";
  for (const AxisBound &bound : chain.bounds)
    os << (bound.isOfRows  ? ", runs"
           : bound.isUpper ? ", ends"
                           : ", starts")
       << " where a comparison says";
  if (hasGap())
    os << ", leaves out a range";
  return text;
}
