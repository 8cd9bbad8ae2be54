//===- FuseEpilogues.cpp - Element-wise ops move into tiles ---------------===//
//
// An element-wise op on the result of a pit.forall is computed on each tile
// before it is written. What the loop does not write is the loop's init; there
// the op has to make a constant of it, or another operand, which the new loop
// starts from. If the init is a new tensor, nothing is promised there, neither
// before nor after.
//
// A tile that is not final must not be changed: with atomic writes, and where
// groups one after another add to what they read from the output, a tile is one
// of several summands.
//
//===----------------------------------------------------------------------===//

#include "pit/Analysis/Padding.h"
#include "pit/Analysis/PitAxis.h"
#include "pit/Analysis/Skipping.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITFUSEEPILOGUES
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// The only SWrite of a loop with one result, if what it writes is all that the
/// result is made of: neither read again nor combined.
static SWriteOp findWrite(ForallOp loop) {
  if (loop.getNumResults() != 1 || loop.getConflicts() != Conflicts::None)
    return {};
  Value arg = loop.getRegionIterArgs().front();
  Value next = loop.getYield().getOperand(0);
  while (true) {
    if (!arg.hasOneUse() || !next.hasOneUse())
      return {};
    if (auto write = next.getDefiningOp<SWriteOp>()) {
      bool plain =
          write.getDest() == arg && !write.getCombine() && !write.isWhole();
      return plain ? write : SWriteOp();
    }
    auto inner = next.getDefiningOp<ForOp>();
    if (!inner || inner.getNumResults() != 1 ||
        inner.getInitArgs().front() != arg)
      return {};
    arg = inner.getRegionIterArgs().front();
    next = inner.getYield().getOperand(0);
  }
}

/// Can `map` be read tile by tile: are its results dims, or 0?
static bool isTiled(AffineMap map) {
  return llvm::all_of(map.getResults(), [](AffineExpr expr) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return isa<AffineDimExpr>(expr) || (constant && constant.getValue() == 0);
  });
}

/// Is `op` computed element by element, anywhere, from operand number
/// `operand`, which it takes as it is?
static bool isEpilogue(linalg::LinalgOp op, unsigned operand) {
  std::string why;
  if (op->hasAttr(kRuleAttrName) || op->getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      checkBody(op, why) != AxisCondition::None)
    return false;
  OpOperand &init = *op.getDpsInitOperand(0);
  Type element = getElementTypeOrSelf(init.get());
  if (op.payloadUsesValueFromOperand(&init) || element.isInteger(1) ||
      !op.getMatchingIndexingMap(&init).isPermutation() ||
      !op.getMatchingIndexingMap(&op->getOpOperand(operand)).isIdentity() ||
      !llvm::all_of(op.getIndexingMapsArray(), isTiled))
    return false;
  // Tiles reach past the ends of tensors, where anything may be found.
  return llvm::all_of(
      op.getBlock()->without_terminator(),
      [](Operation &inner) { return isPure(&inner) && !mayTrap(&inner); });
}

namespace {
/// Fuses one op into one loop.
class Fusion {
public:
  Fusion(RewriterBase &rewriter, ForallOp loop, SWriteOp write,
         OpOperand &operand)
      : rewriter(rewriter), loop(loop), write(write),
        op(cast<linalg::LinalgOp>(operand.getOwner())), loc(op.getLoc()),
        operand(operand.getOperandNumber()) {}

  /// Null if what is not written is in the way.
  ForallOp run();

private:
  Value emptyLike(Value tensor);
  /// What the new loop starts from; null if there is no such thing.
  Value start();
  bool readsIds();
  Value readTile(OpOperand &input);
  Value compute();

  RewriterBase &rewriter;
  ForallOp loop;
  SWriteOp write;
  linalg::LinalgOp op;
  Location loc;
  unsigned operand;
};
} // namespace

Value Fusion::emptyLike(Value tensor) {
  return tensor::EmptyOp::create(rewriter, loc,
                                 tensor::getMixedSizes(rewriter, loc, tensor),
                                 getElementTypeOrSelf(tensor));
}

Value Fusion::start() {
  Value init = loop.getInitArgs().front();
  Value dest = op.getDpsInits().front();
  if (init.getDefiningOp<tensor::EmptyOp>())
    return emptyLike(dest);
  auto fill = init.getDefiningOp<linalg::FillOp>();
  TypedAttr constant;
  if (!fill || !matchPattern(fill.value(), m_Constant(&constant)))
    return {};
  SkippingVerdict rest = analyzeSkipping(op, operand, constant);
  if (!rest.isLegal)
    return {};
  const ResultEffect &effect = rest.results.front();
  if (effect.kind == ResultEffect::Kind::Copy)
    return op->getOperand(effect.operand);
  if (effect.kind != ResultEffect::Kind::Constant)
    return {};
  Value value = arith::ConstantOp::create(rewriter, loc,
                                          cast<TypedAttr>(effect.constant));
  return linalg::FillOp::create(rewriter, loc, value, emptyLike(dest))
      .getResult(0);
}

/// Does the body ask where it is along a dim that the tile gathers?
bool Fusion::readsIds() {
  return op.getBlock()
      ->walk([&](linalg::IndexOp index) {
        Value subscript = write.getSubscripts()[index.getDim()];
        return isa<IdsType>(subscript.getType()) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

Value Fusion::readTile(OpOperand &input) {
  auto source = dyn_cast<RankedTensorType>(input.get().getType());
  if (input.getOperandNumber() == operand)
    return write.getTile();
  if (!source)
    return input.get(); // a scalar
  ArrayRef<int64_t> tile = write.getTileType().getShape();
  SmallVector<Value> subscripts;
  SmallVector<int64_t> shape;
  for (AffineExpr expr : op.getMatchingIndexingMap(&input).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    shape.push_back(dim ? tile[dim.getPosition()] : 1);
    subscripts.push_back(
        dim ? write.getSubscripts()[dim.getPosition()]
            : arith::ConstantIndexOp::create(rewriter, loc, 0).getResult());
  }
  // Bytes: vectors of i1 do not lie in memory.
  Type element = source.getElementType();
  if (element.isInteger(1))
    element = rewriter.getI8Type();
  return SReadOp::create(rewriter, loc, RankedTensorType::get(shape, element),
                         input.get(), subscripts)
      .getResult();
}

/// The op on the tile that is written.
Value Fusion::compute() {
  SmallVector<Value> inputs;
  for (OpOperand *input : op.getDpsInputOperands())
    inputs.push_back(readTile(*input));
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> shape =
      applyPermutationMap(result, write.getTileType().getShape());
  Value init = tensor::EmptyOp::create(
      rewriter, loc, shape, getElementTypeOrSelf(op.getDpsInits().front()));
  auto generic = linalg::GenericOp::create(
      rewriter, loc, init.getType(), inputs, init, op.getIndexingMapsArray(),
      op.getIteratorTypesArray());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.cloneRegionBefore(*op.getBlock()->getParent(), generic.getRegion(),
                             generic.getRegion().end());
  Block *body = &generic.getRegion().front();
  rewriter.setInsertionPointToStart(body);
  for (auto [arg, value] : llvm::zip(body->getArguments(), inputs)) {
    Type from = getElementTypeOrSelf(value), to = arg.getType();
    if (from == to)
      continue;
    // The op sees what would have been written: sums are rounded, bytes are
    // bits.
    arg.setType(from);
    Value narrow;
    if (isa<FloatType>(to))
      narrow = arith::TruncFOp::create(rewriter, loc, to, arg);
    else if (to.isInteger(1))
      narrow = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::ne, arg,
          arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(from)));
    else
      narrow = arith::TruncIOp::create(rewriter, loc, to, arg);
    arg.replaceUsesWithIf(narrow, [&](OpOperand &use) {
      return use.getOwner() != narrow.getDefiningOp();
    });
  }
  generic->walk([&](linalg::IndexOp index) {
    rewriter.setInsertionPointAfter(index);
    auto global = arith::AddIOp::create(rewriter, loc, index.getResult(),
                                        write.getSubscripts()[index.getDim()]);
    index.getResult().replaceAllUsesExcept(global, global);
  });
  return generic.getResult(0);
}

ForallOp Fusion::run() {
  if (readsIds())
    return {};
  // Where the op is, all of its operands are known.
  rewriter.setInsertionPoint(op);
  Value init = start();
  if (!init)
    return {};
  rewriter.moveOpBefore(loop, op);

  rewriter.setInsertionPoint(write);
  Value tile = compute();
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<Value> subscripts;
  for (AffineExpr expr : result.getResults())
    subscripts.push_back(
        write.getSubscripts()[cast<AffineDimExpr>(expr).getPosition()]);
  auto changed = SWriteOp::create(rewriter, loc, tile, write.getDest(),
                                  subscripts, std::nullopt);
  // The loops carry the op's result from here on.
  Type type = init.getType();
  changed.getDest().setType(type);
  changed->getResult(0).setType(type);
  for (Operation *outer = changed->getParentOp(); outer != loop;
       outer = outer->getParentOp()) {
    auto inner = cast<ForOp>(outer);
    inner.getInitArgs().front().setType(type);
    inner->getResult(0).setType(type);
  }
  rewriter.replaceOp(write, changed);
  loop.getInitArgsMutable().assign(init);
  loop->getResult(0).setType(type);
  rewriter.replaceOp(op, loop);
  return loop;
}

/// Fuses the op that uses the loop's result. False if there is none.
static bool fuseNext(RewriterBase &rewriter, ForallOp loop) {
  SWriteOp write = findWrite(loop);
  if (!write || !loop->getResult(0).hasOneUse())
    return false;
  OpOperand &use = *loop->getResult(0).use_begin();
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!op || op->getBlock() != loop->getBlock() || op.isDpsInit(&use) ||
      !isEpilogue(op, use.getOperandNumber()))
    return false;
  return Fusion(rewriter, loop, write, use).run() != nullptr;
}

unsigned pit::fuseEpilogues(RewriterBase &rewriter, ForallOp loop) {
  unsigned fused = 0;
  while (fuseNext(rewriter, loop))
    ++fused;
  return fused;
}

namespace {
struct FuseEpiloguesPass : pit::impl::PitFuseEpiloguesBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    SmallVector<ForallOp> loops;
    getOperation().walk([&](ForallOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (ForallOp loop : loops)
      fuseEpilogues(rewriter, loop);
  }
};
} // namespace
