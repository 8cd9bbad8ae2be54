//===- Parallel.c - A parallel loop ---------------------------------------===//

#include "Parallel.h"

#include <stdatomic.h>
#include <stdbool.h>

#ifdef PIT_PTHREADS
#include <pthread.h>
#include <unistd.h>
#else
#include <omp.h>
#endif

typedef struct parallel_loop {
  void (*body)(void *argument, int64_t begin, int64_t end);
  void *argument;
  int64_t count, grain;
  _Atomic int64_t next;
} parallel_loop;

/// Takes ranges until none is left; so a team smaller than asked for, as in
/// a nested region, still does all of it.
static void work(parallel_loop *loop) {
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&loop->next, loop->grain,
                                              memory_order_relaxed);
    if (begin >= loop->count)
      return;
    int64_t left = loop->count - begin;
    loop->body(loop->argument, begin,
               begin + (left < loop->grain ? left : loop->grain));
  }
}

#ifdef PIT_PTHREADS

enum { MAX_THREADS = 64 };

static void *start(void *loop) {
  work(loop);
  return NULL;
}

static void run(parallel_loop *loop, int32_t threads) {
  pthread_t others[MAX_THREADS];
  int32_t started = 0;
  // A thread that cannot be started is not missed: the others take its work.
  while (started < threads - 1 && started < MAX_THREADS &&
         pthread_create(&others[started], NULL, start, loop) == 0)
    ++started;
  work(loop);
  for (int32_t i = 0; i < started; ++i)
    pthread_join(others[i], NULL);
}

int32_t pit_parallel_default(void) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > MAX_THREADS ? MAX_THREADS : (int32_t)online;
}

int32_t pit_parallel_set_default(int32_t threads) {
  (void)threads;
  return pit_parallel_default();
}

#else

static void run(parallel_loop *loop, int32_t threads) {
#pragma omp parallel num_threads(threads)
  work(loop);
}

int32_t pit_parallel_default(void) { return omp_get_max_threads(); }

int32_t pit_parallel_set_default(int32_t threads) {
  int32_t before = omp_get_max_threads();
  if (threads != before)
    omp_set_num_threads(threads);
  return before;
}

#endif

void pit_parallel_for(int32_t threads, int64_t count,
                      void (*body)(void *argument, int64_t begin, int64_t end),
                      void *argument) {
  if (count <= 0)
    return;
  if (threads <= 1 || count == 1) {
    body(argument, 0, count);
    return;
  }
  // Several ranges a thread, as they do not take the same time.
  int64_t grain = count / threads / 8;
  parallel_loop loop = {.body = body,
                        .argument = argument,
                        .count = count,
                        .grain = grain ? grain : 1,
                        .next = 0};
  run(&loop, count < threads ? (int32_t)count : threads);
}
