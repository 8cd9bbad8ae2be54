//===- ConvertPitGPUToNVVM.cpp - pit_gpu to nvvm --------------------------===//

#include "PipelineLowering.h"

#include "Codegen/GPU/Common/Fragments.h"
#include "Codegen/GPU/Common/KernelLowering.h"

#include "pit/Codegen/GPU/Pipeline/Passes.h"
#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace mlir::pit {
#define GEN_PASS_DEF_CONVERTPITGPUTONVVM
#include "pit/Codegen/GPU/Pipeline/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;

void pitgpu::populatePipelineTypes(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  auto words = [](Type type, int64_t count, SmallVectorImpl<Type> &types) {
    types.append(count, IntegerType::get(type.getContext(), 32));
    return success();
  };
  converter.addConversion([](TensorMapType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  converter.addConversion([=](RingType type, SmallVectorImpl<Type> &types) {
    return words(type, type.getOfBlock() ? 1 : 2, types);
  });
  converter.addConversion([=](StageType type, SmallVectorImpl<Type> &types) {
    return words(type, type.getOfBlock() ? 2 : 3, types);
  });
  converter.addConversion([=](TileType type, SmallVectorImpl<Type> &types) {
    return words(type, 1, types);
  });
  converter.addConversion([=](RowTileType type, SmallVectorImpl<Type> &types) {
    return words(type, 1, types);
  });
  converter.addConversion([](AccumulatorType type,
                             SmallVectorImpl<Type> &types) {
    if (type.getInTensorMemory()) {
      types.push_back(IntegerType::get(type.getContext(), 32));
      return success();
    }
    Type sums = LLVM::LLVMStructType::getLiteral(
        type.getContext(),
        SmallVector<Type>(type.getElementsPerPart(), type.getElementType()));
    types.append(type.getParts(), sums);
    return success();
  });
  addFragmentType(converter);
  // Ops of other dialects may have made casts next to these.
  converter.addSourceMaterialization(
      [](OpBuilder &builder, Type type, ValueRange values, Location loc) {
        return UnrealizedConversionCastOp::create(builder, loc, type, values)
            .getResult(0);
      });
  converter.addTargetMaterialization([](OpBuilder &builder, TypeRange types,
                                        ValueRange values, Location loc) {
    auto cast = UnrealizedConversionCastOp::create(builder, loc, types, values);
    return SmallVector<Value>(cast.getResults());
  });
}

/// Shared memory of a block of sm_90a and of sm_100a.
static constexpr int64_t kMostSharedBytes = 227 * 1024;

namespace {
/// A stage with which a loop begins to carry one is not looked at.
struct PoisonPattern : OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ub::PoisonOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    SmallVector<Value> values;
    for (Type type : types)
      values.push_back(ub::PoisonOp::create(rewriter, op.getLoc(), type));
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct ConvertPitGPUToNVVMPass
    : pit::impl::ConvertPitGPUToNVVMBase<ConvertPitGPUToNVVMPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    PipelineContext context;
    WalkResult outside = getOperation().walk([](Operation *op) {
      if (!isa_and_nonnull<PitGPUDialect>(op->getDialect()) ||
          op->getParentOfType<gpu::GPUFuncOp>())
        return WalkResult::advance();
      op->emitOpError() << "is in no kernel; a gpu.func is one";
      return WalkResult::interrupt();
    });
    if (outside.wasInterrupted())
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (failed(prepare(rewriter, kernel, context)))
        return signalPassFailure();

    TypeConverter converter;
    populatePipelineTypes(converter);
    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    target.addIllegalDialect<PitGPUDialect>();
    target.addDynamicallyLegalOp<ub::PoisonOp>(
        [&](ub::PoisonOp op) { return converter.isLegal(op.getType()); });
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    PipelinePatterns pipeline(converter, context, patterns);
    populateStagePatterns(pipeline);
    populateCopyPatterns(pipeline);
    populateMmaPatterns(pipeline);
    populateFragmentPatterns(pipeline);
    populateFixupPatterns(pipeline);
    patterns.add<PoisonPattern>(converter, &getContext());
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return signalPassFailure();
    SmallVector<UnrealizedConversionCastOp> casts;
    getOperation().walk(
        [&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
    reconcileUnrealizedCasts(casts);
  }

  LogicalResult prepare(IRRewriter &rewriter, gpu::GPUFuncOp kernel,
                        PipelineContext &context) {
    // Kernels without roles have an order of tiles, too.
    lowerLists(rewriter, kernel);
    lowerSplits(rewriter, kernel);
    lowerTileOrder(rewriter, kernel);
    WalkResult found = kernel.walk([](Operation *op) {
      return isa_and_nonnull<PitGPUDialect>(op->getDialect())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      return success();
    for (Type type : kernel.getArgumentTypes())
      if (isa<PitGPUDialect>(type.getDialect()))
        return kernel.emitOpError()
               << "has an argument of type " << type << ", which no caller has";
    LaunchInfo info = LaunchInfo::of(kernel).value_or(LaunchInfo());
    if (failed(checkChip(kernel)))
      return failure();
    int64_t planned = info.sharedBytes, placed = placeShared(kernel);
    // Shared memory of a kernel without rings and places is not the pipeline's.
    if (placed)
      info.sharedBytes = placed;
    if (failed(
            allocateTensorMemory(rewriter, kernel, context, info.sharedBytes)))
      return failure();
    if (planned && planned != info.sharedBytes)
      return kernel.emitOpError()
             << "was planned with " << planned
             << " bytes of shared memory, and has " << info.sharedBytes;
    if (info.sharedBytes > kMostSharedBytes)
      return kernel.emitOpError() << "has " << info.sharedBytes
                                  << " bytes of rings and other places; shared "
                                     "memory of a block has at most "
                                  << kMostSharedBytes;
    if (placed)
      cuda::getDynamicShared(rewriter, getOperation(), kSharedName,
                             kSwizzleRepeat);
    info.cluster = std::max(info.cluster, clusterOf(kernel));
    if (info.cluster > 1)
      kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                      rewriter.getDenseI32ArrayAttr(
                          {static_cast<int32_t>(info.cluster), 1, 1}));
    SmallVector<RingOp> rings;
    kernel.walk([&](RingOp ring) { rings.push_back(ring); });
    if (!rings.empty())
      context.ringsUpTo[rings.back()] = rings;
    kernel.walk([&](AcquireOp acquire) {
      auto ring = acquire.getRing().getDefiningOp<RingOp>();
      if (ring && ring.getEmpty() == 0)
        context.neverReleased.insert(acquire);
    });
    findWritten(kernel, context);
    kernel.walk([&](RolesOp roles) {
      for (Region &body : roles.getBodies())
        findTakesOfOneWarp(body, context);
    });
    copyMovedSums(rewriter, kernel);
    if (failed(lowerRoles(rewriter, kernel, context)))
      return failure();
    holdFragments(kernel);
    guardLoops(rewriter, kernel);
    addTensorMaps(rewriter, kernel, info);
    if (auto threads = kernel.getKnownBlockSize())
      info.threads = threads->front();
    // Whoever launches a kernel without roles and places may know its threads.
    if (info.threads)
      info.setOn(kernel);
    else if (placed || !info.tensorMaps.empty())
      return kernel.emitOpError()
             << "has no roles, which say how many threads a block has, and no "
                "known_block_size; array<i32: 128, 1, 1> is right for 128";
    return success();
  }

  /// Has the chip, if the module names one, the tensor cores that products are
  /// for?
  static LogicalResult checkChip(gpu::GPUFuncOp kernel) {
    ArrayAttr targets =
        kernel->getParentOfType<gpu::GPUModuleOp>().getTargetsAttr();
    auto target = targets && !targets.empty()
                      ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                      : NVVM::NVVMTargetAttr();
    if (!target)
      return success();
    WalkResult walked = kernel.walk([&](MmaOp product) {
      bool isLate = product.getAcc().getType().getInTensorMemory();
      bool isRight = isLate ? target.getChip().starts_with("sm_10") &&
                                  target.getChip().ends_with("a")
                            : target.getChip() == "sm_90a";
      if (isRight)
        return WalkResult::advance();
      product.emitOpError()
          << "has its sums in " << (isLate ? "tensor memory" : "registers")
          << ", for tensor cores of " << (isLate ? "sm_100a" : "sm_90a")
          << "; the chip is " << target.getChip();
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  /// May threads write tiles of a stage that was acquired?
  static bool mayBeWritten(AcquireOp acquire) {
    return !llvm::all_of(acquire->getUsers(), [](Operation *op) {
      return isa<LoadOp, LoadRowsOp, CommitOp>(op);
    });
  }

  /// Finds the waits for stages that threads write.
  static void findWritten(gpu::GPUFuncOp kernel, PipelineContext &context) {
    llvm::DenseSet<Value> written;
    llvm::DenseSet<Type> carried;
    kernel.walk([&](CommitOp commit) {
      if (commit.getKind() == CommitKind::Tma)
        return;
      // A stage that a loop carries may be of any ring with such tiles.
      auto acquire = commit.getStage().getDefiningOp<AcquireOp>();
      if (!acquire)
        carried.insert(commit.getStage().getType());
      else if (mayBeWritten(acquire))
        written.insert(acquire.getRing());
    });
    kernel.walk([&](WaitOp wait) {
      bool isRead = !llvm::all_of(
          wait->getUsers(), [](Operation *op) { return isa<ReleaseOp>(op); });
      if (!isRead || wait.getRing().getType().getOfBlock())
        return;
      if (written.contains(wait.getRing()) ||
          carried.contains(wait.getStage().getType()))
        context.waitsForWrites.insert(wait);
    });
    // Threads copy all that is in a ring of the block, and what is loaded once.
    kernel.walk([&](BlockRingOp ring) {
      ArrayRef<Type> tiles = ring.getType().getTiles();
      bool hasRows = !tiles.empty() && isa<RowTileType>(tiles.front());
      WalkResult products = ring->getParentRegion()->walk(
          [](MmaOp) { return WalkResult::interrupt(); });
      if (!hasRows && products.wasInterrupted())
        for (Operation *user : ring->getUsers())
          if (isa<WaitOp>(user))
            context.waitsForWrites.insert(user);
    });
  }

  /// Does one thread of the role all that the role does with a stage or a tile?
  /// This is so where copies by TMA fill it, and where products with sums in
  /// tensor memory read it.
  static bool isOfOneThread(Value value) {
    return !value.use_empty() &&
           llvm::all_of(value.getUsers(), [](Operation *op) {
             if (auto commit = dyn_cast<CommitOp>(op)) {
               auto leader = commit->getParentOfType<LeaderOp>();
               return (commit.getKind() == CommitKind::Tma ||
                       commit.getKind() == CommitKind::Products) &&
                      !(leader && leader.getOfWarps());
             }
             if (auto release = dyn_cast<ReleaseOp>(op))
               return release.getAfterProducts();
             if (auto product = dyn_cast<MmaOp>(op))
               return product.getAcc().getType().getInTensorMemory();
             if (isa<TileOp, SubtileOp>(op))
               return isOfOneThread(op->getResult(0));
             return isa<LoadOp>(op);
           });
  }

  /// Finds the stages that the role takes for one of its threads.
  static void findTakesOfOneWarp(Region &body, PipelineContext &context) {
    body.walk([&](Operation *op) {
      if (isa<AcquireOp, WaitOp>(op) && isOfOneThread(op->getResult(0)))
        context.takesOfOneWarp.insert(op);
    });
  }

  /// Has the first wait for a product hold the fragment that this reads.
  static void holdFragments(gpu::GPUFuncOp kernel) {
    SmallVector<MmaOp> products;
    kernel.walk([&](MmaOp product) {
      if (isa<FragmentType>(product.getA().getType()))
        products.push_back(product);
    });
    for (MmaOp product : products) {
      int64_t later = 0;
      for (Operation *op = product->getNextNode(); op; op = op->getNextNode()) {
        later += isa<MmaOp>(op);
        auto wait = dyn_cast<MmaWaitOp>(op);
        if (!wait || static_cast<int64_t>(wait.getPending()) > later)
          continue;
        if (!llvm::is_contained(wait.getHeld(), product.getA()))
          wait.getHeldMutable().append(product.getA());
        break;
      }
    }
  }

  /// If a loop of products may have no iteration, the wait for them goes
  /// into a branch with it: else the registers would be moved where the two
  /// ways meet, before the wait, and ptxas would run the products one after
  /// another.
  static void guardLoops(IRRewriter &rewriter, gpu::GPUFuncOp kernel) {
    SmallVector<MmaWaitOp> waits;
    kernel.walk([&](MmaWaitOp wait) { waits.push_back(wait); });
    for (MmaWaitOp wait : waits) {
      auto loop = dyn_cast_or_null<scf::ForOp>(wait->getPrevNode());
      if (!loop || wait.getSums().empty())
        continue;
      // The loop's results, with fragments for the sums that are awaited.
      SmallVector<Value> otherwise(loop.getInits());
      bool isRight = wait.getHeld().empty();
      for (Value sums : wait.getSums()) {
        auto result = dyn_cast<OpResult>(sums);
        isRight &= result && result.getOwner() == loop && sums.hasOneUse();
        if (!isRight)
          break;
        Value &init = otherwise[result.getResultNumber()];
        auto begin = init.getDefiningOp<AccumulateOp>();
        isRight &= static_cast<bool>(begin);
        if (begin)
          init = begin.getFragment();
      }
      for (Value value : otherwise)
        isRight &= !isa<AccumulatorType>(value.getType());
      if (isRight)
        guardLoop(rewriter, loop, wait, otherwise);
    }
  }

  static void guardLoop(IRRewriter &rewriter, scf::ForOp loop, MmaWaitOp wait,
                        ArrayRef<Value> otherwise) {
    Location loc = loop.getLoc();
    rewriter.setInsertionPoint(loop);
    Value any =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                              loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(rewriter, loc, TypeRange(otherwise), any,
                                    /*withElseRegion=*/true);
    SmallVector<Value> results(loop.getResults());
    for (auto [sums, fragment] :
         llvm::zip(wait.getSums(), wait.getFragments())) {
      unsigned number = cast<OpResult>(sums).getResultNumber();
      results[number] = fragment;
      rewriter.replaceAllUsesWith(fragment, branch.getResult(number));
    }
    for (auto [result, after] :
         llvm::zip(loop.getResults(), branch.getResults()))
      rewriter.replaceUsesWithIf(result, after, [&](OpOperand &use) {
        return use.getOwner() != wait;
      });
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, otherwise);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(rewriter, loc, results);
    loop->moveBefore(&branch.thenBlock()->front());
    wait->moveAfter(loop);
  }

  /// The fragment that products add to, of the sums that a wait gives.
  static Value beginOf(Value sums) {
    while (Operation *op = sums.getDefiningOp()) {
      if (auto turn = dyn_cast<HandOverOp>(op))
        sums = turn.getBody().front().getTerminator()->getOperand(
            cast<OpResult>(sums).getResultNumber());
      else if (auto product = dyn_cast<MmaOp>(op))
        sums = product.getAcc();
      else if (auto begin = dyn_cast<AccumulateOp>(op))
        return begin.getFragment();
      else
        break;
    }
    return {};
  }

  /// If the sums of a loop's products change places from one iteration to the
  /// next, they are copied behind the wait for them, where LLVM cannot move the
  /// copies: else it puts them before the wait, and ptxas would run the
  /// products one after another.
  static void copyMovedSums(IRRewriter &rewriter, gpu::GPUFuncOp kernel) {
    SmallVector<scf::YieldOp> yields;
    kernel.walk([&](scf::YieldOp yield) {
      if (isa<scf::ForOp, scf::WhileOp>(yield->getParentOp()))
        yields.push_back(yield);
    });
    for (scf::YieldOp yield : yields)
      for (OpOperand &operand : yield->getOpOperands()) {
        auto wait = operand.get().getDefiningOp<MmaWaitOp>();
        if (!wait)
          continue;
        unsigned number = cast<OpResult>(operand.get()).getResultNumber();
        auto begin =
            dyn_cast_or_null<BlockArgument>(beginOf(wait.getSums()[number]));
        unsigned first = isa<scf::ForOp>(yield->getParentOp()); // its number
        if (!begin || begin.getOwner() != yield->getBlock() ||
            begin.getArgNumber() == first + operand.getOperandNumber())
          continue;
        rewriter.setInsertionPoint(yield);
        cuda::Emitter e(rewriter, yield.getLoc());
        operand.set(cuda::mapFragments(
            e, cast<FragmentType>(operand.get().getType()), operand.get(),
            [&](ValueRange at) {
              return e.assembly(at[2].getType(), "mov.b32 $0, $1;", "=f,f",
                                at[2]);
            }));
      }
  }

  /// A descriptor is one more parameter, behind all others; the launch makes
  /// it.
  static void addTensorMaps(IRRewriter &rewriter, gpu::GPUFuncOp kernel,
                            LaunchInfo &info) {
    SmallVector<TensorMapOp> maps;
    kernel.walk([&](TensorMapOp map) { maps.push_back(map); });
    auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
    for (TensorMapOp map : maps) {
      unsigned number = kernel.getNumArguments();
      (void)kernel.insertArgument(number, pointer, {}, map.getLoc());
      pitgpu::TensorMapType type = map.getType();
      info.tensorMaps.push_back(TensorMapAttr::get(
          rewriter.getContext(),
          cast<BlockArgument>(map.getSource()).getArgNumber(),
          rewriter.getDenseI64ArrayAttr(type.getBox()), type.getSwizzle(),
          map.getAlongK() ? *map.getAlongK() : -1, map.getOrderAttr()));
      rewriter.setInsertionPoint(map);
      auto cast = UnrealizedConversionCastOp::create(
          rewriter, map.getLoc(), type, kernel.getArgument(number));
      rewriter.replaceOp(map, cast.getResults());
    }
  }
};
} // namespace
