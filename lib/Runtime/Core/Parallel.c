//===- Parallel.c - A parallel loop ---------------------------------------===//

#include "Parallel.h"
#include "Fork.h"
#include "OpenMP.h"
#include "pit-runtime/Context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef PIT_PTHREADS
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

int32_t pit_parallel_ready(int32_t threads) { return threads; }

void pit_parallel_after_fork(void) {}

#else

//===----------------------------------------------------------------------===//
// Teams that can be made
//===----------------------------------------------------------------------===//

/// The state of an OpenMP library for the calling thread, which has no other
/// name: the size of the largest team that it made, and whether a larger one
/// failed.
static _Thread_local struct {
  const pit_openmp *openmp;
  int32_t size;
  bool is_all;
} team = {NULL, 1, false};

/// Held while threads are tried and made, so that no two callers count on the
/// same ones.
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

/// Allocates, as OpenMP's threads do: some allocators reserve address space for
/// each thread that does so.
static void *wait_for(void *gate) {
  void *volatile memory = malloc(1);
  free(memory);
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/// How many of `count` more threads this process can have at once: makes them
/// as OpenMP's library would, with some more memory each for what else it
/// allocates, and ends them.
static int32_t try_threads(int32_t count) {
  enum { MORE = 1 << 18 };
  pthread_t *threads = malloc((size_t)count * sizeof(*threads));
  pthread_attr_t attributes;
  if (!threads || pthread_attr_init(&attributes) != 0) {
    free(threads);
    return 0;
  }
  (void)pthread_attr_setstacksize(&attributes, kmp_get_stacksize_s() + MORE);
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&gate);
  int32_t made = 0;
  while (made < count &&
         pthread_create(&threads[made], &attributes, wait_for, &gate) == 0)
    ++made;
  pthread_mutex_unlock(&gate);
  for (int32_t i = 0; i < made; ++i)
    pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&gate);
  pthread_attr_destroy(&attributes);
  free(threads);
  return made;
}

static void count_member(void *started) {
  atomic_fetch_add_explicit((_Atomic int32_t *)started, 1,
                            memory_order_relaxed);
}

static void make_team(int32_t threads) {
  pthread_mutex_lock(&making);
  int32_t missing = threads - team.size;
  int32_t made = try_threads(missing);
  team.is_all = made < missing;
  // At the limit half of them are left to the rest of the process.
  team.size += team.is_all ? made / 2 : made;
  _Atomic int32_t started = 0;
  if (team.size > 1)
    team.openmp->parallel(count_member, &started, team.size);
  pthread_mutex_unlock(&making);
}

int32_t pit_parallel_ready(int32_t threads) {
  const pit_openmp *openmp = pit_openmp_chosen();
  if (team.openmp != openmp) {
    team.openmp = openmp;
    team.size = 1;
    team.is_all = false;
  }
  if (threads <= team.size)
    return threads;
  // A nested region that will not be parallel takes no threads.
  if (!team.is_all &&
      openmp->get_active_level() < openmp->get_max_active_levels())
    make_team(threads);
  return threads < team.size ? threads : team.size;
}

void pit_parallel_after_fork(void) {
  making = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  // The threads of the team are gone.
  team.openmp = NULL;
}

static void run_member(void *loop) { work(loop); }

static void run(parallel_loop *loop, int32_t threads) {
  pit_openmp_chosen()->parallel(run_member, loop, pit_parallel_ready(threads));
}

int32_t pit_parallel_default(void) {
  int32_t threads = pit_openmp_chosen()->get_max_threads();
  return threads < PIT_MAX_THREADS ? threads : PIT_MAX_THREADS;
}

int32_t pit_parallel_set_default(int32_t threads) {
  const pit_openmp *openmp = pit_openmp_chosen();
  int32_t before = openmp->get_max_threads();
  if (threads != before)
    openmp->set_num_threads(threads);
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
