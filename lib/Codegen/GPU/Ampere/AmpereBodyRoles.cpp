//===- AmpereBodyRoles.cpp - A tile body by warps of two roles ------------===//
//
// A kernel of sm_90a for a loop over tiles with one mainloop that has a tile
// body, in ops of the pipeline level. Four warps load the tiles of the steps,
// each kind into a ring of its own; dense ones as boxes by TMA. The others, the
// workers, compute:
//
//   producers                       workers
//     for each tile of the block:     for each tile of the block:
//       load what is loaded once        wait for it
//       for each step s:                for each step s:
//         for each tile of s:             for each op:
//           acquire a stage                 wait for its tiles' stages
//           start its copies                compute
//           commit it                       release them
//                                       store
//
// A contraction of what was computed can be late (AmpereBodyPlan::late): that
// of step s - 1 is started behind the first contraction of step s, and runs
// while what follows that one is computed, until its sums are needed. So tensor
// cores multiply powers of an attention while the next ones are computed (Shah
// et al., FlashAttention-3, 2024, section 3.2).
//
// Then warpgroups take turns, too: one starts its contractions of a step when
// the one before has started its own. So the tensor cores finish one's before
// the next one's, and it computes on while they have those (section 3.1).
//
//===----------------------------------------------------------------------===//

#include "AmpereBodyRoles.h"
#include "AmpereBody.h"

#include "Codegen/GPU/Common/MainloopNest.h"
#include "Codegen/GPU/Common/TileLoop.h"
#include "Codegen/GPU/Common/Wgmma.h"

#include "pit/Dialect/Pit/IR/LaunchInfo.h"
#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Rows that a box may cover.
static constexpr int64_t kMaxBoxRows = 256;
/// Registers of producers that only issue boxes, and the most of a worker.
static constexpr int64_t kBoxRegisters = 24, kMostOfWorker = 240;

namespace {

/// A staged tile's place in the pipeline.
struct StagedRing {
  pitgpu::TileType tile;
  pitgpu::StageType stage;
  Value ring;
  Value map; ///< null: threads copy it
};

/// What roles know of the kernel.
struct RolesContext {
  const AmpereBodyPlan &plan;
  ArrayRef<StagedRing> rings; ///< as plan.staged

  const StagedRing &ringOf(const StagedTile &staged) const {
    return rings[&staged - plan.staged.data()];
  }
};

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

class BodyProducer {
public:
  BodyProducer(const RolesContext &roles, const BodyContext &body, Value number)
      : roles(roles), e(body.e), plan(roles.plan), body(body),
        loading(plan.common), self{e, loading, number, e.i32(0)},
        loader(body, self) {
    loading.threads = plan.loaders();
  }

  /// Loads the tiles of all steps. `tile` is how many tiles the block had
  /// before, `used` how many steps (i32).
  void run(Value tile, Value used) {
    for (const StagedTile &staged : plan.staged)
      if (staged.once)
        load(staged, tile, accessView(e, staged.view, body.chunks),
             [&](Value to) { loader.loadTileOnce(staged, to); });
    auto loop = scf::ForOp::create(e.b, e.loc, e.i32(0), body.steps.total(),
                                   e.i32(1), loader.loadIds(e.i32(0)));
    e.keepLoop(loop);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value s = loop.getInductionVar();
    loader.setIds(loop.getRegionIterArgs());
    SmallVector<Value> later = loader.loadIds(e.add(s, 1));
    for (const StagedTile &staged : plan.staged) {
      if (staged.once)
        continue;
      body.steps.enter(s);
      load(staged, e.add(used, s),
           body.steps.access(staged.tile.getArgNumber()),
           [&](Value to) { loader.loadTile(staged, s, to); });
    }
    if (!later.empty())
      scf::YieldOp::create(e.b, e.loc, later);
  }

private:
  void load(const StagedTile &staged, Value number, const TileAccess &access,
            function_ref<void(Value)> copy) {
    const StagedRing &ring = roles.ringOf(staged);
    Value stage =
        pitgpu::AcquireOp::create(e.b, e.loc, ring.stage, ring.ring, number);
    auto commit = [&](pitgpu::CommitKind kind, int64_t bytes = 0) {
      pitgpu::CommitOp::create(e.b, e.loc, stage, kind,
                               bytes ? e.b.getI64IntegerAttr(bytes)
                                     : IntegerAttr());
    };
    if (ring.map) {
      commit(pitgpu::CommitKind::Tma, ring.tile.getCopiedBytes());
      SmallVector<Value> coords = llvm::map_to_vector(
          access.dims, [](const TileDim &dim) { return dim.start; });
      pitgpu::LoadOp::create(e.b, e.loc, ring.map, coords, stage, /*number=*/0);
      return;
    }
    Value tile =
        pitgpu::TileOp::create(e.b, e.loc, ring.tile, stage, /*number=*/0);
    copy(UnrealizedConversionCastOp::create(e.b, e.loc, e.b.getI32Type(), tile)
             .getResult(0));
    // Threads arrive twice: with what they copied, and with what they wrote.
    commit(pitgpu::CommitKind::Copies);
    commit(pitgpu::CommitKind::Writes);
  }

  const RolesContext &roles;
  Emitter &e;
  const AmpereBodyPlan &plan;
  BodyContext body;
  AmperePlan loading; ///< with the producers' threads
  AmpereThread self;
  BodyLoader loader;
};

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

class BodyWorker {
public:
  BodyWorker(const RolesContext &roles, const BodyContext &body, Value number)
      : roles(roles), e(body.e), plan(roles.plan), body(body), number(number),
        tiles(body), late(plan.late) {}

  void run(Value tile, Value used) {
    this->used = used;
    tiles.locate(number);
    group = pitgpu::WarpgroupOp::create(e.b, e.loc, e.b.getI32Type());
    MainloopEpilogue epilogue(e, body.mainloop, {plan.mDim, plan.nDim, 2},
                              plan.common.vectorAtomics, body.chunks);
    SmallVector<Value> initial = tiles.initial();
    tiles.readOnce();
    for (const StagedTile &staged : plan.staged)
      if (staged.once)
        wait(staged, tile);
    SmallVector<Value> carried =
        late ? stepsWithLate(initial)
             : loop(e.i32(0), initial, [&](Value s, ValueRange values) {
                 return step(s, values);
               });
    for (const StagedTile &staged : plan.staged)
      if (staged.once)
        release(staged);
    tiles.finish(epilogue, number, carried);
  }

private:
  SmallVector<Value>
  loop(Value from, ArrayRef<Value> initial,
       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto loop = scf::ForOp::create(e.b, e.loc, from, this->body.steps.total(),
                                   e.i32(1), initial);
    e.keepLoop(loop);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> values =
        body(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!values.empty())
      scf::YieldOp::create(e.b, e.loc, values);
    return SmallVector<Value>(loop.getResults());
  }

  //===--- Stages ---------------------------------------------------------===//

  /// Waits for a tile, in use `number` of its ring.
  void wait(const StagedTile &staged, Value number) {
    const StagedRing &ring = roles.ringOf(staged);
    stages[&staged] =
        pitgpu::WaitOp::create(e.b, e.loc, ring.stage, ring.ring, number);
  }
  void release(const StagedTile &staged) {
    pitgpu::ReleaseOp::create(e.b, e.loc, stages.at(&staged), Value());
  }
  Value tileOf(const StagedTile &staged) {
    return pitgpu::TileOp::create(e.b, e.loc, roles.ringOf(staged).tile,
                                  stages.at(&staged), /*number=*/0);
  }

  static bool reads(ContractOp op, const StagedTile &tile) {
    return op.getLhs() == tile.tile || op.getRhs() == tile.tile;
  }
  bool isFirstToRead(ContractOp op, const StagedTile &tile) {
    auto all = op->getBlock()->getOps<ContractOp>();
    return *llvm::find_if(
               all, [&](ContractOp each) { return reads(each, tile); }) == op;
  }
  bool isLastToRead(ContractOp op, const StagedTile &tile) {
    ContractOp last;
    for (auto each : op->getBlock()->getOps<ContractOp>())
      if (reads(each, tile))
        last = each;
    return last == op;
  }

  //===--- Contractions ---------------------------------------------------===//

  /// A thread's elements as a fragment, and back.
  Value toFragment(RegisterTile &tile, Type element) {
    SmallVector<Value> values;
    forSums(tile, [&](Value &value) { values.push_back(value); });
    auto type = pitgpu::FragmentType::get(e.b.getContext(), kWgmmaRows,
                                          4 * tile.cols, element);
    if (element.isF32())
      return cast(values, type);
    SmallVector<Value> pairs;
    auto pair = VectorType::get(2, element);
    for (size_t i = 0; i < values.size(); i += 2) {
      Value both = LLVM::UndefOp::create(e.b, e.loc, pair);
      for (size_t n = 0; n < 2; ++n)
        both = LLVM::InsertElementOp::create(e.b, e.loc, both, values[i + n],
                                             e.i32(n));
      pairs.push_back(both);
    }
    return cast(pairs, type);
  }
  Value cast(ArrayRef<Value> values, Type type) {
    return UnrealizedConversionCastOp::create(e.b, e.loc, type, values)
        .getResult(0);
  }
  void fromFragment(Value fragment, RegisterTile &tile) {
    SmallVector<Type> types(tile.values.size(), e.b.getF32Type());
    auto values =
        UnrealizedConversionCastOp::create(e.b, e.loc, types, fragment);
    size_t next = 0;
    forSums(tile, [&](Value &value) { value = values.getResult(next++); });
  }

  Value factorOf(Value tile) {
    return toFragment(tiles.of(tile),
                      mlir::cast<VectorType>(tile.getType()).getElementType());
  }

  /// Starts a contraction; `lhs` is its first factor if that was computed.
  /// Gives the accumulators.
  Value start(ContractOp op, RegisterTile sums, Value lhs) {
    std::string why;
    ContractionDims dims = *findContractionDims(op, why);
    const StagedTile &right = plan.stagedOf(op.getRhs());
    Value b = tileOf(right), a = lhs;
    bool transposeA = false;
    if (!lhs) {
      const StagedTile &left = plan.stagedOf(op.getLhs());
      transposeA = !isAlongK(op, 0, left, dims);
      a = rowsOfWarpgroup(tileOf(left), transposeA);
    }
    int64_t n = op.getTile()[dims.n];
    MLIRContext *context = e.b.getContext();
    Type f32 = e.b.getF32Type();
    auto type = pitgpu::AccumulatorType::get(context, kWgmmaRows, n, f32);
    Value before;
    if (isZeroTile(op.getAcc()))
      before = pitgpu::SplatOp::create(
          e.b, e.loc, pitgpu::FragmentType::get(context, kWgmmaRows, n, f32),
          e.constant(e.b.getF32FloatAttr(0)));
    else
      before = toFragment(sums, f32);
    before = pitgpu::AccumulateOp::create(e.b, e.loc, type, before);
    return pitgpu::MmaOp::create(e.b, e.loc, type, a, b, before, transposeA,
                                 isAlongK(op, 1, right, dims));
  }

  static bool isAlongK(ContractOp op, unsigned number, const StagedTile &staged,
                       const ContractionDims &dims) {
    AffineExpr along = op.getMap(number).getResult(
        static_cast<unsigned>(staged.operand.colDim));
    return along == getAffineDimExpr(dims.k, op.getContext());
  }

  /// The part of a first factor that this warpgroup multiplies.
  Value rowsOfWarpgroup(Value tile, bool transposed) {
    auto type = mlir::cast<pitgpu::TileType>(tile.getType());
    Value first = e.mul(group, kWgmmaRows), zero = e.i32(0);
    auto part = pitgpu::TileType::get(
        e.b.getContext(), transposed ? type.getRows() : kWgmmaRows,
        transposed ? kWgmmaRows : type.getCols(), type.getElementType(),
        type.getSwizzle(), type.getPitch());
    return pitgpu::SubtileOp::create(e.b, e.loc, part, tile,
                                     transposed ? zero : first,
                                     transposed ? first : zero);
  }

  /// Waits for accumulators while so many products that were started later go
  /// on.
  void await(Value accumulators, int64_t later, RegisterTile &sums) {
    auto type = mlir::cast<pitgpu::AccumulatorType>(accumulators.getType());
    Type fragment =
        pitgpu::FragmentType::get(e.b.getContext(), type.getRows(),
                                  type.getCols(), type.getElementType());
    auto wait = pitgpu::MmaWaitOp::create(
        e.b, e.loc, TypeRange(fragment), e.b.getI64IntegerAttr(later),
        ValueRange(accumulators), ValueRange());
    fromFragment(wait.getResult(0), sums);
  }

  void multiply(Value s, ContractOp op) {
    Value lhs;
    if (!isa<BlockArgument>(op.getLhs()))
      lhs = factorOf(op.getLhs());
    for (const StagedTile &tile : plan.staged)
      if (!tile.once && isFirstToRead(op, tile))
        wait(tile, e.add(used, s));
    bool startsLate = pending && !lateSums;
    if (startsLate)
      waitPending();
    bool hasTurn = late && op == *op->getBlock()->getOps<ContractOp>().begin();
    RegisterTile sums = tiles.of(op.getAcc());
    SmallVector<Value> started;
    auto startAll = [&] {
      started.push_back(start(op, sums, lhs));
      if (startsLate)
        started.push_back(start(late, tiles.of(plan.lateSums), factor));
    };
    if (hasTurn)
      inTurn(op, startsLate, started, startAll);
    else
      startAll();
    if (startsLate)
      lateSums = started[1];
    await(started[0], startsLate ? 1 : 0, sums);
    tiles.set(op.getResult(), sums);
    for (const StagedTile &tile : plan.staged)
      if (!tile.once && isLastToRead(op, tile))
        release(tile);
  }

  /// Runs `body` when it is this warpgroup's turn.
  void inTurn(ContractOp op, bool startsLate, SmallVectorImpl<Value> &started,
              function_ref<void()> body) {
    std::string why;
    SmallVector<Type> types;
    auto add = [&](ContractOp each) {
      int64_t n = each.getTile()[findContractionDims(each, why)->n];
      types.push_back(pitgpu::AccumulatorType::get(e.b.getContext(), kWgmmaRows,
                                                   n, e.b.getF32Type()));
    };
    add(op);
    if (startsLate)
      add(late);
    auto turn = pitgpu::InTurnOp::create(e.b, e.loc, types);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.createBlock(&turn.getBody());
    body();
    pitgpu::YieldOp::create(e.b, e.loc, started);
    started.assign(turn.result_begin(), turn.result_end());
  }

  //===--- Steps ----------------------------------------------------------===//

  /// A step; what is carried to the next one.
  SmallVector<Value> step(Value s, ValueRange carried) {
    tiles.enter(s, carried);
    Value lateFactor;
    Operation *packed = late ? late.getLhs().getDefiningOp() : nullptr;
    for (Operation &op :
         body.mainloop.getCompute().front().without_terminator()) {
      // The factor is computed where the registers of the step before's are
      // free.
      if (&op == packed && packed->hasOneUse())
        continue;
      if (pending && (&op == packed ||
                      llvm::is_contained(op.getOperands(), plan.lateSums)))
        finishPending();
      auto contract = dyn_cast<ContractOp>(op);
      if (!contract) {
        tiles.compute(mlir::cast<PointwiseOp>(op));
      } else if (contract == late) {
        if (pending)
          finishPending();
        if (packed->hasOneUse())
          tiles.compute(mlir::cast<PointwiseOp>(packed));
        lateFactor = factorOf(late.getLhs());
        // The next step goes on from here.
        tiles.set(late.getResult(), tiles.of(late.getAcc()));
      } else {
        multiply(s, contract);
      }
    }
    SmallVector<Value> next = tiles.next();
    if (lateFactor)
      next.push_back(lateFactor);
    return next;
  }

  /// What is carried has the late contraction's first factor, too; its sums are
  /// those before it.
  SmallVector<Value> stepsWithLate(ArrayRef<Value> initial) {
    Value total = body.steps.total();
    SmallVector<Type> types = llvm::map_to_vector(
        initial, [](Value value) { return value.getType(); });
    auto any = scf::IfOp::create(e.b, e.loc, types, e.lessThan(e.i32(0), total),
                                 /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(any.elseBlock());
    scf::YieldOp::create(e.b, e.loc, initial);
    e.b.setInsertionPointToStart(any.thenBlock());
    SmallVector<Value> carried = step(e.i32(0), initial);
    carried = loop(e.i32(1), carried, [&](Value s, ValueRange values) {
      pending = e.sub(s, e.i32(1));
      factor = values.back();
      return step(s, values.drop_back());
    });
    pending = e.sub(total, e.i32(1));
    factor = carried.pop_back_val();
    tiles.takeCarried(carried);
    finishPending();
    scf::YieldOp::create(e.b, e.loc, tiles.carried());
    return SmallVector<Value>(any.getResults());
  }

  void waitPending() {
    wait(plan.stagedOf(late.getRhs()), e.add(used, pending));
  }

  /// Waits for the late contraction of the step before, which may have to be
  /// started.
  void finishPending() {
    RegisterTile &sums = tiles.of(plan.lateSums);
    if (!lateSums) {
      waitPending();
      lateSums = start(late, sums, factor);
    }
    await(lateSums, /*later=*/0, sums);
    release(plan.stagedOf(late.getRhs()));
    pending = lateSums = Value();
  }

  const RolesContext &roles;
  Emitter &e;
  const AmpereBodyPlan &plan;
  BodyContext body;
  Value number; ///< of the thread among the workers (i32)
  BodyTiles tiles;
  ContractOp late;
  Value used;  ///< steps of the block's tiles before (i32)
  Value group; ///< warpgroup of the thread (i32)
  DenseMap<const StagedTile *, Value> stages; ///< that the role has
  Value pending;  ///< the step whose late contraction is not done
  Value factor;   ///< of that one
  Value lateSums; ///< accumulators of that one, if it was started
};

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

class RolesKernel {
public:
  RolesKernel(func::FuncOp function, gpu::GPUModuleOp device,
              const AmpereBodyPlan &plan,
              function_ref<AmpereBodyPlan(MainloopOp)> planOf)
      : function(function), device(device), plan(plan), planOf(planOf),
        rewriter(function.getContext()) {}

  gpu::GPUFuncOp run() {
    kernel = createGpuFunc(
        rewriter, function, device,
        {(function.getName() + "_hopper").str(), plan.common.threads, {}});
    // What lowers the pipeline knows the rest.
    LaunchInfo info;
    info.threads = plan.common.threads;
    info.grid =
        plan.common.blocks == 1 ? LaunchGrid::Tiles : LaunchGrid::Iterations;
    info.earlyStart = true;
    info.setOn(kernel);
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    createRings();
    // The next kernel may come to where blocks of this one have ended; this one
    // has, and now waits for the one before.
    using Control = NVVM::GridDepActionKind;
    NVVM::GriddepcontrolOp::create(rewriter, loc, Control::launch_dependents);
    NVVM::GriddepcontrolOp::create(rewriter, loc, Control::wait);
    bool onlyBoxes = llvm::all_of(
        rings, [](const StagedRing &ring) { return ring.map != Value(); });
    int64_t producers = onlyBoxes ? kBoxRegisters : plan.producerRegisters();
    int64_t workers = workerRegisters(producers);
    auto op = pitgpu::RolesOp::create(
        rewriter, loc, rewriter.getStrArrayAttr({"workers", "producers"}),
        rewriter.getDenseI64ArrayAttr({plan.workers(), plan.producers}),
        rewriter.getDenseI64ArrayAttr({workers, producers}),
        rewriter.getI64IntegerAttr(plan.common.blocks), /*bodiesCount=*/2);
    gpu::ReturnOp::create(rewriter, loc);
    for (Region &region : op.getBodies())
      lowerRole(rewriter.createBlock(&region), region.getRegionNumber() > 0);
    return kernel;
  }

private:
  /// Registers that are left for a worker.
  int64_t workerRegisters(int64_t producers) const {
    int64_t left =
        plan.registers / plan.common.blocks - 32 * plan.producers * producers;
    return std::min(kMostOfWorker, left / (32 * plan.workers()) / 8 * 8);
  }

  /// Is a tile a box of a tensor? Then TMA copies it.
  bool isBox(const StagedTile &staged) {
    ViewOp view = staged.view;
    auto source = dyn_cast<BlockArgument>(view.getSrc());
    auto type = mlir::cast<MemRefType>(view.getSrc().getType());
    const SharedTile &tile = staged.operand.tile;
    int64_t last = type.getRank() - 1;
    if (!source || source.getOwner() != &function.front() || last > 4 ||
        staged.operand.colDim != last || tile.rows % 8 ||
        tile.rows > kMaxBoxRows || type.getStridesAndOffset().first.back() != 1)
      return false;
    return llvm::all_of(view.getSubscripts(), [](Value subscript) {
      return subscript.getType().isIndex();
    });
  }

  void createRings() {
    MLIRContext *context = rewriter.getContext();
    for (const StagedTile &staged : plan.staged) {
      const SharedTile &tile = staged.operand.tile;
      Type element = staged.operand.element;
      StagedRing ring;
      ring.tile =
          pitgpu::TileType::get(tile.rows, tile.cols, element, kLineBytes);
      ring.stage = pitgpu::StageType::get(context, ring.tile);
      if (isBox(staged)) {
        ViewOp view = staged.view;
        auto source = mlir::cast<BlockArgument>(view.getSrc());
        SmallVector<int64_t> box(
            mlir::cast<MemRefType>(source.getType()).getRank(), 1);
        box[staged.operand.rowDim] = tile.rows;
        box.back() = kLineBytes / tile.elementBytes;
        auto type =
            pitgpu::TensorMapType::get(context, box, element, kLineBytes);
        ring.map = pitgpu::TensorMapOp::create(
            rewriter, loc, type, kernel.getArgument(source.getArgNumber()));
      }
      int64_t stages = staged.once ? 1 : plan.common.stages;
      auto type = pitgpu::RingType::get(context, stages, ring.tile);
      int64_t full = ring.map ? 1 : 2 * plan.loaders();
      ring.ring = pitgpu::RingOp::create(
          rewriter, loc, type, rewriter.getI64IntegerAttr(full),
          rewriter.getI64IntegerAttr(plan.workers()), IntegerAttr(),
          IntegerAttr());
      rings.push_back(ring);
    }
  }

  /// Each role has the loops and scalar code of its own.
  void lowerRole(Block *block, bool isProducer) {
    func::FuncOp body = function.clone();
    rewriter.setInsertionPointToEnd(block);
    IndexMap indices;
    ChunkMap chunks;
    for (auto [from, to] :
         llvm::zip(body.getArguments(), kernel.getArguments())) {
      if (auto type = dyn_cast<SparsityIndexType>(from.getType()))
        indices[from] = readIndex(rewriter, loc, type, to, /*space=*/1);
      else
        rewriter.replaceAllUsesWith(from, to);
    }
    MainloopNest nest = *matchMainloopNest(body);
    Block *old = &body.front();
    rewriter.eraseOp(old->getTerminator());
    block->getOperations().splice(block->end(), old->getOperations());
    rewriter.setInsertionPoint(nest.forall);
    Emitter outside(rewriter, loc);
    auto x = gpu::Dimension::x;
    Value number = outside.toI32(gpu::ThreadIdOp::create(rewriter, loc, x));
    if (isProducer)
      number = outside.sub(number, outside.i32(32 * plan.workers()));
    Value zero = outside.i32(0);
    scf::ForOp loop = loopOverTiles(rewriter, nest.forall,
                                    gpu::BlockIdOp::create(rewriter, loc, x),
                                    gpu::GridDimOp::create(rewriter, loc, x),
                                    {zero, zero}, indices, chunks);
    rewriter.setInsertionPoint(nest.mainloop);
    Emitter e(rewriter, nest.mainloop.getLoc());
    // Out of the loop over tiles, what depends on it would take up registers.
    number = e.hideFromOptimizer(number);
    MainloopSteps steps(e, nest.mainloop, /*stagesPerStep=*/1,
                        {chunks, indices});
    AmpereBodyPlan own = planOf(nest.mainloop);
    // Each tile has a ring of its own.
    for (StagedTile &staged : own.staged)
      staged.offset = 0;
    RolesContext context{own, rings};
    BodyContext bodyContext{e, own, nest.mainloop, chunks, steps};
    Value tile = loop.getRegionIterArgs()[0];
    Value used = loop.getRegionIterArgs()[1];
    if (isProducer)
      BodyProducer(context, bodyContext, number).run(tile, used);
    else
      BodyWorker(context, bodyContext, number).run(tile, used);
    SmallVector<Value> next = {e.add(tile, 1), e.add(used, steps.total())};
    eraseMainloop(rewriter, nest.mainloop);
    rewriter.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(rewriter, loc, next);
    // Ids and indices were known by their arguments.
    rewriter.eraseOp(nest.forall);
    body.erase();
  }

  func::FuncOp function;
  gpu::GPUModuleOp device;
  const AmpereBodyPlan &plan;
  /// That of a copy of the mainloop: plans name ops.
  function_ref<AmpereBodyPlan(MainloopOp)> planOf;
  IRRewriter rewriter;
  SmallVector<StagedRing> rings; ///< as plan.staged
  Location loc = UnknownLoc::get(function.getContext());
  gpu::GPUFuncOp kernel;
};

} // namespace

FailureOr<gpu::GPUFuncOp> cuda::lowerBodyByRoles(MainloopOp mainloop,
                                                 gpu::GPUModuleOp device,
                                                 const GpuTarget &target) {
  auto schedule =
      mlir::cast<AmpereScheduleAttr>(mainloop.getHopperScheduleAttr());
  std::string why;
  auto planOf = [&](MainloopOp op) {
    return AmpereBodyPlan::from(schedule, op, target, why);
  };
  auto function = mainloop->getParentOfType<func::FuncOp>();
  std::optional<AmpereBodyPlan> plan = planOf(mainloop);
  if (!matchMainloopNest(function))
    why = kNoNest.str();
  else if (plan && plan->producers == 0)
    why = "it has no producers";
  if (!plan || !why.empty())
    return mainloop.emitOpError()
           << "has hopper_schedule = " << schedule << "; " << why;
  return RolesKernel(function, device, *plan,
                     [&](MainloopOp op) { return *planOf(op); })
      .run();
}
