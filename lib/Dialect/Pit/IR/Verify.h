//===- Verify.h - Checks and effects that several ops share -----*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_IR_VERIFY_H
#define PIT_LIB_DIALECT_PIT_IR_VERIFY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::pit {

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Adds an effect on the operands that are memory; tensors are values.
template <typename EffectT>
void addEffect(Effects &effects, MutableArrayRef<OpOperand> operands) {
  for (OpOperand &operand : operands)
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(EffectT::get(), &operand,
                           SideEffects::DefaultResource::get());
}

/// An error of `op`'s verifier. `constraint` is what stands in brackets before
/// the broken constraint in the op's description, such as "tile 3".
inline InFlightDiagnostic violates(Operation *op, StringRef constraint) {
  return op->emitOpError() << '[' << constraint << "] ";
}

/// Elements have a zero and can be compared with it by the ops of `arith`.
inline LogicalResult verifyElement(Operation *op, Type element) {
  if (element.isSignlessIntOrIndexOrFloat())
    return success();
  return violates(op, "element 1")
         << "cannot be of elements of type " << element
         << "; they have to be signless integers, index or "
            "floats";
}

/// `number`, if given, is one element; `what` says what the op does with it.
inline LogicalResult verifyNumber(Operation *op, StringRef what,
                                  TypedAttr number, Type element) {
  if (!number)
    return success();
  if (number.getType() != element)
    return violates(op, "element 2") << what << " has type " << number.getType()
                                     << ", the elements have type " << element;
  if (!isa<IntegerAttr, FloatAttr>(number))
    return violates(op, "element 3") << what << " is a number, not " << number;
  return success();
}

/// `bits` says of each element of `tensor` whether it is selected.
LogicalResult verifyBitmap(Operation *op, ShapedType bits, ShapedType tensor);

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

#endif // PIT_LIB_DIALECT_PIT_IR_VERIFY_H
