//===- PitKernelOps.cpp - Ops of kernels ----------------------------------===//

#include "Verify.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;

namespace {
enum class PlaceFault { None, Ranks, Index, Ids };
} // namespace

/// Refuses wrong subscripts of a tile in `memory`, a source or a destination of
/// `type`, of a view or a store; `why` says what is wrong.
static PlaceFault checkPlace(VectorType tile, StringRef memory, ShapedType type,
                             ValueRange subscripts, StringRef what,
                             std::string &why) {
  llvm::raw_string_ostream message(why);
  if (tile.getRank() != type.getRank() ||
      static_cast<int64_t>(subscripts.size()) != type.getRank()) {
    message << "has a tile of rank " << tile.getRank() << " and "
            << subscripts.size() << " subscripts for a " << memory
            << " of rank " << type.getRank() << "; all have to be equal";
    return PlaceFault::Ranks;
  }
  for (auto [d, type] : llvm::enumerate(subscripts.getTypes())) {
    auto ids = dyn_cast<IdsType>(type);
    if (isa<SparsityIndexType>(type)) {
      message << "subscript " << d << " is an index; a " << what
              << " is of one tile";
      return PlaceFault::Index;
    }
    if (ids && ids.getSize() != tile.getDimSize(d)) {
      message << "subscript " << d << " has " << ids.getSize()
              << " ids, the tile has " << tile.getDimSize(d) << " there";
      return PlaceFault::Ids;
    }
  }
  return PlaceFault::None;
}

LogicalResult ViewOp::verify() {
  auto src = cast<ShapedType>(getSrc().getType());
  std::string why;
  switch (checkPlace(cast<VectorType>(getResult().getType()), "source", src,
                     getSubscripts(), "view", why)) {
  case PlaceFault::None:
    return verifyNumber(*this, "pad", getPadAttr(), src.getElementType());
  case PlaceFault::Ranks:
    return violates(*this, "view 1") << why;
  case PlaceFault::Index:
    return violates(*this, "view 2") << why;
  case PlaceFault::Ids:
    return violates(*this, "view 3") << why;
  }
  llvm_unreachable("unknown fault");
}

LogicalResult StoreOp::verify() {
  std::string why;
  switch (checkPlace(cast<VectorType>(getTile().getType()), "destination",
                     getDest().getType(), getSubscripts(), "store", why)) {
  case PlaceFault::None:
    return success();
  case PlaceFault::Ranks:
    return violates(*this, "store 1") << why;
  case PlaceFault::Index:
    return violates(*this, "store 2") << why;
  case PlaceFault::Ids:
    return violates(*this, "store 3") << why;
  }
  llvm_unreachable("unknown fault");
}

void StoreOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getDestMutable(),
                       SideEffects::DefaultResource::get());
}

void ViewOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isa<MemRefType>(getSrc().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getSrcMutable(),
                         SideEffects::DefaultResource::get());
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

std::optional<SmallVector<int64_t>>
mlir::pit::getTileExtents(AffineMap map, ArrayRef<int64_t> tile) {
  SmallVector<int64_t> last, extents;
  for (int64_t extent : tile)
    last.push_back(extent - 1);
  if (map.getNumSymbols() || map.getNumDims() != tile.size())
    return std::nullopt;
  for (AffineExpr result : map.getResults()) {
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
