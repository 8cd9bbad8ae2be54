//===- Live.cpp - Which elements are not the background -------------------===//

#include "Live.h"

#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;

Value pit::isLive(OpBuilder &builder, Location loc, Value value,
                  TypedAttr background) {
  MathBuilder a{builder, loc};
  Type element = getElementTypeOrSelf(value);
  APInt compared(element.getIntOrFloatBitWidth(), 0);
  Value bits = value;
  if (auto floats = dyn_cast<FloatType>(element)) {
    auto number = cast_or_null<FloatAttr>(background);
    if (number && number.getValue().isNaN())
      return a.integer(
          MathBuilder::cloneType(value.getType(), builder.getI1Type()), 1);
    bits = a.bits(value);
    if (!number || number.getValue().isZero()) {
      // Without the sign.
      APInt rest = APInt::getSignedMaxValue(floats.getWidth());
      bits = a.make<arith::AndIOp>(bits, a.constant(bits.getType(), rest));
    } else {
      compared = number.getValue().bitcastToAPInt();
    }
  } else if (background) {
    compared = cast<IntegerAttr>(background).getValue();
  }
  return a.compare(arith::CmpIPredicate::ne, bits,
                   a.constant(bits.getType(), compared));
}
