//===- Arithmetic.cpp - Arithmetic in generated code ----------------------===//

#include "Arithmetic.h"

using namespace mlir;
using namespace mlir::pit;

Value ArithEmitter::number(Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}
Value ArithEmitter::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}
Value ArithEmitter::add(Value x, int64_t y) {
  return y == 0 ? x : add(x, number(x.getType(), y));
}
Value ArithEmitter::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(loc, x, y);
}
Value ArithEmitter::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(loc, x, y);
}
Value ArithEmitter::mul(Value x, int64_t y) {
  return y == 1 ? x : mul(x, number(x.getType(), y));
}
Value ArithEmitter::div(Value x, Value y) {
  return b.createOrFold<arith::DivUIOp>(loc, x, y);
}
Value ArithEmitter::div(Value x, int64_t y) {
  return y == 1 ? x : div(x, number(x.getType(), y));
}
Value ArithEmitter::rem(Value x, Value y) {
  return b.createOrFold<arith::RemUIOp>(loc, x, y);
}
Value ArithEmitter::rem(Value x, int64_t y) {
  return rem(x, number(x.getType(), y));
}
Value ArithEmitter::ceilDiv(Value x, Value y) {
  return b.createOrFold<arith::CeilDivUIOp>(loc, x, y);
}
Value ArithEmitter::bitAnd(Value x, int64_t y) {
  return b.createOrFold<arith::AndIOp>(loc, x, number(x.getType(), y));
}
Value ArithEmitter::bitOr(Value x, Value y) {
  return b.createOrFold<arith::OrIOp>(loc, x, y);
}
Value ArithEmitter::bitXor(Value x, Value y) {
  return b.createOrFold<arith::XOrIOp>(loc, x, y);
}
Value ArithEmitter::min(Value x, Value y) {
  return b.createOrFold<arith::MinSIOp>(loc, x, y);
}
Value ArithEmitter::max(Value x, Value y) {
  return b.createOrFold<arith::MaxSIOp>(loc, x, y);
}
Value ArithEmitter::logicalAnd(Value x, Value y) {
  return b.createOrFold<arith::AndIOp>(loc, x, y);
}
Value ArithEmitter::logicalNot(Value x) {
  return b.createOrFold<arith::XOrIOp>(loc, x, constant(b.getBoolAttr(true)));
}
Value ArithEmitter::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
}
Value ArithEmitter::equal(Value x, Value y) {
  return compare(arith::CmpIPredicate::eq, x, y);
}
Value ArithEmitter::lessThan(Value x, Value y) {
  return compare(arith::CmpIPredicate::slt, x, y);
}
Value ArithEmitter::inRange(Value x, Value size) {
  return compare(arith::CmpIPredicate::ult, x, size);
}
Value ArithEmitter::select(Value condition, Value x, Value y) {
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}
Value ArithEmitter::toIndex(Value x) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), x);
}
Value ArithEmitter::toI32(Value x) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), x);
}
Value ArithEmitter::constant(TypedAttr value) {
  return arith::ConstantOp::create(b, loc, value);
}
