//===- Live.cpp - Which elements are not the background -------------------===//

#include "Live.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;

Value pit::isLive(OpBuilder &builder, Location loc, Value value,
                  TypedAttr background) {
  Type element = getElementTypeOrSelf(value);
  auto like = [&](Type type) -> Type {
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      return vector.clone(type);
    return type;
  };
  auto constant = [&](Type type, TypedAttr number) -> Value {
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(vector, Attribute(number)));
    return arith::ConstantOp::create(builder, loc, number);
  };
  APInt compared(element.getIntOrFloatBitWidth(), 0);
  Value bits = value;
  if (auto floats = dyn_cast<FloatType>(element)) {
    auto integer = builder.getIntegerType(floats.getWidth());
    Type type = like(integer);
    auto number = cast_or_null<FloatAttr>(background);
    if (number && number.getValue().isNaN())
      return constant(like(builder.getI1Type()), builder.getBoolAttr(true));
    bits = arith::BitcastOp::create(builder, loc, type, value);
    if (!number || number.getValue().isZero()) {
      // Without the sign.
      Value rest = constant(
          type, builder.getIntegerAttr(
                    integer, APInt::getSignedMaxValue(floats.getWidth())));
      bits = arith::AndIOp::create(builder, loc, bits, rest);
    } else {
      compared = number.getValue().bitcastToAPInt();
    }
  } else if (background) {
    compared = cast<IntegerAttr>(background).getValue();
  }
  Value to = constant(
      bits.getType(),
      builder.getIntegerAttr(getElementTypeOrSelf(bits.getType()), compared));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bits,
                               to);
}
