//===- MgpuTest.c - What MLIR's gpu-to-llvm calls -------------------------===//
//
// Calls as that pass emits them. What fails aborts, which is seen from a child
// process.
//
//===----------------------------------------------------------------------===//

#include "Cuda/Mgpu.h"
#include "FakeCuda.h"
#include "Reference.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static fake_cuda *fake;
static fake_depth depth;

static int set_up(void **state) {
  (void)state;
  void *library = dlopen(PIT_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  fake_state get;
  fake_reset reset;
  void *addresses[] = {dlsym(library, "fake_cuda_state"),
                       dlsym(library, "fake_cuda_reset"),
                       dlsym(library, "fake_cuda_depth")};
  memcpy(&get, &addresses[0], sizeof(get));
  memcpy(&reset, &addresses[1], sizeof(reset));
  memcpy(&depth, &addresses[2], sizeof(depth));
  reset();
  fake = get();
  setenv("PIT_MGPU_CUDA_LIBRARY", PIT_FAKE_CUDA, 1);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  assert_int_equal(fake->violations, 0);
  assert_int_equal(depth(), 0);
  return 0;
}

static void test_launch(void **state) {
  (void)state;
  char ptx[] = "\177ELF k1 k2 ", cubin[] = "\177ELF c ";
  void *module = mgpuModuleLoadJIT(ptx, 2);
  void *stream = mgpuStreamCreate();
  void *value = &ptx, *params[] = {&value};
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "k2"), 3, 1, 1, 64, 1, 1, 0,
                   stream, params, NULL, 1);
  assert_string_equal(fake->last.kernel, "k2");
  assert_int_equal(fake->last.blocks, 3);
  assert_int_equal(fake->last.threads, 64);
  assert_ptr_equal(fake->last.stream, stream);
  assert_ptr_equal(fake->last.first, value);
  assert_int_equal(fake->attributes_set, 0);
  mgpuModuleUnload(module);
  module = mgpuModuleLoad(cubin, sizeof(cubin));
  mgpuLaunchClusterKernel(mgpuModuleGetFunction(module, "c"), 2, 1, 1, 4, 1, 1,
                          32, 1, 1, 231424, stream, params, NULL);
  assert_int_equal(fake->last.cluster, 2);
  assert_int_equal(fake->last.blocks, 4);
  assert_int_equal(fake->last.shared, 231424);
  assert_int_equal(fake->attributes_set, 1);
  mgpuModuleUnload(module);
  void *event = mgpuEventCreate();
  mgpuEventRecord(event, stream);
  mgpuStreamWaitEvent(stream, event);
  mgpuEventSynchronize(event);
  mgpuEventDestroy(event);
  mgpuStreamSynchronize(stream);
  mgpuStreamDestroy(stream);
}

/// Modules are unloaded after the driver has ended.
static void test_unload_at_the_end(void **state) {
  (void)state;
  char cubin[] = "\177ELF c ";
  void *module = mgpuModuleLoad(cubin, sizeof(cubin));
  fake->fail_function = "cuCtxPushCurrent_v2";
  fake->fail_count = 1;
  fake->fail_error = 4; // CUDA_ERROR_DEINITIALIZED
  mgpuModuleUnload(module);
  assert_int_equal(fake->fail_count, 0);
  fake->fail_function = NULL;
  mgpuModuleUnload(module);
}

static void test_memory(void **state) {
  (void)state;
  char *memory = mgpuMemAlloc(64, NULL, false);
  char *shared = mgpuMemAlloc(64, NULL, true);
  assert_null(mgpuMemAlloc(0, NULL, false));
  mgpuMemset32(memory, 0x01020304, 16, NULL);
  mgpuMemset16(memory, 0x0506, 2, NULL);
  mgpuMemcpy(shared, memory, 64, NULL);
  assert_int_equal(shared[0], 6);
  assert_int_equal(shared[63], 1);
  mgpuMemFree(memory, NULL);
  mgpuMemFree(shared, NULL);
  mgpuMemFree(NULL, NULL);
  assert_int_equal(fake->allocated, 0);
  float host[12];
  struct {
    void *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
  } memref = {host, host, 2, {2, 5}, {5, 1}};
  mgpuMemHostRegisterMemRef(2, (const mgpu_memref *)(void *)&memref, 4);
  mgpuMemHostUnregisterMemRef(2, (const mgpu_memref *)(void *)&memref, 4);
  mgpuMemHostRegister(host, sizeof(host));
  mgpuMemHostUnregister(host);
}

static void test_tensor_map(void **state) {
  (void)state;
  _Alignas(16) char data[64];
  struct {
    void *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
  } memref = {data, data, 8, {100, 4096}, {8192, 1}};
  const int64_t box[5] = {32, 64};
  uint64_t *map = mgpuTensorMapEncodeTiledMemref(
      2, (const mgpu_memref *)(void *)&memref, 6, 0, 3, 2, 0, box);
  assert_int_equal(map[0], 6 | 2 << 8 | 3 << 16 | 2 << 24);
  assert_ptr_equal((void *)(uintptr_t)map[1], data + 16);
  const uint64_t rest[] = {4096, 100, 16384, 64, 32};
  assert_memory_equal(map + 2, rest, sizeof(rest));
  mgpuMemFree(map, NULL);
}

/// What a child process that runs `body` says before it aborts.
static void check_abort(void (*body)(void), const char *part) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    body();
    _exit(0);
  }
  close(ends[1]);
  char said[4096] = "";
  size_t used = 0;
  ssize_t more;
  while (used < sizeof(said) - 1 &&
         (more = read(ends[0], said + used, sizeof(said) - 1 - used)) > 0)
    used += (size_t)more;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSIGNALED(status) || !strstr(said, part)) {
    print_error("status %d, said '%s'; wanted an abort and '%s'\n", status,
                said, part);
    fail();
  }
}

static void missing_kernel(void) {
  char code[] = "\177ELF k ";
  mgpuModuleGetFunction(mgpuModuleLoad(code, sizeof(code)), "other");
}

static void bad_code(void) {
  char code[] = "\177ELF broken";
  mgpuModuleLoadJIT(code, 2);
}

static void bad_device(void) {
  mgpuSetDefaultDevice(64);
  mgpuStreamCreate();
}

static void strided(void) {
  struct {
    void *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
  } memref = {NULL, NULL, 0, {2, 5}, {6, 1}};
  mgpuMemHostRegisterMemRef(2, (const mgpu_memref *)(void *)&memref, 4);
}

static void bad_rank(void) {
  mgpuTensorMapEncodeTiledMemref(6, NULL, 0, 0, 0, 0, 0, NULL);
}

static void test_errors(void **state) {
  (void)state;
  check_abort(missing_kernel,
              "pit: cuModuleGetFunction failed: fake error (error 500)");
  check_abort(bad_code, "pit: not a cubin");
  check_abort(bad_code, "pit: cuModuleLoadDataEx failed: fake error");
  check_abort(bad_device, "pit: device 64; devices 0 to 63 are supported");
  check_abort(strided, "has stride 6 in dimension 0; it must be 5");
  check_abort(bad_rank, "a TMA descriptor of rank 6 and type 0");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_launch), TEST(test_unload_at_the_end),
      TEST(test_memory), TEST(test_tensor_map),
      TEST(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
