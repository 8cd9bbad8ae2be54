//===- PitTileOps.cpp - SRead and SWrite ----------------------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

#include "Verify.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Shared by both
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> packedDims(std::optional<ArrayRef<int64_t>> dims,
                                       Value index) {
  if (dims)
    return SmallVector<int64_t>(*dims);
  return llvm::to_vector(
      llvm::seq<int64_t>(cast<SparsityIndexType>(index.getType()).getRank()));
}

SmallVector<int64_t> SReadOp::getPackedDims() {
  return packedDims(getDims(), getSubscripts().front());
}

SmallVector<int64_t> SWriteOp::getPackedDims() {
  return packedDims(getDims(), getSubscripts().front());
}

static SmallVector<int64_t> gatheredDims(ArrayRef<int64_t> dims, Value index) {
  auto type = cast<SparsityIndexType>(index.getType());
  SmallVector<int64_t> gathered;
  for (auto [i, d] : llvm::enumerate(dims))
    if (!type.isWhole(i))
      gathered.push_back(d);
  return gathered;
}

SmallVector<int64_t> SReadOp::getGatheredDims() {
  return gatheredDims(getPackedDims(), getSubscripts().front());
}

SmallVector<int64_t> SWriteOp::getGatheredDims() {
  return gatheredDims(getPackedDims(), getSubscripts().front());
}

/// Dimensions of a tensor that follow the packed dimension.
static SmallVector<int64_t> keptDims(SparsityIndexType index,
                                     ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t *it = llvm::find(dims, d);
    if (it == dims.end() || index.isWhole(it - dims.begin()))
      kept.push_back(d);
  }
  return kept;
}

/// Can elements of type `narrow` be kept as elements of type `wide`?
static bool widensTo(Type narrow, Type wide) {
  if (narrow == wide)
    return true;
  if (isa<FloatType>(narrow) && isa<FloatType>(wide))
    return narrow.getIntOrFloatBitWidth() < wide.getIntOrFloatBitWidth();
  if (narrow.isSignlessInteger() && wide.isSignlessInteger())
    return narrow.getIntOrFloatBitWidth() < wide.getIntOrFloatBitWidth();
  return false;
}

static LogicalResult verifyWhole(Operation *op, ShapedType tile,
                                 ShapedType full, SparsityIndexType index,
                                 ArrayRef<int64_t> dims) {
  if (!index.isPackable())
    return violates(op, "whole 1")
           << "packs a whole tensor only by micro-tiles that are 1 wide or "
              "whole (*) along every dimension, not "
           << index;
  if (static_cast<int64_t>(dims.size()) != index.getRank())
    return violates(op, "whole 2")
           << "names " << dims.size() << " dimensions, the index has "
           << index.getRank();
  for (auto [i, d] : llvm::enumerate(dims)) {
    if (d == -1 && index.isWhole(i))
      continue;
    if (d < 0 || d >= full.getRank())
      return violates(op, "whole 3")
             << "dimension " << d << " is not one of a rank-" << full.getRank()
             << " tensor";
    if (llvm::is_contained(dims.drop_front(i + 1), d))
      return violates(op, "whole 4") << "names dimension " << d << " twice";
  }
  SmallVector<int64_t> kept = keptDims(index, dims, full.getRank());
  if (tile.getRank() != static_cast<int64_t>(kept.size()) + 1)
    return violates(op, "whole 5")
           << "packed tensor has rank " << tile.getRank() << ", not "
           << kept.size() + 1;
  for (auto [i, d] : llvm::enumerate(kept))
    if (failed(verifyCompatibleShape({tile.getDimSize(i + 1)},
                                     {full.getDimSize(d)})))
      return violates(op, "whole 6")
             << "packed dimension " << i + 1 << " has extent "
             << tile.getDimSize(i + 1) << ", dimension " << d << " has "
             << full.getDimSize(d);
  return success();
}

static LogicalResult verifyTile(Operation *op, ShapedType tile, ShapedType full,
                                OperandRange subscripts) {
  if (static_cast<int64_t>(subscripts.size()) != full.getRank())
    return violates(op, "tile 1")
           << "has " << subscripts.size() << " subscripts for a tensor of rank "
           << full.getRank();
  if (tile.getRank() != full.getRank())
    return violates(op, "tile 2") << "tile has rank " << tile.getRank()
                                  << ", the tensor " << full.getRank();
  if (!tile.hasStaticShape())
    return violates(op, "tile 3")
           << "tile has the shape of " << tile << ", which is not static";
  if (const int64_t *none = llvm::find(tile.getShape(), 0);
      none != tile.getShape().end())
    return violates(op, "tile 3")
           << "tile " << tile << " has extent 0 along dimension "
           << none - tile.getShape().begin() << "; extents are positive";
  for (auto [d, subscript] : llvm::enumerate(subscripts)) {
    if (isa<SparsityIndexType>(subscript.getType()))
      return violates(op, "tile 4")
             << "takes an index only as its single subscript";
    auto ids = dyn_cast<IdsType>(subscript.getType());
    if (ids && tile.getDimSize(d) != ids.getSize())
      return violates(op, "tile 5")
             << "dimension " << d << " of the tile has extent "
             << tile.getDimSize(d) << ", but is gathered by " << ids.getSize()
             << " ids";
  }
  return success();
}

/// `[%a, %ids : !pit.ids<64>]`: a subscript without a type is an index value.
static ParseResult
parseSubscripts(OpAsmParser &parser,
                SmallVectorImpl<OpAsmParser::UnresolvedOperand> &subscripts,
                SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(
      OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
        types.push_back(parser.getBuilder().getIndexType());
        if (parser.parseOperand(subscripts.emplace_back()))
          return failure();
        if (succeeded(parser.parseOptionalColon()))
          return parser.parseType(types.back());
        return success();
      });
}

static void printSubscripts(OpAsmPrinter &printer, OperandRange subscripts) {
  printer << '[';
  llvm::interleaveComma(subscripts, printer, [&](Value subscript) {
    printer << subscript;
    if (!isa<IndexType>(subscript.getType()))
      printer << " : " << subscript.getType();
  });
  printer << ']';
}

static ParseResult parseDims(OpAsmParser &parser, OperationState &result) {
  if (failed(parser.parseOptionalKeyword("dims")))
    return success();
  SmallVector<int64_t> dims;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&]() {
        return parser.parseInteger(dims.emplace_back());
      }))
    return failure();
  result.addAttribute("dims", parser.getBuilder().getDenseI64ArrayAttr(dims));
  return success();
}

static void printDims(OpAsmPrinter &printer,
                      std::optional<ArrayRef<int64_t>> dims) {
  if (!dims)
    return;
  printer << " dims[";
  llvm::interleaveComma(*dims, printer);
  printer << ']';
}

//===----------------------------------------------------------------------===//
// SReadOp
//===----------------------------------------------------------------------===//

void SReadOp::build(OpBuilder &builder, OperationState &state, Type result,
                    Value src, ValueRange subscripts, TypedAttr pad) {
  build(builder, state, result, src, subscripts, /*dest=*/Value(), pad,
        /*dims=*/DenseI64ArrayAttr());
}

// %src [subscripts] (into %dest)? (pad(attr))? (dims[..])? : type -> type
ParseResult SReadOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand src, dest;
  SmallVector<OpAsmParser::UnresolvedOperand> subscripts;
  SmallVector<Type> subscriptTypes;
  Type srcType, tileType;
  if (parser.parseOperand(src) ||
      parseSubscripts(parser, subscripts, subscriptTypes))
    return failure();
  bool hasDest = succeeded(parser.parseOptionalKeyword("into"));
  if (hasDest && parser.parseOperand(dest))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("pad"))) {
    TypedAttr pad;
    if (parser.parseLParen() || parser.parseAttribute(pad) ||
        parser.parseRParen())
      return failure();
    result.addAttribute("pad", pad);
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parseDims(parser, result) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(srcType) || parser.parseArrow() ||
      parser.parseType(tileType) ||
      parser.resolveOperand(src, srcType, result.operands) ||
      parser.resolveOperands(subscripts, subscriptTypes, loc, result.operands))
    return failure();
  if (hasDest) {
    if (parser.resolveOperand(dest, tileType, result.operands))
      return failure();
  } else {
    result.addTypes(tileType);
  }
  result.addAttribute(
      getOperandSegmentSizesAttrName(result.name),
      parser.getBuilder().getDenseI32ArrayAttr(
          {1, static_cast<int32_t>(subscripts.size()), hasDest ? 1 : 0}));
  return success();
}

void SReadOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getSrc();
  printSubscripts(printer, getSubscripts());
  if (getDest())
    printer << " into " << getDest();
  if (getPadAttr())
    printer << " pad(" << getPadAttr() << ')';
  printDims(printer, getDims());
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getPadAttrName(), getDimsAttrName(), getOperandSegmentSizesAttrName()});
  printer << " : " << getSrc().getType() << " -> " << getTileType();
}

TypedAttr SReadOp::getPadOrZero() {
  if (TypedAttr pad = getPadAttr())
    return pad;
  return Builder(getContext()).getZeroAttr(getTileType().getElementType());
}

void SReadOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Read>(effects, getSrcMutable());
  addEffect<MemoryEffects::Write>(effects, getDestMutable());
}

LogicalResult SReadOp::verify() {
  if (!getResult() == !getDest())
    return violates(*this, "sread 1")
           << "either has a result or writes into a memref";
  if (isa<MemRefType>(getSrc().getType()) != static_cast<bool>(getDest()))
    return violates(*this, "sread 2")
           << "reads a tensor into a tensor or a memref into a memref";
  ShapedType tile = getTileType(), src = getSrcType();
  if (!widensTo(src.getElementType(), tile.getElementType()))
    return violates(*this, "sread 3")
           << "cannot read elements of type " << src.getElementType() << " as "
           << tile.getElementType()
           << "; the tile's have to be the same or wider";
  if (failed(verifyElement(*this, tile.getElementType())) ||
      failed(verifyNumber(*this, "pad", getPadAttr(), tile.getElementType())))
    return failure();
  if (isWhole()) {
    auto index = cast<SparsityIndexType>(getSubscripts().front().getType());
    return verifyWhole(*this, tile, src, index, getPackedDims());
  }
  if (getDims())
    return violates(*this, "tile 6") << "takes dims only with an index";
  return verifyTile(*this, tile, src, getSubscripts());
}

LogicalResult SReadOp::fold(FoldAdaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  // sread(swrite(p, i), i) -> p: what was unpacked by an index is packed again
  // by it. Unless unpacking rounded it.
  if (!getResult() || !isWhole())
    return failure();
  auto write = getSrc().getDefiningOp<SWriteOp>();
  if (write && write.isWhole() && !write.getCombine() &&
      write.getSubscripts() == getSubscripts() &&
      write.getGatheredDims() == getGatheredDims() &&
      write.getTile().getType() == getResult().getType() &&
      write.getDestType().getElementType() ==
          write.getTileType().getElementType()) {
    results.push_back(write.getTile());
    return success();
  }
  return failure();
}

LogicalResult SReadOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &reified) {
  auto type = cast<RankedTensorType>(getResult().getType());
  SmallVector<OpFoldResult> &shape = reified.emplace_back();
  for (int64_t extent : type.getShape())
    shape.push_back(builder.getIndexAttr(extent));
  if (!isWhole())
    return success();
  Value index = getSubscripts().front();
  if (type.isDynamicDim(0))
    shape[0] = ExtentOp::create(builder, getLoc(), index).getResult();
  SmallVector<int64_t> kept = keptDims(cast<SparsityIndexType>(index.getType()),
                                       getPackedDims(), getSrcType().getRank());
  for (auto [i, d] : llvm::enumerate(kept))
    if (type.isDynamicDim(i + 1))
      shape[i + 1] = tensor::getMixedSize(builder, getLoc(), getSrc(), d);
  return success();
}

namespace {
/// Reads through a cast that only hides static extents.
template <typename OpTy> struct FoldSourceCast : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    OpOperand &operand = op->getOpOperand(0);
    auto cast = operand.get().template getDefiningOp<tensor::CastOp>();
    if (!cast || !tensor::canFoldIntoConsumerOp(cast))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { operand.set(cast.getSource()); });
    return success();
  }
};
} // namespace

void SReadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<FoldSourceCast<SReadOp>>(context);
}

//===----------------------------------------------------------------------===//
// SWriteOp
//===----------------------------------------------------------------------===//

void SWriteOp::build(OpBuilder &builder, OperationState &state, Value tile,
                     Value dest, ValueRange subscripts,
                     std::optional<arith::AtomicRMWKind> combine) {
  Type result = isa<RankedTensorType>(dest.getType()) ? dest.getType() : Type();
  build(builder, state, result ? TypeRange(result) : TypeRange(), tile, dest,
        subscripts,
        combine ? arith::AtomicRMWKindAttr::get(builder.getContext(), *combine)
                : arith::AtomicRMWKindAttr(),
        /*dims=*/DenseI64ArrayAttr());
}

// %tile into %dest[subscripts] (combine(kind))? (dims[..])? : type into type
ParseResult SWriteOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand tile, dest;
  SmallVector<OpAsmParser::UnresolvedOperand> subscripts;
  SmallVector<Type> subscriptTypes;
  Type tileType, destType;
  if (parser.parseOperand(tile) || parser.parseKeyword("into") ||
      parser.parseOperand(dest) ||
      parseSubscripts(parser, subscripts, subscriptTypes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("combine"))) {
    StringRef keyword;
    SMLoc loc;
    if (parser.parseLParen() || parser.getCurrentLocation(&loc) ||
        parser.parseKeyword(&keyword) || parser.parseRParen())
      return failure();
    std::optional<arith::AtomicRMWKind> kind =
        arith::symbolizeAtomicRMWKind(keyword);
    if (!kind)
      return parser.emitError(loc) << "unknown combiner " << keyword;
    result.addAttribute(
        "combine", arith::AtomicRMWKindAttr::get(parser.getContext(), *kind));
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parseDims(parser, result) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(tileType) || parser.parseKeyword("into") ||
      parser.parseType(destType) ||
      parser.resolveOperand(tile, tileType, result.operands) ||
      parser.resolveOperand(dest, destType, result.operands) ||
      parser.resolveOperands(subscripts, subscriptTypes, loc, result.operands))
    return failure();
  if (isa<RankedTensorType>(destType))
    result.addTypes(destType);
  return success();
}

void SWriteOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getTile() << " into " << getDest();
  printSubscripts(printer, getSubscripts());
  if (getCombine())
    printer << " combine(" << arith::stringifyAtomicRMWKind(*getCombine())
            << ')';
  printDims(printer, getDims());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getCombineAttrName(), getDimsAttrName()});
  printer << " : " << getTile().getType() << " into " << getDest().getType();
}

void SWriteOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Read>(effects, getTileMutable());
  if (getCombine())
    addEffect<MemoryEffects::Read>(effects, getDestMutable());
  addEffect<MemoryEffects::Write>(effects, getDestMutable());
}

LogicalResult SWriteOp::verify() {
  ShapedType tile = getTileType(), dest = getDestType();
  if (isa<MemRefType>(tile) != isa<MemRefType>(dest))
    return violates(*this, "swrite 1")
           << "writes a tensor into a tensor or a memref into a "
              "memref";
  if (isa<RankedTensorType>(dest) != static_cast<bool>(getResult()) ||
      (getResult() && getResult().getType() != dest))
    return violates(*this, "swrite 2")
           << "has a result of its destination's type when that is a "
              "tensor, and none otherwise";
  if (!widensTo(dest.getElementType(), tile.getElementType()))
    return violates(*this, "swrite 3")
           << "cannot write elements of type " << tile.getElementType()
           << " as " << dest.getElementType()
           << "; the tile's have to be the same or wider";
  if (getCombine()) {
    using arith::AtomicRMWKind;
    if (dest.getElementType().isInteger(1))
      return violates(*this, "swrite 4")
             << "cannot combine elements of type i1; use i8";
    bool isFloat = isa<FloatType>(dest.getElementType());
    bool floatKind =
        llvm::is_contained({AtomicRMWKind::addf, AtomicRMWKind::mulf,
                            AtomicRMWKind::maximumf, AtomicRMWKind::minimumf,
                            AtomicRMWKind::maxnumf, AtomicRMWKind::minnumf},
                           *getCombine());
    if (*getCombine() == AtomicRMWKind::assign || isFloat != floatKind)
      return violates(*this, "swrite 5")
             << "cannot combine elements of type " << dest.getElementType()
             << " by " << arith::stringifyAtomicRMWKind(*getCombine());
  }
  if (isWhole()) {
    auto index = cast<SparsityIndexType>(getSubscripts().front().getType());
    return verifyWhole(*this, tile, dest, index, getPackedDims());
  }
  if (getDims())
    return violates(*this, "tile 6") << "takes dims only with an index";
  return verifyTile(*this, tile, dest, getSubscripts());
}

LogicalResult
SWriteOp::reifyResultShapes(OpBuilder &builder,
                            ReifiedRankedShapedTypeDims &reified) {
  reified.push_back(tensor::getMixedSizes(builder, getLoc(), getDest()));
  return success();
}

LogicalResult SWriteOp::fold(FoldAdaptor,
                             SmallVectorImpl<OpFoldResult> &results) {
  if (!getResult() || !isWhole() || getCombine())
    return failure();
  // swrite(p, swrite(q, d, i), i) -> swrite(p, d, i): all of q is overwritten.
  if (auto before = getDest().getDefiningOp<SWriteOp>()) {
    if (!before.isWhole() || before.getCombine() ||
        before.getSubscripts() != getSubscripts() ||
        before.getGatheredDims() != getGatheredDims())
      return failure();
    getDestMutable().assign(before.getDest());
    return success(); // In place: no other value takes the result's place.
  }
  // swrite(sread(d, i), d, i) -> d: nothing changes. The iter_arg of a loop has
  // to stay updated by an SWrite.
  auto read = getTile().getDefiningOp<SReadOp>();
  auto argument = dyn_cast<BlockArgument>(getDest());
  if (!read || !read.isWhole() || read.getSrc() != getDest() ||
      read.getSubscripts() != getSubscripts() ||
      read.getGatheredDims() != getGatheredDims() ||
      (argument && isa<ForallOp, ForOp>(argument.getOwner()->getParentOp())))
    return failure();
  results.push_back(getDest());
  return success();
}

void SWriteOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<FoldSourceCast<SWriteOp>>(context);
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

LogicalResult pit::verifyBitmap(Operation *op, ShapedType bits,
                                ShapedType tensor) {
  if (!bits.getElementType().isInteger(8) ||
      bits.getRank() != tensor.getRank() || tensor.getRank() == 0)
    return violates(op, "bitmap 1")
           << "has bits in " << bits << " for " << tensor
           << "; they are bytes, and both have the same rank, not 0";
  for (int64_t d = 0, last = tensor.getRank() - 1; d <= last; ++d) {
    int64_t extent = tensor.getDimSize(d);
    if (d == last && !ShapedType::isDynamic(extent))
      extent = getBitsBytes(extent);
    if (!ShapedType::isDynamic(extent) && !bits.isDynamicDim(d) &&
        bits.getDimSize(d) != extent)
      return violates(op, "bitmap 2")
             << "has " << bits.getDimSize(d) << " along dimension " << d
             << " of the bits, which " << tensor << " needs " << extent
             << " of";
  }
  return success();
}

void ScanOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Read>(effects, getSourceMutable());
  addEffect<MemoryEffects::Write>(effects, getBitmapMutable());
}

LogicalResult ScanOp::verify() {
  auto source = cast<ShapedType>(getSource().getType()),
       bits = cast<ShapedType>(getBitmap().getType());
  if (isa<MemRefType>(source) != isa<MemRefType>(bits))
    return violates(*this, "scan 1")
           << "scans " << source << ", but writes into " << bits;
  if (isa<RankedTensorType>(bits) != static_cast<bool>(getResult()) ||
      (getResult() && getResult().getType() != bits))
    return violates(*this, "scan 2")
           << "has a result of the type of its bits when that is a tensor, and "
              "none otherwise";
  int64_t rank = source.getRank(), extents = getTile().size();
  if (static_cast<int64_t>(getSubscripts().size()) != rank || extents != rank)
    return violates(*this, "scan 3")
           << "has " << getSubscripts().size() << " subscripts and a tile of "
           << extents << " extents for a source of rank " << rank;
  if (failed(verifyElement(*this, source.getElementType())) ||
      failed(verifyNumber(*this, "background", getBackgroundAttr(),
                          source.getElementType())) ||
      failed(verifyBitmap(*this, bits, source)))
    return failure();
  for (auto [d, extent] : llvm::enumerate(getTile()))
    if (extent <= 0 || (static_cast<int64_t>(d) == rank - 1 && extent % 8 != 0))
      return violates(*this, "scan 4")
             << "has a tile of extent " << extent << " along dimension " << d
             << "; extents are positive, and the last is a multiple of 8";
  for (auto [d, subscript] : llvm::enumerate(getSubscripts())) {
    auto ids = dyn_cast<IdsType>(subscript.getType());
    if (isa<SparsityIndexType>(subscript.getType()) ||
        (ids && static_cast<int64_t>(d) == rank - 1))
      return violates(*this, "scan 6")
             << "has a subscript of type " << subscript.getType()
             << " along dimension " << d
             << "; it takes numbers, and ids but in the last dimension";
    if (ids && getTile()[d] != ids.getSize())
      return violates(*this, "scan 5")
             << "has a tile of extent " << getTile()[d] << " along dimension "
             << d << ", but " << ids.getSize() << " ids";
  }
  return success();
}

LogicalResult ScanOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &reified) {
  reified.push_back(tensor::getMixedSizes(builder, getLoc(), getBitmap()));
  return success();
}
