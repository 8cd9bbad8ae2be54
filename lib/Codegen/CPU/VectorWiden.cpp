//===- VectorWiden.cpp - Sums of narrow floats in f32 ---------------------===//

#include "VectorPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

static bool isNarrow(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type>(type);
}

// Ops whose types may change from narrow floats to f32.
static bool isWidenable(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SelectOp,
             arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
             arith::FPToSIOp, arith::FPToUIOp, arith::ConstantOp>(op) ||
         isa<math::MathDialect>(op->getDialect());
}

static bool touchesNarrow(Operation &op) {
  return llvm::any_of(op.getOperandTypes(), isNarrow) ||
         llvm::any_of(op.getResultTypes(), isNarrow);
}

static bool canWiden(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return false;
  bool narrow = false;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    narrow |= isNarrow(getElementTypeOrSelf(op.getDpsInits()[i]));
    if (!matchCombiner(op, i))
      return false;
  }
  return narrow && llvm::all_of(op.getBlock()->without_terminator(),
                                [](Operation &inner) {
                                  return !touchesNarrow(inner) ||
                                         isWidenable(&inner);
                                });
}

// The op in f32; `mapping` has its operands.
static void emitWide(OpBuilder &b, Operation &op, IRMapping &mapping) {
  Type f32 = b.getF32Type();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<FloatAttr>(constant.getValue());
        value && isNarrow(value.getType())) {
      mapping.map(
          constant.getResult(),
          arith::ConstantOp::create(
              b, op.getLoc(), b.getFloatAttr(f32, value.getValueAsDouble())));
      return;
    }
  }
  // Between a narrow type and f32 there is nothing to convert any more, and
  // rounding in the middle is what f32 avoids.
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    Value from = mapping.lookupOrDefault(op.getOperand(0));
    Type to = op.getResult(0).getType();
    if (from.getType() == (isNarrow(to) ? f32 : to)) {
      mapping.map(op.getResult(0), from);
      return;
    }
  }
  Operation *copy = b.clone(op, mapping);
  for (Value result : copy->getResults())
    if (isNarrow(result.getType()))
      result.setType(f32);
}

linalg::LinalgOp cpu::widenReduction(RewriterBase &rewriter,
                                     linalg::LinalgOp op) {
  if (!canWiden(op))
    return op;
  auto generic = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getDpsInputs(), op.getDpsInits(),
      op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange args) {
        IRMapping mapping;
        for (auto [from, to] : llvm::zip(op.getBlock()->getArguments(), args)) {
          bool extend = isNarrow(to.getType()) && !from.use_empty();
          mapping.map(from,
                      extend ? arith::ExtFOp::create(b, loc, b.getF32Type(), to)
                             : to);
        }
        // The values that the body takes from outside, constants mostly.
        for (Operation &inner : *op.getBlock())
          for (Value value : inner.getOperands())
            if (isNarrow(value.getType()) &&
                value.getParentBlock() != op.getBlock() &&
                !mapping.contains(value))
              mapping.map(value,
                          arith::ExtFOp::create(b, loc, b.getF32Type(), value));
        for (Operation &inner : op.getBlock()->without_terminator())
          emitWide(b, inner, mapping);
        SmallVector<Value> results;
        for (Value value : op.getBlock()->getTerminator()->getOperands()) {
          Value wide = mapping.lookupOrDefault(value);
          results.push_back(
              isNarrow(value.getType())
                  ? arith::TruncFOp::create(b, loc, value.getType(), wide)
                  : wide);
        }
        linalg::YieldOp::create(b, loc, results);
      });
  rewriter.eraseOp(op);
  return cast<linalg::LinalgOp>(generic.getOperation());
}
