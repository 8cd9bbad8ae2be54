//===- index-argument.c - Index arguments of compiled programs ------------===//
//
// RUN: pit-test-index-argument | FileCheck %s
//
//===----------------------------------------------------------------------===//

#include "pit-c/Compile.h"
#include "pit-runtime/Runtime.h"

#include <stdio.h>
#include <string.h>

static const char source[] =
    "!i = !pit.index<micro_tile = [32, 1], axis = 1>\n"
    "func.func @f(%i: !i, %a: tensor<?x?xf32>, %b: tensor<?x?xf32>,\n"
    "             %c: tensor<?x?xf32>) -> tensor<?x?xf32> {\n"
    "  %s = pit.sparse %a index(%i : !i) assume : tensor<?x?xf32>\n"
    "  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)\n"
    "      outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>\n"
    "  return %r : tensor<?x?xf32>\n"
    "}\n";

enum { SIZE = 64 };

static float values[4][SIZE * SIZE];
static int64_t shape[] = {SIZE, SIZE};
static DLTensor tensors[4];
static pit_context *context;
static const pit_entry *entry;

static void run(const char *what, pit_value index, pit_value a) {
  const pit_value ins[] = {
      index, a, {.tensor = &tensors[1]}, {.tensor = &tensors[2]}};
  DLTensor *outs[] = {&tensors[3]};
  pit_status status = pit_entry_run(context, entry, ins, 4, outs, 1, NULL);
  char message[512] = "";
  if (status != PIT_OK)
    pit_context_message(context, message, sizeof(message));
  printf("%s: %s%s%s", what, pit_status_string(status), *message ? ": " : "",
         message);
  if (status == PIT_OK)
    printf(", %g of 2", values[3][0]);
  printf("\n");
}

int main(void) {
  pit_compiler *compiler;
  pit_program *program;
  if (pit_compiler_create(&compiler) != PIT_OK)
    return 1;
  if (pit_compile_program(compiler, source, strlen(source), "f.mlir", NULL,
                          &program) != PIT_OK) {
    printf("%s", pit_compiler_diagnostics(compiler));
    return 1;
  }
  entry = pit_program_entry_at(program, 0);
  for (int i = 0; i < 4; ++i)
    tensors[i] = (DLTensor){.data = values[i],
                            .device = {kDLCPU, 0},
                            .ndim = 2,
                            .dtype = {kDLFloat, 32, 1},
                            .shape = shape};
  for (int i = 0; i < SIZE * SIZE; ++i)
    values[0][i] = values[1][i] = 1;
  int32_t counts[] = {2, 2}, ids[] = {0, 1, 2, 3};
  int64_t offsets[] = {0, 2};
  pit_index_spec spec = {
      .rank = 2, .axis = 1, .shape = {SIZE, SIZE}, .micro_tile = {32, 1}};
  pit_index_arrays arrays = {.counts = counts,
                             .offsets = offsets,
                             .ids = ids,
                             .groups = 2,
                             .capacity = 4};
  pit_index index;
  if (pit_context_create(NULL, &context) != PIT_OK ||
      pit_index_import(context, &spec, &arrays, &index) != PIT_OK)
    return 1;

  // CHECK: sound: ok, 2 of 2
  run("sound", pit_index_value(&index), pit_tensor_value(&tensors[0]));
  // What the caller writes into its arrays is seen by the next call.
  // CHECK-NEXT: far: invalid argument: argument 0: id 1 of group 0 is 1000; it
  // must be in [0, 64)
  ids[1] = 1000;
  run("far", pit_index_value(&index), pit_tensor_value(&tensors[0]));
  // CHECK-NEXT: twice: invalid argument: argument 0: ids 0 and 1 of group 0
  // are 0 and 0; they must ascend
  ids[1] = 0;
  run("twice", pit_index_value(&index), pit_tensor_value(&tensors[0]));
  ids[1] = 1;
  // CHECK-NEXT: many: invalid argument: argument 0: group 0 has 100000 ids;
  // there can be 0 to 64
  counts[0] = 100000;
  run("many", pit_index_value(&index), pit_tensor_value(&tensors[0]));
  counts[0] = 2;
  // CHECK-NEXT: no ids: invalid argument: argument 0: ids is NULL; it must have
  // 4 elements
  index.ids = NULL;
  run("no ids", pit_index_value(&index), pit_tensor_value(&tensors[0]));
  index.ids = ids;
  // CHECK-NEXT: swapped: invalid argument: argument 0 is a tensor; it must be
  // an index
  run("swapped", pit_tensor_value(&tensors[0]), pit_index_value(&index));
  // CHECK-NEXT: index twice: invalid argument: argument 1 is an index; it must
  // be a tensor
  run("index twice", pit_index_value(&index), pit_index_value(&index));

  // An index of another tensor.
  // CHECK-NEXT: other shape: wrong shape: {{.*}} 32
  pit_index_builder *builder;
  const pit_index *built = NULL;
  shape[0] = spec.shape[0] = 32;
  if (pit_index_builder_create(context, &builder) != PIT_OK ||
      pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &tensors[0], NULL,
                      &built) != PIT_OK)
    return 1;
  shape[0] = SIZE;
  run("other shape", pit_index_value(built), pit_tensor_value(&tensors[0]));
  // CHECK-NEXT: built: ok, 64 of 2
  spec.shape[0] = SIZE;
  if (pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &tensors[0], NULL,
                      &built) != PIT_OK)
    return 1;
  run("built", pit_index_value(built), pit_tensor_value(&tensors[0]));
  // CHECK-NEXT: again: ok, 2 of 2
  run("again", pit_index_value(&index), pit_tensor_value(&tensors[0]));

  pit_index_builder_destroy(builder);
  pit_program_close(program);
  pit_context_destroy(context);
  pit_compiler_destroy(compiler);
  return 0;
}
