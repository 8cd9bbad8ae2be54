//===- PlainTest.c - Calls of functions that have no context --------------===//

#include "pit-runtime/Abi.h"

#include "Child.h"
#include "Reference.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/// As a module has them: its context, and an address for each function.
static void *calls[3];

static int tear_down(void **state) {
  (void)state;
  pit_context_destroy(calls[0]);
  calls[0] = NULL;
  return 0;
}

static void frames_share_the_context(void **state) {
  (void)state;
  pit_frame *first = pit_rt_open(&calls[0], &calls[1]);
  assert_non_null(first);
  void *context = calls[0];
  assert_non_null(context);
  // As when one such function calls another.
  pit_frame *second = pit_rt_open(&calls[0], &calls[2]);
  assert_ptr_not_equal(first, second);
  assert_ptr_equal(calls[0], context);
  void *memory = NULL;
  pit_rt_expect(second, pit_rt_alloc(second, 100, &memory));
  assert_non_null(memory);
  memset(memory, 1, 100);
  assert_int_equal(pit_rt_leave(second, PIT_OK), PIT_OK);
  assert_int_equal(pit_rt_leave(first, PIT_OK), PIT_OK);
  // Its memory is there for the next call.
  assert_ptr_equal(pit_rt_open(&calls[0], &calls[1]), first);
  pit_rt_leave(first, PIT_OK);
}

enum { THREADS = 8 };

static void *open_and_leave(void *context) {
  pit_frame *frame = pit_rt_open(&calls[0], &calls[1]);
  // Others may be about to make it.
  *(void **)context = atomic_load((_Atomic(void *) *)&calls[0]);
  pit_rt_leave(frame, PIT_OK);
  return NULL;
}

static void threads_make_one_context(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  void *contexts[THREADS] = {NULL};
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(
        pthread_create(&threads[i], NULL, open_and_leave, &contexts[i]), 0);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; ++i)
    assert_ptr_equal(contexts[i], calls[0]);
}

static void take_a_negative_size(void *unused) {
  (void)unused;
  void *memory;
  pit_frame *frame = pit_rt_open(&calls[0], &calls[1]);
  pit_rt_expect(frame, pit_rt_alloc(frame, -1, &memory));
}

static void fail_without_frame(void *unused) {
  (void)unused;
  pit_rt_expect(NULL, PIT_ERROR_SHAPE);
}

static void failures_end_the_process(void **state) {
  (void)state;
  char text[256];
  expect_abort(take_a_negative_size, NULL, text, sizeof(text));
  assert_string_equal(text, "pit: error: scratch of -1 bytes; it must not be "
                            "negative\n");
  expect_abort(fail_without_frame, NULL, text, sizeof(text));
  assert_non_null(strstr(text, "pit: error: "));
  assert_non_null(strstr(text, pit_status_string(PIT_ERROR_SHAPE)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(frames_share_the_context, tear_down),
      cmocka_unit_test_teardown(threads_make_one_context, tear_down),
      cmocka_unit_test_teardown(failures_end_the_process, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
