//===- LowerBf16.cpp - bf16 as i16 ----------------------------------------===//

#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITLOWERBF16
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {

/// Conversions between bf16 and f64, in two steps through f32: the expansion
/// below knows only those.
template <typename Op> struct ConvertThroughF32 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    Type narrow =
        getElementTypeOrSelf(std::is_same_v<Op, arith::ExtFOp> ? from : to);
    Type wide =
        getElementTypeOrSelf(std::is_same_v<Op, arith::ExtFOp> ? to : from);
    if (!narrow.isBF16() || !wide.isF64())
      return failure();
    Type middle = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(from))
      middle = vector.clone(middle);
    if constexpr (std::is_same_v<Op, arith::TruncFOp>) {
      rewriter.replaceOp(op, roundOnce(rewriter, op.getLoc(), op.getIn(), to));
    } else {
      Value step = Op::create(rewriter, op.getLoc(), middle, op.getIn());
      rewriter.replaceOpWithNewOp<Op>(op, to, step);
    }
    return success();
  }
};

struct PitLowerBf16 : pit::impl::PitLowerBf16Base<PitLowerBf16> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertThroughF32<arith::ExtFOp>,
                 ConvertThroughF32<arith::TruncFOp>>(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(rewriteConversions(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // LLVM's fpext and fptrunc have no place for the flags that passes put
    // there.
    getOperation()->walk([](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op))
        op->removeAttr("fastmath");
    });
    Type i16 = IntegerType::get(&getContext(), 16);
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](BFloat16Type) { return i16; });
    // Elements that are loaded into tile registers have no type.
    replacer.addReplacement([](amx::TileType tile) {
      return std::make_pair(Type(tile), WalkResult::skip());
    });
    replacer.addReplacement(
        [&](FloatAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
          if (!attr.getType().isBF16())
            return std::nullopt;
          return std::make_pair(
              IntegerAttr::get(i16, attr.getValue().bitcastToAPInt()),
              WalkResult::skip());
        });
    replacer.addReplacement(
        [&](DenseElementsAttr attr)
            -> std::optional<std::pair<Attribute, WalkResult>> {
          if (!attr.getElementType().isBF16())
            return std::nullopt;
          return std::make_pair(attr.bitcast(i16), WalkResult::skip());
        });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    getOperation()->walk([](arith::BitcastOp cast) {
      if (cast.getIn().getType() != cast.getType())
        return;
      cast.replaceAllUsesWith(cast.getIn());
      cast.erase();
    });
  }
};

} // namespace
