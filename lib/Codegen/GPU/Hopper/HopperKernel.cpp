//===- HopperKernel.cpp - A kernel of one mainloop by specialised warps ---===//
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

#include "HopperKernel.h"
#include "HopperNest.h"

#include "Codegen/GPU/Common/KernelLowering.h"
#include "HopperLowering.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Dynamic shared memory. Stages begin where the swizzle does.
static constexpr StringLiteral kShared = "pit_hopper_shared";
/// Rows of a band of tiles (tileOfRaster).
static constexpr int64_t kRasterRows = 16;

namespace {

/// The tiles of a group, or all of them if there are no groups. Numbers are
/// i32.
struct TileSpace {
  HopperNest nest;
  const LoopBounds &bounds;                ///< of the loop over tiles
  const LoopBounds *chunkBounds = nullptr; ///< of a group's chunks; may be null
  SmallVector<Value> extents = {};         ///< of the loop's dimensions
  SmallVector<Value> ivs = {};             ///< known for the group's dimensions
  Value chunkCount = {};
  Value clusters = {}, cols = {}, area = {}; ///< along m, along n, both
  /// Where clusters may be pairs along n: those that are none; how many of the
  /// others there are in a row.
  Value alongM = {}, across = {};
  SmallVector<int> others = {}; ///< neither along m nor along n
  Value total = {};
  Value whole = {}, shared = {}; ///< tiles of whole turns; parts of a later one
};

class HopperLowering {
public:
  HopperLowering(func::FuncOp function, gpu::GPUModuleOp device,
                 const GpuTarget &target,
                 const std::optional<LaunchedFill> &before)
      : function(function), device(device), rewriter(function.getContext()),
        target(target), before(before) {}

  /// Finds the loops, and reads how the mainloop is to be run.
  LogicalResult readPlan(MainloopOp mainloop);
  gpu::GPUFuncOp lower();

private:
  enum class Role { Producer, Consumer };

  Value setParts(Value number, Value whole, Value shared);
  void createKernel();
  Value describeThread(Emitter &e);
  void lowerRoles(Emitter &e);
  void lowerRole(Block *block, func::FuncOp body, Role role);
  void lowerTiles(HopperNest nest, Role role);
  Value extentOf(Emitter &e, const TileSpace &space, int dim);
  void countTiles(Emitter &e, TileSpace &space, Value ids = {});
  void startFill(Emitter &e, const TileSpace &space, Value turns,
                 HopperFill &fill);
  void lowerAllTiles(TileSpace space, Role role);
  SmallVector<Value> setGroup(Emitter &e, TileSpace &space, Value number);
  void lowerGroups(TileSpace space, Role role);
  std::pair<Value, Value> placeOfCluster(Emitter &e, const TileSpace &space,
                                         Value number);
  /// Variables of the forall (index), and the number of a group's chunk (i32).
  using TileIvs = std::pair<SmallVector<Value>, Value>;
  TileIvs tileAt(Emitter &e, const TileSpace &space, Value number);
  void enterTile(Emitter &e, TileSpace &space, Value number, Block *body);
  bool knowsGroups(const TileSpace &space);
  GroupOfTile groupOf(Emitter &e, const TileSpace &space, Value number);
  Value lowerMainloop(HopperTile tile, Role role, HopperFill *fill);

  Value index(int64_t value) { return constantIndex(rewriter, loc, value); }
  Value ceilDiv(Value x, Value y) {
    return rewriter.createOrFold<arith::CeilDivUIOp>(loc, x, y);
  }
  func::FuncOp function;
  gpu::GPUModuleOp device;
  IRRewriter rewriter;
  Location loc = UnknownLoc::get(function.getContext());
  const GpuTarget &target;
  HopperPlan hopper;
  int mDim = kNoDim, nDim = kNoDim;   ///< of the forall, or kChunkDim
  std::optional<LaunchedFill> before; ///< of the output; done here, if kept
  gpu::GPUFuncOp kernel;
  HopperThread self;
  Value warpgroup;       ///< (i32)
  Value worker, workers; ///< the block's cluster, and how many there are (i32)
  IndexMap indices;
  ChunkMap chunks;
};

} // namespace

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

LogicalResult HopperLowering::readPlan(MainloopOp mainloop) {
  auto schedule =
      mainloop->getAttrOfType<HopperScheduleAttr>(kHopperScheduleAttrName);
  auto refuse = [&](const Twine &why) {
    return mainloop.emitOpError() << "has " << kHopperScheduleAttrName << " = "
                                  << schedule << "; " << why;
  };
  if (!target.wgmma)
    return refuse(target.chip + " has no wgmma, sm_90a has");
  std::optional<HopperNest> nest = matchHopperNest(function);
  std::string why;
  if (!nest)
    return refuse(kNoNest);
  std::optional<HopperPlan> planned =
      HopperPlan::from(schedule, *nest, target, why);
  if (!planned)
    return refuse(why);
  hopper = *planned;
  loc = mainloop.getLoc();
  int64_t rows = rowsToFill(before, *nest, why);
  if (!hopper.rows)
    before.reset();
  else if (hopper.rows != rows)
    return refuse("its fill_rows have to be " + Twine(rows) +
                  (rows ? "" : ": " + Twine(why)));
  mDim = tileDim(*nest, hopper.a);
  nDim = tileDim(*nest, hopper.b);
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void HopperLowering::createKernel() {
  MLIRContext *context = rewriter.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> more;
  if (hopper.parts > 1)
    more.append(2, rewriter.getI64Type());
  more.append(hopper.a.views.size() + hopper.b.views.size(), pointer);
  kernel = createGpuFunc(
      rewriter, function, device,
      {(function.getName() + "_hopper").str(), kHopperThreads, more});
  auto setNumber = [&](StringRef name, int64_t value) {
    kernel->setAttr(name, rewriter.getI64IntegerAttr(value));
  };
  // Roles exchange registers: how many there are has to be known.
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  rewriter.getI32IntegerAttr(1));
  setNumber(kThreadsAttrName, kHopperThreads);
  setNumber(kSharedBytesAttrName, hopper.sharedBytes());
  kernel->setAttr(kPersistentAttrName, rewriter.getUnitAttr());
  kernel->setAttr(kProgrammaticLaunchAttrName, rewriter.getUnitAttr());
  if (hopper.parts > 1)
    setNumber(kPartialBytesAttrName, hopper.m * hopper.n * 4);
  if (before)
    setNumber(kFillsAttrName, before->argument);
  if (hopper.cluster > 1) {
    setNumber(kClusterAttrName, hopper.cluster);
    int32_t cluster = hopper.cluster;
    kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    rewriter.getDenseI32ArrayAttr({cluster, 1, 1}));
  }
  SmallVector<Attribute> attributes;
  MainloopOp mainloop = matchHopperNest(function)->mainloop;
  for (const HopperMap &map : hopperMaps(mainloop, hopper)) {
    int64_t number = cast<BlockArgument>(map.source).getArgNumber();
    attributes.push_back(rewriter.getDictionaryAttr(
        {rewriter.getNamedAttr("argument", rewriter.getI64IntegerAttr(number)),
         rewriter.getNamedAttr("box", rewriter.getDenseI64ArrayAttr(map.box)),
         rewriter.getNamedAttr("swizzle",
                               rewriter.getI64IntegerAttr(map.swizzle))}));
  }
  kernel->setAttr(kTensorMapsAttrName, rewriter.getArrayAttr(attributes));
}

/// What a thread knows before it comes to a role; gives its number in the
/// block.
Value HopperLowering::describeThread(Emitter &e) {
  auto global = getDynamicShared(rewriter, device, kShared, kSwizzleBytes);
  Value base = LLVM::AddressOfOp::create(rewriter, loc, global);
  self.shared =
      LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), base);
  auto x = gpu::Dimension::x;
  Value thread = e.toI32(gpu::ThreadIdOp::create(rewriter, loc, x));
  self.thread = e.rem(thread, kWarpgroup);
  // From one lane to all: what depends on it is the same in a warp, and ptxas
  // knows it.
  Value warp = fromLane(e, e.div(thread, kLanes), e.i32(0));
  self.warp = e.rem(warp, kWarpgroup / 32);
  warpgroup = e.div(warp, kWarpgroup / 32);
  worker = e.toI32(gpu::BlockIdOp::create(rewriter, loc, x));
  workers = e.toI32(gpu::GridDimOp::create(rewriter, loc, x));
  self.rank = e.i32(0);
  if (hopper.cluster > 1) {
    std::tie(worker, self.rank) = e.divRem(worker, e.i32(hopper.cluster));
    workers = e.div(workers, hopper.cluster);
  }
  unsigned count = kernel.getNumArguments();
  unsigned maps = hopper.a.views.size() + hopper.b.views.size();
  llvm::append_range(self.maps, kernel.getArguments().take_back(maps));
  if (hopper.parts > 1) {
    self.streamK.partials = kernel.getArgument(count - maps - 2);
    self.streamK.counters = kernel.getArgument(count - maps - 1);
  }
  return thread;
}

gpu::GPUFuncOp HopperLowering::lower() {
  createKernel();
  if (matchHopperNest(function)->chunks)
    kernel->setAttr(kSplitAttrName, rewriter.getUnitAttr());
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  Emitter e(rewriter, loc);
  Value thread = describeThread(e);
  if (before)
    prepareFill(e, hopper, thread, self.shared, before->value);
  initHopperBarriers(e, hopper, thread, self.shared);
  // The next kernel may come to where blocks of this one have ended; this one
  // has, and now waits for the one before.
  using Control = NVVM::GridDepActionKind;
  NVVM::GriddepcontrolOp::create(rewriter, loc, Control::launch_dependents);
  NVVM::GriddepcontrolOp::create(rewriter, loc, Control::wait);
  lowerRoles(e);
  // A block stays until nobody uses its barriers.
  syncCluster(e, hopper);
  gpu::ReturnOp::create(rewriter, loc);
  return kernel;
}

/// Each role has the loops and scalar code of its own.
void HopperLowering::lowerRoles(Emitter &e) {
  func::FuncOp loading = function.clone(), computing = function.clone();
  Value isProducer = e.lessThan(warpgroup, e.i32(1));
  auto branch = scf::IfOp::create(rewriter, loc, isProducer,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  NVVM::SetMaxRegisterOp::create(rewriter, loc, hopper.producerRegisters(),
                                 NVVM::SetMaxRegisterAction::decrease);
  self.warps = static_cast<bool>(matchHopperNest(function)->chunks);
  inProducers(e, hopper, self, [&] {
    lowerRole(rewriter.getInsertionBlock(), loading, Role::Producer);
  });
  rewriter.setInsertionPointToStart(branch.elseBlock());
  NVVM::SetMaxRegisterOp::create(rewriter, loc, hopper.consumerRegisters(),
                                 NVVM::SetMaxRegisterAction::increase);
  self.consumer = e.sub(warpgroup, e.i32(1));
  lowerRole(branch.elseBlock(), computing, Role::Consumer);
  rewriter.setInsertionPointAfter(branch);
  loading.erase();
  computing.erase();
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
  HopperNest nest = *matchHopperNest(body);
  Block *old = &body.front();
  rewriter.eraseOp(old->getTerminator());
  block->getOperations().splice(block->getTerminator()->getIterator(),
                                old->getOperations());
  lowerTiles(nest, role);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// A block's next tile is so many after its last one as there are blocks.
void HopperLowering::lowerTiles(HopperNest nest, Role role) {
  ForallOp forall = nest.forall;
  rewriter.setInsertionPoint(forall);
  Emitter e(rewriter, loc);
  LoopBounds bounds = loopBounds(rewriter, forall, indices);
  TileSpace space{nest, bounds};
  for (auto [lower, upper, step] :
       llvm::zip(bounds.lower, bounds.upper, bounds.steps)) {
    Value span = arith::SubIOp::create(rewriter, loc, upper, lower);
    span = arith::MaxSIOp::create(rewriter, loc, span, index(0));
    space.extents.push_back(
        e.toI32(rewriter.createOrFold<arith::CeilDivUIOp>(loc, span, step)));
  }
  space.ivs.resize(space.extents.size());
  if (before && role == Role::Consumer)
    HopperFill(e, hopper, self, kernel.getArgument(before->argument))
        .mark(indices.at(forall.getIndex()).ids, bounds.offset, bounds.count);
  if (nest.chunks)
    lowerGroups(space, role);
  else
    lowerAllTiles(space, role);
  rewriter.eraseOp(forall);
}

Value HopperLowering::extentOf(Emitter &e, const TileSpace &space, int dim) {
  if (dim == kNoDim)
    return e.i32(1);
  return dim == kChunkDim ? space.chunkCount : space.extents[dim];
}

/// Counts the tiles of a group of so many ids (of all, if there are no groups),
/// by dimensions and then all of them.
void HopperLowering::countTiles(Emitter &e, TileSpace &space, Value ids) {
  if (ids)
    space.chunkCount =
        e.toI32(ceilDiv(ids, e.index(space.nest.chunks.getChunk())));
  // Neighbours along m are tiles of a cluster.
  Value rows = extentOf(e, space, mDim);
  space.cols = nDim == mDim ? e.i32(1) : extentOf(e, space, nDim);
  bool pairsAlongN = canPairAlongN(space.nest, hopper);
  Value left;
  if (pairsAlongN)
    std::tie(space.clusters, left) = e.divRem(rows, e.i32(hopper.cluster));
  else
    space.clusters = ceilDiv(rows, e.i32(hopper.cluster));
  for (auto [d, iv] : llvm::enumerate(space.ivs))
    if (!iv && static_cast<int>(d) != mDim && static_cast<int>(d) != nDim)
      space.others.push_back(d);
  if (space.chunkCount && mDim != kChunkDim && nDim != kChunkDim)
    space.others.push_back(kChunkDim);
  space.area = e.mul(space.clusters, space.cols);
  if (pairsAlongN) {
    space.alongM = space.area;
    space.across = ceilDiv(space.cols, e.i32(hopper.cluster));
    space.area = e.add(space.area, e.mul(left, space.across));
  }
  space.total = space.area;
  for (int d : space.others)
    space.total = e.mul(space.total, extentOf(e, space, d));
  if (hopper.parts == 1)
    return;
  // The tiles after the last whole turn are shared.
  auto [turns, rest] = e.divRem(space.total, workers);
  space.whole = e.mul(turns, workers);
  Value shared = rewriter.createOrFold<arith::DivUIOp>(loc, workers,
                                                       e.max(rest, e.i32(1)));
  space.shared = e.max(e.min(shared, e.i32(hopper.parts)), e.i32(1));
  space.total = e.add(space.whole, e.mul(rest, space.shared));
}

/// Spreads what the producers fill over the steps of so many turns.
void HopperLowering::startFill(Emitter &e, const TileSpace &space, Value turns,
                               HopperFill &fill) {
  int64_t perTile = stepsOfTile(space.nest.mainloop, hopper);
  Value steps = e.mul(turns, perTile);
  if (space.shared) {
    Value wholes =
        rewriter.createOrFold<arith::DivUIOp>(loc, space.whole, workers);
    steps = e.select(e.lessThan(wholes, turns),
                     ceilDiv(e.i32(perTile), space.shared), e.i32(0));
    steps = e.add(e.mul(wholes, perTile), steps);
  }
  fill.start(perTile < 0 ? Value() : steps);
}

/// The tiles of a kernel without groups.
void HopperLowering::lowerAllTiles(TileSpace space, Role role) {
  Emitter e(rewriter, loc);
  countTiles(e, space);
  std::optional<HopperFill> fill;
  if (before && role == Role::Producer) {
    Value turns = ceilDiv(e.max(e.sub(space.total, worker), e.i32(0)), workers);
    fill.emplace(e, hopper, self, kernel.getArgument(before->argument));
    startFill(e, space, turns, *fill);
  }
  // Beside the stages, the turn and the groups of this tile and the next one.
  SmallVector<Value> carried = {e.i32(0)};
  bool ahead = hopper.streamsIds() && knowsGroups(space);
  if (hopper.streamsIds())
    carried.push_back(e.i32(0));
  if (ahead)
    for (Value number : {worker, e.add(worker, workers)}) {
      auto [count, offset] = groupOf(e, space, number);
      carried.append({count, offset});
    }
  auto loop =
      scf::ForOp::create(rewriter, loc, worker, space.total, workers, carried);
  if (fill)
    fill->finish(loop.getResult(0));
  rewriter.setInsertionPointToStart(loop.getBody());
  ValueRange args = loop.getRegionIterArgs();
  HopperTile tile{
      space.nest.mainloop, hopper, self, {chunks, indices}, args[0]};
  SmallVector<Value> following;
  if (hopper.streamsIds()) {
    tile.turn = args[1];
    following.push_back(e.add(args[1], 1));
  }
  if (ahead) {
    tile.now = {args[2], args[3]};
    tile.next = {args[4], args[5]};
    Value later = e.add(loop.getInductionVar(), e.mul(workers, 2));
    auto [count, offset] = groupOf(e, space, later);
    following.append({args[4], args[5], count, offset});
  }
  enterTile(e, space, loop.getInductionVar(), loop.getBody());
  following.insert(following.begin(),
                   lowerMainloop(tile, role, fill ? &*fill : nullptr));
  rewriter.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(rewriter, loc, following);
}

/// Are the groups of the steps' ids known by the numbers of tiles?
bool HopperLowering::knowsGroups(const TileSpace &space) {
  ForallOp forall = space.nest.forall;
  MainloopOp mainloop = space.nest.mainloop;
  return mainloop.getIndex() &&
         llvm::all_of(mainloop.getGroup(), [&](Value value) {
           auto argument = dyn_cast<BlockArgument>(value);
           if (argument && argument.getOwner() == forall.getBody())
             return argument.getArgNumber() < forall.getSteps().size();
           return !forall->isAncestor(value.getParentBlock()->getParentOp());
         });
}

/// How many ids the steps of tile `number` have, and where they start; none, if
/// there is no such tile.
GroupOfTile HopperLowering::groupOf(Emitter &e, const TileSpace &space,
                                    Value number) {
  MainloopOp mainloop = space.nest.mainloop;
  ForallOp forall = space.nest.forall;
  Type index = rewriter.getIndexType();
  auto branch =
      scf::IfOp::create(rewriter, loc, TypeRange{index, index},
                        e.lessThan(number, space.total), /*withElse=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, ValueRange{e.index(0), e.index(0)});
  rewriter.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> ivs = tileAt(e, space, number).first, group;
  for (Value value : mainloop.getGroup()) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isIv = argument && argument.getOwner() == forall.getBody();
    group.push_back(isIv ? ivs[argument.getArgNumber()] : value);
  }
  auto [count, offset] =
      indices.at(mainloop.getIndex()).countAndOffset(rewriter, loc, group);
  scf::YieldOp::create(rewriter, loc, ValueRange{count, offset});
  return {branch.getResult(0), branch.getResult(1)};
}

/// Sets the loops' variables that say which group it is; gives the group's
/// subscripts.
SmallVector<Value> HopperLowering::setGroup(Emitter &e, TileSpace &space,
                                            Value number) {
  HopperNest &nest = space.nest;
  auto ivs = llvm::enumerate(nest.forall.getInductionVars());
  for (auto [d, iv] : llvm::reverse(llvm::to_vector(ivs)))
    if (llvm::is_contained(nest.chunks.getGroup(), iv))
      std::tie(number, space.ivs[d]) = e.divRem(number, space.extents[d]);
  SmallVector<Value> group;
  const LoopBounds &bounds = space.bounds;
  for (Value subscript : nest.chunks.getGroup()) {
    unsigned d = cast<BlockArgument>(subscript).getArgNumber();
    group.push_back(e.add(bounds.lower[d],
                          e.mul(e.toIndex(space.ivs[d]), bounds.steps[d])));
  }
  return group;
}

/// The tiles of one group after another, over the ends of groups. Each lane of
/// a warp looks one group up, so that a block waits for memory once for all of
/// them, and not for each.
void HopperLowering::lowerGroups(TileSpace space, Role role) {
  Emitter e(rewriter, loc);
  HopperNest nest = space.nest;
  Value groups = e.i32(1);
  for (auto [d, iv] : llvm::enumerate(nest.forall.getInductionVars()))
    if (llvm::is_contained(nest.chunks.getGroup(), iv))
      groups = e.mul(groups, space.extents[d]);
  auto batches =
      scf::ForOp::create(rewriter, loc, e.i32(0), groups, e.i32(kLanes),
                         ValueRange{worker, e.i32(0)});
  rewriter.setInsertionPointToStart(batches.getBody());
  Value first = batches.getInductionVar();
  Value number = e.add(first, e.rem(self.thread, kLanes));
  TileSpace ofLane = space;
  SmallVector<Value> group =
      setGroup(e, ofLane, e.min(number, e.sub(groups, e.i32(1))));
  auto [count, offset] =
      indices.at(nest.chunks.getIndex()).countAndOffset(rewriter, loc, group);
  countTiles(e, ofLane, count);
  Value tiles = e.select(e.lessThan(number, groups), ofLane.total, e.i32(0));
  Value upTo = sumOfLanes(e, tiles);
  Value total = fromLane(e, upTo, e.i32(kLanes - 1));
  Value before = e.sub(upTo, tiles);
  Value countOfLane = e.toI32(count), offsetOfLane = e.toI32(offset);

  Value from = batches.getRegionIterArgs()[0];
  auto loop = scf::ForOp::create(rewriter, loc, from, total, workers,
                                 batches.getRegionIterArgs()[1]);
  Value turns = ceilDiv(e.max(e.sub(total, from), e.i32(0)), workers);
  Value next = e.sub(e.add(from, e.mul(turns, workers)), total);
  scf::YieldOp::create(rewriter, loc, ValueRange{next, loop.getResult(0)});

  rewriter.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar();
  Value lane = firstLane(e, e.lessThan(tile, upTo));
  LoopBounds chunkBounds;
  chunkBounds.count = e.toIndex(fromLane(e, countOfLane, lane));
  chunkBounds.offset = e.toIndex(fromLane(e, offsetOfLane, lane));
  space.chunkBounds = &chunkBounds;
  setGroup(e, space, e.add(first, lane));
  countTiles(e, space, chunkBounds.count);
  enterTile(e, space, e.sub(tile, fromLane(e, before, lane)), loop.getBody());
  Value done = lowerMainloop({nest.mainloop,
                              hopper,
                              self,
                              {chunks, indices},
                              loop.getRegionIterArgs()[0]},
                             role, /*fill=*/nullptr);
  rewriter.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(rewriter, loc, done);
  // Ids are known by the loop's arguments as long as they are of use.
  rewriter.eraseOp(nest.chunks);
}

/// Row and column of the tile that this block has of its cluster's tiles, by
/// the cluster's number in the space's area.
std::pair<Value, Value> HopperLowering::placeOfCluster(Emitter &e,
                                                       const TileSpace &space,
                                                       Value number) {
  // Every tile of few rows has rows of a of its own, so all that read the same
  // columns are gone through at once: these stay in the L2 cache.
  if (hopper.isTransposed())
    return e.divRem(number, space.cols);
  Value band = e.i32(std::max<int64_t>(1, kRasterRows / hopper.cluster));
  if (!space.alongM) {
    auto [row, col] = tileOfRaster(e, number, space.clusters, space.cols, band);
    return {e.add(e.mul(row, hopper.cluster), self.rank), col};
  }
  self.alongN = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge,
                                      number, space.alongM);
  Value inArea = e.max(e.min(number, e.sub(space.alongM, e.i32(1))), e.i32(0));
  auto [row, col] = tileOfRaster(e, inArea, e.max(space.clusters, e.i32(1)),
                                 space.cols, band);
  auto [rowLeft, group] = e.divRem(e.max(e.sub(number, space.alongM), e.i32(0)),
                                   e.max(space.across, e.i32(1)));
  Value firstLeft = e.mul(space.clusters, hopper.cluster);
  Value colLeft = e.add(e.mul(group, hopper.cluster), self.rank);
  // A block for which no column is left has a row beyond the end.
  Value exists = e.lessThan(colLeft, space.cols);
  Value lastRow = e.add(firstLeft, hopper.cluster);
  Value left = e.select(exists, e.add(firstLeft, rowLeft), lastRow);
  return {
      e.select(self.alongN, left, e.add(e.mul(row, hopper.cluster), self.rank)),
      e.select(self.alongN, e.min(colLeft, e.sub(space.cols, e.i32(1))), col)};
}

/// Where tile `number` (i32) of the space is.
HopperLowering::TileIvs
HopperLowering::tileAt(Emitter &e, const TileSpace &space, Value number) {
  SmallVector<Value> ivs = space.ivs;
  Value chunk;
  auto set = [&](int dim, Value number) {
    if (dim == kChunkDim)
      chunk = number;
    else if (dim != kNoDim)
      ivs[dim] = number;
  };
  auto [outer, inner] = e.divRem(number, space.area);
  for (int d : llvm::reverse(space.others)) {
    auto [rest, number] = e.divRem(outer, extentOf(e, space, d));
    set(d, number);
    outer = rest;
  }
  auto [row, col] = placeOfCluster(e, space, inner);
  set(mDim, row);
  if (nDim != mDim)
    set(nDim, col);
  const LoopBounds &bounds = space.bounds;
  for (auto [iv, lower, step] : llvm::zip(ivs, bounds.lower, bounds.steps))
    iv = e.add(lower, e.mul(e.toIndex(iv), step));
  return {ivs, chunk};
}

/// Finds out which tile `number` of the space is, and moves the code around the
/// mainloop to the end of `body`.
void HopperLowering::enterTile(Emitter &e, TileSpace &space, Value number,
                               Block *body) {
  if (space.shared)
    number = setParts(number, space.whole, space.shared);
  Value chunk;
  std::tie(space.ivs, chunk) = tileAt(e, space, number);
  const LoopBounds &bounds = space.bounds;
  HopperNest &nest = space.nest;
  moveLoopBody(rewriter, nest.forall, {body, space.ivs}, bounds, indices,
               chunks);
  if (!space.chunkBounds)
    return;
  rewriter.setInsertionPoint(nest.chunks);
  Value at = e.mul(e.toIndex(chunk), nest.chunks.getChunk());
  moveLoopBody(rewriter, nest.chunks, {body, {at}}, *space.chunkBounds, indices,
               chunks);
}

/// What number `number` of the loop is: one of `whole` tiles, or part of a
/// later one, which has `shared` parts. Gives the tile. Neighbouring clusters
/// have the parts of a tile; each of their blocks shares with those of its
/// rank.
Value HopperLowering::setParts(Value number, Value whole, Value shared) {
  Emitter e(rewriter, loc);
  Value isWhole = e.lessThan(number, whole);
  auto [tile, part] = e.divRem(e.max(e.sub(number, whole), e.i32(0)), shared);
  self.streamK.count = e.select(isWhole, e.i32(1), shared);
  self.streamK.part = e.select(isWhole, e.i32(0), part);
  self.streamK.distance = e.i32(hopper.cluster);
  self.streamK.first =
      e.add(e.mul(e.mul(tile, shared), hopper.cluster), self.rank);
  return e.select(isWhole, number, e.add(whole, tile));
}

Value HopperLowering::lowerMainloop(HopperTile tile, Role role,
                                    HopperFill *fill) {
  MainloopOp mainloop = tile.mainloop;
  rewriter.setInsertionPoint(mainloop);
  Emitter e(rewriter, mainloop.getLoc());
  auto afterStep = [&](Value number) { fill->afterStep(number); };
  Value done;
  if (role == Role::Consumer)
    done = consumeTile(e, tile);
  else
    done = produceTile(e, tile, fill ? BetweenSteps(afterStep) : nullptr);
  eraseMainloop(rewriter, mainloop);
  return done;
}

FailureOr<gpu::GPUFuncOp>
cuda::lowerHopperKernel(MainloopOp mainloop, gpu::GPUModuleOp device,
                        const GpuTarget &target,
                        const std::optional<LaunchedFill> &before) {
  HopperLowering lowering(mainloop->getParentOfType<func::FuncOp>(), device,
                          target, before);
  if (failed(lowering.readPlan(mainloop)))
    return failure();
  return lowering.lower();
}
