//===- PredicateVariants.cpp - A device chooses among launches ------------===//

#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITPREDICATEVARIANTS
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
/// Turns the branches of one choice into launches with predicates.
class Predicator {
public:
  explicit Predicator(ChooseOp choose) : choose(choose) {}

  LogicalResult run() {
    auto all = llvm::to_vector(
        llvm::seq<int64_t>(0, choose.getCandidates().size() + 1));
    // Branches of other branches come with these.
    SmallVector<scf::IfOp> outermost;
    for (Operation *user : choose.getVariant().getUsers())
      for (Operation *branch : user->getUsers())
        if (auto op = dyn_cast<scf::IfOp>(branch); op && !isNested(op))
          outermost.push_back(op);
    for (scf::IfOp branch : outermost)
      if (failed(flatten(branch, all)))
        return failure();
    for (Operation *user :
         llvm::make_early_inc_range(choose.getVariant().getUsers())) {
      if (!isOpTriviallyDead(user))
        return user->emitOpError(
            "needs the variant on the host, which does not "
            "know what the device chooses");
      user->erase();
    }
    choose.setOnDevice(true);
    return success();
  }

private:
  /// The variant that a branch is taken for.
  std::optional<int64_t> getNumber(scf::IfOp branch) {
    auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    APInt number;
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
        compare.getLhs() != choose.getVariant() ||
        !matchPattern(compare.getRhs(), m_ConstantInt(&number)))
      return std::nullopt;
    return number.getSExtValue();
  }

  bool isNested(scf::IfOp branch) {
    for (auto parent = branch->getParentOfType<scf::IfOp>(); parent;
         parent = parent->getParentOfType<scf::IfOp>())
      if (getNumber(parent))
        return true;
    return false;
  }

  /// Puts what both blocks of a branch do in its place. `numbers` are the
  /// variants with which it is reached.
  LogicalResult flatten(scf::IfOp branch, ArrayRef<int64_t> numbers) {
    std::optional<int64_t> number = getNumber(branch);
    if (!number)
      return branch.emitOpError("depends on what the device chooses");
    SmallVector<int64_t> others(llvm::make_filter_range(
        numbers, [&](int64_t other) { return other != *number; }));
    if (failed(predicate(branch.thenBlock(), {*number})) ||
        (branch.elseBlock() && failed(predicate(branch.elseBlock(), others))))
      return failure();
    for (OpResult result : branch.getResults()) {
      Value then = branch.thenYield().getOperand(result.getResultNumber());
      Value otherwise = branch.elseYield().getOperand(result.getResultNumber());
      if (then != otherwise && !share(branch, then, otherwise))
        return branch.emitOpError()
               << "result " << result.getResultNumber()
               << " is not the same memory for all variants";
      result.replaceAllUsesWith(then);
    }
    IRRewriter rewriter(branch);
    for (Region &region : branch->getRegions()) {
      if (region.empty())
        continue;
      rewriter.eraseOp(region.front().getTerminator());
      rewriter.inlineBlockBefore(&region.front(), branch);
    }
    rewriter.eraseOp(branch);
    return success();
  }

  /// Are two values computed alike?
  static bool isSame(Value one, Value other) {
    auto a = dyn_cast<OpResult>(one), b = dyn_cast<OpResult>(other);
    return one == other ||
           (a && b && a.getResultNumber() == b.getResultNumber() &&
            isMemoryEffectFree(a.getOwner()) &&
            OperationEquivalence::isEquivalentTo(
                a.getOwner(), b.getOwner(),
                [](Value x, Value y) { return success(isSame(x, y)); },
                /*markEquivalent=*/nullptr,
                OperationEquivalence::IgnoreLocations));
  }

  /// The allocation of a block that its yield returns once; null: it is none.
  static memref::AllocOp getReturned(scf::YieldOp yield, Value value) {
    auto getAlloc = [](Value memory) {
      while (auto cast = memory.getDefiningOp<memref::CastOp>())
        memory = cast.getSource();
      return memory.getDefiningOp<memref::AllocOp>();
    };
    memref::AllocOp alloc = getAlloc(value);
    bool isOwn = alloc && alloc->getBlock() == yield->getBlock() &&
                 llvm::count_if(yield.getOperands(), [&](Value other) {
                   return getAlloc(other) == alloc;
                 }) == 1;
    return isOwn ? alloc : memref::AllocOp();
  }

  /// An allocation that both blocks of a branch make alike and return, as bits
  /// of what is live, becomes one memory: only one of them writes to it.
  static bool share(scf::IfOp branch, Value then, Value otherwise) {
    memref::AllocOp first = getReturned(branch.thenYield(), then);
    memref::AllocOp second = getReturned(branch.elseYield(), otherwise);
    if (then.getType() != otherwise.getType() || !first || !second ||
        first.getType() != second.getType() ||
        !llvm::all_of_zip(first->getOperands(), second->getOperands(), isSame))
      return false;
    second.getMemref().replaceAllUsesWith(first.getMemref());
    second.erase();
    return true;
  }

  /// Lets the launches of a block run only if one of `numbers`, which is one
  /// alone if there is anything but other branches, is chosen.
  LogicalResult predicate(Block *block, ArrayRef<int64_t> numbers) {
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      if (auto branch = dyn_cast<scf::IfOp>(op); branch && getNumber(branch)) {
        if (failed(flatten(branch, numbers)))
          return failure();
        continue;
      }
      if (auto inner = dyn_cast<ChooseOp>(op)) {
        if (failed(comeAfter(inner, numbers)))
          return failure();
        continue;
      }
      auto launch = dyn_cast<LaunchOp>(op);
      if (launch && asksChoiceAfter(launch))
        continue;
      if (launch) {
        if (numbers.size() != 1)
          return launch.emitOpError()
                 << "is part of " << numbers.size()
                 << " variants; a kernel can ask for one alone";
        if (launch.getChoice())
          return launch.emitOpError("is part of a variant of two choices; a "
                                    "kernel can ask for one alone");
        launch.getChoiceMutable().assign(choose.getBitmap());
        launch.setVariant(numbers.front());
        continue;
      }
      // The transpose of a variant's index, or of an index that is always
      // there.
      if (auto transpose = dyn_cast<TransposeIndexOp>(op)) {
        if (numbers.size() == 1) {
          transpose.getChoiceMutable().assign(choose.getBitmap());
          transpose.setVariant(numbers.front());
        }
        continue;
      }
      if (!canAlwaysRun(&op))
        return op.emitOpError("is part of a variant, but the host cannot know "
                              "whether that is chosen");
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          if (failed(predicate(&nested, numbers)))
            return failure();
    }
    return success();
  }

  /// Lets a choice of the dense variant be made where that is chosen; then what
  /// asks for its variants asks for this one, too.
  LogicalResult comeAfter(ChooseOp inner, ArrayRef<int64_t> numbers) {
    if (numbers != ArrayRef<int64_t>{0})
      return inner.emitOpError("is part of variants that skip; a choice can "
                               "come after the dense one alone");
    if (!inner.getAfter())
      inner.getAfterMutable().assign(choose.getBitmap());
    return success();
  }

  /// Does `launch` ask for a variant of a choice of the dense variant?
  static bool asksChoiceAfter(LaunchOp launch) {
    if (!launch.getChoice())
      return false;
    auto inner = launch.getChoice().getDefiningOp<ChooseOp>();
    return inner && inner.getAfter();
  }

  /// May the host run `op` for a variant that is not chosen?
  static bool canAlwaysRun(Operation *op) {
    // The memory that the variant has allocated, whether it is chosen or not.
    if (isa<memref::DeallocOp, bufferization::DeallocOp>(op)) {
      auto many = dyn_cast<bufferization::DeallocOp>(op);
      ValueRange freed = many ? many.getMemrefs() : op->getOperands();
      return llvm::all_of(freed, [&](Value memref) {
        Operation *alloc = memref.getDefiningOp<memref::AllocOp>();
        return alloc && alloc->getBlock() == op->getBlock();
      });
    }
    return isa<IndexOp, memref::AllocOp, memref::AllocaOp, scf::ForOp,
               scf::IfOp, scf::YieldOp>(op) ||
           isMemoryEffectFree(op);
  }

  ChooseOp choose;
};

struct PredicateVariantsPass
    : pit::impl::PitPredicateVariantsBase<PredicateVariantsPass> {
  void runOnOperation() override {
    SmallVector<ChooseOp> choices;
    getOperation().walk([&](ChooseOp choose) {
      if (!choose.getOnDevice())
        choices.push_back(choose);
    });
    // Choices inside of variants first: their launches ask for both by one
    // number.
    for (ChooseOp choose : llvm::reverse(choices))
      if (failed(Predicator(choose).run()))
        return signalPassFailure();
  }
};
} // namespace
