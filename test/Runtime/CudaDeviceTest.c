//===- CudaDeviceTest.c - Memory and streams for a caller -----------------===//

#include "CudaFixture.h"

#include "pit-runtime/Device.h"

#include <string.h>

static void test_query(void **state) {
  cuda_fixture *f = *state;
  pit_device_info info;
  assert_ok(f->context, pit_device_query(f->context, &info));
  assert_int_equal(info.device_id, 0);
  assert_int_equal(info.capability, 90);
  assert_int_equal(info.multiprocessors, 132);
  assert_string_equal(info.name, "Fake 0");
  check_error(f->context, pit_device_query(f->context, NULL),
              PIT_ERROR_INVALID_ARGUMENT,
              "device query: the place for the result is NULL");
}

/// There and back, each copy done when its function returns.
static void test_copies(void **state) {
  cuda_fixture *f = *state;
  char from[1000], to[1000] = {0};
  for (size_t i = 0; i < sizeof(from); ++i)
    from[i] = (char)i;
  pit_stream stream;
  void *memory, *nothing;
  assert_ok(f->context, pit_stream_create(f->context, &stream));
  assert_non_null(stream);
  assert_ok(f->context, pit_device_alloc(f->context, sizeof(from), &memory));
  assert_int_equal((uintptr_t)memory % 256, 0);
  assert_ok(f->context, pit_device_alloc(f->context, 0, &nothing));
  assert_non_null(nothing);
  assert_int_equal(f->fake->allocations, 2);

  assert_ok(f->context,
            pit_device_write(f->context, memory, from, sizeof(from), stream));
  assert_int_equal(f->fake->writes, 1);
  assert_int_equal(f->fake->waits, 1);
  assert_ok(f->context, pit_device_read(f->context, to + 1, (char *)memory + 1,
                                        sizeof(to) - 1, stream));
  assert_int_equal(f->fake->reads, 1);
  assert_int_equal(f->fake->waits, 2);
  assert_int_equal(to[0], 0);
  assert_memory_equal(to + 1, from + 1, sizeof(to) - 1);

  // Nothing to copy: nothing is asked of the device.
  assert_ok(f->context, pit_device_write(f->context, NULL, NULL, 0, stream));
  assert_ok(f->context, pit_device_read(f->context, NULL, NULL, 0, NULL));
  assert_int_equal(f->fake->waits, 2);

  assert_ok(f->context, pit_stream_wait(f->context, NULL));
  assert_int_equal(f->fake->waits, 3);
  assert_ok(f->context, pit_device_free(f->context, memory));
  assert_ok(f->context, pit_device_free(f->context, nothing));
  assert_ok(f->context, pit_device_free(f->context, NULL));
  assert_int_equal(f->fake->frees, 2);
  assert_ok(f->context, pit_stream_destroy(f->context, stream));
  assert_ok(f->context, pit_stream_destroy(f->context, NULL));
}

static void test_arguments(void **state) {
  cuda_fixture *f = *state;
  char byte = 0;
  void *memory = &byte;
  assert_int_equal(pit_device_alloc(NULL, 4, &memory),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(pit_stream_wait(NULL, NULL), PIT_ERROR_INVALID_ARGUMENT);
  check_error(f->context, pit_device_alloc(f->context, -1, &memory),
              PIT_ERROR_INVALID_ARGUMENT,
              "device memory: -1 bytes; it must not be negative");
  assert_null(memory);
  check_error(f->context, pit_device_alloc(f->context, 4, NULL),
              PIT_ERROR_INVALID_ARGUMENT,
              "device memory: the place for the result is NULL");
  check_error(f->context, pit_stream_create(f->context, NULL),
              PIT_ERROR_INVALID_ARGUMENT,
              "stream: the place for the result is NULL");
  check_error(f->context, pit_device_write(f->context, &byte, &byte, -2, NULL),
              PIT_ERROR_INVALID_ARGUMENT,
              "copy: -2 bytes; it must not be negative");
  check_error(f->context, pit_device_write(f->context, NULL, &byte, 1, NULL),
              PIT_ERROR_INVALID_ARGUMENT,
              "copy: 1 bytes, but the memory to copy to is NULL");
  check_error(f->context, pit_device_read(f->context, &byte, NULL, 1, NULL),
              PIT_ERROR_INVALID_ARGUMENT,
              "copy: 1 bytes, but the memory to copy from is NULL");
}

static void test_no_device(void **state) {
  (void)state;
  char byte = 0;
  void *memory = &byte;
  pit_device_info info;
  pit_context *plain;
  assert_int_equal(pit_context_create(NULL, &plain), PIT_OK);
#define REFUSED(call, what)                                                    \
  check_error(plain, call, PIT_ERROR_DEVICE,                                   \
              what ": the context was made without a device "                  \
                   "(pit_context_options.device_type)")
  REFUSED(pit_device_query(plain, &info), "device query");
  REFUSED(pit_device_alloc(plain, 4, &memory), "device memory");
  assert_null(memory);
  REFUSED(pit_device_free(plain, &byte), "device memory");
  REFUSED(pit_device_write(plain, &byte, &byte, 1, NULL), "copy");
  REFUSED(pit_device_read(plain, &byte, &byte, 0, NULL), "copy");
  REFUSED(pit_stream_create(plain, &memory), "stream");
  REFUSED(pit_stream_destroy(plain, NULL), "stream");
  REFUSED(pit_stream_wait(plain, NULL), "stream");
  pit_context_destroy(plain);
}

/// Whatever the driver refuses, and nothing is left behind.
static void test_failures(void **state) {
  cuda_fixture *f = *state;
  char byte = 0;
  void *memory = &byte;
  cuda_fail(f, "cuMemAlloc_v2", 719, 0, 1);
  check_error(f->context, pit_device_alloc(f->context, 4, &memory),
              PIT_ERROR_DRIVER, "cuda: cuMemAlloc failed on device 0 (Fake 0)");
  assert_null(memory);
  assert_ok(f->context, pit_device_alloc(f->context, 4, &memory));
  const struct {
    const char *function, *message;
  } copies[] = {{"cuMemcpyHtoDAsync_v2", "cuda: cuMemcpyHtoDAsync failed"},
                {"cuStreamSynchronize", "cuda: cuStreamSynchronize failed"},
                {"cuCtxPushCurrent_v2", "cuda: cuCtxPushCurrent failed"}};
  for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); ++i) {
    cuda_fail(f, copies[i].function, 719, 0, 1);
    check_error(f->context,
                pit_device_write(f->context, memory, &byte, 1, NULL),
                PIT_ERROR_DRIVER, copies[i].message);
    assert_int_equal(f->depth(), 0);
  }
  cuda_fail(f, "cuMemcpyDtoHAsync_v2", 719, 0, 1);
  check_error(f->context, pit_device_read(f->context, &byte, memory, 1, NULL),
              PIT_ERROR_DRIVER, "cuda: cuMemcpyDtoHAsync failed");
  cuda_fail(f, "cuStreamCreate", 719, 0, 1);
  void *stream = &byte;
  check_error(f->context, pit_stream_create(f->context, &stream),
              PIT_ERROR_DRIVER, "cuda: cuStreamCreate failed");
  assert_null(stream);
  cuda_fail(f, "cuMemFree_v2", 719, 0, 1);
  check_error(f->context, pit_device_free(f->context, memory), PIT_ERROR_DRIVER,
              "cuda: cuMemFree failed");
  assert_ok(f->context, pit_device_free(f->context, memory));
}

/// What earlier calls left is freed before an allocation fails.
static void test_out_of_memory(void **state) {
  cuda_fixture *f = *state;
  void *memory;
  check_error(f->context, pit_device_alloc(f->context, INT64_MAX, &memory),
              PIT_ERROR_OUT_OF_MEMORY,
              "cuda: out of memory on device 0 (Fake 0): 9223372036854775807 "
              "bytes were asked for; 1073741824 of 1073741824 are free");
  f->fake->memory = 4 << 20;
  pit_frame *frame = cuda_enter(f, NULL);
  assert_ok(f->context, pit_rt_alloc(frame, 3 << 20, &memory));
  pit_rt_leave(frame, 0);
  f->fake->events_pending = 1;
  check_error(f->context, pit_device_alloc(f->context, 2 << 20, &memory),
              PIT_ERROR_OUT_OF_MEMORY, "1048576 of 4194304 are free");
  f->fake->events_pending = 0;
  assert_ok(f->context, pit_device_alloc(f->context, 2 << 20, &memory));
  assert_ok(f->context, pit_device_free(f->context, memory));
}

/// While another stream is captured, nothing here disturbs it.
static void test_capture(void **state) {
  cuda_fixture *f = *state;
  void *stream = f->stream(), *graph = f->capture(stream);
  char byte = 1;
  void *memory;
  assert_ok(f->context, pit_device_alloc(f->context, 1, &memory));
  assert_ok(f->context, pit_device_write(f->context, memory, &byte, 1, NULL));
  assert_ok(f->context, pit_stream_wait(f->context, NULL));
  assert_ok(f->context, pit_device_free(f->context, memory));
  f->end_capture(stream);
  f->destroy_graph(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CUDA_TEST(test_query),     CUDA_TEST(test_copies),
      CUDA_TEST(test_arguments), CUDA_TEST(test_no_device),
      CUDA_TEST(test_failures),  CUDA_TEST(test_out_of_memory),
      CUDA_TEST(test_capture),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
