//===- AbiHoistAsserts.cpp - Assertions of points become ones of the call -===//

#include "pit/ABI/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABIHOISTASSERTS
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {
/// One assertion in the body of a linalg op.
class Hoisting {
public:
  Hoisting(linalg::LinalgOp op, cf::AssertOp assertion)
      : op(op), assertion(assertion), builder(op), loc(assertion.getLoc()),
        isUsed(op.getNumLoops()) {}

  LogicalResult run();

private:
  LogicalResult collect(Value value);
  void chooseLoops();
  Value reduce();
  Value orNoPoints(Value holds);

  linalg::LinalgOp op;
  cf::AssertOp assertion;
  OpBuilder builder;
  Location loc;
  SetVector<Operation *> ops;       ///< that compute the condition, in order
  SetVector<OpOperand *> operands;  ///< whose elements they use
  SmallVector<bool> isUsed;         ///< by loop
  SmallVector<OpFoldResult> sizes;  ///< by loop
  SmallVector<AffineMap> maps;      ///< of `operands`, by the loops used
  SmallVector<AffineExpr> numberOf; ///< by loop, its number among those used
};
} // namespace

/// Finds what `value` is computed from.
LogicalResult Hoisting::collect(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (arg.getOwner() != op.getBlock())
      return success();
    OpOperand &operand = op->getOpOperand(arg.getArgNumber());
    if (op.isDpsInit(&operand) && op.getNumReductionLoops())
      return assertion.emitOpError(
          "asserts something about a sum that is being computed; only what is "
          "known before the op can be checked");
    operands.insert(&operand);
    return success();
  }
  Operation *def = value.getDefiningOp();
  if (def->getBlock() != op.getBlock() || ops.contains(def))
    return success();
  if (def->getNumRegions() || !isMemoryEffectFree(def))
    return assertion.emitOpError()
           << "depends on '" << def->getName()
           << "', which cannot be computed before the op";
  for (Value operand : def->getOperands())
    if (failed(collect(operand)))
      return failure();
  if (auto index = dyn_cast<linalg::IndexOp>(def))
    isUsed[index.getDim()] = true;
  ops.insert(def);
  return success();
}

/// The check runs over the loops that the condition depends on.
void Hoisting::chooseLoops() {
  for (OpOperand *operand : operands) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (unsigned d = 0; d < isUsed.size(); ++d)
      isUsed[d] = isUsed[d] || map.isFunctionOfDim(d);
  }
  unsigned count = llvm::count(isUsed, true), next = 0;
  for (bool used : isUsed)
    numberOf.push_back(used ? builder.getAffineDimExpr(next++)
                            : builder.getAffineConstantExpr(0));
  for (OpOperand *operand : operands)
    maps.push_back(op.getMatchingIndexingMap(operand).replaceDimsAndSymbols(
        numberOf, {}, count, 0));
}

/// True if the condition holds at all points.
Value Hoisting::reduce() {
  chooseLoops();
  unsigned count = llvm::count(isUsed, true);
  SmallVector<Value> inputs = llvm::map_to_vector(
      operands, [](OpOperand *operand) { return operand->get(); });
  // Extents that the operands do not tell come from an operand that is not
  // read.
  if (count && (maps.empty() || !inversePermutation(concatAffineMaps(
                                    maps, builder.getContext())))) {
    SmallVector<OpFoldResult> extents;
    for (auto [size, used] : llvm::zip_equal(sizes, isUsed))
      if (used)
        extents.push_back(size);
    inputs.push_back(
        tensor::EmptyOp::create(builder, loc, extents, builder.getI1Type()));
    maps.push_back(builder.getMultiDimIdentityMap(count));
  }
  maps.push_back(AffineMap::get(count, 0, builder.getContext()));
  SmallVector<utils::IteratorType> iterators(count,
                                             utils::IteratorType::reduction);
  Value yes =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  Value init = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(),
                                       builder.getI1Type());
  init = linalg::FillOp::create(builder, loc, yes, init).getResult(0);
  auto all = linalg::GenericOp::create(
      builder, loc, init.getType(), inputs, init, maps, iterators,
      [&](OpBuilder &b, Location l, ValueRange args) {
        IRMapping mapping;
        for (auto [i, operand] : llvm::enumerate(operands))
          mapping.map(op.getBlock()->getArgument(operand->getOperandNumber()),
                      args[i]);
        for (Operation *inner : ops) {
          auto index = dyn_cast<linalg::IndexOp>(inner);
          if (!index) {
            b.clone(*inner, mapping);
            continue;
          }
          auto dim = cast<AffineDimExpr>(numberOf[index.getDim()]);
          mapping.map(index.getResult(),
                      linalg::IndexOp::create(b, l, dim.getPosition()));
        }
        Value holds = mapping.lookupOrDefault(assertion.getArg());
        holds = arith::AndIOp::create(b, l, args.back(), holds);
        linalg::YieldOp::create(b, l, holds);
      });
  return tensor::ExtractOp::create(builder, loc, all.getResult(0),
                                   ValueRange());
}

/// Nothing is asserted if one of the other loops has no iteration.
Value Hoisting::orNoPoints(Value holds) {
  for (auto [size, used] : llvm::zip_equal(sizes, isUsed)) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (used || (known && *known != 0))
      continue;
    Value extent = getValueOrCreateConstantIndexOp(builder, loc, size);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       extent, zero);
    holds = arith::OrIOp::create(builder, loc, holds, none);
  }
  return holds;
}

LogicalResult Hoisting::run() {
  if (assertion->getParentOp() != op)
    return assertion.emitOpError()
           << "stands inside '" << assertion->getParentOp()->getName()
           << "' in the body of '" << op->getName()
           << "'; assertions stand directly in the body";
  if (failed(collect(assertion.getArg())))
    return failure();
  for (const Range &range : op.createLoopRanges(builder, loc))
    sizes.push_back(range.size);
  Value holds = orNoPoints(reduce());
  cf::AssertOp::create(builder, loc, holds, assertion.getMsgAttr());
  return success();
}

namespace {
struct AbiHoistAsserts : pit::impl::PitAbiHoistAssertsBase<AbiHoistAsserts> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<cf::AssertOp> assertions;
    getOperation().walk([&](cf::AssertOp op) {
      if (op->getParentOfType<linalg::LinalgOp>())
        assertions.push_back(op);
    });
    for (cf::AssertOp assertion : assertions) {
      auto op = assertion->getParentOfType<linalg::LinalgOp>();
      if (!drop && failed(Hoisting(op, assertion).run()))
        return signalPassFailure();
      assertion.erase();
    }
  }
};
} // namespace
