//===- CudaThreadsTest.c - Several threads and streams on one device ------===//

#include "CudaFixture.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 300, KERNELS = 5 };

typedef struct worker {
  cuda_fixture *f;
  int number;
  int failures;
} worker;

static const char code[] = " k0 k1 k2 k3 k4 ";

/// Calls on a stream of its own; every tenth one in a graph. No two calls may
/// have the same memory at once: each writes its number and finds it again.
static void *work(void *argument) {
  worker *w = argument;
  cuda_fixture *f = w->f;
  void *stream = f->stream();
  const pit_image image = {code, sizeof(code)};
  for (int round = 0; round < ROUNDS; ++round) {
    void *graph = round % 10 == 9 ? f->capture(stream) : NULL;
    pit_frame *frame;
    if (pit_rt_enter(f->context, &cuda_no_args, NULL, NULL, stream, NULL,
                     &frame)) {
      ++w->failures;
      continue;
    }
    void *memory = NULL;
    w->failures += pit_rt_alloc(frame, 4096, &memory) != PIT_OK;
    memset(memory, w->number + 1, 4096);
    char name[3] = {'k', (char)('0' + (w->number + round) % KERNELS), 0};
    void *params[] = {&memory};
    w->failures +=
        pit_rt_launch(frame, &(pit_kernel){&image, name, 64, 0, 0, 0}, 10, 1,
                      params) != PIT_OK;
    for (int i = 0; i < 4096; ++i)
      w->failures += ((char *)memory)[i] != w->number + 1;
    w->failures += pit_rt_leave(frame, 0) != 0;
    if (graph) {
      f->end_capture(stream);
      f->destroy_graph(graph);
    }
  }
  w->failures += f->depth() != 0;
  return NULL;
}

static void test_threads(void **state) {
  cuda_fixture *f = *state;
  worker workers[THREADS] = {0};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    workers[i] = (worker){.f = f, .number = i};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    assert_int_equal(workers[i].failures, 0);
  }
  assert_int_equal(f->fake->launches, THREADS * ROUNDS);
  assert_int_equal(f->fake->loads, 1);
  assert_int_equal(f->fake->attributes_set, KERNELS);
  assert_true(f->fake->allocations <= 3 * THREADS);
}

int main(void) {
  const struct CMUnitTest tests[] = {CUDA_TEST(test_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
