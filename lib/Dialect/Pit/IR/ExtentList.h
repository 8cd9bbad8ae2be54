//===- ExtentList.h - Syntax of a list of extents ---------------*- C++ -*-===//
//
// `[32, *, 1]`: extents of a micro-tile or a tile, `*` (ShapedType::kDynamic)
// for a whole dimension, and what is wrong with them. Shared by the types and
// attributes.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_IR_EXTENTLIST_H
#define PIT_LIB_DIALECT_PIT_IR_EXTENTLIST_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::pit {

inline ParseResult parseExtents(AsmParser &parser,
                                SmallVectorImpl<int64_t> &extents) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
    if (succeeded(parser.parseOptionalStar())) {
      extents.push_back(ShapedType::kDynamic);
      return ParseResult(success());
    }
    return parser.parseInteger(extents.emplace_back());
  });
}

inline void printExtents(AsmPrinter &printer, ArrayRef<int64_t> extents) {
  printer << '[';
  llvm::interleaveComma(extents, printer.getStream(), [&](int64_t e) {
    if (ShapedType::isDynamic(e))
      printer << '*';
    else
      printer << e;
  });
  printer << ']';
}

inline LogicalResult emitWideAxis(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t extent, int64_t axis) {
  std::string wide =
      ShapedType::isDynamic(extent) ? "*" : std::to_string(extent);
  return emitError() << "micro-tile is " << wide << " wide along its axis "
                     << axis << ", it has to be 1";
}

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_IR_EXTENTLIST_H
