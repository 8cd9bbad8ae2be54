//===- TilerOperands.cpp - What a tiled op reads --------------------------===//

#include "Selection.h"
#include "Tiler.h"

#include "pit/Analysis/Padding.h"
#include "pit/Analysis/Skipping.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

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
  OrRefusal<SmallVector<TypedAttr>> found =
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
  // This comes first: the operands still tell which of them are the marked
  // tensor.
  skipped.resize(op.getNumDpsInits());
  if (mark && !markedResult)
    skipped = analyzeSkipping(op, rule.getOperand(), mark.getBackgroundOrZero())
                  .results;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    if (isMarkedInput(input->getOperandNumber())) {
      value = mark.getInput();
      auto selection = value.getDefiningOp<SparseOp>();
      // Elements that the mask leaves out become the background, of which there
      // is one.
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
