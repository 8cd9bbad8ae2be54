//===- plain-functions.c - Calls the functions of plain-functions.mlir ----===//

#include "FakeCuda.h"

#include "pit-runtime/Abi.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/// Memory of the device with two dimensions, as MLIR describes it.
typedef struct matrix {
  float *allocated, *data;
  int64_t offset, sizes[2], strides[2];
} matrix;

typedef struct matrix_and_token {
  matrix value;
  void *token;
} matrix_and_token;

void _mlir_ciface_product(matrix *result, matrix *x, matrix *w);
void _mlir_ciface_chain(matrix_and_token *result, matrix *x, matrix *w,
                        matrix *v, void *token);
void _mlir_ciface_into(matrix *x, matrix *w, matrix *out, void *stream);
void _mlir_ciface_twice_on_host(matrix *x, matrix *w);

// mgpu-functions.c, where gpu.alloc's memory is from.
void *mgpuMemAlloc(uint64_t bytes, void *stream, bool shared);
void mgpuMemFree(void *memory, void *stream);

static fake_cuda *fake;
static fake_depth depth;
static fake_capture capture;
static fake_end_capture end_capture;
static fake_destroy_graph destroy_graph;
static void *stream;

static void find(void *library, const char *symbol, void *pointer) {
  void *address = dlsym(library, symbol);
  if (!address)
    abort();
  memcpy(pointer, &address, sizeof(address));
}

static matrix make(int64_t rows, int64_t columns) {
  matrix made = {.sizes = {rows, columns}, .strides = {columns, 1}};
  made.allocated = made.data = mgpuMemAlloc(
      (uint64_t)(rows ? rows * columns : 1) * sizeof(float), NULL, false);
  return made;
}

/// Prints what has changed, and what the last kernel was given.
static void tell(const char *what, const float *first) {
  fprintf(stderr,
          "%s: %zu bytes, depth %d, %d violations, last kernel %s on %s "
          "stream, its first argument is %s\n",
          what, fake->allocated, depth(), fake->violations, fake->last.kernel,
          fake->last.stream == stream ? "the given"
          : fake->last.stream         ? "another"
                                      : "the default",
          fake->last.first == first ? "right" : "wrong");
}

static matrix x, w, v, out, result;
static matrix_and_token with_token;

static void call_product(void) {
  _mlir_ciface_product(&result, &x, &w);
  mgpuMemFree(result.allocated, NULL);
}
static void call_chain(void) {
  _mlir_ciface_chain(&with_token, &x, &w, &v, stream);
  mgpuMemFree(with_token.value.allocated, NULL);
}
static void call_into(void) { _mlir_ciface_into(&x, &w, &out, stream); }
static void call_on_host(void) { _mlir_ciface_twice_on_host(&x, &w); }

/// What fails; the first one calls product, too.
static void (*const functions[])(void) = {call_chain, call_into};
enum { FUNCTIONS = sizeof(functions) / sizeof(*functions) };

static int run_calls(void) {
  // The first calls load the kernels and make frames.
  for (int round = 0; round < 2; ++round) {
    fprintf(stderr, "round %d\n", round);
    call_product();
    tell("product", x.data);
    fprintf(stderr, "result of %lld x %lld\n", (long long)result.sizes[0],
            (long long)result.sizes[1]);
    call_chain();
    tell("chain", x.data);
    fprintf(stderr, "token %s\n", with_token.token == stream ? "kept" : "lost");
    call_into();
    tell("into", x.data);
    call_on_host();
    tell("on host", x.data);
  }
  // No rows.
  x.sizes[0] = 0;
  call_product();
  fprintf(stderr, "result of %lld x %lld\n", (long long)result.sizes[0],
          (long long)result.sizes[1]);
  x.sizes[0] = 96;
  // What has a stream can be captured.
  void *graph = capture(stream);
  call_into();
  end_capture(stream);
  destroy_graph(graph);
  tell("captured", x.data);
  return fake->violations || depth();
}

/// Calls a function while the driver fails; 1: that was reported, 0: the driver
/// did not fail, 2: it did, and nobody noticed.
static int fail(void (*function)(void), const char *name, int after) {
  int ends[2];
  if (pipe(ends) != 0)
    abort();
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    signal(SIGABRT, SIG_DFL);
    fake->fail_function = name;
    fake->fail_after = after;
    fake->fail_count = 1;
    fake->fail_error = 719;
    function();
    _exit(fake->fail_count ? 0 : 2);
  }
  close(ends[1]);
  char text[4096];
  size_t length = 0;
  for (ssize_t got;
       length < sizeof(text) - 1 &&
       (got = read(ends[0], text + length, sizeof(text) - 1 - length)) > 0;)
    length += (size_t)got;
  text[length] = '\0';
  close(ends[0]);
  int how;
  if (waitpid(child, &how, 0) != child)
    abort();
  if (WIFEXITED(how) && WEXITSTATUS(how) != 1)
    return WEXITSTATUS(how);
  // The message names the function, without its version.
  char plain[64];
  snprintf(plain, sizeof(plain), "%s", name);
  plain[strcspn(plain, "_")] = '\0';
  const char *says =
      strncmp(name, "cuLaunchKernel", 14) == 0 ? "starting kernel" : plain;
  if (WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT &&
      strncmp(text, "pit: ", 5) == 0 &&
      (strstr(text, says) || strstr(text, plain)))
    return 1;
  printf("%s after %d: not reported: %s\n", name, after, text);
  exit(1);
}

static int run_failures(void) {
  static const char *const names[] = {
      "cuInit",
      "cuDeviceGet",
      "cuDevicePrimaryCtxRetain",
      "cuCtxPushCurrent_v2",
      "cuStreamGetCaptureInfo_v2",
      "cuStreamGetId",
      "cuEventCreate",
      "cuMemAlloc_v2",
      "cuMemFree_v2",
      "cuLinkCreate_v2",
      "cuLinkAddData_v2",
      "cuLinkComplete",
      "cuModuleLoadDataEx",
      "cuModuleGetFunction",
      "cuFuncGetAttribute",
      "cuLaunchKernel",
      "cuLaunchKernelEx",
      "cuStreamSynchronize",
      "cuEventRecord",
  };
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
    int reported = 0, tolerated = 0;
    for (int f = 0; f < FUNCTIONS; ++f) {
      int outcome;
      for (int after = 0; (outcome = fail(functions[f], names[i], after));
           ++after) {
        reported += outcome == 1;
        tolerated += outcome == 2;
      }
    }
    printf("%s: %d reported, %d tolerated\n", names[i], reported, tolerated);
  }
  return 0;
}

int main(int argc, char **argv) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  fake_state get;
  fake_stream new_stream;
  find(library, "fake_cuda_state", &get);
  find(library, "fake_cuda_depth", &depth);
  find(library, "fake_cuda_stream", &new_stream);
  find(library, "fake_cuda_capture", &capture);
  find(library, "fake_cuda_end_capture", &end_capture);
  find(library, "fake_cuda_destroy_graph", &destroy_graph);
  fake = get();
  stream = new_stream();
  x = make(argc > 2 ? atoi(argv[2]) : 96, 1024);
  w = make(1024, 512);
  v = make(512, 32);
  out = make(96, 512);
  return argc > 1 && strcmp(argv[1], "calls") == 0 ? run_calls()
                                                   : run_failures();
}
