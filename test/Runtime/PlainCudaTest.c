//===- PlainCudaTest.c - Calls without a context, on a device -------------===//
//
// Needs the fake driver as libcuda.so.1: there is no option that names it.
//
//===----------------------------------------------------------------------===//

#include "Child.h"
#include "CudaFixture.h"

#include <pthread.h>
#include <string.h>

/// As a module has them: its context, and an address for each function.
static void *calls[3];

static int tear_down(void **state) {
  pit_context_destroy(calls[0]);
  calls[0] = NULL;
  return cuda_tear_down(state);
}

#define PLAIN_TEST(name)                                                       \
  cmocka_unit_test_setup_teardown(name, cuda_set_up_bare, tear_down)

static void *allocate(pit_frame *frame, int64_t bytes) {
  void *memory = NULL;
  pit_rt_expect(frame, pit_rt_alloc(frame, bytes, &memory));
  return memory;
}

static void frames_share_the_context(void **state) {
  cuda_fixture *f = *state;
  pit_frame *first = pit_rt_open_cuda(&calls[0], &calls[1], NULL);
  assert_int_equal(f->depth(), 1);
  void *context = calls[0];
  assert_non_null(context);
  void *memory = allocate(first, 1000);
  // As when one such function calls another.
  pit_frame *second = pit_rt_open_cuda(&calls[0], &calls[2], NULL);
  assert_int_equal(f->depth(), 2);
  assert_ptr_not_equal(first, second);
  assert_ptr_equal(calls[0], context);
  assert_ptr_not_equal(allocate(second, 1000), memory);
  pit_rt_close_cuda(second, 0);
  assert_int_equal(f->depth(), 1);
  assert_int_equal(f->fake->waits, 0);
  pit_rt_close_cuda(first, 1);
  assert_int_equal(f->depth(), 0);
  assert_int_equal(f->fake->waits, 1);
  assert_int_equal(f->fake->contexts, 1);
  // Its memory is there for the next call on the stream, and no other's.
  int allocations = f->fake->allocations;
  f->fake->events_pending = 1;
  pit_frame *again = pit_rt_open_cuda(&calls[0], &calls[1], NULL);
  assert_ptr_equal(allocate(again, 1000), memory);
  pit_rt_close_cuda(again, 0);
  assert_int_equal(f->fake->allocations, allocations);
  pit_frame *other = pit_rt_open_cuda(&calls[0], &calls[1], f->stream());
  assert_ptr_not_equal(allocate(other, 1000), memory);
  pit_rt_close_cuda(other, 0);
  assert_int_equal(f->fake->allocations, allocations + 1);
}

enum { THREADS = 8 };

static void *open_and_close(void *context) {
  pit_frame *frame = pit_rt_open_cuda(&calls[0], &calls[1], NULL);
  *(void **)context = calls[0];
  pit_rt_close_cuda(frame, 0);
  return NULL;
}

static void threads_make_one_context(void **state) {
  cuda_fixture *f = *state;
  pthread_t threads[THREADS];
  void *contexts[THREADS] = {NULL};
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(
        pthread_create(&threads[i], NULL, open_and_close, &contexts[i]), 0);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; ++i)
    assert_ptr_equal(contexts[i], calls[0]);
  assert_int_equal(f->fake->contexts, 1);
}

static void take_too_much(void *fixture) {
  cuda_fixture *f = fixture;
  f->fake->memory = f->fake->allocated;
  allocate(pit_rt_open_cuda(&calls[0], &calls[1], NULL), 1 << 24);
}

/// The device is that of the thread's current context.
static void the_device_is_the_threads(void **state) {
  cuda_fixture *f = *state;
  char text[256];
  pit_rt_close_cuda(pit_rt_open_cuda(&calls[0], &calls[1], NULL), 0);
  assert_int_equal(f->fake->contexts, 1);
  assert_int_equal(cuda_create(f, 1, ""), PIT_OK);
  pit_frame *outer = cuda_enter(f, NULL); // of device 1
  pit_frame *inner = pit_rt_open_cuda(&calls[0], &calls[1], NULL);
  assert_int_equal(f->fake->contexts, 3);
  void *memory = allocate(inner, 1000);
  pit_rt_close_cuda(inner, 0);
  expect_abort(take_too_much, f, text, sizeof(text));
  assert_non_null(strstr(text, "out of memory on device 1 (Fake 1)"));
  inner = pit_rt_open_cuda(&calls[0], &calls[1], NULL);
  assert_ptr_equal(allocate(inner, 1000), memory);
  pit_rt_close_cuda(inner, 0);
  assert_int_equal(f->fake->contexts, 3);
  pit_rt_leave(outer, PIT_OK);
}

static void open_without_device(void *fixture) {
  cuda_fixture *f = fixture;
  f->fake->devices = 0;
  pit_rt_open_cuda(&calls[0], &calls[1], NULL);
}

static void open_with_error(void *fixture) {
  cuda_fixture *f = fixture;
  cuda_fail(f, "cuStreamGetId", 719, 0, 1);
  pit_rt_open_cuda(&calls[0], &calls[1], NULL);
}

static void wait_with_error(void *fixture) {
  cuda_fixture *f = fixture;
  pit_frame *frame = pit_rt_open_cuda(&calls[0], &calls[1], NULL);
  cuda_fail(f, "cuStreamSynchronize", 719, 0, 1);
  pit_rt_close_cuda(frame, 1);
}

static void close_with_error(void *fixture) {
  cuda_fixture *f = fixture;
  pit_frame *frame = pit_rt_open_cuda(&calls[0], &calls[1], NULL);
  cuda_fail(f, "cuEventRecord", 719, 0, 1);
  pit_rt_close_cuda(frame, 0);
}

static void wait_while_captured(void *fixture) {
  cuda_fixture *f = fixture;
  void *stream = f->stream();
  f->capture(stream);
  pit_rt_close_cuda(pit_rt_open_cuda(&calls[0], &calls[1], stream), 1);
}

static void failures_end_the_process(void **state) {
  cuda_fixture *f = *state;
  char text[256];
  expect_abort(take_too_much, f, text, sizeof(text));
  assert_non_null(strstr(text, "pit: error: cuda: out of memory on device 0 "
                               "(Fake 0): "));
  expect_abort(open_without_device, f, text, sizeof(text));
  assert_int_equal(strncmp(text, "pit: error: ", 12), 0);
  expect_abort(open_with_error, f, text, sizeof(text));
  assert_string_equal(text, "pit: error: cuda: cuStreamGetId failed on device "
                            "0 (Fake 0): fake error (error 719)\n");
  expect_abort(wait_with_error, f, text, sizeof(text));
  assert_string_equal(text, "pit: error: cuda: cuStreamSynchronize failed on "
                            "device 0 (Fake 0): fake error (error 719)\n");
  expect_abort(close_with_error, f, text, sizeof(text));
  assert_string_equal(text, "pit: error: cuda: cuEventRecord failed on device "
                            "0 (Fake 0): fake error (error 719)\n");
  expect_abort(wait_while_captured, f, text, sizeof(text));
  assert_string_equal(
      text, "pit: error: cuda: the host cannot wait for the call's stream "
            "while that is captured; what comes next has to run on the stream, "
            "too\n");
}

static void captured_calls_belong_to_the_graph(void **state) {
  cuda_fixture *f = *state;
  void *stream = f->stream();
  void *graph = f->capture(stream);
  pit_frame *frame = pit_rt_open_cuda(&calls[0], &calls[1], stream);
  void *memory = allocate(frame, 1000);
  pit_rt_close_cuda(frame, 0);
  f->end_capture(stream);
  frame = pit_rt_open_cuda(&calls[0], &calls[1], stream);
  assert_ptr_not_equal(allocate(frame, 1000), memory);
  pit_rt_close_cuda(frame, 0);
  f->destroy_graph(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      PLAIN_TEST(frames_share_the_context),
      PLAIN_TEST(threads_make_one_context),
      PLAIN_TEST(the_device_is_the_threads),
      PLAIN_TEST(failures_end_the_process),
      PLAIN_TEST(captured_calls_belong_to_the_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
