//===- compile.c - Tests pit-c/Compile.h ----------------------------------===//
//
// RUN: pit-test-compile %t.so 2>&1 | FileCheck %s
//
//===----------------------------------------------------------------------===//

#include "pit-c/Compile.h"
#include "pit-runtime/Runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scale[] =
    "func.func @scale(%x: tensor<?xf32>, %s: f32) -> tensor<?xf32> {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %n = tensor.dim %x, %c0 : tensor<?xf32>\n"
    "  %e = tensor.empty(%n) : tensor<?xf32>\n"
    "  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,\n"
    "      affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],\n"
    "      iterator_types = [\"parallel\"]}\n"
    "      ins(%x, %s : tensor<?xf32>, f32) outs(%e : tensor<?xf32>) {\n"
    "  ^bb0(%a: f32, %b: f32, %o: f32):\n"
    "    %p = arith.mulf %a, %b : f32\n"
    "    linalg.yield %p : f32\n"
    "  } -> tensor<?xf32>\n"
    "  return %r : tensor<?xf32>\n"
    "}\n";

static void check(pit_status status, const char *what) {
  if (status == PIT_OK)
    return;
  printf("%s failed: %s\n", what, pit_status_string(status));
  exit(1);
}

static void check_context(pit_context *context, pit_status status,
                          const char *what) {
  if (status == PIT_OK)
    return;
  char message[512];
  pit_context_message(context, message, sizeof(message));
  printf("%s failed: %s: %s\n", what, pit_status_string(status), message);
  exit(1);
}

/// Runs `scale` on 0 1 2 3 with a factor; prints the result.
static void run(const pit_program *program, float factor) {
  pit_context *context;
  check(pit_context_create(NULL, &context), "context");
  const pit_entry *entry;
  check_context(context, pit_program_entry(context, program, "scale", &entry),
                "entry");
  float x[] = {0, 1, 2, 3}, y[4] = {-1, -1, -1, -1};
  int64_t shape[] = {4};
  DLDataType f32 = {kDLFloat, 32, 1};
  DLTensor in = {.data = x,
                 .device = {kDLCPU, 0},
                 .ndim = 1,
                 .dtype = f32,
                 .shape = shape};
  DLTensor scalar = {.data = &factor, .device = {kDLCPU, 0}, .dtype = f32};
  DLTensor out = in;
  out.data = y;
  const pit_value ins[] = {{.tensor = &in}, {.tensor = &scalar}};
  DLTensor *outs[] = {&out};
  check_context(context, pit_entry_run(context, entry, ins, 2, outs, 1, NULL),
                "run");
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  pit_context_destroy(context);
}

static void emit(pit_compiler *compiler, pit_emit kind, const char *what) {
  void *artifact;
  size_t size;
  pit_status status =
      pit_compile_to_memory(compiler, scale, strlen(scale), "dir/scale-it.mlir",
                            NULL, kind, &artifact, &size);
  printf("-- %s: %s%s\n", what, pit_status_string(status),
         pit_compiler_diagnostics(compiler));
  if (kind == PIT_EMIT_OBJECT || kind == PIT_EMIT_SHARED)
    printf("%.3s\n", (char *)artifact + 1);
  else
    printf("%s", (char *)artifact);
  pit_free(artifact);
}

static void refuse(pit_compiler *compiler, const char *text,
                   const pit_compile_options *options) {
  pit_program *program;
  pit_status status = pit_compile_program(compiler, text, strlen(text),
                                          "bad.mlir", options, &program);
  printf("%s: %s", pit_status_string(status),
         pit_compiler_diagnostics(compiler));
  if (status == PIT_OK || program)
    printf("a program after an error\n");
}

static void *compile_in_thread(void *out) {
  pit_compiler *compiler;
  check(pit_compiler_create(&compiler), "compiler");
  pit_program **program = out;
  check(pit_compile_program(compiler, scale, strlen(scale), "scale", NULL,
                            program),
        "compile");
  pit_compiler_destroy(compiler);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  pit_compiler *compiler;
  check(pit_compiler_create(&compiler), "compiler");

  // Each artifact.
  // CHECK-LABEL: -- mlir: ok{{$}}
  // CHECK: func.func @scale(%{{.*}}: tensor<?xf32>, %{{.*}}: f32) ->
  // tensor<?xf32>
  emit(compiler, PIT_EMIT_MLIR, "mlir");
  // CHECK-LABEL: -- mlir-llvm: ok{{$}}
  // CHECK: llvm.func @pit_scale(
  emit(compiler, PIT_EMIT_MLIR_LLVM, "mlir-llvm");
  // CHECK-LABEL: -- llvm: ok{{$}}
  // CHECK: define {{.*}}i32 @pit_scale(ptr
  emit(compiler, PIT_EMIT_LLVM, "llvm");
  // CHECK-LABEL: -- object: ok{{$}}
  // CHECK-NEXT: ELF
  emit(compiler, PIT_EMIT_OBJECT, "object");
  // CHECK-LABEL: -- shared: ok{{$}}
  // CHECK-NEXT: ELF
  emit(compiler, PIT_EMIT_SHARED, "shared");
  // CHECK-LABEL: -- header: ok{{$}}
  // CHECK: #ifndef PIT_PROGRAM_SCALE_IT_H
  // CHECK: // scale
  // CHECK-NEXT: //   ins[0]: f32[?]
  // CHECK-NEXT: //   ins[1]: f32, a tensor of rank 0
  // CHECK-NEXT: //   outs[0]: f32[dim 0 of arg 0]
  // CHECK-NEXT: int32_t pit_scale(
  // CHECK: extern const struct pit_manifest pit_scale_manifest;
  emit(compiler, PIT_EMIT_HEADER, "header");

  // A program in this process outlives its compiler.
  pit_program *program;
  check(pit_compile_program(compiler, scale, strlen(scale), "scale", NULL,
                            &program),
        "compile");
  pit_compiler_destroy(compiler);
  // CHECK-LABEL: -- run
  // CHECK-NEXT: 0 2 4 6
  printf("-- run\n");
  run(program, 2);
  pit_program_close(program);

  // A shared library, loaded through the runtime, without OpenMP and without
  // optimization.
  check(pit_compiler_create(&compiler), "compiler");
  pit_compile_options plain = PIT_COMPILE_OPTIONS;
  plain.openmp = 0;
  plain.opt_level = 0;
  check(pit_compile_to_file(compiler, scale, strlen(scale), "scale", &plain,
                            PIT_EMIT_SHARED, argv[1]),
        "compile to file");
  pit_context *context;
  check(pit_context_create(NULL, &context), "context");
  check_context(context, pit_program_open(context, argv[1], &program), "open");
  pit_context_destroy(context);
  // CHECK-NEXT: 0 3 6 9
  run(program, 3);
  pit_program_close(program);

  // Another cpu: the host's features do not leak in.
  // CHECK-LABEL: -- cpu
  // CHECK: "target-cpu"="x86-64-v2"
  // CHECK-NOT: avx
  printf("-- cpu\n");
  pit_compile_options older = PIT_COMPILE_OPTIONS;
  older.cpu = "x86-64-v2";
  void *artifact;
  size_t size;
  check(pit_compile_to_memory(compiler, scale, strlen(scale), "scale", &older,
                              PIT_EMIT_LLVM, &artifact, &size),
        "compile");
  printf("%s", (char *)artifact);
  pit_free(artifact);

  // What is refused, in one line each.
  // CHECK-LABEL: -- errors
  printf("-- errors\n");
  // CHECK-NEXT: invalid argument: bad.mlir:1:1: error: {{.+}}
  refuse(compiler, "hello", NULL);
  // CHECK-NEXT: invalid argument: bad.mlir:1:{{[0-9]+}}: error:
  // {{.*}}'tensor.dim'
  refuse(compiler,
         "func.func @f(%i: index) { %d = tensor.dim %i, %i : index return }",
         NULL);
  // CHECK-NEXT: unsupported: bad.mlir:1:1: error: 'func.func' op argument 0 is
  // of type 'memref<4xf32>'
  refuse(compiler, "func.func @f(%a: memref<4xf32>) { return }", NULL);
  pit_compile_options bad = PIT_COMPILE_OPTIONS;
  bad.target = "abacus";
  // CHECK-NEXT: unsupported: error: target 'abacus' is not supported; it must
  // be cpu
  refuse(compiler, scale, &bad);
  bad = older;
  bad.cpu = "abacus";
  // CHECK-NEXT: invalid argument: error: cpu 'abacus' is not known for {{.*}}
  refuse(compiler, scale, &bad);
  bad = older;
  bad.features = "+avx2,+beads";
  // CHECK-NEXT: invalid argument: error: feature '+beads' is not known for
  // {{.*}}
  refuse(compiler, scale, &bad);
  bad.features = "avx2";
  // CHECK-NEXT: invalid argument: error: feature 'avx2' is not known for
  // {{.*}}; it must be + or -
  refuse(compiler, scale, &bad);
  bad = older;
  bad.pipeline = "beads=3";
  // CHECK-NEXT: invalid argument: error: options of pit-to-cpu "beads=3":
  // {{.*}}beads
  refuse(compiler, scale, &bad);
  bad = older;
  bad.opt_level = 4;
  // CHECK-NEXT: invalid argument: error: the optimization level is 4; it must
  // be 0, 1, 2 or 3
  refuse(compiler, scale, &bad);
  bad = older;
  bad.entry = "beads";
  // CHECK-NEXT: not found: error: no public function 'beads'; there are: scale
  refuse(compiler, scale, &bad);
  bad = older;
  bad.struct_size = 8;
  // CHECK-NEXT: invalid argument: error: options of 8 bytes; begin with
  // PIT_COMPILE_OPTIONS
  refuse(compiler, scale, &bad);
  // CHECK-NEXT: not found: error: cannot write '/nowhere/f.ll': {{.+}}
  pit_status status =
      pit_compile_to_file(compiler, scale, strlen(scale), "scale", NULL,
                          PIT_EMIT_LLVM, "/nowhere/f.ll");
  printf("%s: %s", pit_status_string(status),
         pit_compiler_diagnostics(compiler));
  // CHECK-NEXT: not found: error: cannot link '/nowhere/f.so' with {{.+}}
  status = pit_compile_to_file(compiler, scale, strlen(scale), "scale", NULL,
                               PIT_EMIT_SHARED, "/nowhere/f.so");
  printf("%s: %s", pit_status_string(status),
         pit_compiler_diagnostics(compiler));
  // A function that nobody defines.
  // CHECK-NEXT: cannot load: error: {{.*}}nobody_defines_this
  refuse(compiler,
         "func.func private @nobody_defines_this(f32)\n"
         "func.func @f(%a: f32) {\n"
         "  call @nobody_defines_this(%a) : (f32) -> ()\n  return\n}",
         NULL);
  // Options as they were before there was an entry: what follows is not read.
  // CHECK-NEXT: ok:
  bad = older;
  bad.struct_size = offsetof(pit_compile_options, entry);
  bad.entry = "beads";
  printf("%s:\n", pit_status_string(pit_compile_to_memory(
                      compiler, scale, strlen(scale), "scale", &bad,
                      PIT_EMIT_LLVM, &artifact, &size)));
  pit_free(artifact);
  // Nothing at all is a program without entries.
  // CHECK-NEXT: empty: 0 entries
  check(pit_compile_program(compiler, NULL, 0, NULL, NULL, &program), "empty");
  printf("empty: %d entries\n", pit_program_num_entries(program));
  pit_program_close(program);
  // CHECK-NEXT: NULL: 1 1 1
  printf("NULL: %d %d %d\n", pit_compiler_create(NULL),
         pit_compile_program(NULL, scale, 1, "scale", NULL, &program),
         pit_compile_program(compiler, scale, 1, "scale", NULL, NULL));
  pit_compiler_destroy(NULL);
  pit_free(NULL);
  // A compiler is as good as new after an error.
  // CHECK-NEXT: 0 4 8 12
  check(pit_compile_program(compiler, scale, strlen(scale), "scale", NULL,
                            &program),
        "compile after an error");
  run(program, 4);
  pit_program_close(program);
  pit_compiler_destroy(compiler);

  // Compilers in several threads.
  // CHECK-LABEL: -- threads
  // CHECK-NEXT: 0 5 10 15
  // CHECK-NEXT: 0 5 10 15
  printf("-- threads\n");
  pthread_t threads[2];
  pit_program *programs[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, compile_in_thread, &programs[i]);
  for (int i = 0; i < 2; ++i) {
    pthread_join(threads[i], NULL);
    run(programs[i], 5);
    pit_program_close(programs[i]);
  }
  return 0;
}
