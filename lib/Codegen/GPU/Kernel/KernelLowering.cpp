//===- KernelLowering.cpp - One kernel to a gpu.func ----------------------===//

#include "KernelLowering.h"

#include "KernelMainloops.h"
#include "RowSums.h"
#include "RowsInPlace.h"
#include "WarpRows.h"

#include "Codegen/Common/TileInput.h"
#include "Codegen/GPU/Common/MainloopSteps.h"
#include "Codegen/GPU/Common/TileLoop.h"
#include "Codegen/GPU/Common/TransposedTiles.h"

#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Dynamic shared memory.
static constexpr StringLiteral kShared = "pit_shared";
/// Blocks of a multiprocessor that read rows at the same time: 3, 4 and 6 take
/// 141, 135 and 155 us for twice 268 MB on an H200.
static constexpr int64_t kRowSumsBlocks = 4;

namespace {

class KernelLowering {
public:
  KernelLowering(func::FuncOp function, gpu::GPUModuleOp device,
                 const KernelOptions &options)
      : function(function), device(device), options(options),
        rewriter(function.getContext()),
        staging([this](OpBuilder &builder, Location loc, unsigned output,
                       MemRefType type) {
          return stagingFor(builder, loc, output, type);
        }) {}

  FailureOr<gpu::GPUFuncOp> run();

private:
  void createKernel();
  void placeBuffers();
  Value getSharedBase();
  Value sharedAddress(Emitter &e, int64_t byte);
  Value stagingFor(OpBuilder &builder, Location loc, unsigned output,
                   MemRefType type);

  LogicalResult lowerBlock(Block &block);
  LogicalResult lower(Operation *op);
  LogicalResult lowerForall(ForallOp loop);
  LogicalResult lowerFor(ForOp loop);
  void lowerRowSums();
  LogicalResult lowerRowsInPlace();
  void takeMainloops(KernelMainloops planned);
  LogicalResult lowerMainloop(MainloopOp mainloop);
  LogicalResult lowerPlain(Operation *op);
  LogicalResult lowerRegions(Operation *op);
  LogicalResult share(Operation *op);
  bool startsReduction(linalg::FillOp fill);
  bool comesEarly();
  LaunchInfo describeLaunch();

  Value index(Location loc, int64_t value) {
    return constantIndex(rewriter, loc, value);
  }

  func::FuncOp function;
  gpu::GPUModuleOp device;
  KernelOptions options;
  IRRewriter rewriter;
  std::function<Value(OpBuilder &, Location, unsigned, MemRefType)> staging;
  gpu::GPUFuncOp kernel;
  GridPlan grid;
  BufferPlan plan;
  Barriers barriers;
  int64_t stagingBytes = 0;
  int64_t minBlocks = 1; ///< of a multiprocessor that are to fit
  KernelMainloops mainloops;
  Value partials, counters; ///< for shared tiles, or for parts of rows (i64)
  std::unique_ptr<RowSumsLowering> rowSums;
  std::optional<RowsInPlace> rowsInPlace;
  std::optional<WarpRows> warpRows;
  TransposedTiles transposed;
  int64_t splitsOfRows = 1; ///< at most, that blocks share
  /// The offset of the mainloops' shared memory: they run one after another.
  int64_t mainloopOffset = 0;
  /// The values before a reduction of outputs that nothing stores.
  DenseMap<Operation *, TypedAttr> starts;
  Workers block, blocks; ///< the threads of a block, and of the grid
  Value sharedBase;
  IndexMap indices;
  ChunkMap chunks;
  SmallVector<IdsOp> lists; ///< that chunks are of, which are named to the end
  llvm::SmallDenseSet<Operation *> atomics; ///< SWrites that others may disturb
};

} // namespace

//===----------------------------------------------------------------------===//
// Before
//===----------------------------------------------------------------------===//

void KernelLowering::createKernel() {
  Location loc = function.getLoc();
  int32_t threads = options.threads;
  SmallVector<Type> more;
  if (plan.scratchBytes)
    more.push_back(MemRefType::get(ShapedType::kDynamic, rewriter.getI8Type()));
  bool hasSplits = mainloops.shared || splitsOfRows > 1;
  if (hasSplits)
    more.append(2, rewriter.getI64Type());
  kernel = createGpuFunc(rewriter, function, device,
                         {function.getName().str(), threads, more});

  Block *entry = &kernel.getBody().front();
  rewriter.setInsertionPointToStart(entry);
  auto dimension = gpu::Dimension::x;
  block.threads = blocks.threads = threads;
  block.thread = blocks.thread =
      gpu::ThreadIdOp::create(rewriter, loc, dimension);
  blocks.block = gpu::BlockIdOp::create(rewriter, loc, dimension);
  blocks.blocks = gpu::GridDimOp::create(rewriter, loc, dimension);
  if (hasSplits) {
    partials = entry->getArguments().take_back(2)[0];
    counters = entry->getArguments().take_back(2)[1];
  }
  indices = bindArguments(rewriter, function, kernel);

  // The body may have to be run by one block only.
  Block *body = entry;
  if (grid.oneBlock) {
    Value first = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                        blocks.block, index(loc, 0));
    body = scf::IfOp::create(rewriter, loc, first, /*withElseRegion=*/false)
               .thenBlock();
  }
  Block *old = &function.front();
  rewriter.eraseOp(old->getTerminator());
  Block::iterator end =
      grid.oneBlock ? body->getTerminator()->getIterator() : body->end();
  body->getOperations().splice(end, old->getOperations());
  rewriter.setInsertionPointToEnd(entry);
  gpu::ReturnOp::create(rewriter, loc);
}

Value KernelLowering::getSharedBase() {
  if (sharedBase)
    return sharedBase;
  Location loc = kernel.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  auto global =
      getDynamicShared(rewriter, device, kShared, mainloops.alignment());
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  Value address = LLVM::AddressOfOp::create(rewriter, loc, global);
  sharedBase = LLVM::AddrSpaceCastOp::create(
      rewriter, loc, LLVM::LLVMPointerType::get(rewriter.getContext()),
      address);
  return sharedBase;
}

/// The address of a byte of shared memory (i32).
Value KernelLowering::sharedAddress(Emitter &e, int64_t byte) {
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  Value start = LLVM::AddrSpaceCastOp::create(
      e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext(), space),
      getSharedBase());
  start = LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI32Type(), start);
  return e.add(start, byte);
}

void KernelLowering::placeBuffers() {
  Location loc = kernel.getLoc();
  kernel.walk([&](memref::DeallocOp op) { rewriter.eraseOp(op); });
  Block *entry = &kernel.getBody().front();
  Value scratch;
  if (plan.scratchBytes) {
    rewriter.setInsertionPointAfterValue(blocks.blocks);
    Emitter e(rewriter, loc);
    Value row = gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::y);
    Value number = e.add(e.mul(row, blocks.blocks), blocks.block);
    Value base = pointerOf(rewriter, loc, entry->getArguments().back());
    scratch = e.elementAfter(base, rewriter.getI8Type(),
                             e.mul(number, plan.scratchBytes));
  }
  for (auto &[alloc, place] : plan.places) {
    Value base = place.shared ? getSharedBase() : scratch;
    rewriter.setInsertionPointAfterValue(base);
    Value address = addressAt(rewriter, loc, base, place.offset);
    Value buffer =
        memrefAt(rewriter, alloc->getLoc(), address,
                 cast<MemRefType>(alloc->getResult(0).getType()), {});
    barriers.place(buffer, place);
    rewriter.replaceOp(alloc, buffer);
  }
}

/// Staging of different outputs lies side by side, after all buffers.
Value KernelLowering::stagingFor(OpBuilder &builder, Location loc,
                                 unsigned output, MemRefType type) {
  int64_t bytes = llvm::alignTo(
      type.getNumElements() * elementBytes(type.getElementType()), kLineBytes);
  // As wide as for the widest elements, so that no two outputs meet.
  int64_t slot = type.getNumElements() * 8;
  stagingBytes = std::max(stagingBytes, output * slot + bytes);
  Value address = addressAt(builder, loc, getSharedBase(),
                            plan.sharedBytes + output * slot);
  return memrefAt(builder, loc, address, type, {});
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerBlock(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body))
    if (failed(lower(&op)))
      return failure();
  return success();
}

/// Runs an op by all threads of the block or, for ops on whole memrefs outside
/// of loops, of the grid.
LogicalResult KernelLowering::share(Operation *op) {
  if (warpRows) {
    lowerWarpRow(rewriter, op, *warpRows, block.thread);
    rewriter.eraseOp(op);
    return success();
  }
  SetVector<Value> reads, writes;
  if (failed(collectAccesses(op, reads, writes)))
    return op->emitOpError("has effects on a device that are not known");
  bool isLocal = llvm::all_of(
      writes, [&](Value memref) { return barriers.isLocal(memref); });
  bool isOutermost = op->getParentOp() == kernel;
  const Workers &workers =
      isOutermost && !grid.oneBlock && !isLocal ? blocks : block;
  if (workers.isGrid()) {
    // Iterations that the grid shares do not depend on each other, or one block
    // would run it.
    auto isGlobal = [&](Value memref) { return !barriers.isLocal(memref); };
    reads.remove_if(isGlobal);
    writes.remove_if(isGlobal);
  }
  barriers.access(rewriter, op->getLoc(), reads.getArrayRef(),
                  writes.getArrayRef());
  if (transposed.lower(rewriter, op, chunks, block)) {
    // It is neither a read nor a write by itself.
  } else if (auto read = dyn_cast<SReadOp>(op)) {
    lowerSRead(rewriter, read, chunks, workers);
  } else if (auto write = dyn_cast<SWriteOp>(op)) {
    lowerSWrite(rewriter, write, chunks, workers, atomics.contains(op));
  } else if (auto coords = dyn_cast<CoordsOp>(op)) {
    lowerCoords(rewriter, coords, chunks, workers);
  } else if (auto scan = dyn_cast<ScanOp>(op)) {
    lowerScan(rewriter, op->getLoc(), describeScan(rewriter, scan, chunks),
              workers);
  } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    lowerCopy(rewriter, copy, workers);
  } else {
    if (failed(lowerLinalg(rewriter, cast<linalg::LinalgOp>(op), workers,
                           staging, starts.lookup(op))))
      return failure();
  }
  rewriter.eraseOp(op);
  return success();
}

/// Is a tile filled for a reduction into it alone, which comes next? That then
/// starts from a constant: no pass over the tile, and no barrier behind it.
bool KernelLowering::startsReduction(linalg::FillOp fill) {
  Value tile = fill.getOutputs()[0];
  TypedAttr start;
  if (!barriers.isLocal(tile) ||
      !matchPattern(fill.getInputs()[0], m_Constant(&start)))
    return false;
  Operation *next = fill->getNextNode();
  while (next && next->getNumRegions() == 0 &&
         !llvm::is_contained(next->getOperands(), tile))
    next = next->getNextNode();
  auto sum = dyn_cast_or_null<linalg::LinalgOp>(next);
  if (!sum || sum.getNumDpsInits() != 1 || sum.getNumReductionLoops() == 0 ||
      sum.getDpsInits()[0] != tile ||
      llvm::is_contained(sum.getDpsInputs(), tile) ||
      !sum.hasPureBufferSemantics())
    return false;
  AffineMap map = sum.getMatchingIndexingMap(sum.getDpsInitOperand(0));
  if (!map.isProjectedPermutation() ||
      map.getNumResults() + sum.getNumReductionLoops() != sum.getNumLoops())
    return false;
  starts[sum] = start;
  return true;
}

LogicalResult KernelLowering::lower(Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto fill = dyn_cast<linalg::FillOp>(op); fill && startsReduction(fill)) {
    rewriter.eraseOp(op);
    return success();
  }
  if (auto loop = dyn_cast<ForallOp>(op))
    return lowerForall(loop);
  if (auto loop = dyn_cast<ForOp>(op))
    return lowerFor(loop);
  if (auto mainloop = dyn_cast<MainloopOp>(op))
    return lowerMainloop(mainloop);
  if (auto ids = dyn_cast<IdsOp>(op)) {
    chunks[ids.getIds()] =
        chunkOf(rewriter, ids, ids.getList(), ids.getSubscripts());
    lists.push_back(ids);
    return success();
  }
  auto coords = dyn_cast<CoordsOp>(op);
  if (isa<ViewOp>(op) || (coords && !coords.getDest()))
    return success(); // goes with its mainloop
  if (isa<SReadOp, SWriteOp, ScanOp, CoordsOp, memref::CopyOp,
          linalg::LinalgOp>(op))
    return share(op);
  if (warpRows && isa<memref::LoadOp>(op))
    return success(); // of a register
  if (Value value = readFromIndex(rewriter, op, indices)) {
    rewriter.replaceOp(op, value);
    return success();
  }
  if (isNumberOfTile(op)) {
    // All threads read it.
    if (auto view = op->getOperand(0).getDefiningOp<ViewOp>())
      barriers.access(rewriter, op->getLoc(), view.getSrc(), {});
    lowerNumber(rewriter, cast<vector::ExtractOp>(op), chunks);
    return success();
  }
  return lowerPlain(op);
}

/// Runs an op of another dialect in all threads alike.
LogicalResult KernelLowering::lowerPlain(Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp,
          scf::ExecuteRegionOp, scf::ParallelOp, affine::AffineForOp,
          affine::AffineIfOp>(op))
    return lowerRegions(op);
  SetVector<Value> reads, writes;
  bool isKnown = op->getNumRegions() == 0 && !isa<PitDialect>(op->getDialect());
  if (!op->hasTrait<OpTrait::IsTerminator>())
    isKnown &= succeeded(collectAccesses(op, reads, writes));
  // All threads may write the same value, but not what they then read.
  if (!isKnown || (!reads.empty() && !writes.empty()))
    return op->emitOpError(
        "cannot be run by a block of threads; a kernel takes pit's tile loops, "
        "SRead and SWrite, linalg on memrefs, scf, arith and math");
  barriers.access(rewriter, op->getLoc(), reads.getArrayRef(),
                  writes.getArrayRef());
  return success();
}

LogicalResult KernelLowering::lowerRegions(Operation *op) {
  bool isBranch = isa<scf::IfOp, scf::IndexSwitchOp, affine::AffineIfOp>(op);
  Barriers::State before = barriers.pending, after = before;
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (!region.hasOneBlock())
      return op->emitOpError("has a region of several blocks; use scf for "
                             "control flow");
    if (isBranch)
      barriers.pending = before;
    if (failed(lowerBlock(region.front())))
      return failure();
    if (isBranch) {
      after.append(barriers.pending);
      continue;
    }
    // The next iteration depends on nothing that is still under way.
    rewriter.setInsertionPoint(region.front().getTerminator());
    barriers.flush(rewriter, op->getLoc());
  }
  barriers.pending = after;
  return success();
}

/// Tells barriers what the loop over rows accesses: its sums may be read by
/// other threads.
void KernelLowering::lowerRowSums() {
  Value source = rowSums->getSource(), sums = rowSums->getAccumulator();
  barriers.access(rewriter, rowSums->getLoop().getLoc(), {source, sums}, sums);
  Emitter e(rewriter, rowSums->getLoop().getLoc());
  Value word = partials ? sharedAddress(e, plan.sharedBytes) : Value();
  rowSums->lower(
      rewriter,
      {block.thread, block.threads, staging, partials, counters, word},
      indices);
}

LogicalResult KernelLowering::lowerRowsInPlace() {
  return cuda::lowerRowsInPlace(
      rewriter, *rowsInPlace, grid.oneBlock ? block : blocks, indices, staging);
}

LogicalResult KernelLowering::lowerFor(ForOp loop) {
  if (rowSums && loop == rowSums->getLoop()) {
    lowerRowSums();
    return success();
  }
  bool isSplit = loop == grid.split;
  Operation *lowered = lowerToSequentialLoops(rewriter, loop, indices, chunks);
  if (isSplit) {
    Location loc = loop.getLoc();
    auto strided = cast<scf::ForOp>(lowered);
    rewriter.setInsertionPoint(strided);
    auto y = gpu::Dimension::y;
    Value step = strided.getStep();
    Value row = gpu::BlockIdOp::create(rewriter, loc, y);
    Value rows = gpu::GridDimOp::create(rewriter, loc, y);
    strided.setLowerBound(arith::MulIOp::create(rewriter, loc, row, step));
    strided.setStep(arith::MulIOp::create(rewriter, loc, rows, step));
  }
  if (failed(lowerRegions(lowered)))
    return failure();
  rewriter.eraseOp(loop);
  return success();
}

LogicalResult KernelLowering::lowerForall(ForallOp loop) {
  if (rowsInPlace && loop == rowsInPlace->loop)
    return lowerRowsInPlace();
  Operation *lowered;
  if (loop->getParentOp() == kernel && !grid.oneBlock) {
    lowered = loopOverTiles(rewriter, loop, blocks.block, blocks.blocks, {},
                            indices, chunks);
  } else {
    lowered = lowerToSequentialLoops(rewriter, loop, indices, chunks);
  }
  if (failed(lowerRegions(lowered)))
    return failure();
  rewriter.eraseOp(loop);
  return success();
}

//===----------------------------------------------------------------------===//
// Mainloops
//===----------------------------------------------------------------------===//

/// Gives the mainloops their threads and shared memory.
void KernelLowering::takeMainloops(KernelMainloops planned) {
  mainloops = std::move(planned);
  if (!mainloops.threads)
    return;
  options.threads = mainloops.threads;
  minBlocks = mainloops.blocks;
  mainloopOffset = llvm::alignTo(plan.sharedBytes, mainloops.alignment());
  if (mainloops.sharedBytes)
    plan.sharedBytes = mainloopOffset + mainloops.sharedBytes;
}

LogicalResult KernelLowering::lowerMainloop(MainloopOp mainloop) {
  Location loc = mainloop.getLoc();
  // The memory that the views read may have been written before, and shared
  // memory used.
  SetVector<Value> reads, writes;
  if (failed(collectAccesses(mainloop, reads, writes)))
    return mainloop.emitOpError("has effects on a device that are not known");
  barriers.access(rewriter, loc, reads.getArrayRef(), writes.getArrayRef());
  barriers.flush(rewriter, loc);
  Emitter e(rewriter, loc);
  Value thread = e.toI32(block.thread);
  Value memory = sharedAddress(e, mainloopOffset);
  auto scanResult = [&] {
    if (!mainloop.getBitmap())
      return;
    // Threads look at what others have stored.
    gpu::BarrierOp::create(rewriter, loc);
    barriers.access(rewriter, loc, mainloop.getDest(), mainloop.getBitmap());
    lowerScan(rewriter, loc, describeScan(rewriter, mainloop, chunks), block);
  };
  if (!mainloop.isProduct()) {
    const BodyPlan &plan = mainloops.bodies.at(mainloop);
    lowerTileBody({e, plan, thread, memory}, plan, mainloop, {chunks, indices});
    scanResult();
  } else {
    const PortablePlan &plan = mainloops.products.at(mainloop);
    cuda::lowerMainloop({{e, plan, thread, memory}, plan, partials, counters},
                        mainloop, {chunks, indices}, scanResult);
  }
  eraseMainloop(rewriter, mainloop);
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Can blocks come while those of the kernel before are still there? They are
/// short, and a launch takes as long as many of them.
bool KernelLowering::comesEarly() {
  return (rowSums || warpRows) && options.target.capability >= 90;
}

LaunchInfo KernelLowering::describeLaunch() {
  LaunchInfo info;
  info.threads = options.threads;
  info.sharedBytes = plan.sharedBytes + stagingBytes;
  info.scratchBytes = plan.scratchBytes;
  info.pdl = comesEarly();
  assert((!grid.oneBlock || (!mainloops.shared && splitsOfRows == 1)) &&
         "a kernel whose tiles have splits is one loop without conflicts");
  if (splitsOfRows > 1) {
    info.grid = LaunchGrid::Rows;
    info.splits = splitsOfRows;
    info.partialBytes = rowSums->partialBytes();
  } else if (mainloops.shared) {
    info.grid = LaunchGrid::Steps;
    info.splits = mainloops.shared->splits;
    info.partialBytes = mainloops.shared->partialBytes();
  } else if (grid.oneBlock) {
    info.grid = LaunchGrid::OneBlock;
  } else if (grid.split && !plan.scratchBytes) {
    // Blocks that share a scratch have groups of their own.
    info.grid = LaunchGrid::Groups;
  }
  return info;
}

FailureOr<gpu::GPUFuncOp> KernelLowering::run() {
  if (failed(prepareKernel(rewriter, function, atomics)))
    return failure();
  std::optional<LaunchInfo> launch = LaunchInfo::of(function);
  if (launch)
    options.threads = launch->threads;
  if (std::optional<RowSums> found = matchRowSums(function, options.threads)) {
    rowSums = std::make_unique<RowSumsLowering>(rewriter, *found);
    minBlocks = kRowSumsBlocks;
    if (launch && launch->grid == LaunchGrid::Rows)
      splitsOfRows = launch->splits;
  } else if (launch && launch->grid == LaunchGrid::Rows) {
    return function.emitOpError()
           << "has " << kLaunchInfoAttrName << " = "
           << function->getAttr(kLaunchInfoAttrName)
           << "; only a kernel that is nothing but sums of rows shares rows";
  }
  rowsInPlace = takeRowsInPlace(rewriter, function);
  if (!rowSums && !rowsInPlace)
    warpRows = matchWarpRows(function);
  if (warpRows)
    options.threads = kWarp;
  transposed.take(rewriter, function);
  FailureOr<GridPlan> gridPlan = planGrid(function);
  if (failed(gridPlan))
    return failure();
  grid = *gridPlan;
  if (!warpRows && failed(plan.plan(function, options.maxSharedBytes)))
    return failure();
  FailureOr<KernelMainloops> planned = readMainloops(function, options.target);
  if (failed(planned))
    return failure();
  takeMainloops(std::move(*planned));
  if (plan.scratchBytes)
    splitsOfRows = 1; // blocks that share a scratch have tiles of their own
  createKernel();
  if (warpRows)
    placeInRegisters(rewriter, *warpRows, &kernel.getBody().front());
  placeBuffers();
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  if (comesEarly()) {
    using Control = NVVM::GridDepActionKind;
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    for (Control action : {Control::launch_dependents, Control::wait})
      NVVM::GriddepcontrolOp::create(rewriter, kernel.getLoc(), action);
  }

  if (minBlocks > 1)
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    rewriter.getI32IntegerAttr(minBlocks));
  describeLaunch().setOn(kernel);
  for (IdsOp ids : llvm::reverse(lists))
    rewriter.eraseOp(ids);
  rewriter.eraseOp(function);
  return kernel;
}

FailureOr<gpu::GPUFuncOp> cuda::lowerKernel(func::FuncOp function,
                                            gpu::GPUModuleOp device,
                                            const KernelOptions &options) {
  return KernelLowering(function, device, options).run();
}
