//===- PitAttributes.cpp - Attributes of the pit dialect ------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

#include "Verify.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pit;

namespace mlir::pit {
static FailureOr<SmallVector<TensorMapAttr>>
parseTensorMaps(AsmParser &parser) {
  SmallVector<TensorMapAttr> maps;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseCustomAttributeWithFallback(maps.emplace_back());
      }))
    return failure();
  return maps;
}

static void printTensorMaps(AsmPrinter &printer, ArrayRef<TensorMapAttr> maps) {
  printer << '[';
  llvm::interleaveComma(maps, printer, [&](TensorMapAttr map) {
    printer.printStrippedAttrOrType(map);
  });
  printer << ']';
}
} // namespace mlir::pit

#define GET_ATTRDEF_CLASSES
#include "pit/Dialect/Pit/IR/PitAttributes.cpp.inc"

void PitDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pit/Dialect/Pit/IR/PitAttributes.cpp.inc"
      >();
}

Attribute RuleAttr::parse(AsmParser &parser, Type) {
  int64_t operand = -1, axis = -1;
  SmallVector<int64_t> microTile, tile;
  Conflicts conflicts = Conflicts::None;
  llvm::SmallSet<StringRef, 8> given;
  SMLoc loc = parser.getCurrentLocation();
  auto parseField = [&]() -> ParseResult {
    StringRef field;
    SMLoc fieldLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&field) || parser.parseEqual())
      return failure();
    if (!given.insert(field).second)
      return parser.emitError(fieldLoc) << field << " is given twice";
    if (field == "operand" || field == "axis") {
      int64_t &number = field == "axis" ? axis : operand;
      if (parser.parseInteger(number))
        return failure();
      if (number < 0)
        return parser.emitError(fieldLoc)
               << field << " " << number << " of a rule is negative";
      return success();
    }
    if (field == "micro_tile")
      return parseExtents(parser, microTile);
    if (field == "tile")
      return parseExtents(parser, tile);
    if (field == "conflicts") {
      StringRef how;
      if (parser.parseKeyword(&how))
        return failure();
      if (std::optional<Conflicts> parsed = symbolizeConflicts(how)) {
        conflicts = *parsed;
        return success();
      }
      return parser.emitError(fieldLoc) << "conflicts is none, sequential, "
                                           "atomic, two_phase, "
                                           "two_phase_rounded or disjoint, not "
                                        << how;
    }
    return parser.emitError(fieldLoc)
           << "a rule has operand, axis, micro_tile, tile and conflicts, not "
           << field;
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseField))
    return {};
  return parser.getChecked<RuleAttr>(loc, parser.getContext(), operand, axis,
                                     microTile, tile, conflicts);
}

void RuleAttr::print(AsmPrinter &printer) const {
  StringRef separator = "";
  auto field = [&](StringRef name) -> AsmPrinter & {
    printer << separator << name << " = ";
    separator = ", ";
    return printer;
  };
  printer << '<';
  if (getOperand() >= 0)
    field("operand") << getOperand();
  if (getAxis() >= 0)
    field("axis") << getAxis();
  if (!getMicroTile().empty())
    printExtents(field("micro_tile"), getMicroTile());
  if (!getTile().empty())
    printExtents(field("tile"), getTile());
  if (getConflicts() != Conflicts::None)
    field("conflicts") << stringifyConflicts(getConflicts());
  printer << '>';
}

LogicalResult RuleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t operand, int64_t axis,
                               ArrayRef<int64_t> microTile,
                               ArrayRef<int64_t> tile, Conflicts conflicts) {
  for (ArrayRef<int64_t> extents : {microTile, tile})
    for (int64_t e : extents)
      if (e <= 0 && !ShapedType::isDynamic(e))
        return emitError() << "extent " << e << " of a rule is not positive";
  if (axis >= 0 && !microTile.empty()) {
    if (axis >= static_cast<int64_t>(microTile.size()))
      return emitError() << "axis " << axis << " is not a dimension of a rank-"
                         << microTile.size() << " micro-tile";
    if (microTile[axis] != 1)
      return emitWideAxis(emitError, microTile[axis], axis);
  }
  if (llvm::any_of(tile, ShapedType::isDynamic))
    return emitError() << "a rule's tile has a number for each iteration "
                          "dimension, not *";
  return success();
}
