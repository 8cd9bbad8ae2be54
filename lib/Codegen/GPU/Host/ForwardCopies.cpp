//===- ForwardCopies.cpp - Kernels write where a copy would go ------------===//
//
//   %a = memref.alloc
//   %part = memref.subview %whole[..]
//   pit.launch .. outs(%other_part, %a)
//   memref.copy %a, %part
//
// Bufferization makes this of an op whose results go into parts of one tensor:
// it does not see that the parts are apart. The launch writes %part itself, and
// what is copied onto itself is not copied.
//
//===----------------------------------------------------------------------===//

#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITFORWARDCOPIES
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Are both one view of the same memory?
static bool isSameView(Value one, Value other) {
  if (one == other)
    return true;
  auto view = one.getDefiningOp<memref::SubViewOp>();
  auto second = other.getDefiningOp<memref::SubViewOp>();
  return view && second &&
         OperationEquivalence::isEquivalentTo(
             view, second, OperationEquivalence::exactValueMatch,
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// Are two parts of one memref known to have no element in common?
static bool areDisjoint(memref::SubViewOp one, memref::SubViewOp other) {
  if (one.getSource() != other.getSource())
    return false;
  auto isKnown = [](int64_t number) { return !ShapedType::isDynamic(number); };
  for (int64_t d = 0; d < one.getSourceType().getRank(); ++d) {
    std::array<int64_t, 2> begin, end;
    bool isRange = true;
    for (auto [i, view] : llvm::enumerate(std::array{one, other})) {
      int64_t offset = view.getStaticOffsets()[d];
      int64_t size = view.getStaticSizes()[d];
      isRange &=
          isKnown(offset) && isKnown(size) && view.getStaticStrides()[d] == 1;
      begin[i] = offset;
      end[i] = offset + size;
    }
    if (isRange && (end[0] <= begin[1] || end[1] <= begin[0]))
      return true;
  }
  return false;
}

namespace {
/// Forwards one copy of memory that is allocated for it.
class CopyForwarding {
public:
  CopyForwarding(memref::CopyOp copy)
      : copy(copy), source(copy.getSource().getDefiningOp<memref::AllocOp>()),
        target(copy.getTarget().getDefiningOp<memref::SubViewOp>()) {}

  /// Does it, if nothing but the copy can tell; else nothing.
  bool run();

private:
  bool findFirstUse();
  bool isTouched(Value whole);
  bool canMoveTarget();
  Operation *ancestorOf(Operation *op) {
    return copy->getBlock()->findAncestorOpInBlock(*op);
  }

  memref::CopyOp copy;
  memref::AllocOp source;
  memref::SubViewOp target;
  Operation *first = nullptr; ///< that uses the source's memory
};
} // namespace

/// Only launches use the source, and the copy is the last to read it.
bool CopyForwarding::findFirstUse() {
  for (Operation *user : source->getUsers()) {
    if (isa<memref::DeallocOp, memref::DimOp>(user) || user == copy)
      continue;
    if (!isa<LaunchOp>(user) || user->getBlock() != copy->getBlock() ||
        !user->isBeforeInBlock(copy))
      return false;
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// Is something done with the target's elements from the first use of the
/// source on until they are copied? `memref` is what the target is a part of,
/// or a view of that.
bool CopyForwarding::isTouched(Value memref) {
  for (Operation *user : memref.getUsers()) {
    if (isa<memref::DimOp, memref::DeallocOp>(user) || user == copy)
      continue;
    if (auto view = dyn_cast<memref::SubViewOp>(user);
        view && areDisjoint(view, target))
      continue;
    if (auto view = dyn_cast<ViewLikeOpInterface>(user)) {
      if (isTouched(view->getResult(0)))
        return true;
      continue;
    }
    Operation *place = ancestorOf(user);
    bool isOutside = place && (place->isBeforeInBlock(first) ||
                               copy->isBeforeInBlock(place));
    // A result may be the same memory by another name.
    if (!isOutside ||
        llvm::any_of(place->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
      return true;
  }
  return false;
}

/// May the target's view stand before the first use?
bool CopyForwarding::canMoveTarget() {
  return llvm::all_of(target->getOperands(), [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    return !def || def->getBlock() != copy->getBlock() ||
           def->isBeforeInBlock(first);
  });
}

bool CopyForwarding::run() {
  // Memory of others may be the same by other names.
  if (!source || !target || source->getBlock() != copy->getBlock() ||
      target->getBlock() != copy->getBlock() ||
      !target.getSource().getDefiningOp<memref::AllocOp>() ||
      source.getType().getShape() != target.getType().getShape() ||
      source.getType().getElementType() != target.getType().getElementType() ||
      !findFirstUse() || !canMoveTarget() || isTouched(target.getSource()))
    return false;
  if (!target->isBeforeInBlock(first))
    target->moveBefore(first);
  for (Operation *user : llvm::make_early_inc_range(source->getUsers()))
    if (isa<memref::DeallocOp>(user))
      user->erase();
  copy.erase();
  // Sizes that were asked before the view is there are those of the source.
  source.getResult().replaceUsesWithIf(
      target, [&](OpOperand &use) { return isa<LaunchOp>(use.getOwner()); });
  if (source->use_empty())
    source.erase();
  return true;
}

namespace {
struct ForwardCopiesPass : pit::impl::PitForwardCopiesBase<ForwardCopiesPass> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies)
      if (isSameView(copy.getSource(), copy.getTarget()))
        copy.erase();
      else
        CopyForwarding(copy).run();
  }
};
} // namespace
