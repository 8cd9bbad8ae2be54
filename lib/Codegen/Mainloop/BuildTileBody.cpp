//===- BuildTileBody.cpp - The mainloop of a loop that computes more ------===//
//
// A loop over steps that carries tiles of any kind, such as this one:
//
//   o, top = pit.for iter_args(acc, most) {
//     a = SRead; b = SRead; s = linalg op(a, b); t = linalg ops(s, most)
//     c = SRead; yield linalg op(t, c, acc), t
//   }
//   SWrite element-wise ops on o, SReads and constants
//   SWrite linalg ops on top
//
// Reads become loads; each op on tiles becomes a pit.contract or a
// pit.pointwise. The largest of several results is the mainloop's own, which
// scalar code computes element by element. The others are tiles (`also`).
// A step may add tiles to tensors that the loop carries, too.
//
//===----------------------------------------------------------------------===//

#include "MainloopBuilder.h"

#include "Codegen/Common/ContractionInfo.h"
#include "Codegen/Common/TileInput.h"

#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

class TileBodyBuilder : public MainloopBuilder {
public:
  TileBodyBuilder(OpBuilder &builder, SWriteOp write, ForOp loop,
                  const MainloopOutput &output, IRMapping &mapping)
      : MainloopBuilder(builder,
                        {write,
                         {loop},
                         tilesOf(loop, loop.getResults()),
                         tilesOf(loop, loop.getInitArgs())},
                        output, mapping),
        loop(loop) {}

private:
  Refused findExtras() override;
  OrRefusal<SmallVector<Value>> createOnce() override;
  Refused fillLoad() override;
  Refused fillCompute() override;
  Refused fillInit() override;
  bool takeSum(Value sum, AffineMap map) override;
  Refused finish() override;

  /// What adds to one of the tensors that the loop carries; null of a tile.
  static SWriteOp addedTo(ForOp loop, unsigned number);
  /// Those of the loop's values that are tiles.
  static SmallVector<Value> tilesOf(ForOp loop, ValueRange values);
  Refused checkOps();
  Refused findTilesAndNumbers();
  Refused fillStores();
  Refused fillExtraResults();
  /// Makes a tile of what a further result is computed from.
  Refused computeLast(Value tile);
  /// The tile of the mainloop that stands for one of the loop.
  OrRefusal<Value> tileOf(Value tile);
  /// The same with the elements that the loop's has: what is read wider than it
  /// lies in memory is widened.
  OrRefusal<Value> wideTileOf(Value tile);
  OrRefusal<Value> convert(linalg::LinalgOp op);
  OrRefusal<Value> contract(linalg::LinalgOp op);
  OrRefusal<Value> compute(linalg::LinalgOp op);
  OrRefusal<Value> constantTile(Value tile);
  /// An op that computes a tile from others. Its block takes places, and an
  /// element of each tile; the builder is there.
  PointwiseOp createPointwise(Location at, VectorType type, ValueRange inputs,
                              Value acc, ArrayRef<int64_t> extents,
                              ArrayRef<AffineMap> maps);

  ForOp loop;
  /// The reads: in each step, and once.
  llvm::SetVector<Value> loaded, once;
  llvm::SetVector<Value> numbers; ///< of steps, that ops on tiles use
  DenseMap<Value, Value> tiles;   ///< old ones to new ones
  DenseMap<Value, AffineMap> sumMaps;
};

} // namespace

static VectorType vectorOf(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return VectorType::get(type.getShape(), type.getElementType());
}

SWriteOp TileBodyBuilder::addedTo(ForOp loop, unsigned number) {
  auto write = loop.getYield().getOperand(number).getDefiningOp<SWriteOp>();
  return write && write.getCombine() && !write.isWhole() &&
                 write.getDest() == loop.getRegionIterArgs()[number]
             ? write
             : SWriteOp();
}

SmallVector<Value> TileBodyBuilder::tilesOf(ForOp loop, ValueRange values) {
  SmallVector<Value> tiles;
  for (auto [number, value] : llvm::enumerate(values))
    if (!addedTo(loop, number))
      tiles.push_back(value);
  return tiles;
}

static bool isVectorElement(Type type) { return !isa<ComplexType>(type); }

static bool isRead(Value tile) {
  auto read = tile.getDefiningOp<SReadOp>();
  return (read && !read.isWhole()) || tile.getDefiningOp<CoordsOp>();
}

/// Are all elements of a tile the same number, which is known before the steps?
static bool isUniform(Value tile) {
  DenseElementsAttr splat;
  return tile.getDefiningOp<linalg::FillOp>() ||
         (matchPattern(tile, m_Constant(&splat)) && splat.isSplat());
}

/// The dims of an op that it reduces and that are longer than 1.
static SmallVector<unsigned> reducedDims(linalg::LinalgOp op) {
  SmallVector<unsigned> dims;
  for (auto [d, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    if (extent != 1 &&
        op.getIteratorTypesArray()[d] == utils::IteratorType::reduction)
      dims.push_back(d);
  return dims;
}

/// Does it sum up products over something that both of its two inputs run
/// along?
static bool isContraction(linalg::LinalgOp op) {
  return op.getNumDpsInputs() == 2 && isMultiplyAdd(*op.getBlock()) &&
         llvm::any_of(reducedDims(op), [&](unsigned d) {
           return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
             return op.getMatchingIndexingMap(input).isFunctionOfDim(d);
           });
         });
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

Refused TileBodyBuilder::checkOps() {
  bool contracts = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto read = dyn_cast<SReadOp>(op);
    auto compute = dyn_cast<linalg::LinalgOp>(op);
    bool isTile =
        (read && !read.isWhole()) || isa<CoordsOp, tensor::EmptyOp>(op);
    if (compute && (op.getNumResults() != 1 ||
                    llvm::is_contained(compute.getStaticLoopRanges(),
                                       ShapedType::kDynamic)))
      return refuse("an op on tiles has several results, or extents that "
                    "are not known");
    for (TypeRange types :
         {TypeRange(op.getOperandTypes()), TypeRange(op.getResultTypes())})
      for (Type type : types)
        if (!isScalar(&op) && !isVectorElement(getElementTypeOrSelf(type)))
          return refuse("tiles have elements that are no numbers");
    bool isAdded = llvm::any_of(
        llvm::seq<unsigned>(0, loop.getNumResults()),
        [&](unsigned number) { return addedTo(loop, number) == &op; });
    if (!isTile && !compute && !isAdded && !isScalar(&op) &&
        !isNumberOfTile(&op))
      return refuse(op.getName().getStringRef(),
                    " stands in the loop over its steps");
    contracts |= compute && isContraction(compute);
  }
  if (!contracts)
    return refuse("the loop over its steps multiplies no tiles");
  return {};
}

Refused TileBodyBuilder::findTilesAndNumbers() {
  bool others = false;
  auto take = [&](Value value) {
    if (!isa<ShapedType>(value.getType())) {
      others |= isOfSteps(value) && !value.getType().isIntOrIndexOrFloat();
      if (isOfSteps(value))
        numbers.insert(value);
      return;
    }
    if (!isRead(value))
      return;
    Operation *op = value.getDefiningOp();
    (llvm::any_of(op->getOperands(), [&](Value v) { return isOfSteps(v); })
         ? loaded
         : once)
        .insert(value);
  };
  for (auto op : loop.getBody()->getOps<linalg::LinalgOp>()) {
    llvm::for_each(op->getOperands(), take);
    for (Operation &scalar : *op.getBlock())
      for (Value operand : scalar.getOperands())
        if (operand.getParentBlock() != op.getBlock())
          take(operand);
  }
  llvm::for_each(tilesOf(loop, loop.getYield().getOperands()), take);
  for (auto write : loop.getBody()->getOps<SWriteOp>())
    llvm::for_each(write.getSubscripts(), take);
  if (others)
    return refuse("an op on tiles uses what is no integer, index or "
                  "float of a step");
  return {};
}

Refused TileBodyBuilder::findExtras() {
  Refused refused = checkOps();
  if (!refused)
    refused = findTilesAndNumbers();
  if (refused)
    return refused;
  if (loaded.empty())
    return refuse("all steps read the same");
  auto written = cast<RankedTensorType>(sums.write.getTile().getType());
  if (failed(collectExtras(sums.write.getTile(), sums.values,
                           builder.getMultiDimIdentityMap(written.getRank()))))
    return refuse("what is computed after it is not element-wise on "
                  "tiles that are read");
  return {};
}

OrRefusal<SmallVector<Value>> TileBodyBuilder::createOnce() {
  SmallVector<Value> created;
  for (Value tile : once) {
    OrRefusal<Value> source = createSource(tile.getDefiningOp());
    if (!source)
      return source.refusal();
    created.push_back(*source);
  }
  return created;
}

Refused TileBodyBuilder::fillLoad() {
  SmallVector<Value> ids, yielded;
  if (list())
    ids = {loop.getIds(), loop.getPositions()};
  if (Refused refused = createSteps(mainloop.getLoad(), sums.loops, ids))
    return refused;
  for (Value tile : loaded) {
    OrRefusal<Value> source = createSource(tile.getDefiningOp());
    if (!source)
      return source.refusal();
    yielded.push_back(*source);
  }
  llvm::append_range(yielded, mapAll(numbers.getArrayRef()));
  YieldOp::create(builder, loc, yielded);
  return {};
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

Refused TileBodyBuilder::fillCompute() {
  Block *block = builder.createBlock(&mainloop.getCompute());
  auto yielded = mainloop.getLoad().front().getTerminator()->getOperands();
  for (auto [old, made] : llvm::zip(loaded, yielded))
    tiles[old] = block->addArgument(made.getType(), loc);
  for (auto [old, made] : llvm::zip(once, mainloop.getInvariants()))
    tiles[old] = block->addArgument(made.getType(), loc);
  for (Value number : numbers)
    mapping.map(number, block->addArgument(number.getType(), loc));
  for (Value carried : tilesOf(loop, loop.getRegionIterArgs()))
    tiles[carried] = block->addArgument(vectorOf(carried), loc);
  for (auto op : loop.getBody()->getOps<linalg::LinalgOp>()) {
    if (isa<linalg::FillOp>(*op))
      continue;
    OrRefusal<Value> result = convert(op);
    if (!result)
      return result.refusal();
    tiles[op->getResult(0)] = *result;
  }
  if (Refused refused = fillStores())
    return refused;
  SmallVector<Value> next;
  for (Value value : tilesOf(loop, loop.getYield().getOperands())) {
    OrRefusal<Value> tile = wideTileOf(value);
    if (!tile)
      return tile.refusal();
    next.push_back(*tile);
  }
  YieldOp::create(builder, loc, next);
  return {};
}

/// Does the mainloop read tiles of `memref`?
static bool readsFrom(MainloopOp mainloop, Value memref) {
  auto isOf = [&](Value tile) {
    auto view = tile.getDefiningOp<ViewOp>();
    return view && view.getSrc() == memref;
  };
  return llvm::any_of(mainloop.getInvariants(), isOf) ||
         llvm::any_of(mainloop.getExtras(), isOf) ||
         llvm::any_of(mainloop.getLoad().front().getTerminator()->getOperands(),
                      isOf);
}

Refused TileBodyBuilder::fillStores() {
  for (auto [number, init] : llvm::enumerate(loop.getInitArgs())) {
    SWriteOp write = addedTo(loop, number);
    if (!write)
      continue;
    Value dest = mapping.lookup(init);
    if (readsFrom(mainloop, dest) || dest == mainloop.getDest())
      return refuse("it reads or writes a tensor to which its steps add");
    OrRefusal<Value> tile = tileOf(write.getTile());
    if (!tile)
      return tile.refusal();
    StoreOp::create(builder, write.getLoc(), *tile, dest,
                    mapAll(write.getSubscripts()), write.getCombineAttr());
  }
  return {};
}

OrRefusal<Value> TileBodyBuilder::tileOf(Value tile) {
  Value &known = tiles[tile];
  if (known)
    return known;
  OrRefusal<Value> constant = constantTile(tile);
  if (!constant)
    return constant.refusal();
  return known = *constant;
}

OrRefusal<Value> TileBodyBuilder::wideTileOf(Value tile) {
  OrRefusal<Value> narrow = tileOf(tile);
  VectorType type = vectorOf(tile);
  if (!narrow || narrow->getType() == type)
    return narrow;
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  OpBuilder::InsertionGuard guard(builder);
  PointwiseOp op = createPointwise(tile.getLoc(), type, *narrow, Value(),
                                   type.getShape(), {map, map});
  Value element = op.getBody().getArguments().back();
  YieldOp::create(
      builder, loc,
      convertElements(builder, loc, element, type.getElementType()));
  return op.getResult();
}

PointwiseOp TileBodyBuilder::createPointwise(Location at, VectorType type,
                                             ValueRange inputs, Value acc,
                                             ArrayRef<int64_t> extents,
                                             ArrayRef<AffineMap> maps) {
  auto op = PointwiseOp::create(builder, at, type, inputs, acc, extents,
                                builder.getAffineMapArrayAttr(maps));
  Block *block = builder.createBlock(&op.getBody());
  for (size_t d = 0; d < extents.size(); ++d)
    block->addArgument(builder.getIndexType(), loc);
  for (Value input : inputs)
    block->addArgument(getElementTypeOrSelf(input.getType()), loc);
  if (acc)
    block->addArgument(getElementTypeOrSelf(acc.getType()), loc);
  return op;
}

OrRefusal<Value> TileBodyBuilder::constantTile(Value tile) {
  if (!isUniform(tile))
    return refuse("a tile is computed before the loop over its steps");
  DenseElementsAttr splat;
  auto fill = tile.getDefiningOp<linalg::FillOp>();
  matchPattern(tile, m_Constant(&splat));
  VectorType type = vectorOf(tile);
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  OpBuilder::InsertionGuard guard(builder);
  PointwiseOp op = createPointwise(tile.getLoc(), type, ValueRange(), Value(),
                                   type.getShape(), map);
  Attribute number;
  if (!fill)
    number = splat.getSplatValue<Attribute>();
  else
    matchPattern(fill.getInputs()[0], m_Constant(&number));
  Value value =
      number ? arith::ConstantOp::create(builder, loc, cast<TypedAttr>(number))
                   .getResult()
             : mapping.lookupOrDefault(fill.getInputs()[0]);
  YieldOp::create(builder, loc, value);
  return op.getResult();
}

OrRefusal<Value> TileBodyBuilder::convert(linalg::LinalgOp op) {
  return isContraction(op) ? contract(op) : compute(op);
}

OrRefusal<Value> TileBodyBuilder::contract(linalg::LinalgOp op) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool isSum = op.isDpsInit(&operand);
    if (isSum ? !map.isProjectedPermutation()
              : !getTileExtents(map, op.getStaticLoopRanges()))
      return refuse("a contraction reads or writes elements by a map that "
                    "is no sum of dimensions");
    OrRefusal<Value> tile =
        isSum ? wideTileOf(operand.get()) : tileOf(operand.get());
    if (!tile)
      return tile.refusal();
    operands.push_back(*tile);
  }
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<unsigned> inputs = {0, 1};
  // The computed factor is the first one.
  if (isa<BlockArgument>(operands[0]) && !isa<BlockArgument>(operands[1])) {
    std::swap(operands[0], operands[1]);
    std::swap(maps[0], maps[1]);
    std::swap(inputs[0], inputs[1]);
  }
  auto contract = ContractOp::create(
      builder, op.getLoc(), vectorOf(op->getResult(0)), operands[0],
      operands[1], operands[2], ValueRange(), op.getStaticLoopRanges(),
      builder.getAffineMapArrayAttr(maps), /*tf32=*/false);
  OpBuilder::InsertionGuard guard(builder);
  if (Refused refused = fillContraction(op, inputs, contract))
    return *refused;
  return contract.getResult();
}

OrRefusal<Value> TileBodyBuilder::compute(linalg::LinalgOp op) {
  bool reduces = !reducedDims(op).empty();
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  SmallVector<BlockArgument> arguments;
  IRMapping scalars;
  Value acc;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    if (!isa<ShapedType>(operand.get().getType())) {
      scalars.map(argument, mapping.lookupOrDefault(operand.get()));
      continue;
    }
    bool isFirst = op.isDpsInit(&operand) && reduces;
    OrRefusal<Value> tile =
        isFirst ? wideTileOf(operand.get()) : tileOf(operand.get());
    if (!tile)
      return tile.refusal();
    if (isFirst) {
      acc = *tile;
      continue;
    }
    inputs.push_back(*tile);
    maps.push_back(op.getMatchingIndexingMap(&operand));
    arguments.push_back(argument);
  }
  if (reduces && !acc)
    return refuse("an op keeps one of several values of an element");
  maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  for (AffineMap map : maps)
    if (!takesDimsOnce(map))
      return refuse("an op on tiles reads elements by a map of more than "
                    "dimensions");
  OpBuilder::InsertionGuard guard(builder);
  PointwiseOp pointwise =
      createPointwise(op.getLoc(), vectorOf(op->getResult(0)), inputs, acc,
                      op.getStaticLoopRanges(), maps);
  Block &block = pointwise.getBody().front();
  op.getBlock()->walk([&](linalg::IndexOp index) {
    scalars.map(index.getResult(), block.getArgument(index.getDim()));
  });
  auto elements = block.getArguments().drop_front(op.getNumLoops());
  for (auto [argument, element] : llvm::zip(arguments, elements))
    scalars.map(argument,
                convertElements(builder, loc, element, argument.getType()));
  if (acc)
    scalars.map(op.getBlock()->getArguments().back(), elements.back());
  OrRefusal<Value> result = cloneScalars(builder, op, scalars);
  if (!result)
    return result.refusal();
  YieldOp::create(builder, loc, *result);
  return pointwise.getResult();
}

//===----------------------------------------------------------------------===//
// Before and after the steps
//===----------------------------------------------------------------------===//

Refused TileBodyBuilder::fillInit() {
  if (!llvm::all_of(sums.initial, isUniform))
    return refuse("what it carries does not start from constants");
  return fillScalars(mainloop.getPrologue(), {}, sums.initial);
}

bool TileBodyBuilder::takeSum(Value sum, AffineMap map) {
  AffineMap &known = sumMaps[sum];
  if (known && known != map)
    return false;
  known = map;
  return takesDimsOnce(map);
}

Refused TileBodyBuilder::computeLast(Value tile) {
  if (tiles.contains(tile) || isUniform(tile))
    return {};
  auto op = tile.getDefiningOp<linalg::LinalgOp>();
  if (!op || op->getNumResults() != 1 ||
      llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic))
    return refuse("a further result is computed from something else "
                  "than what the loop over its steps carries");
  if (isContraction(op))
    return refuse("a further result is multiplied after the steps");
  for (OpOperand &operand : op->getOpOperands())
    if (isa<ShapedType>(operand.get().getType()) &&
        !op.getMatchingBlockArgument(&operand).use_empty())
      if (Refused refused = computeLast(operand.get()))
        return refused;
  OrRefusal<Value> computed = compute(op);
  if (!computed)
    return computed.refusal();
  tiles[tile] = *computed;
  return {};
}

Refused TileBodyBuilder::fillExtraResults() {
  if (output.also.empty())
    return {};
  // Threads store their elements while others may still read.
  for (auto [write, dest] : output.also)
    if (readsFrom(mainloop, dest))
      return refuse("it reads a tensor that a further result is for");
  Block *block = builder.createBlock(&mainloop.getExtraResults());
  tiles.clear(); // those are of a step
  for (auto [result, carried] :
       llvm::zip(sums.values, mainloop.getCarriedTiles()))
    tiles[result] = block->addArgument(carried.getType(), loc);
  for (auto [write, dest] : output.also) {
    if (Refused refused = computeLast(write.getTile()))
      return refused;
    OrRefusal<Value> tile = tileOf(write.getTile());
    if (!tile)
      return tile.refusal();
    StoreOp::create(builder, write.getLoc(), *tile, dest,
                    mapAll(write.getSubscripts()), /*combine=*/{});
  }
  YieldOp::create(builder, loc, ValueRange());
  return {};
}

/// A value that `finish` does not take has a map, too: to its first element.
Refused TileBodyBuilder::finish() {
  if (Refused refused = fillExtraResults())
    return refused;
  auto written = cast<RankedTensorType>(sums.write.getTile().getType());
  SmallVector<AffineMap> maps;
  for (Value sum : sums.values) {
    AffineMap map = sumMaps.lookup(sum);
    SmallVector<AffineExpr> first(
        cast<RankedTensorType>(sum.getType()).getRank(),
        builder.getAffineConstantExpr(0));
    maps.push_back(map ? map
                       : AffineMap::get(written.getRank(), 0, first,
                                        builder.getContext()));
  }
  mainloop.setResultTileAttr(builder.getDenseI64ArrayAttr(written.getShape()));
  mainloop.setSumMapsAttr(builder.getAffineMapArrayAttr(maps));
  return {};
}

/// The loop over steps that all of a tile is computed from.
static ForOp findLoop(Value tile) {
  SmallVector<Value> worklist = {tile};
  llvm::SmallDenseSet<Value> seen;
  ForOp found;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto loop = value.getDefiningOp<ForOp>()) {
      if (found && found != loop)
        return {};
      found = loop;
    } else if (auto op = value.getDefiningOp<linalg::LinalgOp>()) {
      for (OpOperand &operand : op->getOpOperands())
        if (!op.getMatchingBlockArgument(&operand).use_empty())
          worklist.push_back(operand.get());
    }
  }
  return found;
}

OrRefusal<MainloopOp> mlir::pit::buildTileBody(OpBuilder &builder,
                                               SWriteOp write,
                                               const MainloopOutput &output,
                                               IRMapping &mapping) {
  ForOp loop = findLoop(write.getTile());
  if (!loop || loop.getConflicts() != Conflicts::None ||
      loop->getBlock() != write->getBlock())
    return refuse("its tile is computed from no loop over steps");
  return TileBodyBuilder(builder, write, loop, output, mapping).build();
}
