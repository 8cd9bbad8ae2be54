//===- Dialect.cpp - The pit dialect in MLIR's C API ----------------------===//

#include "pit-c/Dialect.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"

using namespace mlir;
using namespace mlir::pit;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Pit, pit, PitDialect)

int64_t pitWholeDimension() { return ShapedType::kDynamic; }

static ArrayRef<int64_t> toArray(intptr_t size, const int64_t *numbers) {
  return ArrayRef<int64_t>(numbers, static_cast<size_t>(size));
}

static SmallVector<Value> toValues(intptr_t size, const MlirValue *values) {
  SmallVector<Value> result;
  for (intptr_t i = 0; i < size; ++i)
    result.push_back(unwrap(values[i]));
  return result;
}

/// A builder without an insertion point: what it makes is the caller's.
static OpBuilder getBuilder(MlirLocation location) {
  return OpBuilder(unwrap(location).getContext());
}

static auto errorAt(MlirLocation location) {
  return [location] { return emitError(unwrap(location)); };
}

/// `attribute` as a number; null without one. Fails if it is none.
static FailureOr<TypedAttr>
toNumber(MlirLocation location, MlirAttribute attribute, const char *what) {
  if (mlirAttributeIsNull(attribute))
    return TypedAttr();
  if (!isa<IntegerAttr, FloatAttr>(unwrap(attribute)))
    return emitError(unwrap(location))
           << what << " is " << unwrap(attribute) << ", not a number";
  return cast<TypedAttr>(unwrap(attribute));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

MlirType pitIndexTypeGet(MlirLocation location, intptr_t rank,
                         const int64_t *microTile, int64_t axis,
                         const int64_t *step) {
  return wrap(Type(SparsityIndexType::getChecked(
      errorAt(location), unwrap(location).getContext(),
      toArray(rank, microTile), axis, toArray(rank, step ? step : microTile))));
}
bool pitTypeIsAIndex(MlirType type) {
  return isa<SparsityIndexType>(unwrap(type));
}
intptr_t pitIndexTypeGetRank(MlirType type) {
  return cast<SparsityIndexType>(unwrap(type)).getRank();
}
int64_t pitIndexTypeGetAxis(MlirType type) {
  return cast<SparsityIndexType>(unwrap(type)).getAxis();
}
int64_t pitIndexTypeGetMicroTile(MlirType type, intptr_t dim) {
  return cast<SparsityIndexType>(unwrap(type)).getMicroTile()[dim];
}
int64_t pitIndexTypeGetStep(MlirType type, intptr_t dim) {
  return cast<SparsityIndexType>(unwrap(type)).getStep()[dim];
}

MlirType pitIdsTypeGet(MlirLocation location, int64_t size) {
  return wrap(Type(IdsType::getChecked(errorAt(location),
                                       unwrap(location).getContext(), size)));
}
bool pitTypeIsAIds(MlirType type) { return isa<IdsType>(unwrap(type)); }
int64_t pitIdsTypeGetSize(MlirType type) {
  return cast<IdsType>(unwrap(type)).getSize();
}

MlirType pitBitmapTypeGet(MlirContext context) {
  return wrap(Type(BitmapType::get(unwrap(context))));
}
bool pitTypeIsABitmap(MlirType type) { return isa<BitmapType>(unwrap(type)); }

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

MlirAttribute pitSourceAttrGet(MlirContext context, pit_source source) {
  return wrap(
      Attribute(SourceAttr::get(unwrap(context), static_cast<Source>(source))));
}
bool pitAttributeIsASource(MlirAttribute attribute) {
  return isa<SourceAttr>(unwrap(attribute));
}
pit_source pitSourceAttrGetValue(MlirAttribute attribute) {
  return static_cast<pit_source>(
      cast<SourceAttr>(unwrap(attribute)).getValue());
}

MlirAttribute pitConflictsAttrGet(MlirContext context, PitConflicts conflicts) {
  return wrap(Attribute(
      ConflictsAttr::get(unwrap(context), static_cast<Conflicts>(conflicts))));
}
bool pitAttributeIsAConflicts(MlirAttribute attribute) {
  return isa<ConflictsAttr>(unwrap(attribute));
}
PitConflicts pitConflictsAttrGetValue(MlirAttribute attribute) {
  return static_cast<PitConflicts>(
      cast<ConflictsAttr>(unwrap(attribute)).getValue());
}

MlirAttribute pitRuleAttrGet(MlirLocation location, const PitRule *rule) {
  return wrap(Attribute(RuleAttr::getChecked(
      errorAt(location), unwrap(location).getContext(), rule->operand,
      rule->axis, toArray(rule->microTileRank, rule->microTile),
      toArray(rule->tileRank, rule->tile),
      static_cast<Conflicts>(rule->conflicts))));
}
bool pitAttributeIsARule(MlirAttribute attribute) {
  return isa<RuleAttr>(unwrap(attribute));
}
PitRule pitRuleAttrGetValue(MlirAttribute attribute) {
  auto rule = cast<RuleAttr>(unwrap(attribute));
  return {rule.getOperand(),
          rule.getAxis(),
          static_cast<intptr_t>(rule.getMicroTile().size()),
          rule.getMicroTile().data(),
          static_cast<intptr_t>(rule.getTile().size()),
          rule.getTile().data(),
          static_cast<PitConflicts>(rule.getConflicts())};
}

//===----------------------------------------------------------------------===//
// The mark
//===----------------------------------------------------------------------===//

MlirOperation pitSparseCreate(MlirLocation location, MlirValue input,
                              const PitSparseOptions *options) {
  OpBuilder builder = getBuilder(location);
  FailureOr<TypedAttr> background =
      toNumber(location, options->background, "background");
  if (failed(background))
    return {nullptr};
  RuleAttr rule;
  if (!mlirAttributeIsNull(options->rule)) {
    rule = dyn_cast<RuleAttr>(unwrap(options->rule));
    if (!rule) {
      emitError(unwrap(location))
          << "rule is " << unwrap(options->rule) << ", not a #pit.rule";
      return {nullptr};
    }
  }
  auto mark = SparseOp::create(builder, unwrap(location), unwrap(input),
                               static_cast<Source>(options->source),
                               unwrap(options->selector), *background,
                               options->assume, rule);
  if (options->hasLiveFraction)
    mark.setLiveFractionAttr(builder.getF64FloatAttr(options->liveFraction));
  if (options->hasLiveFraction && options->liveFractionTileRank)
    mark.setLiveFractionTileAttr(builder.getDenseI64ArrayAttr(
        toArray(options->liveFractionTileRank, options->liveFractionTile)));
  if (options->label.length)
    mark.setLabelAttr(builder.getStringAttr(unwrap(options->label)));
  return wrap(mark.getOperation());
}
bool pitOperationIsASparse(MlirOperation op) {
  return isa<SparseOp>(unwrap(op));
}
MlirValue pitSparseGetInput(MlirOperation op) {
  return wrap(Value(cast<SparseOp>(unwrap(op)).getInput()));
}
PitSparseOptions pitSparseGetOptions(MlirOperation op) {
  auto mark = cast<SparseOp>(unwrap(op));
  PitSparseOptions options = {};
  options.source = static_cast<pit_source>(mark.getSource());
  options.selector = wrap(mark.getSelector());
  options.background = wrap(Attribute(mark.getBackgroundAttr()));
  options.assume = mark.getAssume();
  options.rule = wrap(Attribute(mark.getRuleAttr()));
  if (FloatAttr liveFraction = mark.getLiveFractionAttr()) {
    options.hasLiveFraction = true;
    options.liveFraction = liveFraction.getValueAsDouble();
  }
  if (DenseI64ArrayAttr tile = mark.getLiveFractionTileAttr()) {
    options.liveFractionTileRank = tile.size();
    options.liveFractionTile = tile.asArrayRef().data();
  }
  if (StringAttr label = mark.getLabelAttr())
    options.label = wrap(label.getValue());
  return options;
}

//===----------------------------------------------------------------------===//
// The index
//===----------------------------------------------------------------------===//

/// `value` as an index; null, and an error, if it is none.
static TypedValue<SparsityIndexType> toIndex(MlirLocation location,
                                             MlirValue value) {
  auto index = dyn_cast<TypedValue<SparsityIndexType>>(unwrap(value));
  if (!index)
    emitError(unwrap(location))
        << "needs a value of type !pit.index, not " << unwrap(value).getType();
  return index;
}

MlirOperation pitIndexCreate(MlirLocation location, pit_source source,
                             MlirValue input, intptr_t shapeRank,
                             const MlirValue *shape, MlirAttribute background,
                             MlirType type) {
  OpBuilder builder = getBuilder(location);
  FailureOr<TypedAttr> number = toNumber(location, background, "background");
  if (failed(number))
    return {nullptr};
  if (!pitTypeIsAIndex(type)) {
    emitError(unwrap(location))
        << "makes a value of type !pit.index, not " << unwrap(type);
    return {nullptr};
  }
  return wrap(pit::IndexOp::create(builder, unwrap(location), unwrap(type),
                                   static_cast<Source>(source), unwrap(input),
                                   toValues(shapeRank, shape), /*seen=*/Value(),
                                   /*bitmap=*/Value(), *number)
                  .getOperation());
}
bool pitOperationIsAIndex(MlirOperation op) {
  return isa<pit::IndexOp>(unwrap(op));
}
pit_source pitIndexGetSource(MlirOperation op) {
  return static_cast<pit_source>(cast<pit::IndexOp>(unwrap(op)).getSource());
}
MlirValue pitIndexGetInput(MlirOperation op) {
  return wrap(Value(cast<pit::IndexOp>(unwrap(op)).getInput()));
}

/// An op that asks `index` for a value of type `type`.
template <typename OpTy, typename... ArgsT>
static MlirOperation createQuery(MlirLocation location, Type type,
                                 MlirValue index, ArgsT... args) {
  OpBuilder builder = getBuilder(location);
  auto of = toIndex(location, index);
  if (!of)
    return {nullptr};
  return wrap(OpTy::create(builder, unwrap(location), type, of, args...)
                  .getOperation());
}

MlirOperation pitCountCreate(MlirLocation location, MlirValue index,
                             intptr_t groupRank, const MlirValue *group) {
  SmallVector<Value> subscripts = toValues(groupRank, group);
  return createQuery<CountOp>(location, getBuilder(location).getIndexType(),
                              index, ValueRange(subscripts));
}
MlirOperation pitLiveFractionCreate(MlirLocation location, MlirValue index) {
  return createQuery<LiveFractionOp>(location,
                                     getBuilder(location).getF64Type(), index);
}
MlirOperation pitExtentCreate(MlirLocation location, MlirValue index) {
  return createQuery<ExtentOp>(location, getBuilder(location).getIndexType(),
                               index);
}
MlirOperation pitIdsCreate(MlirLocation location, MlirValue list,
                           intptr_t numSubscripts, const MlirValue *subscripts,
                           int64_t size) {
  MlirType type = pitIdsTypeGet(location, size);
  if (mlirTypeIsNull(type))
    return {nullptr};
  OpBuilder builder = getBuilder(location);
  return wrap(IdsOp::create(builder, unwrap(location), unwrap(type),
                            unwrap(list), toValues(numSubscripts, subscripts))
                  .getOperation());
}

MlirOperation pitCoordsCreate(MlirLocation location, MlirValue ids) {
  OpBuilder builder = getBuilder(location);
  auto chunk = dyn_cast<IdsType>(unwrap(ids).getType());
  if (!chunk) {
    emitError(unwrap(location))
        << "needs a value of type !pit.ids, not " << unwrap(ids).getType();
    return {nullptr};
  }
  Type type = RankedTensorType::get(chunk.getSize(), builder.getIndexType());
  return wrap(CoordsOp::create(builder, unwrap(location), type, unwrap(ids),
                               /*dest=*/Value())
                  .getOperation());
}

//===----------------------------------------------------------------------===//
// SRead and SWrite
//===----------------------------------------------------------------------===//

MlirOperation pitSReadCreate(MlirLocation location, MlirType tile,
                             MlirValue source, intptr_t numSubscripts,
                             const MlirValue *subscripts, MlirAttribute pad,
                             intptr_t numDims, const int64_t *dims) {
  OpBuilder builder = getBuilder(location);
  FailureOr<TypedAttr> number = toNumber(location, pad, "pad");
  if (failed(number))
    return {nullptr};
  auto read =
      SReadOp::create(builder, unwrap(location), unwrap(tile), unwrap(source),
                      toValues(numSubscripts, subscripts), *number);
  if (dims)
    read.setDims(toArray(numDims, dims));
  return wrap(read.getOperation());
}

MlirOperation pitSWriteCreate(MlirLocation location, MlirValue tile,
                              MlirValue dest, intptr_t numSubscripts,
                              const MlirValue *subscripts,
                              MlirStringRef combine, intptr_t numDims,
                              const int64_t *dims) {
  OpBuilder builder = getBuilder(location);
  std::optional<arith::AtomicRMWKind> kind;
  if (combine.length) {
    kind = arith::symbolizeAtomicRMWKind(unwrap(combine));
    if (!kind) {
      emitError(unwrap(location))
          << "combines by '" << unwrap(combine)
          << "', which is no name of arith's AtomicRMWKind, such as addf";
      return {nullptr};
    }
  }
  auto write =
      SWriteOp::create(builder, unwrap(location), unwrap(tile), unwrap(dest),
                       toValues(numSubscripts, subscripts), kind);
  if (dims)
    write.setDims(toArray(numDims, dims));
  return wrap(write.getOperation());
}

bool pitOperationIsASRead(MlirOperation op) { return isa<SReadOp>(unwrap(op)); }
bool pitOperationIsASWrite(MlirOperation op) {
  return isa<SWriteOp>(unwrap(op));
}

static OperandRange getSubscripts(MlirOperation op) {
  if (auto read = dyn_cast<SReadOp>(unwrap(op)))
    return read.getSubscripts();
  return cast<SWriteOp>(unwrap(op)).getSubscripts();
}
intptr_t pitAccessGetNumSubscripts(MlirOperation op) {
  return getSubscripts(op).size();
}
MlirValue pitAccessGetSubscript(MlirOperation op, intptr_t number) {
  return wrap(getSubscripts(op)[number]);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The loop over `range`; null, and an error, if its index is none.
template <typename LoopTy>
static LoopTy createLoop(MlirLocation location, const PitLoopRange *range,
                         intptr_t numInits, const MlirValue *inits) {
  OpBuilder builder = getBuilder(location);
  Value index = unwrap(range->index);
  if (index && !toIndex(location, range->index))
    return {};
  // The builder makes the types of the ids from it.
  if (index && mlirTypeIsNull(pitIdsTypeGet(location, range->chunk)))
    return {};
  return LoopTy::create(
      builder, unwrap(location), toValues(range->rank, range->lower),
      toValues(range->rank, range->upper), toArray(range->rank, range->steps),
      index, toValues(range->groupRank, range->group), range->chunk,
      toValues(numInits, inits),
      [](OpBuilder &, Location, ValueRange, Value, Value, ValueRange) {});
}

MlirOperation pitForallCreate(MlirLocation location, const PitLoopRange *range,
                              intptr_t numInits, const MlirValue *inits,
                              PitConflicts conflicts) {
  auto loop = createLoop<ForallOp>(location, range, numInits, inits);
  if (!loop)
    return {nullptr};
  loop.setConflicts(static_cast<Conflicts>(conflicts));
  return wrap(loop.getOperation());
}
MlirOperation pitForCreate(MlirLocation location, const PitLoopRange *range,
                           intptr_t numInits, const MlirValue *inits) {
  auto loop = createLoop<ForOp>(location, range, numInits, inits);
  return loop ? wrap(loop.getOperation()) : MlirOperation{nullptr};
}
bool pitOperationIsAForall(MlirOperation op) {
  return isa<ForallOp>(unwrap(op));
}
bool pitOperationIsAFor(MlirOperation op) { return isa<ForOp>(unwrap(op)); }

/// The answer of `get` for a loop of either kind.
template <typename GetT> static auto ofLoop(MlirOperation op, GetT get) {
  if (auto loop = dyn_cast<ForallOp>(unwrap(op)))
    return wrap(get(loop));
  return wrap(get(cast<ForOp>(unwrap(op))));
}

MlirBlock pitLoopGetBody(MlirOperation loop) {
  return ofLoop(loop, [](auto op) { return op.getBody(); });
}
MlirValue pitLoopGetInductionVar(MlirOperation loop, intptr_t number) {
  return ofLoop(
      loop, [=](auto op) -> Value { return op.getInductionVars()[number]; });
}
MlirValue pitLoopGetIds(MlirOperation loop) {
  return ofLoop(loop, [](auto op) { return op.getIds(); });
}
MlirValue pitLoopGetPositions(MlirOperation loop) {
  return ofLoop(loop, [](auto op) { return op.getPositions(); });
}
MlirValue pitLoopGetIterArg(MlirOperation loop, intptr_t number) {
  return ofLoop(
      loop, [=](auto op) -> Value { return op.getRegionIterArgs()[number]; });
}

MlirOperation pitYieldCreate(MlirLocation location, intptr_t numOperands,
                             const MlirValue *operands) {
  OpBuilder builder = getBuilder(location);
  return wrap(YieldOp::create(builder, unwrap(location),
                              toValues(numOperands, operands))
                  .getOperation());
}
