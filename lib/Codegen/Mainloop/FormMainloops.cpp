//===- FormMainloops.cpp - Contractions of tiles become mainloops ---------===//
//
// In a kernel (pit-outline-kernels) the loop over tiles of a contraction looks
// like this, with further loops around all of it or none:
//
//   acc = tile from SReads and constants
//   sum = pit.for iter_args(acc) { a = SRead; b = SRead; linalg op(a, b, acc) }
//   tile = element-wise ops on sum, SReads and constants
//   SWrite tile
//   look at it, or nothing
//
// There may be several acc, sum and linalg ops in the loop, which differ in
// their SReads. In kernels it may also carry tiles of any kind, compute more,
// and have several SWrites behind it (BuildTileBody.cpp). For the CPU the loop
// may be a nest whose innermost loop has the ids.
//
// All of it becomes one pit.mainloop: of a kernel on memrefs, since its tensors
// are arguments, and for the CPU on tensors, tile by tile. A kernel, or a tile,
// with anything else stays as it is.
//
//===----------------------------------------------------------------------===//

#include "BuildMainloop.h"

#include "Codegen/Common/ContractionInfo.h"
#include "Codegen/GPU/Portable/BodyPlan.h"

#include "pit/Codegen/CPU/Mainloops.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Dialect/Pit/IR/NotTaken.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <variant>

namespace mlir::pit {
#define GEN_PASS_DEF_PITFORMMAINLOOPS
#include "pit/Codegen/Mainloop/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {

/// Rewrites one function. Everything is built beside the old ops; nothing but
/// new ops has to go if it turns out not to fit.
class MainloopFormer {
public:
  using AnyTarget = std::variant<GpuTarget, CpuTarget>;
  MainloopFormer(func::FuncOp function, bool tf32, const AnyTarget &target)
      : kernel(function), tf32(tf32), target(target), builder(function) {}

  LogicalResult convertKernel();
  /// One tile of the CPU's, on tensors.
  LogicalResult convertInPlace(SWriteOp write);
  /// Says why the last one was not converted, if it is a contraction.
  void explain();

private:
  /// `dests` is where the loop's results go.
  LogicalResult convertLoop(Operation *loop, ArrayRef<Value> dests);
  LogicalResult convertBody(Block *body, ArrayRef<Value> dests, bool atomic);
  FailureOr<SmallVector<SWriteOp>> findWrites(Block *body, ValueRange carried,
                                              LookOp &look);
  FailureOr<MainloopOp> convertTile(SWriteOp write,
                                    const MainloopOutput &output);
  FailureOr<MainloopOp> convertTileBody(SWriteOp write,
                                        const MainloopOutput &output);

  func::FuncOp kernel;
  bool tf32; ///< may f32 be rounded to tf32?
  AnyTarget target;
  const CpuTarget *cpu = std::get_if<CpuTarget>(&target); ///< or null
  const GpuTarget *gpu = std::get_if<GpuTarget>(&target); ///< or null
  OpBuilder builder;
  IRMapping mapping;              ///< old values to new ones
  Operation *outermost = nullptr; ///< of the new loops
  MainloopRefusal refusal;
};

} // namespace

void MainloopFormer::explain() {
  // The ops around the contraction may have been refused before it.
  if (!cpu)
    kernel.walk([&](linalg::LinalgOp op) {
      if (!refusal.op && op.getNumReductionLoops() > 0 &&
          op.getNumDpsInputs() > 1)
        refusal.op = op;
    });
  if (refusal.op)
    explainNotTaken(refusal.op, "forms no mainloop", refusal.why);
}

/// Are the elements of what it multiplies, and of its sums, f32?
static bool computesF32(MainloopOp mainloop) {
  return llvm::all_of(mainloop.getContraction().getBody().getArgumentTypes(),
                      [](Type type) { return type.isF32(); });
}

FailureOr<MainloopOp>
MainloopFormer::convertTile(SWriteOp write, const MainloopOutput &output) {
  FailureOr<Contractions> contractions =
      findContractions(write, cpu != nullptr, refusal);
  if (!output.also.empty() && succeeded(contractions))
    refusal.why = "it has further results";
  if (!cpu && (failed(contractions) || !output.also.empty()))
    return convertTileBody(write, output);
  if (failed(contractions))
    return failure();
  FailureOr<MainloopOp> mainloop = buildMainloop(
      builder, *std::move(contractions), output, mapping, refusal.why);
  if (failed(mainloop))
    return failure();
  if (tf32 && !mainloop->getNumScales() && computesF32(*mainloop) &&
      isMultiplyAdd(*mainloop))
    for (unsigned i = 0; i < mainloop->getNumAccumulators(); ++i)
      mainloop->getContraction(i).setTf32(true);
  if (Refused refused = cpu ? cpu::checkMainloop(*mainloop, *cpu) : Refused()) {
    refusal.why = refused->why;
    return failure();
  }
  return mainloop;
}

/// A loop that is no contraction of tiles that are read may be one that
/// computes more.
FailureOr<MainloopOp>
MainloopFormer::convertTileBody(SWriteOp write, const MainloopOutput &output) {
  std::string why;
  FailureOr<MainloopOp> mainloop =
      buildTileBody(builder, write, output, mapping, why);
  if (succeeded(mainloop))
    if (OrRefusal<TileBodyInfo> info = describeTileBody(*mainloop); !info) {
      why = info.refusal().why;
      mainloop = failure();
    }
  if (failed(mainloop)) {
    refusal.why += "; nor a tile body, because " + why;
    return failure();
  }
  if (Refused refused = cuda::checkBody(*mainloop, *gpu)) {
    refusal.why = refused->why;
    return failure();
  }
  return mainloop;
}

//===----------------------------------------------------------------------===//
// Loops around tiles
//===----------------------------------------------------------------------===//

/// The look at all that `write` writes, which a loop yields second; none, if it
/// is not one that the loop's mainloop can do.
static LookOp findLook(Block *body, SWriteOp write) {
  auto look = body->getTerminator()->getOperand(1).getDefiningOp<LookOp>();
  if (!look || !write || look.getSource() != write.getResult() ||
      look.getSubscripts() != write.getSubscripts() ||
      look.getTile() != write.getTileType().getShape() ||
      look.getTile().back() % kWordBits != 0 || write.getCombine() ||
      look.getBits() != body->getArguments().back())
    return {};
  return look;
}

/// The SWrites that the body yields, each of a tile of what it carries. If
/// there is one, `look` may follow it.
FailureOr<SmallVector<SWriteOp>>
MainloopFormer::findWrites(Block *body, ValueRange carried, LookOp &look) {
  SmallVector<SWriteOp> writes;
  for (auto [argument, yielded] :
       llvm::zip(carried, body->getTerminator()->getOperands())) {
    Operation *last = yielded.getDefiningOp();
    if (!last || last->getBlock() != body)
      return notTaken(refusal.why,
                      "a loop around it hands on another's result");
    auto write = dyn_cast<SWriteOp>(last);
    if (write && write.getDest() == argument && !write.isWhole()) {
      writes.push_back(write);
      continue;
    }
    bool isSecond = writes.size() == 1 && carried.size() == 2;
    if (isSecond && (look = findLook(body, writes.front())))
      continue;
    return notTaken(refusal.why, last->getName().getStringRef() +
                                     " around it does not write a tile of what "
                                     "the loop carries");
  }
  for (SWriteOp write : writes)
    if (write.getCombine() && writes.size() > 1)
      return notTaken(refusal.why,
                      "a loop around it adds to one of several results");
  return writes;
}

LogicalResult MainloopFormer::convertBody(Block *body, ArrayRef<Value> dests,
                                          bool atomic) {
  auto carried = body->getArguments().take_back(dests.size());
  for (auto [argument, dest] : llvm::zip(carried, dests))
    mapping.map(argument, dest);
  OperandRange yielded = body->getTerminator()->getOperands();
  auto loop = yielded.front().getDefiningOp<ForOp>();
  SmallVector<SWriteOp> writes;
  LookOp look;
  if (loop) {
    if (loop->getBlock() != body || !llvm::equal(loop.getResults(), yielded) ||
        !llvm::equal(loop.getInitArgs(), carried))
      return notTaken(refusal.why,
                      "a loop around it hands on another's result");
  } else {
    FailureOr<SmallVector<SWriteOp>> found = findWrites(body, carried, look);
    if (failed(found))
      return failure();
    writes = std::move(*found);
  }
  for (Operation &op : body->without_terminator()) {
    auto write = dyn_cast<SWriteOp>(op);
    if (&op == look)
      continue;
    if (isScalar(&op) || isNumberOfTile(&op)) {
      if (failed(cloneScalar(builder, &op, /*onTensors=*/false, mapping,
                             refusal.why)))
        return failure();
    } else if (write ? !llvm::is_contained(writes, write)
                     : !isa<SReadOp, CoordsOp, ForOp, linalg::LinalgOp,
                            tensor::EmptyOp>(op)) {
      return notTaken(refusal.why,
                      op.getName().getStringRef() +
                          " stands beside it in a loop over tiles");
    }
  }
  if (loop)
    return convertLoop(loop, dests);
  // The largest tile is the mainloop's own.
  auto largest = std::max_element(writes.begin(), writes.end(),
                                  [](SWriteOp one, SWriteOp other) {
                                    return one.getTileType().getNumElements() <
                                           other.getTileType().getNumElements();
                                  });
  MainloopOutput output = {dests[largest - writes.begin()], atomic, Value()};
  if (look) {
    output.bits = dests.back();
    output.background = look.getBackgroundAttr();
  }
  for (auto [write, dest] : llvm::zip(writes, dests))
    if (write != *largest)
      output.also.push_back({write, dest});
  return convertTile(*largest, output);
}

LogicalResult MainloopFormer::convertLoop(Operation *op,
                                          ArrayRef<Value> dests) {
  auto convert = [&](auto loop) -> LogicalResult {
    using LoopTy = decltype(loop);
    auto mapAll = [&](ValueRange values) {
      return llvm::map_to_vector(
          values, [&](Value v) { return mapping.lookupOrDefault(v); });
    };
    Value index = loop.getIndex();
    auto flat = LoopTy::create(
        builder, loop.getLoc(), mapAll(loop.getLower()),
        mapAll(loop.getUpper()), loop.getSteps(),
        index ? mapping.lookupOrDefault(index) : Value(),
        mapAll(loop.getGroup()), loop.getChunk(), /*inits=*/ValueRange(),
        [](OpBuilder &b, Location loc, ValueRange, Value, Value, ValueRange) {
          YieldOp::create(b, loc, ValueRange());
        });
    flat.setConflicts(loop.getConflicts());
    if (!outermost)
      outermost = flat;
    Block *body = loop.getBody();
    for (auto [from, to] :
         llvm::zip(body->getArguments().drop_back(dests.size()),
                   flat.getBody()->getArguments()))
      mapping.map(from, to);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(flat.getBody()->getTerminator());
    bool atomic = loop.getConflicts() == Conflicts::Atomic;
    for (auto outer = flat->template getParentOfType<ForallOp>(); outer;
         outer = outer->template getParentOfType<ForallOp>())
      atomic |= outer.getConflicts() == Conflicts::Atomic;
    return convertBody(body, dests, atomic);
  };
  if (auto loop = dyn_cast<ForallOp>(op))
    return convert(loop);
  return convert(cast<ForOp>(op));
}

/// Regions of a mainloop that failed may use each other's values.
static void eraseHalfMade(Operation *op) {
  op->dropAllReferences();
  op->erase();
}

LogicalResult MainloopFormer::convertKernel() {
  // The kernel as the outliner makes it: one loop, whose results go to the last
  // arguments.
  Operation *loop = nullptr;
  SmallVector<bufferization::MaterializeInDestinationOp> results;
  for (Operation &op : kernel.front().without_terminator()) {
    if (isa<ForallOp, ForOp>(op)) {
      if (loop)
        return notTaken(refusal.why, "its kernel has several loops over tiles");
      loop = &op;
    } else if (auto to =
                   dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      results.push_back(to);
    }
  }
  if (!loop || results.empty() ||
      !llvm::equal(loop->getResults(), results, [](Value value, auto to) {
        return to.getSource() == value;
      }))
    return notTaken(refusal.why, "its kernel is no loop over tiles of its "
                                 "results");
  builder.setInsertionPoint(loop);
  SmallVector<Value> dests = llvm::map_to_vector(
      results, [](auto result) -> Value { return result.getDest(); });
  if (failed(convertLoop(loop, dests))) {
    if (outermost)
      eraseHalfMade(outermost);
    return failure();
  }
  for (auto result : results)
    result.erase();
  loop->erase();
  return success();
}

LogicalResult MainloopFormer::convertInPlace(SWriteOp write) {
  Operation *before = write->getPrevNode();
  builder.setInsertionPoint(write);
  FailureOr<MainloopOp> mainloop =
      convertTile(write, {write.getDest(), /*atomic=*/false, /*bits=*/Value()});
  if (succeeded(mainloop)) {
    write.getResult().replaceAllUsesWith(mainloop->getResult());
    write.erase();
    return success();
  }
  while (write->getPrevNode() != before)
    eraseHalfMade(write->getPrevNode());
  return failure();
}

namespace {
struct FormMainloopsPass : pit::impl::PitFormMainloopsBase<FormMainloopsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    Location loc = getOperation().getLoc();
    if (!vectorWidth) {
      // Whatever fits the oldest GPU fits all.
      FailureOr<GpuTarget> target =
          chip.empty() ? FailureOr<GpuTarget>(getOldestGpuTarget())
                       : getGpuTarget(loc, chip);
      if (failed(target))
        return signalPassFailure();
      MainloopFormer former(getOperation(), tf32, *target);
      if (failed(former.convertKernel()) && explain)
        former.explain();
      return;
    }
    FailureOr<CpuTarget> target = getCpuTarget(loc, vectorWidth);
    if (failed(target))
      return signalPassFailure();
    SmallVector<SWriteOp> writes;
    getOperation().walk([&](SWriteOp write) {
      if (!write.isWhole() && write.getResult())
        writes.push_back(write);
    });
    for (SWriteOp write : writes) {
      MainloopFormer former(getOperation(), /*tf32=*/false, *target);
      if (failed(former.convertInPlace(write)) && explain)
        former.explain();
    }
    // Ops that mainloops compute now are dead.
    getOperation().walk([](ForallOp loop) {
      for (Operation &op :
           llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
        if (isOpTriviallyDead(&op))
          op.erase();
    });
  }
};
} // namespace
