//===- StartKernel.cpp - The call that starts a kernel --------------------===//

#include "StartKernel.h"

#include "Codegen/Common/RuntimeCalls.h"
#include "Images.h"

#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Can a kernel that takes a memref of type `to` be given one of type `from`?
static bool takes(MemRefType to, MemRefType from) {
  SmallVector<int64_t> wanted, given;
  int64_t wantedOffset, givenOffset;
  if (failed(to.getStridesAndOffset(wanted, wantedOffset)) ||
      failed(from.getStridesAndOffset(given, givenOffset)) ||
      wanted.size() != given.size())
    return false;
  wanted.push_back(wantedOffset);
  given.push_back(givenOffset);
  // Strides of an identity layout follow from the extents, which agree.
  bool identity = to.getLayout().isIdentity() && from.getLayout().isIdentity();
  return identity ||
         llvm::all_of(llvm::zip_equal(wanted, given), [](auto pair) {
           auto [to, from] = pair;
           return ShapedType::isDynamic(to) || to == from;
         });
}

LogicalResult mlir::pit::cuda::checkLayouts(LaunchOp launch,
                                            gpu::GPUFuncOp kernel,
                                            ValueRange operands) {
  for (auto [i, operand] : llvm::enumerate(operands)) {
    auto from = dyn_cast<MemRefType>(operand.getType());
    auto to = i < kernel.getNumArguments()
                  ? dyn_cast<MemRefType>(kernel.getArgument(i).getType())
                  : MemRefType();
    if (from && (!to || !takes(to, from)))
      return launch.emitOpError()
             << "hands " << from << " to argument " << i << " of @"
             << kernel.getName() << ", which takes "
             << (to ? Type(to) : Type(NoneType::get(from.getContext())))
             << ": run pit-kernel-layouts before convert-pit-to-gpu";
  }
  return success();
}

/// A kernel takes a memref as its descriptor's fields, an index as its address
/// on the device, anything else as it is.
static void addParameters(OpBuilder &builder, Location loc,
                          func::FuncOp function, Value value,
                          SmallVectorImpl<Value> &parameters) {
  auto toI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      index);
  };
  Type i64 = builder.getI64Type();
  if (isa<MemRefType>(value.getType())) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, value);
    Value pointer = toI64(
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, value));
    parameters.append({pointer, pointer, toI64(metadata.getOffset())});
    for (Value size : metadata.getSizes())
      parameters.push_back(toI64(size));
    for (Value stride : metadata.getStrides())
      parameters.push_back(toI64(stride));
    return;
  }
  if (isa<LLVM::LLVMPointerType>(value.getType())) {
    // An index on the host; kernels read its copy on the device.
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value slot = entryAlloca(builder, loc, function, pointer);
    callRuntime(builder, loc, "pit_rt_device_index", builder.getI32Type(),
                {getFrame(function), value, slot}, /*status=*/true);
    parameters.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
    return;
  }
  if (value.getType().isIndex())
    value = toI64(value);
  else if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(builder, loc, i64, value);
  parameters.push_back(value);
}

SmallVector<Value> mlir::pit::cuda::makeParameters(OpBuilder &builder,
                                                   Location loc,
                                                   func::FuncOp function,
                                                   ValueRange operands) {
  SmallVector<Value> parameters;
  for (Value value : operands)
    addParameters(builder, loc, function, value, parameters);
  return parameters;
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

static std::string constantName(gpu::GPUFuncOp kernel) {
  return ("pit_kernel." + kernel.getName()).str();
}

LLVM::GlobalOp mlir::pit::cuda::findConstant(ModuleOp module,
                                             gpu::GPUFuncOp kernel) {
  return module.lookupSymbol<LLVM::GlobalOp>(constantName(kernel));
}

/// Makes the pit_kernel of a kernel.
static LLVM::GlobalOp makeConstant(Location loc, ModuleOp module,
                                   gpu::GPUFuncOp kernel) {
  static_assert(offsetof(pit_kernel, name) == 8 &&
                offsetof(pit_kernel, threads) == 16 &&
                offsetof(pit_kernel, shared_bytes) == 20 &&
                offsetof(pit_kernel, flags) == 24 && sizeof(pit_kernel) == 32);
  LaunchInfo info = *LaunchInfo::of(kernel);
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i32 = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {pointer, pointer, i32, i32, i32, i32});
  auto global = LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
      constantName(kernel), Attribute(), /*alignment=*/alignof(pit_kernel));
  builder.createBlock(&global.getInitializerRegion());
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i32, value);
  };
  StringRef name = kernel.getName();
  Value fields[] = {
      LLVM::AddressOfOp::create(builder, loc,
                                module.lookupSymbol<LLVM::GlobalOp>(kImage)),
      constantText(builder, loc, ("pit_kernel_name_" + name).str(), name),
      constant(info.threads),
      constant(info.sharedBytes),
      constant(info.pdl ? PIT_KERNEL_PDL : 0),
      constant(0)};
  Value value = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(builder, loc, value, field, int64_t(i));
  LLVM::ReturnOp::create(builder, loc, value);
  return global;
}

void mlir::pit::cuda::startKernel(OpBuilder &builder, Location loc,
                                  func::FuncOp function,
                                  const KernelStart &start) {
  auto module = function->getParentOfType<ModuleOp>();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  // Each word in a slot of its own, and the addresses of slots and maps.
  SmallVector<Value> all(start.words);
  if (LaunchInfo::of(start.kernel)->predicated)
    llvm::append_range(all, start.condition);
  Value slots = storeWords(builder, loc, function, all);
  SmallVector<Value> parameters;
  for (int64_t i = 0, n = all.size(); i < n; ++i)
    parameters.push_back(addressAt(builder, loc, slots, 8 * i));
  parameters.insert(parameters.begin() + start.words.size(), start.maps.begin(),
                    start.maps.end());
  Value addresses = entryAlloca(builder, loc, function, pointer,
                                std::max<size_t>(1, parameters.size()));
  for (auto [i, parameter] : llvm::enumerate(parameters))
    LLVM::StoreOp::create(builder, loc, parameter,
                          addressAt(builder, loc, addresses, 8 * i));
  LLVM::GlobalOp constant = findConstant(module, start.kernel);
  if (!constant)
    constant = makeConstant(loc, module, start.kernel);
  callRuntime(builder, loc, "pit_rt_launch", builder.getI32Type(),
              {getFrame(function),
               LLVM::AddressOfOp::create(builder, loc, constant), start.blocks,
               start.split, addresses},
              /*status=*/true);
}
