//===- MathExpansions.h - math ops as arithmetic ----------------*- C++ -*-===//

#ifndef PIT_CODEGEN_COMMON_MATHEXPANSIONS_H
#define PIT_CODEGEN_COMMON_MATHEXPANSIONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// A builder of arithmetic at one place, on scalars and vectors alike.
struct MathBuilder {
  OpBuilder &b;
  Location loc;

  /// A constant of a type of floats or integers, or of vectors of them.
  Value constant(Type type, double value) const;
  Value constant(Type type, const APInt &value) const;
  Value integer(Type type, int64_t value) const;
  /// The integers of a float's bits.
  Value bits(Value value) const;
  template <typename Op, typename... Args> Op make(Args &&...args) const {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) const {
    return make<arith::CmpIOp>(predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) const {
    return make<arith::SelectOp>(condition, x, y);
  }
  /// `type`, or as many of it as `like` has.
  static Type cloneType(Type like, Type type);
};

/// Is it f8E4M3FN, f8E5M2 or vectors of one of them? No target computes in
/// these.
bool isF8(Type type);

/// Adds patterns for what neither LLVM nor upstream's expansions have, or have
/// wrong: clampf, isinf, isnormal, ipowi, and fpowi to a constant power.
void populateMathExpansionPatterns(RewritePatternSet &patterns);

/// Applies patterns to the conversions between floats in `root`, and to those
/// that they make.
LogicalResult rewriteConversions(Operation *root, RewritePatternSet patterns);

/// Rounds f64 to a float narrower than f32, once: the way through f32 does not
/// show. LLVM calls a library function that many systems lack.
Value roundOnce(OpBuilder &builder, Location loc, Value value, Type to);

} // namespace mlir::pit

#endif // PIT_CODEGEN_COMMON_MATHEXPANSIONS_H
