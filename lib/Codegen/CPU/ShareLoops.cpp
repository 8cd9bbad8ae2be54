//===- ShareLoops.cpp - Equal or similar loops become one function --------===//

#include "Loops.h"

#include "pit/Codegen/CPU/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace mlir::pit {
#define GEN_PASS_DEF_PITSHARELOOPS
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {

/// Loops of which one function may be made.
using Group = SmallVector<Loop>;

struct ShareLoops : pit::impl::PitShareLoopsBase<ShareLoops> {
  using Base::Base;

  void runOnOperation() override;

private:
  void add(Operation *op);
  void joinSimilar();

  /// The first loop of equal ones. By hash, in the order of the program.
  llvm::MapVector<size_t, SmallVector<Group>> known;
};

} // namespace

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

/// The ops of a loop; the loop of an elementwise op comes later.
static int64_t countOps(const Loop &loop) {
  return isElementwise(loop.op) ? 100 : loop.ops;
}

void ShareLoops::add(Operation *op) {
  Loop loop = describeLoop(op);
  if (!isElementwise(op) && loop.ops < fewestOps)
    return;
  SmallVector<Group> &groups = known[hashLoop(loop)];
  for (Group &group : groups)
    if (areEqual(group.front(), loop)) {
      group.push_back(std::move(loop));
      return;
    }
  groups.push_back({std::move(loop)});
}

/// Joins groups whose loops differ in sizes alone, if all groups together have
/// too many ops: static sizes make a loop faster, but each group is compiled.
void ShareLoops::joinSimilar() {
  int64_t ops = 0;
  for (auto &[hash, groups] : known)
    for (const Group &group : groups)
      ops += countOps(group.front());
  if (ops <= mostOps)
    return;
  for (auto &[hash, groups] : known) {
    SmallVector<Group> joined;
    for (Group &group : groups) {
      auto *similar = llvm::find_if(joined, [&](const Group &other) {
        return areSimilar(other.front(), group.front());
      });
      if (similar == joined.end())
        joined.push_back(std::move(group));
      else
        llvm::append_range(*similar, group);
    }
    groups = std::move(joined);
  }
}

namespace {

/// How the loops of a group become calls of one function.
class SharedFunction {
public:
  explicit SharedFunction(const Group &group);

  void make(SymbolTable &symbols);
  void call(size_t i);

private:
  /// The number of an argument, if it is not the same constant in each loop.
  using Parameter = std::optional<unsigned>;
  Parameter addParameter(ArrayRef<OpFoldResult> values);

  const Group &group;
  SmallVector<Type> types;                       ///< of arguments
  SmallVector<SmallVector<OpFoldResult>> passed; ///< for each loop
  SmallVector<Parameter> outside, sizes;         ///< by place in a loop
  std::map<SmallVector<const void *>, unsigned> numbers;
  func::FuncOp function;
};

} // namespace

/// Values are one argument if they are one value in each of the loops.
SharedFunction::Parameter
SharedFunction::addParameter(ArrayRef<OpFoldResult> values) {
  auto value = dyn_cast<Value>(values.front());
  if (value ? isConstant(value) : llvm::all_equal(values))
    return std::nullopt;
  auto key = llvm::map_to_vector(values, [](OpFoldResult each) {
    return static_cast<const void *>(each.getOpaqueValue());
  });
  auto [it, isNew] = numbers.try_emplace(std::move(key), types.size());
  if (isNew) {
    auto getType = [&](OpFoldResult each) {
      auto value = dyn_cast<Value>(each);
      return value ? value.getType()
                   : cast<TypedAttr>(cast<Attribute>(each)).getType();
    };
    types.push_back(getType(values.front()));
    for (auto [each, list] : llvm::zip_equal(values, passed)) {
      types.back() = mergeTypes(types.back(), getType(each));
      list.push_back(each);
    }
  }
  return it->second;
}

SharedFunction::SharedFunction(const Group &group)
    : group(group), passed(group.size()) {
  for (size_t i = 0; i < group.front().outside.size(); ++i)
    outside.push_back(
        addParameter(llvm::map_to_vector(group, [&](const Loop &loop) {
          return getAsOpFoldResult(loop.outside[i]->get());
        })));
  Builder builder(group.front().op->getContext());
  for (size_t i = 0; i < group.front().sizes.size(); ++i)
    sizes.push_back(
        addParameter(llvm::map_to_vector(group, [&](const Loop &loop) {
          return OpFoldResult(builder.getIndexAttr(loop.sizes[i].value));
        })));
}

/// A private function with the first of the loops as its body.
void SharedFunction::make(SymbolTable &symbols) {
  const Loop &loop = group.front();
  Location loc = loop.op->getLoc();
  auto parent = loop.op->getParentOfType<func::FuncOp>();
  OpBuilder builder(parent);
  function =
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
  for (auto [operand, number] : llvm::zip_equal(loop.outside, outside))
    if (!number && !constants.contains(operand->get()))
      builder.clone(*operand->get().getDefiningOp(), constants);
  Loop clone = describeLoop(builder.clone(*loop.op, constants));
  func::ReturnOp::create(builder, loc);
  auto getArgument = [&](Parameter number) {
    return number ? body->getArgument(*number) : Value();
  };
  replaceParts(clone, llvm::map_to_vector(outside, getArgument),
               llvm::map_to_vector(sizes, getArgument));
}

/// Replaces a loop by a call.
void SharedFunction::call(size_t i) {
  Operation *loop = group[i].op;
  OpBuilder builder(loop);
  auto values = llvm::map_to_vector(
      llvm::zip_equal(passed[i], types), [&](auto pair) -> Value {
        auto [each, type] = pair;
        Value value =
            getValueOrCreateConstantIndexOp(builder, loop->getLoc(), each);
        if (value.getType() == type)
          return value;
        return memref::CastOp::create(builder, loop->getLoc(), type, value);
      });
  func::CallOp::create(builder, loop->getLoc(), function, values);
  loop->erase();
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
  joinSimilar();
  SymbolTable symbols(getOperation());
  for (auto &[hash, groups] : known)
    for (const Group &group : groups) {
      if (group.size() == 1 || (isElementwise(group.front().op) &&
                                group.size() < kFewestElementwise))
        continue;
      SharedFunction function(group);
      function.make(symbols);
      for (size_t i = 0; i < group.size(); ++i)
        function.call(i);
    }
}
