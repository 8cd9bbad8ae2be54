//===- PitKernelOps.cpp - Ops between host and kernels --------------------===//

#include "Verify.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;

LogicalResult LaunchOp::verify() {
  bool onTensors = !getResults().empty();
  for (auto [i, type] : llvm::enumerate(getOuts().getTypes())) {
    if (isa<RankedTensorType>(type) != onTensors)
      return violates(*this, "launch 1")
             << "output " << i << " is " << type
             << "; outputs are all tensors, with one result "
                "each, or all memrefs without results";
  }
  if (onTensors && getResults().size() != getOuts().size())
    return violates(*this, "launch 2")
           << "has " << getOuts().size() << " outputs but "
           << getResults().size() << " results";
  for (auto [i, result] : llvm::enumerate(getResults()))
    if (result.getType() != getOuts()[i].getType())
      return violates(*this, "launch 3")
             << "result " << i << " is " << result.getType() << " but output "
             << i << " is " << getOuts()[i].getType();
  if (getKernel().getNestedReferences().size() != 1)
    return violates(*this, "launch 4")
           << "kernel " << getKernel()
           << " has to be named as @module::@kernel";
  if (!getChoice())
    return success();
  Type choice = getChoice().getType();
  if (!isa<BitmapType>(choice) && choice.getDialect().getNamespace() != "llvm")
    return violates(*this, "launch 5")
           << "choice is " << choice
           << "; it must be the bitmap of a pit.choose, or an "
              "!llvm.ptr when that is lowered";
  if (onTensors)
    return violates(*this, "launch 6")
           << "has results and a choice; variants write memrefs";
  IntegerAttr variant = getVariantAttr();
  if (!variant || variant.getInt() < 0)
    return violates(*this, "launch 7")
           << "has a choice, and "
           << (variant ? "variant " + std::to_string(variant.getInt())
                       : "no variant")
           << "; variants are numbered from 0";
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &input : getInputsMutable())
    if (isa<MemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input,
                           SideEffects::DefaultResource::get());
  for (OpOperand &out : getOutsMutable()) {
    if (!isa<MemRefType>(out.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &out,
                         SideEffects::DefaultResource::get());
    effects.emplace_back(MemoryEffects::Write::get(), &out,
                         SideEffects::DefaultResource::get());
  }
}

LogicalResult ViewOp::verify() {
  auto src = cast<ShapedType>(getSrc().getType());
  auto tile = cast<VectorType>(getResult().getType());
  if (tile.getRank() != src.getRank() ||
      static_cast<int64_t>(getSubscripts().size()) != src.getRank())
    return violates(*this, "view 1")
           << "has a tile of rank " << tile.getRank() << " and "
           << getSubscripts().size() << " subscripts for a source of rank "
           << src.getRank() << "; all have to be equal";
  for (auto [d, type] : llvm::enumerate(getSubscripts().getTypes())) {
    auto ids = dyn_cast<IdsType>(type);
    if (isa<SparsityIndexType>(type))
      return violates(*this, "view 2")
             << "subscript " << d << " is an index; a view is of one tile";
    if (ids && ids.getSize() != tile.getDimSize(d))
      return violates(*this, "view 3")
             << "subscript " << d << " has " << ids.getSize()
             << " ids, the tile has " << tile.getDimSize(d) << " there";
  }
  return verifyNumber(*this, "pad", getPadAttr(), src.getElementType());
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

/// Are the maps of a mainloop's operands, accumulator and extras of its tile,
/// and do they read no more than the views have?
static LogicalResult verifyMaps(MainloopOp op) {
  auto check = [&](Attribute attr, const Twine &what, ArrayRef<int64_t> tile,
                   Type view) -> LogicalResult {
    AffineMap map = cast<AffineMapAttr>(attr).getValue();
    std::optional<SmallVector<int64_t>> extents = getTileExtents(map, tile);
    if (!extents)
      return violates(op, "mainloop 4")
             << "takes maps of " << tile.size()
             << " dims to sums of them times positive numbers, but the one of "
             << what << " is " << AffineMapAttr::get(map);
    auto shape = cast<VectorType>(view).getShape();
    if (shape.size() != extents->size() ||
        !llvm::all_of(llvm::zip(shape, *extents), [](auto both) {
          return std::get<1>(both) <= std::get<0>(both);
        }))
      return violates(op, "mainloop 5")
             << "reads elements beyond " << view << " of " << what << " by "
             << AffineMapAttr::get(map);
    return success();
  };
  for (unsigned i = 0; i < 2; ++i)
    if (failed(check(op.getMaps()[i], "operand " + Twine(i), op.getTile(),
                     op.getLoaded(i).getType())))
      return failure();
  AffineMap acc = cast<AffineMapAttr>(op.getMaps()[2]).getValue();
  if (acc.getNumDims() != op.getTile().size() || !acc.isProjectedPermutation())
    return violates(op, "mainloop 6")
           << "has an accumulator of some of the tile's " << op.getTile().size()
           << " dims, once each, not " << AffineMapAttr::get(acc);
  SmallVector<int64_t> shape = op.getAccumulatorShape();
  for (auto [i, both] :
       llvm::enumerate(llvm::zip(op.getExtraMaps(), op.getExtras())))
    if (failed(check(std::get<0>(both), "extra " + Twine(i), shape,
                     std::get<1>(both).getType())))
      return failure();
  return success();
}

/// Checks the signature of one of a mainloop's regions.
static LogicalResult verifyRegion(MainloopOp op, StringRef name, Region &region,
                                  TypeRange arguments, TypeRange results) {
  Block &block = region.front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (block.getArgumentTypes() != arguments)
    return violates(op, "mainloop 8")
           << name << " takes " << block.getArgumentTypes() << " instead of "
           << arguments;
  if (!yield || yield.getOperandTypes() != results)
    return violates(op, "mainloop 9")
           << name << " has to end with a pit.yield of " << results;
  return success();
}

/// Checks the region that names a group for each step.
static LogicalResult verifyGroups(MainloopOp op) {
  if (op.getGroups().empty())
    return success();
  if (!op.getIndex() || op.getSteps().empty() || !op.getGroup().empty())
    return violates(op, "mainloop 10")
           << "names groups by its steps, which takes an index, "
              "steps, and no group for all of them";
  Builder builder(op.getContext());
  auto index = cast<SparsityIndexType>(op.getIndex().getType());
  SmallVector<Type> steps(op.getSteps().size(), builder.getIndexType()),
      group(index.getGroupDims().size(), builder.getIndexType());
  return verifyRegion(op, "groups", op.getGroups(), steps, group);
}

LogicalResult MainloopOp::verify() {
  Builder builder(getContext());
  if (getLower().size() != getSteps().size() ||
      getUpper().size() != getSteps().size())
    return violates(*this, "mainloop 1")
           << "has " << getLower().size() << " lower bounds, "
           << getUpper().size() << " upper bounds and " << getSteps().size()
           << " steps";
  if (getMaps().size() != 3)
    return violates(*this, "mainloop 2")
           << "has " << getMaps().size()
           << " maps; it takes one for each of two operands and "
              "one for the accumulator";
  if (getExtraMaps().size() != getExtras().size())
    return violates(*this, "mainloop 3")
           << "has " << getExtraMaps().size() << " maps for "
           << getExtras().size() << " extras";
  auto *loads = getLoad().front().getTerminator();
  auto views = llvm::count_if(loads->getOperands(), [](Value v) {
    return v.getDefiningOp<ViewOp>() != nullptr;
  });
  if (loads->getNumOperands() != 2 || views != 2)
    return violates(*this, "mainloop 7")
           << "load has to yield two views, and yields "
           << loads->getNumOperands() << " values, " << views
           << " of them views";
  if (failed(verifyMaps(*this)))
    return failure();
  Operation *init = getInit().front().getTerminator();
  Operation *finish = getFinish().front().getTerminator();
  if (init->getNumOperands() != 1 || finish->getNumOperands() != 1)
    return violates(*this, "mainloop 11")
           << "init and finish yield one value each, not "
           << init->getNumOperands() << " and " << finish->getNumOperands();

  SmallVector<Type> steps(getSteps().size(), builder.getIndexType());
  if (getIndex())
    steps.append(2, IdsType::get(getContext(), getChunk()));
  SmallVector<Type> elements, finishing;
  for (Type type : getExtras().getTypes())
    elements.push_back(cast<VectorType>(type).getElementType());
  Type accumulator = getAccumulatorType();
  finishing.push_back(accumulator);
  llvm::append_range(finishing, elements);
  auto elementOf = [&](unsigned operand) {
    return cast<VectorType>(loads->getOperand(operand).getType())
        .getElementType();
  };
  if (failed(verifyRegion(*this, "load", getLoad(), steps,
                          loads->getOperandTypes())) ||
      failed(verifyRegion(*this, "compute", getCompute(),
                          {elementOf(0), elementOf(1), accumulator},
                          accumulator)) ||
      failed(verifyRegion(*this, "init", getInit(), elements, accumulator)) ||
      failed(verifyRegion(*this, "finish", getFinish(), finishing,
                          finish->getOperandTypes())) ||
      failed(verifyGroups(*this)))
    return failure();
  if (getTf32())
    for (Type type : {elementOf(0), elementOf(1), accumulator})
      if (!type.isF32())
        return violates(*this, "mainloop 12")
               << "rounds f32 operands of f32 sums to tf32, not " << type;
  auto dest = cast<ShapedType>(getDest().getType());
  if (static_cast<int64_t>(getSubscripts().size()) != dest.getRank())
    return violates(*this, "mainloop 13")
           << "has " << getSubscripts().size()
           << " subscripts for a destination of rank " << dest.getRank();
  Type result = getResult() ? getResult().getType() : Type();
  Type expected = isa<RankedTensorType>(dest) ? Type(dest) : Type();
  if (result != expected)
    return violates(*this, "mainloop 14")
           << "writes into " << dest << " and has " << (result ? "a" : "no")
           << " result; a tensor comes back as a result of its "
              "type, a memref does not";
  return success();
}

ViewOp MainloopOp::getLoaded(unsigned operand) {
  return getLoad()
      .front()
      .getTerminator()
      ->getOperand(operand)
      .getDefiningOp<ViewOp>();
}

SmallVector<int64_t> MainloopOp::getAccumulatorShape() {
  AffineMap map = cast<AffineMapAttr>(getMaps()[2]).getValue();
  SmallVector<int64_t> shape;
  for (AffineExpr result : map.getResults())
    shape.push_back(getTile()[cast<AffineDimExpr>(result).getPosition()]);
  return shape;
}

/// The op hands values to its regions, and takes what they yield, by itself:
/// none goes along an edge. Which region runs next depends on the steps, so all
/// may.
void MainloopOp::getSuccessorRegions(
    RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &regions) {
  for (Region &region : getOperation()->getRegions())
    if (!region.empty())
      regions.emplace_back(&region);
  regions.emplace_back(getOperation(),
                       getOperation()->getResults().take_front(0));
}

void MainloopOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // Views say themselves what they read.
  if (!isa<MemRefType>(getDest().getType()))
    return;
  if (getCombine())
    effects.emplace_back(MemoryEffects::Read::get(), &getDestMutable(),
                         SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getDestMutable(),
                       SideEffects::DefaultResource::get());
}
