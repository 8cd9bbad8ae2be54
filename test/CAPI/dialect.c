//===- dialect.c - Tests pit-c/Dialect.h ----------------------------------===//
//
// RUN: pit-test-dialect 2>&1 | FileCheck %s
//
//===----------------------------------------------------------------------===//

#include "pit-c/Dialect.h"
#include "pit-c/Passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"

#include <stdio.h>
#include <stdlib.h>

static MlirContext context;
static MlirLocation location;

static MlirType parse_type(const char *text) {
  return mlirTypeParseGet(context, mlirStringRefCreateFromCString(text));
}

static MlirAttribute parse_attribute(const char *text) {
  return mlirAttributeParseGet(context, mlirStringRefCreateFromCString(text));
}

static void expect(bool holds, const char *what) {
  if (holds)
    return;
  printf("%s: not so\n", what);
  exit(1);
}

static void print_part(MlirStringRef part, void *unused) {
  (void)unused;
  fwrite(part.data, 1, part.length, stdout);
}

static MlirLogicalResult print_diagnostic(MlirDiagnostic diagnostic,
                                          void *unused) {
  (void)unused;
  printf("diagnostic: ");
  mlirDiagnosticPrint(diagnostic, print_part, NULL);
  printf("\n");
  return mlirLogicalResultSuccess();
}

static void test_types(void) {
  printf("types\n");
  // CHECK-LABEL: types
  const int64_t tile[] = {32, 1}, step[] = {16, 1};
  MlirType index = pitIndexTypeGet(location, 2, tile, 1, NULL);
  mlirTypePrint(index, print_part, NULL);
  // CHECK-NEXT: !pit.index<micro_tile = [32, 1], axis = 1>
  printf("\n");
  expect(mlirTypeEqual(
             index, parse_type("!pit.index<micro_tile = [32, 1], axis = 1>")),
         "equal types");
  expect(pitTypeIsAIndex(index) && !pitTypeIsAIds(index) &&
             !pitTypeIsABitmap(index),
         "an index");
  MlirType windows = pitIndexTypeGet(location, 2, tile, 1, step);
  printf("rank %d axis %d micro-tile %d step %d\n",
         (int)pitIndexTypeGetRank(windows), (int)pitIndexTypeGetAxis(windows),
         (int)pitIndexTypeGetMicroTile(windows, 0),
         (int)pitIndexTypeGetStep(windows, 0));
  // CHECK-NEXT: rank 2 axis 1 micro-tile 32 step 16
  const int64_t rows[] = {1, pitWholeDimension()};
  mlirTypePrint(pitIndexTypeGet(location, 2, rows, 0, NULL), print_part, NULL);
  // CHECK-NEXT: !pit.index<micro_tile = [1, *], axis = 0>
  printf("\n");
  MlirType ids = pitIdsTypeGet(location, 64);
  expect(pitTypeIsAIds(ids) && pitIdsTypeGetSize(ids) == 64, "64 ids");
  expect(pitTypeIsABitmap(pitBitmapTypeGet(context)), "a bitmap");

  expect(mlirTypeIsNull(pitIndexTypeGet(location, 2, tile, 0, NULL)),
         "no index along a wide dimension");
  // CHECK-NEXT: diagnostic: {{.*}}32
  expect(mlirTypeIsNull(pitIdsTypeGet(location, 0)), "no chunk of 0 ids");
  // CHECK-NEXT: diagnostic: a chunk has a positive number of ids, not 0
}

static void test_attributes(void) {
  printf("attributes\n");
  // CHECK-LABEL: attributes
  const int64_t tile[] = {32, 1}, computed[] = {32, 128, 64};
  PitRule rule = {.operand = 0,
                  .axis = 1,
                  .microTileRank = 2,
                  .microTile = tile,
                  .tileRank = 3,
                  .tile = computed,
                  .conflicts = PitConflictsAtomic};
  MlirAttribute attribute = pitRuleAttrGet(location, &rule);
  mlirAttributePrint(attribute, print_part, NULL);
  printf("\n");
  // CHECK-NEXT: #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile =
  // CHECK-SAME: [32, 128, 64], conflicts = atomic>
  PitRule same = pitRuleAttrGetValue(attribute);
  printf("axis %d, %d x %d, tile %d, conflicts %d\n", (int)same.axis,
         (int)same.microTile[0], (int)same.microTile[1], (int)same.tile[2],
         (int)same.conflicts);
  // CHECK-NEXT: axis 1, 32 x 1, tile 64, conflicts 2
  rule.axis = 0;
  expect(mlirAttributeIsNull(pitRuleAttrGet(location, &rule)), "no such rule");
  // CHECK-NEXT: diagnostic: {{.*}}32
  // The runtime and MLIR have one name for each.
  const pit_source sources[] = {PIT_SOURCE_VALUES, PIT_SOURCE_MASK,
                                PIT_SOURCE_LENGTHS, PIT_SOURCE_ROUTING,
                                PIT_SOURCE_INDEX};
  for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); ++i) {
    MlirAttribute source = pitSourceAttrGet(context, sources[i]);
    expect(pitSourceAttrGetValue(source) == sources[i], "a source");
    printf("%s is ", pit_source_name(sources[i]));
    mlirAttributePrint(source, print_part, NULL);
    printf("\n");
  }
  // CHECK-NEXT: values is #pit<source values>
  // CHECK-NEXT: mask is #pit<source mask>
  // CHECK-NEXT: lengths is #pit<source lengths>
  // CHECK-NEXT: routing is #pit<source routing>
  // CHECK-NEXT: index is #pit<source index>
  for (PitConflicts conflicts = PitConflictsNone;
       conflicts <= PitConflictsTwoPhaseRounded; ++conflicts)
    expect(pitConflictsAttrGetValue(pitConflictsAttrGet(context, conflicts)) ==
               conflicts,
           "conflicts");
  expect(!pitAttributeIsARule(pitSourceAttrGet(context, PIT_SOURCE_MASK)),
         "a source is no rule");
}

/// A function that returns nothing, for operations that are appended to its
/// body. `signature` names its arguments and their types.
static MlirModule make_module(const char *signature) {
  char text[256];
  snprintf(text, sizeof(text), "func.func @f(%s) { return }", signature);
  return mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
}

static MlirBlock get_body(MlirModule module) {
  MlirOperation function =
      mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
}

static MlirValue argument(MlirBlock block, intptr_t number) {
  return mlirBlockGetArgument(block, number);
}

/// Appends `op` before the return; prints and verifies it. The result, if there
/// is one.
static MlirValue append(MlirBlock block, MlirOperation op) {
  expect(!mlirOperationIsNull(op), "an operation");
  mlirBlockInsertOwnedOperationBefore(block, mlirBlockGetTerminator(block), op);
  expect(mlirOperationVerify(op), "a valid operation");
  mlirOperationPrint(op, print_part, NULL);
  printf("\n");
  return mlirOperationGetNumResults(op) ? mlirOperationGetResult(op, 0)
                                        : (MlirValue){NULL};
}

static void test_marks(void) {
  printf("marks\n");
  // CHECK-LABEL: marks
  MlirModule module =
      make_module("%a: tensor<?x64xf32>, %mask: tensor<?x64xi1>");
  MlirBlock block = get_body(module);
  PitSparseOptions values = {.source = PIT_SOURCE_VALUES};
  append(block, pitSparseCreate(location, argument(block, 0), &values));
  // CHECK-NEXT: pit.sparse {{.*}} : tensor<?x64xf32>
  const int64_t tile[] = {4, 1};
  PitRule rule = {.operand = -1, .axis = 1};
  PitSparseOptions all = {.source = PIT_SOURCE_MASK,
                          .selector = argument(block, 1),
                          .background = parse_attribute("1.0 : f32"),
                          .assume = true,
                          .rule = pitRuleAttrGet(location, &rule),
                          .hasLiveFraction = true,
                          .liveFraction = 0.25,
                          .liveFractionTileRank = 2,
                          .liveFractionTile = tile,
                          .label = mlirStringRefCreateFromCString("hidden")};
  MlirOperation mark = pitSparseCreate(location, argument(block, 0), &all);
  append(block, mark);
  // CHECK-NEXT: pit.sparse {{.*}} mask({{.*}} : tensor<?x64xi1>)
  // CHECK-SAME: background(1.000000e+00 : f32) assume rule(<axis = 1>)
  // CHECK-SAME: live_fraction(2.500000e-01 in [4, 1]) label("hidden") :
  // CHECK-SAME: tensor<?x64xf32>
  PitSparseOptions back = pitSparseGetOptions(mark);
  printf("source %d, assume %d, live fraction %g of %d x %d, label %.*s\n",
         (int)back.source, back.assume, back.liveFraction,
         (int)back.liveFractionTile[0], (int)back.liveFractionTile[1],
         (int)back.label.length, back.label.data);
  // CHECK-NEXT: source 1, assume 1, live fraction 0.25 of 4 x 1, label hidden
  expect(pitOperationIsASparse(mark), "a mark");
  expect(mlirValueEqual(pitSparseGetInput(mark), argument(block, 0)), "input");

  all.background = parse_attribute("\"one\"");
  expect(
      mlirOperationIsNull(pitSparseCreate(location, argument(block, 0), &all)),
      "a string is no background");
  // CHECK-NEXT: diagnostic: background is "one", not a number
  all.background = (MlirAttribute){NULL};
  all.rule = parse_attribute("3 : i32");
  expect(
      mlirOperationIsNull(pitSparseCreate(location, argument(block, 0), &all)),
      "a number is no rule");
  // CHECK-NEXT: diagnostic: rule is 3 : i32, not a #pit.rule
  mlirModuleDestroy(module);
}

static void test_tiles(void) {
  printf("tiles\n");
  // CHECK-LABEL: tiles
  MlirModule module =
      make_module("%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %zero: index, "
                  "%size: index, %lengths: tensor<?xi32>");
  MlirBlock block = get_body(module);
  MlirValue zero = argument(block, 2), size = argument(block, 3);
  MlirType type = parse_type("!pit.index<micro_tile = [1, *], axis = 0>");
  MlirOperation made =
      pitIndexCreate(location, PIT_SOURCE_VALUES, argument(block, 0), 0, NULL,
                     (MlirAttribute){NULL}, type);
  MlirValue index = append(block, made);
  // CHECK-NEXT: pit.index {{.*}} : tensor<?x?xf32> -> !pit.index<micro_tile =
  // CHECK-SAME: [1, *], axis = 0>
  expect(pitOperationIsAIndex(made) &&
             pitIndexGetSource(made) == PIT_SOURCE_VALUES &&
             mlirValueEqual(pitIndexGetInput(made), argument(block, 0)),
         "an index op");
  const MlirValue shape[] = {size, size};
  append(block, pitIndexCreate(
                    location, PIT_SOURCE_LENGTHS, argument(block, 4), 2, shape,
                    (MlirAttribute){NULL},
                    parse_type("!pit.index<micro_tile = [1, 1], axis = 1>")));
  // CHECK-NEXT: pit.index lengths {{.*}} shape({{.*}}, {{.*}}) : tensor<?xi32>
  // CHECK-SAME: -> !pit.index<micro_tile = [1, 1], axis = 1>
  append(block, pitCountCreate(location, index, 0, NULL));
  // CHECK-NEXT: pit.count
  append(block, pitLiveFractionCreate(location, index));
  // CHECK-NEXT: pit.live_fraction
  append(block, pitExtentCreate(location, index));
  // CHECK-NEXT: pit.extent
  append(block, pitIdsCreate(location, argument(block, 4), 1, &zero, 64));
  // CHECK-NEXT: pit.ids {{.*}} : tensor<?xi32> -> !pit.ids<64>
  MlirValue packed =
      append(block, pitSReadCreate(location, parse_type("tensor<?x?xf32>"),
                                   argument(block, 0), 1, &index,
                                   parse_attribute("1.0 : f32"), 0, NULL));
  // CHECK-NEXT: pit.sread {{.*}}[{{.*}} : !pit.index<micro_tile = [1, *], axis
  // CHECK-SAME: = 0>] pad(1.000000e+00 : f32)
  append(block, pitSWriteCreate(location, packed, argument(block, 1), 1, &index,
                                (MlirStringRef){NULL, 0}, 0, NULL));
  // CHECK-NEXT: pit.swrite {{.*}} into {{.*}}[{{.*}} : !pit.index<micro_tile =
  // CHECK-SAME: [1, *], axis = 0>]

  const int64_t steps[] = {128};
  PitLoopRange range = {.rank = 1,
                        .lower = &zero,
                        .upper = &size,
                        .steps = steps,
                        .index = index,
                        .chunk = 64};
  MlirValue init = argument(block, 1);
  MlirOperation loop =
      pitForallCreate(location, &range, 1, &init, PitConflictsAtomic);
  MlirBlock body = pitLoopGetBody(loop);
  const MlirValue at[] = {pitLoopGetIds(loop), pitLoopGetInductionVar(loop, 0)};
  MlirOperation read =
      pitSReadCreate(location, parse_type("tensor<64x128xf32>"),
                     argument(block, 0), 2, at, (MlirAttribute){NULL}, 0, NULL);
  mlirBlockAppendOwnedOperation(body, read);
  expect(pitOperationIsASRead(read) && pitAccessGetNumSubscripts(read) == 2 &&
             mlirValueEqual(pitAccessGetSubscript(read, 0), at[0]),
         "an SRead by ids");
  mlirBlockAppendOwnedOperation(
      body, pitCoordsCreate(location, pitLoopGetPositions(loop)));
  MlirOperation write = pitSWriteCreate(
      location, mlirOperationGetResult(read, 0), pitLoopGetIterArg(loop, 0), 2,
      at, mlirStringRefCreateFromCString("addf"), 0, NULL);
  mlirBlockAppendOwnedOperation(body, write);
  expect(pitOperationIsASWrite(write), "an SWrite");
  MlirValue written = mlirOperationGetResult(write, 0);
  mlirBlockAppendOwnedOperation(body, pitYieldCreate(location, 1, &written));
  append(block, loop);
  expect(pitOperationIsAForall(loop) && !pitOperationIsAFor(loop), "a forall");
  // CHECK-NEXT: pit.forall (%[[N:.*]]) = ({{.*}}) to ({{.*}}) step (128),
  // CHECK-SAME: %[[IDS:.*]] at %[[POS:.*]] in {{.*}} : !pit.index<micro_tile =
  // CHECK-SAME: [1, *], axis = 0> chunk 64 conflicts(atomic)
  // CHECK-SAME: iter_args(%[[O:.*]] = {{.*}}) -> (tensor<?x?xf32>)
  // CHECK-NEXT: %[[T:.*]] = pit.sread {{.*}}[%[[IDS]] : !pit.ids<64>, %[[N]]] :
  // CHECK-SAME: tensor<?x?xf32> -> tensor<64x128xf32>
  // CHECK-NEXT: pit.coords %[[POS]] : !pit.ids<64> -> tensor<64xindex>
  // CHECK-NEXT: %[[W:.*]] = pit.swrite %[[T]] into %[[O]][%[[IDS]] :
  // CHECK-SAME: !pit.ids<64>, %[[N]]] combine(addf)
  // CHECK-NEXT: pit.yield %[[W]]
  // CHECK-NEXT: }

  range.index = (MlirValue){NULL};
  range.chunk = 0;
  MlirOperation dense = pitForCreate(location, &range, 0, NULL);
  mlirBlockAppendOwnedOperation(pitLoopGetBody(dense),
                                pitYieldCreate(location, 0, NULL));
  append(block, dense);
  expect(pitOperationIsAFor(dense) && mlirValueIsNull(pitLoopGetIds(dense)) &&
             mlirValueIsNull(pitLoopGetPositions(dense)),
         "a loop without an index");
  // CHECK-NEXT: pit.for ({{.*}}) = ({{.*}}) to ({{.*}}) step (128) {
  // CHECK-NEXT: }

  // What cannot be is refused.
  range.index = argument(block, 0);
  expect(mlirOperationIsNull(pitForCreate(location, &range, 0, NULL)),
         "a tensor is no index");
  // CHECK-NEXT: diagnostic: needs a value of type !pit.index, not
  // CHECK-SAME: 'tensor<?x?xf32>'
  range.index = index;
  expect(mlirOperationIsNull(pitForCreate(location, &range, 0, NULL)),
         "no chunk of 0 ids");
  // CHECK-NEXT: diagnostic: a chunk has a positive number of ids, not 0
  expect(mlirOperationIsNull(pitCountCreate(location, zero, 0, NULL)),
         "a number is no index");
  // CHECK-NEXT: diagnostic: needs a value of type !pit.index, not 'index'
  expect(mlirOperationIsNull(pitCoordsCreate(location, zero)),
         "a number is no chunk");
  // CHECK-NEXT: diagnostic: needs a value of type !pit.ids, not 'index'
  expect(mlirOperationIsNull(
             pitIdsCreate(location, argument(block, 4), 1, &zero, 0)),
         "no ids");
  // CHECK-NEXT: diagnostic: {{.*}}0
  expect(mlirOperationIsNull(
             pitSWriteCreate(location, packed, argument(block, 1), 1, &index,
                             mlirStringRefCreateFromCString("plus"), 0, NULL)),
         "no such way to combine");
  // CHECK-NEXT: diagnostic: combines by 'plus', which is no name of arith's
  // CHECK-SAME: AtomicRMWKind, such as addf
  mlirModuleDestroy(module);
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  pitRegisterAllDialects(registry);
  context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__pit__(), context);
  location = mlirLocationUnknownGet(context);
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, print_diagnostic, NULL, NULL);
  test_types();
  test_attributes();
  test_marks();
  test_tiles();
  mlirContextDetachDiagnosticHandler(context, handler);
  mlirContextDestroy(context);
  printf("done\n");
  // CHECK-NEXT: done
  return 0;
}
