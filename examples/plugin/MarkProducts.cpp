//===- MarkProducts.cpp - A pass plugin that makes marks of pit -----------===//
//
//   mlir-opt --load-dialect-plugin=PITPlugin.so --load-pass-plugin=PITPlugin.so
//   \
//     --load-pass-plugin=MarkProducts.so \
//     --pass-pipeline='builtin.module(func.func(mark-products),pit-to-cpu)' \
//     program.mlir
//
//===----------------------------------------------------------------------===//

#include "pit/Analysis/Skipping.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
/// Marks what a `linalg.max` gives where a linalg op may skip its zeros.
struct MarkProducts : PassWrapper<MarkProducts, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MarkProducts)

  StringRef getArgument() const final { return "mark-products"; }
  StringRef getDescription() const final {
    return "marks operands of products that come from a maximum";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<pit::PitDialect>();
  }

  void runOnOperation() override {
    getOperation().walk([](linalg::LinalgOp op) {
      for (OpOperand *input : op.getDpsInputOperands())
        if (input->get().getDefiningOp<linalg::MaxOp>())
          mark(op, *input);
    });
  }

private:
  static void mark(linalg::LinalgOp op, OpOperand &input) {
    OpBuilder builder(op);
    TypedAttr zero = builder.getZeroAttr(getElementTypeOrSelf(input.get()));
    pit::SkippingVerdict verdict =
        pit::analyzeSkipping(op, input.getOperandNumber(), zero);
    if (!verdict.isLegal) {
      op->emitRemark() << "is not marked: " << verdict.reason;
      return;
    }
    input.set(pit::SparseOp::create(builder, op.getLoc(), input.get()));
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "mark-products", "1",
          [] { PassRegistration<MarkProducts>(); }};
}
