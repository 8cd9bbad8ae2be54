//===- CheckTypes.cpp - Element types that programs may have --------------===//

#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCHECKTYPES
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

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

static LogicalResult checkOp(Operation *op) {
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
struct CheckTypesPass : pit::impl::PitCheckTypesBase<CheckTypesPass> {
  void runOnOperation() override {
    WalkResult found = getOperation()->walk<WalkOrder::PreOrder>(
        [](Operation *op) { return WalkResult(checkOp(op)); });
    if (found.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
