//===- CheckOps.cpp - Ops and types that programs may have ----------------===//

#include "pit/Analysis/Upstream.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCHECKOPS
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

static constexpr StringLiteral kTaken[] = {
    "affine", "arith", "bufferization", "builtin", "cf",   "complex",
    "func",   "index", "linalg",        "llvm",    "math", "memref",
    "omp",    "pit",   "scf",           "tensor",  "ub",   "vector"};

namespace {
/// The pass that lowers a dialect to those that are taken.
struct Advice {
  StringLiteral dialect, text;
};
} // namespace

static constexpr Advice kAdvice[] = {
    {"tosa",
     "lower it first, as by mlir-opt --pass-pipeline='builtin.module(func.func("
     "tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))'"},
    {"sparse_tensor",
     "lower it first, as by mlir-opt --sparsifier, or use dense tensors that "
     "pit.sparse marks"},
    {"shape", "lower it first, as by mlir-opt --shape-to-shape-lowering "
              "--convert-shape-to-std"},
    {"quant", "lower it first, as by mlir-opt --lower-quant-ops "
              "--strip-func-quant-types"},
    {"ml_program",
     "programs keep nothing from call to call: hand it in and out "
     "as an argument and a result"},
    {"gpu", "pit makes kernels of linalg ops by itself"},
    {"stablehlo", "lower it first, as by stablehlo-opt "
                  "--stablehlo-legalize-to-linalg"},
    {"torch", "lower it first, as by torch-mlir-opt --pass-pipeline='"
              "builtin.module(torch-backend-to-linalg-on-tensors-backend-"
              "pipeline)'"},
};

static StringRef adviceOn(StringRef dialect) {
  for (const Advice &advice : kAdvice)
    if (advice.dialect == dialect)
      return advice.text;
  return "lower it first";
}

/// Refuses ops of other dialects, and those that no target has.
static LogicalResult checkDialect(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (llvm::is_contained(kTaken, dialect))
    return checkSelectable(op);
  return op->emitError() << "'" << op->getName() << "' op is of dialect "
                         << (dialect.empty() ? "(none)" : dialect)
                         << ", which pit does not take: " << adviceOn(dialect)
                         << "; taken are "
                         << llvm::join(ArrayRef(kTaken), ", ");
}

/// Is there arithmetic of this type on both targets?
static bool isComputed(Type type) {
  if (isa<FloatType>(type))
    return isa<Float64Type, Float32Type, Float16Type, BFloat16Type,
               Float8E4M3FNType, Float8E5M2Type>(type);
  auto integer = dyn_cast<IntegerType>(type);
  return !integer || integer.getWidth() <= 64;
}

/// Does memory hold elements of this type as the index, the runtime and vectors
/// take them to lie there?
static bool isStored(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return !integer || llvm::is_contained({1, 8, 16, 32, 64}, integer.getWidth());
}

/// Scalars, and elements of whatever has some.
static Type getNumber(Type type) {
  while (auto shaped = dyn_cast<ShapedType>(type))
    type = shaped.getElementType();
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType();
  return type;
}

/// Is the type, or one that it holds, a vector of a length that only the
/// machine knows? LLVM ends the process where a target has no such vectors.
static bool isScalable(Type type) {
  return type
      .walk([](VectorType vector) {
        return vector.isScalable() ? WalkResult::interrupt()
                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static LogicalResult checkType(Operation *op, Type type) {
  if (isScalable(type))
    return op->emitOpError()
           << "has a value of type " << type
           << ", but pit's targets have no scalable vectors; give the vector "
              "a length";
  Type number = getNumber(type);
  if (!isComputed(number))
    return op->emitOpError()
           << "has a value of type " << type
           << ", but there is no arithmetic of " << number
           << "; pit takes f64, f32, f16, bf16, f8E4M3FN, f8E5M2, index and "
              "integers of 1 to 64 bits";
  if (isa<TensorType, BaseMemRefType>(type) && !isStored(number))
    return op->emitOpError()
           << "has a value of type " << type << ", but tensors do not hold "
           << number
           << "; they hold f64, f32, f16, bf16, f8E4M3FN, f8E5M2, index and "
              "integers of 1, 8, 16, 32 or 64 bits, which an op's body may "
              "truncate and extend";
  return success();
}

static LogicalResult checkTypes(Operation *op) {
  for (Type type : op->getResultTypes())
    if (failed(checkType(op, type)))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (failed(checkType(op, type)))
          return failure();
  if (isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op))
    return op->emitOpError() << "scales by f8E8M0FNU, of which there is no "
                                "arithmetic; multiply by the scale in f32";
  if (auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op)) {
    arith::RoundingModeAttr mode = rounding.getRoundingModeAttr();
    if (mode && mode.getValue() != arith::RoundingMode::to_nearest_even)
      return op->emitOpError()
             << "rounds " << stringifyRoundingMode(mode.getValue())
             << ", but conversions round to_nearest_even only";
  }
  return success();
}

namespace {
struct CheckOpsPass : pit::impl::PitCheckOpsBase<CheckOpsPass> {
  void runOnOperation() override {
    WalkResult found =
        getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
          return WalkResult(success(succeeded(checkDialect(op)) &&
                                    succeeded(checkTypes(op))));
        });
    if (found.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
