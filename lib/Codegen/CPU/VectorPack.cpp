//===- VectorPack.cpp - Packs inputs of contractions ----------------------===//

#include "VectorPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

// Threads have small stacks: the limit for one buffer.
static constexpr int64_t kMaxBytes = 320 * 1024;
// A copy costs a few cycles for each vector, as a use of what is not packed
// does.
static constexpr int64_t kMinUses = 8;

// The extension that is the only use of an input in the body, if there is one.
static Operation *getExtension(linalg::LinalgOp op, OpOperand &input) {
  BlockArgument arg = op.getMatchingBlockArgument(&input);
  if (!arg.hasOneUse())
    return nullptr;
  Operation *user = *arg.user_begin();
  return user->getBlock() == op.getBlock() &&
                 isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(user)
             ? user
             : nullptr;
}

bool cpu::isWorthPacking(linalg::LinalgOp op, OpOperand &input, unsigned lanes,
                         ArrayRef<int64_t> bounds) {
  auto type = dyn_cast<MemRefType>(input.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&input);
  if (!type || !map.isProjectedPermutation() ||
      llvm::any_of(bounds, ShapedType::isDynamic))
    return false;
  Operation *extension = getExtension(op, input);
  if (!extension && getLaneAccess(op, input, lanes) != LaneAccess::Strided)
    return false;
  Type element =
      extension ? extension->getResult(0).getType() : type.getElementType();
  if (!element.isIntOrFloat())
    return false;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8, uses = 1;
  for (auto [loop, bound] : llvm::enumerate(bounds))
    (map.isFunctionOfDim(loop) ? bytes : uses) *= bound;
  return bytes <= kMaxBytes && uses >= kMinUses;
}

namespace {

/// A contraction whose inputs are replaced by packed ones.
struct Packing {
  Packing(RewriterBase &rewriter, linalg::LinalgOp op, unsigned lanes,
          ArrayRef<int64_t> bounds)
      : rewriter(rewriter), op(op), lanes(lanes), bounds(bounds),
        maps(op.getIndexingMapsArray()) {
    for (OpOperand *input : op.getDpsInputOperands())
      inputs.push_back(input->get());
  }

  // Emits the copy of an input; lanes run along the last dim of the buffer.
  void pack(OpOperand &input) {
    unsigned number = input.getOperandNumber();
    AffineMap map = maps[number];
    SmallVector<unsigned> loops;
    for (AffineExpr expr : map.getResults())
      loops.push_back(cast<AffineDimExpr>(expr).getPosition());
    SmallVector<unsigned> order(loops);
    if (map.isFunctionOfDim(lanes)) {
      llvm::erase(order, lanes);
      order.push_back(lanes);
    }
    Operation *extension = getExtension(op, input);
    Value buffer = createBuffer(input.get(), loops, order,
                                extension ? extension->getResult(0).getType()
                                          : getElementTypeOrSelf(input.get()));

    // The copy's loops are the buffer's dims.
    SmallVector<AffineExpr> exprs;
    for (unsigned loop : loops)
      exprs.push_back(
          rewriter.getAffineDimExpr(llvm::find(order, loop) - order.begin()));
    SmallVector<AffineMap> copyMaps{
        AffineMap::get(order.size(), 0, exprs, rewriter.getContext()),
        rewriter.getMultiDimIdentityMap(order.size())};
    SmallVector<utils::IteratorType> iterators(order.size(),
                                               utils::IteratorType::parallel);
    copies.push_back(linalg::GenericOp::create(
        rewriter, op.getLoc(), input.get(), buffer, copyMaps, iterators,
        [&](OpBuilder &b, Location loc, ValueRange args) {
          IRMapping mapping;
          if (extension)
            mapping.map(extension->getOperand(0), args[0]);
          linalg::YieldOp::create(
              b, loc,
              extension ? b.clone(*extension, mapping)->getResult(0) : args[0]);
        }));
    inputs[number] = buffer;
    SmallVector<AffineExpr> packed;
    for (unsigned loop : order)
      packed.push_back(rewriter.getAffineDimExpr(loop));
    maps[number] =
        AffineMap::get(map.getNumDims(), 0, packed, rewriter.getContext());
  }

  // A buffer of the sizes of `input`, or of the loops' bounds, which are at
  // least as large, cut down to sizes that are known at run time only.
  Value createBuffer(Value input, ArrayRef<unsigned> loops,
                     ArrayRef<unsigned> order, Type element) {
    Location loc = op.getLoc();
    SmallVector<int64_t> shape;
    SmallVector<OpFoldResult> sizes,
        all = memref::getMixedSizes(rewriter, loc, input);
    for (unsigned loop : order) {
      sizes.push_back(all[llvm::find(loops, loop) - loops.begin()]);
      shape.push_back(getConstantIntValue(sizes.back()).value_or(bounds[loop]));
      assert(shape.back() <= bounds[loop] && "tiles are larger than bounds");
    }
    Value buffer =
        memref::AllocaOp::create(rewriter, loc, MemRefType::get(shape, element),
                                 rewriter.getI64IntegerAttr(64));
    if (cast<MemRefType>(input.getType()).hasStaticShape())
      return buffer;
    SmallVector<OpFoldResult> offsets(shape.size(), rewriter.getIndexAttr(0)),
        strides(shape.size(), rewriter.getIndexAttr(1));
    return memref::SubViewOp::create(rewriter, loc, buffer, offsets, sizes,
                                     strides);
  }

  // The contraction, without the extensions that the copies made.
  linalg::GenericOp createContraction() {
    auto generic = linalg::GenericOp::create(rewriter, op.getLoc(), inputs,
                                             op.getDpsInits(), maps,
                                             op.getIteratorTypesArray());
    rewriter.cloneRegionBefore(op->getRegion(0), generic.getRegion(),
                               generic.getRegion().end());
    for (auto [number, input] : llvm::enumerate(inputs)) {
      BlockArgument arg = generic.getBody()->getArgument(number);
      Type element = getElementTypeOrSelf(input);
      if (arg.getType() == element)
        continue;
      Operation *extension = *arg.user_begin();
      arg.setType(element);
      rewriter.replaceOp(extension, arg);
    }
    return generic;
  }

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  unsigned lanes;
  ArrayRef<int64_t> bounds;
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  SmallVector<linalg::LinalgOp> copies;
};

} // namespace

SmallVector<linalg::LinalgOp>
cpu::packInputs(RewriterBase &rewriter, linalg::LinalgOp op, unsigned lanes,
                ArrayRef<int64_t> bounds, ArrayRef<OpOperand *> inputs) {
  // The buffers' memory is given back right after.
  auto scope =
      memref::AllocaScopeOp::create(rewriter, op.getLoc(), TypeRange());
  rewriter.createBlock(&scope.getBodyRegion());
  Packing packing(rewriter, op, lanes, bounds);
  for (OpOperand *input : inputs)
    packing.pack(*input);
  SmallVector<linalg::LinalgOp> ops = packing.copies;
  ops.push_back(packing.createContraction());
  memref::AllocaScopeReturnOp::create(rewriter, op.getLoc());
  rewriter.eraseOp(op);
  return ops;
}

SmallVector<linalg::LinalgOp> cpu::packInputs(RewriterBase &rewriter,
                                              linalg::LinalgOp op) {
  std::optional<unsigned> lanes = findParallelLanes(op);
  if (op.getNumReductionLoops() == 0 || !lanes)
    return {op};
  SmallVector<int64_t> bounds = getKnownExtents(op);
  SmallVector<OpOperand *> worthy;
  for (OpOperand *input : op.getDpsInputOperands())
    if (isWorthPacking(op, *input, *lanes, bounds))
      worthy.push_back(input);
  if (worthy.empty())
    return {op};
  return packInputs(rewriter, op, *lanes, bounds, worthy);
}
