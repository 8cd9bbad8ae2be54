//===- LowerMlp.cpp - From mlp to linalg with marks -----------------------===//

#include "Mlp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace {
/// A tensor of zeros of this type, with as many rows as `rows` has and as many
/// columns as `columns`.
Value createZeros(OpBuilder &builder, Location loc, RankedTensorType type,
                  Value rows, Value columns) {
  SmallVector<Value> sizes;
  for (auto [dim, like] : llvm::enumerate(ValueRange{rows, columns}))
    if (type.isDynamicDim(dim))
      sizes.push_back(tensor::DimOp::create(builder, loc, like, dim));
  Value empty = tensor::EmptyOp::create(builder, loc, type, sizes);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

struct LowerDense : OpConversionPattern<mlp::DenseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(mlp::DenseOp op, OpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    Value x = operands.getInput(), w = operands.getWeights();
    Value init = createZeros(rewriter, op.getLoc(), op.getType(), x, w);
    rewriter.replaceOpWithNewOp<linalg::MatmulOp>(op, ValueRange{x, w}, init);
    return success();
  }
};

struct LowerRelu : OpConversionPattern<mlp::ReluOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(mlp::ReluOp op, OpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    Value x = operands.getInput();
    Value zeros = createZeros(rewriter, op.getLoc(), op.getType(), x, x);
    auto max = linalg::MaxOp::create(rewriter, op.getLoc(),
                                     ValueRange{x, zeros}, zeros);
    // The mark: which elements are zero is known only when the program runs.
    rewriter.replaceOpWithNewOp<pit::SparseOp>(op, max.getResult(0),
                                               op.getRuleAttr());
    return success();
  }
};

struct LowerMlpPass : PassWrapper<LowerMlpPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerMlpPass)

  StringRef getArgument() const final { return "lower-mlp"; }
  StringRef getDescription() const final {
    return "mlp to linalg, with marks for pit";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, pit::PitDialect,
                    tensor::TensorDialect>();
  }
  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addIllegalDialect<mlp::MlpDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerDense, LowerRelu>(&getContext());
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> mlp::createLowerMlpPass() {
  return std::make_unique<LowerMlpPass>();
}
