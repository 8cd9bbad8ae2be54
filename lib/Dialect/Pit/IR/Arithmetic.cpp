//===- Arithmetic.cpp - Branches and loops in generated code --------------===//

#include "Arithmetic.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::pit;

SmallVector<Value> ArithEmitter::clone(Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

SmallVector<Value>
ArithEmitter::loopWhile(ValueRange carried,
                        function_ref<Value(ValueRange)> condition,
                        function_ref<SmallVector<Value>(ValueRange)> body) {
  auto loop = scf::WhileOp::create(
      b, loc, carried.getTypes(), carried,
      [&](OpBuilder &, Location, ValueRange values) {
        scf::ConditionOp::create(b, loc, condition(values), values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        scf::YieldOp::create(b, loc, body(values));
      });
  return SmallVector<Value>(loop.getResults());
}

void ArithEmitter::ifThen(Value condition, function_ref<void()> then,
                          function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, condition,
                                  /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

SmallVector<Value>
ArithEmitter::choose(Value condition, function_ref<SmallVector<Value>()> then,
                     function_ref<SmallVector<Value>()> otherwise) {
  auto branch = scf::IfOp::create(
      b, loc, condition,
      [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, then()); },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(b, loc, otherwise());
      });
  return llvm::to_vector_of<Value>(branch.getResults());
}

Value ArithEmitter::choose(Value condition, function_ref<Value()> then,
                           function_ref<Value()> otherwise) {
  return choose(
             condition, [&] { return SmallVector<Value>{then()}; },
             [&] { return SmallVector<Value>{otherwise()}; })
      .front();
}

scf::ForOp
ArithEmitter::loop(Value begin, Value end, Value step, ValueRange carried,
                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, begin, end, step, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(b, loc, next);
  return loop;
}

scf::ForOp ArithEmitter::forEach(Value begin, Value end, Value step,
                                 function_ref<void(Value)> body) {
  return loop(begin, end, step, {}, [&](Value at, ValueRange) {
    body(at);
    return SmallVector<Value>();
  });
}
