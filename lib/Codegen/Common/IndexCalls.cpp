//===- IndexCalls.cpp - Indices and choices by calls of the runtime -------===//

#include "IndexCalls.h"

#include "RuntimeCalls.h"

#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/xxhash.h"

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

/// Extents as the runtime has them, which writes a whole dimension as 0.
static void copyExtents(ArrayRef<int64_t> extents, int64_t *to) {
  for (int64_t extent : extents)
    *to++ = ShapedType::isDynamic(extent) ? 0 : extent;
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

/// The build of an index of `type` from a memref.
static pit_build describeBuild(int64_t source, MemRefType input,
                               SparsityIndexType type, TypedAttr background,
                               int64_t flags = 0) {
  pit_build build = {};
  build.source = static_cast<int32_t>(source);
  build.dtype = runtimeType(input.getElementType());
  build.background = backgroundBits(background);
  build.flags = static_cast<uint32_t>(flags);
  build.data_rank = static_cast<int32_t>(input.getRank());
  build.rank = static_cast<int32_t>(type.getRank());
  build.axis = static_cast<int32_t>(type.getAxis());
  copyExtents(type.getMicroTile(), build.micro_tile);
  copyExtents(type.getStep(), build.step);
  return build;
}

static SmallVector<Value> toI64(OpBuilder &builder, Location loc,
                                ValueRange extents) {
  ArithEmitter e(builder, loc);
  return llvm::map_to_vector(extents, [&](Value x) { return e.toI64(x); });
}

/// A pit_view of a memref, and the address of the shape of the tensor that is
/// indexed, which is the memref's if it is empty.
static std::pair<Value, Value> viewAndShape(OpBuilder &builder, Location loc,
                                            func::FuncOp function, Value memref,
                                            ValueRange shape = {}) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value view = storeView(
      builder, loc, function, firstElementAddress(builder, loc, memref),
      metadata.getConstifiedMixedSizes(), metadata.getConstifiedMixedStrides());
  if (shape.empty())
    return {view, addressAt(builder, loc, view, offsetof(pit_view, shape))};
  return {view, storeWords(builder, loc, function, toI64(builder, loc, shape))};
}

/// The bitmap whose words a memref of bits is, for values of this shape.
static Value describeBitmap(OpBuilder &builder, Location loc,
                            func::FuncOp function, Value bits, Value values) {
  constexpr int64_t kBitmapWords = sizeof(pit_bitmap) / sizeof(int64_t);
  auto type = cast<MemRefType>(values.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, values);
  SmallVector<Value> shape = toI64(builder, loc, metadata.getSizes());
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
  SmallVector<Value> extents(op.getShape());
  if (op.hasRowsOfBatch()) {
    extents[1] = ArithEmitter(builder, loc).mul(extents[0], extents[1]);
    extents.erase(extents.begin());
  }
  pit_build build =
      describeBuild(op.hasRowsOfBatch() ? PIT_SOURCE_ROW_LENGTHS
                                        : static_cast<int64_t>(op.getSource()),
                    cast<MemRefType>(op.getInput().getType()), op.getType(),
                    op.getBackgroundAttr(), indexFlags(op));
  auto [data, shape] =
      viewAndShape(builder, loc, function, op.getInput(), extents);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value slot = entryAlloca(builder, loc, function, pointerType);
  StringRef callee = "pit_rt_build";
  Value known = bitmap;
  if (op.getWritten())
    known =
        describeBitmap(builder, loc, function, op.getWritten(), op.getInput());
  else if (auto choose =
               bitmap ? op.getSeen().getDefiningOp<ChooseOp>() : ChooseOp();
           choose && choose.getOnDevice())
    callee = "pit_rt_build_if_chosen";
  if (!known)
    known = LLVM::ZeroOp::create(builder, loc, pointerType);
  Value operands[] = {getFrame(function),
                      constantStruct(builder, loc, "pit_build", build),
                      data,
                      shape,
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
  SparsityIndexType type = op.getIndex().getType();
  pit_build build = describeBuild(PIT_SOURCE_VALUES,
                                  cast<MemRefType>(op.getInput().getType()),
                                  type, op.getBackgroundAttr());
  Value data = viewAndShape(builder, loc, function, op.getInput()).first;
  // Rows that do not follow each other are no room.
  auto layout =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getDest());
  ArithEmitter e(builder, loc);
  Value rows = layout.getSizes()[0], none = e.index(0);
  const int64_t strides[] = {type.getMicroTile()[0], 1};
  for (auto [stride, wanted] : llvm::zip(layout.getStrides(), strides))
    rows = e.select(e.equal(stride, e.index(wanted)), rows, none);
  // A pit_packed.
  Value nothing = constantI64(builder, loc, 0);
  Value packed = storeWords(builder, loc, function,
                            {firstElementAddress(builder, loc, op.getDest()),
                             e.toI64(rows), nothing});
  Value slot = entryAlloca(builder, loc, function, pointerType);
  callRuntime(builder, loc, "pit_rt_build_packed", builder.getI32Type(),
              {getFrame(function),
               constantStruct(builder, loc, "pit_build", build), data, packed,
               placeOf(builder, op, function), slot},
              /*status=*/true);
  Value done = addressAt(builder, loc, packed, offsetof(pit_packed, done));
  Value isDone = e.compare(
      arith::CmpIPredicate::ne,
      LLVM::LoadOp::create(builder, loc, builder.getI64Type(), done), nothing);
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

/// The variants of a choice.
static pit_variants describeVariants(ChooseOp op, int64_t mark, int64_t flags) {
  pit_variants variants = {};
  variants.mark = static_cast<int32_t>(mark);
  variants.flags = static_cast<int32_t>(flags);
  pit_build *next = variants.variants;
  for (Type type : op.getCandidates().getAsValueRange<TypeAttr>()) {
    pit_build build =
        describeBuild(op.getMask() ? PIT_SOURCE_MASK : PIT_SOURCE_VALUES,
                      cast<MemRefType>(op.getInput().getType()),
                      cast<SparsityIndexType>(type), op.getBackgroundAttr());
    if (next == variants.variants) {
      *next = build;
      next++->axis = PIT_VARIANT_DENSE;
    }
    *next++ = build;
  }
  variants.count = static_cast<int32_t>(next - variants.variants);
  variants.identity = llvm::xxh3_64bits(
      StringRef(reinterpret_cast<char *>(&variants), sizeof(variants)));
  return variants;
}

/// A pit_choice_facts of pointers, each of which may be null; null if all are.
static Value storeFacts(OpBuilder &builder, Location loc, func::FuncOp function,
                        Value after, Value seen, Value bitmap) {
  static_assert(offsetof(pit_choice_facts, after) == 0 &&
                offsetof(pit_choice_facts, seen) == 8 &&
                offsetof(pit_choice_facts, bitmap) == 16);
  Value none = LLVM::ZeroOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
  if (!after && !seen && !bitmap)
    return none;
  return storeWords(
      builder, loc, function,
      {after ? after : none, seen ? seen : none, bitmap ? bitmap : none});
}

std::pair<Value, Value> mlir::pit::lowerChoose(OpBuilder &builder, ChooseOp op,
                                               Value after, Value earlier,
                                               int64_t mark,
                                               func::FuncOp function) {
  Location loc = op.getLoc();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
  // A pit_cost for each variant.
  SmallVector<Value> costs = {op.getDense(), zero, zero};
  for (auto [fixed, live] : llvm::zip(op.getFixed(), op.getLive()))
    costs.append({fixed, live, zero});
  for (Value &cost : costs)
    cost = arith::BitcastOp::create(builder, loc, builder.getI64Type(), cost);

  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value found = entryAlloca(builder, loc, function, pointerType);
  int64_t flags = op.getDeterministic() ? PIT_CHOOSE_DETERMINISTIC : 0;
  Value seen;
  if (op.getWritten())
    seen =
        describeBitmap(builder, loc, function, op.getWritten(), op.getInput());
  if (op.getSeen() && !op.getOnDevice())
    seen = earlier;
  if (seen && !op.getOnDevice()) {
    flags |= PIT_CHOOSE_SEEN;
    LLVM::StoreOp::create(builder, loc, seen, found);
  }
  SmallVector<Value> operands = {
      getFrame(function),
      constantStruct(builder, loc, "pit_variants",
                     describeVariants(op, mark, flags)),
      viewAndShape(builder, loc, function, op.getInput()).first,
      storeWords(builder, loc, function, costs)};
  if (op.getOnDevice()) {
    operands.append({storeFacts(builder, loc, function, after, earlier, seen),
                     placeOf(builder, op, function), found});
    callRuntime(builder, loc, "pit_rt_choose_on_device", builder.getI32Type(),
                operands, /*status=*/true);
    return {Value(), LLVM::LoadOp::create(builder, loc, pointerType, found)};
  }
  Value variant = entryAlloca(builder, loc, function, builder.getI32Type());
  operands.append({placeOf(builder, op, function), found, variant});
  callRuntime(builder, loc, "pit_rt_choose", builder.getI32Type(), operands,
              /*status=*/true);
  Value chosen =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), variant);
  return {ArithEmitter(builder, loc).toIndex(chosen),
          LLVM::LoadOp::create(builder, loc, pointerType, found)};
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

void mlir::pit::lowerRecord(OpBuilder &builder, RecordOp op,
                            func::FuncOp function) {
  Location loc = op.getLoc();
  auto input = cast<MemRefType>(op.getInput().getType());
  int64_t rank = op.getShape().empty() ? input.getRank() : op.getShape().size();
  SmallVector<int64_t> element(rank, 1);
  auto type =
      SparsityIndexType::get(builder.getContext(), element, rank - 1, element);
  pit_build build = describeBuild(static_cast<int64_t>(op.getSource()), input,
                                  type, op.getBackgroundAttr());
  auto [data, shape] =
      viewAndShape(builder, loc, function, op.getInput(), op.getShape());
  std::string texts;
  for (StringRef text : {op.getLabel(), op.getSignature()})
    (texts += text).push_back('\0');
  texts += op.getLocation();
  callRuntime(builder, loc, "pit_rt_record", builder.getI32Type(),
              {getFrame(function),
               constantStruct(builder, loc, "pit_build", build), data, shape,
               constantText(builder, loc, "pit_mark", texts),
               placeOf(builder, op, function)},
              /*status=*/true);
}
