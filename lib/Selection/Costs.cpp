//===- Costs.cpp - What a rule costs, as a function of the zeros ----------===//

#include "Costs.h"

#include "TileGeometry.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

/// Columns whose lists are read at once.
static constexpr int64_t kColumns = 128;
/// What a step takes beside its columns, in columns: micro-tiles of few columns
/// leave lanes idle, and gather the other operand for each.
static constexpr double kStep = 10;
/// A row of the result is read and written again for each part of a sum: as
/// much as so many multiplications and additions.
static constexpr double kPartOfSum = 4;

double CostTerm::evaluate(ArrayRef<double> extents) const {
  double value = factor;
  for (auto [dim, block] : dims)
    value *= std::ceil(extents[dim] / block);
  return value + constant;
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

/// Lines of the marked operand: its points along the dims of the result.
static double countLines(linalg::LinalgOp op, AffineMap map) {
  double lines = 1;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (map.isFunctionOfDim(d) && !isReducedDim(op, d))
      lines *= extentOf(op, d);
  return lines;
}

/// Bytes of the largest input beside the marked one.
static double countOtherBytes(linalg::LinalgOp op, unsigned operand) {
  double most = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Type element = getElementTypeOrSelf(input->get());
    if (input->getOperandNumber() == operand || !element.isIntOrFloat())
      continue;
    double bytes = std::max(8u, element.getIntOrFloatBitWidth()) / 8.0;
    AffineMap map = op.getMatchingIndexingMap(input);
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (map.isFunctionOfDim(d))
        bytes *= extentOf(op, d);
    most = std::max(most, bytes);
  }
  return most;
}

CostModel::CostModel(linalg::LinalgOp op, unsigned operand, SparseOp mark,
                     ChoiceCosts costs)
    : op(op), mark(mark), costs(std::move(costs)),
      map(op.getMatchingIndexingMap(&op->getOpOperand(operand))) {}

std::optional<CostModel> CostModel::get(linalg::LinalgOp op, unsigned operand,
                                        SparseOp mark, const TileTable &table) {
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
  // Wanted results are as many as there are; what they are made of is read.
  Type element = getElementTypeOrSelf(
      op.getNumDpsInputs() && op.isDpsInit(&op->getOpOperand(operand))
          ? op.getDpsInputs()[0]
          : mark.getInput());
  std::optional<ChoiceCosts> costs = table.findCosts(
      element, countLines(op, map), countOtherBytes(op, operand));
  if (!costs)
    return std::nullopt;
  return CostModel(op, operand, mark, *costs);
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
    if (!map.isFunctionOfDim(d))
      dims.push_back(d);
  return dims;
}

CostTerm CostModel::getDense() const {
  CostTerm term;
  term.factor = costs.dense / 1000;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    term.dims.push_back({d, 1});
  return term;
}

double CostModel::getScan(ArrayRef<int64_t> shape) const {
  if (mark.getSource() != Source::Values && mark.getSource() != Source::Mask)
    return 0;
  double elements = costs.scan / 1000;
  for (int64_t size : shape)
    elements *= size;
  return elements;
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
  unsigned axis = cast<AffineDimExpr>(map.getResult(candidate.index.getAxis()))
                      .getPosition();
  // 0 are whole rows.
  double rows = 0;
  if (isReducedDim(op, axis))
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

/// Rows of the result that share what a step reads.
double CostModel::countRows(const Candidate &candidate) const {
  ArrayRef<int64_t> tile = candidate.rule.getTile();
  std::optional<unsigned> lane = getLaneDim(op);
  unsigned axis = cast<AffineDimExpr>(map.getResult(candidate.index.getAxis()))
                      .getPosition();
  double rows = 1;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (!isReducedDim(op, d) && d != lane && d != axis)
      rows *= tile[d];
  return rows;
}

/// Lists of all groups are read for each strip of columns.
CostTerm CostModel::getFixed(const Candidate &candidate) const {
  CostTerm term;
  term.factor = costs.group / 1000;
  term.constant = findMicroTile(candidate).fixed / 1000;
  ArrayRef<int64_t> tile = candidate.rule.getTile();
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    if (isGrouped(candidate, d))
      term.dims.push_back({d, tile[d]});
    else if (!map.isFunctionOfDim(d))
      term.dims.push_back({d, d == getLaneDim(op) ? kColumns : tile[d]});
  }
  return term;
}

CostTerm CostModel::getLive(const Candidate &candidate) const {
  CostTerm term;
  term.factor = multiply(candidate) / 1000;
  ArrayRef<int64_t> tile = candidate.rule.getTile();
  AffineExpr axis = map.getResult(candidate.index.getAxis());
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    if (isGrouped(candidate, d))
      term.factor *= tile[d];
    else if (axis != getAffineDimExpr(d, op->getContext()))
      term.dims.push_back({d, 1});
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

/// Picoseconds of a multiplication and addition of a live micro-tile.
double CostModel::multiply(const Candidate &candidate) const {
  ArrayRef<int64_t> tile = candidate.rule.getTile();
  std::optional<unsigned> lane = getLaneDim(op);
  unsigned axis = cast<AffineDimExpr>(map.getResult(candidate.index.getAxis()))
                      .getPosition();
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
      if (micro.rows == 0)
        time = micro.multiply;
    if (axis == lane)
      time += costs.column / allRows;
  }
  if (lane && axis != *lane && isGrouped(candidate, *lane))
    time *= 1 + kStep / tile[*lane];
  if (candidate.rule.getConflicts() != Conflicts::None)
    time *= 1 + kPartOfSum / part;
  return time;
}
