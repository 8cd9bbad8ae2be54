//===- PitOps.cpp - The mark, the index and its queries -------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

#include "Verify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Custom syntax
//===----------------------------------------------------------------------===//

/// `mask(%m : type)`, `lengths(...)`, `routing(...)`, `index(...)`, or
/// nothing for the values themselves.
static ParseResult
parseSelector(OpAsmParser &parser, SourceAttr &source,
              std::optional<OpAsmParser::UnresolvedOperand> &selector,
              Type &type) {
  Source kind = Source::Values;
  for (Source k :
       {Source::Mask, Source::Lengths, Source::Routing, Source::Index}) {
    if (failed(parser.parseOptionalKeyword(stringifySource(k))))
      continue;
    kind = k;
    if (parser.parseLParen() || parser.parseOperand(selector.emplace()) ||
        parser.parseColonType(type) || parser.parseRParen())
      return failure();
    break;
  }
  source = SourceAttr::get(parser.getContext(), kind);
  return success();
}

static void printSelector(OpAsmPrinter &printer, Operation *, SourceAttr source,
                          Value selector, Type type) {
  if (selector)
    printer << ' ' << stringifySource(source.getValue()) << '(' << selector
            << " : " << type << ')';
}

static ParseResult parseExtentList(OpAsmParser &parser,
                                   DenseI64ArrayAttr &list) {
  SmallVector<int64_t> extents;
  if (failed(parseExtents(parser, extents)))
    return failure();
  list = DenseI64ArrayAttr::get(parser.getContext(), extents);
  return success();
}

static void printExtentList(OpAsmPrinter &printer, Operation *,
                            DenseI64ArrayAttr list) {
  printExtents(printer, list.asArrayRef());
}

static ParseResult parseSourceKeyword(OpAsmParser &parser, SourceAttr &source) {
  Source kind = Source::Values;
  for (Source k : {Source::Mask, Source::Lengths, Source::Routing})
    if (succeeded(parser.parseOptionalKeyword(stringifySource(k)))) {
      kind = k;
      break;
    }
  source = SourceAttr::get(parser.getContext(), kind);
  return success();
}

static void printSourceKeyword(OpAsmPrinter &printer, Operation *,
                               SourceAttr source) {
  if (source.getValue() != Source::Values)
    printer << ' ' << stringifySource(source.getValue());
  printer << ' ';
}

#define GET_OP_CLASSES
#include "pit/Dialect/Pit/IR/PitOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Checks shared by the mark and the index
//===----------------------------------------------------------------------===//

static std::string shapeToString(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(shape, stream << '[', [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      stream << '?';
    else
      stream << extent;
  });
  stream << ']';
  return text;
}

static bool isMaskElement(Type type) {
  if (type.isInteger(1))
    return true;
  unsigned width = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  return width == 8 || width == 16 || width == 32 || width == 64;
}

static bool isIdElement(Type type) {
  return type.isInteger(32) || type.isInteger(64);
}

/// Checks the selector of a mark, or the input of an index of source `source`,
/// against the shape of the tensor it selects from.
static LogicalResult verifySelector(Operation *op, Source source,
                                    ShapedType selector,
                                    ArrayRef<int64_t> shape) {
  Type element = selector.getElementType();
  int64_t rank = selector.getRank(), selectedRank = shape.size();
  switch (source) {
  case Source::Values:
  case Source::Index:
    return success();
  case Source::Mask:
    if (!isMaskElement(element))
      return violates(op, "selector 1")
             << "mask has elements of type " << element
             << ", not i1, or integers or floats of 8, 16, 32 or 64 bits";
    if (failed(verifyCompatibleShape(selector.getShape(), shape)))
      return violates(op, "selector 2")
             << "mask has shape " << shapeToString(selector.getShape())
             << ", what it selects from has shape " << shapeToString(shape);
    return success();
  case Source::Lengths:
    if (!isIdElement(element))
      return violates(op, "selector 3") << "lengths have elements of type "
                                        << element << ", not i32 or i64";
    if (rank >= selectedRank)
      return violates(op, "selector 4")
             << "lengths of rank " << rank << " need a tensor of rank "
             << rank + 1 << " or more to select from, not " << selectedRank;
    if (failed(
            verifyCompatibleShape(selector.getShape(), shape.take_front(rank))))
      return violates(op, "selector 5")
             << "lengths have shape " << shapeToString(selector.getShape())
             << ", the first dimensions of what they select from have shape "
             << shapeToString(shape.take_front(rank));
    return success();
  case Source::Routing:
    if (!isIdElement(element))
      return violates(op, "selector 6") << "routing has elements of type "
                                        << element << ", not i32 or i64";
    if (rank != 2 || selectedRank != 2)
      return violates(op, "selector 7")
             << "routing is a T x K tensor that selects from a T x E "
                "tensor; their ranks are "
             << rank << " and " << selectedRank;
    if (failed(verifyCompatibleShape(selector.getShape().take_front(),
                                     shape.take_front())))
      return violates(op, "selector 8")
             << "routing has " << selector.getDimSize(0)
             << " rows, what it selects from has " << shape[0];
    return success();
  }
  llvm_unreachable("unknown source");
}

//===----------------------------------------------------------------------===//
// SparseOp
//===----------------------------------------------------------------------===//

TypedAttr SparseOp::getBackgroundOrZero() {
  if (TypedAttr background = getBackgroundAttr())
    return background;
  return Builder(getContext())
      .getZeroAttr(getInput().getType().getElementType());
}

/// Is what is said of the zeros possible?
static LogicalResult verifyLiveFraction(SparseOp op) {
  FloatAttr liveFraction = op.getLiveFractionAttr();
  if (!liveFraction)
    return success();
  double value = liveFraction.getValueAsDouble();
  if (!(value >= 0 && value <= 1))
    return violates(op, "sparse 7")
           << "live fraction is " << value << "; it must be in [0, 1]";
  DenseI64ArrayAttr tile = op.getLiveFractionTileAttr();
  if (!tile)
    return success();
  if (tile.size() != op.getType().getRank())
    return violates(op, "sparse 8")
           << "live fraction's micro-tile has rank " << tile.size()
           << ", the tensor " << op.getType().getRank();
  for (int64_t size : tile.asArrayRef())
    if (size < 1 && !ShapedType::isDynamic(size))
      return violates(op, "sparse 9")
             << "live fraction's micro-tile has a size of " << size
             << "; it must be at least 1, or * for a whole dimension";
  return success();
}

LogicalResult SparseOp::verify() {
  RankedTensorType type = getInput().getType();
  Type element = type.getElementType();
  if (failed(verifyElement(*this, element)) ||
      failed(verifyNumber(*this, "background", getBackgroundAttr(), element)))
    return failure();
  if ((getSource() == Source::Values) == static_cast<bool>(getSelector()))
    return violates(*this, "sparse 1")
           << "source " << stringifySource(getSource())
           << (getSelector() ? " takes no selector" : " needs a selector");
  if (getSource() == Source::Index) {
    auto index = dyn_cast<SparsityIndexType>(getSelector().getType());
    if (!index)
      return violates(*this, "sparse 2")
             << "selects by an index, but its selector has type "
             << getSelector().getType();
    if (index.getRank() != type.getRank())
      return violates(*this, "sparse 3")
             << "index of a rank-" << index.getRank()
             << " tensor cannot select from a rank-" << type.getRank()
             << " tensor";
  } else if (getSelector()) {
    auto selector = dyn_cast<RankedTensorType>(getSelector().getType());
    if (!selector)
      return violates(*this, "sparse 2")
             << "selector has type " << getSelector().getType()
             << ", not a tensor";
    if (failed(verifySelector(*this, getSource(), selector, type.getShape())))
      return failure();
  }
  if (RuleAttr rule = getRuleAttr()) {
    if (rule.getOperand() >= 0)
      return violates(*this, "sparse 4")
             << "takes a rule without an operand number; that "
                "belongs on the op that uses the mark";
    if (rule.getAxis() >= type.getRank())
      return violates(*this, "sparse 5")
             << "rule's axis " << rule.getAxis()
             << " is not a dimension of a rank-" << type.getRank() << " tensor";
    if (!rule.getMicroTile().empty() &&
        static_cast<int64_t>(rule.getMicroTile().size()) != type.getRank())
      return violates(*this, "sparse 6")
             << "rule's micro-tile has rank " << rule.getMicroTile().size()
             << ", the tensor " << type.getRank();
  }
  return verifyLiveFraction(*this);
}

LogicalResult
SparseOp::reifyResultShapes(OpBuilder &builder,
                            ReifiedRankedShapedTypeDims &reified) {
  reified.push_back(tensor::getMixedSizes(builder, getLoc(), getInput()));
  return success();
}

LogicalResult
ReorderOp::reifyResultShapes(OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &reified) {
  reified.push_back(tensor::getMixedSizes(builder, getLoc(), getSource()));
  return success();
}

LogicalResult ReorderOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto order = cast<RankedTensorType>(getOrder().getType());
  llvm::SmallDenseSet<int64_t> seen;
  auto isNew = [&](int64_t dim) {
    return dim >= 0 && dim < source.getRank() && seen.insert(dim).second;
  };
  if (order.getRank() == 0 || int64_t(getDims().size()) != order.getRank() ||
      !llvm::all_of(getDims(), isNew))
    return violates(*this, "reorder 1")
           << "numbers the dimensions of an order of rank " << order.getRank()
           << " by dims [" << getDims() << "] of a tensor of rank "
           << source.getRank();
  for (auto [of, dim] : llvm::enumerate(getDims()))
    if (failed(verifyCompatibleShape({order.getDimSize(of)},
                                     {source.getDimSize(dim)})))
      return violates(*this, "reorder 2")
             << "dimension " << dim << " has extent " << source.getDimSize(dim)
             << ", dimension " << of << " of the order has "
             << order.getDimSize(of);
  return success();
}

OpFoldResult SparseOp::fold(FoldAdaptor) {
  // The same selection of what is selected already. Two rules do not mix, but
  // one of them is enough.
  auto inner = getInput().getDefiningOp<SparseOp>();
  if (!inner || inner.getSource() != getSource() ||
      inner.getSelector() != getSelector() ||
      inner.getBackgroundOrZero() != getBackgroundOrZero())
    return {};
  if (!getRuleAttr() || inner.getRuleAttr() == getRuleAttr())
    return getInput();
  if (inner.getRuleAttr())
    return {};
  // The inner mark's promise holds, the outer one's was about the inner's
  // result.
  getInputMutable().assign(inner.getInput());
  setAssume(inner.getAssume());
  return getResult();
}

//===----------------------------------------------------------------------===//
// IndexOp
//===----------------------------------------------------------------------===//

void IndexOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Read>(effects, getInputMutable());
  addEffect<MemoryEffects::Read>(effects, getWrittenMutable());
}

bool IndexOp::hasRowsOfBatch() {
  return getSource() == Source::Lengths && getType().getAxis() == 0 &&
         cast<ShapedType>(getInput().getType()).getRank() == 1 &&
         static_cast<int64_t>(getShape().size()) == getType().getRank() + 1;
}

LogicalResult IndexOp::verify() {
  auto input = cast<ShapedType>(getInput().getType());
  SparsityIndexType index = getType();
  if (getSource() == Source::Index)
    return violates(*this, "index 1") << "is not built from an index";
  bool needsShape =
      getSource() == Source::Lengths || getSource() == Source::Routing;
  int64_t given = getShape().size();
  bool hasRows = hasRowsOfBatch();
  if (given != (needsShape ? index.getRank() : 0) && !hasRows)
    return violates(*this, "index 2")
           << "from " << stringifySource(getSource()) << " takes "
           << (needsShape ? index.getRank() : 0) << " shape operands, not "
           << given;
  if (getSource() != Source::Values && getBackgroundAttr())
    return violates(*this, "index 3") << "from " << stringifySource(getSource())
                                      << " has no use for a background";
  if (getSource() != Source::Values && getSource() != Source::Mask && getSeen())
    return violates(*this, "index 4")
           << "from " << stringifySource(getSource())
           << " is not built from a bitmap of elements";
  Type element = input.getElementType();
  if (failed(verifyElement(*this, element)) ||
      failed(verifyNumber(*this, "background", getBackgroundAttr(), element)))
    return failure();
  if (!needsShape && input.getRank() != index.getRank())
    return violates(*this, "index 5") << "input has rank " << input.getRank()
                                      << ", the micro-tile " << index.getRank();
  if (getWritten() && (getSource() != Source::Values || getSeen()))
    return violates(*this, "index 6")
           << "has bits of values, but is built from "
           << stringifySource(getSource())
           << (getSeen() ? " that were seen before" : "");
  if (getWritten() &&
      failed(
          verifyBitmap(*this, cast<ShapedType>(getWritten().getType()), input)))
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  if (needsShape) {
    shape.clear();
    for (Value extent : getShape()) {
      IntegerAttr::ValueType constant;
      shape.push_back(matchPattern(extent, m_ConstantInt(&constant))
                          ? constant.getSExtValue()
                          : ShapedType::kDynamic);
    }
  }
  return verifySelector(*this, getSource(), input, shape);
}

//===----------------------------------------------------------------------===//
// PackedIndexOp
//===----------------------------------------------------------------------===//

void PackedIndexOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Read>(effects, getInputMutable());
  addEffect<MemoryEffects::Write>(effects, getDestMutable());
}

LogicalResult PackedIndexOp::verify() {
  auto input = cast<ShapedType>(getInput().getType());
  auto dest = cast<ShapedType>(getDest().getType());
  SparsityIndexType index = getIndex().getType();
  Type element = input.getElementType();
  if (failed(verifyElement(*this, element)) ||
      failed(verifyNumber(*this, "background", getBackgroundAttr(), element)))
    return failure();
  if (input.getRank() != 2 || index.getRank() != 2 || index.getAxis() != 1 ||
      ShapedType::isDynamic(index.getMicroTile()[0]) ||
      index.getStep()[0] != index.getMicroTile()[0])
    return violates(*this, "packed 1")
           << "packs micro-tiles [n, 1] of a matrix in steps of n, not those "
              "of "
           << index << " of a tensor of rank " << input.getRank();
  int64_t width = index.getMicroTile()[0];
  if (dest.getRank() != 2 || dest.getDimSize(1) != width ||
      dest.getElementType() != element)
    return violates(*this, "packed 2")
           << "packs into a matrix with rows of " << width << " " << element
           << ", not into " << dest;
  bool tensors = isa<TensorType>(input);
  if (tensors != isa<TensorType>(dest) || tensors != bool(getPacked()) ||
      (tensors && getPacked().getType() != dest))
    return violates(*this, "packed 3")
           << "takes tensors and gives one of type " << dest
           << ", or takes memrefs and gives none";
  return success();
}

//===----------------------------------------------------------------------===//
// TransposeIndexOp
//===----------------------------------------------------------------------===//

SparsityIndexType TransposeIndexOp::getTransposedType(MLIRContext *context) {
  return SparsityIndexType::get(context, /*microTile=*/{1, 1}, /*axis=*/1,
                                /*step=*/{1, 1});
}

void TransposeIndexOp::build(OpBuilder &builder, OperationState &state,
                             Value index) {
  build(builder, state, getTransposedType(builder.getContext()), index,
        /*choice=*/Value(), /*variant=*/IntegerAttr());
}

LogicalResult TransposeIndexOp::verify() {
  SparsityIndexType wanted = getTransposedType(getContext());
  if (getType() != wanted)
    return violates(*this, "transpose 1")
           << "makes an index of type " << wanted << ", not " << getType();
  if (!getChoice() != !getVariantAttr() ||
      (getVariant() && static_cast<int64_t>(*getVariant()) < 0))
    return violates(*this, "transpose 2")
           << "with a choice has the number of a variant, 0 or more, and "
              "without one none";
  return success();
}

//===----------------------------------------------------------------------===//
// RecordOp
//===----------------------------------------------------------------------===//

void RecordOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Read>(effects, getInputMutable());
  // The context's profile.
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult RecordOp::verify() {
  if (getSource() == Source::Index)
    return violates(*this, "record 1")
           << "counts elements, which an index has none of";
  bool needsShape =
      getSource() == Source::Lengths || getSource() == Source::Routing;
  if (needsShape == getShape().empty())
    return violates(*this, "record 2")
           << "from " << stringifySource(getSource())
           << (needsShape ? " needs a shape" : " takes no shape");
  Type element = cast<ShapedType>(getInput().getType()).getElementType();
  if (failed(verifyElement(*this, element)))
    return failure();
  return verifyNumber(*this, "background", getBackgroundAttr(), element);
}

//===----------------------------------------------------------------------===//
// ChooseOp
//===----------------------------------------------------------------------===//

void ChooseOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Read>(effects, getInputMutable());
  addEffect<MemoryEffects::Read>(effects, getWrittenMutable());
}

LogicalResult ChooseOp::verify() {
  auto input = cast<ShapedType>(getInput().getType());
  size_t count = getCandidates().size();
  if (count == 0)
    return violates(*this, "choose 1")
           << "has no candidates; it takes at least one";
  if (getOnDevice() && !getVariant().use_empty())
    return violates(*this, "choose 2")
           << "chooses on the device, where the host cannot read the "
              "variant, which is used";
  if (getFixed().size() != count || getLive().size() != count)
    return violates(*this, "choose 3")
           << "has " << count << " candidates, " << getFixed().size()
           << " fixed times and " << getLive().size()
           << " times of live micro-tiles; there must be as many";
  for (Type type : getCandidates().getAsValueRange<TypeAttr>()) {
    auto index = dyn_cast<SparsityIndexType>(type);
    if (!index)
      return violates(*this, "choose 4") << "has a candidate of type " << type
                                         << "; candidates are types of indices";
    if (index.getRank() != input.getRank())
      return violates(*this, "choose 5")
             << "input has rank " << input.getRank()
             << ", the micro-tile of a candidate " << index.getRank();
  }
  if (getAfter() && !getOnDevice())
    return violates(*this, "choose 8")
           << "comes after another choice, but is not made on the device";
  if (getSeen()) {
    auto earlier = getSeen().getDefiningOp<ChooseOp>();
    if (!earlier || earlier == *this || earlier.getMask() != getMask() ||
        getWritten())
      return violates(*this, "choose 9")
             << "takes what another pit.choose has seen of the same "
             << (getMask() ? "mask" : "values") << ", and then no bits";
  }
  if (failed(verifyElement(*this, input.getElementType())))
    return failure();
  if (getWritten() && getMask())
    return violates(*this, "choose 7")
           << "scans a mask, but has bits of values";
  if (getWritten() &&
      failed(
          verifyBitmap(*this, cast<ShapedType>(getWritten().getType()), input)))
    return failure();
  if (!getMask())
    return verifyNumber(*this, "background", getBackgroundAttr(),
                        input.getElementType());
  if (getBackgroundAttr())
    return violates(*this, "choose 6")
           << "scans a mask, which has no use for a background";
  return verifySelector(*this, Source::Mask, input, input.getShape());
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

LogicalResult CountOp::verify() {
  size_t dims = getIndex().getType().getGroupDims().size();
  if (!getGroup().empty() && getGroup().size() != dims)
    return violates(*this, "count 1")
           << "has " << getGroup().size()
           << " subscripts, the index numbers its groups by " << dims
           << " dimensions";
  return success();
}

LogicalResult ExtentOp::canonicalize(ExtentOp op, PatternRewriter &rewriter) {
  auto index = op.getIndex().getDefiningOp<IndexOp>();
  if (!index || !isa<RankedTensorType>(index.getInput().getType()))
    return failure();
  if (index.hasRowsOfBatch() && index.getType().getGroupDims().empty()) {
    ValueRange shape = index.getShape();
    rewriter.replaceOpWithNewOp<arith::MulIOp>(op, shape[0], shape[1]);
    return success();
  }
  if (index.getSource() != Source::Routing)
    return failure();
  Location loc = op.getLoc();
  auto size = [&](int64_t dim) {
    return getValueOrCreateConstantIndexOp(
        rewriter, loc,
        tensor::getMixedSize(rewriter, loc, index.getInput(), dim));
  };
  rewriter.replaceOpWithNewOp<arith::MulIOp>(op, size(0), size(1));
  return success();
}

LogicalResult IdsOp::verify() {
  auto type = cast<ShapedType>(getList().getType());
  if (type.getRank() == 0 || int64_t(getSubscripts().size()) != type.getRank())
    return violates(*this, "ids 1")
           << "has " << getSubscripts().size() << " subscripts for lists in "
           << type << "; there is one for each dimension, and one at least";
  auto memref = dyn_cast<MemRefType>(getList().getType());
  if (memref && memref.getStridesAndOffset().first.back() != 1)
    return violates(*this, "ids 2")
           << "takes ids that lie side by side, not those of " << memref;
  return success();
}

void CoordsOp::getEffects(Effects &effects) {
  addEffect<MemoryEffects::Write>(effects, getDestMutable());
}

LogicalResult CoordsOp::verify() {
  if (!getResult() == !getDest())
    return violates(*this, "coords 1")
           << "either has a result or writes into a memref";
  auto type = cast<ShapedType>(getDest() ? getDest().getType()
                                         : Type(getResult().getType()));
  int64_t size = getIds().getType().getSize();
  if (type.getDimSize(0) != size)
    return violates(*this, "coords 2")
           << "of " << size << " ids has " << size
           << " elements, not the shape of " << type;
  return success();
}
