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

namespace {
enum class MapFault { None, NoSums, TooFar };
} // namespace

/// What is wrong with the map of `what`, which goes from the dims of `tile` to
/// elements of a tile of type `view`; `why` says it.
static MapFault checkMap(AffineMap map, const Twine &what,
                         ArrayRef<int64_t> tile, Type view, std::string &why) {
  llvm::raw_string_ostream message(why);
  std::optional<SmallVector<int64_t>> extents = getTileExtents(map, tile);
  if (!extents) {
    message << "takes maps of " << tile.size()
            << " dims to sums of them times positive numbers, but the one of "
            << what << " is " << AffineMapAttr::get(map);
    return MapFault::NoSums;
  }
  auto shape = cast<VectorType>(view).getShape();
  if (shape.size() == extents->size() &&
      llvm::all_of(llvm::zip(shape, *extents), [](auto both) {
        return std::get<1>(both) <= std::get<0>(both);
      }))
    return MapFault::None;
  message << "reads elements beyond '" << view << "' of " << what << " by "
          << AffineMapAttr::get(map);
  return MapFault::TooFar;
}

static Type elementOf(Value tile) {
  return cast<VectorType>(tile.getType()).getElementType();
}

LogicalResult ContractOp::verify() {
  if (getMaps().size() != getNumOperands())
    return violates(*this, "contract 1")
           << "has " << getMaps().size()
           << " maps; it takes one for each of two operands, "
              "one for the accumulator, and one for each of "
           << getScales().size() << " scales";
  std::string why;
  for (unsigned i = 0; i < getNumOperands(); ++i) {
    if (i == 2)
      continue; // the accumulator
    std::string what = i < 2 ? "operand " + std::to_string(i)
                             : "scale " + std::to_string(i - 3);
    switch (
        checkMap(getMap(i), what, getTile(), getOperand(i).getType(), why)) {
    case MapFault::None:
      break;
    case MapFault::NoSums:
      return violates(*this, "contract 2") << why;
    case MapFault::TooFar:
      return violates(*this, "contract 3") << why;
    }
  }
  AffineMap acc = getMap(2);
  if (acc.getNumDims() != getTile().size() || !acc.isProjectedPermutation())
    return violates(*this, "contract 4")
           << "has an accumulator of some of the tile's " << getTile().size()
           << " dims, once each, not " << AffineMapAttr::get(acc);
  SmallVector<int64_t> shape = acc.compose(getTile());
  if (cast<VectorType>(getAcc().getType()).getShape() != ArrayRef(shape))
    return violates(*this, "contract 4")
           << "adds to " << getAcc().getType() << "; by "
           << AffineMapAttr::get(acc) << " of its tile it has to be a "
           << VectorType::get(shape, elementOf(getAcc()));
  for (unsigned i = 0; i < getScales().size(); ++i)
    for (auto [d, extent] : llvm::enumerate(getTile()))
      if (extent != 1 && getMap(3 + i).isFunctionOfDim(d) &&
          !acc.isFunctionOfDim(d))
        return violates(*this, "contract 7")
               << "sums up over dim " << d << " of its tile, along which scale "
               << i << " changes by " << AffineMapAttr::get(getMap(3 + i));
  if (getTf32())
    for (Value tile : getOperands())
      if (!elementOf(tile).isF32())
        return violates(*this, "contract 6")
               << "rounds f32 operands of f32 sums to tf32, not "
               << elementOf(tile);
  return success();
}

LogicalResult ContractOp::verifyRegions() {
  Block &block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  SmallVector<Type> elements = llvm::map_to_vector(getOperands(), elementOf);
  Type sum = elementOf(getAcc());
  if (block.getArgumentTypes() != TypeRange(elements) || !yield ||
      yield.getOperandTypes() != TypeRange(sum))
    return violates(*this, "contract 5")
           << "has a region that takes " << block.getArgumentTypes()
           << "; it has to take " << TypeRange(elements) << " and to yield "
           << sum;
  return success();
}

/// Checks what a step computes.
static LogicalResult verifyCompute(MainloopOp op) {
  Block &block = op.getCompute().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  unsigned loaded = op.getNumLoaded();
  if (!yield || yield.getNumOperands() == 0 ||
      !llvm::all_equal(yield.getOperandTypes()))
    return violates(op, "mainloop 6")
           << "compute has to yield one accumulator or more, all of one type";
  SmallVector<Type> arguments;
  for (unsigned i = 0; i < loaded; ++i)
    arguments.push_back(op.getLoaded(i).getType());
  llvm::append_range(arguments, yield.getOperandTypes());
  if (block.getArgumentTypes() != TypeRange(arguments))
    return violates(op, "mainloop 8")
           << "compute takes " << block.getArgumentTypes() << " instead of "
           << arguments;
  auto isLoaded = [&](Value tile) {
    auto argument = dyn_cast<BlockArgument>(tile);
    return argument && argument.getOwner() == &block &&
           argument.getArgNumber() < loaded;
  };
  for (auto [i, value] : llvm::enumerate(yield.getOperands())) {
    auto contract = value.getDefiningOp<ContractOp>();
    if (!contract || contract.getAcc() != block.getArgument(loaded + i) ||
        !isLoaded(contract.getLhs()) || !isLoaded(contract.getRhs()) ||
        !llvm::all_of(contract.getScales(), isLoaded))
      return violates(op, "mainloop 7")
             << "compute has to yield, as value " << i
             << ", a pit.contract that adds two of the loaded tiles to "
                "accumulator "
             << i;
    ContractOp first = op.getContraction();
    if (contract.getProperties() != first.getProperties() ||
        !OperationEquivalence::isRegionEquivalentTo(
            &contract.getBody(), &first.getBody(),
            OperationEquivalence::IgnoreLocations))
      return violates(op, "mainloop 7")
             << "compute has contractions of unequal tiles, maps or regions";
  }
  if (block.getOperations().size() != yield.getNumOperands() + 1)
    return violates(op, "mainloop 7")
           << "compute has " << block.getOperations().size() - 1 << " ops for "
           << yield.getNumOperands()
           << " accumulators; there is a pit.contract for each, and nothing "
              "else";
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

/// Checks the regions of scalar code.
static LogicalResult verifyScalars(MainloopOp op) {
  SmallVector<Type> elements, accumulators;
  for (Type type : op.getExtras().getTypes())
    elements.push_back(cast<VectorType>(type).getElementType());
  for (unsigned i = 0; i < op.getNumAccumulators(); ++i)
    accumulators.push_back(elementOf(op.getContraction(i).getResult()));
  Operation *init = op.getInit().front().getTerminator();
  Operation *finish = op.getFinish().front().getTerminator();
  if (init->getNumOperands() != accumulators.size() ||
      finish->getNumOperands() != 1)
    return violates(op, "mainloop 11")
           << "init has to yield a value for each of " << accumulators.size()
           << " accumulators and finish one; they yield "
           << init->getNumOperands() << " and " << finish->getNumOperands();
  SmallVector<Type> finishing(accumulators);
  llvm::append_range(finishing, elements);
  if (failed(verifyRegion(op, "init", op.getInit(), elements, accumulators)))
    return failure();
  return verifyRegion(op, "finish", op.getFinish(), finishing,
                      finish->getOperandTypes());
}

/// Checks what a look at the tile takes.
static LogicalResult verifyLook(MainloopOp op) {
  auto dest = cast<ShapedType>(op.getDest().getType());
  if (!op.getBits())
    return success();
  int64_t columns = op.getAccumulatorShape().back();
  if (!isa<MemRefType>(dest) || op.getCombine() || columns % kWordBits != 0)
    return violates(op, "mainloop 14")
           << "looks at " << (op.getCombine() ? "sums" : "tiles") << " of "
           << columns << " columns in " << dest
           << "; it looks at tiles of memrefs, which are final, and have a "
              "multiple of "
           << kWordBits << " columns";
  if (failed(verifyElement(op, dest.getElementType())) ||
      failed(verifyNumber(op, "background", op.getBackgroundAttr(),
                          dest.getElementType())))
    return failure();
  return verifyBits(op, cast<ShapedType>(op.getBits().getType()), dest);
}

LogicalResult MainloopOp::verify() {
  if (getLower().size() != getSteps().size() ||
      getUpper().size() != getSteps().size())
    return violates(*this, "mainloop 1")
           << "has " << getLower().size() << " lower bounds, "
           << getUpper().size() << " upper bounds and " << getSteps().size()
           << " steps";
  if (getExtraMaps().size() != getExtras().size())
    return violates(*this, "mainloop 2")
           << "has " << getExtraMaps().size() << " maps for "
           << getExtras().size() << " extras";
  auto dest = cast<ShapedType>(getDest().getType());
  if (static_cast<int64_t>(getSubscripts().size()) != dest.getRank())
    return violates(*this, "mainloop 12")
           << "has " << getSubscripts().size()
           << " subscripts for a destination of rank " << dest.getRank();
  Type result = getResult() ? getResult().getType() : Type();
  Type expected = isa<RankedTensorType>(dest) ? Type(dest) : Type();
  if (result != expected)
    return violates(*this, "mainloop 13")
           << "writes into " << dest << " and has " << (result ? "a" : "no")
           << " result; a tensor comes back as a result of its "
              "type, a memref does not";
  return success();
}

LogicalResult MainloopOp::verifyRegions() {
  auto *loads = getLoad().front().getTerminator();
  auto views = llvm::count_if(loads->getOperands(), [](Value v) {
    return v.getDefiningOp<ViewOp>() != nullptr;
  });
  if (views == 0 || views != loads->getNumOperands())
    return violates(*this, "mainloop 5")
           << "load has to yield views, and yields " << loads->getNumOperands()
           << " values, " << views << " of them views";
  SmallVector<Type> steps(getSteps().size(), IndexType::get(getContext()));
  if (getIndex())
    steps.append(2, IdsType::get(getContext(), getChunk()));
  if (failed(verifyRegion(*this, "load", getLoad(), steps,
                          loads->getOperandTypes())) ||
      failed(verifyCompute(*this)))
    return failure();
  std::string why;
  for (auto [i, extra] : llvm::enumerate(getExtras()))
    switch (checkMap(cast<AffineMapAttr>(getExtraMaps()[i]).getValue(),
                     "extra " + Twine(i), getAccumulatorShape(),
                     extra.getType(), why)) {
    case MapFault::None:
      break;
    case MapFault::NoSums:
      return violates(*this, "mainloop 3") << why;
    case MapFault::TooFar:
      return violates(*this, "mainloop 4") << why;
    }
  if (failed(verifyScalars(*this)) || failed(verifyLook(*this)))
    return failure();
  return verifyGroups(*this);
}

unsigned MainloopOp::getNumLoaded() {
  return getLoad().front().getTerminator()->getNumOperands();
}

ViewOp MainloopOp::getLoaded(unsigned view) {
  return getLoad()
      .front()
      .getTerminator()
      ->getOperand(view)
      .getDefiningOp<ViewOp>();
}

unsigned MainloopOp::getNumAccumulators() {
  return getCompute().front().getTerminator()->getNumOperands();
}

ContractOp MainloopOp::getContraction(unsigned accumulator) {
  return getCompute()
      .front()
      .getTerminator()
      ->getOperand(accumulator)
      .getDefiningOp<ContractOp>();
}

unsigned MainloopOp::getViewOf(unsigned accumulator, unsigned operand) {
  return cast<BlockArgument>(getContraction(accumulator)->getOperand(operand))
      .getArgNumber();
}

ViewOp MainloopOp::getOperandView(unsigned operand, unsigned accumulator) {
  return getLoaded(getViewOf(accumulator, operand));
}

ArrayRef<int64_t> MainloopOp::getTile() { return getContraction().getTile(); }

AffineMap MainloopOp::getMap(unsigned number) {
  return getContraction().getMap(number);
}

unsigned MainloopOp::getNumScales() {
  return getContraction().getScales().size();
}

bool MainloopOp::getTf32() { return getContraction().getTf32(); }

ArrayRef<int64_t> MainloopOp::getAccumulatorShape() {
  return cast<VectorType>(getContraction().getResult().getType()).getShape();
}

Type MainloopOp::getAccumulatorType() {
  return elementOf(getContraction().getResult());
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
  for (OpOperand &bits : getBitsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &bits,
                         SideEffects::DefaultResource::get());
}
