//===- HopperKernel.cpp - A kernel of one ring by specialised warps -------===//
//
// The kernel of sm_90a. Its blocks stay, and take the tiles of the outermost
// loop in turn; a warpgroup of each loads tiles while two others multiply:
//
//   initialize barriers
//   if producer: for each tile of this block: load all steps
//   else:        for each tile of this block: multiply all steps, store
//
// Both branches are made from a copy of the function, so that whatever scalar
// code a tile needs is there in each of them.
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

#include "../../Kernel/HopperLowering.h"
#include "../../Kernel/Ring.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;

/// Dynamic shared memory. External: LLVM takes an internal array of no bytes to
/// be empty. Stages begin where the swizzle does.
static constexpr StringLiteral kShared = "pit_hopper_shared";
/// Multiprocessors of the largest GPU of sm_90a, and the fewest steps of which
/// a part of a tile is worth it to share the tile.
static constexpr int64_t kProcessors = 132;
static constexpr int64_t kLeastSteps = 8;
/// Steps that blocks save at least where they share the tiles of a last turn.
static constexpr int64_t kLeastGain = 24;
/// Rows of tiles that run at the same time, column by column: they share what
/// they read in the L2 cache.
static constexpr int64_t kRasterRows = 16;

namespace {

/// The loops of a kernel that this schedule takes.
struct Nest {
  ForallOp forall;
  ForOp chunks; ///< of a group's ids, around the ring; may be missing
  RingOp ring;
};

/// Where a block is.
struct Place {
  Value tile; ///< its next one (index)
  Value done; ///< stages that went through its ring (i32)
};

/// The dimension of a tile space along which an operand's tiles lie.
constexpr int kChunkDim = -2; ///< the loop over chunks
constexpr int kNoDim = -1;

class HopperLowering {
public:
  HopperLowering(func::FuncOp function, gpu::GPUModuleOp device)
      : function(function), device(device), rewriter(function.getContext()) {}

  /// Finds the loops and plans the ring; false, and why, if it does not fit.
  bool plan(std::string &why);
  gpu::GPUFuncOp lower();

private:
  enum class Role { Producer, Consumer };

  std::optional<Nest> match(func::FuncOp function);
  int tileDim(Nest nest, const HopperOperand &operand);
  int64_t chooseCluster();
  int64_t chooseParts();
  Value setParts(Value number, Value whole, Value shared);
  void createKernel();
  void lowerRole(Block *block, func::FuncOp body, Role role);
  void lowerTiles(Nest nest, Role role);
  Place lowerGroup(Nest nest, const LoopBounds &bounds, ArrayRef<Value> extents,
                   SmallVector<Value> ivs, const LoopBounds *chunkBounds,
                   Place from, Role role);
  Value lowerRing(RingOp ring, Value done, Role role);

  Value index(int64_t value) { return constantIndex(rewriter, loc, value); }
  Value mul(Value x, Value y) {
    return rewriter.createOrFold<arith::MulIOp>(loc, x, y);
  }
  Value add(Value x, Value y) {
    return rewriter.createOrFold<arith::AddIOp>(loc, x, y);
  }
  std::pair<Value, Value> divRem(Value x, Value y) {
    Value quotient = rewriter.createOrFold<arith::DivUIOp>(loc, x, y);
    return {quotient,
            rewriter.createOrFold<arith::SubIOp>(loc, x, mul(quotient, y))};
  }

  func::FuncOp function;
  gpu::GPUModuleOp device;
  IRRewriter rewriter;
  Location loc = UnknownLoc::get(function.getContext());
  HopperPlan hopper;
  int mDim = kNoDim, nDim = kNoDim; ///< of the forall, or kChunkDim
  int64_t mostParts = 1;            ///< that blocks share a tile in, along k
  gpu::GPUFuncOp kernel;
  HopperThread self;
  Value worker, workers; ///< the block's cluster, and how many there are
  IndexMap indices;
  ChunkMap chunks;
};

} // namespace

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

std::optional<Nest> HopperLowering::match(func::FuncOp function) {
  Nest nest;
  auto findOnly = [](Block &block, auto &op) {
    for (Operation &inner : block.without_terminator()) {
      if (isMemoryEffectFree(&inner) || isa<ViewOp>(inner))
        continue;
      auto found = dyn_cast<std::remove_reference_t<decltype(op)>>(inner);
      if (op || !found)
        return false;
      op = found;
    }
    return static_cast<bool>(op);
  };
  auto isFree = [](Conflicts conflicts) {
    return conflicts == Conflicts::None || conflicts == Conflicts::Atomic;
  };
  if (!function.getBody().hasOneBlock() ||
      !findOnly(function.front(), nest.forall) ||
      !isFree(nest.forall.getConflicts()))
    return std::nullopt;
  Block *body = nest.forall.getBody();
  if (!findOnly(*body, nest.ring)) {
    nest.ring = {};
    if (nest.forall.getIndex() || !findOnly(*body, nest.chunks) ||
        !nest.chunks.getIndex() || !nest.chunks.getSteps().empty() ||
        nest.chunks.getNumResults() || !isFree(nest.chunks.getConflicts()) ||
        !findOnly(*nest.chunks.getBody(), nest.ring))
      return std::nullopt;
    // Groups are gone through one after another.
    for (Value group : nest.chunks.getGroup())
      if (!llvm::is_contained(nest.forall.getInductionVars(), group))
        return std::nullopt;
  }
  return nest;
}

/// Along which dimension of the loops the operand's part of the tile lies.
int HopperLowering::tileDim(Nest nest, const HopperOperand &operand) {
  ViewOp view = nest.ring.getLoaded(operand.number);
  Value subscript =
      view.getSubscripts()[operand.kIsCol ? operand.rowDim : operand.colDim];
  auto argument = dyn_cast<BlockArgument>(subscript);
  if (!argument)
    return kNoDim;
  if (argument.getOwner() == nest.forall.getBody())
    return std::min<int>(argument.getArgNumber(),
                         nest.forall.getSteps().size());
  bool ofChunks = nest.chunks && argument.getOwner() == nest.chunks.getBody();
  return ofChunks ? kChunkDim : kNoDim;
}

/// Two blocks share what they load of b, if they can have neighbouring tiles
/// along m. That pads groups of an index to pairs of tiles, but without it the
/// L2 cache is what limits the kernel.
int64_t HopperLowering::chooseCluster() {
  std::string ignored;
  std::optional<Nest> nest = match(function);
  std::optional<HopperPlan> alone = planHopper(nest->ring, 1, ignored);
  if (!alone)
    return 1;
  int dim = tileDim(*nest, alone->a);
  if (dim == kNoDim)
    return 1;
  ForallOp forall = nest->forall;
  if (dim == kChunkDim || dim == static_cast<int>(forall.getSteps().size()))
    return 2;
  std::optional<int64_t> lower = getConstantIntValue(forall.getLower()[dim]);
  std::optional<int64_t> upper = getConstantIntValue(forall.getUpper()[dim]);
  if (!lower || !upper)
    return 2;
  int64_t tiles = llvm::divideCeil(std::max<int64_t>(0, *upper - *lower),
                                   forall.getSteps()[dim]);
  return tiles % 2 == 0 || tiles > 8 ? 2 : 1;
}

/// In how many parts blocks share a tile along k at most: there may be too few
/// tiles, or too few in the last turn. The number of steps has to be known.
int64_t HopperLowering::chooseParts() {
  Nest nest = *match(function);
  if (nest.chunks || nest.ring.getIndex() || nest.ring.getAtomic())
    return 1;
  auto count = [](Value lower, Value upper, int64_t step) {
    std::optional<int64_t> from = getConstantIntValue(lower);
    std::optional<int64_t> to = getConstantIntValue(upper);
    return from && to
               ? llvm::divideCeil(std::max<int64_t>(0, *to - *from), step)
               : -1;
  };
  int64_t steps = hopper.subSteps;
  for (auto [lower, upper, step] : llvm::zip(
           nest.ring.getLower(), nest.ring.getUpper(), nest.ring.getSteps())) {
    int64_t trips = count(lower, upper, step);
    if (trips < 0)
      return 1;
    steps *= trips;
  }
  int64_t most = std::max<int64_t>(1, steps / kLeastSteps);
  int64_t tiles = 1;
  for (auto [d, lower, upper, step] : llvm::enumerate(
           nest.forall.getLower(), nest.forall.getUpper(),
           nest.forall.getSteps())) {
    int64_t trips = count(lower, upper, step);
    if (static_cast<int>(d) == mDim && trips >= 0)
      trips = llvm::divideCeil(trips, hopper.cluster);
    tiles = trips < 0 || tiles < 0 ? -1 : tiles * trips;
  }
  if (nest.forall.getIndex() || tiles < 0)
    return most;
  // Here all is known. After whole turns, sharing has to gain more than the
  // sums cost that go through memory.
  int64_t clusters = kProcessors / hopper.cluster;
  int64_t rest = tiles % clusters;
  int64_t parts = rest ? std::min(clusters / rest, most) : 1;
  if (tiles > clusters && steps - steps / parts < kLeastGain)
    return 1;
  return parts;
}

bool HopperLowering::plan(std::string &why) {
  std::optional<Nest> nest = match(function);
  if (!nest) {
    why = "the kernel is no loop over tiles with one ring";
    return false;
  }
  loc = nest->ring.getLoc();
  for (Type type : function.getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type);
        memref && !memref.getLayout().isIdentity())
      return why = "a tensor has gaps", false;
  std::optional<HopperPlan> planned =
      planHopper(nest->ring, chooseCluster(), why);
  if (!planned)
    return false;
  hopper = *planned;
  mDim = tileDim(*nest, hopper.a);
  nDim = tileDim(*nest, hopper.b);
  mostParts = chooseParts();
  return true;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void HopperLowering::createKernel() {
  MLIRContext *context = rewriter.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> more;
  if (mostParts > 1)
    more.push_back(rewriter.getI64Type());
  more.append(2, pointer);
  kernel = createGpuFunc(rewriter, function, device,
                         (function.getName() + "_hopper").str(), kHopperThreads,
                         more);
  auto setNumber = [&](StringRef name, int64_t value) {
    kernel->setAttr(name, rewriter.getI64IntegerAttr(value));
  };
  // Roles exchange registers: how many there are has to be known.
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  rewriter.getI32IntegerAttr(1));
  setNumber("pit.threads", kHopperThreads);
  setNumber("pit.shared_bytes", hopper.sharedBytes());
  kernel->setAttr("pit.persistent", rewriter.getUnitAttr());
  if (mostParts > 1)
    setNumber("pit.partial_bytes", hopper.m * hopper.n * 4);
  if (hopper.cluster > 1) {
    setNumber("pit.cluster", hopper.cluster);
    int32_t cluster = hopper.cluster;
    kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    rewriter.getDenseI32ArrayAttr({cluster, 1, 1}));
  }
  SmallVector<Attribute> attributes;
  RingOp ring = match(function)->ring;
  for (const HopperMap &map : hopperMaps(ring, hopper)) {
    int64_t number = cast<BlockArgument>(map.source).getArgNumber();
    attributes.push_back(rewriter.getDictionaryAttr(
        {rewriter.getNamedAttr("argument", rewriter.getI64IntegerAttr(number)),
         rewriter.getNamedAttr("box", rewriter.getDenseI64ArrayAttr(map.box)),
         rewriter.getNamedAttr("swizzle",
                               rewriter.getI64IntegerAttr(kLineBytes))}));
  }
  kernel->setAttr("pit.tensor_maps", rewriter.getArrayAttr(attributes));
}

gpu::GPUFuncOp HopperLowering::lower() {
  createKernel();
  if (match(function)->chunks)
    kernel->setAttr("pit.split", rewriter.getUnitAttr());
  Block *entry = &kernel.getBody().front();
  rewriter.setInsertionPointToStart(entry);

  auto global = device.lookupSymbol<LLVM::GlobalOp>(kShared);
  if (!global) {
    OpBuilder::InsertionGuard guard(rewriter);
    auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
    auto type = LLVM::LLVMArrayType::get(rewriter.getI8Type(), 0);
    rewriter.setInsertionPointToStart(device.getBody());
    global = LLVM::GlobalOp::create(
        rewriter, device.getLoc(), type,
        /*isConstant=*/false, LLVM::Linkage::External, kShared,
        /*value=*/Attribute(), kSwizzleBytes, space);
  }
  Emitter e(rewriter, loc);
  Value base = LLVM::AddressOfOp::create(rewriter, loc, global);
  self.shared =
      LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), base);
  auto x = gpu::Dimension::x;
  Value thread = e.toI32(gpu::ThreadIdOp::create(rewriter, loc, x));
  self.thread = e.rem(thread, kWarpgroup);
  // From one lane to all: what depends on it is the same in a warp, and ptxas
  // knows it.
  Value warp = NVVM::ShflOp::create(rewriter, loc, rewriter.getI32Type(),
                                    e.i32(-1), e.div(thread, 32), e.i32(0),
                                    e.i32(31), NVVM::ShflKind::idx, UnitAttr());
  self.warp = e.rem(warp, kWarpgroup / 32);
  Value warpgroup = e.div(warp, kWarpgroup / 32);
  worker = gpu::BlockIdOp::create(rewriter, loc, x);
  workers = gpu::GridDimOp::create(rewriter, loc, x);
  self.rank = e.i32(0);
  if (hopper.cluster > 1) {
    Value size = index(hopper.cluster);
    auto [number, rank] = divRem(worker, size);
    worker = number;
    self.rank = e.toI32(rank);
    workers = rewriter.createOrFold<arith::DivUIOp>(loc, workers, size);
  }
  unsigned count = kernel.getNumArguments();
  for (unsigned i = 0; i < 2; ++i)
    self.maps[i] = kernel.getArgument(count - 2 + i);
  if (mostParts > 1)
    self.parts.partials = kernel.getArgument(count - 3);
  initHopperBarriers(e, hopper, thread, self.shared);
  // Each role has the loops and scalar code of its own.
  func::FuncOp loading = function.clone(), computing = function.clone();
  Value isProducer = e.less(warpgroup, e.i32(1));
  auto branch = scf::IfOp::create(rewriter, loc, isProducer,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  NVVM::SetMaxRegisterOp::create(rewriter, loc, hopper.producerRegisters(),
                                 NVVM::SetMaxRegisterAction::decrease);
  inProducers(e, hopper, self.warp, [&] {
    lowerRole(rewriter.getInsertionBlock(), loading, Role::Producer);
  });
  rewriter.setInsertionPointToStart(branch.elseBlock());
  NVVM::SetMaxRegisterOp::create(rewriter, loc, hopper.consumerRegisters(),
                                 NVVM::SetMaxRegisterAction::increase);
  self.consumer = e.sub(warpgroup, e.i32(1));
  lowerRole(branch.elseBlock(), computing, Role::Consumer);
  rewriter.setInsertionPointAfter(branch);
  // A block stays until nobody uses its barriers.
  syncCluster(e, hopper);
  gpu::ReturnOp::create(rewriter, loc);
  loading.erase();
  computing.erase();
  return kernel;
}

/// Moves the function's body to the end of `block`, and lowers it.
void HopperLowering::lowerRole(Block *block, func::FuncOp body, Role role) {
  rewriter.setInsertionPoint(block->getTerminator());
  for (auto [from, to] :
       llvm::zip(body.getArguments(), kernel.getArguments())) {
    if (auto type = dyn_cast<SparsityIndexType>(from.getType()))
      indices[from] = readIndex(rewriter, loc, type, to, /*space=*/1);
    else
      rewriter.replaceAllUsesWith(from, to);
  }
  Nest nest = *match(body);
  Block *old = &body.front();
  rewriter.eraseOp(old->getTerminator());
  block->getOperations().splice(block->getTerminator()->getIterator(),
                                old->getOperations());
  lowerTiles(nest, role);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Tiles of one group after another: a block's next tile is so many after its
/// last one as there are blocks, over the ends of groups.
void HopperLowering::lowerTiles(Nest nest, Role role) {
  ForallOp forall = nest.forall;
  rewriter.setInsertionPoint(forall);
  LoopBounds bounds = loopBounds(rewriter, forall, indices);
  SmallVector<Value> extents;
  for (auto [lower, upper, step] :
       llvm::zip(bounds.lower, bounds.upper, bounds.steps)) {
    Value span = arith::SubIOp::create(rewriter, loc, upper, lower);
    span = arith::MaxSIOp::create(rewriter, loc, span, index(0));
    extents.push_back(
        rewriter.createOrFold<arith::CeilDivUIOp>(loc, span, step));
  }
  SmallVector<Value> ivs(extents.size());
  Value none = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
  if (!nest.chunks) {
    lowerGroup(nest, bounds, extents, ivs, nullptr, {worker, none}, role);
    rewriter.eraseOp(forall);
    return;
  }
  SmallVector<unsigned> groupDims;
  for (auto [d, iv] : llvm::enumerate(forall.getInductionVars()))
    if (llvm::is_contained(nest.chunks.getGroup(), iv))
      groupDims.push_back(d);
  Value groups = index(1);
  for (unsigned d : groupDims)
    groups = mul(groups, extents[d]);
  auto loop = scf::ForOp::create(rewriter, loc, index(0), groups, index(1),
                                 ValueRange{worker, none});
  rewriter.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  for (unsigned d : llvm::reverse(groupDims))
    std::tie(number, ivs[d]) = divRem(number, extents[d]);
  SmallVector<Value> group;
  for (Value subscript : nest.chunks.getGroup()) {
    unsigned d = cast<BlockArgument>(subscript).getArgNumber();
    group.push_back(add(bounds.lower[d], mul(ivs[d], bounds.steps[d])));
  }
  LoopBounds chunkBounds;
  std::tie(chunkBounds.count, chunkBounds.offset) =
      indices.at(nest.chunks.getIndex()).countAndOffset(rewriter, loc, group);
  Place from = {loop.getRegionIterArgs()[0], loop.getRegionIterArgs()[1]};
  Place next = lowerGroup(nest, bounds, extents, ivs, &chunkBounds, from, role);
  scf::YieldOp::create(rewriter, loc, ValueRange{next.tile, next.done});
  rewriter.eraseOp(forall);
}

/// The tiles of a group (or all, if there are no groups), from the block's next
/// one on. Gives where it is then, with tiles counted from the next group's
/// first. `ivs` are known for the group's dimensions.
Place HopperLowering::lowerGroup(Nest nest, const LoopBounds &bounds,
                                 ArrayRef<Value> extents,
                                 SmallVector<Value> ivs,
                                 const LoopBounds *chunkBounds, Place from,
                                 Role role) {
  Value chunkCount;
  if (chunkBounds)
    chunkCount = rewriter.createOrFold<arith::CeilDivUIOp>(
        loc, chunkBounds->count, index(nest.chunks.getChunk()));
  auto extentOf = [&](int dim) -> Value {
    if (dim == kNoDim)
      return index(1);
    return dim == kChunkDim ? chunkCount : extents[dim];
  };
  // Neighbours along m are tiles of a cluster.
  Value rows = extentOf(mDim), cols = nDim == mDim ? index(1) : extentOf(nDim);
  Value clusters = rewriter.createOrFold<arith::CeilDivUIOp>(
      loc, rows, index(hopper.cluster));
  SmallVector<int> others;
  for (auto [d, iv] : llvm::enumerate(ivs))
    if (!iv && static_cast<int>(d) != mDim && static_cast<int>(d) != nDim)
      others.push_back(d);
  if (chunkCount && mDim != kChunkDim && nDim != kChunkDim)
    others.push_back(kChunkDim);
  Value area = mul(clusters, cols), total = area;
  for (int d : others)
    total = mul(total, extentOf(d));

  // The tiles after the last whole turn are shared.
  Value shared, whole;
  if (mostParts > 1) {
    auto [turns, rest] = divRem(total, workers);
    whole = mul(turns, workers);
    shared = rewriter.createOrFold<arith::DivUIOp>(
        loc, workers,
        rewriter.createOrFold<arith::MaxUIOp>(loc, rest, index(1)));
    shared =
        rewriter.createOrFold<arith::MinUIOp>(loc, shared, index(mostParts));
    total = add(whole, mul(rest, shared));
  }
  auto loop = scf::ForOp::create(rewriter, loc, from.tile, total, workers,
                                 ValueRange{from.done});
  Value end = rewriter.createOrFold<arith::SubIOp>(loc, total, from.tile);
  end = rewriter.createOrFold<arith::MaxSIOp>(loc, end, index(0));
  end = rewriter.createOrFold<arith::CeilDivUIOp>(loc, end, workers);
  end = add(from.tile, mul(end, workers));
  Value next = rewriter.createOrFold<arith::SubIOp>(loc, end, total);

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value chunk;
  auto set = [&](int dim, Value number) {
    if (dim == kChunkDim)
      chunk = number;
    else if (dim != kNoDim)
      ivs[dim] = number;
  };
  Value number = loop.getInductionVar();
  if (shared)
    number = setParts(number, whole, shared);
  auto [outer, inner] = divRem(number, area);
  for (int d : llvm::reverse(others)) {
    auto [rest, number] = divRem(outer, extentOf(d));
    set(d, number);
    outer = rest;
  }
  // Groups of rows, column by column.
  Value most = index(std::max<int64_t>(1, kRasterRows / hopper.cluster));
  auto [band, rest] = divRem(inner, mul(most, cols));
  Value first = mul(band, most);
  Value height = rewriter.createOrFold<arith::MinUIOp>(
      loc, most, rewriter.createOrFold<arith::SubIOp>(loc, clusters, first));
  auto [col, row] = divRem(rest, height);
  row = mul(add(first, row), index(hopper.cluster));
  if (hopper.cluster > 1)
    row = add(row, arith::IndexCastOp::create(
                       rewriter, loc, rewriter.getIndexType(), self.rank));
  set(mDim, row);
  if (nDim != mDim)
    set(nDim, col);

  for (auto [iv, lower, step] : llvm::zip(ivs, bounds.lower, bounds.steps))
    iv = add(lower, mul(iv, step));
  moveLoopBody(rewriter, nest.forall, loop.getBody(), ivs, bounds, indices,
               chunks);
  if (chunkBounds) {
    rewriter.setInsertionPoint(nest.chunks);
    Value at = mul(chunk, index(nest.chunks.getChunk()));
    moveLoopBody(rewriter, nest.chunks, loop.getBody(), {at}, *chunkBounds,
                 indices, chunks);
  }
  Value done = lowerRing(nest.ring, loop.getRegionIterArgs()[0], role);
  rewriter.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(rewriter, loc, done);
  // Ids are known by the loop's arguments as long as they are of use.
  if (chunkBounds)
    rewriter.eraseOp(nest.chunks);
  return {next, loop.getResult(0)};
}

/// What number `number` of the loop is: one of `whole` tiles, or part of a later
/// one, which has `shared` parts. Gives the tile. Neighbouring clusters have the
/// parts of a tile; each of their blocks shares with those of its rank.
Value HopperLowering::setParts(Value number, Value whole, Value shared) {
  Emitter e(rewriter, loc);
  Value isWhole = e.less(number, whole);
  Value later = e.max(e.sub(number, whole), index(0));
  auto [tile, part] = divRem(later, shared);
  self.parts.count = e.toI32(e.select(isWhole, index(1), shared));
  self.parts.part = e.toI32(e.select(isWhole, index(0), part));
  self.parts.distance = e.i32(hopper.cluster);
  self.parts.first =
      e.add(e.mul(e.toI32(mul(tile, shared)), hopper.cluster), self.rank);
  return e.select(isWhole, number, add(whole, tile));
}

Value HopperLowering::lowerRing(RingOp ring, Value done, Role role) {
  rewriter.setInsertionPoint(ring);
  Emitter e(rewriter, ring.getLoc());
  auto run = role == Role::Producer ? produceTile : consumeTile;
  done = run(e, ring, hopper, self, done, chunks, indices);
  eraseRing(rewriter, ring);
  return done;
}

FailureOr<gpu::GPUFuncOp> mlir::pit::lowerHopperKernel(func::FuncOp function,
                                                       gpu::GPUModuleOp device,
                                                       std::string &why) {
  HopperLowering lowering(function, device);
  if (!lowering.plan(why))
    return failure();
  return lowering.lower();
}
