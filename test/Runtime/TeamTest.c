//===- TeamTest.c - Parallel regions of programs --------------------------===//
//
// Regions as the compiler makes them, on LLVM's threads, then on GNU's, which
// are loaded in the middle, and in a child that was forked.
//
//===----------------------------------------------------------------------===//

#include "pit-runtime/Abi.h"

#include "Reference.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROOM = 4096 };
enum { STATIC = 34, STATIC_CHUNKED = 33, DYNAMIC = 35, GUIDED = 36 };

static const pit_manifest no_args = {.version = PIT_MANIFEST_WORD0,
                                     .device = kDLCPU};

/// Loops of one region: `trips[i]` iterations of each, and how often each of
/// these was run.
typedef struct work {
  int schedule;
  uint64_t chunk;
  int loops;
  uint64_t trips[4];
  _Atomic int runs[4][ROOM];
  _Atomic int last[4];
  _Atomic int members, highest;
  _Atomic int
      early; ///< iterations that ran before the loop before them was done
} work;

static void run_loop(work *w, int loop, uint64_t begin, uint64_t count) {
  for (uint64_t i = begin; i < begin + count; ++i) {
    atomic_fetch_add(&w->runs[loop][i], 1);
    for (uint64_t j = 0; loop > 0 && j < w->trips[loop - 1]; ++j)
      if (!w->runs[loop - 1][j])
        atomic_fetch_add(&w->early, 1);
  }
}

/// As OMPIRBuilder makes it: static loops count from 0, others from 1.
static void region(int32_t *thread, int32_t *bound, void *arguments) {
  (void)bound;
  work *w = *(work **)arguments;
  atomic_fetch_add(&w->members, 1);
  int me = pit_rt_omp_get_thread_num(), highest = w->highest;
  while (me > highest &&
         !atomic_compare_exchange_weak(&w->highest, &highest, me))
    ;
  for (int loop = 0; loop < w->loops; ++loop) {
    uint64_t trip = w->trips[loop];
    int32_t last = 0;
    if (w->schedule == STATIC || w->schedule == STATIC_CHUNKED) {
      uint64_t lower = 0, upper = trip - 1;
      int64_t stride = 1;
      pit_rt_omp_for_static_init_8u(NULL, *thread, w->schedule, &last, &lower,
                                    &upper, &stride, 1, (int64_t)w->chunk);
      if (w->schedule == STATIC)
        run_loop(w, loop, lower, upper - lower + 1);
      for (; w->schedule == STATIC_CHUNKED && lower < trip;
           lower += (uint64_t)stride)
        run_loop(w, loop, lower,
                 w->chunk < trip - lower ? w->chunk : trip - lower);
      pit_rt_omp_for_static_fini(NULL, *thread);
    } else {
      uint64_t lower, upper;
      int64_t step;
      pit_rt_omp_dispatch_init_8u(NULL, *thread, w->schedule, 1, trip, 1,
                                  (int64_t)w->chunk);
      int32_t is_last = 0;
      while (pit_rt_omp_dispatch_next_8u(NULL, *thread, &is_last, &lower,
                                         &upper, &step)) {
        run_loop(w, loop, lower - 1, upper - lower + 1);
        last |= is_last;
      }
    }
    atomic_fetch_add(&w->last[loop], last);
    pit_rt_omp_barrier(NULL, *thread);
  }
}

static void check_region(int schedule, uint64_t chunk, const uint64_t *trips,
                         int loops, bool several) {
  work *w = calloc(1, sizeof(*w));
  w->schedule = schedule;
  w->chunk = chunk;
  w->loops = loops;
  memcpy(w->trips, trips, (size_t)loops * sizeof(*trips));
  if (several)
    pit_rt_omp_fork_call(NULL, 1, (void *)region, &w);
  else
    pit_rt_omp_fork_call_if(NULL, 1, (void *)region, 0, &w);
  assert_int_equal(w->early, 0);
  assert_true(w->highest < w->members);
  if (!several)
    assert_int_equal(w->members, 1);
  for (int loop = 0; loop < loops; ++loop) {
    for (uint64_t i = 0; i < ROOM; ++i)
      if (w->runs[loop][i] != (i < trips[loop]))
        fail_msg("schedule %d, chunk %d, loop %d of %d iterations: iteration "
                 "%d ran %d times",
                 schedule, (int)chunk, loop, (int)trips[loop], (int)i,
                 w->runs[loop][i]);
    assert_int_equal(w->last[loop], trips[loop] > 0);
  }
  free(w);
}

/// A region inside of a region has one thread, and the outer one goes on.
static void nested(int32_t *thread, int32_t *bound, void *arguments) {
  (void)bound;
  (void)arguments;
  int before = pit_rt_omp_get_thread_num();
  assert_int_equal(before, *thread);
  assert_int_equal(before, pit_rt_omp_global_thread_num(NULL));
  check_region(DYNAMIC, 3, (uint64_t[]){50, 7}, 2, false);
  assert_int_equal(pit_rt_omp_get_thread_num(), before);
  pit_rt_omp_barrier(NULL, *thread);
}

/// What each thread takes first of a dynamic loop, and what the first one takes
/// when nobody else does.
typedef struct parts {
  _Atomic int members;
  uint64_t firsts[THREADS];
  uint64_t taken[2];
} parts;

static void take_parts(int32_t *thread, int32_t *bound, void *arguments) {
  (void)bound;
  parts *p = *(parts **)arguments;
  atomic_fetch_add(&p->members, 1);
  uint64_t lower, upper;
  int64_t step;
  int32_t last, me = *thread;
  for (int loop = 0; loop < 2; ++loop) {
    pit_rt_omp_dispatch_init_8u(NULL, me, DYNAMIC, 1, ROOM, 1, 8);
    pit_rt_omp_barrier(NULL, me);
    if (me < THREADS && loop == 0 &&
        pit_rt_omp_dispatch_next_8u(NULL, me, &last, &lower, &upper, &step))
      p->firsts[me] = lower;
    pit_rt_omp_barrier(NULL, me);
    while (me == 0 &&
           pit_rt_omp_dispatch_next_8u(NULL, me, &last, &lower, &upper, &step))
      p->taken[loop] += upper - lower + 1;
    pit_rt_omp_barrier(NULL, me);
  }
}

/// A thread begins with its own part of a loop, so that loops after one another
/// leave values in its cache; and no chunk is left behind by those who take
/// none.
static void check_parts(void) {
  parts *p = calloc(1, sizeof(*p));
  pit_rt_omp_fork_call(NULL, 1, (void *)take_parts, &p);
  uint64_t members = (uint64_t)p->members;
  for (uint64_t i = 0; i < members; ++i)
    assert_int_equal(p->firsts[i], 1 + ROOM / 8 * i / members * 8);
  assert_int_equal(p->taken[0], ROOM - 8 * members);
  assert_int_equal(p->taken[1], ROOM);
  free(p);
}

static void check_regions(pit_context *context, int expected) {
  pit_frame *frame;
  assert_ok(context,
            pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame));
  assert_int_equal(pit_rt_workers(frame), expected);
  static const int schedules[] = {STATIC, STATIC_CHUNKED, DYNAMIC, GUIDED};
  for (int s = 0; s < 4; ++s)
    for (uint64_t chunk = 1; chunk < 20; chunk += 6) {
      check_region(schedules[s], chunk, (uint64_t[]){100, 3, 517, 64}, 4, true);
      check_region(schedules[s], chunk, (uint64_t[]){0, 1, 0, ROOM}, 4, true);
      check_region(schedules[s], chunk, (uint64_t[]){1}, 1, true);
      check_region(schedules[s], chunk, (uint64_t[]){33, 2}, 2, false);
    }
  for (int i = 0; i < 50; ++i)
    pit_rt_omp_fork_call(NULL, 0, (void *)nested);
  check_parts();
  pit_rt_leave(frame, PIT_OK);
}

static void *on_thread(void *context) {
  check_regions(context, THREADS);
  return NULL;
}

static void test_regions(void **state) {
  (void)state;
  pit_context_options options = {.threads = THREADS};
  pit_context *context;
  assert_int_equal(pit_context_create(&options, &context), PIT_OK);
  check_regions(context, THREADS);
  // This program is linked with LLVM's library, which then has GNU's functions.
  setenv("PIT_OPENMP", "gnu", 1);
  if (!dlopen("libgomp.so.1", RTLD_LAZY | RTLD_LOCAL)) {
    print_message("no libgomp here: its threads are not tested\n");
  } else {
    check_regions(context, THREADS);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, on_thread, context), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
  }
  // GNU's threads are not there in a child, and waiting for them would not end.
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    check_regions(context, THREADS);
    _exit(0);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  pit_context_destroy(context);
}

static _Atomic int on_gnu;
static int (*gnu_level)(void);

static void ask_level(int32_t *thread, int32_t *bound, void *arguments) {
  (void)thread;
  (void)bound;
  (void)arguments;
  if (gnu_level() > 0)
    atomic_fetch_add(&on_gnu, 1);
}

/// Teams are of GNU's threads where there is that library, and as many as it
/// says.
static void test_whose_threads(void **state) {
  (void)state;
  void *gnu = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!gnu)
    skip();
  void (*set)(int threads);
  *(void **)&set = dlsym(gnu, "omp_set_num_threads");
  *(void **)&gnu_level = dlsym(gnu, "omp_get_active_level");
  set(3);
  pit_context *context;
  assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
  pit_frame *frame;
  assert_ok(context,
            pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame));
  assert_int_equal(pit_rt_workers(frame), 3);
  on_gnu = 0;
  pit_rt_omp_fork_call(NULL, 0, (void *)ask_level);
  assert_int_equal(on_gnu, 3);
  pit_rt_leave(frame, PIT_OK);
  pit_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_regions),
      cmocka_unit_test(test_whose_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
