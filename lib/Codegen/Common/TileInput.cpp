//===- TileInput.cpp - What code generators take --------------------------===//

#include "TileInput.h"

#include "Atomics.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

template <typename... Types> static bool hasTypes(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<Types...>) ||
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<Types...>);
}

static LogicalResult checkForm(Operation *op) {
  if (!isa<PitDialect>(op->getDialect()) &&
      hasTypes<SparsityIndexType, IdsType, BitmapType>(op))
    return op->emitError() << op->getName()
                           << " takes or gives an index, ids or a bitmap, "
                              "which only pit's own ops do";
  if (isa<SparseOp, ReorderOp>(op))
    return op->emitOpError("was not lowered: run pit-lower-marks first");
  auto read = dyn_cast<SReadOp>(op);
  auto write = dyn_cast<SWriteOp>(op);
  if ((read && read.isWhole()) || (write && write.isWhole()))
    return op->emitOpError("packs a whole tensor: run pit-tile first");
  if (hasTypes<TensorType>(op))
    return op->emitOpError("works on tensors: bufferize it first");
  return success();
}

/// Does the loop keep its groups apart in a way that the generator has? A
/// pit.for runs its groups one after another, so it needs no atomics.
template <typename LoopTy>
static LogicalResult checkConflicts(LoopTy loop, const InputRules &rules) {
  Conflicts conflicts = loop.getConflicts();
  bool needsAtomics =
      conflicts == Conflicts::Atomic && isa<ForallOp>(loop.getOperation());
  if (conflicts != Conflicts::TwoPhase && (rules.hasAtomics || !needsAtomics))
    return success();
  return loop.emitOpError()
         << "keeps groups apart by " << stringifyConflicts(conflicts) << "; "
         << rules.takes;
}

static LogicalResult checkAtomics(Operation *op, Type element) {
  if (hasAtomicCombine(element))
    return success();
  return op->emitOpError() << "combines elements of " << element
                           << " that several groups write; atomics take "
                              "numbers of 1, 2, 4 or 8 bytes";
}

LogicalResult pit::checkTileInput(func::FuncOp function,
                                  const InputRules &rules) {
  WalkResult walk = function.walk([&](Operation *op) -> WalkResult {
    if (failed(checkForm(op)))
      return failure();
    if (auto loop = dyn_cast<ForallOp>(op))
      return checkConflicts(loop, rules);
    if (auto loop = dyn_cast<ForOp>(op))
      return checkConflicts(loop, rules);
    auto write = dyn_cast<SWriteOp>(op);
    if (write && rules.hasAtomics && isAtomic(write))
      return checkAtomics(op, write.getDestType().getElementType());
    auto mainloop = dyn_cast<MainloopOp>(op);
    if (mainloop && mainloop.getAtomic())
      return checkAtomics(op, getElementTypeOrSelf(mainloop.getDest()));
    return success();
  });
  return failure(walk.wasInterrupted());
}

bool pit::isAtomic(SWriteOp write) {
  if (!write.getCombine())
    return false;
  for (Operation *up = write->getParentOp(); up; up = up->getParentOp()) {
    auto forall = dyn_cast<ForallOp>(up);
    auto loop = dyn_cast<ForOp>(up);
    if ((forall && forall.getConflicts() == Conflicts::Atomic) ||
        (loop && loop.getConflicts() == Conflicts::Atomic))
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value pit::readFromIndex(OpBuilder &builder, Operation *op,
                         const IndexMap &indices) {
  if (auto count = dyn_cast<CountOp>(op)) {
    const IndexView &view = indices.at(count.getIndex());
    if (count.getGroup().empty())
      return view.total;
    return view.countAndOffset(builder, op->getLoc(), count.getGroup()).first;
  }
  if (auto extent = dyn_cast<ExtentOp>(op))
    return indices.at(extent.getIndex()).extent;
  if (auto liveFraction = dyn_cast<LiveFractionOp>(op))
    return indices.at(liveFraction.getIndex())
        .liveFraction(builder, op->getLoc());
  return Value();
}

Value pit::convertElements(OpBuilder &builder, Location loc, Value value,
                           Type to) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == to)
    return value;
  Type type = to;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(to);
  bool isWider = from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  if (isa<FloatType>(to)) {
    if (isWider)
      return arith::ExtFOp::create(builder, loc, type, value);
    return arith::TruncFOp::create(builder, loc, type, value);
  }
  if (!isWider)
    return arith::TruncIOp::create(builder, loc, type, value);
  if (from.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}
