//===- FuseEpilogues.cpp - Element-wise ops move into tiles ---------------===//
//
// An element-wise op on the result of a pit.forall is computed on each tile
// before it is written. Elements that the loop does not write are the loop's
// init; there the op has to make a constant of it, or another operand, which
// the new loop starts from. If the init is a new tensor, nothing is promised
// there, neither before nor after. An op whose result a mark selects by the
// loop's index (SelectedEpilogues) may make what it likes of the rest: the new
// loop starts from the background.
//
// A tile that is not final must not be changed: with atomic writes, and where
// groups one after another add to what they read from the output, a tile is one
// of several summands.
//
//===----------------------------------------------------------------------===//

#include "Epilogues.h"

#include "pit/Analysis/Skipping.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITFUSEEPILOGUES
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

SWriteOp pit::findOnlyWrite(ForallOp loop) {
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

Value pit::narrowTo(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(type))
    return arith::TruncFOp::create(builder, loc, type, value);
  if (!type.isInteger(1))
    return arith::TruncIOp::create(builder, loc, type, value);
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                               zero);
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

  /// Elements that the loop does not write nobody reads; then the new loop
  /// starts from `background`, or from nothing if that is null.
  ForallOp runUnread(TypedAttr background);

private:
  Value emptyLike(Value tensor);
  /// The init of the new loop; null if there is no such thing.
  Value start();
  /// Does the body ask for a place that cannot be told? [E5]
  bool asksWhere();
  ForallOp replace(Value init);

  /// A tile of an operand. `map` is the operand's, and becomes the tile's.
  Value readTile(OpOperand &input, AffineMap &map);
  Value readUnpacked(Value source, AffineMap map);
  /// A tile of the packed tensor that `unpack` unpacks, if that is by the ids
  /// that the tile is written by; else null.
  Value readPacked(SWriteOp unpack, AffineMap &map);
  Value compute();

  RewriterBase &rewriter;
  ForallOp loop;
  SWriteOp write;
  linalg::LinalgOp op;
  Location loc;
  unsigned operand;
};
} // namespace

/// `into` filled with `constant`.
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
  return createFill(rewriter, loc, cast<TypedAttr>(effect.constant),
                    emptyLike(dest));
}

/// Does a tile of the loop take a product of several operands? A mainloop
/// computes it, whose epilogue knows elements, not where they are.
static bool hasProduct(ForallOp loop) {
  return loop
      ->walk([](linalg::LinalgOp op) {
        bool isProduct =
            op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1;
        return isProduct ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool Fusion::asksWhere() {
  if (!op.hasIndexSemantics())
    return false;
  return hasProduct(loop) || op.getBlock()
                                 ->walk([&](linalg::IndexOp index) {
                                   Value subscript =
                                       write.getSubscripts()[index.getDim()];
                                   return isa<IdsType>(subscript.getType())
                                              ? WalkResult::interrupt()
                                              : WalkResult::advance();
                                 })
                                 .wasInterrupted();
}

Value Fusion::readTile(OpOperand &input, AffineMap &map) {
  if (input.getOperandNumber() == operand)
    return write.getTile();
  if (!isa<RankedTensorType>(input.get().getType()))
    return input.get(); // a scalar
  if (auto unpack = input.get().getDefiningOp<SWriteOp>())
    if (Value packed = readPacked(unpack, map))
      return packed;
  return readUnpacked(input.get(), map);
}

Value Fusion::readUnpacked(Value source, AffineMap map) {
  ArrayRef<int64_t> tile = write.getTileType().getShape();
  SmallVector<Value> subscripts;
  SmallVector<int64_t> shape;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    shape.push_back(dim ? tile[dim.getPosition()] : 1);
    subscripts.push_back(
        dim ? write.getSubscripts()[dim.getPosition()]
            : arith::ConstantIndexOp::create(rewriter, loc, 0).getResult());
  }
  // Bytes: vectors of i1 do not lie in memory.
  Type element = getElementTypeOrSelf(source);
  if (element.isInteger(1))
    element = rewriter.getI8Type();
  return SReadOp::create(rewriter, loc, RankedTensorType::get(shape, element),
                         source, subscripts)
      .getResult();
}

/// The positions of the chunk of ids that the subscripts name, if they name the
/// group, too. Null if the ids are of another index.
static Value findPositions(const Packing &packing, ValueRange subscripts) {
  SparsityIndexType type = packing.getType();
  SmallVector<Value> group;
  Value ids;
  unsigned next = 0; // among the packed dimensions
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i == type.getAxis())
      ids = subscripts[next++];
    else if (!type.isWhole(i))
      group.push_back(subscripts[next++]);
  auto argument = dyn_cast<BlockArgument>(ids);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  auto find = [&](auto loop) -> Value {
    return loop && loop.getIndex() == packing.index && loop.getIds() == ids &&
                   llvm::equal(loop.getGroup(), group)
               ? loop.getPositions()
               : Value();
  };
  if (Value positions = find(dyn_cast_or_null<ForOp>(parent)))
    return positions;
  return find(dyn_cast_or_null<ForallOp>(parent));
}

Value Fusion::readPacked(SWriteOp unpack, AffineMap &map) {
  std::optional<Packing> packing = getPacking(unpack);
  if (!packing)
    return {};
  FailureOr<SmallVector<unsigned>> loops = getPackedLoops(map, *packing);
  if (failed(loops))
    return {};
  SmallVector<Value> packedBy;
  for (unsigned loop : *loops)
    packedBy.push_back(write.getSubscripts()[loop]);
  Value positions = findPositions(*packing, packedBy);
  if (!positions)
    return {};
  // Position first, then what is kept; groups are 1 long in a tile.
  const auto *axis = llvm::find_if(packedBy, [](Value subscript) {
    return isa<IdsType>(subscript.getType());
  });
  SmallVector<AffineExpr> exprs{
      rewriter.getAffineDimExpr((*loops)[axis - packedBy.begin()])};
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    if (!llvm::is_contained(packing->dims, d))
      exprs.push_back(expr);
  map = AffineMap::get(map.getNumDims(), 0, exprs, rewriter.getContext());
  Value tile = readUnpacked(unpack.getTile(), map);
  tile.getDefiningOp<SReadOp>().getSubscriptsMutable()[0].set(positions);
  return tile;
}

/// The op on the tile that is written.
Value Fusion::compute() {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [input, map] : llvm::zip(op.getDpsInputOperands(), maps))
    inputs.push_back(readTile(*input, map));
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> shape =
      applyPermutationMap(result, write.getTileType().getShape());
  Value init = tensor::EmptyOp::create(
      rewriter, loc, shape, getElementTypeOrSelf(op.getDpsInits().front()));
  auto generic =
      linalg::GenericOp::create(rewriter, loc, init.getType(), inputs, init,
                                maps, op.getIteratorTypesArray());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.cloneRegionBefore(*op.getBlock()->getParent(), generic.getRegion(),
                             generic.getRegion().end());
  Block *body = &generic.getRegion().front();
  rewriter.setInsertionPointToStart(body);
  for (auto [arg, value] : llvm::zip(body->getArguments(), inputs)) {
    Type from = getElementTypeOrSelf(value), to = arg.getType();
    if (from == to)
      continue;
    // The op sees what would have been written.
    arg.setType(from);
    Value narrow = narrowTo(rewriter, loc, arg, to);
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
  if (asksWhere())
    return {};
  // At the op's place all of its operands are known.
  rewriter.setInsertionPoint(op);
  Value init = start();
  return init ? replace(init) : ForallOp();
}

ForallOp Fusion::runUnread(TypedAttr background) {
  rewriter.setInsertionPoint(op);
  Value init = emptyLike(op.getDpsInits().front());
  return replace(background ? createFill(rewriter, loc, background, init)
                            : init);
}

ForallOp Fusion::replace(Value init) {
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

/// Does `op` compute functions of operands as large as its result, without
/// operand number `product`? They could be computed anywhere. [E8]
static bool computesSeparateFunctions(linalg::LinalgOp op, unsigned product) {
  llvm::SmallPtrSet<Value, 16> ofProduct, ofOthers;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (input->getOperandNumber() == product)
      ofProduct.insert(argument);
    else if (op.getMatchingIndexingMap(input).isPermutation())
      ofOthers.insert(argument);
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    auto isOf = [&](const llvm::SmallPtrSetImpl<Value> &values) {
      return llvm::any_of(inner.getOperands(), [&](Value operand) {
        return values.contains(operand);
      });
    };
    bool isOfProduct = isOf(ofProduct), isOfOthers = isOf(ofOthers);
    if (isa<math::MathDialect>(inner.getDialect()) && isOfOthers &&
        !isOfProduct)
      return true;
    for (Value result : inner.getResults()) {
      if (isOfProduct)
        ofProduct.insert(result);
      if (isOfOthers)
        ofOthers.insert(result);
    }
  }
  return false;
}

/// Fuses the op that uses the loop's result. False if there is none.
static bool fuseNext(RewriterBase &rewriter, ForallOp loop,
                     bool separateFunctions) {
  SWriteOp write = findOnlyWrite(loop);
  if (!write || !loop->getResult(0).hasOneUse())
    return false;
  OpOperand &use = *loop->getResult(0).use_begin();
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!op || op->getBlock() != loop->getBlock() || op.isDpsInit(&use) ||
      op->hasAttr(kRuleAttrName) || !isEpilogue(op, use.getOperandNumber()) ||
      (separateFunctions &&
       computesSeparateFunctions(op, use.getOperandNumber())))
    return false;
  return Fusion(rewriter, loop, write, use).run() != nullptr;
}

unsigned pit::fuseEpilogues(RewriterBase &rewriter, ForallOp loop,
                            bool separateFunctions) {
  unsigned fused = 0;
  while (fuseNext(rewriter, loop, separateFunctions))
    ++fused;
  return fused;
}

/// Puts the loop's result in the place of what marks made of it.
static void replaceMarks(RewriterBase &rewriter, ArrayRef<SparseOp> marks,
                         Value result) {
  auto isPlanned = [](Operation *user) { return user->hasAttr(kRuleAttrName); };
  for (SparseOp mark : marks)
    if (llvm::none_of(mark->getUsers(), isPlanned))
      rewriter.replaceOp(mark, result);
    else // ops to come gather by the same mark
      rewriter.modifyOpInPlace(mark, [&] { mark.setAssume(true); });
}

bool pit::fuseSelectedEpilogues(RewriterBase &rewriter, ForallOp loop,
                                const SelectedEpilogues &epilogues) {
  SWriteOp write = findOnlyWrite(loop);
  if (!write)
    return false;
  TypedAttr background = epilogues.getBackground();
  for (OpOperand *operand : epilogues.operands) {
    bool isLast = operand == epilogues.operands.back();
    if (!Fusion(rewriter, loop, write, *operand)
             .runUnread(isLast ? background : TypedAttr()))
      return false;
    write = findOnlyWrite(loop);
  }
  if (epilogues.operands.empty()) {
    rewriter.setInsertionPoint(loop);
    Value init =
        createEmptyLike(rewriter, loop.getLoc(), loop.getInitArgs().front());
    rewriter.modifyOpInPlace(loop, [&] {
      loop.getInitArgsMutable().assign(
          createFill(rewriter, loop.getLoc(), background, init));
    });
  }
  replaceMarks(rewriter, epilogues.marks, loop->getResult(0));
  return true;
}

namespace {
struct FuseEpiloguesPass : pit::impl::PitFuseEpiloguesBase<FuseEpiloguesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ForallOp> loops;
    getOperation().walk([&](ForallOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (ForallOp loop : loops)
      fuseEpilogues(rewriter, loop, separateFunctions);
  }
};
} // namespace
