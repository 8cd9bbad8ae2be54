//===- bad-input.c - pit-c/Compile.h on bad arguments ---------------------===//
//
// RUN: pit-test-bad-input 2>%t.err | FileCheck %s
//
//===----------------------------------------------------------------------===//

#include "pit-c/Compile.h"

#include <stdio.h>
#include <string.h>

static const char sound[] = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {"
                            " return %a : tensor<4xf32> }";

static pit_compiler *compiler;

static void show(const char *what, pit_status status) {
  const char *said = pit_compiler_diagnostics(compiler);
  const char *end = strchr(said, '\n');
  // One line, cut.
  int length = end && end - said < 100 ? (int)(end - said) : 100;
  printf("%s: %s, %.*s\n", what, pit_status_string(status), length,
         *said ? said : "no diagnostics");
  if (*said && (!end || end[1]))
    printf("%s: not one line\n", what);
}

/// Compiles `text` to an object in memory.
static void compile(const char *what, const char *text, size_t size,
                    const pit_compile_options *options) {
  void *artifact = &artifact;
  size_t artifact_size = 7;
  pit_status status =
      pit_compile_to_memory(compiler, text, size, "f", options, PIT_EMIT_OBJECT,
                            &artifact, &artifact_size);
  show(what, status);
  if (status != PIT_OK && (artifact || artifact_size))
    printf("an artifact after an error\n");
  pit_free(artifact);
}

static void with(const char *what, const pit_compile_options *options) {
  compile(what, sound, strlen(sound), options);
}

int main(void) {
  size_t size = strlen(sound), artifact_size;
  void *artifact;
  pit_program *program;
  if (pit_compiler_create(&compiler) != PIT_OK)
    return 1;

  // Each call says which argument is NULL, and nothing of the call before.
  compile("garbage", "garbage", 7, NULL);
  show("program", pit_compile_program(compiler, sound, size, "f", NULL, NULL));
  show("artifact", pit_compile_to_memory(compiler, sound, size, "f", NULL,
                                         PIT_EMIT_MLIR, NULL, &artifact_size));
  show("artifact_size", pit_compile_to_memory(compiler, sound, size, "f", NULL,
                                              PIT_EMIT_MLIR, &artifact, NULL));
  show("path", pit_compile_to_file(compiler, sound, size, "f", NULL,
                                   PIT_EMIT_MLIR, NULL));
  show("source", pit_compile_program(compiler, NULL, 5, "f", NULL, &program));
  // CHECK: garbage: invalid argument, f:1:1: error:
  // CHECK-NEXT: program: invalid argument, error: the argument program is NULL
  // CHECK-NEXT: artifact: invalid argument, error: the argument artifact is
  // CHECK-SAME: NULL
  // CHECK-NEXT: artifact_size: invalid argument, error: the argument
  // CHECK-SAME: artifact_size is NULL
  // CHECK-NEXT: path: invalid argument, error: the argument path is NULL
  // CHECK-NEXT: source: invalid argument, error: the source is NULL but has 5
  // CHECK-SAME: bytes

  // Without a compiler there is nobody to say it.
  // CHECK-NEXT: without a compiler: 1 1 1 ''
  program = (pit_program *)&program;
  printf("without a compiler: %d %d %d '%s'\n",
         pit_compile_program(NULL, sound, size, "f", NULL, &program),
         pit_compile_to_memory(NULL, sound, size, "f", NULL, PIT_EMIT_MLIR,
                               &artifact, &artifact_size),
         pit_compile_to_file(NULL, sound, size, "f", NULL, PIT_EMIT_MLIR, "f"),
         pit_compiler_diagnostics(NULL));
  if (program || artifact || artifact_size)
    printf("something after an error\n");
  pit_compiler_destroy(NULL);
  pit_free(NULL);

  // What is no text, and bytecode that ends early.
  // CHECK-NEXT: bytes: invalid argument, f:1:1: error:
  compile("bytes", "\xff\x01\x00\x80", 4, NULL);
  // CHECK-NEXT: bytecode: invalid argument, {{.*}}error:
  compile("bytecode", "ML\xefR", 4, NULL);
  // CHECK-NEXT: longer bytecode: invalid argument, {{.*}}error:
  compile("longer bytecode", "ML\xefR\x0d\x01\x02\x03\x04\x05", 10, NULL);

  // Options that are cut, or larger than this version's.
  pit_compile_options options = PIT_COMPILE_OPTIONS;
  for (size_t cut = 0; cut <= sizeof(options) + 8; ++cut) {
    options.struct_size = cut;
    pit_status status =
        pit_compile_to_memory(compiler, "", 0, "f", &options, PIT_EMIT_HEADER,
                              &artifact, &artifact_size);
    if (status == PIT_OK)
      printf("%s%zu bytes", cut == sizeof(options) ? "all: " : "part: ", cut);
    pit_free(artifact);
  }
  printf("\n");
  // CHECK-NEXT: part: {{[0-9]+}} bytespart: {{[0-9]+}} bytespart: {{[0-9]+}}
  // CHECK-SAME: bytesall: {{[0-9]+}} bytes{{$}}
  options.struct_size = SIZE_MAX;
  // CHECK-NEXT: size: invalid argument, error: options of 18446744073709551615
  // CHECK-SAME: bytes; begin
  with("size", &options);

  // Strings that no option takes.
  static char longest[1 << 20];
  memset(longest, 'x', sizeof(longest) - 1);
  options = (pit_compile_options)PIT_COMPILE_OPTIONS;
  options.target = "";
  // CHECK-NEXT: target: unsupported, error: target '' is not supported; it
  // CHECK-SAME: must be cpu or cuda
  with("target", &options);
  options = (pit_compile_options)PIT_COMPILE_OPTIONS;
  options.cpu = longest;
  // CHECK-NEXT: cpu: invalid argument, error: cpu 'xxxx
  with("cpu", &options);
  options.cpu = "%s%n";
  // CHECK-NEXT: cpu: invalid argument, error: cpu '%s%n' is not known
  with("cpu", &options);
  options = (pit_compile_options)PIT_COMPILE_OPTIONS;
  static const char *const features[] = {"+", "-", ",+,", "++avx", "\n"};
  for (size_t i = 0; i < sizeof(features) / sizeof(*features); ++i) {
    options.features = features[i];
    with("features", &options);
  }
  // CHECK-NEXT: features: invalid argument, error: feature '+' is not known
  // CHECK-NEXT: features: invalid argument, error: feature '-' is not known
  // CHECK-NEXT: features: invalid argument, error: feature '+' is not known
  // CHECK-NEXT: features: invalid argument, error: feature '++avx' is not
  // CHECK-SAME: known
  // CHECK-NEXT: features: invalid argument, error: feature ' ' is not known
  options = (pit_compile_options)PIT_COMPILE_OPTIONS;
  static const char *const pipelines[] = {
      "{", "}", "dense", "dense=maybe", "{dense=true", "x=y z"};
  for (size_t i = 0; i < sizeof(pipelines) / sizeof(*pipelines); ++i) {
    options.pipeline = pipelines[i];
    pit_status status =
        pit_compile_to_memory(compiler, sound, size, "f", &options,
                              PIT_EMIT_MLIR, &artifact, &artifact_size);
    printf("pipeline %s: %s\n", pipelines[i], pit_status_string(status));
    pit_free(artifact);
  }
  // CHECK-NEXT: pipeline {: invalid argument
  // CHECK-NEXT: pipeline }: invalid argument
  // CHECK-NEXT: pipeline dense:
  // CHECK-NEXT: pipeline dense=maybe: invalid argument
  // CHECK-NEXT: pipeline {dense=true:
  // CHECK-NEXT: pipeline x=y z: invalid argument
  options = (pit_compile_options)PIT_COMPILE_OPTIONS;
  options.entry = longest;
  // CHECK-NEXT: entry: not found, error: no public function 'xxx
  with("entry", &options);
  options = (pit_compile_options)PIT_COMPILE_OPTIONS;
  options.device_code = "elf";
  // CHECK-NEXT: device code: invalid argument, error: device code 'elf' is not
  // CHECK-SAME: known; it must
  with("device code", &options);
  options = (pit_compile_options)PIT_COMPILE_OPTIONS;
  options.target = "cuda";
  options.chip = "sm_";
  // CHECK-NEXT: chip: invalid argument, error: chip 'sm_' is not known
  with("chip", &options);
  options.chip = "sm_99999999999999999999";
  // CHECK-NEXT: chip: invalid argument, error: chip 'sm_9999
  with("chip", &options);
  options = (pit_compile_options)PIT_COMPILE_OPTIONS;
  options.opt_level = INT32_MIN;
  with("level", &options);
  // CHECK-NEXT: level: invalid argument, error: the optimization level is
  // CHECK-SAME: -2147483648; it must be 0, 1, 2 or 3
  show("emit", pit_compile_to_memory(compiler, sound, size, "f", NULL,
                                     (pit_emit)99, &artifact, &artifact_size));
  // CHECK-NEXT: emit: invalid argument, error: emit is 99; it must be one of
  // CHECK-SAME: pit_emit
  // Every member may be NULL: the default.
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  // CHECK-NEXT: defaults: ok, no diagnostics
  with("defaults", &options);
  pit_compiler_destroy(compiler);
  return 0;
}
