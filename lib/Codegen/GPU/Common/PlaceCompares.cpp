//===- PlaceCompares.cpp - Comparisons of rows and columns ----------------===//

#include "PlaceCompares.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Adds `value`, of a region, or subtracts it; fails if it is something else
/// than a sum of places.
static bool addPlaces(Region *region, Value value, bool adds,
                      function_ref<std::optional<Place>(Value)> placeOf,
                      PlaceCompare &sum) {
  if (std::optional<Place> place = placeOf(value)) {
    sum.rows += adds ? place->first : -place->first;
    sum.cols += adds ? place->second : -place->second;
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (value.getParentRegion() != region ||
      isa_and_nonnull<arith::ConstantOp>(op)) {
    sum.same.emplace_back(value, adds);
    return true;
  }
  bool isSum = isa_and_nonnull<arith::AddIOp>(op);
  if (!isSum && !isa_and_nonnull<arith::SubIOp>(op))
    return false;
  return addPlaces(region, op->getOperand(0), adds, placeOf, sum) &&
         addPlaces(region, op->getOperand(1), isSum ? adds : !adds, placeOf,
                   sum);
}

std::optional<PlaceCompare>
cuda::findPlaceCompare(arith::CmpIOp compare,
                       function_ref<std::optional<Place>(Value)> placeOf) {
  Region *region = compare->getParentRegion();
  PlaceCompare sum;
  if (!compare.getLhs().getType().isIndex() ||
      compare.getPredicate() > arith::CmpIPredicate::sge ||
      !addPlaces(region, compare.getLhs(), true, placeOf, sum) ||
      !addPlaces(region, compare.getRhs(), false, placeOf, sum))
    return std::nullopt;
  return sum;
}

Value PlaceCompare::limit(Emitter &e, function_ref<Value(Value)> lookup) const {
  Value limit = e.index(0);
  for (auto [value, adds] : same) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    Value here = constant ? e.b.clone(*constant)->getResult(0) : lookup(value);
    limit = adds ? e.sub(limit, here) : e.add(limit, here);
  }
  // In 32 bits: what is so far away decides as what is infinitely far away
  // does.
  return e.toI32(e.max(e.min(limit, e.index(1 << 30)), e.index(-(1 << 30))));
}
