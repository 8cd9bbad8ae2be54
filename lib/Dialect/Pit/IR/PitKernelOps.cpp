//===- PitKernelOps.cpp - Ops of kernels ----------------------------------===//

#include "Verify.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;

namespace {
/// The numbers of an op's constraints on its subscripts.
struct PlaceConstraints {
  StringRef ranks, index, ids;
};
} // namespace

/// Verifies the subscripts of a tile in `memory`, a source or a destination of
/// `type`, of a view or a store.
static LogicalResult verifyPlace(Operation *op, VectorType tile,
                                 StringRef memory, ShapedType type,
                                 ValueRange subscripts, StringRef what,
                                 const PlaceConstraints &constraints) {
  if (tile.getRank() != type.getRank() ||
      static_cast<int64_t>(subscripts.size()) != type.getRank())
    return violates(op, constraints.ranks)
           << "has a tile of rank " << tile.getRank() << " and "
           << subscripts.size() << " subscripts for a " << memory << " of rank "
           << type.getRank() << "; all have to be equal";
  for (auto [d, type] : llvm::enumerate(subscripts.getTypes())) {
    auto ids = dyn_cast<IdsType>(type);
    if (isa<SparsityIndexType>(type))
      return violates(op, constraints.index)
             << "subscript " << d << " is an index; a " << what
             << " is of one tile";
    if (ids && ids.getSize() != tile.getDimSize(d))
      return violates(op, constraints.ids)
             << "subscript " << d << " has " << ids.getSize()
             << " ids, the tile has " << tile.getDimSize(d) << " there";
  }
  return success();
}

LogicalResult ViewOp::verify() {
  auto src = cast<ShapedType>(getSrc().getType());
  if (failed(verifyPlace(*this, cast<VectorType>(getResult().getType()),
                         "source", src, getSubscripts(), "view",
                         {"view 1", "view 2", "view 3"})))
    return failure();
  return verifyNumber(*this, "pad", getPadAttr(), src.getElementType());
}

LogicalResult StoreOp::verify() {
  auto mainloop = cast<MainloopOp>((*this)->getParentOp());
  bool isOfStep = (*this)->getParentRegion() == &mainloop.getCompute();
  if (isOfStep != getCombine().has_value())
    return violates(*this, "store 4")
           << (isOfStep ? "stands in 'compute' without 'combine'; all steps "
                          "would write there"
                        : "has 'combine' and is a further result; 'compute' "
                          "takes it");
  return verifyPlace(*this, cast<VectorType>(getTile().getType()),
                     "destination", getDest().getType(), getSubscripts(),
                     "store", {"store 1", "store 2", "store 3"});
}

void StoreOp::getEffects(Effects &effects) {
  if (getCombine())
    addEffect<MemoryEffects::Read>(effects, getDestMutable());
  addEffect<MemoryEffects::Write>(effects, getDestMutable());
}

void ViewOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Read>(effects, getSrcMutable());
}

/// The largest value of `expr` over a tile whose last point is `last`, the
/// smallest being 0 or more at its first.
static std::optional<int64_t> lastOf(AffineExpr expr, ArrayRef<int64_t> last) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() < 0 ? std::nullopt
                                   : std::optional(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return last[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || (expr.getKind() != AffineExprKind::Add &&
                  (expr.getKind() != AffineExprKind::Mul ||
                   !isa<AffineConstantExpr>(binary.getRHS()))))
    return std::nullopt;
  std::optional<int64_t> lhs = lastOf(binary.getLHS(), last),
                         rhs = lastOf(binary.getRHS(), last);
  int64_t result;
  if (!lhs || !rhs ||
      (expr.getKind() == AffineExprKind::Add
           ? llvm::AddOverflow(*lhs, *rhs, result)
           : llvm::MulOverflow(*lhs, *rhs, result)))
    return std::nullopt;
  return result;
}

AffineExpr mlir::pit::toFragmentOrder(AffineExpr place) {
  return place.floorDiv(16) * 16 + (place % 8).floorDiv(2) * 4 +
         (place.floorDiv(8) % 2) * 2 + place % 2;
}

AffineExpr mlir::pit::fromFragmentOrder(AffineExpr place) {
  return place.floorDiv(16) * 16 + (place.floorDiv(2) % 2) * 8 +
         (place % 16).floorDiv(4) * 2 + place % 2;
}

std::optional<unsigned> mlir::pit::matchFragmentOrder(AffineExpr expr) {
  std::optional<unsigned> found;
  expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      found = dim.getPosition();
  });
  bool matches =
      found &&
      expr == toFragmentOrder(getAffineDimExpr(*found, expr.getContext()));
  return matches ? found : std::nullopt;
}

std::optional<SmallVector<int64_t>>
mlir::pit::getTileExtents(AffineMap map, ArrayRef<int64_t> tile) {
  SmallVector<int64_t> last, extents;
  for (int64_t extent : tile)
    last.push_back(extent - 1);
  if (map.getNumSymbols() || map.getNumDims() != tile.size())
    return std::nullopt;
  for (AffineExpr result : map.getResults()) {
    if (std::optional<unsigned> dim = matchFragmentOrder(result);
        dim && tile[*dim] % kFragmentOrder == 0) {
      extents.push_back(tile[*dim]);
      continue;
    }
    std::optional<int64_t> most = lastOf(result, last);
    if (!most || *most == std::numeric_limits<int64_t>::max())
      return std::nullopt;
    extents.push_back(*most + 1);
  }
  return extents;
}

bool mlir::pit::isMonotone(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return isMonotone(binary.getLHS()) && isMonotone(binary.getRHS());
  case AffineExprKind::Mul:
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return factor && factor.getValue() > 0 && isMonotone(binary.getLHS());
  default:
    return false;
  }
}
