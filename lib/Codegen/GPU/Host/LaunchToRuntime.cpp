//===- LaunchToRuntime.cpp - pit.launch to calls of the runtime -----------===//

#include "Codegen/Common/RuntimeCalls.h"
#include "FallbackKernels.h"
#include "Images.h"
#include "StartKernel.h"
#include "TensorMaps.h"

#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Target/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::pit {
#define GEN_PASS_DEF_CONVERTPITLAUNCH
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// More blocks of a kernel that needs scratch, or that works element by
/// element, would only wait for each other; less than these would leave some of
/// the machine idle where the groups of an index are of different size.
static constexpr int64_t kBlocksPerMultiprocessor = 16;
/// The same of a kernel that asks whether its variant is chosen: as many as a
/// multiprocessor holds of 256 threads. If it is not, the kernels after it
/// wait until all of its blocks have left.
static constexpr int64_t kBlocksThatAsk = 8;
/// The blocks that add up rows: the reads of some are on their way while others
/// add.
static constexpr int64_t kBlocksOfRows = 4;

namespace {

/// Lowers the launches of one host function.
class LaunchLowering {
public:
  LaunchLowering(func::FuncOp function, ModuleOp module, NeededKernels &needed)
      : function(function), module(module), needed(needed), builder(function) {}

  LogicalResult lower(LaunchOp launch);
  /// Makes the kernels that the launch may start ask whether it is their turn.
  LogicalResult predicateKernels(LaunchOp launch);

private:
  /// The work of a kernel, as its launch gives it.
  struct Iterations {
    Value number;     ///< an index
    bool areElements; ///< of the first output
    bool mayBeNone;   ///< if the launch's variant is not chosen
  };

  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      index);
  }
  /// A value and a number.
  template <typename OpT> Value apply(Value a, int64_t b) {
    return OpT::create(builder, loc, a, constant(a.getType(), b));
  }
  gpu::GPUFuncOp findKernel(LaunchOp launch, SymbolRefAttr name,
                            ValueRange operands);
  gpu::GPUFuncOp findKernel(LaunchOp launch, SymbolRefAttr name);
  SmallVector<Value> parametersOf(ValueRange operands) {
    return makeParameters(builder, loc, function, operands);
  }
  Value multiprocessors();
  LogicalResult lowerPortable(LaunchOp launch, gpu::GPUFuncOp kernel,
                              ArrayRef<Value> parameters);
  LogicalResult lowerFill(LaunchOp launch);
  void startPortable(gpu::GPUFuncOp kernel, const Iterations &iterations,
                     ArrayRef<Value> parameters);
  LogicalResult lowerHopper(LaunchOp launch, gpu::GPUFuncOp kernel,
                            gpu::GPUFuncOp hopper, ArrayRef<Value> parameters);
  Value hopperBlocks(Value iterations, const LaunchInfo &info);
  Value partsOfTiles(const LaunchInfo &info, Value tiles);
  SmallVector<Value> partialSums(Value bytes);
  Value counters();
  void start(gpu::GPUFuncOp kernel, Value blocks, Value split,
             ArrayRef<Value> words, ArrayRef<Value> maps = {});
  void predicateKernel(gpu::GPUFuncOp kernel);
  void beginPredicate(LaunchOp launch);

  func::FuncOp function;
  ModuleOp module;
  NeededKernels &needed;
  bool isFallback = false; ///< of a kernel that is started if it can be
  OpBuilder builder;
  Location loc = UnknownLoc::get(function.getContext());
  /// The address of a word on the device, or 0, and what it has to be.
  SmallVector<Value> condition;
};

} // namespace

/// The operands that are arguments of the launch's kernel.
static SmallVector<Value> argumentsOf(LaunchOp launch) {
  SmallVector<Value> arguments(launch.getInputs());
  llvm::append_range(arguments, launch.getOuts());
  return arguments;
}

Value LaunchLowering::multiprocessors() {
  Value count = callRuntime(builder, loc, "pit_rt_multiprocessors",
                            builder.getI32Type(), getFrame(function))
                    .getResult(0);
  return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), count);
}

/// The kernel of that name; null, and reported, if it is none.
gpu::GPUFuncOp LaunchLowering::findKernel(LaunchOp launch, SymbolRefAttr name,
                                          ValueRange operands) {
  auto kernel = dyn_cast_or_null<gpu::GPUFuncOp>(
      SymbolTable::lookupSymbolIn(module, name));
  if (!kernel)
    launch.emitOpError() << "launches " << name
                         << ", which is no gpu.func: run convert-pit-to-gpu "
                            "first";
  else if (failed(checkLayouts(launch, kernel, operands)))
    return {};
  else if (!LaunchInfo::of(kernel))
    launch.emitOpError() << "launches " << name << ", which has no "
                         << kLaunchInfoAttrName;
  else
    return kernel;
  return {};
}

gpu::GPUFuncOp LaunchLowering::findKernel(LaunchOp launch, SymbolRefAttr name) {
  return findKernel(launch, name, argumentsOf(launch));
}

/// Starts a kernel whose parameters are those words and then the tensor maps at
/// those addresses.
void LaunchLowering::start(gpu::GPUFuncOp kernel, Value blocks, Value split,
                           ArrayRef<Value> words, ArrayRef<Value> maps) {
  if (!isFallback)
    needed.insert(kernel);
  startKernel(builder, loc, function,
              {kernel, blocks, split, words, maps, condition});
}

/// Starts the kernel that fills an output before.
LogicalResult LaunchLowering::lowerFill(LaunchOp launch) {
  Value fill = launch.getFill();
  gpu::GPUFuncOp kernel = findKernel(launch, launch.getFillKernelAttr(), fill);
  if (!kernel)
    return failure();
  startPortable(kernel,
                {launch.getFillElements(), /*areElements=*/true,
                 bool(launch.getChoice())},
                parametersOf(fill));
  return success();
}

/// A kernel that runs on every chip.
LogicalResult LaunchLowering::lowerPortable(LaunchOp launch,
                                            gpu::GPUFuncOp kernel,
                                            ArrayRef<Value> parameters) {
  if (launch.getFill() && failed(lowerFill(launch)))
    return failure();
  startPortable(
      kernel,
      {launch.getIterations(), launch.getElements(), bool(launch.getChoice())},
      parameters);
  return success();
}

/// A block for each iteration, or as many as are of use.
void LaunchLowering::startPortable(gpu::GPUFuncOp kernel,
                                   const Iterations &iterations,
                                   ArrayRef<Value> parameters) {
  Type i64 = builder.getI64Type();
  LaunchInfo info = *LaunchInfo::of(kernel);
  SmallVector<Value> words(parameters);
  Value blocks = toI64(iterations.number);
  auto fullMachine = [&] {
    return apply<arith::MulIOp>(
        multiprocessors(),
        iterations.mayBeNone ? kBlocksThatAsk : kBlocksPerMultiprocessor);
  };
  if (info.grid == LaunchGrid::OneBlock)
    blocks = apply<arith::MinSIOp>(blocks, 1);
  if (info.scratchBytes || iterations.areElements)
    blocks = arith::MinSIOp::create(builder, loc, blocks, fullMachine());
  if (info.scratchBytes) {
    Value bytes = apply<arith::MaxSIOp>(
        apply<arith::MulIOp>(blocks, info.scratchBytes), 0);
    bytes =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), bytes);
    Value memory = allocateBytes(builder, loc, function, bytes);
    memory = LLVM::PtrToIntOp::create(builder, loc, i64, memory);
    // memref<?xi8>
    words.append(
        {memory, memory, constant(i64, 0), toI64(bytes), constant(i64, 1)});
  }

  // Blocks may share the chunks of a group: as many as fill the machine.
  Value split = constant(i64, 1);
  if (info.grid == LaunchGrid::Groups) {
    split = arith::DivSIOp::create(builder, loc, fullMachine(),
                                   apply<arith::MaxSIOp>(blocks, 1));
    split = apply<arith::MaxSIOp>(split, 1);
  }
  if (info.hasSplits()) {
    split = partsOfTiles(info, blocks);
    Value isShared = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sgt, split, constant(i64, 1));
    Value bytes = arith::MulIOp::create(builder, loc, blocks, split);
    bytes = apply<arith::MulIOp>(bytes, info.partialBytes);
    bytes = arith::SelectOp::create(builder, loc, isShared, bytes,
                                    constant(i64, 0));
    llvm::append_range(words, partialSums(bytes));
  }
  start(kernel, blocks, split, words);
}

/// In how many splits blocks share tiles, of which there are so many: as many
/// blocks as fill the machine.
Value LaunchLowering::partsOfTiles(const LaunchInfo &info, Value tiles) {
  int64_t blocks = info.grid == LaunchGrid::Rows
                       ? kBlocksOfRows
                       : blocksThatShare(info.threads);
  Value most = apply<arith::MulIOp>(multiprocessors(), blocks);
  Value splits = arith::DivSIOp::create(builder, loc, most,
                                        apply<arith::MaxSIOp>(tiles, 1));
  splits = apply<arith::MinSIOp>(splits, info.splits);
  return apply<arith::MaxSIOp>(splits, 1);
}

/// So many bytes for the partial sums of blocks that share tiles, and counters:
/// the words that are parameters.
SmallVector<Value> LaunchLowering::partialSums(Value bytes) {
  Type i64 = builder.getI64Type();
  Value memory = allocateBytes(
      builder, loc, function,
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), bytes));
  return {LLVM::PtrToIntOp::create(builder, loc, i64, memory), counters()};
}

/// The address of counters, which are 0.
Value LaunchLowering::counters() {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value slot = entryAlloca(builder, loc, function, pointer);
  callRuntime(builder, loc, "pit_rt_counters", builder.getI32Type(),
              {getFrame(function), slot}, /*status=*/true);
  Value memory = LLVM::LoadOp::create(builder, loc, pointer, slot);
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), memory);
}

/// A block for each iteration, or as many as run at once; whole clusters.
Value LaunchLowering::hopperBlocks(Value iterations, const LaunchInfo &info) {
  int64_t cluster = info.cluster;
  auto inClusters = [&](Value blocks) {
    return cluster == 1 ? blocks
                        : apply<arith::MulIOp>(
                              apply<arith::DivSIOp>(blocks, cluster), cluster);
  };
  Value blocks = iterations;
  if (cluster > 1)
    blocks = inClusters(apply<arith::AddIOp>(blocks, cluster - 1));
  if (!info.isPersistent())
    return blocks;
  Value most = inClusters(multiprocessors());
  if (cluster > 1)
    most = apply<arith::MaxSIOp>(most, cluster);
  if (info.grid == LaunchGrid::Machine)
    return most;
  return arith::MinSIOp::create(builder, loc, blocks, most);
}

/// A kernel fills the argument that its launch has filled before, and only that
/// one.
static LogicalResult checkFill(LaunchOp launch, gpu::GPUFuncOp kernel) {
  std::optional<int64_t> fills = LaunchInfo::of(kernel)->fills, filled;
  if (launch.getFill())
    filled = launch.getInputs().size() +
             std::distance(launch.getOuts().begin(),
                           llvm::find(launch.getOuts(), launch.getFill()));
  if (fills == filled)
    return success();
  auto name = [](std::optional<int64_t> number) {
    return number ? "argument " + std::to_string(*number) : "no argument";
  };
  return launch.emitOpError()
         << "launches @" << kernel.getName() << ", which fills " << name(fills)
         << "; its fill is of " << name(filled);
}

/// TMA has conditions on addresses and extents, which are known when the
/// program runs: then one of the two kernels is started.
LogicalResult LaunchLowering::lowerHopper(LaunchOp launch,
                                          gpu::GPUFuncOp kernel,
                                          gpu::GPUFuncOp hopper,
                                          ArrayRef<Value> parameters) {
  FailureOr<SmallVector<TensorMap>> maps = getTensorMaps(hopper, launch);
  if (failed(maps) || failed(checkFill(launch, hopper)))
    return failure();
  Value iterations = toI64(launch.getIterations());
  Value fits =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, iterations,
                            constant(iterations.getType(), 0));
  LaunchedMaps launched(builder, loc, function, launch, *maps);
  Value can = launched.require();
  if (!can)
    return lowerPortable(launch, kernel, parameters);
  fits = arith::AndIOp::create(builder, loc, fits, can);
  // Rows are filled 16 bytes at a time.
  LaunchInfo info = *LaunchInfo::of(hopper);
  if (launch.getFill()) {
    auto out = cast<TypedValue<MemRefType>>(launch.getFill());
    TensorMapFit fit = canHaveTensorMap(builder, loc, out);
    if (!fit.extents || !fit.layout)
      return lowerPortable(launch, kernel, parameters);
    fits = arith::AndIOp::create(builder, loc, fits, fit.extents);
    fits = arith::AndIOp::create(builder, loc, fits, fit.layout);
    if (int64_t most = info.fillsAtMost) {
      Value blocks = hopperBlocks(iterations, info);
      Value can = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                        countElements(builder, loc, out),
                                        apply<arith::MulIOp>(blocks, most));
      fits = arith::AndIOp::create(builder, loc, fits, can);
    }
  }
  auto choice = scf::IfOp::create(builder, loc, fits, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> addresses = launched.make(condition);
  SmallVector<Value> words(parameters);
  if (int64_t bytes = info.streamBytes)
    llvm::append_range(
        words, partialSums(apply<arith::MulIOp>(multiprocessors(), bytes)));
  if (info.grid == LaunchGrid::Taken)
    words.push_back(counters());
  start(hopper, hopperBlocks(iterations, info),
        constant(builder.getI64Type(), 1), words, addresses);
  builder.setInsertionPointToStart(choice.elseBlock());
  isFallback = true;
  LogicalResult lowered = lowerPortable(launch, kernel, parameters);
  isFallback = false;
  return lowered;
}

/// The second kernel for Hopper, by its name in the same module.
static SymbolRefAttr getHopperName(LaunchOp launch, gpu::GPUFuncOp kernel) {
  FlatSymbolRefAttr name = LaunchInfo::of(kernel)->preferred;
  return name ? SymbolRefAttr::get(launch.getKernel().getRootReference(), name)
              : SymbolRefAttr();
}

/// Can kernels of this module start while the one before them still runs?
static bool canUsePdl(gpu::GPUFuncOp kernel) {
  ArrayAttr targets =
      kernel->getParentOfType<gpu::GPUModuleOp>().getTargetsAttr();
  return targets && llvm::all_of(targets, [](Attribute attr) {
           auto target = dyn_cast<NVVM::NVVMTargetAttr>(attr);
           std::optional<GpuTarget> gpu =
               target ? findGpuTarget(target.getChip()) : std::nullopt;
           return gpu && gpu->capability >= 90;
         });
}

/// The first thing that a kernel does is to ask, after all before it is done.
/// One that leaves then takes next to no time.
void LaunchLowering::predicateKernel(gpu::GPUFuncOp kernel) {
  LaunchInfo info = *LaunchInfo::of(kernel);
  info.predicated = true;
  info.pdl |= canUsePdl(kernel);
  info.setOn(kernel);
}

LogicalResult LaunchLowering::predicateKernels(LaunchOp launch) {
  gpu::GPUFuncOp kernel = findKernel(launch, launch.getKernel());
  if (!kernel)
    return failure();
  predicateKernel(kernel);
  if (Value fill = launch.getFill()) {
    gpu::GPUFuncOp before =
        findKernel(launch, launch.getFillKernelAttr(), fill);
    if (!before)
      return failure();
    predicateKernel(before);
  }
  SymbolRefAttr name = getHopperName(launch, kernel);
  if (!name)
    return success();
  gpu::GPUFuncOp hopper = findKernel(launch, name);
  if (!hopper)
    return failure();
  predicateKernel(hopper);
  return success();
}

/// Sets `condition`, what the kernels of the launch ask for. If the host
/// knows the variant, the launch is in a branch, and its kernels ask for
/// nothing.
void LaunchLowering::beginPredicate(LaunchOp launch) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Value choice = launch.getChoice();
  if (!choice) {
    condition = {constant(i64, 0), constant(i64, 0)};
    return;
  }
  // pit_device_choice.
  constexpr int64_t kKnownOffset = 8;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  int64_t variant = *launch.getVariant();
  Value word = LLVM::LoadOp::create(builder, loc, pointer, choice);
  Value known = LLVM::LoadOp::create(
      builder, loc, i32, addressAt(builder, loc, choice, kKnownOffset));
  using arith::CmpIPredicate;
  Value isOpen = arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, known,
                                       constant(i32, 0));
  Value isIt = arith::CmpIOp::create(builder, loc, CmpIPredicate::eq, known,
                                     constant(i32, variant));
  Value may = arith::OrIOp::create(builder, loc, isOpen, isIt);
  auto branch = scf::IfOp::create(builder, loc, may, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  condition = {LLVM::PtrToIntOp::create(builder, loc, i64, word),
               constant(i64, variant)};
}

LogicalResult LaunchLowering::lower(LaunchOp launch) {
  loc = launch.getLoc();
  builder.setInsertionPoint(launch);
  gpu::GPUFuncOp kernel = findKernel(launch, launch.getKernel());
  if (!kernel)
    return failure();
  beginPredicate(launch);
  SmallVector<Value> parameters = parametersOf(argumentsOf(launch));
  if (SymbolRefAttr name = getHopperName(launch, kernel)) {
    gpu::GPUFuncOp hopper = findKernel(launch, name);
    if (!hopper || failed(lowerHopper(launch, kernel, hopper, parameters)))
      return failure();
  } else if (failed(lowerPortable(launch, kernel, parameters))) {
    return failure();
  }
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
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kKernels);
    if (kernels && !module.lookupSymbol(kImage))
      createImage(module, kImage);
    NeededKernels needed;
    WalkResult predicated = module.walk([&](LaunchOp launch) {
      auto function = launch->getParentOfType<func::FuncOp>();
      if (!launch.getChoice() || !getFrame(function))
        return WalkResult::advance();
      LaunchLowering lowering(function, module, needed);
      return WalkResult(lowering.predicateKernels(launch));
    });
    if (predicated.wasInterrupted())
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!getFrame(function))
        continue;
      SmallVector<LaunchOp> launches;
      function.walk([&](LaunchOp launch) { launches.push_back(launch); });
      LaunchLowering lowering(function, module, needed);
      for (LaunchOp launch : launches)
        if (failed(lowering.lower(launch)))
          return signalPassFailure();
      if (failed(checkHost(function)))
        return signalPassFailure();
    }
    if (separateFallbacks && kernels)
      separateFallbackKernels(kernels, needed);
  }
};
} // namespace
