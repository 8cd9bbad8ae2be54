//===- BodyEvaluator.h - What a body yields for known inputs ----*- C++ -*-===//
//
// Abstract interpretation of the body of a linalg op in which some block
// arguments have known values. Knows upstream dialects only.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ANALYSIS_BODYEVALUATOR_H
#define PIT_ANALYSIS_BODYEVALUATOR_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::pit {

/// How literally constants are propagated. docs/Legality.md, "Arithmetic".
enum class Arithmetic {
  /// Bit for bit.
  Strict,
  /// As Strict, but the sign of a zero does not matter. For points that are
  /// computed, such as padding: there 0 * inf is NaN.
  Computed,
  /// As Computed, and values that are not known count as finite numbers,
  /// divisors as non-zero. For points that are never computed.
  Skipped,
};

/// A value of the body: a constant, or the same as some SSA value (at worst
/// itself, which says nothing).
class Known {
public:
  Known() = default;
  Known(Attribute constant) : constant(constant) {}
  Known(Value same) : same(same) {}

  explicit operator bool() const { return constant || same; }
  Attribute getConstant() const { return constant; }
  Value getValue() const { return same; }
  bool operator==(const Known &other) const {
    return constant == other.constant && same == other.same;
  }

private:
  Attribute constant;
  Value same;
};

/// Evaluates one body. Set the known arguments, call run, look values up.
class BodyEvaluator {
public:
  BodyEvaluator(linalg::LinalgOp op, Arithmetic arithmetic)
      : op(op), arithmetic(arithmetic) {}

  /// Operand number `operand` is `constant` at the points considered.
  void assume(unsigned operand, Attribute constant);

  /// Nothing is known about operand number `operand`, even if it is a constant.
  void forget(unsigned operand);

  /// Evaluates the body, once all is assumed.
  void run();

  /// The facts about `value`, of the body or captured.
  Known lookup(Value value) const;

private:
  void evaluate(Operation &inner);
  Known applyRule(Operation &inner) const;
  bool foldConstants(Operation &inner);
  bool isNumber(Known known) const;

  Known evalProduct(Known lhs, Known rhs, Type type) const;
  Known evalSum(Known lhs, Known rhs, Type type) const;
  Known evalDifference(Known lhs, Known rhs, Type type) const;
  Known evalMinMax(Operation &inner, Known lhs, Known rhs) const;
  Known evalQuotient(Operation &inner, Known lhs) const;
  Known evalCompare(Operation &inner, Known lhs, Known rhs) const;
  Known evalCast(Operation &inner, Known source) const;

  linalg::LinalgOp op;
  Arithmetic arithmetic;
  llvm::DenseMap<Value, Known> known;
  llvm::DenseSet<Value> forgotten;
};

/// True for a zero of either sign, integer or complex.
bool isZero(Attribute attr);

/// The constant that every element of `value` has: a scalar constant, a splat,
/// or the value of the `linalg.fill` that made it. Null if none is known.
Attribute getUniformConstant(Value value);

/// `inner` on constant float operands where upstream does not fold it (narrow
/// types, lossy casts), or null.
Attribute evalFloatMath(Operation &inner, ArrayRef<Attribute> operands);

} // namespace mlir::pit

#endif // PIT_ANALYSIS_BODYEVALUATOR_H
