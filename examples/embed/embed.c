//===- embed.c - A program that compiles and runs a sparse matmul ---------===//
//
// Everything an application does: compile a function, ask for it by name, run
// it on its own memory. Half of the rows of A are zero; nobody tells pit which.
//
//===----------------------------------------------------------------------===//

#include "pit-c/Compile.h"
#include "pit-runtime/Runtime.h"

#include <stdio.h>
#include <string.h>

enum { M = 64, K = 96, N = 32 };

static const char source[] =
    "func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>,"
    "             %c: tensor<?x?xf32>) -> tensor<?x?xf32> {"
    "  %s = pit.sparse %a : tensor<?x?xf32>"
    "  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)"
    "         outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>"
    "  return %r : tensor<?x?xf32>"
    "}";

static DLTensor matrix(float *data, int64_t shape[2]) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = 2,
                    .dtype = {kDLFloat, 32, 1},
                    .shape = shape};
}

/// Says what went wrong; returns an exit code.
static int failed(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  return 1;
}

int main(void) {
  static float a[M * K], b[K * N], c[M * N], d[M * N];
  for (int i = 0; i < M * K; ++i)
    a[i] = i / K % 2 ? (float)(i % 7 - 3) : 0.0f;
  for (int i = 0; i < K * N; ++i)
    b[i] = (float)(i % 5 - 2);
  for (int i = 0; i < M * N; ++i)
    c[i] = 1.0f;

  pit_compiler *compiler = NULL;
  if (pit_compiler_create(&compiler) != PIT_OK)
    return failed("pit_compiler_create", "no compiler");
  pit_program *program = NULL;
  if (pit_compile_program(compiler, source, strlen(source), "embed.mlir", NULL,
                          &program) != PIT_OK)
    return failed("embed.mlir", pit_compiler_diagnostics(compiler));
  pit_compiler_destroy(compiler); // The program stays.

  pit_context *context = NULL;
  const pit_entry *entry = NULL;
  if (pit_context_create(NULL, &context) != PIT_OK)
    return failed("pit_context_create", "no context");
  char message[512] = "";
  DLTensor at = matrix(a, (int64_t[]){M, K}), bt = matrix(b, (int64_t[]){K, N});
  DLTensor ct = matrix(c, (int64_t[]){M, N}), dt = matrix(d, (int64_t[]){M, N});
  const pit_value ins[] = {{.tensor = &at}, {.tensor = &bt}, {.tensor = &ct}};
  DLTensor *outs[] = {&dt};
  if (pit_program_entry(context, program, "f", &entry) != PIT_OK ||
      pit_entry_run(context, entry, ins, 3, outs, 1, NULL) != PIT_OK) {
    pit_context_message(context, message, sizeof(message));
    return failed("f", message);
  }

  int wrong = 0;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float sum = 1.0f;
      for (int k = 0; k < K; ++k)
        sum += a[m * K + k] * b[k * N + n];
      wrong += d[m * N + n] != sum; // Small integers: exact.
    }
  pit_program_close(program);
  pit_context_destroy(context);
  printf("%d of %d results are right\n", M * N - wrong, M * N);
  return wrong != 0;
}
