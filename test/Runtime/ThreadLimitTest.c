//===- ThreadLimitTest.c - Calls where threads are scarce -----------------===//
//
// OpenMP's library ends the process when pthread_create fails. Here it fails
// beyond a number of threads that live at the same time.
//
//===----------------------------------------------------------------------===//

#include "pit-runtime/Abi.h"

#include "Reference.h"

#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic int live, limit = 1000, refused;

typedef struct start {
  void *(*body)(void *);
  void *argument;
} start;

static void *run(void *argument) {
  start s = *(start *)argument;
  free(argument);
  void *result = s.body(s.argument);
  atomic_fetch_sub(&live, 1);
  return result;
}

/// In the place of libc's, for all libraries of this process.
__attribute__((visibility("default"))) int
pthread_create(pthread_t *restrict thread,
               const pthread_attr_t *restrict attributes, void *(*body)(void *),
               void *restrict argument) {
  typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                     void *);
  void *symbol = dlsym(RTLD_NEXT, "pthread_create");
  create *libc;
  memcpy(&libc, &symbol, sizeof(libc));
  if (atomic_fetch_add(&live, 1) >= limit) {
    atomic_fetch_sub(&live, 1);
    ++refused;
    return EAGAIN;
  }
  start *s = malloc(sizeof(*s)); // freed by run
  *s = (start){body, argument};
  return libc(thread, attributes, run, s);
}

static const pit_manifest no_args = {.version = PIT_MANIFEST_WORD0,
                                     .device = kDLCPU};

/// The team that a call's parallel region has.
static int team_of_call(pit_context *context) {
  pit_frame *frame;
  assert_ok(context,
            pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame));
  int workers = pit_rt_workers(frame);
  int size = 0;
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  assert_true(size <= workers);
  assert_int_equal(pit_rt_leave(frame, PIT_OK), PIT_OK);
  return size;
}

static pit_context *make(int32_t threads) {
  pit_context_options options = {.threads = threads};
  pit_context *context;
  assert_int_equal(pit_context_create(&options, &context), PIT_OK);
  return context;
}

/// A call without parallel regions takes no threads.
static void test_none_wanted(void **state) {
  (void)state;
  pit_context *context = make(64);
  int before = live;
  pit_frame *frame;
  assert_ok(context,
            pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame));
  assert_int_equal(pit_rt_leave(frame, PIT_OK), PIT_OK);
  assert_int_equal(live, before);
  assert_int_equal(refused, 0);
  pit_context_destroy(context);
}

static void test_all_there(void **state) {
  (void)state;
  pit_context *context = make(3);
  int before = omp_get_max_threads();
  assert_int_equal(team_of_call(context), 3);
  assert_int_equal(refused, 0);
  assert_int_equal(omp_get_max_threads(), before);
  pit_context_destroy(context);
}

static void test_some_there(void **state) {
  (void)state;
  // 2 workers live; 9 more can. Half of them are taken.
  pit_context *context = make(64);
  limit = live + 9;
  assert_int_equal(team_of_call(context), 7);
  assert_int_equal(refused, 1);
  // It is not tried again, and smaller teams are as ever.
  assert_int_equal(team_of_call(context), 7);
  assert_int_equal(refused, 1);
  pit_context *smaller = make(5);
  assert_int_equal(team_of_call(smaller), 5);
  pit_context_destroy(smaller);
  pit_context_destroy(context);
}

static void *call_elsewhere(void *context) {
  return (void *)(intptr_t)team_of_call(context);
}

/// Another thread has a team of its own, here of none but itself; builds of
/// indices are no calls, but have parallel loops.
static void test_none_there(void **state) {
  (void)state;
  pit_context *context = make(4);
  limit = live + 1;
  pthread_t thread;
  void *size = NULL;
  assert_int_equal(pthread_create(&thread, NULL, call_elsewhere, context), 0);
  assert_int_equal(pthread_join(thread, &size), 0);
  assert_int_equal((intptr_t)size, 1);
  pit_context_destroy(context);
}

static void *build_elsewhere(void *context) {
  enum { ROWS = 2048, COLUMNS = 1024 };
  float *x = calloc(ROWS * COLUMNS, sizeof(*x));
  int64_t shape[2] = {ROWS, COLUMNS};
  DLTensor tensor = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, shape);
  pit_index_spec spec = {
      .rank = 2, .axis = 1, .shape = {ROWS, COLUMNS}, .micro_tile = {32, 1}};
  pit_index_builder *builder;
  const pit_index *index;
  assert_ok(context, pit_index_builder_create(context, &builder));
  assert_ok(context, pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &tensor,
                                     NULL, &index));
  assert_int_equal(index->total, 0);
  pit_index_builder_destroy(builder);
  free(x);
  return context;
}

static void test_build(void **state) {
  (void)state;
  pit_context *context = make(8);
  limit = live + 1;
  int before = refused;
  pthread_t thread;
  void *done = NULL;
  assert_int_equal(pthread_create(&thread, NULL, build_elsewhere, context), 0);
  assert_int_equal(pthread_join(thread, &done), 0);
  assert_ptr_equal(done, context);
  assert_true(refused > before);
  pit_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_none_wanted), cmocka_unit_test(test_all_there),
      cmocka_unit_test(test_some_there),  cmocka_unit_test(test_none_there),
      cmocka_unit_test(test_build),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
