//===- OperandReuse.cpp - How often mainloops read an operand -------------===//

#include "PackOperands.h"

#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

namespace {

/// Multiplies how often the loops around a mainloop, and its own, run its
/// tiles.
class ReadCounter : ArithEmitter {
public:
  ReadCounter(OpBuilder &b, const TensorReads &of)
      : ArithEmitter(b, MainloopOp(of.mainloop).getLoc()), loop(of.loop),
        mainloop(of.mainloop), subscripts(of.subscripts), indices(of.indices) {}

  Value run(int64_t times, Value in) {
    reads = in ? in : index(1);
    elements = index(times);
    SmallVector<Value> mainloopGroup = groupOfMainloop();
    llvm::append_range(allGroups, mainloopGroup);
    auto forLoops = [&](auto visit) {
      for (Operation *op = mainloop->getParentOp(); op != loop->getParentOp();
           op = op->getParentOp()) {
        if (auto inner = dyn_cast<ForOp>(op))
          visit(inner);
        if (auto inner = dyn_cast<ForallOp>(op))
          visit(inner);
      }
    };
    forLoops(
        [&](auto inner) { llvm::append_range(allGroups, inner.getGroup()); });
    count(mainloop, &mainloop.getLoad().front(), mainloopGroup, /*all=*/false);
    forLoops([&](auto inner) {
      count(inner, inner.getBody(), inner.getGroup(), /*all=*/true);
    });
    return compare(arith::CmpIPredicate::sgt, reads, elements);
  }

private:
  bool isInside(Value value) {
    return loop.getRegion().isAncestor(value.getParentRegion());
  }
  bool isRead(Value subscript) {
    return llvm::is_contained(subscripts, subscript);
  }

  /// The mainloop's group as the subscripts that load's views have; what names
  /// it step by step numbers groups, too.
  SmallVector<Value> groupOfMainloop() {
    SmallVector<Value> group(mainloop.getGroup());
    if (mainloop.getGroups().empty())
      return group;
    Block &block = mainloop.getGroups().front();
    for (Value subscript : block.getTerminator()->getOperands()) {
      auto step = dyn_cast<BlockArgument>(subscript);
      bool isStep = step && step.getOwner() == &block;
      group.push_back(isStep
                          ? mainloop.getLoad().getArgument(step.getArgNumber())
                          : subscript);
    }
    SetVector<Value> outside;
    getUsedValuesDefinedAbove(mainloop.getGroups(), outside);
    llvm::append_range(allGroups, outside);
    return group;
  }

  /// One loop; its dense ranges, too, if `all`.
  template <typename LoopTy>
  void count(LoopTy from, Block *body, ValueRange group, bool all) {
    for (unsigned i = 0; all && i < from.getSteps().size(); ++i) {
      Value iv = body->getArgument(i), lower = from.getLower()[i],
            upper = from.getUpper()[i];
      if (isRead(iv) || llvm::is_contained(allGroups, iv) || isInside(lower) ||
          isInside(upper))
        continue;
      Value span = sub(upper, lower);
      reads = mul(reads, arith::CeilDivSIOp::create(b, loc, span,
                                                    index(from.getSteps()[i])));
    }
    if (!from.getIndex())
      return;
    const IndexView &list = indices.at(from.getIndex());
    unsigned ids = from.getSteps().size();
    bool usesIds =
        isRead(body->getArgument(ids)) || isRead(body->getArgument(ids + 1));
    reads = mul(reads, list.total);
    elements =
        mul(elements, usesIds ? list.axisExtent : index(from.getChunk()));
    for (auto [subscript, extent] : llvm::zip(group, list.groupShape))
      if (isRead(subscript))
        elements = mul(elements, extent);
  }

  ForallOp loop;
  MainloopOp mainloop;
  SmallVector<Value> subscripts;
  const IndexMap &indices;
  SmallVector<Value> allGroups; ///< subscripts that name groups
  Value reads, elements;
};

} // namespace

Value cpu::isReadMoreThan(OpBuilder &b, const TensorReads &reads, int64_t times,
                          Value in) {
  return ReadCounter(b, reads).run(times, in);
}
