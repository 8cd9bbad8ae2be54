//===- Tile.cpp - Level 2 to level 3 --------------------------------------===//
//
// One lowering for all rules. The dims of the op fall into
//
//   parallel dims      those of the results, except the axis: one pit.forall
//   conflicting dims   reduced dims that number the index's groups, if the axis
//                      is parallel: groups write the same outputs, so they run
//                      one after another outside of the accumulator
//   reduced dims       all others: pit.for around the tile op
//
// and the axis, whose loop runs over the ids of the group: inside of the
// reduced dims if it is reduced itself, around the accumulator if it is
// parallel.
//
//===----------------------------------------------------------------------===//

#include "TileBody.h"
#include "TileGeometry.h"
#include "TileWhole.h"
#include "pit/Analysis/Padding.h"
#include "pit/Analysis/Skipping.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITTILE
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// The index mark of the operand that a rule names: on the operand, or on the
/// op's result.
static SparseOp getIndexMark(linalg::LinalgOp op, RuleAttr rule) {
  OpOperand &operand = op->getOpOperand(rule.getOperand());
  SparseOp mark;
  if (!op.isDpsInit(&operand)) {
    mark = operand.get().getDefiningOp<SparseOp>();
  } else {
    Value result = op.getTiedOpResult(&operand);
    if (result.hasOneUse())
      mark = dyn_cast<SparseOp>(*result.getUsers().begin());
  }
  return mark && mark.getSource() == Source::Index ? mark : SparseOp();
}

namespace {

/// Tiles one op.
class Tiler {
public:
  Tiler(RewriterBase &rewriter, linalg::LinalgOp op, RuleAttr rule,
        SparseOp mark)
      : rewriter(rewriter), op(op), loc(op.getLoc()), rule(rule), mark(mark),
        index(mark.getSelector()),
        indexType(cast<SparsityIndexType>(index.getType())),
        axis(*getAxisDim(op, rule)), tile(rule.getTile()) {
    OpOperand &operand = op->getOpOperand(rule.getOperand());
    markedResult = op.isDpsInit(&operand);
    markedMap = op.getMatchingIndexingMap(&operand);
  }

  void run() {
    rewriter.setInsertionPoint(op);
    zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    classify();
    body = buildTileBody(rewriter, op, [&](unsigned d) { return isInner(d); });
    choosePads();
    resolveOperands();
    ranges();
    start();
    SmallVector<Value> results = parallelLoop();
    finish(results);
  }

private:
  enum class Kind { Parallel, Conflicting, Reduced, Axis };

  void classify() {
    for (unsigned d = 0; d < op.getNumLoops(); ++d) {
      bool reduced = isReducedDim(op, d);
      bool conflicting = false;
      if (reduced && !isReducedDim(op, axis))
        for (int64_t dim : indexType.getGroupDims())
          conflicting |= markedMap.getResult(dim).isFunctionOfDim(d);
      kinds.push_back(d == axis     ? Kind::Axis
                      : conflicting ? Kind::Conflicting
                      : reduced     ? Kind::Reduced
                                    : Kind::Parallel);
      int64_t extent = op.getStaticLoopRanges()[d];
      single.push_back(d != axis && isSingleTile(op, d, tile[d]));
      // A tile need not be larger than the dim.
      if (single.back())
        tile[d] = extent;
    }
    groups = !indexType.getGroupDims().empty();
  }

  /// Is the sum over d complete before the accumulator is written?
  bool isInner(unsigned d) {
    return isReducedDim(op, d) &&
           (kinds[d] != Kind::Conflicting || tile[d] > 1);
  }

  //===--------------------------------------------------------------------===//
  // Padding
  //===--------------------------------------------------------------------===//

  /// The dims of the inner template are those of the op that its operands use.
  SmallVector<unsigned> innerDims(ArrayRef<unsigned> dims) {
    SmallVector<AffineMap> maps;
    for (unsigned i : body.inner.inputs)
      maps.push_back(op.getMatchingIndexingMap(&op->getOpOperand(i)));
    for (OpOperand &init : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&init));
    llvm::SmallBitVector unused = getUnusedDimsBitVector(maps);
    SmallVector<unsigned> result;
    for (unsigned d : dims)
      if (!unused[d])
        result.push_back(d -
                         llvm::count_if(llvm::seq<unsigned>(d),
                                        [&](unsigned e) { return unused[e]; }));
    return result;
  }

  void choosePads() {
    std::optional<unsigned> marked;
    for (auto [i, number] : llvm::enumerate(body.inner.inputs))
      if (!markedResult && number == rule.getOperand())
        marked = i;
    TypedAttr background = mark.getBackgroundOrZero();
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (overhangs(op, rule, d))
        dims.push_back(d);
    // Tails that no constant makes harmless are peeled. A chunk's absent ids
    // cannot be, so then ids come one at a time.
    peeled.assign(op.getNumLoops(), false);
    std::optional<SmallVector<TypedAttr>> found =
        findPadding(body.inner.op, innerDims(dims), marked, background);
    while (!found) {
      auto next = llvm::find_if(llvm::reverse(dims), [&](unsigned d) {
        return d != axis && isReducedDim(op, d);
      });
      if (next == dims.rend())
        next = llvm::find_if(llvm::reverse(dims),
                             [&](unsigned d) { return isReducedDim(op, d); });
      if (next == dims.rend())
        break;
      if (*next == axis)
        tile[axis] = 1;
      else
        peeled[*next] = true;
      dims.erase(std::next(next).base());
      found = findPadding(body.inner.op, innerDims(dims), marked, background);
    }
    // Hoisted factors are padded along parallel dims only; there are such pads,
    // or the op would not be tiled.
    pads = *findParallelPadding(op, rule, background);
    if (found)
      for (auto [i, number] : llvm::enumerate(body.inner.inputs))
        pads[number] = (*found)[i];
  }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  void ranges() {
    for (Range range : op.createLoopRanges(rewriter, loc))
      extents.push_back(
          getValueOrCreateConstantIndexOp(rewriter, loc, range.size));
    starts.assign(op.getNumLoops(), zero);
    lastGroup.assign(op.getNumLoops(), Value());
  }

  /// What the tiles are read from: behind the mark of the marked operand, and
  /// the packed tensor where an operand was unpacked by the same index.
  void resolveOperands() {
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value value = input->get();
      if (!markedResult && input->getOperandNumber() == rule.getOperand()) {
        value = mark.getInput();
        auto selection = value.getDefiningOp<SparseOp>();
        if (selection && selection.getSource() == Source::Mask) {
          value = selection.getInput();
          if (!selection.getAssume())
            mask = selection.getSelector();
        }
      }
      auto unpack = value.getDefiningOp<SWriteOp>();
      packed.push_back(unpack && unpack.isWhole() && !unpack.getCombine() &&
                       unpack.getSubscripts().front() == index &&
                       isPackedLike(op.getMatchingIndexingMap(input),
                                    unpack.getPackedDims()));
      sources.push_back(packed.back() ? unpack.getTile() : value);
      // Extents are those of what is read; the mark is gone after this.
      rewriter.modifyOpInPlace(op, [&] { input->set(value); });
    }
  }

  /// Can tiles of an operand with this map be taken from a tensor packed along
  /// `dims`? They have to be indexed as the marked operand is, and the axis to
  /// come before all dimensions that are kept.
  bool isPackedLike(AffineMap map, ArrayRef<int64_t> dims) {
    if (!indexType.isPackable())
      return false;
    SmallVector<bool> dropped(map.getNumResults(), false);
    int64_t axisDim = -1;
    for (auto [i, dim] : llvm::enumerate(dims)) {
      if (indexType.isWhole(i))
        continue; // kept, whichever it is here
      if (map.getResult(dim) != markedMap.getResult(i))
        return false;
      if (static_cast<int64_t>(i) == indexType.getAxis())
        axisDim = dim;
      else
        dropped[dim] = true;
    }
    for (int64_t d = 0; d < axisDim; ++d)
      if (!dropped[d])
        return false;
    return true;
  }

  /// Where a tile starts along one dimension of an operand.
  Value subscript(AffineExpr expr) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dim.getPosition() == axis ? ids : starts[dim.getPosition()];
    SmallVector<OpFoldResult> operands(starts.begin(), starts.end());
    return getValueOrCreateConstantIndexOp(
        rewriter, loc,
        affine::makeComposedFoldedAffineApply(
            rewriter, loc,
            AffineMap::get(op.getNumLoops(), 0, expr, op->getContext()),
            operands));
  }

  SmallVector<Value> subscripts(AffineMap map) {
    SmallVector<Value> result;
    for (AffineExpr expr : map.getResults())
      result.push_back(subscript(expr));
    return result;
  }

  SmallVector<int64_t> tileShape(AffineMap map) {
    SmallVector<int64_t> shape;
    for (AffineExpr expr : map.getResults())
      shape.push_back(matchLinear(expr)->extent(tile));
    return shape;
  }

  Value read(Value source, AffineMap map, Type element, TypedAttr pad = {}) {
    auto type = RankedTensorType::get(tileShape(map), element);
    return SReadOp::create(rewriter, loc, type, source, subscripts(map), pad)
        .getResult();
  }

  /// Reassociation between a tile and its packed form, in which the group
  /// dimensions, 1 long in the tile and before the axis, or after it, are gone.
  SmallVector<ReassociationIndices> packing(ArrayRef<bool> dropped) {
    SmallVector<ReassociationIndices> result;
    ReassociationIndices leading;
    for (auto [d, drop] : llvm::enumerate(dropped)) {
      if (drop && result.empty()) {
        leading.push_back(d);
      } else if (drop) {
        result.back().push_back(d);
      } else {
        leading.push_back(d);
        result.push_back(leading);
        leading.clear();
      }
    }
    return result;
  }

  SmallVector<bool> groupDimsOf(AffineMap map) {
    SmallVector<bool> dropped(map.getNumResults(), false);
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      for (int64_t g : indexType.getGroupDims())
        dropped[d] = dropped[d] || expr == markedMap.getResult(g);
    return dropped;
  }

  SmallVector<Value> packedSubscripts(AffineMap map) {
    SmallVector<bool> dropped = groupDimsOf(map);
    SmallVector<Value> result;
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && dim.getPosition() == axis)
        result.push_back(positions);
      else if (!dropped[d])
        result.push_back(subscript(expr));
    }
    return result;
  }

  RankedTensorType packedTileType(AffineMap map, Type element) {
    SmallVector<bool> dropped = groupDimsOf(map);
    SmallVector<int64_t> shape;
    for (auto [d, extent] : llvm::enumerate(tileShape(map)))
      if (!dropped[d])
        shape.push_back(extent);
    return RankedTensorType::get(shape, element);
  }

  Value readPacked(Value source, AffineMap map, Type element, TypedAttr pad) {
    RankedTensorType type = packedTileType(map, element);
    Value rows =
        SReadOp::create(rewriter, loc, type, source, packedSubscripts(map), pad)
            .getResult();
    auto full = RankedTensorType::get(tileShape(map), element);
    if (full == type)
      return rows;
    return tensor::ExpandShapeOp::create(rewriter, loc, full, rows,
                                         packing(groupDimsOf(map)));
  }

  Value readInput(unsigned number) {
    Value source = sources[number];
    auto type = dyn_cast<RankedTensorType>(source.getType());
    if (!type)
      return source; // a scalar
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
    Type element = type.getElementType();
    Value result = packed[number]
                       ? readPacked(source, map, element, pads[number])
                       : read(source, map, element, pads[number]);
    if (mask && number == rule.getOperand())
      result = select(result, map);
    return result;
  }

  /// The tile of the marked operand with its background where the mask does not
  /// select.
  Value select(Value values, AffineMap map) {
    // Bytes: vectors of i1 do not lie in memory.
    Type maskElement = rewriter.getI8Type();
    Value selected = read(mask, map, maskElement);
    auto type = cast<RankedTensorType>(values.getType());
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    TypedAttr background = mark.getBackgroundOrZero();
    auto generic = linalg::GenericOp::create(
        rewriter, loc, type, ValueRange{selected, values}, empty,
        ArrayRef<AffineMap>{identity, identity, identity}, iterators,
        [&](OpBuilder &b, Location l, ValueRange args) {
          Value chosen = arith::CmpIOp::create(
              b, l, arith::CmpIPredicate::ne, args[0],
              arith::ConstantOp::create(b, l, b.getZeroAttr(maskElement)));
          Value other = arith::ConstantOp::create(b, l, background);
          linalg::YieldOp::create(
              b, l,
              arith::SelectOp::create(b, l, chosen, args[1], other)
                  .getResult());
        });
    return generic.getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  AffineMap initMap(unsigned r) {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(r));
  }

  /// The constant that an init is filled with, if it is.
  Value fillOf(Value init) {
    if (auto fill = init.getDefiningOp<linalg::FillOp>())
      return fill.value();
    return {};
  }

  Value emptyLike(Value tensor, Type element) {
    return tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, tensor), element);
  }

  /// What each result is before the loops: what skipped iterations leave.
  void start() {
    SkippingVerdict skipping;
    if (!markedResult)
      skipping =
          analyzeSkipping(op, rule.getOperand(), mark.getBackgroundOrZero());
    bool conflicts = llvm::is_contained(kinds, Kind::Conflicting);
    for (unsigned r = 0; r < op.getNumDpsInits(); ++r) {
      Value init = op.getDpsInits()[r];
      Type element = getElementTypeOrSelf(init.getType());
      bool widened = conflicts && element != body.accumulators[r];
      packedResults.push_back(!markedResult && !conflicts &&
                              findPackedReads(r));
      if (packedResults.back()) {
        initial.push_back(emptyPacked(r));
      } else if (markedResult) {
        Value background = arith::ConstantOp::create(
            rewriter, loc, mark.getBackgroundOrZero());
        initial.push_back(linalg::FillOp::create(rewriter, loc, background,
                                                 emptyLike(init, element))
                              .getResult(0));
      } else if (skipping.results[r].kind == ResultEffect::Kind::Constant) {
        Value constant = arith::ConstantOp::create(
            rewriter, loc, cast<TypedAttr>(skipping.results[r].constant));
        initial.push_back(linalg::FillOp::create(rewriter, loc, constant,
                                                 emptyLike(init, element))
                              .getResult(0));
      } else if (skipping.results[r].kind == ResultEffect::Kind::Copy) {
        initial.push_back(op->getOperand(skipping.results[r].operand));
      } else if (writesAllTiles()) {
        // Every tile is written; the accumulators start from the init.
        initial.push_back(emptyLike(init, element));
      } else if (widened) {
        initial.push_back(convert(init, body.accumulators[r]));
      } else if (isa<BlockArgument>(init)) {
        // An argument cannot be updated in place. A copy into a tensor that
        // bufferization is free to place is one copy, not two.
        initial.push_back(linalg::CopyOp::create(rewriter, loc, init,
                                                 emptyLike(init, element))
                              .getResult(0));
      } else {
        initial.push_back(init);
      }
    }
  }

  /// `tensor` with elements of another float type.
  Value convert(Value tensor, Type element) {
    auto type = cast<RankedTensorType>(tensor.getType());
    Value empty = emptyLike(tensor, element);
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    bool widens =
        type.getElementTypeBitWidth() < element.getIntOrFloatBitWidth();
    auto generic = linalg::GenericOp::create(
        rewriter, loc, empty.getType(), tensor, empty,
        ArrayRef<AffineMap>{identity, identity}, iterators,
        [&](OpBuilder &b, Location l, ValueRange args) {
          Value value =
              widens
                  ? arith::ExtFOp::create(b, l, element, args[0]).getResult()
                  : arith::TruncFOp::create(b, l, element, args[0]).getResult();
          linalg::YieldOp::create(b, l, value);
        });
    return generic.getResult(0);
  }

  /// True if result r is only packed, by this index: then it never exists
  /// unpacked.
  bool findPackedReads(unsigned r) {
    Value result = op->getResult(r);
    return !result.use_empty() &&
           llvm::all_of(result.getUsers(), [&](Operation *user) {
             auto read = dyn_cast<SReadOp>(user);
             return read && read.isWhole() &&
                    read.getSubscripts().front() == index &&
                    isPackedLike(initMap(r), read.getPackedDims());
           });
  }

  Value emptyPacked(unsigned r) {
    auto read = cast<SReadOp>(*op->getResult(r).getUsers().begin());
    auto type = cast<RankedTensorType>(read.getResult().getType());
    SmallVector<bool> dropped = groupDimsOf(initMap(r));
    SmallVector<OpFoldResult> sizes;
    sizes.push_back(
        type.isDynamicDim(0)
            ? OpFoldResult(ExtentOp::create(rewriter, loc, index).getResult())
            : rewriter.getIndexAttr(type.getDimSize(0)));
    for (auto [d, expr] : llvm::enumerate(initMap(r).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dropped[d] && (!dim || dim.getPosition() != axis))
        sizes.push_back(
            tensor::getMixedSize(rewriter, loc, op.getDpsInits()[r], d));
    }
    return tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  }

  /// The accumulator's tile before anything is added.
  Value accumulator(unsigned r, Value carried) {
    AffineMap map = initMap(r);
    Value init = op.getDpsInits()[r];
    Type element = body.accumulators[r];
    if (!getAccumulatorUsed(r))
      return tensor::EmptyOp::create(rewriter, loc, tileShape(map), element);
    bool conflicts = llvm::is_contained(kinds, Kind::Conflicting);
    Value fill = fillOf(init);
    if (fill && !conflicts) {
      if (fill.getType() != element)
        fill = arith::ExtFOp::create(rewriter, loc, element, fill);
      Value empty =
          tensor::EmptyOp::create(rewriter, loc, tileShape(map), element);
      return linalg::FillOp::create(rewriter, loc, fill, empty).getResult(0);
    }
    // What conflicting groups have added so far is in the carried tensor.
    return read(conflicts ? carried : init, map, element);
  }

  /// Is every tile of the results written, live or not?
  bool writesAllTiles() { return isReducedDim(op, axis); }

  bool getAccumulatorUsed(unsigned r) {
    return !op.getMatchingBlockArgument(op.getDpsInitOperand(r)).use_empty();
  }

  Value write(unsigned r, Value value, Value carried) {
    AffineMap map = initMap(r);
    if (!packedResults[r])
      return SWriteOp::create(rewriter, loc, value, carried, subscripts(map))
          .getResult();
    RankedTensorType type =
        packedTileType(map, getElementTypeOrSelf(value.getType()));
    if (type != value.getType())
      value = tensor::CollapseShapeOp::create(rewriter, loc, type, value,
                                              packing(groupDimsOf(map)));
    return SWriteOp::create(rewriter, loc, value, carried,
                            packedSubscripts(map))
        .getResult();
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  SmallVector<unsigned> loopsOf(Kind kind) {
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (kinds[d] == kind && !single[d])
        dims.push_back(d);
    return dims;
  }

  SmallVector<Value> groupSubscripts() {
    SmallVector<Value> saved(starts), result;
    for (auto [d, group] : llvm::enumerate(lastGroup))
      if (group)
        starts[d] = group;
    for (int64_t d : indexType.getGroupDims())
      result.push_back(subscript(markedMap.getResult(d)));
    starts = saved;
    return result;
  }

  using Body = function_ref<SmallVector<Value>(ValueRange)>;

  /// A loop over `dims` and, if `overIds`, over the ids of the current group.
  template <typename LoopTy>
  SmallVector<Value> loop(ArrayRef<unsigned> dims, bool overIds,
                          ValueRange lower, ValueRange upper, ValueRange args,
                          Body body) {
    SmallVector<int64_t> steps;
    for (unsigned d : dims)
      steps.push_back(tile[d]);
    SmallVector<Value> saved(starts);
    SmallVector<Value> group =
        overIds ? groupSubscripts() : SmallVector<Value>();
    OpBuilder::InsertionGuard guard(rewriter);
    auto created =
        LoopTy::create(rewriter, loc, lower, upper, steps,
                       overIds ? index : Value(), group, tile[axis], args,
                       [&](OpBuilder &, Location, ValueRange ivs, Value chunk,
                           Value places, ValueRange carried) {
                         for (auto [d, iv] : llvm::zip(dims, ivs))
                           starts[d] = iv;
                         if (overIds) {
                           ids = chunk;
                           positions = places;
                         }
                         SmallVector<Value> next = body(carried);
                         YieldOp::create(rewriter, loc, next);
                       });
    starts = saved;
    return created.getResults();
  }

  template <typename LoopTy>
  SmallVector<Value> loop(ArrayRef<unsigned> dims, bool overIds,
                          ValueRange args, Body body) {
    SmallVector<Value> lower(dims.size(), zero), upper;
    for (unsigned d : dims)
      upper.push_back(extents[d]);
    return loop<LoopTy>(dims, overIds, lower, upper, args, body);
  }

  SmallVector<Value> parallelLoop() {
    SmallVector<unsigned> dims = loopsOf(Kind::Parallel);
    // Chunks of a single group are tiles like any other. If groups are numbered
    // by dims, their loops come first.
    bool overIds = !isReducedDim(op, axis) && !groups;
    auto inside = [&](ValueRange carried) {
      return overIds ? tileResults(carried) : conflictLoops(carried);
    };
    if (dims.empty() && !overIds)
      return inside(initial);
    return loop<ForallOp>(dims, overIds, initial, inside);
  }

  SmallVector<Value> conflictLoops(ValueRange args) {
    auto overGroup = [&](ValueRange carried) {
      if (isReducedDim(op, axis))
        return tileResults(carried);
      return loop<ForOp>({}, /*overIds=*/true, carried,
                         [&](ValueRange inner) { return tileResults(inner); });
    };
    return nest(loopsOf(Kind::Conflicting), args, overGroup);
  }

  /// One tile of each result: read, computed, written.
  SmallVector<Value> tileResults(ValueRange carried) {
    SmallVector<Value> outer, sums;
    for (unsigned r = 0; r < carried.size(); ++r) {
      outer.push_back(accumulator(r, carried[r]));
      if (!body.epilogue.op) {
        sums.push_back(outer.back());
        continue;
      }
      Value none = arith::ConstantOp::create(
          rewriter, loc, rewriter.getZeroAttr(body.accumulators[r]));
      Value empty = tensor::EmptyOp::create(
          rewriter, loc, tileShape(initMap(r)), body.accumulators[r]);
      sums.push_back(
          linalg::FillOp::create(rewriter, loc, none, empty).getResult(0));
    }
    SmallVector<unsigned> dims = loopsOf(Kind::Reduced);
    sums = reducedLoops(dims, sums);
    if (body.epilogue.op) {
      SmallVector<Value> inputs;
      for (unsigned number : body.epilogue.inputs)
        inputs.push_back(readInput(number));
      llvm::append_range(inputs, sums);
      sums = llvm::to_vector_of<Value>(
          cloneOntoTile(rewriter, body.epilogue.op, inputs, outer, starts)
              ->getResults());
    }
    SmallVector<Value> results;
    for (unsigned r = 0; r < carried.size(); ++r)
      results.push_back(write(r, sums[r], carried[r]));
    return results;
  }

  SmallVector<Value> reducedLoops(ArrayRef<unsigned> dims, ValueRange args) {
    return nest(dims, args, [&](ValueRange inner) {
      if (!isReducedDim(op, axis))
        return compute(inner);
      return loop<ForOp>({}, /*overIds=*/true, inner,
                         [&](ValueRange carried) { return compute(carried); });
    });
  }

  /// Sequential loops over `dims`, of which some may be peeled.
  SmallVector<Value> nest(ArrayRef<unsigned> dims, ValueRange args, Body body) {
    if (dims.empty())
      return body(args);
    if (llvm::none_of(dims, [&](unsigned d) { return peeled[d]; }))
      return loop<ForOp>(dims, /*overIds=*/false, args, body);
    unsigned d = dims.front();
    auto inside = [&](ValueRange carried) {
      return nest(dims.drop_front(), carried, body);
    };
    if (!peeled[d])
      return loop<ForOp>(d, /*overIds=*/false, args, inside);
    // Full tiles, then what is left, element by element, in the last group.
    AffineExpr extent = getAffineDimExpr(0, op->getContext());
    Value full = affine::AffineApplyOp::create(
        rewriter, loc, AffineMap::get(1, 0, extent - extent % tile[d]),
        extents[d]);
    SmallVector<Value> sums =
        loop<ForOp>(d, /*overIds=*/false, zero, full, args, inside);
    int64_t whole = tile[d];
    tile[d] = 1;
    lastGroup[d] = full;
    sums = loop<ForOp>(d, /*overIds=*/false, full, extents[d], sums, inside);
    lastGroup[d] = Value();
    tile[d] = whole;
    return sums;
  }

  SmallVector<Value> compute(ValueRange accumulators) {
    SmallVector<Value> inputs;
    for (unsigned number : body.inner.inputs)
      inputs.push_back(readInput(number));
    return llvm::to_vector_of<Value>(
        cloneOntoTile(rewriter, body.inner.op, inputs, accumulators, starts)
            ->getResults());
  }

  void finish(ArrayRef<Value> results) {
    for (auto [r, result] : llvm::enumerate(results)) {
      Value value = result, old = op->getResult(r);
      if (packedResults[r]) {
        for (Operation *user : llvm::make_early_inc_range(old.getUsers()))
          rewriter.replaceOp(user, value);
        continue;
      }
      if (value.getType() != old.getType())
        value = convert(value, getElementTypeOrSelf(old.getType()));
      if (markedResult)
        rewriter.replaceOp(mark, value);
      else
        rewriter.replaceAllUsesWith(old, value);
    }
    rewriter.eraseOp(op);
    for (Operation *scaffold : llvm::reverse(body.scaffolding))
      rewriter.eraseOp(scaffold);
  }

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  Location loc;
  RuleAttr rule;
  SparseOp mark;
  Value index;
  SparsityIndexType indexType;
  unsigned axis;
  SmallVector<int64_t> tile;
  bool markedResult = false;
  AffineMap markedMap;

  SmallVector<Kind> kinds;
  SmallVector<bool> single, peeled;
  bool groups = false;
  TileBody body;
  SmallVector<TypedAttr> pads;
  SmallVector<Value> extents, starts, sources, initial;
  /// Of a dim whose peeled tail is looped over, where its group starts.
  SmallVector<Value> lastGroup;
  SmallVector<bool> packed, packedResults;
  Value zero, mask, ids, positions;
};

struct TilePass : pit::impl::PitTileBase<TilePass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> planned;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op->hasAttr(kRuleAttrName))
        planned.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : planned)
      if (failed(tileOp(rewriter, op)))
        return signalPassFailure();
    expandWholeTensorOps(rewriter, getOperation());
  }

  LogicalResult tileOp(RewriterBase &rewriter, linalg::LinalgOp op) {
    auto rule = dyn_cast<RuleAttr>(op->getAttr(kRuleAttrName));
    if (!rule || rule.getOperand() < 0 ||
        rule.getOperand() >= static_cast<int64_t>(op->getNumOperands()))
      return op->emitOpError()
             << "has a " << kRuleAttrName << " without one of its operands";
    SparseOp mark = getIndexMark(op, rule);
    if (!mark)
      return op->emitOpError()
             << "has a rule for operand " << rule.getOperand()
             << ", which is not marked by pit.sparse index(..)";
    std::string why;
    if (failed(checkTileable(
            op, rule, cast<SparsityIndexType>(mark.getSelector().getType()),
            mark.getBackgroundOrZero(), why)))
      return op->emitOpError() << "cannot be tiled by its rule: " << why;
    Tiler(rewriter, op, rule, mark).run();
    return success();
  }
};
} // namespace
