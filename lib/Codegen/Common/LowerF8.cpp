//===- LowerF8.cpp - Conversions of 8-bit floats --------------------------===//

#include "pit/Codegen/Common/MathExpansions.h"
#include "pit/Codegen/Common/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITLOWERF8
#include "pit/Codegen/Common/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {

/// How the bits of an 8-bit float lie in those of f32. `magnitude` are the bits
/// without the sign.
struct Layout {
  /// How far a magnitude is shifted to have its fraction where f32 has it.
  int64_t shift;
  /// The difference between the exponents of f32 and those of the type.
  int64_t bias;
  /// The smallest magnitude that is normal.
  int64_t normal;
  /// The smallest magnitude that is not finite; it is infinity if there is one.
  int64_t special;
  bool hasInfinity;

  static Layout of(Type type) {
    if (isa<Float8E5M2Type>(type))
      return {21, 112, 1 << 2, 0x7C, true};
    return {20, 120, 1 << 3, 0x7F, false};
  }

  double smallestNormal() const {
    return std::ldexp(1.0, bias == 112 ? -14 : -6);
  }
  /// The f32 whose unit in the last place is the smallest f8.
  double unit() const { return std::ldexp(1.0, bias == 112 ? 7 : 14); }
};

/// Integer arithmetic on i32, or vectors of it.
struct Bits : MathBuilder {
  Type type;

  Value constant(int64_t value) const { return integer(type, value); }
  template <typename Op> Value op(Value x, int64_t y) const {
    return make<Op>(x, constant(y));
  }
  template <typename Op> Value op(Value x, Value y) const {
    return make<Op>(x, y);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, int64_t y) const {
    return MathBuilder::compare(predicate, x, constant(y));
  }
};

} // namespace

bool pit::isF8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}

/// An 8-bit float as f32, exactly. A `device` multiplies numbers of f32 that
/// are not normal as fast as others. LLVM's straight-line strength reduction,
/// which runs for devices alone, compares each sum of a shifted value and a
/// constant with all others: a kernel of 1,000 extensions takes 7 s of it.
static Value extend(OpBuilder &b, Location loc, Value value, bool device) {
  MathBuilder a{b, loc};
  Layout f8 = Layout::of(getElementTypeOrSelf(value.getType()));
  Type f32 = MathBuilder::cloneType(value.getType(), b.getF32Type());
  Bits i{a, MathBuilder::cloneType(value.getType(), b.getI32Type())};
  Value bits = a.make<arith::ExtUIOp>(i.type, a.bits(value));
  Value magnitude = i.op<arith::AndIOp>(bits, 0x7F);
  Value shifted = i.op<arith::ShLIOp>(magnitude, f8.shift);
  Value result;
  if (device) {
    // The exponent of f8 in that of f32: too small by the bias.
    Value small = a.make<arith::BitcastOp>(f32, shifted);
    result = a.bits(a.make<arith::MulFOp>(
        small, a.constant(f32, std::ldexp(1.0, f8.bias))));
  } else {
    Value normal = i.op<arith::AddIOp>(shifted, f8.bias << 23);
    // A fraction without the 1 before it: with it, less 1.
    Value one = a.constant(f32, f8.smallestNormal());
    Value above =
        a.make<arith::BitcastOp>(f32, i.op<arith::OrIOp>(shifted, a.bits(one)));
    Value small = a.bits(a.make<arith::SubFOp>(above, one));
    result =
        i.select(i.compare(arith::CmpIPredicate::ult, magnitude, f8.normal),
                 small, normal);
  }
  // All bits of a NaN of e4m3 are set, and so is the first bit of a quiet one.
  Value special = i.op<arith::OrIOp>(shifted, 0xFF << 23);
  result = i.select(i.compare(arith::CmpIPredicate::uge, magnitude, f8.special),
                    special, result);
  Value sign = i.op<arith::ShLIOp>(i.op<arith::AndIOp>(bits, 0x80), 24);
  return a.make<arith::BitcastOp>(f32, i.op<arith::OrIOp>(result, sign));
}

/// f32 as an 8-bit float, to nearest even. A value beyond the largest finite
/// number is infinite or, if there is no infinity, NaN.
static Value truncate(OpBuilder &b, Location loc, Value value, Type to) {
  MathBuilder a{b, loc};
  Layout f8 = Layout::of(getElementTypeOrSelf(to));
  Type f32 = value.getType();
  Bits i{a, MathBuilder::cloneType(to, b.getI32Type())};
  Value bits = a.bits(value);
  Value magnitude = i.op<arith::AndIOp>(bits, 0x7FFFFFFF);
  Value odd = i.op<arith::AndIOp>(i.op<arith::ShRUIOp>(magnitude, f8.shift), 1);
  Value half = i.op<arith::AddIOp>(magnitude, (1 << (f8.shift - 1)) - 1);
  Value rounded =
      i.op<arith::ShRUIOp>(i.op<arith::AddIOp>(half, odd), f8.shift);
  Value normal = i.op<arith::SubIOp>(rounded, f8.bias << (23 - f8.shift));
  // Beside a number with this unit in the last place, a sum is rounded to it.
  Value unit = a.constant(f32, f8.unit());
  Value size = a.make<arith::BitcastOp>(f32, magnitude);
  Value sum = a.bits(a.make<arith::AddFOp>(size, unit));
  Value small = i.op<arith::SubIOp>(sum, a.bits(unit));
  int64_t smallestNormal = (f8.bias + 1) << 23;
  Value result =
      i.select(i.compare(arith::CmpIPredicate::ult, magnitude, smallestNormal),
               small, normal);
  result = i.op<arith::MinUIOp>(result, f8.special);
  if (f8.hasInfinity)
    result =
        i.select(i.compare(arith::CmpIPredicate::ugt, magnitude, 0x7F800000),
                 i.constant(0x7E), result);
  Value sign = i.op<arith::AndIOp>(i.op<arith::ShRUIOp>(bits, 24), 0x80);
  Value byte =
      a.make<arith::TruncIOp>(MathBuilder::cloneType(to, b.getIntegerType(8)),
                              i.op<arith::OrIOp>(result, sign));
  return a.make<arith::BitcastOp>(to, byte);
}

namespace {

LogicalResult lowerExtF(arith::ExtFOp op, PatternRewriter &rewriter) {
  if (!isF8(op.getIn().getType()))
    return failure();
  Location loc = op.getLoc();
  Value wide = extend(rewriter, loc, op.getIn(),
                      op->getParentOfType<gpu::GPUModuleOp>() != nullptr);
  Type to = getElementTypeOrSelf(op.getType());
  if (to.isF64())
    wide = arith::ExtFOp::create(rewriter, loc, op.getType(), wide);
  else if (!to.isF32())
    wide = arith::TruncFOp::create(rewriter, loc, op.getType(), wide);
  rewriter.replaceOp(op, wide);
  return success();
}

LogicalResult lowerTruncF(arith::TruncFOp op, PatternRewriter &rewriter) {
  if (!isF8(op.getType()))
    return failure();
  Location loc = op.getLoc();
  Value value = op.getIn();
  Type from = getElementTypeOrSelf(value.getType());
  if (from.isF64()) {
    rewriter.replaceOp(op, roundOnce(rewriter, loc, value, op.getType()));
    return success();
  }
  if (!from.isF32())
    value = arith::ExtFOp::create(
        rewriter, loc,
        MathBuilder::cloneType(value.getType(), rewriter.getF32Type()), value);
  rewriter.replaceOp(op, truncate(rewriter, loc, value, op.getType()));
  return success();
}

struct PitLowerF8 : pit::impl::PitLowerF8Base<PitLowerF8> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(lowerExtF);
    patterns.add(lowerTruncF);
    if (failed(rewriteConversions(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
