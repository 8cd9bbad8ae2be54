//===- ShareLoops.cpp - Loops that are equal become one function ----------===//

#include "pit/Codegen/CPU/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace mlir::pit {
#define GEN_PASS_DEF_PITSHARELOOPS
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {

/// A loop, and the values from outside in the order in which it uses them.
struct Loop {
  Operation *op;
  SmallVector<Value> taken;
};

/// Loops that are the same up to the values they take from outside.
using EqualLoops = SmallVector<Loop>;

struct ShareLoops : pit::impl::PitShareLoopsBase<ShareLoops> {
  using Base::Base;

  void runOnOperation() override;

private:
  void add(Operation *op);

  /// By hash, in the order of the program.
  llvm::MapVector<size_t, SmallVector<EqualLoops>> known;
};

} // namespace

/// Is this value the same wherever it is computed?
static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op);
}

/// Elementwise ops become loops of some 100 instructions. So few of them
/// compile in no time, and stay where LLVM sees their buffers.
static constexpr size_t kFewestElementwise = 8;

/// Is this an op that becomes a loop, whose iterations are independent? Loops
/// in parallel ones run in sequence, which another function would not know.
static bool isElementwise(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.hasPureBufferSemantics() &&
         structured.getNumLoops() > 0 &&
         structured.getNumLoops() == structured.getNumParallelLoops() &&
         !op->getParentOfType<scf::ParallelOp>() &&
         !op->getParentOfType<scf::ForallOp>();
}

/// Is this a loop that another function could contain? A call or an assertion
/// that ends the function early has to stay in its own.
static bool mayMove(Operation *op) {
  if (isElementwise(op))
    return true;
  if (!isa<scf::ParallelOp, scf::ForOp>(op) || op->getNumResults() > 0)
    return false;
  return !op->walk([](Operation *inner) {
              return isa<pit::CheckStatusOp, cf::AssertOp>(inner)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

static bool isOutside(Value value, Operation *loop) {
  return !loop->isAncestor(value.getParentRegion()->getParentOp());
}

/// The same for equal loops; none for those of fewer ops.
static std::optional<size_t> hashLoop(Operation *loop, int64_t fewest) {
  llvm::hash_code hash = 0;
  int64_t count = 0;
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    ++count;
    hash = llvm::hash_combine(hash, op->getName(), op->getRawDictionaryAttrs(),
                              op->hashProperties(), op->getNumOperands(),
                              op->getNumResults());
  });
  if (count < fewest)
    return std::nullopt;
  return hash;
}

/// All operands in a loop, its own first.
static SmallVector<OpOperand *> collectOperands(Operation *loop) {
  SmallVector<OpOperand *> operands;
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(&operand);
  });
  return operands;
}

static Loop describe(Operation *op) {
  Loop loop = {op, {}};
  for (OpOperand *operand : collectOperands(op))
    if (isOutside(operand->get(), op))
      loop.taken.push_back(operand->get());
  return loop;
}

/// May a loop take `b` where an equal one takes `a`?
static bool canTake(Value a, Value b) {
  if (a.getType() != b.getType() || isConstant(a) != isConstant(b))
    return false;
  return !isConstant(a) || OperationEquivalence::isEquivalentTo(
                               a.getDefiningOp(), b.getDefiningOp(),
                               OperationEquivalence::IgnoreLocations);
}

static bool areEqual(const Loop &a, const Loop &b) {
  if (a.taken.size() != b.taken.size())
    return false;
  DenseMap<Value, Value> same; ///< values within the loops
  auto check = [&](Value lhs, Value rhs) {
    bool outside = isOutside(lhs, a.op);
    if (outside != isOutside(rhs, b.op))
      return failure();
    return success(outside ? canTake(lhs, rhs) : same.lookup(lhs) == rhs);
  };
  auto mark = [&](Value lhs, Value rhs) { same[lhs] = rhs; };
  return OperationEquivalence::isEquivalentTo(
      a.op, b.op, check, mark, OperationEquivalence::IgnoreLocations);
}

void ShareLoops::add(Operation *op) {
  std::optional<size_t> hash = hashLoop(op, isElementwise(op) ? 0 : fewestOps);
  if (!hash)
    return;
  Loop loop = describe(op);
  for (EqualLoops &equal : known[*hash])
    if (areEqual(equal.front(), loop)) {
      equal.push_back(std::move(loop));
      return;
    }
  known[*hash].push_back({std::move(loop)});
}

/// The arguments of a function for the loops, by loop; `numbers` tells which of
/// them each value from outside is. Constants are none. Values are one argument
/// if they are one value in each of the loops.
static SmallVector<SmallVector<Value>>
collectArguments(const EqualLoops &loops, SmallVectorImpl<unsigned> &numbers) {
  SmallVector<SmallVector<Value>> arguments(loops.size());
  std::map<SmallVector<void *>, unsigned> known;
  for (size_t i = 0; i < loops.front().taken.size(); ++i) {
    numbers.push_back(0);
    if (isConstant(loops.front().taken[i]))
      continue;
    SmallVector<void *> values =
        llvm::map_to_vector(loops, [&](const Loop &loop) {
          return loop.taken[i].getAsOpaquePointer();
        });
    auto [it, isNew] = known.try_emplace(values, arguments.front().size());
    numbers.back() = it->second;
    if (isNew)
      for (auto [loop, list] : llvm::zip_equal(loops, arguments))
        list.push_back(loop.taken[i]);
  }
  return arguments;
}

/// A private function with the first of the loops as its body.
static func::FuncOp makeFunction(const Loop &loop, TypeRange types,
                                 ArrayRef<unsigned> numbers,
                                 SymbolTable &symbols) {
  Location loc = loop.op->getLoc();
  auto parent = loop.op->getParentOfType<func::FuncOp>();
  OpBuilder builder(parent);
  auto function =
      func::FuncOp::create(builder, loc, (parent.getName() + "_loop").str(),
                           builder.getFunctionType(types, {}));
  function.setPrivate();
  // LLVM would inline them again, and takes longer for each loop around others.
  if (isElementwise(loop.op))
    function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  symbols.insert(function);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping constants;
  for (Value value : loop.taken)
    if (isConstant(value) && !constants.contains(value))
      builder.clone(*value.getDefiningOp(), constants);
  Operation *clone = builder.clone(*loop.op, constants);
  func::ReturnOp::create(builder, loc);
  const unsigned *number = numbers.begin();
  for (auto [original, operand] :
       llvm::zip_equal(collectOperands(loop.op), collectOperands(clone))) {
    if (!isOutside(original->get(), loop.op))
      continue;
    if (!isConstant(original->get()))
      operand->set(body->getArgument(*number));
    ++number;
  }
  return function;
}

void ShareLoops::runOnOperation() {
  known.clear();
  SmallVector<Operation *> ops;
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!mayMove(op))
      return WalkResult::advance();
    ops.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : ops)
    add(op);
  SymbolTable symbols(getOperation());
  for (auto &[hash, groups] : known)
    for (const EqualLoops &loops : groups) {
      if (loops.size() == 1 || (isElementwise(loops.front().op) &&
                                loops.size() < kFewestElementwise))
        continue;
      SmallVector<unsigned> numbers;
      auto arguments = collectArguments(loops, numbers);
      func::FuncOp function =
          makeFunction(loops.front(), ValueRange(arguments.front()).getTypes(),
                       numbers, symbols);
      for (auto [loop, list] : llvm::zip_equal(loops, arguments)) {
        OpBuilder builder(loop.op);
        func::CallOp::create(builder, loop.op->getLoc(), function, list);
        loop.op->erase();
      }
    }
}
