//===- MainloopBuilder.cpp - The mainloop of one tile ---------------------===//

#include "MainloopBuilder.h"

#include "Codegen/Common/TileInput.h"

#include "pit/Analysis/Padding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Operands of a mainloop
//===----------------------------------------------------------------------===//

static FailureOr<Value> memrefOf(Value tensor, bool onTensors,
                                 const IRMapping &mapping) {
  if (onTensors)
    return tensor;
  if (Value known = mapping.lookupOrNull(tensor))
    if (isa<MemRefType>(known.getType()))
      return known;
  if (auto from = tensor.getDefiningOp<bufferization::ToTensorOp>())
    return from.getBuffer();
  return failure();
}

OrRefusal<Value> mlir::pit::createTileSource(OpBuilder &builder, Operation *op,
                                             bool onTensors,
                                             const IRMapping &mapping) {
  auto tile = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto coords = dyn_cast<CoordsOp>(op))
    return CoordsOp::create(
               builder, coords.getLoc(),
               VectorType::get(tile.getShape(), tile.getElementType()),
               mapping.lookupOrDefault(coords.getIds()), /*dest=*/Value())
        .getResult();
  auto read = cast<SReadOp>(op);
  FailureOr<Value> src = memrefOf(read.getSrc(), onTensors, mapping);
  if (failed(src) || !tile.hasStaticShape())
    return refuse("a tile is read from no argument, or has a dynamic "
                  "extent");
  Type element = getElementTypeOrSelf(src->getType());
  // An operand that is widened is padded in its own type.
  TypedAttr pad = read.getPadAttr();
  if (pad && pad.getType() != element)
    return refuse("a tile is padded in another type than its tensor's");
  auto subscripts = llvm::map_to_vector(read.getSubscripts(), [&](Value v) {
    return mapping.lookupOrDefault(v);
  });
  return ViewOp::create(builder, read.getLoc(),
                        VectorType::get(tile.getShape(), element), *src,
                        subscripts, pad)
      .getResult();
}

Refused mlir::pit::cloneScalar(OpBuilder &builder, Operation *op,
                               bool onTensors, IRMapping &mapping) {
  if (auto ids = dyn_cast<IdsOp>(op)) {
    FailureOr<Value> list = memrefOf(ids.getList(), onTensors, mapping);
    if (failed(list))
      return refuse("ids are read from no argument");
    IRMapping lists(mapping);
    lists.map(ids.getList(), *list);
    mapping.map(ids.getIds(), builder.clone(*op, lists)->getResult(0));
    return {};
  }
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  if (!extract || !isNumberOfTile(op)) {
    builder.clone(*op, mapping);
    return {};
  }
  OrRefusal<Value> source = createTileSource(
      builder, extract.getTensor().getDefiningOp(), onTensors, mapping);
  if (!source)
    return source.refusal();
  SmallVector<int64_t> place;
  for (Value at : extract.getIndices()) {
    IntegerAttr number;
    matchPattern(at, m_Constant(&number));
    place.push_back(number.getInt());
  }
  Value number =
      vector::ExtractOp::create(builder, extract.getLoc(), *source, place);
  mapping.map(extract.getResult(), convertElements(builder, extract.getLoc(),
                                                   number, extract.getType()));
  return {};
}

SmallVector<Value> MainloopBuilder::mapAll(ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value v) { return mapping.lookupOrDefault(v); });
}

bool MainloopBuilder::groupsVary() {
  return list() && llvm::any_of(innermost().getGroup(),
                                [&](Value value) { return isOfSteps(value); });
}

//===----------------------------------------------------------------------===//
// Elements of tiles
//===----------------------------------------------------------------------===//

OrRefusal<Value> MainloopBuilder::cloneScalars(OpBuilder &inside,
                                               linalg::LinalgOp op,
                                               IRMapping &scalars) {
  Block *body = op.getBlock();
  for (Operation &scalar : body->without_terminator()) {
    if (isOpTriviallyDead(&scalar))
      continue;
    if (scalar.getNumRegions() || !isPure(&scalar) || mayTrap(&scalar))
      return refuse(scalar.getName().getStringRef(), " in it is not pure");
    for (Value operand : scalar.getOperands())
      if (!scalars.contains(operand) && operand.getParentBlock() != body)
        scalars.map(operand, mapping.lookupOrDefault(operand));
    // An index of the iteration is known already.
    if (scalar.getNumResults() != 1 || !scalars.contains(scalar.getResult(0)))
      inside.clone(scalar, scalars);
  }
  Value yielded = body->getTerminator()->getOperand(0);
  if (!scalars.contains(yielded) && yielded.getParentBlock() != body)
    return mapping.lookupOrDefault(yielded);
  return scalars.lookupOrDefault(yielded);
}

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
  return cloneScalars(inside, op, scalars);
}

FailureOr<Value> MainloopBuilder::element(Value tile, AffineMap map,
                                          Block *block) {
  if (Value sumElement = sumElements.lookup(tile)) {
    if (!takeSum(tile, map))
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
    // An operand that is read wider than it lies in memory widens at once.
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

LogicalResult MainloopBuilder::collectExtras(Value tile, ValueRange sums,
                                             AffineMap map) {
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
            op.getMatchingIndexingMap(&operand).compose(iteration))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The op and its regions
//===----------------------------------------------------------------------===//

OrRefusal<Value> MainloopBuilder::createSource(Operation *read) {
  return createTileSource(builder, read, isOnTensors(), mapping);
}

Refused MainloopBuilder::createOp() {
  SmallVector<Value> extraViews;
  SmallVector<AffineMap> extraMaps;
  for (auto &[read, map] : extras) {
    OrRefusal<Value> extra = createSource(read);
    if (!extra)
      return extra.refusal();
    extraViews.push_back(*extra);
    extraMaps.push_back(map);
  }
  OrRefusal<SmallVector<Value>> once = createOnce();
  if (!once)
    return once.refusal();

  SmallVector<Value> lower, upper, group;
  SmallVector<int64_t> steps;
  for (ForOp loop : sums.loops) {
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
      ids ? mapping.lookupOrDefault(ids) : Value(), group, *once, extraViews,
      output.dest, mapAll(sums.write.getSubscripts()), output.bits,
      output.background, steps, ids ? innermost().getChunk() : 0,
      builder.getAffineMapArrayAttr(extraMaps),
      /*result_tile=*/DenseI64ArrayAttr(), /*sum_maps=*/ArrayAttr(),
      sums.write.getCombineAttr(), output.atomic && sums.write.getCombineAttr(),
      /*schedules=*/ArrayAttr());
  return {};
}

Refused MainloopBuilder::createSteps(Region &region, ArrayRef<ForOp> around,
                                     ValueRange ids) {
  Block *block = builder.createBlock(&region);
  auto take = [&](Value value) {
    mapping.map(value, block->addArgument(value.getType(), loc));
  };
  for (ForOp loop : sums.loops)
    llvm::for_each(loop.getInductionVars(), take);
  llvm::for_each(ids, take);
  for (ForOp loop : around)
    for (Operation &inner : loop.getBody()->without_terminator())
      if (isScalar(&inner) || isNumberOfTile(&inner))
        if (Refused refused =
                cloneScalar(builder, &inner, isOnTensors(), mapping))
          return refused;
  return {};
}

Refused MainloopBuilder::fillGroups() {
  if (!groupsVary())
    return {};
  if (Refused refused = createSteps(mainloop.getGroups(),
                                    ArrayRef(sums.loops).drop_back(), {}))
    return refused;
  YieldOp::create(builder, loc, mapAll(innermost().getGroup()));
  return {};
}

Refused MainloopBuilder::fillScalars(Region &region, ValueRange from,
                                     ValueRange tiles) {
  Block *block = builder.createBlock(&region);
  sumElements.clear();
  for (Value sum : from)
    sumElements[sum] =
        block->addArgument(getElementTypeOrSelf(sum.getType()), loc);
  for (Value extra : mainloop.getExtras())
    block->addArgument(getElementTypeOrSelf(extra.getType()), loc);
  SmallVector<Value> results;
  for (Value tile : tiles) {
    int64_t rank = cast<RankedTensorType>(tile.getType()).getRank();
    FailureOr<Value> value =
        element(tile, builder.getMultiDimIdentityMap(rank), block);
    if (failed(value))
      return refuse("its first values or its epilogue are no scalar "
                    "code on elements that are read");
    results.push_back(convertElements(builder, value->getLoc(), *value,
                                      getElementTypeOrSelf(tile.getType())));
  }
  YieldOp::create(builder, loc, results);
  return {};
}

Refused MainloopBuilder::fillContraction(linalg::LinalgOp op,
                                         ArrayRef<unsigned> inputs,
                                         ContractOp contract) {
  Block *block = builder.createBlock(&contract.getBody());
  for (Value tile : contract.getOperands())
    block->addArgument(getElementTypeOrSelf(tile.getType()), loc);
  IRMapping scalars;
  Block *body = op.getBlock();
  auto take = [&](unsigned argument, unsigned operand) {
    BlockArgument from = body->getArgument(argument);
    scalars.map(from, convertElements(builder, loc, block->getArgument(operand),
                                      from.getType()));
  };
  for (auto [i, input] : llvm::enumerate(inputs))
    take(input, i < 2 ? i : i + 1);
  take(body->getNumArguments() - 1, 2);
  OrRefusal<Value> sum = cloneScalars(builder, op, scalars);
  if (!sum)
    return sum.refusal();
  YieldOp::create(builder, loc, *sum);
  return {};
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

OrRefusal<MainloopOp> MainloopBuilder::build() {
  Refused refused = findExtras();
  if (!refused)
    refused = createOp();
  if (refused)
    return *refused;
  OpBuilder::InsertionGuard guard(builder);
  for (auto fill : {&MainloopBuilder::fillGroups, &MainloopBuilder::fillLoad,
                    &MainloopBuilder::fillCompute, &MainloopBuilder::fillInit,
                    &MainloopBuilder::fillFinish, &MainloopBuilder::finish})
    if (Refused refused = (this->*fill)())
      return *refused;
  if (mixesRegions(mainloop))
    return refuse("its epilogue uses a number of a step");
  return mainloop;
}
