//===- DeviceLibrary.cpp - Functions of f64 -------------------------------===//
//
// Calls of libdevice, NVIDIA's library. pit-translate-kernels links it.
//
//===----------------------------------------------------------------------===//

#include "DeviceFunctions.h"
#include "Host/Libdevice.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

/// Ops whose functions have the same names there, but for the power's.
constexpr StringLiteral kFunctions[] = {
    "acos",  "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt",
    "cos",   "cosh",  "erf",  "erfc",  "exp",  "exp2",  "expm1", "log",
    "log10", "log1p", "log2", "powf",  "sin",  "sinh",  "tan",   "tanh"};

struct CallLibdevice : RewritePattern {
  explicit CallLibdevice(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    StringRef name = op->getName().stripDialect();
    if (!isa<math::MathDialect>(op->getDialect()) ||
        !llvm::is_contained(kFunctions, name) ||
        !op->getResult(0).getType().isF64())
      return failure();
    std::string callee =
        (cuda::kLibdevicePrefix + (name == "powf" ? "pow" : name)).str();
    Operation *table = SymbolTable::getNearestSymbolTable(op);
    auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(
        SymbolTable::lookupSymbolIn(table, callee));
    if (!function) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&table->getRegion(0).front());
      function = LLVM::LLVMFuncOp::create(
          rewriter, op->getLoc(), callee,
          LLVM::LLVMFunctionType::get(op->getResult(0).getType(),
                                      llvm::to_vector(op->getOperandTypes())));
    }
    rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, function, op->getOperands());
    return success();
  }
};

} // namespace

void cuda::populateDeviceLibraryPatterns(RewritePatternSet &patterns) {
  patterns.add<CallLibdevice>(patterns.getContext());
}
