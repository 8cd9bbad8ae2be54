//===- PitToSCF.cpp - Bufferized level 3 to scf ---------------------------===//

#include "Codegen/Common/IndexCalls.h"
#include "Codegen/Common/RuntimeCalls.h"
#include "Codegen/Common/TileInput.h"
#include "Lowering.h"
#include "MainloopPlan.h"
#include "PackOperands.h"
#include "PackTile.h"

#include "pit/Codegen/CPU/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_CONVERTPITTOSCF
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

namespace {

/// Lowers one function, outermost ops first.
class FunctionLowering {
public:
  FunctionLowering(func::FuncOp function, const CpuTarget &target)
      : function(function), rewriter(function.getContext()), target(target) {}

  LogicalResult run() {
    if (failed(
            checkTileInput(function, {/*hasAtomics=*/false,
                                      "the CPU takes none and sequential"})) ||
        failed(checkSchedules()))
      return failure();
    readArguments();
    requestRegisters();
    // Indices first: all else refers to them.
    SmallVector<Operation *> builds;
    function.walk([&](Operation *op) {
      if (isa<IndexOp, PackedIndexOp, TransposeIndexOp, ChooseOp, RecordOp>(op))
        builds.push_back(op);
    });
    for (Operation *op : builds)
      if (failed(build(op)))
        return failure();
    if (failed(lowerNested(function)))
      return failure();
    eraseViews(); // of mainloops that stood in no tile loop
    for (IdsOp ids : llvm::reverse(listed))
      rewriter.eraseOp(ids);
    for (Operation *op : llvm::reverse(builds))
      rewriter.eraseOp(op);
    convertArguments();
    return success();
  }

private:
  LogicalResult checkSchedules() {
    WalkResult walk = function.walk([&](MainloopOp mainloop) -> WalkResult {
      auto schedule = mainloop.findSchedule<CpuScheduleAttr>();
      if (!schedule)
        return mainloop.emitOpError("has no #pit.cpu_schedule, "
                                    "which says how to run it: run "
                                    "pit-schedule-mainloops first");
      if (Refused refused = checkSchedule(mainloop, target))
        return mainloop.emitOpError()
               << "has the schedule " << schedule << "; " << refused->why;
      return success();
    });
    return failure(walk.wasInterrupted());
  }

  /// Lowers an index or a choice; the op itself stays.
  LogicalResult build(Operation *op) {
    if (op->getParentOfType<ForallOp>() || op->getParentOfType<ForOp>())
      return op->emitOpError("stands inside of a tile loop; an index is built "
                             "outside of them, so that its status can return");
    if (!getFrame(function))
      return op->emitOpError("needs a function with a frame to build in: run "
                             "pit-abi-prepare first");
    rewriter.setInsertionPoint(op);
    if (auto choose = dyn_cast<ChooseOp>(op)) {
      auto [variant, bitmap] = lowerChoose(
          rewriter, choose, bitmaps.lookup(choose.getAfter()),
          bitmaps.lookup(choose.getSeen()), bitmaps.size(), function);
      if (variant)
        rewriter.replaceAllUsesWith(choose.getVariant(), variant);
      bitmaps[choose.getBitmap()] = bitmap;
      return success();
    }
    if (auto record = dyn_cast<RecordOp>(op)) {
      lowerRecord(rewriter, record, function);
      return success();
    }
    if (auto transpose = dyn_cast<TransposeIndexOp>(op)) {
      Value pointer = transposeIndex(
          rewriter, transpose, indices.at(transpose.getIndex()).pointer,
          bitmaps.lookup(transpose.getChoice()), function);
      indices[transpose.getResult()] =
          readIndex(rewriter, op->getLoc(), transpose.getType(), pointer);
      return success();
    }
    if (auto packed = dyn_cast<PackedIndexOp>(op)) {
      auto [pointer, done] = buildPackedIndex(rewriter, packed, function);
      rewriter.replaceAllUsesWith(packed.getDone(), done);
      indices[packed.getIndex()] = readIndex(
          rewriter, op->getLoc(), packed.getIndex().getType(), pointer);
      return success();
    }
    auto index = cast<IndexOp>(op);
    Value pointer =
        buildIndex(rewriter, index, bitmaps.lookup(index.getSeen()), function);
    indices[index.getResult()] =
        readIndex(rewriter, op->getLoc(), index.getType(), pointer);
    return success();
  }

  /// Arguments keep their types while ops use them as indices.
  void readArguments() {
    if (function.isExternal())
      return;
    auto pointer = LLVM::LLVMPointerType::get(function.getContext());
    rewriter.setInsertionPointToStart(&function.front());
    for (BlockArgument arg : function.getArguments()) {
      auto type = dyn_cast<SparsityIndexType>(arg.getType());
      if (!type)
        continue;
      auto cast = UnrealizedConversionCastOp::create(rewriter, arg.getLoc(),
                                                     pointer, arg);
      indices[arg] = readIndex(rewriter, arg.getLoc(), type, cast.getResult(0));
      pointers.push_back(cast);
    }
  }

  void convertArguments() {
    for (UnrealizedConversionCastOp cast : pointers) {
      auto arg = llvm::cast<BlockArgument>(cast.getOperand(0));
      arg.setType(cast.getType(0));
      rewriter.replaceOp(cast, arg);
    }
    if (!pointers.empty())
      function.setFunctionType(rewriter.getFunctionType(
          function.front().getArgumentTypes(), function.getResultTypes()));
  }

  /// The system gives tile registers to processes that ask for them.
  void requestRegisters() {
    WalkResult found = function.walk([&](MainloopOp mainloop) {
      MainloopPlan plan = getPlan(mainloop);
      return plan.dots && plan.dots->amx ? WalkResult::interrupt()
                                         : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      return;
    rewriter.setInsertionPointToStart(&function.front());
    callRuntime(rewriter, function.getLoc(), "pit_rt_request_amx",
                rewriter.getI32Type(), getFrame(function), /*status=*/true);
  }

  LogicalResult lowerNested(Operation *parent) {
    for (Region &region : parent->getRegions())
      for (Block &block : region)
        for (Operation &op : llvm::make_early_inc_range(block))
          if (failed(lower(&op)))
            return failure();
    return success();
  }

  LogicalResult lower(Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto loop = dyn_cast<ForallOp>(op)) {
      if (loop.getConflicts() == Conflicts::Sequential)
        return finish(loop,
                      lowerToSequentialLoops(rewriter, loop, indices, chunks));
      return finish(loop, lowerForall(loop));
    }
    if (auto loop = dyn_cast<ForOp>(op)) {
      return finish(loop,
                    lowerToSequentialLoops(rewriter, loop, indices, chunks));
    }
    if (auto mainloop = dyn_cast<MainloopOp>(op)) {
      lowerMainloop(rewriter, mainloop, packed.lookup(mainloop), indices,
                    chunks);
      views.insert_range(mainloop.getExtras());
    } else if (isa<ViewOp, IndexOp, PackedIndexOp, TransposeIndexOp, ChooseOp,
                   RecordOp>(op)) {
      return success(); // lowered with its mainloop, or before
    } else if (auto read = dyn_cast<SReadOp>(op)) {
      lowerSRead(rewriter, read, chunks, places, target.vectorBits);
    } else if (auto write = dyn_cast<SWriteOp>(op)) {
      lowerSWrite(rewriter, write, chunks, target.vectorBits);
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      lowerScan(rewriter, scan, chunks, target.vectorBits);
    } else if (auto ids = dyn_cast<IdsOp>(op)) {
      chunks[ids.getIds()] =
          chunkOf(rewriter, ids, ids.getList(), ids.getSubscripts());
      listed.push_back(ids);
      return success();
    } else if (auto coords = dyn_cast<CoordsOp>(op)) {
      lowerCoords(rewriter, coords, chunks);
    } else if (Value value = readFromIndex(rewriter, op, indices)) {
      rewriter.replaceAllUsesWith(op->getResult(0), value);
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      for (OpOperand &operand : launch.getInputsMutable())
        if (isa<SparsityIndexType>(operand.get().getType()))
          operand.set(indices.at(operand.get()).pointer);
      if (Value choice = launch.getChoice())
        launch.getChoiceMutable().assign(bitmaps.lookup(choice));
      return success();
    } else {
      return lowerNested(op);
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// Lowers what was the loop's body. The loop goes last: its block arguments
  /// name the chunks.
  LogicalResult finish(Operation *loop, Operation *lowered) {
    if (failed(lowerNested(lowered)))
      return failure();
    eraseViews();
    rewriter.eraseOp(loop);
    return success();
  }

  /// Views that only lowered mainloops read.
  void eraseViews() {
    for (Value view : views)
      if (view.use_empty())
        rewriter.eraseOp(view.getDefiningOp());
    views.clear();
  }

  /// Is the loop one of a call, or of a variant that a call may choose?
  bool runsOnce(ForallOp loop) {
    Operation *parent = loop->getParentOp();
    while (isa<scf::IfOp>(parent))
      parent = parent->getParentOp();
    return parent == function;
  }

  Operation *lowerForall(ForallOp loop) {
    std::optional<TransposedResults> results;
    if (getFrame(function) && runsOnce(loop)) {
      packOperandsOf(rewriter, loop, function, indices, packed);
      results = findResults(rewriter, loop, function, indices);
    }
    SmallVector<int64_t> steps(loop.getSteps());
    LoopBounds bounds = loopBounds(rewriter, loop, indices);
    SmallVector<unsigned> order = orderDims(loop, bounds.lower.size());
    auto ordered = [&](ArrayRef<Value> values) {
      return llvm::map_to_vector(order, [&](unsigned d) { return values[d]; });
    };
    auto parallel =
        scf::ParallelOp::create(rewriter, loop.getLoc(), ordered(bounds.lower),
                                ordered(bounds.upper), ordered(bounds.steps));
    SmallVector<Value> ivs(order.size());
    for (auto [d, iv] : llvm::zip(order, parallel.getInductionVars()))
      ivs[d] = iv;
    moveLoopBody(rewriter, loop, {parallel.getBody(), ivs}, bounds, indices,
                 chunks);
    if (results) {
      Value matrix;
      MainloopOp mainloop =
          keepResults(rewriter, *results, bounds.lower, ivs, steps, matrix);
      PackedOperands operands = packed.lookup(results->mainloop);
      operands.results = matrix;
      packed[mainloop] = operands;
    }
    return parallel;
  }

  /// Tiles that read the same panels follow each other, so that these stay in a
  /// cache; panels of the same matrix do, of several.
  SmallVector<unsigned> orderDims(ForallOp loop, unsigned count) {
    auto order = llvm::to_vector(llvm::seq(count));
    loop.walk([&](MainloopOp mainloop) {
      auto factors = packed.lookup(mainloop).factors;
      if (factors.empty() || !factors.front().panels.memref)
        return;
      MainloopPlan plan = getPlan(mainloop);
      ViewOp view = mainloop.getOperandView(plan.b);
      SmallVector<Value> subscripts(view.getSubscripts());
      moveLast(subscripts, plan.lane);
      SmallVector<unsigned> first;
      for (Value subscript : subscripts)
        if (auto iv = dyn_cast<BlockArgument>(subscript);
            iv && iv.getOwner() == loop.getBody() &&
            iv.getArgNumber() < count &&
            !llvm::is_contained(first, iv.getArgNumber()))
          first.push_back(iv.getArgNumber());
      llvm::erase_if(order,
                     [&](unsigned d) { return llvm::is_contained(first, d); });
      order.insert(order.begin(), first.begin(), first.end());
    });
    return order;
  }

  func::FuncOp function;
  IRRewriter rewriter;
  const CpuTarget &target;
  IndexMap indices;
  SmallVector<UnrealizedConversionCastOp> pointers; ///< of arguments
  DenseMap<Value, Value> bitmaps;                   ///< of choices, as pointers
  ChunkMap chunks;
  ElementPlaces places;
  SmallVector<IdsOp> listed;
  SetVector<Value> views;
  DenseMap<Operation *, PackedOperands> packed;
};

struct ConvertPitToSCFPass
    : pit::impl::ConvertPitToSCFBase<ConvertPitToSCFPass> {
  using Base::Base;
  void runOnOperation() override {
    FailureOr<CpuTarget> target =
        getCpuTarget(getOperation().getLoc(), vectorWidth);
    if (failed(target))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(FunctionLowering(function, *target).run()))
        return signalPassFailure();
  }
};
} // namespace
