//===- CudaCaptureTest.c - Calls that a graph captures --------------------===//

#include "CudaFixture.h"

#include <pthread.h>
#include <string.h>

static void test_capture(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream(), *b = f->stream();
  f->fake->events_pending = 1;
  void *warm = cuda_call(f, a);
  int recorded = f->fake->events_recorded;
  void *graph = f->capture(a);
  // The warm-up's work may still run beside the graph.
  void *captured = cuda_call(f, a);
  assert_ptr_not_equal(captured, warm);
  // In the graph, work on one stream comes in order, on two streams it need
  // not.
  assert_ptr_equal(cuda_call(f, a), captured);
  f->join_capture(b, a);
  void *beside = cuda_call(f, b);
  assert_ptr_not_equal(beside, captured);
  assert_ptr_equal(cuda_call(f, b), beside);
  f->end_capture(a);
  assert_int_equal(f->fake->events_recorded, recorded);
  assert_int_equal(f->fake->user_objects, 2);

  // Neither the stream, nor another, nor another capture gets what the graph
  // uses, however long it is idle.
  f->fake->events_pending = 0;
  void *c = f->stream();
  void *seen[] = {cuda_call(f, a), cuda_call(f, b), cuda_call(f, c), NULL,
                  NULL};
  void *other = f->capture(c);
  seen[3] = cuda_call(f, c);
  f->end_capture(c);
  void *third = f->capture(a);
  seen[4] = cuda_call(f, a);
  f->end_capture(a);
  for (int i = 0; i < 5; ++i)
    assert_true(seen[i] != captured && seen[i] != beside);

  // After the graph's end it is used again.
  int before = f->fake->allocations;
  f->destroy_graph(graph);
  f->fake->events_pending = 1;
  void *again[3];
  for (int i = 0; i < 3; ++i)
    again[i] = cuda_call(f, f->stream());
  assert_int_equal(f->fake->allocations, before + 1);
  assert_true(again[0] == captured || again[0] == beside ||
              again[1] == captured || again[1] == beside);
  f->destroy_graph(other);
  f->destroy_graph(third);
}

typedef struct own_call {
  cuda_fixture *fixture;
  void *captured, *memory;
} own_call;

static void *call_own(void *argument) {
  own_call *own = argument;
  void *stream = NULL;
  uintptr_t handle = 2; // CU_STREAM_PER_THREAD
  memcpy(&stream, &handle, sizeof(stream));
  own->fixture->join_capture(stream, own->captured);
  own->memory = cuda_call(own->fixture, stream);
  return NULL;
}

/// The handle of the thread's default stream is that of another stream in each
/// thread.
static void test_capture_of_threads(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream();
  void *graph = f->capture(a);
  own_call own[2] = {{f, a, NULL}, {f, a, NULL}};
  call_own(&own[0]);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, call_own, &own[1]), 0);
  pthread_join(thread, NULL);
  assert_ptr_not_equal(own[0].memory, own[1].memory);
  void *before = own[0].memory;
  call_own(&own[0]);
  assert_ptr_equal(own[0].memory, before);
  f->end_capture(a);
  f->destroy_graph(graph);
}

/// A capture without a call before it works, and disturbs nobody's capture.
static void test_cold_capture(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream(), *b = f->stream();
  void *graph = f->capture(a);
  void *captured = cuda_call(f, a);
  assert_ptr_not_equal(cuda_call(f, b), captured);
  f->end_capture(a);
  f->destroy_graph(graph);
}

static void test_capture_errors(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream();
  pit_frame *frame = NULL;
#define ENTER()                                                                \
  pit_rt_enter(f->context, &cuda_no_args, NULL, NULL, a, NULL, &frame)
  void *graph = f->capture(a);
  cuda_fail(f, "cuUserObjectCreate", 2, 0, 1);
  check_error(f->context, ENTER(), PIT_ERROR_OUT_OF_MEMORY,
              "cuda: cuUserObjectCreate failed");
  cuda_fail(f, "cuGraphRetainUserObject", 719, 0, 1);
  check_error(f->context, ENTER(), PIT_ERROR_DRIVER,
              "cuda: cuGraphRetainUserObject failed");
  cuda_call(f, a);
  f->spoil_capture(a);
  check_error(f->context, ENTER(), PIT_ERROR_DRIVER,
              "cuda: the capture of the call's stream has become invalid by an "
              "earlier error");
  f->end_capture(a);
  f->destroy_graph(graph);
  // The frame that was made is still good.
  int before = f->fake->allocations;
  cuda_call(f, a);
  assert_int_equal(f->fake->allocations, before);
}

/// A graph may outlive the context whose calls it captured.
static void test_graph_last(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream();
  void *graph = f->capture(a);
  cuda_call(f, a);
  f->end_capture(a);
  // Ending a context does not disturb somebody else's capture.
  void *b = f->stream();
  void *other = f->capture(b);
  pit_context_destroy(f->context);
  f->context = NULL;
  f->end_capture(b);
  f->destroy_graph(other);
  f->destroy_graph(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CUDA_TEST(test_capture),      CUDA_TEST(test_capture_of_threads),
      CUDA_TEST(test_cold_capture), CUDA_TEST(test_capture_errors),
      CUDA_TEST(test_graph_last),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
