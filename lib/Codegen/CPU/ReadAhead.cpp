//===- ReadAhead.cpp - The place of a loop's next tile --------------------===//
//
// Coordinates are computed anew, with the loop's variable one step on. An entry
// of a table is read where the table has one.
//
//===----------------------------------------------------------------------===//

#include "ReadAhead.h"

#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

namespace {

/// Computes values of a loop's next iteration.
class NextIteration : ArithEmitter {
public:
  NextIteration(OpBuilder &b, Location loc, scf::ForOp loop,
                const ElementPlaces &places)
      : ArithEmitter(b, loc), loop(loop), places(places) {
    Value iv = loop.getInductionVar(), next = add(iv, loop.getStep());
    known[iv] = select(lessThan(next, loop.getUpperBound()), next, iv);
  }

  /// Null if a value has another cause than the loop's variable and tables.
  Value find(Value value) {
    if (Value next = known.lookup(value))
      return next;
    if (!loop->isAncestor(value.getParentRegion()->getParentOp()))
      return value;
    Operation *op = value.getDefiningOp();
    Value next;
    if (auto load = dyn_cast_if_present<memref::LoadOp>(op))
      next = findEntry(load);
    else if (op && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
             isMemoryEffectFree(op) && isSpeculatable(op))
      next = findResult(op);
    return known[value] = next;
  }

  bool readsTable = false;

private:
  Value findResult(Operation *op) {
    IRMapping mapping;
    bool differs = false;
    for (Value operand : op->getOperands()) {
      Value next = find(operand);
      if (!next)
        return {};
      mapping.map(operand, next);
      differs |= next != operand;
    }
    return differs ? b.clone(*op, mapping)->getResult(0) : op->getResult(0);
  }

  Value findEntry(memref::LoadOp load) {
    auto place = places.find(load.getMemRef());
    // An entry that another loop left there has subscripts of that loop.
    if (place == places.end() ||
        !place->second.region->isAncestor(load->getParentRegion()))
      return {};
    SmallVector<Value> at;
    bool differs = false;
    for (Value subscript : place->second.subscripts) {
      at.push_back(find(subscript));
      if (!at.back())
        return {};
      differs |= at.back() != subscript;
    }
    if (!differs)
      return load;
    readsTable = true;
    Value src = place->second.src, inside;
    for (auto [d, coordinate] : llvm::enumerate(at)) {
      Value size = fold<memref::DimOp>(src, index(d));
      Value in = inRange(coordinate, size);
      inside = inside ? logicalAnd(inside, in) : in;
    }
    return choose(
        inside,
        [&]() -> Value { return memref::LoadOp::create(b, loc, src, at); },
        [&]() -> Value { return load; });
  }

  scf::ForOp loop;
  const ElementPlaces &places;
  DenseMap<Value, Value> known;
};

} // namespace

SmallVector<Value> cpu::emitNextPlace(OpBuilder &b, SReadOp read,
                                      const ElementPlaces &places) {
  auto loop = read->getParentOfType<scf::ForOp>();
  if (!loop || places.empty())
    return {};
  NextIteration next(b, read.getLoc(), loop, places);
  SmallVector<Value> place;
  for (Value subscript : read.getSubscripts()) {
    if (!subscript.getType().isIndex())
      return {};
    place.push_back(next.find(subscript));
    if (!place.back())
      return {};
  }
  return next.readsTable ? place : SmallVector<Value>();
}
