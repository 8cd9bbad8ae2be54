//===- CudaFrameTest.c - Memory of calls on a device ----------------------===//

#include "CudaFixture.h"

#include <stdio.h>
#include <string.h>

static void test_alloc(void **state) {
  cuda_fixture *f = *state;
  enum { COUNT = 40 };
  char *pieces[COUNT];
  int before = 0;
  for (int round = 0; round < 5; ++round) {
    pit_frame *frame = cuda_enter(f, NULL);
    for (int i = 0; i < COUNT; ++i) {
      int64_t bytes = i % 7 == 3 ? 3000000 : i * 997L;
      char *piece = cuda_alloc(f, frame, bytes);
      assert_true(round == 0 || piece == pieces[i]);
      for (int j = 0; j < i; ++j)
        assert_true(piece + bytes <= pieces[j] || piece > pieces[j]);
      pieces[i] = piece;
    }
    assert_int_equal(pit_rt_leave(frame, 7), 7);
    if (round == 0)
      before = f->fake->allocations;
  }
  // After the first call nothing is allocated.
  assert_true(before > 0 && before < COUNT);
  assert_int_equal(f->fake->allocations, before);
  assert_int_equal(f->fake->frees, 0);
}

static void test_alloc_errors(void **state) {
  cuda_fixture *f = *state;
  pit_frame *frame = cuda_enter(f, NULL);
  void *memory = f;
  f->fake->memory = 1 << 26;
  check_error(f->context, pit_rt_alloc(frame, -1, &memory),
              PIT_ERROR_INVALID_ARGUMENT,
              "scratch of -1 bytes; it must not be negative");
  assert_null(memory);
  assert_ok(f->context, pit_rt_alloc(frame, 1 << 26, &memory));
  check_error(f->context, pit_rt_alloc(frame, 4096, &memory),
              PIT_ERROR_OUT_OF_MEMORY,
              "cuda: out of memory on device 0 (Fake 0): 4096 bytes were asked "
              "for; 0 of 67108864 are free");
  cuda_fail(f, "cuMemGetInfo_v2", 1, 0, 1);
  check_error(f->context, pit_rt_alloc(frame, INT64_MAX, &memory),
              PIT_ERROR_OUT_OF_MEMORY, "bytes were asked for");
  cuda_fail(f, "cuMemAlloc_v2", 719, 0, 1);
  check_error(f->context, pit_rt_alloc(frame, 4096, &memory), PIT_ERROR_DRIVER,
              "cuda: cuMemAlloc failed on device 0 (Fake 0): fake error (error "
              "719)");
  pit_rt_leave(frame, 0);
}

/// If there is no room for more than was asked for, that is enough.
static void test_tight(void **state) {
  cuda_fixture *f = *state;
  f->fake->memory = 4096;
  pit_frame *frame = cuda_enter(f, NULL);
  cuda_alloc(f, frame, 4096);
  pit_rt_leave(frame, 0);
  assert_int_equal(f->fake->allocated, 4096);
}

static int32_t call_of_size(cuda_fixture *f, void *stream, int64_t bytes) {
  pit_frame *frame = cuda_enter(f, stream);
  void *memory;
  return pit_rt_leave(frame, pit_rt_alloc(frame, bytes, &memory));
}

/// Before a call fails, what is kept for later calls is given up, but nothing
/// that work or a graph may use.
static void test_trim(void **state) {
  cuda_fixture *f = *state;
  const int64_t mib = 1 << 20;
  f->fake->memory = (size_t)64 * mib;
  void *a = f->stream(), *b = f->stream(), *c = f->stream();
  // A block that is too small for this call.
  assert_ok(f->context, call_of_size(f, a, 40 * mib));
  assert_ok(f->context, call_of_size(f, a, 50 * mib));
  assert_int_equal(f->fake->frees, 1);
  // Another stream's, while it is in use and afterwards.
  f->fake->events_pending = 1;
  check_error(f->context, call_of_size(f, b, 30 * mib), PIT_ERROR_OUT_OF_MEMORY,
              "31457280 bytes were asked for");
  f->fake->events_pending = 0;
  assert_ok(f->context, call_of_size(f, b, 30 * mib));
  assert_int_equal(f->fake->frees, 2);
  // Never a graph's, neither from outside nor from within the capture.
  assert_ok(f->context, call_of_size(f, b, 50 * mib));
  void *graph = f->capture(c);
  assert_ok(f->context, call_of_size(f, c, 40 * mib));
  int frees = f->fake->frees;
  check_error(f->context, call_of_size(f, c, 60 * mib), PIT_ERROR_OUT_OF_MEMORY,
              "62914560 bytes were asked for");
  f->end_capture(c);
  check_error(f->context, call_of_size(f, a, 50 * mib), PIT_ERROR_OUT_OF_MEMORY,
              "52428800 bytes were asked for");
  assert_int_equal(f->fake->frees, frees);
  f->destroy_graph(graph);
  assert_ok(f->context, call_of_size(f, a, 50 * mib));
}

static void test_streams(void **state) {
  cuda_fixture *f = *state;
  f->fake->events_pending = 1;
  void *a = f->stream(), *b = f->stream();
  void *of_a = cuda_call(f, a), *of_b = cuda_call(f, b),
       *of_default = cuda_call(f, NULL);
  assert_ptr_not_equal(of_a, of_b);
  assert_ptr_not_equal(of_a, of_default);
  assert_ptr_not_equal(of_b, of_default);
  int before = f->fake->allocations;
  for (int round = 0; round < 3; ++round) {
    assert_ptr_equal(cuda_call(f, a), of_a);
    assert_ptr_equal(cuda_call(f, b), of_b);
    assert_ptr_equal(cuda_call(f, NULL), of_default);
  }
  // Two calls at once on a stream.
  pit_frame *outer = cuda_enter(f, a);
  void *first = cuda_alloc(f, outer, 5000), *second = cuda_call(f, a);
  assert_ptr_equal(first, of_a);
  assert_ptr_not_equal(second, of_a);
  pit_rt_leave(outer, 0);
  assert_int_equal(f->fake->allocations, before + 1);

  // The handle is another stream's now, while the first one's work may still
  // run.
  f->renew_stream(a);
  void *of_new = cuda_call(f, a);
  assert_true(of_new != of_a && of_new != second && of_new != of_b);
  assert_int_equal(f->fake->allocations, before + 2);

  // Once work is done, any stream may have the memory.
  f->fake->events_pending = 0;
  void *c = f->stream();
  cuda_call(f, c);
  assert_int_equal(f->fake->allocations, before + 2);
  assert_int_equal(f->fake->frees, 0);
}

/// Without its event nobody knows when a frame's work is done.
static void test_record_fails(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream();
  pit_frame *frame = cuda_enter(f, a);
  void *memory = cuda_alloc(f, frame, 5000);
  cuda_fail(f, "cuEventRecord", 719, 0, 1);
  check_error(f->context, pit_rt_leave(frame, 0), PIT_ERROR_DRIVER,
              "cuda: cuEventRecord failed on device 0");
  assert_ptr_not_equal(cuda_call(f, f->stream()), memory);
  assert_ptr_equal(cuda_call(f, a), memory);
  // A call's own error is not covered by that.
  frame = cuda_enter(f, a);
  cuda_fail(f, "cuEventRecord", 719, 0, 1);
  assert_int_equal(pit_rt_leave(frame, PIT_ERROR_SHAPE), PIT_ERROR_SHAPE);
}

static void test_enter_fails(void **state) {
  cuda_fixture *f = *state;
  static const struct {
    const char *function, *named;
  } cases[] = {
      {"cuCtxPushCurrent_v2", "cuCtxPushCurrent"},
      {"cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo"},
      {"cuStreamGetId", "cuStreamGetId"},
      {"cuEventCreate", "cuEventCreate"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    cuda_fail(f, cases[i].function, 719, 0, 1);
    pit_frame *frame = NULL;
    char part[64];
    snprintf(part, sizeof(part), "cuda: %s failed on device 0", cases[i].named);
    check_error(
        f->context,
        pit_rt_enter(f->context, &cuda_no_args, NULL, NULL, NULL, NULL, &frame),
        PIT_ERROR_DRIVER, part);
    assert_null(frame);
    assert_int_equal(f->depth(), 0);
  }
  cuda_call(f, NULL);
}

static void test_copy(void **state) {
  cuda_fixture *f = *state;
  pit_frame *frame = cuda_enter(f, NULL);
  char *from = cuda_alloc(f, frame, 64), *to = cuda_alloc(f, frame, 64);
  memset(from, 7, 64);
  assert_ok(f->context, pit_rt_copy(frame, to, from, 64));
  assert_int_equal(to[63], 7);
  assert_ok(f->context, pit_rt_copy(frame, NULL, NULL, 0));
  assert_int_equal(f->fake->copies, 1);
  cuda_fail(f, "cuMemcpyAsync", 719, 0, 1);
  check_error(f->context, pit_rt_copy(frame, to, from, 64), PIT_ERROR_DRIVER,
              "cuda: cuMemcpyAsync failed");
  assert_int_equal(pit_rt_multiprocessors(frame), 132);
  pit_rt_leave(frame, 0);
}

/// Words that are 0 once, and the same for all calls on a stream.
static void test_counters(void **state) {
  cuda_fixture *f = *state;
  pit_frame *frame = cuda_enter(f, NULL);
  void *counters = f, *again;
  cuda_fail(f, "cuStreamSynchronize", 719, 0, 1);
  check_error(f->context, pit_rt_counters(frame, &counters), PIT_ERROR_DRIVER,
              "cuda: cuStreamSynchronize failed");
  assert_null(counters);
  assert_ok(f->context, pit_rt_counters(frame, &counters));
  uint32_t *words = counters;
  for (int i = 0; i < PIT_COUNTERS; ++i)
    assert_int_equal(words[i], 0);
  words[0] = 1;
  assert_ok(f->context, pit_rt_counters(frame, &again));
  assert_ptr_equal(again, counters);
  pit_rt_leave(frame, 0);
  frame = cuda_enter(f, NULL);
  assert_ok(f->context, pit_rt_counters(frame, &again));
  assert_ptr_equal(again, counters);
  assert_int_equal(words[0], 1);
  assert_int_equal(pit_rt_counters(NULL, &again), PIT_ERROR_INVALID_ARGUMENT);
  pit_rt_leave(frame, 0);
}

/// Memory of a device may be constant; calls there keep nothing of it. A result
/// must not lie in it there, either.
static void test_constant(void **state) {
  cuda_fixture *f = *state;
  static const int64_t layout[] = {1, 1};
  const pit_manifest gives = {
      .version = PIT_MANIFEST_WORD0,
      .num_results = 1,
      .device = kDLCUDA,
      .values = (const pit_arg_info[]){{.kind = PIT_KIND_TENSOR,
                                        .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                        .rank = 1,
                                        .dims = {64}}}};
  int64_t shape[] = {64}, views[2];
  pit_constant *constant;
  void *weights, *memory;
  assert_ok(f->context, pit_device_alloc(f->context, 256, &weights));
  DLTensor tensor = cuda_tensor(weights, PIT_DTYPE_FLOAT, 32, 1, shape);
  assert_ok(f->context, pit_constant_create(f->context, &tensor, &constant));
  pit_frame *frame = cuda_enter(f, NULL);
  int32_t found = -1;
  assert_ok(f->context,
            pit_rt_keep(frame, weights, 256, layout, 512, 1, &memory, &found));
  assert_int_equal(found, PIT_KEEP_NONE);
  memset(memory, 1, 512);
  pit_rt_kept(frame, memory);
  pit_rt_leave(frame, 0);
  pit_kept_stats stats;
  pit_context_kept(f->context, &stats);
  assert_int_equal(stats.constants, 1);
  assert_int_equal(stats.pieces, 0);
  assert_int_equal(stats.refused, 0);
  DLTensor *outs[] = {&tensor};
  check_error(f->context,
              pit_rt_enter(f->context, &gives, NULL, outs, NULL, views, &frame),
              PIT_ERROR_INVALID_ARGUMENT,
              "result 0 is in memory that is constant");
  pit_constant_destroy(constant);
  pit_device_free(f->context, weights);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CUDA_TEST(test_alloc),       CUDA_TEST(test_alloc_errors),
      CUDA_TEST(test_trim),        CUDA_TEST(test_tight),
      CUDA_TEST(test_streams),     CUDA_TEST(test_record_fails),
      CUDA_TEST(test_enter_fails), CUDA_TEST(test_copy),
      CUDA_TEST(test_counters),    CUDA_TEST(test_constant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
