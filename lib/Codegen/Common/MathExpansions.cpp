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
struct ExpandClampF : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value least = MathBuilder{rewriter, op.getLoc()}.make<arith::MaximumFOp>(
        op.getValue(), op.getMin(), op.getFastmath());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, least, op.getMax(),
                                                   op.getFastmath());
    return success();
  }
};

/// Comparisons of a float's bits without the sign, in unsigned integers.
template <typename Op> struct ExpandClass : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<FloatType>(getElementTypeOrSelf(op.getOperand()));
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    APInt infinity = APFloat::getInf(semantics).bitcastToAPInt();
    MathBuilder a{rewriter, op.getLoc()};
    Value bits = a.bits(op.getOperand());
    APInt mask = APInt::getSignedMaxValue(type.getWidth());
    bits = a.make<arith::AndIOp>(bits, a.constant(bits.getType(), mask));
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
      Value above =
          a.make<arith::SubIOp>(bits, a.constant(bits.getType(), least));
      rewriter.replaceOpWithNewOp<arith::CmpIOp>(
          op, arith::CmpIPredicate::ult, above,
          a.constant(bits.getType(), infinity - least));
    }
    return success();
  }
};

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
struct ExpandFPowI : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    constexpr int64_t kLargest = 8;
    std::optional<APInt> power = matchInteger(op.getRhs());
    if (!power || power->abs().ugt(kLargest))
      return failure();
    MathBuilder a{rewriter, op.getLoc()};
    Type element = getElementTypeOrSelf(op.getType());
    bool narrow = element.getIntOrFloatBitWidth() < 32;
    Value base = op.getLhs();
    if (narrow)
      base = a.make<arith::ExtFOp>(
          MathBuilder::cloneType(op.getType(), rewriter.getF32Type()), base);
    Value one = a.constant(base.getType(), 1.0);
    Value result =
        raise(base, power->abs().getZExtValue(), one, [&](Value x, Value y) {
          return a.make<arith::MulFOp>(x, y, op.getFastmath());
        });
    if (power->isNegative())
      result = a.make<arith::DivFOp>(one, result, op.getFastmath());
    if (narrow)
      result = a.make<arith::TruncFOp>(op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// n^m in integers: what overflows is cut off, as in a product.
struct ExpandIPowI : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    using P = arith::CmpIPredicate;
    MathBuilder a{rewriter, op.getLoc()};
    Type type = op.getType();
    Value zero = a.integer(type, 0), one = a.integer(type, 1);
    auto multiply = [&](Value x, Value y) {
      return a.make<arith::MulIOp>(x, y);
    };
    std::optional<APInt> power = matchInteger(op.getRhs());
    if (power && power->isNonNegative()) {
      rewriter.replaceOp(
          op, raise(op.getLhs(), power->getLimitedValue(), one, multiply));
      return success();
    }
    Value low = a.make<arith::AndIOp>(op.getRhs(), one);
    Value odd = a.compare(P::ne, low, zero);
    Value result = emitLoop(a, op, odd, zero, one, multiply);
    // A negative power is 1 / n^-m, rounded towards 0.
    Value minusOne = a.integer(type, -1);
    Value sign = a.select(odd, minusOne, one);
    Value small = a.select(a.compare(P::eq, op.getLhs(), minusOne), sign, zero);
    small = a.select(a.compare(P::eq, op.getLhs(), one), one, small);
    Value negative = a.compare(P::slt, op.getRhs(), zero);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, negative, small, result);
    return success();
  }

  /// Squares and multiplies, once for each bit of the power.
  static Value emitLoop(const MathBuilder &a, math::IPowIOp op, Value odd,
                        Value zero, Value one,
                        function_ref<Value(Value, Value)> multiply) {
    OpBuilder &b = a.b;
    Type element = getElementTypeOrSelf(op.getType());
    int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    auto index = [&](int64_t value) -> Value {
      return a.make<arith::ConstantIndexOp>(value);
    };
    if (bits == 1)
      return a.select(odd, op.getLhs(), one);
    auto loop = scf::ForOp::create(
        b, a.loc, index(0), index(bits), index(1),
        ValueRange{one, op.getLhs(), op.getRhs()},
        [&](OpBuilder &, Location loc, Value, ValueRange values) {
          Value low = a.make<arith::AndIOp>(values[2], one);
          Value isOdd = a.compare(arith::CmpIPredicate::ne, low, zero);
          Value product =
              a.select(isOdd, multiply(values[0], values[1]), values[0]);
          Value square = multiply(values[1], values[1]);
          Value rest = a.make<arith::ShRUIOp>(values[2], one);
          scf::YieldOp::create(b, loc, ValueRange{product, square, rest});
        });
    return loop.getResult(0);
  }
};

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
  patterns.add<ExpandClampF, ExpandClass<math::IsInfOp>,
               ExpandClass<math::IsNormalOp>, ExpandFPowI, ExpandIPowI>(
      patterns.getContext());
}
