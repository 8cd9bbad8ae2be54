//===- Index.cpp - Indices and tiles in memory ----------------------------===//

#include "Index.h"

#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

namespace {
// The layout of `pit_index`, include/pit-runtime/Index.h.
enum Field : int64_t {
  CountsField = 8,
  OffsetsField = 16,
  IdsField = 24,
  GroupsField = 48,
  ExtentField = 56,
  TotalField = 64,
  CapacityField = 80,
  ShapeField = 112,
  GroupShapeField = 112 + 3 * 64,
};
} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value mlir::pit::memrefAt(OpBuilder &builder, Location loc, Value pointer,
                          MemRefType type, ValueRange dynamic) {
  // The descriptor that MLIR's memref lowering agrees on: allocated and aligned
  // pointer, offset, sizes, strides.
  Type i64 = builder.getI64Type();
  int64_t rank = type.getRank();
  auto array = LLVM::LLVMArrayType::get(i64, rank);
  SmallVector<Type> fields = {pointer.getType(), pointer.getType(), i64};
  if (rank)
    fields.append({array, array});
  auto structType =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  };
  Value descriptor = LLVM::UndefOp::create(builder, loc, structType);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  insert(pointer, 0);
  insert(pointer, 1);
  insert(constant(0), 2);
  SmallVector<Value> sizes;
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent)) {
      sizes.push_back(
          arith::IndexCastOp::create(builder, loc, i64, dynamic.front()));
      dynamic = dynamic.drop_front();
    } else {
      sizes.push_back(constant(extent));
    }
  }
  Value stride = constant(1);
  for (int64_t d = rank - 1; d >= 0; --d) {
    insert(sizes[d], {3, d});
    insert(stride, {4, d});
    if (d)
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[d]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

int64_t mlir::pit::elementBytes(Type element) {
  if (isa<IndexType>(element))
    return 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Value mlir::pit::addressAt(OpBuilder &builder, Location loc, Value pointer,
                           int64_t byte) {
  return LLVM::GEPOp::create(
      builder, loc, pointer.getType(), builder.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(byte)});
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static Value loadIndexField(OpBuilder &builder, Location loc, Value pointer,
                            int64_t byte) {
  return ArithEmitter(builder, loc)
      .toIndex(LLVM::LoadOp::create(builder, loc, builder.getI64Type(),
                                    addressAt(builder, loc, pointer, byte)));
}

static Value loadArrayField(OpBuilder &builder, Location loc, Value pointer,
                            int64_t byte, unsigned space, Type element,
                            Value extent) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), space);
  Value array = LLVM::LoadOp::create(builder, loc, type,
                                     addressAt(builder, loc, pointer, byte));
  if (space)
    array = LLVM::AddrSpaceCastOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), array);
  return memrefAt(builder, loc, array,
                  MemRefType::get(ShapedType::kDynamic, element), extent);
}

IndexView mlir::pit::readIndex(OpBuilder &builder, Location loc,
                               SparsityIndexType type, Value pointer,
                               unsigned space) {
  IndexView view;
  view.type = type;
  view.pointer = pointer;
  view.groups = loadIndexField(builder, loc, pointer, GroupsField);
  view.extent = loadIndexField(builder, loc, pointer, ExtentField);
  view.total = loadIndexField(builder, loc, pointer, TotalField);
  Value capacity = loadIndexField(builder, loc, pointer, CapacityField);
  view.counts = loadArrayField(builder, loc, pointer, CountsField, space,
                               builder.getI32Type(), view.groups);
  view.offsets = loadArrayField(builder, loc, pointer, OffsetsField, space,
                                builder.getI64Type(), view.groups);
  view.ids = loadArrayField(builder, loc, pointer, IdsField, space,
                            builder.getI32Type(), capacity);
  for (int64_t d : type.getGroupDims())
    view.groupShape.push_back(
        loadIndexField(builder, loc, pointer, GroupShapeField + 8 * d));
  view.axisExtent =
      loadIndexField(builder, loc, pointer, ShapeField + 8 * type.getAxis());
  return view;
}

std::pair<Value, Value> IndexView::countAndOffset(OpBuilder &builder,
                                                  Location loc,
                                                  ValueRange group) const {
  ArithEmitter e(builder, loc);
  Value zero = e.index(0), number = zero, exists = e.lessThan(zero, groups);
  for (auto [i, subscript] : llvm::enumerate(group)) {
    int64_t step = type.getStep()[type.getGroupDims()[i]];
    Value coordinate = e.div(subscript, step);
    exists = e.logicalAnd(exists, e.inRange(coordinate, groupShape[i]));
    number = e.add(e.mul(number, groupShape[i]), coordinate);
  }
  auto branch = scf::IfOp::create(
      builder, loc, exists,
      [&](OpBuilder &b, Location l) {
        Value count = memref::LoadOp::create(b, l, counts, number);
        Value offset = memref::LoadOp::create(b, l, offsets, number);
        scf::YieldOp::create(b, l,
                             ValueRange{e.toIndex(count), e.toIndex(offset)});
      },
      [&](OpBuilder &b, Location l) {
        scf::YieldOp::create(b, l, ValueRange{zero, zero});
      });
  return {branch.getResult(0), branch.getResult(1)};
}

Value IndexView::liveFraction(OpBuilder &builder, Location loc) const {
  ArithEmitter e(builder, loc);
  auto toFloat = [&](Value index) -> Value {
    return arith::SIToFPOp::create(builder, loc, builder.getF64Type(),
                                   e.toI64(index));
  };
  // No micro-tiles: 0 of 1.
  Value all = e.max(e.mul(groups, axisExtent), e.index(1));
  return arith::DivFOp::create(builder, loc, toFloat(total), toFloat(all));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

bool TileDimension::isFull() const {
  APInt value;
  return !ids && matchPattern(limit, m_ConstantInt(&value)) && value == extent;
}

/// Does a loop run through a dimension of `size` elements in whole tiles of
/// `extent`, one of which begins at `start`?
static bool isWholeTile(Value start, int64_t size, int64_t extent) {
  auto iv = dyn_cast<BlockArgument>(start);
  auto loop = iv ? dyn_cast<LoopLikeOpInterface>(iv.getOwner()->getParentOp())
                 : LoopLikeOpInterface();
  if (!loop || !isa<scf::ParallelOp, scf::ForOp>(*loop) ||
      iv.getArgNumber() >= loop.getLoopLowerBounds()->size())
    return false;
  unsigned i = iv.getArgNumber();
  std::optional<int64_t> lower = getConstantIntValue(
                             (*loop.getLoopLowerBounds())[i]),
                         upper = getConstantIntValue(
                             (*loop.getLoopUpperBounds())[i]),
                         step = getConstantIntValue((*loop.getLoopSteps())[i]);
  return lower && upper && step && *lower >= 0 && *upper <= size &&
         *lower % extent == 0 && *step % extent == 0 && size % extent == 0;
}

/// How many of `extent` elements from `start` on lie inside of dimension d;
/// none if it starts below 0.
static Value inside(OpBuilder &builder, Location loc, Value tensor, unsigned d,
                    Value start, int64_t extent) {
  auto type = cast<MemRefType>(tensor.getType());
  APInt constant;
  if (!type.isDynamicDim(d) && extent == type.getDimSize(d) &&
      matchPattern(start, m_ConstantInt(&constant)) && constant.isZero())
    return constantIndex(builder, loc, extent);
  if (!type.isDynamicDim(d) && isWholeTile(start, type.getDimSize(d), extent))
    return constantIndex(builder, loc, extent);
  ArithEmitter e(builder, loc);
  Value zero = e.index(0);
  Value size = memref::DimOp::create(builder, loc, tensor, d);
  Value left = e.min(e.max(e.sub(size, start), zero), e.index(extent));
  Value valid = e.compare(arith::CmpIPredicate::sge, start, zero);
  return e.select(valid, left, zero);
}

ChunkView mlir::pit::chunkOf(OpBuilder &builder, IdsOp op, Value list,
                             ValueRange subscripts) {
  Location loc = op.getLoc();
  ArithEmitter e(builder, loc);
  auto type = cast<MemRefType>(list.getType());
  unsigned last = type.getRank() - 1;
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, list);
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  for (auto [subscript, stride] : llvm::zip(
           subscripts.drop_back(), metadata.getConstifiedMixedStrides())) {
    Value by = getValueOrCreateConstantIndexOp(builder, loc, stride);
    Value from = getValueOrCreateConstantIndexOp(builder, loc, offset);
    offset = getAsOpFoldResult(e.add(from, e.mul(subscript, by)));
  }
  OpFoldResult size = metadata.getConstifiedMixedSizes().back();
  OpFoldResult one = builder.getIndexAttr(1);
  auto layout = StridedLayoutAttr::get(
      builder.getContext(),
      getConstantIntValue(offset).value_or(ShapedType::kDynamic), {1});
  auto row = MemRefType::get(type.getDimSize(last), type.getElementType(),
                             layout, type.getMemorySpace());
  Value ids = memref::ReinterpretCastOp::create(
      builder, loc, row, metadata.getBaseBuffer(), offset, size, one);
  Value start = subscripts.back();
  Value live =
      inside(builder, loc, list, last, start, op.getIds().getType().getSize());
  // If there is no live id, the first one is read in its place.
  Value end =
      e.sub(getValueOrCreateConstantIndexOp(builder, loc, size), e.index(1));
  return {ids, e.max(e.min(start, end), e.index(0)), live, Value()};
}

TileDimension mlir::pit::tileDimension(OpBuilder &builder, Location loc,
                                       const TilePlace &tile, unsigned d,
                                       const ChunkMap &chunks) {
  Value tensor = tile.memref, subscript = tile.subscripts[d];
  int64_t extent = tile.shape[d];
  if (!isa<IdsType>(subscript.getType()))
    return {extent, inside(builder, loc, tensor, d, subscript, extent),
            subscript, Value(), Value()};
  const ChunkView &chunk = chunks.at(subscript);
  if (chunk.ids)
    return {extent, chunk.live, chunk.start, chunk.ids,
            memref::DimOp::create(builder, loc, tensor, d)};
  Value limit = ArithEmitter(builder, loc)
                    .min(chunk.live,
                         inside(builder, loc, tensor, d, chunk.start, extent));
  return {extent, limit, chunk.start, Value(), Value()};
}

SmallVector<TileDimension> mlir::pit::tileDimensions(OpBuilder &builder,
                                                     Location loc,
                                                     const TilePlace &tile,
                                                     const ChunkMap &chunks) {
  SmallVector<TileDimension> dims;
  for (unsigned d = 0; d < tile.subscripts.size(); ++d)
    dims.push_back(tileDimension(builder, loc, tile, d, chunks));
  return dims;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void mlir::pit::appendIds(OpBuilder &builder, Location loc,
                          const IndexView &index, ValueRange group,
                          int64_t chunk, LoopBounds &bounds) {
  std::tie(bounds.count, bounds.offset) =
      index.countAndOffset(builder, loc, group);
  bounds.lower.push_back(constantIndex(builder, loc, 0));
  bounds.upper.push_back(bounds.count);
  bounds.steps.push_back(constantIndex(builder, loc, chunk));
}

template <typename LoopTy>
LoopBounds mlir::pit::loopBounds(OpBuilder &builder, LoopTy loop,
                                 const IndexMap &indices) {
  Location loc = loop.getLoc();
  LoopBounds bounds;
  llvm::append_range(bounds.lower, loop.getLower());
  llvm::append_range(bounds.upper, loop.getUpper());
  for (int64_t step : loop.getSteps())
    bounds.steps.push_back(constantIndex(builder, loc, step));
  if constexpr (std::is_same_v<LoopTy, MainloopOp>)
    if (!loop.getGroups().empty())
      return bounds;
  if (loop.getIndex())
    appendIds(builder, loc, indices.at(loop.getIndex()), loop.getGroup(),
              loop.getChunk(), bounds);
  return bounds;
}

template <typename LoopTy>
void mlir::pit::moveLoopBody(RewriterBase &rewriter, LoopTy loop, NewBody to,
                             const LoopBounds &bounds, const IndexMap &indices,
                             ChunkMap &chunks) {
  auto &[block, ivs] = to;
  Location loc = loop.getLoc();
  Block::iterator end = block->end();
  if (block->mightHaveTerminator())
    end = block->getTerminator()->getIterator();
  rewriter.setInsertionPoint(block, end);
  if (Value index = loop.getIndex()) {
    Value first = ivs.pop_back_val();
    ArithEmitter e(rewriter, loc);
    Value start = e.add(bounds.offset, first);
    Value live = e.min(e.sub(bounds.count, first), e.index(loop.getChunk()));
    chunks[loop.getIds()] = {indices.at(index).ids, start, live, first};
    chunks[loop.getPositions()] = {Value(), start, live, first};
  }
  for (auto [from, iv] : llvm::zip_equal(loop.getInductionVars(), ivs))
    rewriter.replaceAllUsesWith(from, iv);
  Block *body = loop.getBody();
  rewriter.eraseOp(body->getTerminator());
  block->getOperations().splice(end, body->getOperations());
}

template <typename LoopTy>
Operation *
mlir::pit::lowerToSequentialLoops(RewriterBase &rewriter, LoopTy loop,
                                  const IndexMap &indices, ChunkMap &chunks) {
  LoopBounds bounds = loopBounds(rewriter, loop, indices);
  SmallVector<scf::ForOp> nest;
  SmallVector<Value> ivs;
  for (auto [lower, upper, step] :
       llvm::zip(bounds.lower, bounds.upper, bounds.steps)) {
    nest.push_back(
        scf::ForOp::create(rewriter, loop.getLoc(), lower, upper, step));
    ivs.push_back(nest.back().getInductionVar());
    rewriter.setInsertionPointToStart(nest.back().getBody());
  }
  moveLoopBody(rewriter, loop, {nest.back().getBody(), ivs}, bounds, indices,
               chunks);
  return nest.front();
}

namespace mlir::pit {
template LoopBounds loopBounds(OpBuilder &, ForallOp, const IndexMap &);
template LoopBounds loopBounds(OpBuilder &, ForOp, const IndexMap &);
template LoopBounds loopBounds(OpBuilder &, MainloopOp, const IndexMap &);
template void moveLoopBody(RewriterBase &, ForallOp, NewBody,
                           const LoopBounds &, const IndexMap &, ChunkMap &);
template void moveLoopBody(RewriterBase &, ForOp, NewBody, const LoopBounds &,
                           const IndexMap &, ChunkMap &);
template Operation *lowerToSequentialLoops(RewriterBase &, ForallOp,
                                           const IndexMap &, ChunkMap &);
template Operation *lowerToSequentialLoops(RewriterBase &, ForOp,
                                           const IndexMap &, ChunkMap &);
} // namespace mlir::pit
