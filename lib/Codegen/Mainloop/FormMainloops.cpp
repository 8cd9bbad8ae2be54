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
// add tiles to memory in each step, and have several SWrites behind it
// (BuildTileBody.cpp). For the CPU the loop
// may be a nest whose innermost loop has the ids.
//
// All of it becomes one pit.mainloop: of a kernel on memrefs, since its tensors
// are arguments, and for the CPU on tensors, tile by tile. A kernel, or a tile,
// with anything else stays as it is.
//
//===----------------------------------------------------------------------===//

#include "BuildMainloop.h"

#include "Codegen/Common/ContractionInfo.h"
#include "Codegen/GPU/Plan/BodyPlan.h"

#include "pit/Codegen/CPU/Mainloops.h"
#include "pit/Codegen/Mainloop/Passes.h"
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

  Refused convertKernel();
  /// One tile of the CPU's, on tensors.
  Refused convertInPlace(SWriteOp write);
  /// Says why the last one was not converted, if it is a contraction.
  void explain(const Refusal &refusal);

private:
  /// `dests` is where the loop's results go.
  Refused convertLoop(Operation *loop, ArrayRef<Value> dests);
  Refused convertBody(Block *body, ArrayRef<Value> dests, bool atomic);
  OrRefusal<SmallVector<SWriteOp>> findWrites(Block *body, ValueRange carried,
                                              ScanOp &scan);
  OrRefusal<MainloopOp> convertTile(SWriteOp write,
                                    const MainloopOutput &output);
  /// `refusal` says why the tile is not of contractions alone.
  OrRefusal<MainloopOp> convertTileBody(SWriteOp write,
                                        const MainloopOutput &output,
                                        const Refusal &refusal);

  func::FuncOp kernel;
  bool tf32; ///< may f32 be rounded to tf32?
  AnyTarget target;
  const CpuTarget *cpu = std::get_if<CpuTarget>(&target); ///< or null
  const GpuTarget *gpu = std::get_if<GpuTarget>(&target); ///< or null
  OpBuilder builder;
  IRMapping mapping;              ///< old values to new ones
  Operation *outermost = nullptr; ///< of the new loops
  linalg::LinalgOp contraction;   ///< the last one that was scanned, or null
};

} // namespace

void MainloopFormer::explain(const Refusal &refusal) {
  // The ops around the contraction may have been refused before it.
  if (!cpu)
    kernel.walk([&](linalg::LinalgOp op) {
      if (!contraction && op.getNumReductionLoops() > 0 &&
          op.getNumDpsInputs() > 1)
        contraction = op;
    });
  if (contraction)
    explainRefusal(contraction, "forms no mainloop", refusal);
}

/// Are the elements of what it multiplies, and of its sums, f32?
static bool computesF32(MainloopOp mainloop) {
  return llvm::all_of(mainloop.getContraction().getBody().getArgumentTypes(),
                      [](Type type) { return type.isF32(); });
}

OrRefusal<MainloopOp>
MainloopFormer::convertTile(SWriteOp write, const MainloopOutput &output) {
  OrRefusal<Contractions> contractions =
      findContractions(write, cpu != nullptr, contraction);
  if (contractions && !output.also.empty())
    contractions = refuse("it has further results");
  if (!contractions && !cpu)
    return convertTileBody(write, output, contractions.refusal());
  if (!contractions)
    return contractions.refusal();
  OrRefusal<MainloopOp> mainloop =
      buildMainloop(builder, std::move(*contractions), output, mapping);
  if (!mainloop)
    return mainloop.refusal();
  if (tf32 && !mainloop->getNumScales() && computesF32(*mainloop) &&
      isMultiplyAdd(*mainloop))
    for (unsigned i = 0; i < mainloop->getNumAccumulators(); ++i)
      mainloop->getContraction(i).setTf32(true);
  if (Refused refused = cpu ? cpu::checkMainloop(*mainloop, *cpu) : Refused())
    return *refused;
  return mainloop;
}

/// A loop that is no contraction of tiles that are read may be one that
/// computes more.
OrRefusal<MainloopOp>
MainloopFormer::convertTileBody(SWriteOp write, const MainloopOutput &output,
                                const Refusal &refusal) {
  OrRefusal<MainloopOp> mainloop =
      buildTileBody(builder, write, output, mapping);
  if (mainloop)
    if (OrRefusal<TileBodyInfo> info = describeTileBody(*mainloop); !info)
      mainloop = info.refusal();
  if (!mainloop)
    return refuse(refusal.why, "; nor a tile body, because ",
                  mainloop.refusal().why);
  if (Refused refused = cuda::checkBody(*mainloop, *gpu))
    return *refused;
  return mainloop;
}

//===----------------------------------------------------------------------===//
// Loops around tiles
//===----------------------------------------------------------------------===//

/// The scan of all that `write` writes, which a loop yields second; none, if it
/// is not one that the loop's mainloop can do.
static ScanOp findScan(Block *body, SWriteOp write) {
  auto scan = body->getTerminator()->getOperand(1).getDefiningOp<ScanOp>();
  if (!scan || !write || scan.getSource() != write.getResult() ||
      scan.getSubscripts() != write.getSubscripts() ||
      scan.getTile() != write.getTileType().getShape() ||
      scan.getTile().back() % kWordBits != 0 || write.getCombine() ||
      scan.getBitmap() != body->getArguments().back())
    return {};
  return scan;
}

/// Is `value` what the loop over steps makes of `argument`, to which they add?
static bool isAddedInSteps(Value value, Value argument) {
  auto steps = value.getDefiningOp<ForOp>();
  return steps &&
         steps.getInitArgs()[cast<OpResult>(value).getResultNumber()] ==
             argument;
}

/// The SWrites that the body yields, each of a tile of what it carries. If
/// there is one, `scan` may follow it.
OrRefusal<SmallVector<SWriteOp>>
MainloopFormer::findWrites(Block *body, ValueRange carried, ScanOp &scan) {
  SmallVector<SWriteOp> writes;
  for (auto [argument, yielded] :
       llvm::zip(carried, body->getTerminator()->getOperands())) {
    Operation *last = yielded.getDefiningOp();
    if (!last || last->getBlock() != body)
      return refuse("a loop around it hands on another's result");
    auto write = dyn_cast<SWriteOp>(last);
    if (write && write.getDest() == argument && !write.isWhole()) {
      writes.push_back(write);
      continue;
    }
    if (isAddedInSteps(yielded, argument))
      continue;
    bool isSecond = writes.size() == 1 && carried.size() == 2;
    if (isSecond && (scan = findScan(body, writes.front())))
      continue;
    return refuse(last->getName().getStringRef(),
                  " around it does not write a tile of what "
                  "the loop carries");
  }
  if (writes.empty())
    return refuse("a loop around it writes no tile");
  for (SWriteOp write : writes)
    if (write.getCombine() && writes.size() > 1)
      return refuse("a loop around it adds to one of several results");
  return writes;
}

Refused MainloopFormer::convertBody(Block *body, ArrayRef<Value> dests,
                                    bool atomic) {
  auto carried = body->getArguments().take_back(dests.size());
  for (auto [argument, dest] : llvm::zip(carried, dests))
    mapping.map(argument, dest);
  OperandRange yielded = body->getTerminator()->getOperands();
  auto loop = yielded.front().getDefiningOp<ForOp>();
  SmallVector<SWriteOp> writes;
  ScanOp scan;
  // A loop over steps carries tiles, too.
  if (loop && !llvm::equal(loop.getResults(), yielded) &&
      isAddedInSteps(yielded.front(), carried.front()))
    loop = {};
  if (loop) {
    if (loop->getBlock() != body || !llvm::equal(loop.getResults(), yielded) ||
        !llvm::equal(loop.getInitArgs(), carried))
      return refuse("a loop around it hands on another's result");
  } else {
    OrRefusal<SmallVector<SWriteOp>> found = findWrites(body, carried, scan);
    if (!found)
      return found.refusal();
    writes = std::move(*found);
  }
  for (Operation &op : body->without_terminator()) {
    auto write = dyn_cast<SWriteOp>(op);
    if (&op == scan)
      continue;
    if (isScalar(&op) || isNumberOfTile(&op)) {
      if (Refused refused =
              cloneScalar(builder, &op, /*onTensors=*/false, mapping))
        return refused;
    } else if (write ? !llvm::is_contained(writes, write)
                     : !isa<SReadOp, CoordsOp, ForOp, linalg::LinalgOp,
                            tensor::EmptyOp>(op)) {
      return refuse(op.getName().getStringRef(),
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
  auto destOf = [&](SWriteOp write) { return mapping.lookup(write.getDest()); };
  MainloopOutput output = {destOf(*largest), atomic, Value()};
  if (scan) {
    output.bits = dests.back();
    output.background = scan.getBackgroundAttr();
  }
  for (SWriteOp write : writes)
    if (write != *largest)
      output.also.push_back({write, destOf(write)});
  return convertTile(*largest, output);
}

Refused MainloopFormer::convertLoop(Operation *op, ArrayRef<Value> dests) {
  auto convert = [&](auto loop) -> Refused {
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

Refused MainloopFormer::convertKernel() {
  // The kernel as the outliner makes it: one loop, whose results go to the last
  // arguments.
  Operation *loop = nullptr;
  SmallVector<bufferization::MaterializeInDestinationOp> results;
  for (Operation &op : kernel.front().without_terminator()) {
    if (isa<ForallOp, ForOp>(op)) {
      if (loop)
        return refuse("its kernel has several loops over tiles");
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
    return refuse("its kernel is no loop over tiles of its "
                  "results");
  builder.setInsertionPoint(loop);
  SmallVector<Value> dests = llvm::map_to_vector(
      results, [](auto result) -> Value { return result.getDest(); });
  if (Refused refused = convertLoop(loop, dests)) {
    if (outermost)
      eraseHalfMade(outermost);
    return refused;
  }
  for (auto result : results)
    result.erase();
  loop->erase();
  return {};
}

Refused MainloopFormer::convertInPlace(SWriteOp write) {
  Operation *before = write->getPrevNode();
  builder.setInsertionPoint(write);
  OrRefusal<MainloopOp> mainloop = convertTile(
      write, {write.getDest(), /*atomic=*/false, /*bitmap=*/Value()});
  if (mainloop) {
    write.getResult().replaceAllUsesWith(mainloop->getResult());
    write.erase();
    return {};
  }
  while (write->getPrevNode() != before)
    eraseHalfMade(write->getPrevNode());
  return mainloop.refusal();
}

namespace {
struct FormMainloopsPass : pit::impl::PitFormMainloopsBase<FormMainloopsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    Location loc = getOperation().getLoc();
    if (!vectorWidth) {
      // A tile that fits the oldest GPU fits all.
      FailureOr<GpuTarget> target =
          chip.empty() ? FailureOr<GpuTarget>(getOldestGpuTarget())
                       : getGpuTarget(loc, chip);
      if (failed(target))
        return signalPassFailure();
      MainloopFormer former(getOperation(), tf32, *target);
      if (Refused refused = former.convertKernel(); refused && explain)
        former.explain(*refused);
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
      if (Refused refused = former.convertInPlace(write); refused && explain)
        former.explain(*refused);
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
