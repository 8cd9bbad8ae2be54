//===- ThreadsTest.c - Several threads on one context ---------------------===//

#include "pit-runtime/Abi.h"

#include "Reference.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 40, ROWS = 256, COLUMNS = 1536 };

typedef struct worker {
  pit_context *context;
  const pit_entry *count;
  int number;
  int failures;
} worker;

/// Runs programs, builds indices, makes mistakes and reads messages. cmocka's
/// asserts belong to the main thread, so failures are counted.
static void *work(void *argument) {
  worker *w = argument;
  pit_context *context = w->context;
  float *x = calloc((size_t)ROWS * COLUMNS, sizeof(float));
  for (int64_t i = w->number; i < (int64_t)ROWS * COLUMNS; i += 101)
    x[i] = 1;
  int64_t x_shape[2] = {ROWS, COLUMNS}, counts_shape[1] = {ROWS / 2};
  int32_t counts[ROWS / 2];
  DLTensor x_tensor = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, x_shape);
  DLTensor counts_tensor =
      tensor_of(counts, PIT_DTYPE_INT, 32, 1, counts_shape);
  const pit_value ins[] = {{.tensor = &x_tensor}};
  DLTensor *outs[] = {&counts_tensor};
  pit_index_spec spec = {
      .rank = 2, .axis = 1, .shape = {ROWS, COLUMNS}, .micro_tile = {2, 1}};
  pit_index_builder *builder = NULL;
  w->failures += pit_index_builder_create(context, &builder) != PIT_OK;
  for (int round = 0; round < ROUNDS; ++round) {
    const pit_index *index = NULL;
    w->failures += pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &x_tensor,
                                   NULL, &index) != PIT_OK;
    w->failures +=
        pit_entry_run(context, w->count, ins, 1, outs, 1, NULL) != PIT_OK;
    for (int g = 0; index && g < ROWS / 2; ++g)
      w->failures += counts[g] != index->counts[g];
    counts_shape[0] = 1;
    w->failures += pit_entry_run(context, w->count, ins, 1, outs, 1, NULL) !=
                   PIT_ERROR_SHAPE;
    counts_shape[0] = ROWS / 2;
    char message[100];
    w->failures += pit_context_message(context, message, sizeof(message)) == 0;
  }
  pit_index_builder_destroy(builder);
  free(x);
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  pit_context_options options = {.threads = 3};
  pit_context *context;
  pit_program *program;
  assert_int_equal(pit_context_create(&options, &context), PIT_OK);
  assert_ok(context, pit_program_open(context, PIT_TEST_PROGRAM, &program));
  assert_ok(context, pit_context_set_stats(context, PIT_STATS_ON));
  worker workers[THREADS] = {0};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    workers[i] = (worker){.context = context, .number = i};
    assert_ok(context,
              pit_program_entry(context, program, "count", &workers[i].count));
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    assert_int_equal(workers[i].failures, 0);
  }
  assert_int_equal(pit_context_stats(context, NULL, 0, NULL),
                   2 * THREADS * ROUNDS);
  pit_program_close(program);
  pit_context_destroy(context);
}

enum { FORKS = 300, SMALL_ROWS = 2, SMALL_COLUMNS = 8 };

typedef struct caller {
  pit_context *context;
  const pit_entry *count;
  _Atomic bool stop;
  _Atomic int failures;
} caller;

/// A call on few elements, most of which is locks, and an error's message.
static int call_once(const caller *c) {
  float x[SMALL_ROWS * SMALL_COLUMNS] = {1};
  int64_t x_shape[2] = {SMALL_ROWS, SMALL_COLUMNS}, shape[1] = {SMALL_ROWS / 2};
  int32_t counts[SMALL_ROWS / 2];
  DLTensor x_tensor = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, x_shape);
  DLTensor counts_tensor = tensor_of(counts, PIT_DTYPE_INT, 32, 1, shape);
  const pit_value ins[] = {{.tensor = &x_tensor}};
  DLTensor *outs[] = {&counts_tensor};
  int failures =
      pit_entry_run(c->context, c->count, ins, 1, outs, 1, NULL) != PIT_OK;
  failures += counts[0] != 1;
  pit_constant *constant = NULL;
  failures += pit_constant_create(c->context, &x_tensor, &constant) != PIT_OK;
  pit_constant_destroy(constant);
  pit_context *other = NULL;
  failures += pit_context_create(NULL, &other) != PIT_OK;
  pit_context_destroy(other);
  return failures;
}

static void *call(void *argument) {
  caller *c = argument;
  while (!atomic_load(&c->stop))
    atomic_fetch_add(&c->failures, call_once(c));
  return NULL;
}

/// A child finds contexts whole and their locks open, whatever other threads
/// were doing when the process was forked.
static void test_forks(void **state) {
  (void)state;
  pit_context_options options = {.threads = 1};
  caller c = {0};
  pit_program *program;
  assert_int_equal(pit_context_create(&options, &c.context), PIT_OK);
  assert_ok(c.context, pit_program_open(c.context, PIT_TEST_PROGRAM, &program));
  assert_ok(c.context,
            pit_program_entry(c.context, program, "count", &c.count));
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, call, &c), 0);
  int status = 0;
  for (int i = 0; i < FORKS && status == 0; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30); // ends it if it waits for ever
      _exit(call_once(&c) != 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
  }
  atomic_store(&c.stop, true);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  assert_int_equal(status, 0);
  assert_int_equal(c.failures, 0);
  pit_program_close(program);
  pit_context_destroy(c.context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_forks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
