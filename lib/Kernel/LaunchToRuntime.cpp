//===- LaunchToRuntime.cpp - pit.launch to calls of the runtime -----------===//

#include "../Conversion/PitToSCF/RuntimeCalls.h"

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Kernel/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::pit {
#define GEN_PASS_DEF_CONVERTPITLAUNCH
#include "pit/Kernel/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// More blocks of a kernel that needs scratch, or that works element by
/// element, would only wait for each other; less than these would leave some of
/// the machine idle where the groups of an index are of different size.
static constexpr int64_t kBlocksPerMultiprocessor = 16;

namespace {

/// Lowers the launches of one host function.
class LaunchLowering {
public:
  LaunchLowering(func::FuncOp function, ModuleOp module)
      : function(function), module(module), builder(function) {}

  LogicalResult lower(LaunchOp launch);

private:
  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      index);
  }
  void addParameter(Value value);
  Value symbolAddress(StringRef name, StringRef text);

  func::FuncOp function;
  ModuleOp module;
  OpBuilder builder;
  Location loc = UnknownLoc::get(function.getContext());
  SmallVector<Value> parameters; ///< as they lie in memory: i64, pointer, ...
};

} // namespace

/// A kernel takes a memref as its descriptor's fields, an index as its address
/// on the device, anything else as it is.
void LaunchLowering::addParameter(Value value) {
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

/// The address of a constant string of that name.
Value LaunchLowering::symbolAddress(StringRef name, StringRef text) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    auto top = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size() + 1);
    global = LLVM::GlobalOp::create(
        top, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
        builder.getStringAttr(StringRef(text.data(), text.size() + 1)));
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

LogicalResult LaunchLowering::lower(LaunchOp launch) {
  loc = launch.getLoc();
  builder.setInsertionPoint(launch);
  auto kernel = dyn_cast_or_null<gpu::GPUFuncOp>(
      SymbolTable::lookupSymbolIn(module, launch.getKernel()));
  if (!kernel)
    return launch.emitOpError() << "launches " << launch.getKernel()
                                << ", which is no gpu.func: run "
                                   "convert-pit-to-gpu first";
  auto number = [&](StringRef name) -> int64_t {
    auto attr = kernel->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  int64_t threads = number("pit.threads");
  if (!threads)
    return launch.emitOpError() << "launches " << launch.getKernel()
                                << ", which does not say pit.threads";
  parameters.clear();
  for (Value value : launch.getInputs())
    addParameter(value);
  for (Value value : launch.getOuts())
    addParameter(value);

  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Value blocks = toI64(launch.getIterations());
  int64_t scratch = number("pit.scratch_bytes");
  auto fullMachine = [&] {
    Value blocks = callRuntime(builder, loc, "pit_rt_multiprocessors", i32,
                               getFrame(function))
                       .getResult(0);
    blocks = arith::ExtSIOp::create(builder, loc, i64, blocks);
    return arith::MulIOp::create(builder, loc, blocks,
                                 constant(i64, kBlocksPerMultiprocessor))
        .getResult();
  };
  if (int64_t most = number("pit.blocks"))
    blocks = arith::MinSIOp::create(builder, loc, blocks, constant(i64, most));
  if (scratch || launch.getElements()) {
    Value most = fullMachine();
    blocks = arith::MinSIOp::create(builder, loc, blocks, most);
  }
  if (scratch) {
    Value bytes =
        arith::MulIOp::create(builder, loc, blocks, constant(i64, scratch));
    bytes = arith::MaxSIOp::create(builder, loc, bytes, constant(i64, 0));
    bytes =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), bytes);
    Value memory = allocateBytes(builder, loc, function, bytes);
    memory = LLVM::PtrToIntOp::create(builder, loc, i64, memory);
    // memref<?xi8>
    parameters.append(
        {memory, memory, constant(i64, 0), toI64(bytes), constant(i64, 1)});
  }

  // Blocks may share the chunks of a group: as many as fill the machine.
  Value split = constant(i64, 1);
  if (kernel->hasAttr("pit.split") && !scratch) {
    Value one = split;
    split = arith::DivSIOp::create(
        builder, loc, fullMachine(),
        arith::MaxSIOp::create(builder, loc, blocks, one));
    split = arith::MaxSIOp::create(builder, loc, split, one);
  }

  // Each parameter in a slot of its own, and the addresses of the slots.
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  int64_t count = std::max<size_t>(1, parameters.size());
  Value slots = entryAlloca(builder, loc, function, i64, count);
  Value addresses = entryAlloca(builder, loc, function, pointer, count);
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    int32_t place = i;
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, i64, slots,
                                     ArrayRef<LLVM::GEPArg>{place});
    LLVM::StoreOp::create(builder, loc, parameter, slot);
    LLVM::StoreOp::create(builder, loc, slot,
                          LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                              addresses,
                                              ArrayRef<LLVM::GEPArg>{place}));
  }
  auto image = module.lookupSymbol<LLVM::GlobalOp>("pit_image");
  std::string name = kernel.getName().str();
  Value kernelName = symbolAddress("pit_kernel_name_" + name, name);
  callRuntime(builder, loc, "pit_rt_launch", i32,
              {getFrame(function),
               LLVM::AddressOfOp::create(builder, loc, image), kernelName,
               blocks, split, constant(i32, threads),
               constant(i32, number("pit.shared_bytes")), addresses},
              /*status=*/true);
  launch.erase();
  return success();
}

/// Copies between buffers without gaps; whatever else is left over computes on
/// the host what only the device can read.
static LogicalResult checkHost(func::FuncOp function) {
  WalkResult result = function.walk([&](Operation *op) {
    if (isa<memref::LoadOp, memref::StoreOp, memref::CopyOp, linalg::LinalgOp,
            vector::TransferReadOp, vector::TransferWriteOp>(op)) {
      op->emitError() << op->getName()
                      << " works on a tensor's elements on the host, which "
                         "cannot read the device's memory; only tile loops and "
                         "linalg ops become kernels";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ConvertPitLaunchPass
    : pit::impl::ConvertPitLaunchBase<ConvertPitLaunchPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto kernels = module.lookupSymbol<gpu::GPUModuleOp>("pit_kernels");
    if (kernels && !module.lookupSymbol("pit_image")) {
      // {data, size}; pit-embed-kernels fills it in.
      auto builder = OpBuilder::atBlockBegin(module.getBody());
      auto pointer = LLVM::LLVMPointerType::get(&getContext());
      LLVM::GlobalOp::create(
          builder, module.getLoc(),
          LLVM::LLVMStructType::getLiteral(&getContext(),
                                           {pointer, builder.getI64Type()}),
          /*isConstant=*/true, LLVM::Linkage::Internal, "pit_image",
          Attribute());
    }
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!getFrame(function))
        continue;
      SmallVector<LaunchOp> launches;
      function.walk([&](LaunchOp launch) { launches.push_back(launch); });
      LaunchLowering lowering(function, module);
      for (LaunchOp launch : launches)
        if (failed(lowering.lower(launch)))
          return signalPassFailure();
      if (failed(checkHost(function)))
        return signalPassFailure();
    }
  }
};
} // namespace
