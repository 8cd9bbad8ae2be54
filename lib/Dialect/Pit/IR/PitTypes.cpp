//===- PitTypes.cpp - Types of the pit dialect ----------------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

#include "Verify.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pit;

#define GET_TYPEDEF_CLASSES
#include "pit/Dialect/Pit/IR/PitTypes.cpp.inc"

void PitDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pit/Dialect/Pit/IR/PitTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// SparsityIndexType
//===----------------------------------------------------------------------===//

LogicalResult
SparsityIndexType::verify(function_ref<InFlightDiagnostic()> emitError,
                          ArrayRef<int64_t> microTile, int64_t axis,
                          ArrayRef<int64_t> step) {
  int64_t rank = microTile.size();
  if (axis < 0 || axis >= rank)
    return emitError() << "axis " << axis << " is not a dimension of a rank-"
                       << rank << " micro-tile";
  if (rank > kMaxRank)
    return emitError() << "an index of rank " << rank
                       << " is too large; the runtime takes up to " << kMaxRank;
  if (microTile[axis] != 1)
    return emitWideAxis(emitError, microTile[axis], axis);
  if (static_cast<int64_t>(step.size()) != rank)
    return emitError() << "step has " << step.size()
                       << " dimensions, the micro-tile has " << rank;
  for (int64_t d = 0; d < rank; ++d) {
    bool whole = ShapedType::isDynamic(microTile[d]);
    if (!whole && microTile[d] <= 0)
      return emitError() << "micro-tile extent " << microTile[d]
                         << " of dimension " << d
                         << " is not positive; use * for the whole dimension";
    if (whole != ShapedType::isDynamic(step[d]) || (!whole && step[d] <= 0))
      return emitError() << "step of dimension " << d
                         << (whole ? " has to be * as the micro-tile is whole"
                                   : " has to be positive");
  }
  if (step[axis] != 1)
    return emitError() << "step along the axis " << axis << " is " << step[axis]
                       << ", it has to be 1";
  return success();
}

SmallVector<int64_t> SparsityIndexType::getGroupDims() const {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < getRank(); ++d)
    if (d != getAxis() && !isWhole(d))
      dims.push_back(d);
  return dims;
}

bool SparsityIndexType::hasWindows() const {
  return getStep() != getMicroTile();
}

bool SparsityIndexType::isPackable() const {
  return llvm::all_of(llvm::zip_equal(getMicroTile(), getStep()), [](auto p) {
    auto [extent, step] = p;
    return ShapedType::isDynamic(extent) || (extent == 1 && step == 1);
  });
}

Type SparsityIndexType::parse(AsmParser &parser) {
  SmallVector<int64_t> microTile, step;
  int64_t axis = -1;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("micro_tile") ||
      parser.parseEqual() || parseExtents(parser, microTile) ||
      parser.parseComma() || parser.parseKeyword("axis") ||
      parser.parseEqual() || parser.parseInteger(axis))
    return {};
  if (failed(parser.parseOptionalComma()))
    step = microTile;
  else if (parser.parseKeyword("step") || parser.parseEqual() ||
           parseExtents(parser, step))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SparsityIndexType>(loc, parser.getContext(),
                                              microTile, axis, step);
}

void SparsityIndexType::print(AsmPrinter &printer) const {
  printer << "<micro_tile = ";
  printExtents(printer, getMicroTile());
  printer << ", axis = " << getAxis();
  if (hasWindows()) {
    printer << ", step = ";
    printExtents(printer, getStep());
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// IdsType
//===----------------------------------------------------------------------===//

LogicalResult IdsType::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t size) {
  if (size <= 0)
    return emitError() << "a chunk has a positive number of ids, not " << size;
  return success();
}
