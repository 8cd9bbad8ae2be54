//===- TensorMaps.cpp - TMA descriptors that a kernel takes ---------------===//

#include "TensorMaps.h"

#include "Codegen/Common/RuntimeCalls.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// The alignment of addresses and strides for TMA, in bytes.
static constexpr int64_t kAlignment = 16;
/// A descriptor and its alignment, in bytes.
static constexpr int64_t kMapBytes = 128, kMapAlignment = 64;
/// Bytes that a miss of the L2 cache loads around what a box asks for.
static constexpr int64_t kL2Promotion = 256;
/// Operands are copied for a kernel of Hopper's if there are so many products
/// for each element of them. With fewer the portable kernel is faster, which
/// loads words as they lie, but narrower elements one by one
/// (docs/performance/gpu-hopper.md).
static constexpr int64_t kLeastProductsOfWord = 384, kLeastProductsOfNarrow = 2;

FailureOr<SmallVector<TensorMap>> cuda::getTensorMaps(gpu::GPUFuncOp kernel,
                                                      LaunchOp launch) {
  SmallVector<Value> operands(launch.getInputs());
  llvm::append_range(operands, launch.getOuts());
  SmallVector<TensorMap> maps;
  LaunchInfo info = *LaunchInfo::of(kernel); // a loop keeps no temporary
  for (TensorMapAttr map : info.tensorMaps) {
    uint64_t number = map.getArgument();
    if (number >= operands.size() ||
        !isa<MemRefType>(operands[number].getType()))
      return launch.emitOpError()
             << "launches @" << kernel.getName() << ", whose tensor map "
             << maps.size() << ", " << map
             << ", is of no memref among the launch's " << operands.size()
             << " operands";
    SmallVector<int64_t> order;
    if (map.getOrder())
      order = llvm::to_vector(map.getOrder().asArrayRef());
    maps.push_back({cast<TypedValue<MemRefType>>(operands[number]),
                    llvm::to_vector(map.getBox().asArrayRef()),
                    map.getSwizzle(), map.getAlongK(), order});
  }
  return maps;
}

static Value constantI64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

static Value toI64(ArithEmitter &e, OpFoldResult index) {
  return e.b.createOrFold<arith::IndexCastOp>(e.loc, e.b.getI64Type(),
                                              cast<Value>(index));
}

Value cuda::countElements(OpBuilder &builder, Location loc, Value memref) {
  ArithEmitter e(builder, loc);
  Value elements = constantI64(builder, loc, 1);
  for (int64_t d = 0; d < cast<MemRefType>(memref.getType()).getRank(); ++d)
    elements =
        e.mul(elements,
              toI64(e, builder.createOrFold<memref::DimOp>(loc, memref, d)));
  return elements;
}

static Value both(ArithEmitter &e, Value a, Value b) {
  return a ? e.logicalAnd(a, b) : b;
}

/// Whether TMA can take what lies at the address, with such strides.
static Value isAligned(OpBuilder &builder, Location loc,
                       TypedValue<MemRefType> memref,
                       ArrayRef<OpFoldResult> sizes,
                       ArrayRef<OpFoldResult> strides) {
  if (getConstantIntValue(strides.back()) != 1)
    return {};
  ArithEmitter e(builder, loc);
  auto isMultiple = [&](Value value) {
    return e.equal(e.rem(value, kAlignment), constantI64(builder, loc, 0));
  };
  Value can = isMultiple(firstElementAddress(builder, loc, memref));
  int64_t bytes = elementBytes(memref.getType().getElementType());
  // Elements whose bytes have to be a multiple of the alignment.
  SmallVector<OpFoldResult> extents(strides.drop_back());
  // A copied chunk exists as a whole, or does not: where rows have
  // gaps between them, the last chunk of one could reach into the gap.
  if (!memref.getType().getLayout().isIdentity())
    extents.push_back(sizes.back());
  for (OpFoldResult extent : extents) {
    if (std::optional<int64_t> known = getConstantIntValue(extent)) {
      if (*known * bytes % kAlignment != 0)
        return {};
      continue;
    }
    can = both(e, can, isMultiple(e.mul(toI64(e, extent), bytes)));
  }
  return can;
}

TensorMapFit cuda::canHaveTensorMap(OpBuilder &builder, Location loc,
                                    TypedValue<MemRefType> memref) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  SmallVector<OpFoldResult> sizes = metadata.getConstifiedMixedSizes();
  ArithEmitter e(builder, loc);
  TensorMapFit fit;
  fit.layout = isAligned(builder, loc, memref, sizes,
                         metadata.getConstifiedMixedStrides());
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> known = getConstantIntValue(size)) {
      if (*known < 1 || *known > UINT32_MAX)
        return {};
      continue;
    }
    // 0 - 1 is large.
    Value less = e.sub(toI64(e, size), constantI64(builder, loc, 1));
    Value fits = e.inRange(less, constantI64(builder, loc, UINT32_MAX));
    fit.extents = both(e, fit.extents, fits);
  }
  if (!fit.extents)
    fit.extents = arith::ConstantIntOp::create(builder, loc, true, 1);
  return fit;
}

//===----------------------------------------------------------------------===//
// LaunchedMaps
//===----------------------------------------------------------------------===//

Value LaunchedMaps::constant(int64_t value) {
  return constantI64(b, loc, value);
}

Value LaunchedMaps::wordOf(OpFoldResult number) {
  if (std::optional<int64_t> known = getConstantIntValue(number))
    return constant(*known);
  Value word = cast<Value>(number);
  return word.getType().isIndex() ? toI64(word) : word;
}

Value LaunchedMaps::require() {
  if (maps.empty())
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  Value fits;
  bool mayCopy = false;
  for (const TensorMap &map : maps) {
    if (!inPlace.contains(map.memref)) {
      TensorMapFit fit = canHaveTensorMap(b, loc, map.memref);
      if (!fit.extents)
        return {};
      fits = both(*this, fits, fit.extents);
      inPlace[map.memref] = fit.layout;
    }
    mayCopy |= map.alongK >= 0;
    if (map.alongK >= 0)
      continue;
    if (!inPlace[map.memref])
      return {};
    fits = both(*this, fits, inPlace[map.memref]);
  }
  if (!mayCopy)
    return fits;
  Value pays = copyPays();
  if (matchPattern(pays, m_Zero()))
    return {};
  return both(*this, fits, pays);
}

/// Whether there are enough products for what is copied (i1): as many as the
/// result has elements, times the extent along k. Which of them ids select is
/// not known here. The products that each copied element needs add up over all
/// of them.
Value LaunchedMaps::copyPays() {
  Value least = constant(0), extent;
  llvm::SmallDenseSet<std::pair<Value, unsigned>> seen;
  for (const TensorMap &map : maps) {
    unsigned isOrdered = !map.order.empty();
    if (map.alongK < 0 || !seen.insert({map.memref, isOrdered}).second)
      continue;
    extent = wordOf(b.createOrFold<memref::DimOp>(loc, map.memref, map.alongK));
    Value elements = countElements(b, loc, map.memref),
          lies = inPlace[map.memref];
    if (lies && !isOrdered)
      elements = select(lies, constant(0), elements);
    bool isWord = elementBytes(map.memref.getType().getElementType()) >= 4;
    least =
        add(least, mul(elements, constant(isWord ? kLeastProductsOfWord
                                                 : kLeastProductsOfNarrow)));
  }
  Value products = mul(countElements(b, loc, launch.getOuts().front()), extent);
  return compare(arith::CmpIPredicate::uge, products, least);
}

LaunchedMaps::Source LaunchedMaps::sourceOf(const TensorMap &map) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, map.memref);
  return {firstElementAddress(b, loc, map.memref),
          metadata.getConstifiedMixedSizes(),
          metadata.getConstifiedMixedStrides()};
}

/// A copy with rows that start at multiples of the alignment.
LaunchedMaps::Source LaunchedMaps::copyOf(const TensorMap &map,
                                          ValueRange condition) {
  Source from = sourceOf(map), copy;
  int64_t rank = from.sizes.size();
  int64_t bytes = elementBytes(map.memref.getType().getElementType());
  SmallVector<OpFoldResult> strides;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t dim = map.order.empty() ? d : map.order[d];
    copy.sizes.push_back(from.sizes[dim]);
    strides.push_back(from.strides[dim]);
  }
  Value unit = constant(kAlignment / bytes);
  Value extent = mul(ceilDiv(wordOf(copy.sizes.back()), unit), unit);
  copy.strides.assign(rank, b.getI64IntegerAttr(1));
  for (int64_t d = rank - 2; d >= 0; --d) {
    copy.strides[d] = extent;
    extent = mul(extent, wordOf(copy.sizes[d]));
  }
  Value memory =
      allocateBytes(b, loc, function,
                    b.createOrFold<arith::IndexCastOp>(
                        loc, b.getIndexType(), mul(extent, constant(bytes))));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type();
  Value word = LLVM::IntToPtrOp::create(b, loc, pointer, condition[0]);
  callRuntime(b, loc, "pit_rt_pack_rows", i32,
              {getFrame(function), memory,
               storeView(b, loc, function, from.data, copy.sizes, strides),
               arith::ConstantIntOp::create(b, loc, i32, bytes),
               arith::ConstantIntOp::create(b, loc, i32, rank), word,
               arith::TruncIOp::create(b, loc, i32, condition[1])},
              /*status=*/true);
  copy.data = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), memory);
  return copy;
}

/// The memory that TMA takes for a memref: the memref, if it lies so, or a
/// copy.
LaunchedMaps::Source LaunchedMaps::placeOf(const TensorMap &map,
                                           ValueRange condition) {
  Value lies = map.order.empty() ? inPlace[map.memref] : Value();
  if (!lies)
    return copyOf(map, condition);
  Source source = sourceOf(map);
  if (map.alongK < 0)
    return source;
  // Only when the program runs is it known which of the two it is.
  int64_t rank = map.box.size();
  auto choice =
      scf::IfOp::create(b, loc, SmallVector<Type>(rank, b.getI64Type()), lies,
                        /*withElseRegion=*/true);
  auto yield = [&](Block *block, function_ref<Source()> make) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    Source taken = make();
    SmallVector<Value> words = {taken.data};
    for (OpFoldResult stride : ArrayRef(taken.strides).drop_back())
      words.push_back(wordOf(stride));
    scf::YieldOp::create(b, loc, words);
  };
  yield(choice.thenBlock(), [&] { return source; });
  yield(choice.elseBlock(), [&] { return copyOf(map, condition); });
  source.data = choice.getResult(0);
  for (int64_t d = 0; d + 1 < rank; ++d)
    source.strides[d] = choice.getResult(d + 1);
  return source;
}

Value LaunchedMaps::makeMap(const TensorMap &map, const Source &source) {
  MemRefType type = map.memref.getType();
  pit_tensor_map form = {};
  form.dtype = runtimeType(type.getElementType());
  form.rank = static_cast<int32_t>(type.getRank());
  form.swizzle = static_cast<int32_t>(map.swizzle);
  form.l2_promotion = kL2Promotion;
  llvm::copy(map.box, form.box);
  Value made =
      entryAlloca(b, loc, function, b.getI8Type(), kMapBytes, kMapAlignment);
  callRuntime(
      b, loc, "pit_rt_tensor_map", b.getI32Type(),
      {getFrame(function), made, constantStruct(b, loc, "pit_tensor_map", form),
       storeView(b, loc, function, source.data, source.sizes, source.strides)},
      /*status=*/true);
  return made;
}

SmallVector<Value> LaunchedMaps::make(ValueRange condition) {
  llvm::SmallDenseMap<std::pair<Value, unsigned>, Source> sources;
  SmallVector<Value> addresses;
  for (const TensorMap &map : maps) {
    auto [found, isNew] = sources.try_emplace({map.memref, !map.order.empty()});
    if (isNew)
      found->second = placeOf(map, condition);
    addresses.push_back(makeMap(map, found->second));
  }
  return addresses;
}
