//===- MathExpansions.cpp - math ops as arithmetic ------------------------===//

#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value constantOf(OpBuilder &b, Location loc, Type type,
                        TypedAttr value) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    value = DenseElementsAttr::get(shaped, Attribute(value));
  return arith::ConstantOp::create(b, loc, type, value);
}

Value MathBuilder::constant(Type type, double value) const {
  return constantOf(b, loc, type,
                    b.getFloatAttr(getElementTypeOrSelf(type), value));
}

Value MathBuilder::constant(Type type, const APInt &value) const {
  return constantOf(b, loc, type,
                    b.getIntegerAttr(getElementTypeOrSelf(type), value));
}

Value MathBuilder::integer(Type type, int64_t value) const {
  Type element = getElementTypeOrSelf(type);
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return constant(type, APInt(bits, value, /*isSigned=*/true,
                              /*implicitTrunc=*/true));
}

Type MathBuilder::cloneType(Type like, Type type) {
  auto shaped = dyn_cast<ShapedType>(like);
  return shaped ? shaped.clone(type) : type;
}

Value MathBuilder::bits(Value value) const {
  Type element = getElementTypeOrSelf(value.getType());
  Type type = cloneType(value.getType(),
                        b.getIntegerType(element.getIntOrFloatBitWidth()));
  return make<arith::BitcastOp>(type, value);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

namespace {

/// The number between two others, which upstream of this version gets wrong.
LogicalResult expandClampF(math::ClampFOp op, PatternRewriter &rewriter) {
  Value least = arith::MaximumFOp::create(rewriter, op.getLoc(), op.getValue(),
                                          op.getMin(), op.getFastmath());
  rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, least, op.getMax(),
                                                 op.getFastmath());
  return success();
}

/// Comparisons of a float's bits without the sign, in unsigned integers.
template <typename Op>
LogicalResult expandClass(Op op, PatternRewriter &rewriter) {
  auto type = cast<FloatType>(getElementTypeOrSelf(op.getOperand()));
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  APInt infinity = APFloat::getInf(semantics).bitcastToAPInt();
  MathBuilder a{rewriter, op.getLoc()};
  Value bits = a.bits(op.getOperand());
  APInt mask = APInt::getSignedMaxValue(type.getWidth());
  bits = arith::AndIOp::create(rewriter, op.getLoc(), bits,
                               a.constant(bits.getType(), mask));
  if constexpr (std::is_same_v<Op, math::IsInfOp>) {
    if (!APFloat::semanticsHasInf(semantics)) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          op, rewriter.getZeroAttr(op.getType()));
      return success();
    }
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(
        op, arith::CmpIPredicate::eq, bits,
        a.constant(bits.getType(), infinity));
  } else {
    APInt least = APFloat::getSmallestNormalized(semantics).bitcastToAPInt();
    Value above = arith::SubIOp::create(rewriter, op.getLoc(), bits,
                                        a.constant(bits.getType(), least));
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(
        op, arith::CmpIPredicate::ult, above,
        a.constant(bits.getType(), infinity - least));
  }
  return success();
}

} // namespace

/// The constant that a scalar, or every lane of a vector, is.
static std::optional<APInt> matchInteger(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant;
  return std::nullopt;
}

/// base^power by squaring; `multiply` multiplies two values.
static Value raise(Value base, uint64_t power, Value one,
                   function_ref<Value(Value, Value)> multiply) {
  Value result;
  for (; power; power >>= 1) {
    if (power & 1)
      result = result ? multiply(result, base) : base;
    if (power > 1)
      base = multiply(base, base);
  }
  return result ? result : one;
}

namespace {

/// x^n, n constant and small: each product adds an error.
LogicalResult expandFPowI(math::FPowIOp op, PatternRewriter &rewriter) {
  constexpr int64_t kLargest = 8;
  std::optional<APInt> power = matchInteger(op.getRhs());
  if (!power || power->abs().ugt(kLargest))
    return failure();
  Location loc = op.getLoc();
  Type element = getElementTypeOrSelf(op.getType());
  bool narrow = element.getIntOrFloatBitWidth() < 32;
  Value base = op.getLhs();
  if (narrow)
    base = arith::ExtFOp::create(
        rewriter, loc,
        MathBuilder::cloneType(op.getType(), rewriter.getF32Type()), base);
  Value one = MathBuilder{rewriter, loc}.constant(base.getType(), 1.0);
  Value result = raise(
      base, power->abs().getZExtValue(), one, [&](Value x, Value y) -> Value {
        return arith::MulFOp::create(rewriter, loc, x, y, op.getFastmath());
      });
  if (power->isNegative())
    result =
        arith::DivFOp::create(rewriter, loc, one, result, op.getFastmath());
  if (narrow)
    result = arith::TruncFOp::create(rewriter, loc, op.getType(), result);
  rewriter.replaceOp(op, result);
  return success();
}

Value compare(const MathBuilder &a, arith::CmpIPredicate predicate, Value x,
              Value y) {
  return arith::CmpIOp::create(a.b, a.loc, predicate, x, y);
}

/// Squares and multiplies, once for each bit of the power.
Value emitLoop(const MathBuilder &a, math::IPowIOp op, Value odd, Value zero,
               Value one, function_ref<Value(Value, Value)> multiply) {
  OpBuilder &b = a.b;
  Type element = getElementTypeOrSelf(op.getType());
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, a.loc, value);
  };
  if (bits == 1)
    return arith::SelectOp::create(b, a.loc, odd, op.getLhs(), one);
  auto loop = scf::ForOp::create(
      b, a.loc, index(0), index(bits), index(1),
      ValueRange{one, op.getLhs(), op.getRhs()},
      [&](OpBuilder &, Location loc, Value, ValueRange values) {
        Value low = arith::AndIOp::create(b, loc, values[2], one);
        Value isOdd = compare(a, arith::CmpIPredicate::ne, low, zero);
        Value product = arith::SelectOp::create(
            b, loc, isOdd, multiply(values[0], values[1]), values[0]);
        Value square = multiply(values[1], values[1]);
        Value rest = arith::ShRUIOp::create(b, loc, values[2], one);
        scf::YieldOp::create(b, loc, ValueRange{product, square, rest});
      });
  return loop.getResult(0);
}

/// n^m in integers: what overflows is cut off, as in a product.
LogicalResult expandIPowI(math::IPowIOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  MathBuilder a{rewriter, loc};
  Type type = op.getType();
  Value zero = a.integer(type, 0), one = a.integer(type, 1);
  auto multiply = [&](Value x, Value y) -> Value {
    return arith::MulIOp::create(rewriter, loc, x, y);
  };
  std::optional<APInt> power = matchInteger(op.getRhs());
  if (power && power->isNonNegative()) {
    rewriter.replaceOp(
        op, raise(op.getLhs(), power->getLimitedValue(), one, multiply));
    return success();
  }
  Value odd =
      compare(a, arith::CmpIPredicate::ne,
              arith::AndIOp::create(rewriter, loc, op.getRhs(), one), zero);
  Value result = emitLoop(a, op, odd, zero, one, multiply);
  // A negative power is 1 / n^-m, rounded towards 0.
  Value minusOne = a.integer(type, -1);
  Value sign = arith::SelectOp::create(rewriter, loc, odd, minusOne, one);
  Value isMinus = compare(a, arith::CmpIPredicate::eq, op.getLhs(), minusOne);
  Value small = arith::SelectOp::create(rewriter, loc, isMinus, sign, zero);
  Value isOne = compare(a, arith::CmpIPredicate::eq, op.getLhs(), one);
  small = arith::SelectOp::create(rewriter, loc, isOne, one, small);
  Value negative = compare(a, arith::CmpIPredicate::slt, op.getRhs(), zero);
  rewriter.replaceOpWithNewOp<arith::SelectOp>(op, negative, small, result);
  return success();
}

} // namespace

LogicalResult pit::rewriteConversions(Operation *root,
                                      RewritePatternSet patterns) {
  SmallVector<Operation *> conversions;
  root->walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      conversions.push_back(op);
  });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return applyOpPatternsGreedily(conversions, std::move(patterns), config);
}

void pit::populateMathExpansionPatterns(RewritePatternSet &patterns) {
  patterns.add(expandClampF);
  patterns.add(expandClass<math::IsInfOp>);
  patterns.add(expandClass<math::IsNormalOp>);
  patterns.add(expandFPowI);
  patterns.add(expandIPowI);
}
