//===- TensorMaps.cpp - TMA descriptors that a kernel takes ---------------===//

#include "TensorMaps.h"

#include "Codegen/Common/RuntimeCalls.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// What TMA asks of addresses and strides, in bytes.
static constexpr int64_t kAlignment = 16;
/// A descriptor and its alignment, in bytes.
static constexpr int64_t kMapBytes = 128, kMapAlignment = 64;
/// Bytes that a miss of the L2 cache loads around what a box asks for.
static constexpr int64_t kL2Promotion = 256;

FailureOr<SmallVector<TensorMap>> cuda::getTensorMaps(gpu::GPUFuncOp kernel,
                                                      LaunchOp launch) {
  SmallVector<Value> operands(launch.getInputs());
  llvm::append_range(operands, launch.getOuts());
  SmallVector<TensorMap> maps;
  auto entries = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttrName);
  if (!entries)
    return maps;
  auto fail = [&]() {
    return launch.emitOpError()
           << "launches @" << kernel.getName() << ", whose tensor map "
           << maps.size() << ", " << entries[maps.size()] << ", ";
  };
  for (Attribute entry : entries) {
    // The dialect verifies that these are there.
    auto fields = cast<DictionaryAttr>(entry);
    auto argument = fields.getAs<IntegerAttr>("argument");
    auto box = fields.getAs<DenseI64ArrayAttr>("box");
    auto swizzle = fields.getAs<IntegerAttr>("swizzle");
    uint64_t number = argument.getInt();
    if (number >= operands.size() ||
        !isa<MemRefType>(operands[number].getType()))
      return fail() << "is of no memref among the launch's " << operands.size()
                    << " operands";
    auto memref = cast<TypedValue<MemRefType>>(operands[number]);
    if (memref.getType().getRank() != box.size())
      return fail() << "has a box of rank " << box.size() << ", and "
                    << memref.getType() << " is of rank "
                    << memref.getType().getRank();
    maps.push_back(
        {memref, llvm::to_vector(box.asArrayRef()), swizzle.getInt()});
  }
  return maps;
}

Value cuda::canHaveTensorMap(OpBuilder &builder, Location loc,
                             TypedValue<MemRefType> memref) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value a, int64_t b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, constant(b))
        .getResult();
  };
  auto isMultiple = [&](Value value, int64_t divisor) {
    Value rest = arith::RemUIOp::create(builder, loc, value, constant(divisor));
    return compare(arith::CmpIPredicate::eq, rest, 0);
  };
  auto toI64 = [&](OpFoldResult value) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      cast<Value>(value));
  };

  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  if (getConstantIntValue(strides.back()) != 1)
    return {};
  Value can = isMultiple(firstElementAddress(builder, loc, memref), kAlignment);
  auto andAlso = [&](Value also) {
    can = arith::AndIOp::create(builder, loc, can, also);
  };
  int64_t bytes = elementBytes(memref.getType().getElementType());
  // Elements whose bytes have to be a multiple of the alignment.
  SmallVector<OpFoldResult> extents(ArrayRef(strides).drop_back());
  SmallVector<OpFoldResult> sizes = metadata.getConstifiedMixedSizes();
  // What is copied by chunks exists or does not, as a whole: where rows have
  // gaps between them, the last chunk of one could reach into the gap.
  if (!memref.getType().getLayout().isIdentity())
    extents.push_back(sizes.back());
  for (OpFoldResult extent : extents) {
    if (std::optional<int64_t> known = getConstantIntValue(extent)) {
      if (*known * bytes % kAlignment != 0)
        return {};
      continue;
    }
    Value inBytes =
        arith::MulIOp::create(builder, loc, toI64(extent), constant(bytes));
    andAlso(isMultiple(inBytes, kAlignment));
  }
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> known = getConstantIntValue(size)) {
      if (*known < 1 || *known > UINT32_MAX)
        return {};
      continue;
    }
    // 0 - 1 is large.
    Value less = arith::SubIOp::create(builder, loc, toI64(size), constant(1));
    andAlso(compare(arith::CmpIPredicate::ult, less, UINT32_MAX));
  }
  return can;
}

Value cuda::makeTensorMap(OpBuilder &builder, Location loc,
                          func::FuncOp function, const TensorMap &map) {
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  };
  MemRefType type = map.memref.getType();
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, map.memref);
  SmallVector<Value> words = {constant(dtypeWord(type.getElementType())),
                              constant(type.getRank()), constant(map.swizzle),
                              constant(kL2Promotion)};
  auto append = [&](ArrayRef<OpFoldResult> values) {
    for (OpFoldResult value : values)
      if (std::optional<int64_t> known = getConstantIntValue(value))
        words.push_back(constant(*known));
      else
        words.push_back(
            arith::IndexCastOp::create(builder, loc, i64, cast<Value>(value)));
  };
  append(metadata.getConstifiedMixedSizes());
  append(metadata.getConstifiedMixedStrides());
  for (int64_t extent : map.box)
    words.push_back(constant(extent));
  Value description = storeWords(builder, loc, function, words);

  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value data = LLVM::IntToPtrOp::create(
      builder, loc, pointer, firstElementAddress(builder, loc, map.memref));
  Value made = entryAlloca(builder, loc, function, builder.getI8Type(),
                           kMapBytes, kMapAlignment);
  callRuntime(builder, loc, "pit_rt_tensor_map", builder.getI32Type(),
              {getFrame(function), made, data, description}, /*status=*/true);
  return made;
}
