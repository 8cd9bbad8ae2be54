//===- passes.c - Tests pit-c/Passes.h ------------------------------------===//
//
// A front end in C: it builds a matrix product whose left operand is marked,
// shows what levels 2 and 3 are, has it compiled and runs it.
//
// RUN: pit-test-passes 2>&1 | FileCheck %s
//
//===----------------------------------------------------------------------===//

#include "pit-c/Passes.h"
#include "pit-c/Compile.h"
#include "pit-c/Dialect.h"
#include "pit-runtime/Runtime.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, STEPS = 7, COLUMNS = 3 };

static void fail(const char *what, const char *why) {
  printf("%s failed: %s\n", what, why);
  exit(1);
}

static MlirStringRef text(const char *string) {
  return mlirStringRefCreateFromCString(string);
}

static void print_part(MlirStringRef part, void *unused) {
  (void)unused;
  fwrite(part.data, 1, part.length, stdout);
}

/// Bytes that grow.
typedef struct buffer {
  char *data;
  size_t size;
} buffer;

static void append_part(MlirStringRef part, void *user) {
  buffer *into = user;
  char *data = realloc(into->data, into->size + part.length);
  if (!data)
    fail("writing bytecode", "no memory");
  memcpy(data + into->size, part.data, part.length);
  into->data = data;
  into->size += part.length;
}

static MlirNamedAttribute named(MlirContext context, const char *name,
                                const char *value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, text(name)),
                               mlirAttributeParseGet(context, text(value)));
}

/// func.func @f(%a, %b, %c): %c plus the product of %a, which is marked, and
/// %b.
static MlirModule build(MlirContext context) {
  MlirLocation here = mlirLocationUnknownGet(context);
  MlirType matrix = mlirTypeParseGet(context, text("tensor<?x?xf32>"));
  const MlirType types[] = {matrix, matrix, matrix};
  const MlirLocation places[] = {here, here, here};
  MlirBlock body = mlirBlockCreate(3, types, places);
  MlirValue a = mlirBlockGetArgument(body, 0),
            b = mlirBlockGetArgument(body, 1),
            c = mlirBlockGetArgument(body, 2);

  // Other rules may be better for some zeros; this one is always there to see.
  const int64_t rows[] = {8, 1};
  PitRule rule = {
      .operand = -1, .axis = 1, .microTileRank = 2, .microTile = rows};
  PitSparseOptions options = {.source = PIT_SOURCE_VALUES,
                              .rule = pitRuleAttrGet(here, &rule)};
  MlirOperation mark = pitSparseCreate(here, a, &options);
  mlirBlockAppendOwnedOperation(body, mark);

  MlirOperationState state = mlirOperationStateGet(text("linalg.matmul"), here);
  const MlirValue operands[] = {mlirOperationGetResult(mark, 0), b, c};
  mlirOperationStateAddOperands(&state, 3, operands);
  mlirOperationStateAddResults(&state, 1, &matrix);
  MlirNamedAttribute segments =
      named(context, "operandSegmentSizes", "array<i32: 2, 1>");
  mlirOperationStateAddAttributes(&state, 1, &segments);
  MlirRegion scalars = mlirRegionCreate();
  mlirOperationStateAddOwnedRegions(&state, 1, &scalars);
  MlirOperation product = mlirOperationCreate(&state);
  mlirLinalgFillBuiltinNamedOpRegion(product);
  mlirBlockAppendOwnedOperation(body, product);
  MlirValue result = mlirOperationGetResult(product, 0);

  MlirOperationState end = mlirOperationStateGet(text("func.return"), here);
  mlirOperationStateAddOperands(&end, 1, &result);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&end));

  MlirOperationState function = mlirOperationStateGet(text("func.func"), here);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  mlirOperationStateAddOwnedRegions(&function, 1, &region);
  MlirNamedAttribute attributes[] = {
      named(context, "sym_name", "\"f\""),
      mlirNamedAttributeGet(
          mlirIdentifierGet(context, text("function_type")),
          mlirTypeAttrGet(mlirFunctionTypeGet(context, 3, types, 1, &matrix)))};
  mlirOperationStateAddAttributes(&function, 2, attributes);
  MlirModule module = mlirModuleCreateEmpty(here);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module),
                                mlirOperationCreate(&function));
  if (!mlirOperationVerify(mlirModuleGetOperation(module)))
    fail("verifying", "see above");
  return module;
}

/// Prints what passes make of a copy of the module.
static void show(MlirContext context, MlirModule module, const char *pipeline) {
  MlirOperation copy = mlirOperationClone(mlirModuleGetOperation(module));
  MlirPassManager passes = mlirPassManagerCreate(context);
  if (mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(
          mlirPassManagerGetAsOpPassManager(passes), text(pipeline), print_part,
          NULL)))
    fail("parsing", pipeline);
  if (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(passes, copy)))
    fail("running", pipeline);
  printf("after %s:\n", pipeline);
  mlirOperationPrint(copy, print_part, NULL);
  mlirPassManagerDestroy(passes);
  mlirOperationDestroy(copy);
}

static DLTensor tensor(float *data, int64_t *shape) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = 2,
                    .dtype = {kDLFloat, 32, 1},
                    .shape = shape};
}

/// Compiles the module, runs it and compares.
static void run(MlirModule module) {
  buffer bytecode = {NULL, 0};
  mlirOperationWriteBytecode(mlirModuleGetOperation(module), append_part,
                             &bytecode);
  pit_compiler *compiler;
  pit_program *program;
  if (pit_compiler_create(&compiler) != PIT_OK)
    fail("creating a compiler", "no memory");
  if (pit_compile_program(compiler, bytecode.data, bytecode.size, "f", NULL,
                          &program) != PIT_OK)
    fail("compiling", pit_compiler_diagnostics(compiler));
  free(bytecode.data);
  pit_compiler_destroy(compiler);

  float a[ROWS * STEPS], b[STEPS * COLUMNS], c[ROWS * COLUMNS],
      result[ROWS * COLUMNS];
  unsigned state = 1;
  for (int i = 0; i < ROWS * STEPS; ++i) {
    state = state * 1664525 + 1013904223;
    a[i] = state >> 30 ? 0 : (float)(state >> 20 & 7);
  }
  for (int i = 0; i < STEPS * COLUMNS; ++i)
    b[i] = (float)(i % 5 - 2);
  for (int i = 0; i < ROWS * COLUMNS; ++i)
    c[i] = (float)i;
  int64_t a_shape[] = {ROWS, STEPS}, b_shape[] = {STEPS, COLUMNS},
          c_shape[] = {ROWS, COLUMNS};
  DLTensor at = tensor(a, a_shape), bt = tensor(b, b_shape),
           ct = tensor(c, c_shape), rt = tensor(result, c_shape);
  const pit_value ins[] = {{.tensor = &at}, {.tensor = &bt}, {.tensor = &ct}};
  DLTensor *outs[] = {&rt};
  pit_context *runtime;
  const pit_entry *entry;
  if (pit_context_create(NULL, &runtime) != PIT_OK ||
      pit_program_entry(runtime, program, "f", &entry) != PIT_OK ||
      pit_entry_run(runtime, entry, ins, 3, outs, 1, NULL) != PIT_OK)
    fail("calling", "see the context's message");
  for (int m = 0; m < ROWS; ++m)
    for (int n = 0; n < COLUMNS; ++n) {
      double sum = c[m * COLUMNS + n];
      for (int k = 0; k < STEPS; ++k)
        sum += (double)a[m * STEPS + k] * b[k * COLUMNS + n];
      if (sum != result[m * COLUMNS + n])
        fail("comparing", "an element is wrong");
    }
  pit_context_destroy(runtime);
  pit_program_close(program);
  printf("the result is right\n");
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  pitRegisterAllDialects(registry);
  pitRegisterAllPasses();
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  MlirModule module = build(context);
  // CHECK: after func.func(pit-plan{choice=now}):
  // CHECK: pit.index %{{.*}} : tensor<?x?xf32> -> !pit.index
  // CHECK: linalg.matmul {pit.rule = #pit.rule<
  show(context, module, "func.func(pit-plan{choice=now})");
  // CHECK: after pit-to-tiles{choice=now}:
  // CHECK: pit.forall
  // CHECK: pit.sread
  // CHECK: pit.swrite
  show(context, module, "pit-to-tiles{choice=now}");

  // A pass by its function.
  MlirPassManager passes = mlirPassManagerCreate(context);
  mlirOpPassManagerAddOwnedPass(
      mlirPassManagerGetNestedUnder(passes, text("func.func")),
      mlirCreatePitTransformsPitLowerMarks());
  MlirOperation copy = mlirOperationClone(mlirModuleGetOperation(module));
  if (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(passes, copy)))
    fail("running", "pit-lower-marks");
  mlirOperationDestroy(copy);
  mlirPassManagerDestroy(passes);

  // CHECK: the result is right
  run(module);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return 0;
}
