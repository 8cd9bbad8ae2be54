//===- Arithmetic.h - Arithmetic in generated code --------------*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_IR_ARITHMETIC_H
#define PIT_LIB_DIALECT_PIT_IR_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::pit {

/// Arithmetic where a builder is, on operands of one type: index or an integer.
/// A number on the right is a constant of that type. Constants are folded.
/// Branches and loops.
class ArithEmitter {
public:
  ArithEmitter(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value index(int64_t value) { return number(b.getIndexType(), value); }
  Value constant(TypedAttr value) { return make<arith::ConstantOp>(value); }
  Value zero(Type type) { return constant(b.getZeroAttr(type)); }
  Value add(Value x, Value y) { return fold<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, like(x, y)); }
  Value sub(Value x, Value y) { return fold<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return fold<arith::MulIOp>(x, y); }
  Value mul(Value x, int64_t y) { return y == 1 ? x : mul(x, like(x, y)); }
  // Without signs:
  Value div(Value x, Value y) { return fold<arith::DivUIOp>(x, y); }
  Value div(Value x, int64_t y) { return y == 1 ? x : div(x, like(x, y)); }
  Value rem(Value x, Value y) { return fold<arith::RemUIOp>(x, y); }
  Value rem(Value x, int64_t y) { return rem(x, like(x, y)); }
  Value ceilDiv(Value x, Value y) { return fold<arith::CeilDivUIOp>(x, y); }
  Value bitAnd(Value x, int64_t y) { return logicalAnd(x, like(x, y)); }
  Value bitOr(Value x, Value y) { return fold<arith::OrIOp>(x, y); }
  Value bitXor(Value x, Value y) { return fold<arith::XOrIOp>(x, y); }
  // With signs:
  Value min(Value x, Value y) { return fold<arith::MinSIOp>(x, y); }
  Value max(Value x, Value y) { return fold<arith::MaxSIOp>(x, y); }
  Value lessThan(Value x, Value y) { return compare(Predicate::slt, x, y); }
  /// 0 <= x < size
  Value inRange(Value x, Value size) {
    return compare(Predicate::ult, x, size);
  }
  Value equal(Value x, Value y) { return compare(Predicate::eq, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return fold<arith::CmpIOp>(predicate, x, y);
  }
  Value logicalAnd(Value x, Value y) { return fold<arith::AndIOp>(x, y); }
  Value logicalNot(Value x) { return bitXor(x, constant(b.getBoolAttr(true))); }
  Value select(Value condition, Value x, Value y) {
    return fold<arith::SelectOp>(condition, x, y);
  }
  Value toIndex(Value x) { return to(b.getIndexType(), x); }
  Value toI32(Value x) { return to(b.getI32Type(), x); }
  Value toI64(Value x) { return to(b.getI64Type(), x); }

  template <typename OpT, typename... ArgsT> OpT make(ArgsT &&...args) {
    return OpT::create(b, loc, std::forward<ArgsT>(args)...);
  }

  /// Clones a block's ops with these arguments; gives what it yields.
  SmallVector<Value> clone(Block &block, ValueRange arguments = {});
  /// Runs `then` where the condition holds, `otherwise` where it does not.
  void ifThen(Value condition, function_ref<void()> then,
              function_ref<void()> otherwise = nullptr);
  /// The same, of branches that give values.
  SmallVector<Value> choose(Value condition,
                            function_ref<SmallVector<Value>()> then,
                            function_ref<SmallVector<Value>()> otherwise);
  Value choose(Value condition, function_ref<Value()> then,
               function_ref<Value()> otherwise);
  /// A loop, whose iterations take what the one before carries, and give it.
  scf::ForOp loop(Value begin, Value end, Value step, ValueRange carried,
                  function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// The same, as long as a condition holds of what is carried; gives that.
  SmallVector<Value>
  loopWhile(ValueRange carried, function_ref<Value(ValueRange)> condition,
            function_ref<SmallVector<Value>(ValueRange)> body);
  scf::ForOp forEach(Value begin, Value end, Value step,
                     function_ref<void(Value)> body);

  OpBuilder &b;
  Location loc;

protected:
  using Predicate = arith::CmpIPredicate;

  template <typename OpT, typename... ArgsT> Value fold(ArgsT &&...args) {
    return b.createOrFold<OpT>(loc, std::forward<ArgsT>(args)...);
  }
  Value number(Type type, int64_t value) {
    return make<arith::ConstantOp>(b.getIntegerAttr(type, value));
  }
  Value like(Value x, int64_t value) { return number(x.getType(), value); }
  Value to(Type type, Value x) { return fold<arith::IndexCastOp>(type, x); }
};

/// The same, and arithmetic on floats, which is not folded.
struct ElementEmitter : ArithEmitter {
  using ArithEmitter::ArithEmitter;

  Value real(Type type, double value) {
    return constant(FloatAttr::get(type, value));
  }
  Value product(Value x, Value y) { return make<arith::MulFOp>(x, y); }
  /// `value` times a number that is no 1.
  Value times(Value value, double factor) {
    return factor == 1 ? value : product(value, real(value.getType(), factor));
  }
  Value quotient(Value x, Value y) { return make<arith::DivFOp>(x, y); }
  Value sum(Value x, Value y) { return make<arith::AddFOp>(x, y); }
  Value magnitude(Value x) { return make<math::AbsFOp>(x); }
  /// `value` as one of a type that is wider, or narrower.
  Value convert(Type type, Value value) {
    unsigned from = value.getType().getIntOrFloatBitWidth();
    unsigned to = type.getIntOrFloatBitWidth();
    if (from == to)
      return value;
    return from < to ? Value(make<arith::ExtFOp>(type, value))
                     : Value(make<arith::TruncFOp>(type, value));
  }
  Value isSame(Value x, Value y) {
    return make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, y);
  }
  /// Is `value` an infinity of this sign?
  Value isInfinity(Value value, bool negative) {
    auto type = cast<FloatType>(value.getType());
    return isSame(
        value,
        constant(FloatAttr::get(
            type, llvm::APFloat::getInf(type.getFloatSemantics(), negative))));
  }
};

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_IR_ARITHMETIC_H
