//===- Costs.cpp - What a rule costs, as a function of the zeros ----------===//

#include "Costs.h"

#include "Selection/TileGeometry.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

/// Are rows of the other operand, along the last dim of the result, not
/// contiguous?
static bool isColumnMajor(linalg::LinalgOp op, AffineMap otherMap) {
  std::optional<unsigned> lane = getLaneDim(op);
  return lane && otherMap && otherMap.getNumResults() > 0 &&
         otherMap.isFunctionOfDim(*lane) &&
         !otherMap.getResults().back().isFunctionOfDim(*lane);
}

static CostLayout getLayout(linalg::LinalgOp op, AffineMap map,
                            AffineMap otherMap) {
  std::optional<unsigned> lane = getLaneDim(op);
  if (lane && map.isFunctionOfDim(*lane))
    return CostLayout::Right;
  return isColumnMajor(op, otherMap) ? CostLayout::LeftBT : CostLayout::Left;
}

void CostTerm::add(Product product) {
  if (product.factor != 0)
    products.push_back(std::move(product));
}

void CostTerm::add(const CostTerm &term) {
  llvm::append_range(products, term.products);
}

double CostTerm::evaluate(ArrayRef<double> extents) const {
  double sum = 0;
  for (const Product &product : products) {
    double value = product.factor, points = 1;
    for (auto [dim, block] : product.dims)
      value *= std::ceil(extents[dim] / block);
    for (unsigned dim : product.points)
      points *= extents[dim];
    if (product.points.empty() || points > product.least)
      sum += value;
  }
  return sum;
}

std::optional<unsigned> mlir::pit::getLaneDim(linalg::LinalgOp op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (result.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(result.getResults().back());
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

/// A dim's extent; that of one that is not known is planned for.
static double extentOf(linalg::LinalgOp op, unsigned dim) {
  int64_t range = op.getStaticLoopRanges()[dim];
  return ShapedType::isDynamic(range) ? kAssumedExtent : range;
}

/// The dim that `expr`, which is linear, moves by; of a window that of its
/// place, not those of the points in it.
static std::optional<unsigned> getMovingDim(AffineExpr expr) {
  std::optional<LinearExpr> linear = matchLinear(expr);
  return linear->terms.empty() ? std::nullopt
                               : std::optional(linear->terms.front().first);
}

/// Lines of the marked operand: its points along the dims of the result.
static double countLines(linalg::LinalgOp op, AffineMap map) {
  double lines = 1;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (map.isFunctionOfDim(d) && !isReducedDim(op, d))
      lines *= extentOf(op, d);
  return lines;
}

static double countBytes(linalg::LinalgOp op, OpOperand *input) {
  Type element = getElementTypeOrSelf(input->get());
  double bytes = std::max(8u, element.getIntOrFloatBitWidth()) / 8.0;
  AffineMap map = op.getMatchingIndexingMap(input);
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (map.isFunctionOfDim(d))
      bytes *= extentOf(op, d);
  return bytes;
}

/// The largest input beside the marked one, of a marked result among those that
/// its columns are computed of; null if there is none.
static OpOperand *findOther(linalg::LinalgOp op, unsigned operand) {
  bool isResult = op.isDpsInit(&op->getOpOperand(operand));
  std::optional<unsigned> lane = getLaneDim(op);
  OpOperand *other = nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->getOperandNumber() != operand &&
        getElementTypeOrSelf(input->get()).isIntOrFloat() &&
        (!isResult || !lane ||
         op.getMatchingIndexingMap(input).isFunctionOfDim(*lane)) &&
        (!other || countBytes(op, input) > countBytes(op, other)))
      other = input;
  return other;
}

CostModel::CostModel(MarkedOperand marked, ChoiceCosts costs,
                     const CostTable &table)
    : op(marked.op), mark(marked.mark), costs(std::move(costs)), table(table),
      shapes(table.shapes), map(marked.getMap()) {
  if (OpOperand *other = findOther(op, marked.number)) {
    otherMap = op.getMatchingIndexingMap(other);
    Type element = getElementTypeOrSelf(other->get());
    if (element.isIntOrFloat())
      otherBytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  }
  Type sums = getElementTypeOrSelf(op.getDpsInits()[0]);
  if (table.cpu && sums.isIntOrFloat())
    lanes = std::max<int64_t>(
        1, table.cpu->vectorBits / std::max(8u, sums.getIntOrFloatBitWidth()));
}

std::optional<CostModel> CostModel::get(MarkedOperand marked,
                                        const CostTable &table) {
  linalg::LinalgOp op = marked.op;
  // Wanted results are as many as there are; what they are made of is read.
  Type element =
      getElementTypeOrSelf(op.getNumDpsInputs() && op.isDpsInit(&marked.get())
                               ? op.getDpsInputs()[0]
                               : marked.mark.getInput());
  OpOperand *other = findOther(op, marked.number);
  AffineMap otherMap;
  if (other)
    otherMap = op.getMatchingIndexingMap(other);
  std::optional<ChoiceCosts> costs = table.findCosts(
      element, countLines(op, marked.getMap()),
      other ? countBytes(op, other) : 0,
      op.isDpsInit(&marked.get()) ? CostLayout::Result
                                  : getLayout(op, marked.getMap(), otherMap));
  if (!costs)
    return std::nullopt;
  return CostModel(marked, *costs, table);
}

SmallVector<double> CostModel::getExtents(ArrayRef<int64_t> shape) const {
  SmallVector<double> extents;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    extents.push_back(extentOf(op, d));
  for (auto [expr, size] : llvm::zip(map.getResults(), shape))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      extents[dim.getPosition()] = size;
  return extents;
}

SmallVector<unsigned> CostModel::getReuse() const {
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (llvm::none_of(map.getResults(),
                      [&](AffineExpr expr) { return getMovingDim(expr) == d; }))
      dims.push_back(d);
  return dims;
}

/// Counts dim `dim`; of the one that vectors run along all lanes are computed.
void CostModel::addLanes(Product &product, unsigned dim) const {
  bool isLane = dim == getLaneDim(op);
  product.factor *= isLane ? lanes : 1;
  product.dims.push_back({dim, isLane ? lanes : 1});
}

/// On a GPU: up to so many rows, multiplying takes less time than reading.
int64_t CostModel::getRowsOfReading() const { return costs.read / costs.dense; }

/// All elements of the other operand are read or packed once.
CostModel::Product CostModel::readOther(double cost) const {
  Product product;
  product.factor = otherMap ? cost / 1000 : 0;
  for (unsigned d = 0; otherMap && d < op.getNumLoops(); ++d)
    if (otherMap.isFunctionOfDim(d))
      product.dims.push_back({d, 1});
  return product;
}

/// Reading the other operand, as far as that takes time beside the dense
/// product: on a GPU one hides the other, and with so many rows that is
/// reading.
CostTerm CostModel::readBeside() const {
  CostTerm term;
  Product read = readOther(costs.read);
  term.add(read);
  if (table.isForGpu) {
    read.factor = -read.factor;
    read.points = getSharingDims();
    read.least = getRowsOfReading();
    term.add(read);
  }
  return term;
}

CostTerm CostModel::getDense() const {
  Product product;
  product.factor = costs.dense / 1000;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    addLanes(product, d);
  if (table.isForGpu && costs.read > 0) {
    product.points = getSharingDims();
    product.least = getRowsOfReading();
  }
  CostTerm term;
  term.add(product);
  term.add(readBeside());
  return term;
}

/// Is the index made by scanning elements?
static bool scans(SparseOp mark) {
  return mark.getSource() == Source::Values || mark.getSource() == Source::Mask;
}

CostTerm CostModel::getScan() const {
  CostTerm term;
  if (!scans(mark))
    return term;
  Product product;
  product.factor = costs.scan / 1000;
  for (AffineExpr expr : map.getResults())
    for (auto [dim, coefficient] :
         llvm::ArrayRef(matchLinear(expr)->terms).take_front()) {
      product.factor *= coefficient;
      product.dims.push_back({dim, 1});
    }
  term.add(product);
  return term;
}

double CostModel::getScan(ArrayRef<int64_t> shape) const {
  if (!scans(mark))
    return 0;
  double elements = costs.scan / 1000;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

unsigned CostModel::getAxisDim(const Candidate &candidate) const {
  return cast<AffineDimExpr>(map.getResult(candidate.index.getAxis()))
      .getPosition();
}

/// Does `dim` number groups, or points of a window?
bool CostModel::isGrouped(const Candidate &candidate, unsigned dim) const {
  SparsityIndexType index = candidate.index;
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    if (expr.isFunctionOfDim(dim))
      return static_cast<int64_t>(d) != index.getAxis() && !index.isWhole(d);
  return false;
}

/// The micro-tile of the table that is most like a candidate's.
const ChoiceCosts::MicroTile &
CostModel::findMicroTile(const Candidate &candidate) const {
  unsigned axis = getAxisDim(candidate);
  // 0 are whole rows.
  double rows = 0;
  if (isReducedDim(op, axis) || hasWantedColumns(candidate))
    rows = countRows(candidate);
  auto distance = [&](const ChoiceCosts::MicroTile &micro) {
    if (micro.rows == 0 || rows == 0)
      return micro.rows == rows ? 0.0 : HUGE_VAL;
    return std::abs(std::log2(micro.rows / rows));
  };
  return *llvm::min_element(costs.micro, [&](const auto &a, const auto &b) {
    return distance(a) < distance(b);
  });
}

/// Does the table say what wanted columns take?
bool CostModel::hasWantedColumns(const Candidate &candidate) const {
  return costs.layout == CostLayout::Result &&
         getAxisDim(candidate) == getLaneDim(op);
}

/// Rows of the result that share what a step reads.
double CostModel::countRows(const Candidate &candidate) const {
  ArrayRef<int64_t> tile = candidate.rule.getTile();
  std::optional<unsigned> lane = getLaneDim(op);
  if (costs.layout == CostLayout::Right && isGrouped(candidate, *lane))
    return tile[*lane];
  unsigned axis = getAxisDim(candidate);
  double rows = 1;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (!isReducedDim(op, d) && d != lane && d != axis)
      rows *= tile[d];
  return rows;
}

/// Lists of all groups are read for each column block.
CostTerm CostModel::getFixed(const Candidate &candidate) const {
  CostTerm term;
  Product fixed;
  fixed.factor = findMicroTile(candidate).fixed / 1000;
  term.add(fixed);
  Product lists;
  lists.factor = findMicroTile(candidate).group / 1000;
  ArrayRef<int64_t> tile = candidate.rule.getTile();
  bool sumsGoOn = isReducedDim(op, getAxisDim(candidate));
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    if (isGrouped(candidate, d) && !(sumsGoOn && isReducedDim(op, d)))
      lists.dims.push_back({d, tile[d]});
    else if (!map.isFunctionOfDim(d))
      lists.dims.push_back(
          {d, d == getLaneDim(op) ? shapes.listColumns : tile[d]});
  }
  term.add(lists);
  Product more = lists;
  more.factor *= shapes.nextList;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (sumsGoOn && isGrouped(candidate, d) && isReducedDim(op, d))
      more.dims.push_back({d, tile[d]});
  if (more.dims.size() > lists.dims.size())
    term.add(more);
  // Whole rows have all of the other operand in common.
  double read = 0;
  if (!isReducedDim(op, getAxisDim(candidate))) {
    read = costs.read;
    term.add(readBeside());
  }
  // An operand that is read once stays where it is, and on a CPU also one that
  // few rows read. For wanted columns the other operand is transposed, unless
  // it lies like that.
  if (!readsOtherAgain(candidate) ||
      (hasWantedColumns(candidate) && isColumnMajor(op, otherMap)))
    return term;
  Product packed =
      readOther(std::max(findMicroTile(candidate).pack - read, 0.0));
  if (!table.isForGpu) {
    packed.points = getSharingDims();
    packed.least = shapes.inPlaceRows;
  }
  term.add(packed);
  return term;
}

double CostModel::getLeave(const Candidate &candidate) const {
  return findMicroTile(candidate).leave / 1000;
}

/// The dims along which the same elements of the other operand are read.
SmallVector<unsigned> CostModel::getSharingDims() const {
  SmallVector<unsigned> dims;
  for (unsigned d = 0; otherMap && d < op.getNumLoops(); ++d)
    if (!otherMap.isFunctionOfDim(d))
      dims.push_back(d);
  return dims;
}

/// Do several tiles read the same elements of the other operand?
bool CostModel::readsOtherAgain(const Candidate &candidate) const {
  ArrayRef<int64_t> tile = candidate.rule.getTile();
  return llvm::any_of(getSharingDims(),
                      [&](unsigned d) { return extentOf(op, d) > tile[d]; });
}

/// The dims of groups that read the same elements of the other operand.
SmallVector<unsigned>
CostModel::getSharingGroups(const Candidate &candidate) const {
  SmallVector<unsigned> dims = getSharingDims();
  llvm::erase_if(dims, [&](unsigned d) { return !isGrouped(candidate, d); });
  return dims;
}

/// The elements of the other operand that an id of a list adds to those that
/// any list reads, as a part of those that the id reads: with many lists hardly
/// any.
double CostModel::shareOfReading(const Candidate &candidate) const {
  double groups = 1;
  for (unsigned d : getSharingGroups(candidate))
    groups *= std::ceil(extentOf(op, d) / candidate.rule.getTile()[d]);
  return (1 - std::pow(1 - shapes.assumedLive, groups)) /
         (shapes.assumedLive * groups);
}

/// Reading an element that an id selects. If rows along the list are columns of
/// the other operand, an element comes with those around it on a GPU, unless
/// they are packed: the packing has read these.
double CostModel::readOfList(const Candidate &candidate) const {
  bool isAlone = table.isForGpu && costs.layout == CostLayout::LeftBT &&
                 findMicroTile(candidate).pack == 0;
  return costs.read * (isAlone ? shapes.readBytes / otherBytes : 1);
}

CostTerm CostModel::getLive(const Candidate &candidate) const {
  ArrayRef<int64_t> tile = candidate.rule.getTile();
  unsigned axis = getAxisDim(candidate);
  std::optional<unsigned> lane = getLaneDim(op);
  Product columns;
  columns.factor = multiply(candidate) / 1000;
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    if (isGrouped(candidate, d))
      columns.factor *= tile[d];
    else if (d != axis)
      addLanes(columns, d);
  }
  // Each element of an image is in as many windows as these have points, less
  // those that windows leave out between each other.
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    std::optional<LinearExpr> linear = matchLinear(expr);
    if (linear->terms.size() < 2 || candidate.index.isWhole(d) ||
        candidate.index.getMicroTile()[d] != 1)
      continue;
    columns.factor /= linear->terms.front().second;
    for (auto [dim, coefficient] : llvm::drop_begin(linear->terms))
      columns.dims.push_back({dim, 1});
  }
  CostTerm term;
  term.add(columns);
  if (!isReducedDim(op, axis))
    return term;
  if (lane && !isGrouped(candidate, *lane)) {
    Product steps = columns;
    steps.factor *= costs.step / lanes;
    for (auto &[dim, block] : steps.dims)
      block = dim == lane ? shapes.listColumns : block;
    term.add(steps);
  }
  if (otherMap && otherMap.isFunctionOfDim(axis)) {
    double cost = readOfList(candidate);
    Product read = readOther(cost);
    llvm::erase_if(read.dims, [&](auto dim) {
      return dim.first == axis || isGrouped(candidate, dim.first);
    });
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (isGrouped(candidate, d) && otherMap.isFunctionOfDim(d))
        read.factor *= tile[d];
    term.add(read);
    // Lists read what others have read; on a GPU products hide it.
    Product saved = read;
    saved.points = getSharingGroups(candidate);
    saved.factor *= table.isForGpu ? -1 : shareOfReading(candidate) - 1;
    saved.least = table.isForGpu
                      ? static_cast<int64_t>(cost / multiply(candidate))
                      : shapes.inPlaceRows;
    if (!saved.points.empty())
      term.add(saved);
  }
  return term;
}

/// Picoseconds of a multiplication and addition by `rows` rows at a time,
/// between those that the table lists.
double CostModel::multiplyRows(double rows) const {
  const ChoiceCosts::MicroTile *below = nullptr, *above = nullptr;
  for (const ChoiceCosts::MicroTile &micro : costs.micro) {
    if (micro.rows == 0)
      continue;
    if (micro.rows <= rows && (!below || micro.rows > below->rows))
      below = &micro;
    if (micro.rows >= rows && (!above || micro.rows < above->rows))
      above = &micro;
  }
  if (!below && !above) // whole rows alone
    return costs.micro.front().multiply;
  if (!below || !above || below == above)
    return (below ? below : above)->multiply;
  double part = std::log2(rows / below->rows) /
                std::log2(static_cast<double>(above->rows) / below->rows);
  return below->multiply + part * (above->multiply - below->multiply);
}

/// Does the table say what wanted parts of rows take?
bool CostModel::isWantedPart(const Candidate &candidate) const {
  return costs.wanted &&
         op.isDpsInit(&op->getOpOperand(candidate.rule.getOperand()));
}

/// The lists of a rule.
double CostModel::countGroups(const Candidate &candidate) const {
  double groups = 1;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (isGrouped(candidate, d))
      groups *= std::ceil(extentOf(op, d) / candidate.rule.getTile()[d]);
  return groups;
}

/// Picoseconds of a multiplication and addition of a live micro-tile.
double CostModel::multiply(const Candidate &candidate) const {
  ArrayRef<int64_t> tile = candidate.rule.getTile();
  std::optional<unsigned> lane = getLaneDim(op);
  unsigned axis = getAxisDim(candidate);
  // All rows of the result, and parts of its sums.
  double allRows = 1, part = 1;
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    if (isReducedDim(op, d)) {
      if (isGrouped(candidate, d))
        part *= tile[d];
      continue;
    }
    if (d == lane || d == axis)
      continue;
    allRows *= isGrouped(candidate, d) ? tile[d] : extentOf(op, d);
  }
  double time = multiplyRows(countRows(candidate));
  if (!isReducedDim(op, axis)) {
    // Rows are gathered and computed densely; columns one by one, each once for
    // all rows.
    for (const ChoiceCosts::MicroTile &micro : costs.micro)
      if (micro.rows == 0 && !hasWantedColumns(candidate))
        time = micro.multiply;
    if (hasWantedColumns(candidate)) {
      // They are gathered like rows.
    } else if (axis == lane && (lanes == 1 || allRows < lanes)) {
      time += costs.column / allRows;
    } else if (axis == lane) {
      time *= shapes.transposed;
    }
  }
  if (lane && axis != *lane && isGrouped(candidate, *lane) &&
      costs.layout != CostLayout::Right)
    time = isWantedPart(candidate)
               ? costs.wanted *
                     std::max(1.0, shapes.wantedLists / countGroups(candidate))
               : time * (1 + shapes.stepColumns / tile[*lane]);
  if (candidate.rule.getConflicts() != Conflicts::None)
    time = costs.partial
               ? time + (costs.partial - time) * shapes.measuredPartial / part
               : time * (1 + shapes.addPartial / part);
  if (lanes > 1 && costs.layout != CostLayout::LeftBT &&
      isReducedDim(op, axis) && otherMap && otherMap.isFunctionOfDim(axis) &&
      isColumnMajor(op, otherMap) && countRows(candidate) < shapes.packingRows)
    time *= shapes.strided;
  return time;
}
