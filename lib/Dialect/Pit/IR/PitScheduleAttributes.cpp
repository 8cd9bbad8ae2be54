//===- PitScheduleAttributes.cpp - How mainloops are run ------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

using namespace mlir;
using namespace mlir::pit;

using EmitError = function_ref<InFlightDiagnostic()>;

/// Reports the first of some numbers that is not positive.
static LogicalResult
checkPositive(EmitError emitError,
              ArrayRef<std::pair<StringRef, int64_t>> numbers) {
  for (auto [name, number] : numbers)
    if (number <= 0)
      return emitError() << name << " is " << number
                         << "; it has to be 1 or more";
  return success();
}

LogicalResult DotScheduleAttr::verify(EmitError emitError, int64_t group,
                                      int64_t step, int64_t tileRows,
                                      int64_t tiles, Type element, BoolAttr,
                                      BoolAttr, BoolAttr) {
  if (failed(checkPositive(emitError, {{"group", group},
                                       {"step", step},
                                       {"tile_rows", tileRows},
                                       {"tiles", tiles}})))
    return failure();
  if (step % group)
    return emitError() << "step is " << step
                       << "; it has to be a multiple of group, " << group;
  if (!element.isIntOrFloat() || group * element.getIntOrFloatBitWidth() != 32)
    return emitError() << "element is " << element << "; " << group
                       << " of them have to be as wide as a sum, 32 bits";
  return success();
}

LogicalResult CpuScheduleAttr::verify(EmitError emitError, int64_t a, int64_t m,
                                      int64_t n, int64_t lane,
                                      DenseI64ArrayAttr batch,
                                      DenseI64ArrayAttr k, int64_t lanes,
                                      int64_t rows, int64_t vectors, BoolAttr,
                                      BoolAttr, BoolAttr, BoolAttr,
                                      DotScheduleAttr dots) {
  if (a != 0 && a != 1)
    return emitError() << "a is " << a << "; it has to be operand 0 or 1";
  if (lane < 0)
    return emitError() << "lane is " << lane
                       << "; it has to be a dimension of operand " << 1 - a;
  if (failed(checkPositive(
          emitError, {{"lanes", lanes}, {"rows", rows}, {"vectors", vectors}})))
    return failure();
  if (!llvm::isPowerOf2_64(lanes))
    return emitError() << "lanes is " << lanes
                       << "; it has to be a power of two";
  if (rows > 1 && m < 0)
    return emitError() << "rows is " << rows
                       << "; without m, the dimension of rows, it has to be 1";
  if (dots && (m < 0 || !k || k.empty()))
    return emitError() << "dots need both m and k";
  return success();
}

SmallVector<int64_t> CpuScheduleAttr::getDims() const {
  SmallVector<int64_t> dims = {getN()};
  if (getM() >= 0)
    dims.push_back(getM());
  for (DenseI64ArrayAttr others : {getBatch(), getK()})
    if (others)
      llvm::append_range(dims, others.asArrayRef());
  return dims;
}
