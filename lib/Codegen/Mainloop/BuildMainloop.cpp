//===- BuildMainloop.cpp - The mainloop of one tile -----------------------===//

#include "BuildMainloop.h"

#include "Codegen/Common/TileInput.h"

#include "pit/Analysis/Padding.h"
#include "pit/Dialect/Pit/IR/NotTaken.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

/// An element that `init` or `finish` reads: of the tile of an SRead, at `map`
/// of the accumulator's dimensions.
using Extra = std::pair<SReadOp, AffineMap>;

/// Builds one mainloop beside the ops that it stands for.
class MainloopBuilder {
public:
  MainloopBuilder(OpBuilder &builder, Contractions contractions,
                  const MainloopOutput &output, IRMapping &mapping,
                  std::string &why)
      : builder(builder), loc(contractions.write.getLoc()),
        contractions(std::move(contractions)), output(output), mapping(mapping),
        why(why) {
    for (Contraction &contraction : this->contractions.list)
      sums.push_back(contraction.sum);
  }

  FailureOr<MainloopOp> build();

private:
  LogicalResult findExtras();
  LogicalResult createOp();
  void fillGroups();
  LogicalResult fillLoad();
  LogicalResult fillCompute();
  LogicalResult fillBody(const Contraction &contraction, ContractOp contract);
  /// Fills a region that begins with these elements of sums, and yields those
  /// of `tiles`.
  LogicalResult fillScalars(Region &region, ValueRange from, ValueRange tiles);

  SmallVector<Value> mapAll(ValueRange values);
  FailureOr<Value> memrefOf(Value tensor);
  FailureOr<Value> createView(SReadOp read);
  /// A block that knows the variables of all steps, and the scalars of
  /// `around`.
  void createSteps(Region &region, ArrayRef<ForOp> around, ValueRange ids);
  /// The scalar value of element `map` of a tile, `map` in terms of the
  /// accumulator's dimensions, at the end of `block`, whose last arguments are
  /// the extras.
  FailureOr<Value> element(Value tile, AffineMap map, Block *block);
  FailureOr<Value> inlineBody(linalg::LinalgOp op, AffineMap map, Block *block);

  /// The innermost loop over steps, if there is one.
  ForOp innermost() {
    return contractions.loops.empty() ? ForOp() : contractions.loops.back();
  }
  /// What has the ids of the steps, if they are gathered.
  Value list() { return innermost() ? innermost().getIndex() : Value(); }
  /// Is the group of the list another one for each step?
  bool groupsVary();
  RankedTensorType accumulator() {
    return cast<RankedTensorType>(sums.front().getType());
  }
  AffineMap identity() {
    return builder.getMultiDimIdentityMap(accumulator().getRank());
  }

  OpBuilder &builder;
  Location loc;
  Contractions contractions;
  SmallVector<Value> sums;
  const MainloopOutput &output;
  IRMapping &mapping; ///< old values to new ones
  std::string &why;

  MainloopOp mainloop;
  SmallVector<Extra> extras;
  SmallVector<SReadOp> reads; ///< of the steps: an SRead for each view
  /// What stands for elements of the sums; none before they are there.
  DenseMap<Value, Value> sumElements;
};

} // namespace

SmallVector<Value> MainloopBuilder::mapAll(ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value v) { return mapping.lookupOrDefault(v); });
}

FailureOr<Value> MainloopBuilder::memrefOf(Value tensor) {
  if (isa<RankedTensorType>(output.dest.getType()))
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

FailureOr<Value> MainloopBuilder::inlineBody(linalg::LinalgOp op, AffineMap map,
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

FailureOr<Value> MainloopBuilder::element(Value tile, AffineMap map,
                                          Block *block) {
  if (Value sumElement = sumElements.lookup(tile)) {
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
static LogicalResult collectExtras(Value tile, ValueRange sums, AffineMap map,
                                   SmallVectorImpl<Extra> &extras) {
  if (llvm::is_contained(sums, tile))
    return success();
  if (auto read = tile.getDefiningOp<SReadOp>()) {
    if (read.isWhole())
      return failure();
    Extra extra(read, map);
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
            operand.get(), sums,
            op.getMatchingIndexingMap(&operand).compose(iteration), extras)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The op and its regions
//===----------------------------------------------------------------------===//

bool MainloopBuilder::groupsVary() {
  return list() && llvm::any_of(innermost().getGroup(), [&](Value value) {
           return contractions.loops.front().getRegion().isAncestor(
               value.getParentRegion());
         });
}

LogicalResult MainloopBuilder::findExtras() {
  AffineMap map = identity();
  auto written = cast<RankedTensorType>(contractions.write.getTile().getType());
  if (written.getRank() != map.getNumDims() ||
      llvm::any_of(contractions.list,
                   [&](Contraction &contraction) {
                     return failed(
                         collectExtras(contraction.initial, {}, map, extras));
                   }) ||
      failed(collectExtras(contractions.write.getTile(), sums, map, extras)))
    return notTaken(why, "what is computed before or after it is not "
                         "element-wise on tiles that are read");
  return success();
}

FailureOr<Value> MainloopBuilder::createView(SReadOp read) {
  FailureOr<Value> src = memrefOf(read.getSrc());
  auto tile = cast<RankedTensorType>(read.getResult().getType());
  if (failed(src) || !tile.hasStaticShape())
    return notTaken(why, "a tile is read from no argument, or has a dynamic "
                         "extent");
  Type element = getElementTypeOrSelf(src->getType());
  // What is read wider is padded in its own type.
  TypedAttr pad = read.getPadAttr();
  if (pad && pad.getType() != element)
    return notTaken(why, "a tile is padded in another type than its tensor's");
  return ViewOp::create(builder, read.getLoc(),
                        VectorType::get(tile.getShape(), element), *src,
                        mapAll(read.getSubscripts()), pad)
      .getResult();
}

LogicalResult MainloopBuilder::createOp() {
  SmallVector<Value> extraViews;
  SmallVector<AffineMap> extraMaps;
  for (auto &[read, map] : extras) {
    FailureOr<Value> extra = createView(read);
    if (failed(extra))
      return failure();
    extraViews.push_back(*extra);
    extraMaps.push_back(map);
  }

  SmallVector<Value> lower, upper, group;
  SmallVector<int64_t> steps;
  for (ForOp loop : contractions.loops) {
    llvm::append_range(lower, mapAll(loop.getLower()));
    llvm::append_range(upper, mapAll(loop.getUpper()));
    llvm::append_range(steps, loop.getSteps());
  }
  Value ids = list();
  if (ids && !groupsVary())
    group = mapAll(innermost().getGroup());
  Type type = output.dest.getType();
  mainloop = MainloopOp::create(
      builder, loc, isa<RankedTensorType>(type) ? type : Type(), lower, upper,
      ids ? mapping.lookupOrDefault(ids) : Value(), group, extraViews,
      output.dest, mapAll(contractions.write.getSubscripts()), output.bits,
      output.background, steps, ids ? innermost().getChunk() : 0,
      builder.getAffineMapArrayAttr(extraMaps),
      contractions.write.getCombineAttr(),
      output.atomic && contractions.write.getCombineAttr());
  return success();
}

void MainloopBuilder::createSteps(Region &region, ArrayRef<ForOp> around,
                                  ValueRange ids) {
  Block *block = builder.createBlock(&region);
  auto take = [&](Value value) {
    mapping.map(value, block->addArgument(value.getType(), loc));
  };
  for (ForOp loop : contractions.loops)
    llvm::for_each(loop.getInductionVars(), take);
  llvm::for_each(ids, take);
  for (ForOp loop : around)
    for (Operation &inner : loop.getBody()->without_terminator())
      if (isScalar(&inner))
        builder.clone(inner, mapping);
}

void MainloopBuilder::fillGroups() {
  if (!groupsVary())
    return;
  createSteps(mainloop.getGroups(), ArrayRef(contractions.loops).drop_back(),
              {});
  YieldOp::create(builder, loc, mapAll(innermost().getGroup()));
}

LogicalResult MainloopBuilder::fillLoad() {
  SmallVector<Value> ids;
  if (list())
    ids = {innermost().getIds(), innermost().getPositions()};
  createSteps(mainloop.getLoad(), contractions.loops, ids);
  SmallVector<Value> views;
  for (Contraction &contraction : contractions.list)
    for (SReadOp read : contraction.reads) {
      // What two contractions read is loaded once.
      if (views.size() >= 2 && llvm::is_contained(reads, read))
        continue;
      FailureOr<Value> loaded = createView(read);
      if (failed(loaded))
        return failure();
      reads.push_back(read);
      views.push_back(*loaded);
    }
  YieldOp::create(builder, loc, views);
  return success();
}

LogicalResult MainloopBuilder::fillCompute() {
  Block *block = builder.createBlock(&mainloop.getCompute());
  for (Value view : mainloop.getLoad().front().getTerminator()->getOperands())
    block->addArgument(view.getType(), loc);
  auto type =
      VectorType::get(accumulator().getShape(), accumulator().getElementType());
  SmallVector<Value> results;
  for (Contraction &contraction : contractions.list) {
    SmallVector<Value> operands;
    for (auto [i, from] : llvm::enumerate(contraction.reads)) {
      auto *read = llvm::find(reads, from);
      // An op may multiply a tile by itself.
      if (i == 1 && &contraction == &contractions.list.front())
        read = reads.begin() + 1;
      operands.push_back(block->getArgument(read - reads.begin()));
    }
    auto contract = ContractOp::create(
        builder, contraction.op.getLoc(), type, operands[0], operands[1],
        block->addArgument(type, loc), ArrayRef(operands).drop_front(2),
        contractions.tile, builder.getAffineMapArrayAttr(contractions.maps),
        /*tf32=*/false);
    results.push_back(contract.getResult());
    OpBuilder::InsertionGuard guard(builder);
    if (failed(fillBody(contraction, contract)))
      return failure();
  }
  YieldOp::create(builder, loc, results);
  return success();
}

LogicalResult MainloopBuilder::fillBody(const Contraction &contraction,
                                        ContractOp contract) {
  Block *block = builder.createBlock(&contract.getBody());
  for (Value tile : contract.getOperands())
    block->addArgument(getElementTypeOrSelf(tile.getType()), loc);
  IRMapping scalars;
  Block *body = linalg::LinalgOp(contraction.op).getBlock();
  auto take = [&](unsigned argument, unsigned operand) {
    BlockArgument from = body->getArgument(argument);
    scalars.map(from, convertElements(builder, loc, block->getArgument(operand),
                                      from.getType()));
  };
  for (auto [i, input] : llvm::enumerate(contraction.inputs))
    take(input, i < 2 ? i : i + 1);
  take(body->getNumArguments() - 1, 2);
  for (Operation &scalar : body->without_terminator()) {
    if (scalar.getNumRegions() || !isPure(&scalar) || mayTrap(&scalar))
      return notTaken(why,
                      scalar.getName().getStringRef() + " in it is not pure");
    for (Value operand : scalar.getOperands())
      if (operand.getParentBlock() != body)
        scalars.map(operand, mapping.lookupOrDefault(operand));
    builder.clone(scalar, scalars);
  }
  YieldOp::create(
      builder, loc,
      scalars.lookupOrDefault(body->getTerminator()->getOperand(0)));
  return success();
}

LogicalResult MainloopBuilder::fillScalars(Region &region, ValueRange from,
                                           ValueRange tiles) {
  Block *block = builder.createBlock(&region);
  sumElements.clear();
  for (Value sum : from)
    sumElements[sum] = block->addArgument(accumulator().getElementType(), loc);
  for (Value extra : mainloop.getExtras())
    block->addArgument(getElementTypeOrSelf(extra.getType()), loc);
  SmallVector<Value> results;
  for (Value tile : tiles) {
    FailureOr<Value> value = element(tile, identity(), block);
    if (failed(value))
      return notTaken(why, "its first values or its epilogue are no scalar "
                           "code on elements that are read");
    results.push_back(convertElements(builder, value->getLoc(), *value,
                                      getElementTypeOrSelf(tile.getType())));
  }
  YieldOp::create(builder, loc, results);
  return success();
}

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

FailureOr<MainloopOp> MainloopBuilder::build() {
  if (failed(findExtras()) || failed(createOp()))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  fillGroups();
  auto initial = llvm::map_to_vector(
      contractions.list,
      [](const Contraction &contraction) { return contraction.initial; });
  if (failed(fillLoad()) || failed(fillCompute()) ||
      failed(fillScalars(mainloop.getInit(), {}, initial)) ||
      failed(fillScalars(mainloop.getFinish(), sums,
                         contractions.write.getTile())))
    return failure();
  if (mixesRegions(mainloop))
    return notTaken(why, "its epilogue uses a number of a step");
  return mainloop;
}

FailureOr<MainloopOp> mlir::pit::buildMainloop(OpBuilder &builder,
                                               Contractions contractions,
                                               const MainloopOutput &output,
                                               IRMapping &mapping,
                                               std::string &why) {
  return MainloopBuilder(builder, std::move(contractions), output, mapping, why)
      .build();
}
