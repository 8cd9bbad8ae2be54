//===- FormMainloops.cpp - Contractions of tiles become mainloops ---------===//
//
// In a kernel (pit-outline-kernels) the loop over tiles of a contraction looks
// like this, with further loops around all of it or none:
//
//   acc = tile from SReads and constants
//   sum = pit.for iter_args(acc) { a = SRead; b = SRead; linalg op(a, b, acc) }
//   tile = element-wise ops on sum, SReads and constants
//   SWrite tile
//
// For the CPU the loop may be a nest whose innermost loop has the ids.
//
// All of it becomes one pit.mainloop: of a kernel on memrefs, since its tensors
// are arguments, and for the CPU on tensors, tile by tile. Where something else
// is met the kernel, or the tile, stays as it is.
//
//===----------------------------------------------------------------------===//

#include "Codegen/Common/ContractionInfo.h"
#include "Codegen/Common/TileInput.h"
#include "Codegen/GPU/Ampere/AmperePlan.h"
#include "MainloopMatch.h"

#include "pit/Analysis/Padding.h"
#include "pit/Codegen/CPU/Mainloops.h"
#include "pit/Codegen/Mainloop/Passes.h"
#include "pit/Dialect/Pit/IR/NotTaken.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

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
  MainloopFormer(func::FuncOp function, bool tf32,
                 std::optional<CpuTarget> cpu = std::nullopt)
      : kernel(function), tf32(tf32), cpu(cpu), builder(function) {}

  LogicalResult convertKernel();
  /// One tile of the CPU's, on tensors.
  LogicalResult convertInPlace(SWriteOp write);
  /// Says why the last one was not converted, if it is a contraction.
  void explain();

private:
  LogicalResult convertLoop(Operation *loop, Value dest);
  LogicalResult convertBody(Block *body, Value argument, Value dest,
                            bool atomic);
  LogicalResult convertTile(SWriteOp write, Value dest, bool atomic);
  FailureOr<Value> memrefOf(Value tensor);
  /// The scalar value of element `map` of a tile, `map` in terms of the
  /// accumulator's dimensions; extras are added as they are met.
  FailureOr<Value> element(Value tile, AffineMap map, Block *block);
  FailureOr<Value> inlineBody(linalg::LinalgOp op, AffineMap map, Block *block);

  func::FuncOp kernel;
  bool tf32;                    ///< may f32 be rounded to tf32?
  std::optional<CpuTarget> cpu; ///< none: a kernel of a GPU
  OpBuilder builder;
  IRMapping mapping;              ///< old values to new ones
  Operation *outermost = nullptr; ///< of the new loops

  // Of the tile that is being converted:
  Value sum;        ///< result of the loop over steps
  Value sumElement; ///< what stands for it; null before it is there
  SmallVector<std::pair<SReadOp, AffineMap>> extras;
  MainloopOp mainloop;
  MainloopRefusal refusal;
};

} // namespace

void MainloopFormer::explain() {
  // What stands around the contraction may have been refused before it.
  if (!cpu)
    kernel.walk([&](linalg::LinalgOp op) {
      if (!refusal.op && op.getNumReductionLoops() > 0 &&
          op.getNumDpsInputs() > 1)
        refusal.op = op;
    });
  if (refusal.op)
    explainNotTaken(refusal.op, "forms no mainloop", refusal.why);
}

FailureOr<Value> MainloopFormer::memrefOf(Value tensor) {
  if (cpu)
    return tensor;
  if (Value known = mapping.lookupOrNull(tensor))
    if (isa<MemRefType>(known.getType()))
      return known;
  if (auto from = tensor.getDefiningOp<bufferization::ToTensorOp>())
    return from.getBuffer();
  return failure();
}

//===----------------------------------------------------------------------===//
// Elements of tiles
//===----------------------------------------------------------------------===//

FailureOr<Value> MainloopFormer::inlineBody(linalg::LinalgOp op, AffineMap map,
                                            Block *block) {
  AffineMap pointwise = getPointwiseMap(op);
  if (!pointwise || op.hasIndexSemantics())
    return failure();
  AffineMap iteration = pointwise.compose(map);
  IRMapping scalars;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    if (arg.use_empty())
      continue;
    if (!isa<ShapedType>(operand.get().getType())) {
      scalars.map(arg, mapping.lookupOrDefault(operand.get()));
      continue;
    }
    FailureOr<Value> value =
        element(operand.get(),
                op.getMatchingIndexingMap(&operand).compose(iteration), block);
    if (failed(value))
      return failure();
    scalars.map(arg, *value);
  }
  auto inside = OpBuilder::atBlockEnd(block);
  for (Operation &scalar : op.getBlock()->without_terminator()) {
    if (scalar.getNumRegions() || !isPure(&scalar) || mayTrap(&scalar))
      return failure();
    for (Value operand : scalar.getOperands())
      if (!scalars.contains(operand) &&
          operand.getParentBlock() != op.getBlock())
        scalars.map(operand, mapping.lookupOrDefault(operand));
    inside.clone(scalar, scalars);
  }
  return scalars.lookupOrDefault(op.getBlock()->getTerminator()->getOperand(0));
}

FailureOr<Value> MainloopFormer::element(Value tile, AffineMap map,
                                         Block *block) {
  if (tile == sum && sumElement) {
    if (!map.isIdentity())
      return failure();
    return sumElement;
  }
  if (auto sread = tile.getDefiningOp<SReadOp>()) {
    auto same = llvm::find_if(extras, [&](auto &extra) {
      return extra.first == sread && extra.second == map;
    });
    if (same == extras.end())
      return failure();
    Value read = block->getArgument(block->getNumArguments() - extras.size() +
                                    (same - extras.begin()));
    auto inside = OpBuilder::atBlockEnd(block);
    // What is read wider than it lies in memory widens at once.
    return convertElements(inside, read.getLoc(), read,
                           getElementTypeOrSelf(tile.getType()));
  }
  auto constant = [&](Attribute value) -> FailureOr<Value> {
    auto inside = OpBuilder::atBlockEnd(block);
    return arith::ConstantOp::create(inside, tile.getLoc(),
                                     cast<TypedAttr>(value))
        .getResult();
  };
  DenseElementsAttr splat;
  if (matchPattern(tile, m_Constant(&splat)) && splat.isSplat())
    return constant(splat.getSplatValue<Attribute>());
  auto op = tile.getDefiningOp<linalg::LinalgOp>();
  if (!op)
    return failure();
  if (auto fill = dyn_cast<linalg::FillOp>(*op)) {
    Attribute value;
    if (!matchPattern(fill.getInputs()[0], m_Constant(&value)))
      return mapping.lookupOrDefault(fill.getInputs()[0]);
    return constant(value);
  }
  return inlineBody(op, map, block);
}

/// Finds the SReads from which a tile is computed, as element() will meet them.
static LogicalResult
collectExtras(Value tile, Value sum, AffineMap map,
              SmallVectorImpl<std::pair<SReadOp, AffineMap>> &extras) {
  if (tile == sum)
    return success();
  if (auto read = tile.getDefiningOp<SReadOp>()) {
    if (read.isWhole())
      return failure();
    std::pair<SReadOp, AffineMap> extra(read, map);
    if (!llvm::is_contained(extras, extra))
      extras.push_back(extra);
    return success();
  }
  auto op = tile.getDefiningOp<linalg::LinalgOp>();
  if (!op || isa<linalg::FillOp>(*op))
    return success();
  AffineMap pointwise = getPointwiseMap(op);
  if (!pointwise)
    return failure();
  AffineMap iteration = pointwise.compose(map);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<ShapedType>(operand.get().getType()) &&
        !op.getMatchingBlockArgument(&operand).use_empty() &&
        failed(collectExtras(
            operand.get(), sum,
            op.getMatchingIndexingMap(&operand).compose(iteration), extras)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

/// Does a region of the mainloop use what another one defines, as the number of
/// a step that only the loads know?
static bool mixesRegions(MainloopOp mainloop) {
  bool mixes = false;
  for (Region &region : mainloop->getRegions())
    region.walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        Region *from = operand.getParentRegion();
        mixes |= mainloop->isAncestor(from->getParentOp()) &&
                 !region.isAncestor(from);
      }
    });
  return mixes;
}

LogicalResult MainloopFormer::convertTile(SWriteOp write, Value dest,
                                          bool atomic) {
  Location loc = write.getLoc();
  FailureOr<Contraction> found =
      findContraction(write, cpu.has_value(), refusal);
  if (failed(found))
    return failure();
  std::string &why = refusal.why;
  sum = found->sum;
  ArrayRef<ForOp> loops = found->loops;
  linalg::LinalgOp op = found->op;
  Value initial = found->initial;
  ArrayRef<int64_t> tile = found->tile;

  // Elements that init and finish read.
  extras.clear();
  auto accType = cast<RankedTensorType>(sum.getType());
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(accType.getRank(), loc.getContext());
  if (cast<RankedTensorType>(write.getTile().getType()).getRank() !=
          accType.getRank() ||
      failed(collectExtras(initial, Value(), identity, extras)) ||
      failed(collectExtras(write.getTile(), sum, identity, extras)))
    return notTaken(why, "what is computed before or after it is not "
                         "element-wise on tiles that are read");

  auto mapAll = [&](ValueRange values) {
    return llvm::map_to_vector(
        values, [&](Value v) { return mapping.lookupOrDefault(v); });
  };
  auto view = [&](OpBuilder &b, SReadOp read) -> FailureOr<Value> {
    FailureOr<Value> src = memrefOf(read.getSrc());
    auto tile = cast<RankedTensorType>(read.getResult().getType());
    if (failed(src) || !tile.hasStaticShape())
      return notTaken(why, "a tile is read from no argument, or has a dynamic "
                           "extent");
    Type element = getElementTypeOrSelf(src->getType());
    // What is read wider is padded in its own type.
    TypedAttr pad = read.getPadAttr();
    if (pad && pad.getType() != element)
      return notTaken(why,
                      "a tile is padded in another type than its tensor's");
    return ViewOp::create(b, read.getLoc(),
                          VectorType::get(tile.getShape(), element), *src,
                          mapAll(read.getSubscripts()), pad)
        .getResult();
  };
  SmallVector<Value> extraViews;
  SmallVector<AffineMap> extraMaps;
  SmallVector<Type> extraTypes;
  for (auto &[read, map] : extras) {
    FailureOr<Value> extra = view(builder, read);
    if (failed(extra))
      return failure();
    extraViews.push_back(*extra);
    extraMaps.push_back(map);
    extraTypes.push_back(cast<VectorType>(extra->getType()).getElementType());
  }

  SmallVector<Value> lower, upper, group;
  SmallVector<int64_t> steps;
  for (ForOp loop : loops) {
    llvm::append_range(lower, mapAll(loop.getLower()));
    llvm::append_range(upper, mapAll(loop.getUpper()));
    llvm::append_range(steps, loop.getSteps());
  }
  ForOp innermost = loops.empty() ? ForOp() : loops.back();
  Value list = innermost ? innermost.getIndex() : Value();
  // Is the group another one for each step?
  bool groups = list && llvm::any_of(innermost.getGroup(), [&](Value value) {
                  return ForOp(loops.front())
                      .getRegion()
                      .isAncestor(value.getParentRegion());
                });
  if (list && !groups)
    group = mapAll(innermost.getGroup());
  mainloop = MainloopOp::create(
      builder, loc,
      isa<RankedTensorType>(dest.getType()) ? dest.getType() : Type(), lower,
      upper, list ? mapping.lookupOrDefault(list) : Value(), group, extraViews,
      dest, mapAll(write.getSubscripts()), steps,
      list ? innermost.getChunk() : 0, tile,
      builder.getAffineMapArrayAttr(found->maps),
      builder.getAffineMapArrayAttr(extraMaps), write.getCombineAttr(),
      atomic && write.getCombineAttr(), /*tf32=*/false);

  OpBuilder::InsertionGuard guard(builder);
  // A block that knows the variables of all steps, and the scalars of `around`.
  auto createSteps = [&](Region &region, ArrayRef<ForOp> around,
                         ValueRange ids) {
    Block *block = builder.createBlock(&region);
    auto take = [&](Value value) {
      mapping.map(value, block->addArgument(value.getType(), loc));
    };
    for (ForOp loop : loops)
      llvm::for_each(loop.getInductionVars(), take);
    llvm::for_each(ids, take);
    for (ForOp loop : around)
      for (Operation &inner : loop.getBody()->without_terminator())
        if (isScalar(&inner))
          builder.clone(inner, mapping);
  };
  if (groups) {
    createSteps(mainloop.getGroups(), loops.drop_back(), {});
    YieldOp::create(builder, loc, mapAll(innermost.getGroup()));
  }
  // load
  createSteps(mainloop.getLoad(), loops,
              list ? ValueRange{innermost.getIds(), innermost.getPositions()}
                   : ValueRange());
  SmallVector<Value> views;
  for (SReadOp read : found->reads) {
    FailureOr<Value> loaded = view(builder, read);
    if (failed(loaded))
      return failure();
    views.push_back(*loaded);
  }
  YieldOp::create(builder, loc, views);

  // compute
  Block *block = builder.createBlock(&mainloop.getCompute());
  Type accumulator = accType.getElementType();
  SmallVector<Type> types;
  for (Value v : views)
    types.push_back(cast<VectorType>(v.getType()).getElementType());
  types.push_back(accumulator);
  block->addArguments(types, SmallVector<Location>(3, loc));
  {
    IRMapping scalars;
    Block *body = op.getBlock();
    auto inside = OpBuilder::atBlockEnd(block);
    for (unsigned i = 0; i < 3; ++i)
      scalars.map(body->getArgument(i),
                  convertElements(inside, loc, block->getArgument(i),
                                  body->getArgument(i).getType()));
    for (Operation &scalar : body->without_terminator()) {
      if (scalar.getNumRegions() || !isPure(&scalar) || mayTrap(&scalar))
        return notTaken(why,
                        scalar.getName().getStringRef() + " in it is not pure");
      for (Value operand : scalar.getOperands())
        if (operand.getParentBlock() != body)
          scalars.map(operand, mapping.lookupOrDefault(operand));
      inside.clone(scalar, scalars);
    }
    YieldOp::create(
        inside, loc,
        scalars.lookupOrDefault(body->getTerminator()->getOperand(0)));
  }

  // init and finish
  auto scalarRegion = [&](Region &region, Value tileValue) -> LogicalResult {
    Block *inside = builder.createBlock(&region);
    bool finishing = &region == &mainloop.getFinish();
    if (finishing)
      inside->addArgument(accumulator, loc);
    sumElement = finishing ? inside->getArgument(0) : Value();
    inside->addArguments(extraTypes,
                         SmallVector<Location>(extraTypes.size(), loc));
    FailureOr<Value> value = element(tileValue, identity, inside);
    if (failed(value))
      return failure();
    Type to = getElementTypeOrSelf(tileValue.getType());
    auto b = OpBuilder::atBlockEnd(inside);
    value = convertElements(b, value->getLoc(), *value, to);
    YieldOp::create(b, loc, *value);
    return success();
  };
  if (failed(scalarRegion(mainloop.getInit(), initial)) ||
      failed(scalarRegion(mainloop.getFinish(), write.getTile())))
    return notTaken(why, "its first values or its epilogue are no scalar code "
                         "on elements that are read");
  if (mixesRegions(mainloop))
    return notTaken(why, "its epilogue uses a number of a step");
  mainloop.setTf32(tf32 && types[0].isF32() && types[1].isF32() &&
                   accumulator.isF32() && isMultiplyAdd(mainloop));
  if (cpu)
    return success(cpu::fitsMainloop(mainloop, *cpu, why));
  // Whatever fits the oldest GPU fits all.
  return success(cuda::canRunAmpere(mainloop, getOldestGpuTarget(), why));
}

//===----------------------------------------------------------------------===//
// Loops around tiles
//===----------------------------------------------------------------------===//

LogicalResult MainloopFormer::convertBody(Block *body, Value argument,
                                          Value dest, bool atomic) {
  mapping.map(argument, dest);
  Value yielded = body->getTerminator()->getOperand(0);
  Operation *last = yielded.getDefiningOp();
  if (!last || last->getBlock() != body)
    return notTaken(refusal.why, "a loop around it hands on another's result");
  auto write = dyn_cast<SWriteOp>(last);
  auto loop = dyn_cast<ForOp>(last);
  if (write ? write.getDest() != argument || write.isWhole()
            : !loop || loop.getNumResults() != 1 ||
                  loop.getInitArgs()[0] != argument)
    return notTaken(refusal.why, last->getName().getStringRef() +
                                     " around it does not write a tile of what "
                                     "the loop carries");
  for (Operation &op : body->without_terminator()) {
    if (isScalar(&op))
      builder.clone(op, mapping);
    else if (!isa<SReadOp, ForOp, linalg::LinalgOp, tensor::EmptyOp, SWriteOp>(
                 op) ||
             (isa<SWriteOp>(op) && &op != last))
      return notTaken(refusal.why,
                      op.getName().getStringRef() +
                          " stands beside it in a loop over tiles");
  }
  return write ? convertTile(write, dest, atomic) : convertLoop(loop, dest);
}

LogicalResult MainloopFormer::convertLoop(Operation *op, Value dest) {
  auto convert = [&](auto loop) -> LogicalResult {
    using LoopTy = decltype(loop);
    if (loop.getNumResults() != 1)
      return notTaken(refusal.why, "a loop around it writes " +
                                       Twine(loop.getNumResults()) +
                                       " tensors");
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
    for (auto [from, to] : llvm::zip(body->getArguments().drop_back(),
                                     flat.getBody()->getArguments()))
      mapping.map(from, to);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(flat.getBody()->getTerminator());
    bool atomic = loop.getConflicts() == Conflicts::Atomic;
    for (auto outer = flat->template getParentOfType<ForallOp>(); outer;
         outer = outer->template getParentOfType<ForallOp>())
      atomic |= outer.getConflicts() == Conflicts::Atomic;
    return convertBody(body, body->getArguments().back(), dest, atomic);
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
  // What the outliner made: one loop, whose result goes to the last argument.
  Operation *loop = nullptr;
  bufferization::MaterializeInDestinationOp result;
  for (Operation &op : kernel.front().without_terminator()) {
    if (isa<ForallOp, ForOp>(op)) {
      if (loop)
        return notTaken(refusal.why, "its kernel has several loops over tiles");
      loop = &op;
    } else if (auto to =
                   dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      if (result)
        return notTaken(refusal.why, "its kernel has several results");
      result = to;
    }
  }
  if (!loop || !result || loop->getNumResults() != 1 ||
      result.getSource() != loop->getResult(0))
    return notTaken(refusal.why, "its kernel is no loop over tiles of one "
                                 "result");
  builder.setInsertionPoint(loop);
  if (failed(convertLoop(loop, result.getDest()))) {
    if (outermost)
      eraseHalfMade(outermost);
    return failure();
  }
  result.erase();
  loop->erase();
  return success();
}

LogicalResult MainloopFormer::convertInPlace(SWriteOp write) {
  Operation *before = write->getPrevNode();
  builder.setInsertionPoint(write);
  if (succeeded(convertTile(write, write.getDest(), /*atomic=*/false))) {
    write.getResult().replaceAllUsesWith(mainloop.getResult());
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
    if (!vectorWidth) {
      MainloopFormer former(getOperation(), tf32);
      if (failed(former.convertKernel()) && explain)
        former.explain();
      return;
    }
    FailureOr<CpuTarget> target =
        getCpuTarget(getOperation().getLoc(), vectorWidth);
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
    // What mainloops compute now.
    getOperation().walk([](ForallOp loop) {
      for (Operation &op :
           llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
        if (isOpTriviallyDead(&op))
          op.erase();
    });
  }
};
} // namespace
