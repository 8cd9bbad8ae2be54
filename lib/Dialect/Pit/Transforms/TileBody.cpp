//===- TileBody.cpp - What is computed on a tile --------------------------===//

#include "TileBody.h"

#include "Selection/TileGeometry.h"
#include "pit/Analysis/Combiner.h"
#include "pit/Analysis/Factors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pit;

/// Sums in f16 and bf16 lose too much; f32 holds their products exactly.
static bool isNarrowFloat(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && floatType.getWidth() < 32;
}

/// `map` without the constants that its results add: within a tile an operand
/// starts at 0.
static AffineMap dropConstants(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    LinearExpr linear = *matchLinear(expr);
    AffineExpr sum = getAffineConstantExpr(0, map.getContext());
    for (auto [dim, coefficient] : linear.terms)
      sum = sum + getAffineDimExpr(dim, map.getContext()) * coefficient;
    results.push_back(sum);
  }
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

namespace {
/// Rebuilds a body value by value, floats narrower than `wide` as `wide`.
class Widener {
public:
  Widener(OpBuilder &builder, IRMapping &mapping, FloatType wide)
      : builder(builder), mapping(mapping), wide(wide) {}

  /// `value`, computed in the wide type as far as sums and products reach.
  Value get(Value value) {
    if (Value known = done.lookup(value))
      return known;
    Value result;
    Operation *op = value.getDefiningOp();
    if (op && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
                  arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                  arith::MinNumFOp>(op)) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(get(operand));
      OperationState state(op->getLoc(), op->getName(), operands,
                           TypeRange(wide), op->getAttrs());
      result = builder.create(state)->getResult(0);
    } else {
      result = arith::ExtFOp::create(builder, value.getLoc(), wide,
                                     mapping.lookupOrDefault(value));
    }
    return done[value] = result;
  }

private:
  OpBuilder &builder;
  IRMapping &mapping;
  FloatType wide;
  DenseMap<Value, Value> done;
};
} // namespace

/// An op like `op` but with other inits and body.
static linalg::GenericOp
createTemplate(OpBuilder &builder, linalg::LinalgOp op, ValueRange inputs,
               ValueRange inits, ArrayRef<AffineMap> maps,
               function_ref<void(OpBuilder &, Block *)> body) {
  Location loc = op.getLoc();
  // Without dims that only operands left out iterate over.
  llvm::SmallBitVector unused = getUnusedDimsBitVector(maps);
  SmallVector<AffineMap> used;
  for (AffineMap map : maps)
    used.push_back(compressDims(map, unused));
  SmallVector<utils::IteratorType> iterators;
  for (auto [d, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (!unused[d])
      iterators.push_back(iterator);
  auto generic = linalg::GenericOp::create(builder, loc, inits.getTypes(),
                                           inputs, inits, used, iterators);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&generic.getRegion());
  for (Value operand : generic->getOperands())
    block->addArgument(getElementTypeOrSelf(operand.getType()), loc);
  body(builder, block);
  return generic;
}

/// A value of `like`'s shape with other elements, only to give a template a
/// type.
static Value standIn(OpBuilder &builder, Value like, Type element,
                     TileBody &body) {
  auto type = cast<RankedTensorType>(like.getType()).clone(element);
  auto cast =
      UnrealizedConversionCastOp::create(builder, like.getLoc(), type, like);
  body.scaffolding.push_back(cast);
  return cast.getResult(0);
}

void pit::cloneSlice(OpBuilder &builder, linalg::LinalgOp op,
                     ArrayRef<Value> values, IRMapping &mapping) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> worklist(values);
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (def && def->getBlock() == op.getBlock() && needed.insert(def))
      llvm::append_range(worklist, def->getOperands());
  }
  for (Operation &inner : *op.getBlock())
    if (needed.contains(&inner))
      builder.clone(inner, mapping);
}

/// To the accumulator's type: a factor of a sum of products may be narrower.
static Value toAccumulator(OpBuilder &builder, Location loc, Value value,
                           Type type) {
  if (value.getType() == type)
    return value;
  return arith::ExtFOp::create(builder, loc, type, value);
}

static Value multiply(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (!lhs)
    return rhs;
  if (isa<FloatType>(lhs.getType()))
    return arith::MulFOp::create(builder, loc, lhs, rhs);
  return arith::MulIOp::create(builder, loc, lhs, rhs);
}

static Value add(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}

/// The operands of `factors`, ascending.
static SmallVector<unsigned> operandsOf(ArrayRef<Factor> factors) {
  llvm::SmallSetVector<unsigned, 4> inputs;
  for (const Factor &factor : factors)
    inputs.insert(factor.operands.begin(), factor.operands.end());
  auto sorted = llvm::to_vector(inputs);
  llvm::sort(sorted);
  return sorted;
}

/// Is there a linalg op of the operands of `factors` and the init alone? Each
/// of its dims has to be the whole subscript of one of them: of the dims of a
/// window, the image only knows the sum.
static bool haveExtents(linalg::LinalgOp op, ArrayRef<Factor> factors) {
  SmallVector<AffineMap> maps;
  for (unsigned i : operandsOf(factors))
    maps.push_back(
        dropConstants(op.getMatchingIndexingMap(&op->getOpOperand(i))));
  maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  llvm::SmallBitVector unused = getUnusedDimsBitVector(maps);
  for (AffineMap &map : maps)
    map = compressDims(map, unused);
  return bool(inversePermutation(concatAffineMaps(maps, op.getContext())));
}

/// A template of `acc + product(factors) * last`, where `last` may be null.
static TileTemplate productTemplate(OpBuilder &builder, linalg::LinalgOp op,
                                    ArrayRef<Factor> factors, Value init,
                                    bool hasSum) {
  TileTemplate result;
  SmallVector<Value> values;
  for (const Factor &factor : factors)
    values.push_back(factor.value);
  result.inputs = operandsOf(factors);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (unsigned i : result.inputs) {
    operands.push_back(op->getOperand(i));
    maps.push_back(
        dropConstants(op.getMatchingIndexingMap(&op->getOpOperand(i))));
  }
  AffineMap initMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (hasSum) {
    operands.push_back(init);
    maps.push_back(initMap);
  }
  maps.push_back(initMap);
  Type element = getElementTypeOrSelf(init.getType());
  result.op = createTemplate(
      builder, op, operands, init, maps, [&](OpBuilder &b, Block *block) {
        Location loc = op.getLoc();
        IRMapping mapping;
        for (auto [i, number] : llvm::enumerate(result.inputs))
          mapping.map(op.getBlock()->getArgument(number),
                      block->getArgument(i));
        cloneSlice(b, op, values, mapping);
        Value product =
            hasSum ? block->getArgument(result.inputs.size()) : Value();
        for (Value value : values)
          product = multiply(
              b, loc, product,
              toAccumulator(b, loc, mapping.lookupOrDefault(value), element));
        Value acc = block->getArguments().back();
        linalg::YieldOp::create(b, loc, add(b, loc, acc, product));
      });
  return result;
}

/// Is `factor` an input that is 1, or such an input widened? [F4]
static bool isOneFactor(linalg::LinalgOp op, const Factor &factor,
                        function_ref<bool(unsigned)> isOne) {
  Value value = factor.value;
  if (auto widened = value.getDefiningOp<arith::ExtFOp>())
    value = widened.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBlock() &&
         isOne(argument.getArgNumber());
}

/// Splits off the factors that no inner dim changes, and leaves out those that
/// are 1, unless they alone know the extent of a dim. True if there are any,
/// and others remain.
static bool hoistFactors(OpBuilder &builder, linalg::LinalgOp op,
                         function_ref<bool(unsigned)> isInner,
                         function_ref<bool(unsigned)> isOne, TileBody &body) {
  if (op.getNumDpsInits() != 1)
    return false;
  FailureOr<SumOfProducts> product = matchSumOfProducts(op);
  if (failed(product))
    return false;
  SmallVector<Factor> hoisted, kept, ones;
  for (const Factor &factor : product->factors) {
    bool varies = false;
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      varies |= isInner(d) && variesAlong(op, factor, d);
    // A factor of no operand at all stays where it is; integers whose widening
    // may wrap, and factors that know where they are, stay all.
    Type from = factor.value.getType(), to = body.accumulators[0];
    bool widens = from == to || (isa<FloatType>(from) && isa<FloatType>(to));
    if (!widens || !factor.indexDims.empty())
      return false;
    if (isOneFactor(op, factor, isOne)) {
      ones.push_back(factor);
      continue;
    }
    (varies || factor.operands.empty() ? kept : hoisted).push_back(factor);
  }
  bool anyInner = false;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    anyInner |= isInner(d);
  if (!anyInner || kept.empty())
    return false;
  // With all factors there are extents of all dims.
  if (!haveExtents(op, hoisted))
    kept.append(std::exchange(hoisted, {}));
  while (!haveExtents(op, kept) && !ones.empty())
    kept.push_back(ones.pop_back_val());
  if (!haveExtents(op, kept))
    kept.append(std::exchange(hoisted, {}));
  if (hoisted.empty() && ones.empty())
    return false;
  Value init = op.getDpsInits()[0];
  if (getElementTypeOrSelf(init.getType()) != body.accumulators[0])
    init = standIn(builder, init, body.accumulators[0], body);
  body.inner = productTemplate(builder, op, kept, init, /*hasSum=*/false);
  body.scaffolding.push_back(body.inner.op);
  if (hoisted.empty())
    return true;
  body.epilogue = productTemplate(builder, op, hoisted, init, /*hasSum=*/true);
  body.scaffolding.push_back(body.epilogue.op);
  return true;
}

/// `op` with accumulators of f32 for narrow floats, and maps without constants.
static void widenAccumulators(OpBuilder &builder, linalg::LinalgOp op,
                              TileBody &body) {
  SmallVector<Value> inits;
  for (auto [init, element] : llvm::zip(op.getDpsInits(), body.accumulators))
    inits.push_back(getElementTypeOrSelf(init.getType()) == element
                        ? init
                        : standIn(builder, init, element, body));
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getIndexingMapsArray())
    maps.push_back(dropConstants(map));
  body.inner.op = createTemplate(
      builder, op, op.getDpsInputs(), inits, maps,
      [&](OpBuilder &b, Block *block) {
        IRMapping mapping;
        for (auto [from, to] :
             llvm::zip(op.getBlock()->getArguments(), block->getArguments()))
          mapping.map(from, to);
        // Ops between a narrow accumulator and the yield are rebuilt, not
        // cloned.
        SmallVector<FailureOr<Combiner>> combiners;
        DenseSet<Operation *> rebuilt;
        for (unsigned r = 0; r < body.accumulators.size(); ++r) {
          bool widened = inits[r] != op.getDpsInits()[r];
          combiners.push_back(widened ? matchCombiner(op, r)
                                      : FailureOr<Combiner>(failure()));
          if (succeeded(combiners.back()))
            rebuilt.insert(combiners.back()->ops.begin(),
                           combiners.back()->ops.end());
        }
        for (Operation &inner : op.getBlock()->without_terminator())
          if (!rebuilt.contains(&inner))
            b.clone(inner, mapping);
        SmallVector<Value> yields;
        for (unsigned r = 0; r < body.accumulators.size(); ++r) {
          if (failed(combiners[r])) {
            yields.push_back(mapping.lookupOrDefault(getYielded(op, r)));
            continue;
          }
          auto wide = cast<FloatType>(body.accumulators[r]);
          Widener widener(b, mapping, wide);
          Value acc = mapping.lookup(getAccumulator(op, r));
          for (auto [combine, contribution] :
               llvm::zip(combiners[r]->ops, combiners[r]->contributions)) {
            OperationState state(combine->getLoc(), combine->getName(),
                                 {acc, widener.get(contribution)},
                                 TypeRange(wide), combine->getAttrs());
            acc = b.create(state)->getResult(0);
          }
          yields.push_back(acc);
        }
        linalg::YieldOp::create(b, op.getLoc(), yields);
      });
  body.scaffolding.push_back(body.inner.op);
}

TileBody mlir::pit::buildTileBody(OpBuilder &builder, linalg::LinalgOp op,
                                  function_ref<bool(unsigned)> isInner,
                                  function_ref<bool(unsigned)> isOne) {
  TileBody body;
  bool reduces = false;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    reduces |= isReducedDim(op, d);
  bool changes = false;
  for (auto [r, init] : llvm::enumerate(op.getDpsInits())) {
    Type element = getElementTypeOrSelf(init.getType());
    if (reduces && isNarrowFloat(element) && succeeded(matchCombiner(op, r)))
      element = builder.getF32Type();
    changes |= element != getElementTypeOrSelf(init.getType());
    body.accumulators.push_back(element);
  }
  if (hoistFactors(builder, op, isInner, isOne, body))
    return body;
  llvm::append_range(body.inner.inputs,
                     llvm::seq<unsigned>(op.getNumDpsInputs()));
  for (AffineMap map : op.getIndexingMapsArray())
    changes |= dropConstants(map) != map;
  if (changes)
    widenAccumulators(builder, op, body);
  else
    body.inner.op = op;
  return body;
}

linalg::LinalgOp mlir::pit::cloneOntoTile(OpBuilder &builder,
                                          linalg::LinalgOp op,
                                          ValueRange inputs, ValueRange inits,
                                          ArrayRef<Value> starts) {
  SmallVector<Value> operands(inputs);
  llvm::append_range(operands, inits);
  auto tileOp = cast<linalg::LinalgOp>(
      mlir::clone(builder, op.getOperation(), inits.getTypes(), operands));
  tileOp->removeAttr(kRuleAttrName);
  OpBuilder::InsertionGuard guard(builder);
  tileOp->walk([&](linalg::IndexOp index) {
    builder.setInsertionPointAfter(index);
    auto global = arith::AddIOp::create(
        builder, index.getLoc(), index.getResult(), starts[index.getDim()]);
    index.getResult().replaceAllUsesExcept(global, global);
  });
  // In another order of the sum a partial one may wrap.
  for (unsigned r = 0; r < tileOp.getNumDpsInits(); ++r)
    if (FailureOr<Combiner> combiner = matchCombiner(tileOp, r);
        succeeded(combiner))
      for (Operation *combine : combiner->ops)
        if (auto flags =
                dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(combine))
          combine->setAttr(
              flags.getIntegerOverflowAttrName(),
              arith::IntegerOverflowFlagsAttr::get(
                  builder.getContext(), arith::IntegerOverflowFlags::none));
  return tileOp;
}
