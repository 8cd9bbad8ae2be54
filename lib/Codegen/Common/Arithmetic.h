//===- Arithmetic.h - Arithmetic in generated code --------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_COMMON_ARITHMETIC_H
#define PIT_LIB_CODEGEN_COMMON_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::pit {

/// Arithmetic where a builder is, on operands of one type: index or an integer.
/// A number on the right is a constant of that type. Constants are folded.
class ArithEmitter {
public:
  ArithEmitter(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value index(int64_t value) { return number(b.getIndexType(), value); }
  Value constant(TypedAttr value);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value mul(Value x, int64_t y);
  Value div(Value x, Value y); ///< without signs, as the next three
  Value div(Value x, int64_t y);
  Value rem(Value x, Value y);
  Value rem(Value x, int64_t y);
  Value ceilDiv(Value x, Value y); ///< without signs
  Value bitAnd(Value x, int64_t y);
  Value bitOr(Value x, Value y);
  Value bitXor(Value x, Value y);
  Value min(Value x, Value y); ///< signed
  Value max(Value x, Value y); ///< signed
  Value logicalAnd(Value x, Value y);
  Value logicalNot(Value x);
  Value compare(arith::CmpIPredicate predicate, Value x, Value y);
  Value equal(Value x, Value y);
  Value lessThan(Value x, Value y);   ///< signed
  Value inRange(Value x, Value size); ///< 0 <= x < size
  Value select(Value condition, Value x, Value y);
  Value toIndex(Value x);
  Value toI32(Value x);

  OpBuilder &b;
  Location loc;

protected:
  Value number(Type type, int64_t value);
};

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_COMMON_ARITHMETIC_H
