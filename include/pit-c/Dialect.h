//===- Dialect.h - The pit dialect in MLIR's C API ----------------*- C -*-===//
//
// Types, attributes and operations for front ends that build IR through MLIR's
// C API (mlir-c/IR.h). Names, ownership and strings are as there: handles are
// passed by value, arrays are copied, and an operation that a function returns
// is the caller's until a block owns it. Link with libPITMLIRC.
//
// A function that gets what cannot be emits an error at its location, to the
// diagnostic handlers of the context, and returns a null handle.
// mlirOperationVerify checks what the verifiers of operations do
// (docs/Dialect.md).
//
//   PitSparseOptions options = {.source = PIT_SOURCE_VALUES};
//   MlirOperation mark = pitSparseCreate(location, a, &options);
//   mlirBlockAppendOwnedOperation(body, mark);
//   MlirValue marked = mlirOperationGetResult(mark, 0);
//
//===----------------------------------------------------------------------===//

#ifndef PIT_C_DIALECT_H
#define PIT_C_DIALECT_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"
#include "pit-runtime/Source.h"

#ifdef __cplusplus
extern "C" {
#endif

/// mlirGetDialectHandle__pit__(), for mlirDialectHandleRegisterDialect and
/// mlirDialectHandleLoadDialect.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Pit, pit);

/// In a micro-tile: the whole dimension, `*` in the text form.
MLIR_CAPI_EXPORTED int64_t pitWholeDimension(void);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// !pit.index<micro_tile = [..], axis = N, step = [..]>: the live micro-tiles
/// of a tensor of rank `rank`. `microTile` has `rank` extents: 1 along `axis`,
/// and pitWholeDimension() for a whole dimension. `step` has `rank` distances
/// between groups, or is NULL: then groups follow each other. Null, and an
/// error at `location`, if there is no such type.
MLIR_CAPI_EXPORTED MlirType pitIndexTypeGet(MlirLocation location,
                                            intptr_t rank,
                                            const int64_t *microTile,
                                            int64_t axis, const int64_t *step);
MLIR_CAPI_EXPORTED bool pitTypeIsAIndex(MlirType type);
MLIR_CAPI_EXPORTED intptr_t pitIndexTypeGetRank(MlirType type);
MLIR_CAPI_EXPORTED int64_t pitIndexTypeGetAxis(MlirType type);
/// `dim` is at least 0 and below the rank.
MLIR_CAPI_EXPORTED int64_t pitIndexTypeGetMicroTile(MlirType type,
                                                    intptr_t dim);
MLIR_CAPI_EXPORTED int64_t pitIndexTypeGetStep(MlirType type, intptr_t dim);

/// !pit.ids<size>: a chunk of up to `size` ids or positions. Null, and an error
/// at `location`, unless `size` is positive.
MLIR_CAPI_EXPORTED MlirType pitIdsTypeGet(MlirLocation location, int64_t size);
MLIR_CAPI_EXPORTED bool pitTypeIsAIds(MlirType type);
MLIR_CAPI_EXPORTED int64_t pitIdsTypeGetSize(MlirType type);

/// !pit.bitmap: which elements of a tensor are selected.
MLIR_CAPI_EXPORTED MlirType pitBitmapTypeGet(MlirContext context);
MLIR_CAPI_EXPORTED bool pitTypeIsABitmap(MlirType type);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// #pit<source ..>: the data that say which elements of a tensor are selected,
/// PIT_SOURCE_VALUES, _MASK, _LENGTHS, _ROUTING or, of a !pit.index, _INDEX.
MLIR_CAPI_EXPORTED MlirAttribute pitSourceAttrGet(MlirContext context,
                                                  pit_source source);
MLIR_CAPI_EXPORTED bool pitAttributeIsASource(MlirAttribute attribute);
MLIR_CAPI_EXPORTED pit_source pitSourceAttrGetValue(MlirAttribute attribute);

/// How groups that write the same outputs are kept apart.
typedef enum PitConflicts {
  PitConflictsNone = 0,
  PitConflictsSequential = 1,
  PitConflictsAtomic = 2,
  PitConflictsTwoPhase = 3,
  PitConflictsDisjoint = 4,
  PitConflictsTwoPhaseRounded = 5,
} PitConflicts;

/// #pit<conflicts ..>.
MLIR_CAPI_EXPORTED MlirAttribute pitConflictsAttrGet(MlirContext context,
                                                     PitConflicts conflicts);
MLIR_CAPI_EXPORTED bool pitAttributeIsAConflicts(MlirAttribute attribute);
MLIR_CAPI_EXPORTED PitConflicts
pitConflictsAttrGetValue(MlirAttribute attribute);

/// The parts of a rule. pit-plan chooses the parts that are left out.
typedef struct PitRule {
  int64_t operand;        ///< of a linalg op; -1 on a mark
  int64_t axis;           ///< of the marked operand; -1: left out
  intptr_t microTileRank; ///< 0: left out
  const int64_t *microTile;
  intptr_t tileRank; ///< 0: left out
  const int64_t *tile;
  PitConflicts conflicts;
} PitRule;

/// #pit.rule<..>. Null, and an error at `location`, if there is no such rule.
MLIR_CAPI_EXPORTED MlirAttribute pitRuleAttrGet(MlirLocation location,
                                                const PitRule *rule);
MLIR_CAPI_EXPORTED bool pitAttributeIsARule(MlirAttribute attribute);
/// The arrays live as long as the attribute's context.
MLIR_CAPI_EXPORTED PitRule pitRuleAttrGetValue(MlirAttribute attribute);

//===----------------------------------------------------------------------===//
// Level 1: the mark
//===----------------------------------------------------------------------===//

/// The facts that pit.sparse states about its input. All zero marks a tensor
/// whose values say themselves what is selected; null handles leave a part out.
typedef struct PitSparseOptions {
  pit_source source;
  MlirValue selector;       ///< null for the values
  MlirAttribute background; ///< a number of the element type
  bool assume; ///< the input is background already where it is not selected
  MlirAttribute rule;   ///< #pit.rule
  bool hasLiveFraction; ///< are the next three given?
  double liveFraction;  ///< the fraction of live micro-tiles
  intptr_t liveFractionTileRank;
  const int64_t *liveFractionTile; ///< their sizes; pitWholeDimension() for all
  MlirStringRef label; ///< by which samples and profiles call the mark
} PitSparseOptions;

/// pit.sparse: marks `input`, a ranked tensor. The result has its type.
MLIR_CAPI_EXPORTED MlirOperation pitSparseCreate(
    MlirLocation location, MlirValue input, const PitSparseOptions *options);
MLIR_CAPI_EXPORTED bool pitOperationIsASparse(MlirOperation op);
MLIR_CAPI_EXPORTED MlirValue pitSparseGetInput(MlirOperation op);
/// Handles, arrays and strings live as long as the operation.
MLIR_CAPI_EXPORTED PitSparseOptions pitSparseGetOptions(MlirOperation op);

//===----------------------------------------------------------------------===//
// Level 2: the index
//===----------------------------------------------------------------------===//

/// pit.index: the live micro-tiles of `input`, as `type` says. From lengths and
/// routings `shape` has `shapeRank` values of type index, the extents of
/// what they select from; otherwise it is empty. `background` may be null.
MLIR_CAPI_EXPORTED MlirOperation
pitIndexCreate(MlirLocation location, pit_source source, MlirValue input,
               intptr_t shapeRank, const MlirValue *shape,
               MlirAttribute background, MlirType type);
MLIR_CAPI_EXPORTED bool pitOperationIsAIndex(MlirOperation op);
MLIR_CAPI_EXPORTED pit_source pitIndexGetSource(MlirOperation op);
MLIR_CAPI_EXPORTED MlirValue pitIndexGetInput(MlirOperation op);

/// pit.count: the number of live micro-tiles of `index`, or, with as many
/// subscripts as dimensions number its groups, of one group.
MLIR_CAPI_EXPORTED MlirOperation pitCountCreate(MlirLocation location,
                                                MlirValue index,
                                                intptr_t groupRank,
                                                const MlirValue *group);
/// pit.live_fraction: the fraction of micro-tiles that are live, an f64.
MLIR_CAPI_EXPORTED MlirOperation pitLiveFractionCreate(MlirLocation location,
                                                       MlirValue index);
/// pit.extent: the extent of the packed dimension, of type index.
MLIR_CAPI_EXPORTED MlirOperation pitExtentCreate(MlirLocation location,
                                                 MlirValue index);
/// pit.ids: a chunk of `size` ids that a tensor of i32 lists from these
/// subscripts on.
MLIR_CAPI_EXPORTED MlirOperation pitIdsCreate(MlirLocation location,
                                              MlirValue list,
                                              intptr_t numSubscripts,
                                              const MlirValue *subscripts,
                                              int64_t size);
/// pit.coords: the coordinates of `ids`, a tensor of index.
MLIR_CAPI_EXPORTED MlirOperation pitCoordsCreate(MlirLocation location,
                                                 MlirValue ids);

//===----------------------------------------------------------------------===//
// Levels 2 and 3: SRead and SWrite
//===----------------------------------------------------------------------===//

/// pit.sread: reads a tile of type `tile`, a ranked tensor, from the tensor
/// `source`. A subscript is an index value, where the tile starts, or a
/// !pit.ids, the coordinates to gather. A single subscript that is a !pit.index
/// packs the whole tensor: `dims` then has its rank's dimensions of the source,
/// or is NULL. `pad` is what lies outside reads, 0 if null.
MLIR_CAPI_EXPORTED MlirOperation
pitSReadCreate(MlirLocation location, MlirType tile, MlirValue source,
               intptr_t numSubscripts, const MlirValue *subscripts,
               MlirAttribute pad, intptr_t numDims, const int64_t *dims);

/// pit.swrite: writes `tile` into `dest`, both tensors; the result is what
/// `dest` then is. `combine` says how elements are combined with those of
/// `dest`, as `addf` (the names of arith's AtomicRMWKind); empty: they are
/// replaced.
MLIR_CAPI_EXPORTED MlirOperation
pitSWriteCreate(MlirLocation location, MlirValue tile, MlirValue dest,
                intptr_t numSubscripts, const MlirValue *subscripts,
                MlirStringRef combine, intptr_t numDims, const int64_t *dims);

/// An SRead's or SWrite's subscripts.
MLIR_CAPI_EXPORTED bool pitOperationIsASRead(MlirOperation op);
MLIR_CAPI_EXPORTED bool pitOperationIsASWrite(MlirOperation op);
MLIR_CAPI_EXPORTED intptr_t pitAccessGetNumSubscripts(MlirOperation op);
MLIR_CAPI_EXPORTED MlirValue pitAccessGetSubscript(MlirOperation op,
                                                   intptr_t number);

//===----------------------------------------------------------------------===//
// Level 3: loops
//===----------------------------------------------------------------------===//

/// The ranges of a loop: `rank` dense ones, and, unless `index` is null, chunks
/// of up to `chunk` ids of one of its groups, which has `groupRank` subscripts.
typedef struct PitLoopRange {
  intptr_t rank;
  const MlirValue *lower; ///< of type index
  const MlirValue *upper;
  const int64_t *steps;
  MlirValue index;
  intptr_t groupRank;
  const MlirValue *group;
  int64_t chunk;
} PitLoopRange;

/// pit.forall and pit.for, which carry the tensors `inits`. The body is empty:
/// append operations to pitLoopGetBody, and pitYieldCreate as the last.
MLIR_CAPI_EXPORTED MlirOperation pitForallCreate(MlirLocation location,
                                                 const PitLoopRange *range,
                                                 intptr_t numInits,
                                                 const MlirValue *inits,
                                                 PitConflicts conflicts);
MLIR_CAPI_EXPORTED MlirOperation pitForCreate(MlirLocation location,
                                              const PitLoopRange *range,
                                              intptr_t numInits,
                                              const MlirValue *inits);
MLIR_CAPI_EXPORTED bool pitOperationIsAForall(MlirOperation op);
MLIR_CAPI_EXPORTED bool pitOperationIsAFor(MlirOperation op);
/// Owned by the loop, as are its arguments.
MLIR_CAPI_EXPORTED MlirBlock pitLoopGetBody(MlirOperation loop);
/// `number` is below the number of dense ranges.
MLIR_CAPI_EXPORTED MlirValue pitLoopGetInductionVar(MlirOperation loop,
                                                    intptr_t number);
/// Null without an index.
MLIR_CAPI_EXPORTED MlirValue pitLoopGetIds(MlirOperation loop);
MLIR_CAPI_EXPORTED MlirValue pitLoopGetPositions(MlirOperation loop);
/// `number` is below the number of inits.
MLIR_CAPI_EXPORTED MlirValue pitLoopGetIterArg(MlirOperation loop,
                                               intptr_t number);
/// pit.yield, the end of a loop's body.
MLIR_CAPI_EXPORTED MlirOperation pitYieldCreate(MlirLocation location,
                                                intptr_t numOperands,
                                                const MlirValue *operands);

#ifdef __cplusplus
}
#endif

#endif // PIT_C_DIALECT_H
