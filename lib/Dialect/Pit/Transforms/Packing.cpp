//===- Packing.cpp - Linalg ops on packed tensors -------------------------===//

#include "Packing.h"

#include "pit/Analysis/PitAxis.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::pit;

std::optional<Packing> pit::getPacking(Operation *op) {
  auto read = dyn_cast<SReadOp>(op);
  if (read && read.isWhole() && read.getResult())
    return Packing{read.getSubscripts().front(), read.getGatheredDims()};
  auto write = dyn_cast<SWriteOp>(op);
  if (write && write.isWhole() && write.getResult() && !write.getCombine())
    return Packing{write.getSubscripts().front(), write.getGatheredDims()};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

FailureOr<std::optional<Packing>>
pit::getOperandPacking(AffineMap map, ArrayRef<unsigned> loops, Value index) {
  Packing packing{index, {}};
  for (unsigned loop : loops) {
    std::optional<unsigned> at =
        map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
    if (at)
      packing.dims.push_back(*at);
    else if (map.isFunctionOfDim(loop))
      return failure();
  }
  if (packing.dims.empty())
    return std::optional<Packing>();
  if (packing.dims.size() != loops.size())
    return failure();
  return std::optional<Packing>(packing);
}

FailureOr<SmallVector<unsigned>> pit::getPackedLoops(AffineMap map,
                                                     const Packing &packing) {
  SmallVector<unsigned> loops;
  for (int64_t d : packing.dims) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(d));
    if (!dim || llvm::is_contained(loops, dim.getPosition()))
      return failure();
    loops.push_back(dim.getPosition());
  }
  return loops;
}

bool pit::isPackable(linalg::LinalgOp op, ArrayRef<unsigned> loops,
                     Value index) {
  for (unsigned loop : loops) {
    AxisVerdict verdict = analyzeAxis(op, loop);
    // Results that lack the dim would miss what the index leaves out.
    if (!verdict.isAxis || !verdict.reducedResults.empty())
      return false;
  }
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return succeeded(
        getOperandPacking(op.getMatchingIndexingMap(&operand), loops, index));
  });
}

//===----------------------------------------------------------------------===//
// Packed tensors
//===----------------------------------------------------------------------===//

/// Dimensions of a tensor that stay when it is packed.
static SmallVector<int64_t> getKeptDims(int64_t rank, const Packing &packing) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(packing.dims, d))
      kept.push_back(d);
  return kept;
}

RankedTensorType pit::getPackedType(RankedTensorType type,
                                    const Packing &packing) {
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  for (int64_t d : getKeptDims(type.getRank(), packing))
    shape.push_back(type.getDimSize(d));
  return RankedTensorType::get(shape, type.getElementType());
}

Value pit::getShapeSource(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    auto result = cast<OpResult>(tensor);
    if (auto mark = dyn_cast<SparseOp>(op))
      tensor = mark.getInput();
    else if (auto written = dyn_cast<DestinationStyleOpInterface>(op))
      tensor = written.getTiedOpOperand(result)->get();
    else
      break;
  }
  return tensor;
}

Value pit::createEmptyLike(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, getShapeSource(tensor)),
      type.getElementType(), type.getEncoding());
}

Value pit::createPackedEmpty(OpBuilder &builder, Location loc, Value tensor,
                             const Packing &packing) {
  tensor = getShapeSource(tensor);
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes{
      ExtentOp::create(builder, loc, packing.index).getResult()};
  for (int64_t d : getKeptDims(type.getRank(), packing))
    sizes.push_back(tensor::getMixedSize(builder, loc, tensor, d));
  return tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
}

/// The `dims` of a whole-tensor SRead or SWrite; null if they are the default.
static DenseI64ArrayAttr getDimsAttr(OpBuilder &builder, int64_t rank,
                                     const Packing &packing) {
  SparsityIndexType index = packing.getType();
  SmallVector<int64_t> kept = getKeptDims(rank, packing), dims;
  unsigned nextGathered = 0, nextKept = 0;
  for (int64_t i = 0; i < index.getRank(); ++i) {
    if (!index.isWhole(i))
      dims.push_back(packing.dims[nextGathered++]);
    else if (nextKept < kept.size())
      dims.push_back(kept[nextKept++]);
    else
      dims.push_back(-1);
  }
  if (llvm::equal(dims, llvm::seq<int64_t>(dims.size())))
    return {};
  return builder.getDenseI64ArrayAttr(dims);
}

Value pit::createPack(OpBuilder &builder, Location loc, Value tensor,
                      const Packing &packing) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return SReadOp::create(builder, loc, getPackedType(type, packing), tensor,
                         packing.index, /*dest=*/Value(), /*pad=*/TypedAttr(),
                         getDimsAttr(builder, type.getRank(), packing))
      .getResult();
}

Value pit::createUnpack(OpBuilder &builder, Location loc, Value packed,
                        Value dest, const Packing &packing) {
  int64_t rank = cast<RankedTensorType>(dest.getType()).getRank();
  return SWriteOp::create(builder, loc, dest.getType(), packed, dest,
                          packing.index, /*combine=*/nullptr,
                          getDimsAttr(builder, rank, packing))
      .getResult();
}

//===----------------------------------------------------------------------===//
// Packed ops
//===----------------------------------------------------------------------===//

/// `op` as a linalg.generic in which `loops` are one dim.
static linalg::LinalgOp createCollapsed(RewriterBase &rewriter,
                                        linalg::LinalgOp op,
                                        ArrayRef<unsigned> loops, Value index,
                                        ArrayRef<Value> operands) {
  MLIRContext *context = op->getContext();
  // The packed dim takes the place of the first of its dims.
  unsigned place = *llvm::min_element(loops), count = 0;
  SmallVector<AffineExpr> dims(op.getNumLoops());
  SmallVector<utils::IteratorType> iterators;
  for (auto [d, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (d != place && llvm::is_contained(loops, d))
      continue;
    dims[d] = getAffineDimExpr(count++, context);
    iterators.push_back(d == place ? utils::IteratorType::parallel : iterator);
  }
  for (unsigned loop : loops)
    dims[loop] = dims[place];

  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> results;
    if (std::optional<Packing> packing =
            *getOperandPacking(map, loops, index)) {
      results.push_back(dims[place]);
      for (int64_t d : getKeptDims(map.getNumResults(), *packing))
        results.push_back(map.getResult(d).replaceDims(dims));
    } else {
      for (AffineExpr expr : map.getResults())
        results.push_back(expr.replaceDims(dims));
    }
    maps.push_back(AffineMap::get(count, 0, results, context));
  }

  ArrayRef<Value> inputs = operands.take_front(op.getNumDpsInputs());
  ArrayRef<Value> inits = operands.drop_front(op.getNumDpsInputs());
  auto packed = linalg::GenericOp::create(rewriter, op.getLoc(),
                                          ValueRange(inits).getTypes(), inputs,
                                          inits, maps, iterators);
  packed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op->getRegion(0).cloneInto(&packed.getRegion(), mapping);
  packed.getRegion().walk([&](linalg::IndexOp coordinate) {
    auto dim = cast<AffineDimExpr>(dims[coordinate.getDim()]);
    coordinate.setDim(dim.getPosition());
  });
  return packed;
}

linalg::LinalgOp pit::createPacked(RewriterBase &rewriter, linalg::LinalgOp op,
                                   ArrayRef<unsigned> loops, Value index,
                                   ArrayRef<Value> operands) {
  if (isa<linalg::FillOp>(op.getOperation()))
    return linalg::FillOp::create(rewriter, op.getLoc(), operands.front(),
                                  operands.back());
  // One dim that leads its operands already: the same op.
  bool inPlace = loops.size() == 1 &&
                 llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
                   auto packing = *getOperandPacking(
                       op.getMatchingIndexingMap(&operand), loops, index);
                   return !packing || packing->dims.front() == 0;
                 });
  if (!inPlace)
    return createCollapsed(rewriter, op, loops, index, operands);
  SmallVector<Type> types;
  for (Value init : operands.take_back(op.getNumDpsInits()))
    types.push_back(init.getType());
  return clone(rewriter, op, types, operands);
}
