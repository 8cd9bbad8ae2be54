//===- TilerOperands.cpp - What a tiled op reads and writes ---------------===//

#include "Selection.h"
#include "Tiler.h"

#include "pit/Analysis/Combiner.h"
#include "pit/Analysis/Padding.h"
#include "pit/Analysis/Skipping.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::pit;

/// Positions of an id that the second of two phases reads at once: as many as a
/// token has slots, if that is known and not more.
static int64_t getPartChunk(Value index) {
  constexpr int64_t most = 4;
  auto op = index.getDefiningOp<IndexOp>();
  if (!op || op.getSource() != Source::Assignment)
    return most;
  int64_t slots = cast<ShapedType>(op.getInput().getType()).getDimSize(1);
  return ShapedType::isDynamic(slots) ? most
                                      : std::clamp<int64_t>(slots, 1, most);
}

SmallVector<unsigned> Tiler::innerDims(ArrayRef<unsigned> dims) {
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

void Tiler::choosePads() {
  std::optional<unsigned> marked;
  for (auto [i, number] : llvm::enumerate(body.inner.inputs))
    if (isMarkedInput(number))
      marked = i;
  TypedAttr background = mark ? mark.getBackgroundOrZero() : TypedAttr();
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
      tile[*axis] = 1;
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

void Tiler::ranges() {
  for (Range range : op.createLoopRanges(rewriter, loc))
    extents.push_back(
        getValueOrCreateConstantIndexOp(rewriter, loc, range.size));
  starts.assign(op.getNumLoops(), zero);
  lastGroup.assign(op.getNumLoops(), Value());
}

bool Tiler::isReadOften(AffineMap map) {
  if (op.getNumReductionLoops() == 0)
    return false;
  if (kernels)
    return !map.isProjectedPermutation() ||
           map.getNumResults() < op.getNumLoops();
  return llvm::any_of(loopsOf(Kind::Parallel),
                      [&](unsigned d) { return !map.isFunctionOfDim(d); });
}

void Tiler::resolveOperands() {
  // While the operands still tell which of them are the marked tensor.
  skipped.resize(op.getNumDpsInits());
  if (mark && !markedResult)
    skipped = analyzeSkipping(op, rule.getOperand(), mark.getBackgroundOrZero())
                  .results;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    if (isMarkedInput(input->getOperandNumber())) {
      value = mark.getInput();
      auto selection = value.getDefiningOp<SparseOp>();
      // What the mask leaves out becomes the background, of which there is one.
      if (selection && selection.getSource() == Source::Mask &&
          selection.getBackgroundOrZero() == mark.getBackgroundOrZero() &&
          (selection.getAssume() ||
           selection.getInput().getDefiningOp<SWriteOp>() ||
           !isReadOften(op.getMatchingIndexingMap(input)))) {
        value = selection.getInput();
        if (!selection.getAssume())
          mask = selection.getSelector();
      }
    } else if (mark && value == mark.getResult() &&
               op.getMatchingIndexingMap(input) == markedMap) {
      // Another input that is the marked tensor: tiles are read where the index
      // selects all.
      value = mark.getInput();
    }
    auto unpack = value.getDefiningOp<SWriteOp>();
    packed.push_back(
        unpack && unpack.isWhole() && !unpack.getCombine() &&
        unpack.getSubscripts().front() == index &&
        isPackedLike(op.getMatchingIndexingMap(input), unpack.getPackedDims()));
    sources.push_back(packed.back() ? unpack.getTile() : value);
    // Extents are those of what is read; the mark is gone after this.
    rewriter.modifyOpInPlace(op, [&] { input->set(value); });
  }
}

bool Tiler::isOne(unsigned number) {
  Value value = op->getOperand(number);
  if (isMarkedInput(number)) {
    // Tiles are read where the index selects.
    value = mark.getInput();
    if (auto unpack = value.getDefiningOp<SWriteOp>();
        unpack && unpack.isWhole() && !unpack.getCombine() &&
        unpack.getSubscripts().front() == index)
      value = unpack.getTile();
    if (auto cast = value.getDefiningOp<tensor::CastOp>())
      value = cast.getSource();
  }
  auto constant = dyn_cast_or_null<FloatAttr>(getUniformConstant(value));
  return constant && constant.getValue().isExactlyValue(1.0);
}

bool Tiler::isPackedLike(AffineMap map, ArrayRef<int64_t> dims) {
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

Value Tiler::subscript(AffineExpr expr) {
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

SmallVector<Value> Tiler::subscripts(AffineMap map) {
  SmallVector<Value> result;
  for (AffineExpr expr : map.getResults())
    result.push_back(subscript(expr));
  return result;
}

SmallVector<Value> Tiler::positionSubscripts(AffineMap map) {
  SmallVector<Value> result = subscripts(map);
  std::replace(result.begin(), result.end(), ids, positions);
  return result;
}

SmallVector<int64_t> Tiler::tileShape(AffineMap map) {
  SmallVector<int64_t> shape;
  for (AffineExpr expr : map.getResults())
    shape.push_back(matchLinear(expr)->extent(tile));
  return shape;
}

Value Tiler::read(Value source, AffineMap map, Type element, TypedAttr pad) {
  auto type = RankedTensorType::get(tileShape(map), element);
  return SReadOp::create(rewriter, loc, type, source, subscripts(map), pad)
      .getResult();
}

SmallVector<ReassociationIndices> Tiler::packing(ArrayRef<bool> dropped) {
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

SmallVector<bool> Tiler::groupDimsOf(AffineMap map) {
  SmallVector<bool> dropped(map.getNumResults(), false);
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    for (int64_t g : indexType.getGroupDims())
      dropped[d] = dropped[d] || expr == markedMap.getResult(g);
  return dropped;
}

SmallVector<Value> Tiler::packedSubscripts(AffineMap map) {
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

RankedTensorType Tiler::packedTileType(AffineMap map, Type element) {
  SmallVector<bool> dropped = groupDimsOf(map);
  SmallVector<int64_t> shape;
  for (auto [d, extent] : llvm::enumerate(tileShape(map)))
    if (!dropped[d])
      shape.push_back(extent);
  return RankedTensorType::get(shape, element);
}

Value Tiler::readPacked(Value source, AffineMap map, Type element,
                        TypedAttr pad, bool slim) {
  RankedTensorType type = packedTileType(map, element);
  Value rows =
      SReadOp::create(rewriter, loc, type, source, packedSubscripts(map), pad)
          .getResult();
  auto full = RankedTensorType::get(tileShape(map), element);
  if (full == type || slim)
    return rows;
  return tensor::ExpandShapeOp::create(rewriter, loc, full, rows,
                                       packing(groupDimsOf(map)));
}

Value Tiler::readInput(unsigned number) {
  Value source = sources[number];
  auto type = dyn_cast<RankedTensorType>(source.getType());
  if (!type)
    return source; // a scalar
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
  Type element = type.getElementType();
  Value result = packed[number] ? readPacked(source, map, element, pads[number],
                                             isInputSlim(number))
                                : read(source, map, element, pads[number]);
  if (mask && number == rule.getOperand())
    result = select(result, map);
  return result;
}

bool Tiler::isInputSlim(unsigned number) {
  // A mask is read unpacked.
  return !op.hasIndexSemantics() && packed[number] &&
         !(mask && number == rule.getOperand());
}

bool Tiler::isResultSlim(unsigned r) {
  // What is read from an unpacked init has all dims, and so have results of
  // which perhaps not all are packed.
  return op->getNumResults() == 1 && !op.hasIndexSemantics() &&
         packedResults[r] &&
         (fillOf(op.getDpsInits()[r]) || !getAccumulatorUsed(r));
}

SmallVector<int64_t> Tiler::resultShape(unsigned r) {
  return isResultSlim(r)
             ? to_vector(
                   packedTileType(initMap(r), body.accumulators[r]).getShape())
             : tileShape(initMap(r));
}

Value Tiler::select(Value values, AffineMap map) {
  // Bytes: vectors of i1 do not lie in memory.
  Type maskElement = getElementTypeOrSelf(mask);
  if (maskElement.isInteger(1))
    maskElement = rewriter.getI8Type();
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
        Value chosen = isNotZero(b, l, args[0]);
        Value other = arith::ConstantOp::create(b, l, background);
        linalg::YieldOp::create(
            b, l,
            arith::SelectOp::create(b, l, chosen, args[1], other).getResult());
      });
  return generic.getResult(0);
}

AffineMap Tiler::initMap(unsigned r) {
  return op.getMatchingIndexingMap(op.getDpsInitOperand(r));
}

Value Tiler::fillOf(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return fill.value();
  return {};
}

Value Tiler::emptyLike(Value tensor, Type element) {
  return tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, tensor), element);
}

bool Tiler::writesAgain() {
  return conflicts != Conflicts::Disjoint &&
         llvm::is_contained(kinds, Kind::Conflicting);
}

/// Is `value` what a loop around carries, or a slice of it that is updated?
static bool isCarried(Value value) {
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return value.hasOneUse() && isCarried(slice.getSource());
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<scf::ForOp>(argument.getOwner()->getParentOp());
}

/// A tile of what a loop around carries is read where it is written: then the
/// loop's tensor is updated, and not made again and copied in each iteration.
bool Tiler::writesInPlace(unsigned r) {
  return isCarried(op.getDpsInits()[r]) && getAccumulatorUsed(r) &&
         writesAllTiles() && !hasTwoPhases() && !packedResults[r];
}

void Tiler::start() {
  bool conflicting = writesAgain();
  for (unsigned r = 0; r < op.getNumDpsInits(); ++r) {
    Value init = op.getDpsInits()[r];
    Type element = getElementTypeOrSelf(init.getType());
    bool widened = conflicting && element != body.accumulators[r];
    packedResults.push_back(!conflicting && findPackedReads(r));
    if (packedResults.back()) {
      initial.push_back(emptyPacked(r));
    } else if (markedResult) {
      Value background =
          arith::ConstantOp::create(rewriter, loc, mark.getBackgroundOrZero());
      initial.push_back(linalg::FillOp::create(rewriter, loc, background,
                                               emptyLike(init, element))
                            .getResult(0));
    } else if (skipped[r].kind == ResultEffect::Kind::Constant) {
      Value constant = arith::ConstantOp::create(
          rewriter, loc, cast<TypedAttr>(skipped[r].constant));
      initial.push_back(linalg::FillOp::create(rewriter, loc, constant,
                                               emptyLike(init, element))
                            .getResult(0));
    } else if (skipped[r].kind == ResultEffect::Kind::Copy) {
      initial.push_back(op->getOperand(skipped[r].operand));
    } else if (writesInPlace(r)) {
      initial.push_back(init);
    } else if (writesAllTiles() || hasTwoPhases()) {
      // Every tile is written, of two phases by the second one; what is added
      // up starts from the init.
      initial.push_back(emptyLike(init, element));
    } else if (widened) {
      initial.push_back(widen(init, body.accumulators[r]));
    } else if (isa<BlockArgument>(init)) {
      // An argument cannot be updated in place. A copy into a tensor that
      // bufferization is free to place is one copy, not two.
      initial.push_back(
          linalg::CopyOp::create(rewriter, loc, init, emptyLike(init, element))
              .getResult(0));
    } else {
      initial.push_back(init);
    }
  }
}

Value Tiler::widen(Value tensor, Type element) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return convert(tensor, element);
  Value value =
      rewriter.createOrFold<arith::ExtFOp>(loc, element, fill.value());
  return linalg::FillOp::create(rewriter, loc, value,
                                emptyLike(tensor, element))
      .getResult(0);
}

Value Tiler::convert(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = emptyLike(tensor, element);
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  bool widens = type.getElementTypeBitWidth() < element.getIntOrFloatBitWidth();
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

Value Tiler::outcome(unsigned r) {
  return markedResult ? Value(mark.getResult()) : op->getResult(r);
}

bool Tiler::findPackedReads(unsigned r) {
  Value result = outcome(r);
  return !result.use_empty() &&
         llvm::all_of(result.getUsers(), [&](Operation *user) {
           auto read = dyn_cast<SReadOp>(user);
           return read && read.isWhole() &&
                  read.getSubscripts().front() == index &&
                  isPackedLike(initMap(r), read.getPackedDims());
         });
}

Value Tiler::emptyPacked(unsigned r) {
  auto read = cast<SReadOp>(*outcome(r).getUsers().begin());
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

Value Tiler::filled(unsigned r, TypedAttr constant) {
  Type element = body.accumulators[r];
  if (!constant)
    constant = identityOf(matchCombiner(op, r)->ops.front(), element);
  Value value = arith::ConstantOp::create(rewriter, loc, constant);
  Value empty = tensor::EmptyOp::create(rewriter, loc, resultShape(r), element);
  return linalg::FillOp::create(rewriter, loc, value, empty).getResult(0);
}

Value Tiler::emptyParts(unsigned r) {
  SmallVector<OpFoldResult> sizes;
  for (auto [d, expr] : llvm::enumerate(initMap(r).getResults())) {
    bool isAxis = cast<AffineDimExpr>(expr).getPosition() == axis;
    sizes.push_back(
        isAxis
            ? OpFoldResult(ExtentOp::create(rewriter, loc, index).getResult())
            : tensor::getMixedSize(rewriter, loc, op.getDpsInits()[r], d));
  }
  return tensor::EmptyOp::create(rewriter, loc, sizes, partElement(r));
}

Type Tiler::partElement(unsigned r) {
  return conflicts == Conflicts::TwoPhaseRounded
             ? getElementTypeOrSelf(op.getDpsInits()[r].getType())
             : body.accumulators[r];
}

Value Tiler::addParts(unsigned r, Value parts, Value transpose) {
  AffineMap map = initMap(r);
  Type element = body.accumulators[r];
  Value init = op.getDpsInits()[r];
  auto type = RankedTensorType::get(tileShape(map), element);
  Value sum;
  if (Value fill = fillOf(init)) {
    if (fill.getType() != element)
      fill = arith::ExtFOp::create(rewriter, loc, element, fill);
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, type.getShape(), element);
    sum = linalg::FillOp::create(rewriter, loc, fill, empty).getResult(0);
  } else {
    sum = read(init, map, element);
  }
  // Lists end with identities, which add nothing.
  Operation *combine = matchCombiner(op, r)->ops.front();
  TypedAttr identity = identityOf(combine, partElement(r));
  arith::AtomicRMWKind kind = *atomicKindOf(combine);
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<AffineExpr> from, to;
  unsigned chunkDim = type.getRank();
  int64_t size = getPartChunk(index);
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    bool isAxis = cast<AffineDimExpr>(expr).getPosition() == axis;
    to.push_back(rewriter.getAffineDimExpr(d));
    from.push_back(rewriter.getAffineDimExpr(isAxis ? chunkDim : d));
    if (isAxis)
      shape[d] = size;
  }
  SmallVector<AffineMap> maps =
      AffineMap::inferFromExprList({from, to}, op->getContext());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto addChunk = [&](OpBuilder &, Location, ValueRange, Value chunk, Value,
                      ValueRange carried) {
    positions = chunk;
    Value part = SReadOp::create(rewriter, loc,
                                 RankedTensorType::get(shape, partElement(r)),
                                 parts, positionSubscripts(map), identity)
                     .getResult();
    Value next =
        linalg::GenericOp::create(
            rewriter, loc, type, part, carried.front(), maps, iterators,
            [&](OpBuilder &b, Location l, ValueRange args) {
              Value value = args[0];
              if (value.getType() != element)
                value = arith::ExtFOp::create(b, l, element, value);
              linalg::YieldOp::create(
                  b, l, arith::getReductionOp(kind, b, l, args[1], value));
            })
            .getResult(0);
    YieldOp::create(rewriter, loc, next);
  };
  OpBuilder::InsertionGuard guard(rewriter);
  return ForOp::create(rewriter, loc, ValueRange(), ValueRange(),
                       ArrayRef<int64_t>(), transpose, starts[*axis], size, sum,
                       addChunk)
      .getResult(0);
}

Value Tiler::accumulator(unsigned r, Value carried) {
  AffineMap map = initMap(r);
  Value init = op.getDpsInits()[r];
  Type element = body.accumulators[r];
  if (!getAccumulatorUsed(r))
    return tensor::EmptyOp::create(rewriter, loc, resultShape(r), element);
  // What the tile sums is combined with the outputs when it is written, or
  // later.
  if (conflicts == Conflicts::Atomic || hasTwoPhases())
    return filled(r);
  bool conflicting = writesAgain();
  Value fill = fillOf(init);
  if (fill && !conflicting) {
    if (fill.getType() != element)
      fill = arith::ExtFOp::create(rewriter, loc, element, fill);
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, resultShape(r), element);
    return linalg::FillOp::create(rewriter, loc, fill, empty).getResult(0);
  }
  // What conflicting groups have added so far is in the carried tensor.
  bool inCarried = conflicting || writesInPlace(r);
  return read(inCarried ? carried : init, map, element);
}

bool Tiler::getAccumulatorUsed(unsigned r) {
  return !op.getMatchingBlockArgument(op.getDpsInitOperand(r)).use_empty();
}

Value Tiler::write(unsigned r, Value value, Value carried) {
  AffineMap map = initMap(r);
  if (hasTwoPhases())
    return SWriteOp::create(rewriter, loc, value, carried,
                            positionSubscripts(map))
        .getResult();
  std::optional<arith::AtomicRMWKind> combine;
  if (conflicts == Conflicts::Atomic)
    combine = atomicKindOf(matchCombiner(op, r)->ops.front());
  if (!packedResults[r])
    return SWriteOp::create(rewriter, loc, value, carried, subscripts(map),
                            combine)
        .getResult();
  RankedTensorType type =
      packedTileType(map, getElementTypeOrSelf(value.getType()));
  if (type != value.getType())
    value = tensor::CollapseShapeOp::create(rewriter, loc, type, value,
                                            packing(groupDimsOf(map)));
  return SWriteOp::create(rewriter, loc, value, carried, packedSubscripts(map))
      .getResult();
}
