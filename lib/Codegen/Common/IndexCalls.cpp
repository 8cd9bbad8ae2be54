//===- IndexCalls.cpp - Indices and choices by calls of the runtime -------===//

#include "IndexCalls.h"

#include "RuntimeCalls.h"
#include "pit-runtime/Abi.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;

// Sources have one numbering.
static_assert(static_cast<int>(Source::Values) == PIT_SOURCE_VALUES &&
              static_cast<int>(Source::Mask) == PIT_SOURCE_MASK &&
              static_cast<int>(Source::Lengths) == PIT_SOURCE_LENGTHS &&
              static_cast<int>(Source::Routing) == PIT_SOURCE_ROUTING &&
              static_cast<int>(Source::Index) == PIT_SOURCE_INDEX);

//===----------------------------------------------------------------------===//
// Building an index
//===----------------------------------------------------------------------===//

/// The runtime's PIT_INDEX_*.
static int64_t indexFlags(IndexOp op) {
  // A packed value has room for the number of slots of a routing (pit.extent).
  // So its groups follow each other, which costs nothing; those of others may
  // lie apart on a device.
  bool dense = op.getSource() == Source::Routing;
  return (op.getUnordered() ? PIT_INDEX_UNORDERED : 0) |
         (dense ? PIT_INDEX_DENSE : 0);
}

static int64_t backgroundBits(TypedAttr background) {
  if (auto value = dyn_cast_or_null<FloatAttr>(background))
    return value.getValue().bitcastToAPInt().getZExtValue();
  if (auto value = dyn_cast_or_null<IntegerAttr>(background))
    return value.getValue().getZExtValue();
  return 0;
}

/// micro_tile and step of the runtime, which writes a whole dimension as 0.
static SmallVector<int64_t> getExtentWords(SparsityIndexType type) {
  SmallVector<int64_t> words;
  for (ArrayRef<int64_t> extents : {type.getMicroTile(), type.getStep()})
    for (int64_t extent : extents)
      words.push_back(ShapedType::isDynamic(extent) ? 0 : extent);
  return words;
}

static Value constantI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

static Value constantI64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

static Value firstElement(OpBuilder &builder, Location loc, Value memref) {
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      firstElementAddress(builder, loc, memref));
}

/// The words of the build of an index of `type` from a memref (Abi.h), on the
/// stack. `shape` is that of the indexed tensor; if empty, the memref's.
static Value describeBuild(OpBuilder &builder, Location loc,
                           func::FuncOp function, Value memref,
                           SparsityIndexType type, ValueRange shape,
                           TypedAttr background, int64_t flags) {
  auto input = cast<MemRefType>(memref.getType());
  auto cast64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      index);
  };
  auto constant = [&](int64_t value) {
    return constantI64(builder, loc, value);
  };
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  SmallVector<Value> words = {constant(dtypeWord(input.getElementType())),
                              constant(backgroundBits(background)),
                              constant(flags), constant(0),
                              constant(input.getRank())};
  for (Value size : metadata.getSizes())
    words.push_back(cast64(size));
  SmallVector<Value> extents(shape);
  if (extents.empty())
    extents.assign(metadata.getSizes().begin(), metadata.getSizes().end());
  for (Value stride : metadata.getStrides())
    words.push_back(cast64(stride));
  words.push_back(constant(type.getRank()));
  words.push_back(constant(type.getAxis()));
  for (Value extent : extents)
    words.push_back(cast64(extent));
  for (int64_t extent : getExtentWords(type))
    words.push_back(constant(extent));
  return storeWords(builder, loc, function, words);
}

/// The bitmap whose words a memref of bits is, for values of this shape.
static Value describeBits(OpBuilder &builder, Location loc,
                          func::FuncOp function, Value bits, Value values) {
  constexpr int64_t kBitmapWords = sizeof(pit_bitmap) / sizeof(int64_t);
  auto type = cast<MemRefType>(values.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, values);
  SmallVector<Value> shape;
  for (Value size : metadata.getSizes())
    shape.push_back(
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size));
  Value bitmap =
      entryAlloca(builder, loc, function, builder.getI64Type(), kBitmapWords);
  callRuntime(builder, loc, "pit_rt_bitmap", builder.getI32Type(),
              {getFrame(function), constantI32(builder, loc, type.getRank()),
               storeWords(builder, loc, function, shape),
               firstElement(builder, loc, bits), bitmap},
              /*status=*/true);
  return bitmap;
}

/// The memory that a place of the program has from one time to the next; null
/// if it runs once a call.
static Value placeOf(OpBuilder &builder, Operation *op, func::FuncOp function) {
  if (mayRepeat(op->getBlock()))
    return entryPlace(builder, op->getLoc(), function);
  return LLVM::ZeroOp::create(builder, op->getLoc(),
                              LLVM::LLVMPointerType::get(builder.getContext()));
}

Value mlir::pit::buildIndex(OpBuilder &builder, IndexOp op, Value bitmap,
                            func::FuncOp function) {
  Location loc = op.getLoc();
  SmallVector<Value> shape(op.getShape());
  if (op.hasRowsOfBatch()) {
    shape[1] = arith::MulIOp::create(builder, loc, shape[0], shape[1]);
    shape.erase(shape.begin());
  }
  Value description =
      describeBuild(builder, loc, function, op.getInput(), op.getType(), shape,
                    op.getBackgroundAttr(), indexFlags(op));
  Value data = firstElement(builder, loc, op.getInput());
  Value source =
      constantI32(builder, loc,
                  op.hasRowsOfBatch() ? PIT_SOURCE_ROW_LENGTHS
                                      : static_cast<int64_t>(op.getSource()));
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value slot = entryAlloca(builder, loc, function, pointerType);
  StringRef callee = "pit_rt_build";
  Value known = bitmap;
  if (op.getBits())
    known = describeBits(builder, loc, function, op.getBits(), op.getInput());
  else if (auto choose =
               bitmap ? op.getSeen().getDefiningOp<ChooseOp>() : ChooseOp();
           choose && choose.getOnDevice())
    callee = "pit_rt_build_if_chosen";
  if (!known)
    known = LLVM::ZeroOp::create(builder, loc, pointerType);
  Value operands[] = {getFrame(function),
                      source,
                      data,
                      description,
                      known,
                      placeOf(builder, op, function),
                      slot};
  callRuntime(builder, loc, callee, builder.getI32Type(), operands,
              /*status=*/true);
  return LLVM::LoadOp::create(builder, loc, pointerType, slot);
}

std::pair<Value, Value> mlir::pit::buildPackedIndex(OpBuilder &builder,
                                                    PackedIndexOp op,
                                                    func::FuncOp function) {
  Location loc = op.getLoc();
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  int64_t width = op.getIndex().getType().getMicroTile()[0];
  Value description =
      describeBuild(builder, loc, function, op.getInput(),
                    op.getIndex().getType(), {}, op.getBackgroundAttr(),
                    /*flags=*/0);
  // Rows that do not follow each other are no room.
  auto layout =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getDest());
  Value rows = layout.getSizes()[0];
  Value none = arith::ConstantIndexOp::create(builder, loc, 0);
  const int64_t strides[] = {width, 1};
  for (auto [stride, wanted] : llvm::zip(layout.getStrides(), strides)) {
    Value follows = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, stride,
        arith::ConstantIndexOp::create(builder, loc, wanted));
    rows = arith::SelectOp::create(builder, loc, follows, rows, none);
  }
  rows = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), rows);
  Value slot = entryAlloca(builder, loc, function, pointerType);
  Value done = entryAlloca(builder, loc, function, builder.getI32Type());
  callRuntime(builder, loc, "pit_rt_build_packed", builder.getI32Type(),
              {getFrame(function), firstElement(builder, loc, op.getInput()),
               description, firstElement(builder, loc, op.getDest()), rows,
               constantI64(builder, loc, width), placeOf(builder, op, function),
               slot, done},
              /*status=*/true);
  Value isDone = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ne,
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), done),
      constantI32(builder, loc, 0));
  return {LLVM::LoadOp::create(builder, loc, pointerType, slot), isDone};
}

Value mlir::pit::transposeIndex(OpBuilder &builder, TransposeIndexOp op,
                                Value index, Value choice,
                                func::FuncOp function) {
  Location loc = op.getLoc();
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  if (!choice)
    choice = LLVM::ZeroOp::create(builder, loc, pointerType);
  Value slot = entryAlloca(builder, loc, function, pointerType);
  callRuntime(builder, loc, "pit_rt_transpose_index", builder.getI32Type(),
              {getFrame(function), index, choice,
               constantI32(builder, loc,
                           static_cast<int64_t>(op.getVariant().value_or(0))),
               placeOf(builder, op, function), slot},
              /*status=*/true);
  return LLVM::LoadOp::create(builder, loc, pointerType, slot);
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

std::pair<Value, Value> mlir::pit::lowerChoose(OpBuilder &builder, ChooseOp op,
                                               Value after, Value earlier,
                                               int64_t mark,
                                               func::FuncOp function) {
  Location loc = op.getLoc();
  SmallVector<SparsityIndexType> candidates;
  for (Type type : op.getCandidates().getAsValueRange<TypeAttr>())
    candidates.push_back(cast<SparsityIndexType>(type));
  SmallVector<int64_t> variants = {static_cast<int64_t>(candidates.size()) + 1,
                                   PIT_VARIANT_DENSE};
  for (SparsityIndexType type : candidates) {
    variants.push_back(type.getAxis());
    llvm::append_range(variants, getExtentWords(type));
  }
  SmallVector<Value> variantWords;
  for (int64_t word : variants)
    variantWords.push_back(constantI64(builder, loc, word));

  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
  SmallVector<Value> costs = {op.getDense(), zero, zero};
  for (auto [fixed, live] : llvm::zip(op.getFixed(), op.getLive()))
    costs.append({fixed, live, zero});
  for (Value &cost : costs)
    cost = arith::BitcastOp::create(builder, loc, builder.getI64Type(), cost);

  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value bitmap = entryAlloca(builder, loc, function, pointerType);
  int64_t flags = op.getDeterministic() ? PIT_CHOOSE_DETERMINISTIC : 0;
  Value none = LLVM::ZeroOp::create(builder, loc, pointerType);
  Value seen = op.getBits() ? describeBits(builder, loc, function, op.getBits(),
                                           op.getInput())
                            : none;
  if (op.getSeen() && !op.getOnDevice())
    seen = earlier;
  if (seen != none && !op.getOnDevice()) {
    flags |= PIT_CHOOSE_SEEN;
    LLVM::StoreOp::create(builder, loc, seen, bitmap);
  }
  SmallVector<Value> operands = {
      getFrame(function),
      constantI32(builder, loc, mark),
      constantI32(builder, loc, flags),
      constantI32(builder, loc,
                  op.getMask() ? PIT_SOURCE_MASK : PIT_SOURCE_VALUES),
      firstElement(builder, loc, op.getInput()),
      describeBuild(builder, loc, function, op.getInput(), candidates.front(),
                    {}, op.getBackgroundAttr(), /*flags=*/0),
      storeWords(builder, loc, function, variantWords),
      storeWords(builder, loc, function, costs),
      placeOf(builder, op, function),
      bitmap};
  if (op.getOnDevice()) {
    // Places among the operands.
    constexpr int64_t kAfter = 1, kEarlier = 2, kSeenBits = 8;
    operands.insert(operands.begin() + kAfter, after ? after : none);
    operands.insert(operands.begin() + kEarlier, earlier ? earlier : none);
    operands.insert(operands.begin() + kSeenBits, seen);
    callRuntime(builder, loc, "pit_rt_choose_on_device", builder.getI32Type(),
                operands, /*status=*/true);
    return {Value(), LLVM::LoadOp::create(builder, loc, pointerType, bitmap)};
  }
  Value variant = entryAlloca(builder, loc, function, builder.getI32Type());
  operands.push_back(variant);
  callRuntime(builder, loc, "pit_rt_choose", builder.getI32Type(), operands,
              /*status=*/true);
  Value chosen =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), variant);
  chosen =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), chosen);
  return {chosen, LLVM::LoadOp::create(builder, loc, pointerType, bitmap)};
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

/// Texts one after another, each with its NUL, on the stack.
static Value storeTexts(OpBuilder &builder, Location loc, func::FuncOp function,
                        ArrayRef<StringRef> texts) {
  std::string bytes;
  for (StringRef text : texts)
    (bytes += text).push_back('\0');
  SmallVector<Value> words;
  for (size_t at = 0; at < bytes.size(); at += sizeof(int64_t)) {
    uint64_t word = 0;
    for (size_t i = 0; i < sizeof(word) && at + i < bytes.size(); ++i)
      word |= uint64_t(uint8_t(bytes[at + i])) << (8 * i);
    words.push_back(constantI64(builder, loc, static_cast<int64_t>(word)));
  }
  return storeWords(builder, loc, function, words);
}

void mlir::pit::lowerRecord(OpBuilder &builder, RecordOp op,
                            func::FuncOp function) {
  Location loc = op.getLoc();
  int64_t rank = op.getShape().empty()
                     ? cast<MemRefType>(op.getInput().getType()).getRank()
                     : op.getShape().size();
  SmallVector<int64_t> element(rank, 1);
  auto type =
      SparsityIndexType::get(builder.getContext(), element, rank - 1, element);
  Value texts =
      storeTexts(builder, loc, function,
                 {op.getLabel(), op.getSignature(), op.getLocation()});
  callRuntime(builder, loc, "pit_rt_record", builder.getI32Type(),
              {getFrame(function),
               constantI32(builder, loc, static_cast<int64_t>(op.getSource())),
               firstElement(builder, loc, op.getInput()),
               describeBuild(builder, loc, function, op.getInput(), type,
                             op.getShape(), op.getBackgroundAttr(),
                             /*flags=*/0),
               texts, placeOf(builder, op, function)},
              /*status=*/true);
}
