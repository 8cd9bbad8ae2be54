//===- Fold.cpp - Values stay packed between ops that share an index ------===//
//
// Whole-tensor SReads move up, SWrites move down, until they meet:
//
//   1. The operands of planned ops that could be read packed are packed and
//      unpacked again, tentatively: there SReads start.
//   2. Downwards: an op on an unpacked value runs on the packed one, if it
//   makes
//      a constant of what lies outside, or leaves its init there.
//   3. Upwards: an op whose result is only packed runs on packed operands.
//   4. What was tentative and met nothing is taken back.
//
//===----------------------------------------------------------------------===//

#include "Packing.h"
#include "SameIds.h"
#include "pit/Analysis/Skipping.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITFOLD
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Is the mark's result its input?
static bool isIdentity(SparseOp mark) {
  return mark.getSource() == Source::Values || mark.getAssume();
}

/// The whole-tensor SWrite that `value` is, if it keeps every bit of its tile.
static SWriteOp getUnpack(Value value) {
  while (auto mark = value.getDefiningOp<SparseOp>()) {
    if (!isIdentity(mark))
      return {};
    value = mark.getInput();
  }
  auto write = value.getDefiningOp<SWriteOp>();
  if (!write || !getPacking(write) ||
      getElementTypeOrSelf(write.getTile()) != getElementTypeOrSelf(value))
    return {};
  return write;
}

/// How `value` is packed if nothing but one kind of SRead uses it.
static std::optional<Packing> getOnlyPacking(Value value) {
  std::optional<Packing> only;
  for (Operation *user : value.getUsers()) {
    auto read = dyn_cast<SReadOp>(user);
    std::optional<Packing> packing = read ? getPacking(read) : std::nullopt;
    if (!packing || (only && !(*packing == *only)) ||
        getElementTypeOrSelf(read.getResult()) != getElementTypeOrSelf(value))
      return std::nullopt;
    only = packing;
  }
  return only;
}

/// Does the mark say which results of a planned op are wanted? Then the two
/// belong together.
static bool isResultMark(SparseOp mark) {
  auto op = mark.getInput().getDefiningOp<linalg::LinalgOp>();
  auto rule = op ? op->getAttrOfType<RuleAttr>(kRuleAttrName) : RuleAttr();
  return rule && getIndexMark(op, rule) == mark;
}

namespace {
class Folder {
public:
  Folder(func::FuncOp function)
      : function(function), rewriter(function.getContext()) {}

  void run() {
    resolveDims();
    shareIndices();
    offerPackedOperands();
    pushDown();
    pushUp();
    takeBackOffers();
  }

private:
  //===--------------------------------------------------------------------===//
  // Packed values
  //===--------------------------------------------------------------------===//

  /// `value` packed, as cheaply as it can be had.
  Value pack(Location loc, Value value, const Packing &packing) {
    if (SWriteOp write = getUnpack(value))
      if (*getPacking(write) == packing)
        return write.getTile();
    if (Value uniform = packUniform(loc, value, packing))
      return uniform;
    return createPack(rewriter, loc, value, packing);
  }

  /// A tensor that is the same everywhere, or nowhere anything, is made anew.
  /// Null if `value` is none.
  Value packUniform(Location loc, Value value, const Packing &packing) {
    if (value.getDefiningOp<tensor::EmptyOp>())
      return createPackedEmpty(rewriter, loc, value, packing);
    Value element;
    if (auto fillOp = value.getDefiningOp<linalg::FillOp>())
      element = fillOp.value();
    else if (auto uniform =
                 dyn_cast_or_null<TypedAttr>(getUniformConstant(value)))
      element = arith::ConstantOp::create(rewriter, loc, uniform);
    else
      return {};
    return fill(loc, element, createPackedEmpty(rewriter, loc, value, packing));
  }

  Value fill(Location loc, Value constant, Value into) {
    return linalg::FillOp::create(rewriter, loc, constant, into).getResult(0);
  }

  /// `op` on packed operands, at the insertion point.
  linalg::LinalgOp packOp(linalg::LinalgOp op, ArrayRef<unsigned> loops,
                          Value index) {
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<Packing> packing =
          *getOperandPacking(op.getMatchingIndexingMap(&operand), loops, index);
      Value value = operand.get();
      if (packing && op.isDpsInit(&operand) &&
          !op.payloadUsesValueFromOperand(&operand))
        value = createPackedEmpty(rewriter, op.getLoc(), value, *packing);
      else if (packing)
        value = pack(op.getLoc(), value, *packing);
      operands.push_back(value);
    }
    return createPacked(rewriter, op, loops, index, operands);
  }

  /// Replaces an SRead by what it would read.
  void replaceRead(SReadOp read, Value packed) {
    Type type = read.getResult().getType();
    if (packed.getType() != type) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(read);
      packed = tensor::CastOp::create(rewriter, read.getLoc(), type, packed);
    }
    rewriter.replaceOp(read, packed);
  }

  //===--------------------------------------------------------------------===//
  // Before all
  //===--------------------------------------------------------------------===//

  /// Who only asks for the shape of a value does not need it unpacked.
  void resolveDims() {
    function.walk([&](tensor::DimOp dim) {
      Value source = getShapeSource(dim.getSource());
      std::optional<int64_t> d = dim.getConstantIndex();
      auto empty = source.getDefiningOp<tensor::EmptyOp>();
      if (empty && d && empty.getType().isDynamicDim(*d))
        rewriter.replaceOp(dim, empty.getDynamicSize(*d));
      else
        rewriter.modifyOpInPlace(
            dim, [&] { dim.getSourceMutable().assign(source); });
    });
  }

  /// Indices that list the same ids become one, so that what they pack is
  /// packed alike.
  void shareIndices() {
    SmallVector<IndexOp> indices;
    function.walk([&](IndexOp index) {
      auto first = llvm::find_if(indices, [&](IndexOp earlier) {
        return dominance.properlyDominates(earlier.getOperation(),
                                           index.getOperation()) &&
               listSameIds(earlier, index);
      });
      if (first != indices.end())
        rewriter.replaceOp(index, *first);
      else
        indices.push_back(index);
    });
  }

  //===--------------------------------------------------------------------===//
  // 1. Operands of planned ops
  //===--------------------------------------------------------------------===//

  void offerPackedOperands() {
    function.walk([&](linalg::LinalgOp op) {
      auto rule = op->getAttrOfType<RuleAttr>(kRuleAttrName);
      SparseOp mark = rule ? getIndexMark(op, rule) : SparseOp();
      if (!mark || !wholePacking(mark).getType().isPackable())
        return;
      OpOperand &marked = op->getOpOperand(rule.getOperand());
      FailureOr<SmallVector<unsigned>> loops = getPackedLoops(
          op.getMatchingIndexingMap(&marked), wholePacking(mark));
      if (failed(loops))
        return;
      offerPackedOperands(op, rule, mark, *loops);
    });
  }

  void offerPackedOperands(linalg::LinalgOp op, RuleAttr rule, SparseOp mark,
                           ArrayRef<unsigned> loops) {
    OpOperand &marked = op->getOpOperand(rule.getOperand());
    SmallVector<Value> original(op->getOperands());
    size_t numOffers = offers.size();
    auto judge = [&]() {
      return op.isDpsInit(&marked)
                 ? SkippingVerdict()
                 : analyzeSkipping(op, rule.getOperand(),
                                   mark.getBackgroundOrZero());
    };
    SkippingVerdict before = judge();
    for (OpOperand *operand : op.getDpsInputOperands()) {
      // What a result starts from is read outside of the index, too [S3c].
      if (llvm::any_of(before.results, [&](const ResultEffect &effect) {
            return effect.kind == ResultEffect::Kind::Copy &&
                   effect.operand == operand->getOperandNumber();
          }))
        continue;
      FailureOr<std::optional<Packing>> packing = getOperandPacking(
          op.getMatchingIndexingMap(operand), loops, mark.getSelector());
      if (succeeded(packing) && *packing && isTileable(**packing))
        offer(op, *operand, operand == &marked, **packing);
    }
    // Operands that are constant, or the same tensor, are not known to be so
    // once they are packed.
    if (judge().results == before.results)
      return;
    offers.truncate(numOffers);
    SetVector<Operation *> unused;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (operand->get() != original[operand->getOperandNumber()])
        unused.insert(operand->get().getDefiningOp());
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(original); });
    eraseDead(std::move(unused));
  }

  /// Erases those of `ops` that nothing uses, and what only they used.
  void eraseDead(SetVector<Operation *> ops) {
    while (!ops.empty()) {
      Operation *op = ops.pop_back_val();
      if (!isOpTriviallyDead(op) || isOffer(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          ops.insert(definition);
      rewriter.eraseOp(op);
    }
  }

  /// pit-tile reads tiles of packed operands whose kept dimensions follow the
  /// axis.
  static bool isTileable(const Packing &packing) {
    SparsityIndexType type = packing.getType();
    unsigned axis = 0; // among the packed dimensions
    for (int64_t i = 0; i < type.getAxis(); ++i)
      axis += !type.isWhole(i);
    for (int64_t d = 0; d < packing.dims[axis]; ++d)
      if (!llvm::is_contained(packing.dims, d))
        return false;
    return true;
  }

  /// Has the operand of a planned op read swrite(sread(value)). What lies
  /// outside of the index is not read.
  void offer(linalg::LinalgOp op, OpOperand &operand, bool marked,
             const Packing &packing) {
    // Below the marks. The planned op gets marks of its own: its index, and a
    // mask that selects part of what the index covers.
    SmallVector<SparseOp> marks;
    Value value = operand.get();
    while (auto mark = value.getDefiningOp<SparseOp>()) {
      bool own = marked && marks.empty();
      if (own)
        marks.push_back(mark);
      if (isResultMark(mark))
        break; // it belongs to the op before it
      value = mark.getInput();
      if (own || isIdentity(mark) || isAllSelected(mark, packing))
        continue;
      if (!marked || marks.size() > 1 || mark.getSource() != Source::Mask)
        return;
      marks.push_back(mark);
    }
    if (!isa_and_present<linalg::LinalgOp, SparseOp>(value.getDefiningOp()) ||
        getUnpack(value))
      return;
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    Value background = arith::ConstantOp::create(
        rewriter, loc,
        marks.empty() ? rewriter.getZeroAttr(type.getElementType())
                      : marks.front().getBackgroundOrZero());
    Value empty = createEmptyLike(rewriter, loc, value);
    Value packed = createPack(rewriter, loc, value, packing);
    Value unpacked = createUnpack(rewriter, loc, packed,
                                  fill(loc, background, empty), packing);
    offers.push_back({unpacked.getDefiningOp<SWriteOp>(), value});
    for (SparseOp mark : llvm::reverse(marks)) {
      auto own = cast<SparseOp>(rewriter.clone(*mark));
      own.getInputMutable().assign(unpacked);
      unpacked = own;
    }
    rewriter.modifyOpInPlace(op, [&] { operand.set(unpacked); });
  }

  //===--------------------------------------------------------------------===//
  // 2. Downwards
  //===--------------------------------------------------------------------===//

  void pushDown() {
    SmallVector<linalg::LinalgOp> ops;
    function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops)
      if (!op->hasAttr(kRuleAttrName) && op.hasPureTensorSemantics())
        for (OpOperand *operand : op.getDpsInputOperands())
          if (pushDownThrough(op, *operand))
            break;
  }

  /// op(swrite(p into fill)) -> swrite(op(p) into what op makes of the fill).
  bool pushDownThrough(linalg::LinalgOp op, OpOperand &operand) {
    SWriteOp write = getUnpack(operand.get());
    if (!write)
      return false;
    Attribute outside = getUniformConstant(write.getDest());
    Packing packing = *getPacking(write);
    FailureOr<SmallVector<unsigned>> loops =
        getPackedLoops(op.getMatchingIndexingMap(&operand), packing);
    if (!outside || failed(loops) || !isPackable(op, *loops, packing.index))
      return false;
    // No other operand has to be packed for this.
    for (OpOperand *input : op.getDpsInputOperands()) {
      std::optional<Packing> own = *getOperandPacking(
          op.getMatchingIndexingMap(input), *loops, packing.index);
      SWriteOp other = own ? getUnpack(input->get()) : SWriteOp();
      if (own && (!other || !(*getPacking(other) == *own)))
        return false;
    }
    SkippingVerdict skipping =
        analyzeSkipping(op, operand.getOperandNumber(), outside);
    if (!skipping.isLegal)
      return false;

    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    SmallVector<Value> into;
    for (auto [result, effect] :
         llvm::zip_equal(op->getResults(), skipping.results)) {
      Value init = op.getDpsInits()[result.getResultNumber()];
      switch (effect.kind) {
      case ResultEffect::Kind::Identity:
        into.push_back(init);
        break;
      case ResultEffect::Kind::Copy:
        // Packed like the result, as the maps are the same.
        into.push_back(getUnpack(op->getOperand(effect.operand)).getDest());
        if (into.back().getType() != init.getType())
          return false;
        break;
      case ResultEffect::Kind::Constant: {
        Value constant = arith::ConstantOp::create(
            rewriter, loc, cast<TypedAttr>(effect.constant));
        into.push_back(
            fill(loc, constant, createEmptyLike(rewriter, loc, init)));
        break;
      }
      case ResultEffect::Kind::Illegal:
        llvm_unreachable("skipping is legal");
      }
    }
    linalg::LinalgOp packed = packOp(op, *loops, packing.index);
    SmallVector<Value> results;
    for (auto [result, dest] : llvm::zip_equal(packed->getResults(), into)) {
      AffineMap map = op.getMatchingIndexingMap(
          op.getDpsInitOperand(result.getResultNumber()));
      results.push_back(
          createUnpack(rewriter, loc, result, dest,
                       **getOperandPacking(map, *loops, packing.index)));
    }
    rewriter.replaceOp(op, results);
    return true;
  }

  //===--------------------------------------------------------------------===//
  // 3. Upwards
  //===--------------------------------------------------------------------===//

  /// Users come before what they use, so that each op is looked at when all of
  /// its users that could be packed are.
  void pushUp() {
    SmallVector<Operation *> ops;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumResults() > 0)
        ops.push_back(op);
      return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                       : WalkResult::advance();
    });
    for (Operation *op : llvm::reverse(ops)) {
      if (isOpTriviallyDead(op) && !isOffer(op)) {
        rewriter.eraseOp(op);
        continue;
      }
      if (isa<linalg::FillOp, tensor::EmptyOp>(op) ||
          op->hasTrait<OpTrait::ConstantLike>())
        replaceUniform(op->getResult(0));
      else if (auto write = dyn_cast<SWriteOp>(op))
        meet(write);
      else if (auto mark = dyn_cast<SparseOp>(op))
        pushUpThrough(mark);
      else if (auto cast = dyn_cast<tensor::CastOp>(op))
        pushUpThrough(cast);
      else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        pushUpThrough(linalgOp);
      if (isOpTriviallyDead(op) && !isOffer(op))
        rewriter.eraseOp(op);
    }
  }

  /// The whole-tensor SReads of `value`.
  static SmallVector<SReadOp> getReads(Value value) {
    SmallVector<SReadOp> reads;
    for (Operation *user : value.getUsers())
      if (auto read = dyn_cast<SReadOp>(user); read && getPacking(read))
        reads.push_back(read);
    return reads;
  }

  void setSource(SReadOp read, Value source) {
    rewriter.modifyOpInPlace(read,
                             [&] { read.getSrcMutable().assign(source); });
  }

  void replaceUniform(Value value) {
    for (SReadOp read : getReads(value)) {
      if (getElementTypeOrSelf(read.getResult()) != getElementTypeOrSelf(value))
        continue;
      rewriter.setInsertionPoint(read);
      if (Value packed = packUniform(read.getLoc(), value, *getPacking(read)))
        replaceRead(read, packed);
    }
  }

  /// sread(swrite(p)) -> p.
  void meet(SWriteOp write) {
    if (!getUnpack(write.getResult()))
      return;
    for (SReadOp read : getReads(write.getResult()))
      if (*getPacking(read) == *getPacking(write) &&
          getElementTypeOrSelf(read.getResult()) ==
              getElementTypeOrSelf(write.getTile()))
        replaceRead(read, write.getTile());
  }

  void pushUpThrough(tensor::CastOp cast) {
    if (!isa<RankedTensorType>(cast.getSource().getType()))
      return;
    for (SReadOp read : getReads(cast))
      setSource(read, cast.getSource());
  }

  /// Does every element that `packing` packs belong to what `mark` selects?
  static bool isAllSelected(SparseOp mark, const Packing &packing) {
    if (mark.getSource() == Source::Index)
      return mark.getSelector() == packing.index &&
             Packing{packing.index, packing.dims} == wholePacking(mark);
    auto index = packing.index.getDefiningOp<IndexOp>();
    if (!index || index.getSource() != mark.getSource() ||
        index.getInput() != mark.getSelector())
      return false;
    // As many leading dimensions as the selector is about are one wide in the
    // micro-tiles, and are those of the mark.
    SparsityIndexType type = index.getType();
    int64_t about = mark.getType().getRank();
    if (mark.getSource() == Source::Lengths)
      about =
          cast<RankedTensorType>(mark.getSelector().getType()).getRank() + 1;
    if (about > type.getRank() ||
        about > static_cast<int64_t>(packing.dims.size()))
      return false;
    for (int64_t d = 0; d < about; ++d)
      if (type.isWhole(d) || packing.dims[d] != d)
        return false;
    return true;
  }

  /// The packing by the index of `mark` of what it marks.
  static Packing wholePacking(SparseOp mark) {
    auto type = cast<SparsityIndexType>(mark.getSelector().getType());
    Packing whole{mark.getSelector(), {}};
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (!type.isWhole(i))
        whole.dims.push_back(i);
    return whole;
  }

  void pushUpThrough(SparseOp mark) {
    if (isResultMark(mark))
      return;
    for (SReadOp read : getReads(mark))
      if (isIdentity(mark) || isAllSelected(mark, *getPacking(read)))
        setSource(read, mark.getInput());
    // A mask that selects part of what is packed is packed like it.
    std::optional<Packing> packing = getOnlyPacking(mark);
    if (!packing || mark.getSource() != Source::Mask ||
        !setInsertionPoint(mark, packing->index))
      return;
    Value mask = pack(mark.getLoc(), mark.getSelector(), *packing);
    Value input = pack(mark.getLoc(), mark.getInput(), *packing);
    Value packed = SparseOp::create(
        rewriter, mark.getLoc(), input, Source::Mask, mask,
        mark.getBackgroundAttr(), /*assume=*/false, /*rule=*/RuleAttr());
    for (SReadOp read : getReads(mark))
      replaceRead(read, packed);
  }

  /// sread(op(x)) -> op(sread(x)), if no one needs the unpacked result.
  void pushUpThrough(linalg::LinalgOp op) {
    if (op->hasAttr(kRuleAttrName) || !op.hasPureTensorSemantics())
      return;
    std::optional<SmallVector<unsigned>> loops;
    Value index;
    for (OpResult result : op->getResults()) {
      if (result.use_empty())
        continue;
      std::optional<Packing> packing = getOnlyPacking(result);
      if (!packing || (index && packing->index != index))
        return;
      index = packing->index;
      FailureOr<SmallVector<unsigned>> own =
          getPackedLoops(op.getMatchingIndexingMap(
                             op.getDpsInitOperand(result.getResultNumber())),
                         *packing);
      if (failed(own) || (loops && *own != *loops))
        return;
      loops = *own;
    }
    if (!loops || !isPackable(op, *loops, index) ||
        !setInsertionPoint(op, index))
      return;
    linalg::LinalgOp packed = packOp(op, *loops, index);
    for (auto [result, value] :
         llvm::zip_equal(op->getResults(), packed->getResults()))
      for (SReadOp read : getReads(result))
        replaceRead(read, value);
  }

  /// Where `op` may run on packed operands: in its place, or after the index.
  bool setInsertionPoint(Operation *op, Value index) {
    if (dominance.properlyDominates(index, op)) {
      rewriter.setInsertionPoint(op);
      return true;
    }
    Operation *definition = index.getDefiningOp();
    if (!definition || definition->getBlock() != op->getBlock())
      return false;
    rewriter.setInsertionPointAfter(definition);
    return true;
  }

  //===--------------------------------------------------------------------===//
  // 4. Tentative SReads
  //===--------------------------------------------------------------------===//

  /// An operand of a planned op that was unpacked tentatively.
  struct Offer {
    SWriteOp write;
    Value value;
  };

  bool isOffer(Operation *op) {
    return llvm::any_of(offers,
                        [&](Offer &offer) { return offer.write == op; });
  }

  /// Is `value` the result of a planned op that can write it packed?
  static bool isPlannedPacked(Value value, const Packing &packing) {
    std::optional<Packing> only = getOnlyPacking(value);
    auto mark = value.getDefiningOp<SparseOp>();
    if (mark && isResultMark(mark))
      value = mark.getInput();
    auto op = value.getDefiningOp<linalg::LinalgOp>();
    auto rule = op ? op->getAttrOfType<RuleAttr>(kRuleAttrName) : RuleAttr();
    mark = rule ? getIndexMark(op, rule) : SparseOp();
    return mark && mark.getSelector() == packing.index && only == packing &&
           isTileable(packing);
  }

  void takeBackOffers() {
    for (Offer &offer : offers) {
      SWriteOp write = offer.write;
      auto read = write.getTile().getDefiningOp<SReadOp>();
      if (!read || getPacking(read) != getPacking(write) ||
          isPlannedPacked(read.getSrc(), *getPacking(read)))
        continue;
      Value dest = write.getDest();
      rewriter.replaceOp(write, read.getSrc());
      for (Operation *unused : {read.getOperation(), dest.getDefiningOp()})
        if (isOpTriviallyDead(unused))
          rewriter.eraseOp(unused);
    }
  }

  func::FuncOp function;
  IRRewriter rewriter;
  DominanceInfo dominance;
  SmallVector<Offer> offers;
};

struct FoldPass : pit::impl::PitFoldBase<FoldPass> {
  void runOnOperation() override { Folder(getOperation()).run(); }
};
} // namespace
