//===- Loops.cpp - Which loops could be one function? ---------------------===//

#include "Loops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;

static bool isOutside(Value value, Operation *loop) {
  return !loop->isAncestor(value.getParentRegion()->getParentOp());
}

bool pit::isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op);
}

/// The static sizes that are an op's own.
static SmallVector<StaticSize> getSizes(Operation *op) {
  SmallVector<StaticSize> sizes;
  IntegerAttr value;
  if (op->getNumResults() == 1 && op->getResult(0).getType().isIndex() &&
      matchPattern(op, m_Constant(&value)))
    return {{op, 0, value.getInt()}};
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    for (ArrayRef<int64_t> part :
         {view.getStaticOffsets(), view.getStaticSizes(),
          view.getStaticStrides()})
      for (int64_t size : part)
        sizes.push_back({op, unsigned(sizes.size()), size});
  return sizes;
}

Loop pit::describeLoop(Operation *op) {
  Loop loop = {op, {}, {}, 0};
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    ++loop.ops;
    for (OpOperand &operand : inner->getOpOperands())
      if (isOutside(operand.get(), op))
        loop.outside.push_back(&operand);
    llvm::append_range(loop.sizes, getSizes(inner));
  });
  return loop;
}

size_t pit::hashLoop(const Loop &loop) {
  llvm::hash_code hash = 0;
  loop.op->walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), op->getRawDictionaryAttrs(),
                              op->getNumOperands(), op->getNumResults(),
                              getSizes(op).empty() ? op->hashProperties()
                                                   : llvm::hash_code(0));
  });
  return hash;
}

Type pit::mergeTypes(Type a, Type b) {
  if (a == b)
    return a;
  auto lhs = dyn_cast<MemRefType>(a), rhs = dyn_cast<MemRefType>(b);
  if (!lhs || !rhs || lhs.getRank() != rhs.getRank() ||
      lhs.getElementType() != rhs.getElementType() ||
      lhs.getMemorySpace() != rhs.getMemorySpace())
    return {};
  auto merge = [](int64_t x, int64_t y) {
    return x == y ? x : ShapedType::kDynamic;
  };
  auto shape = llvm::map_to_vector(
      llvm::zip_equal(lhs.getShape(), rhs.getShape()),
      [&](auto pair) { return merge(std::get<0>(pair), std::get<1>(pair)); });
  MemRefLayoutAttrInterface layout;
  if (!lhs.getLayout().isIdentity() || !rhs.getLayout().isIdentity()) {
    SmallVector<int64_t> strides, others;
    int64_t offset, other;
    if (failed(lhs.getStridesAndOffset(strides, offset)) ||
        failed(rhs.getStridesAndOffset(others, other)))
      return {};
    for (auto [stride, another] : llvm::zip_equal(strides, others))
      stride = merge(stride, another);
    layout =
        StridedLayoutAttr::get(a.getContext(), merge(offset, other), strides);
  }
  return MemRefType::get(shape, lhs.getElementType(), layout,
                         lhs.getMemorySpace());
}

/// Is an op as valid if an operand is a memref of other sizes, and is the type
/// of its results known then? Calls and yields state types elsewhere, which are
/// compared as well.
static bool takesAnySizes(Operation *op) {
  return isa<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp,
             memref::ExtractStridedMetadataOp>(op) ||
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
}

/// Makes a view anew whose source may have another type than before; `values`
/// stand for static sizes where there is one.
static void remakeView(memref::SubViewOp view, ArrayRef<Value> values,
                       const llvm::SmallBitVector &dropped) {
  SmallVector<OpFoldResult> mixed = view.getMixedOffsets();
  llvm::append_range(mixed, view.getMixedSizes());
  llvm::append_range(mixed, view.getMixedStrides());
  for (auto [part, value] : llvm::zip_equal(mixed, values))
    if (value)
      part = value;
  ArrayRef<OpFoldResult> all = mixed;
  size_t rank = all.size() / 3;
  ArrayRef<OpFoldResult> offsets = all.take_front(rank);
  ArrayRef<OpFoldResult> sizes = all.slice(rank, rank);
  ArrayRef<OpFoldResult> strides = all.take_back(rank);
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!dropped.test(dim))
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  MemRefType type = memref::SubViewOp::inferRankReducedResultType(
      shape, view.getSourceType(), offsets, sizes, strides);
  OpBuilder builder(view);
  auto made = memref::SubViewOp::create(
      builder, view.getLoc(), type, view.getSource(), offsets, sizes, strides);
  made->setDiscardableAttrs(view->getDiscardableAttrDictionary());
  view.replaceAllUsesWith(made.getResult());
  view.erase();
}

void pit::replaceParts(const Loop &loop, ArrayRef<Value> outside,
                       ArrayRef<Value> sizes) {
  // Asked while sources have the types that their views are made for.
  SmallVector<llvm::SmallBitVector> dropped;
  for (const StaticSize &size : loop.sizes)
    if (auto view = dyn_cast<memref::SubViewOp>(size.op); view && !size.place)
      dropped.push_back(view.getDroppedDims());
  for (auto [operand, value] : llvm::zip_equal(loop.outside, outside))
    if (value)
      operand->set(value);
  // Sources come before their views.
  const llvm::SmallBitVector *ofView = dropped.begin();
  for (size_t i = 0, count = 0; i < sizes.size(); i += count) {
    Operation *op = loop.sizes[i].op;
    if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      count = 3 * view.getSourceType().getRank();
      remakeView(view, sizes.slice(i, count), *ofView++);
      continue;
    }
    count = 1;
    if (sizes[i])
      op->getResult(0).replaceAllUsesWith(sizes[i]);
  }
}

namespace {

/// Compares two loops, op by op.
class Comparison {
public:
  Comparison(const Loop &a, const Loop &b, bool anySizes)
      : a(a), b(b), anySizes(anySizes) {}

  bool compare(Operation *lhs, Operation *rhs);

private:
  bool compare(Region &lhs, Region &rhs);
  bool compareOperands(Operation *lhs, Operation *rhs);
  bool canTake(Value lhs, Value rhs);

  const Loop &a, &b;
  bool anySizes;
  DenseMap<Value, Value> same; ///< values within the loops
};

} // namespace

/// May `a` take `lhs` from outside where `b` takes `rhs`?
bool Comparison::canTake(Value lhs, Value rhs) {
  if (anySizes && lhs.getType().isIndex())
    return rhs.getType().isIndex();
  if (anySizes ? !mergeTypes(lhs.getType(), rhs.getType())
               : lhs.getType() != rhs.getType())
    return false;
  if (isConstant(lhs) != isConstant(rhs))
    return false;
  return !isConstant(lhs) || OperationEquivalence::isEquivalentTo(
                                 lhs.getDefiningOp(), rhs.getDefiningOp(),
                                 OperationEquivalence::IgnoreLocations);
}

bool Comparison::compareOperands(Operation *lhs, Operation *rhs) {
  for (auto [x, y] : llvm::zip_equal(lhs->getOperands(), rhs->getOperands())) {
    bool outside = isOutside(x, a.op);
    if (outside != isOutside(y, b.op) ||
        (outside ? !canTake(x, y) : same.lookup(x) != y))
      return false;
    if (x.getType() != y.getType() && !takesAnySizes(lhs))
      return false;
  }
  return true;
}

bool Comparison::compare(Region &lhs, Region &rhs) {
  if (lhs.getBlocks().size() != rhs.getBlocks().size())
    return false;
  for (auto [x, y] : llvm::zip_equal(lhs, rhs)) {
    if (x.getArgumentTypes() != y.getArgumentTypes() ||
        x.getOperations().size() != y.getOperations().size())
      return false;
    for (auto [from, to] : llvm::zip_equal(x.getArguments(), y.getArguments()))
      same[from] = to;
    for (auto [from, to] : llvm::zip_equal(x, y))
      if (!compare(&from, &to))
        return false;
  }
  return true;
}

/// Do two ops of one name differ in the values of static sizes alone?
static bool haveSizes(Operation *lhs, Operation *rhs) {
  SmallVector<StaticSize> a = getSizes(lhs), b = getSizes(rhs);
  return !a.empty() &&
         llvm::equal(a, b, [](const StaticSize &x, const StaticSize &y) {
           return ShapedType::isDynamic(x.value) ==
                  ShapedType::isDynamic(y.value);
         });
}

bool Comparison::compare(Operation *lhs, Operation *rhs) {
  // Blocks that name others are none of a loop's.
  if (lhs->getName() != rhs->getName() || lhs->getNumSuccessors() > 0 ||
      rhs->getNumSuccessors() > 0 ||
      lhs->getNumOperands() != rhs->getNumOperands() ||
      lhs->getNumResults() != rhs->getNumResults() ||
      lhs->getNumRegions() != rhs->getNumRegions() ||
      lhs->getRawDictionaryAttrs() != rhs->getRawDictionaryAttrs())
    return false;
  if (!lhs->getName().compareOpProperties(lhs->getPropertiesStorage(),
                                          rhs->getPropertiesStorage()) &&
      !(anySizes && haveSizes(lhs, rhs)))
    return false;
  if (!compareOperands(lhs, rhs))
    return false;
  for (auto [x, y] : llvm::zip_equal(lhs->getResults(), rhs->getResults())) {
    if (x.getType() != y.getType() &&
        !(anySizes && isa<memref::SubViewOp>(lhs) &&
          mergeTypes(x.getType(), y.getType())))
      return false;
    same[x] = y;
  }
  for (auto [x, y] : llvm::zip_equal(lhs->getRegions(), rhs->getRegions()))
    if (!compare(x, y))
      return false;
  return true;
}

bool pit::areEqual(const Loop &a, const Loop &b) {
  return Comparison(a, b, /*anySizes=*/false).compare(a.op, b.op);
}

bool pit::areSimilar(const Loop &a, const Loop &b) {
  return Comparison(a, b, /*anySizes=*/true).compare(a.op, b.op);
}
